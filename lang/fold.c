/* Constants, and the types of numbers that the checker and they have in common. */
#include "lang/fold.h"

#include <string.h>

#include "lang/arith.h"
#include "lang/base/text.h"
#include "lang/check.h"
#include "lang/types.h"

#define MAX_TEXT                                                                        \
	65536 /* bytes of a text that is put together; longer ones are left to handlers \
	       */

/* ---- types of numbers ---- */

bool up_is_wide_unsigned(struct up_type t)
{
	return t.ty == TY_INT && t.bits == 64 && !t.is_signed;
}

/* C's usual conversions on 64-bit values: narrower ones fit into s64. */
struct up_type up_arithmetic_type(struct up_type a, struct up_type b)
{
	struct up_type t = UP_TYPE_S64;

	if (a.ty == TY_FLOAT || b.ty == TY_FLOAT)
		return UP_TYPE_FLOAT;
	t.is_signed = !up_is_wide_unsigned(a) && !up_is_wide_unsigned(b);
	if (!t.is_signed && (a.show == UP_SHOW_HEX || b.show == UP_SHOW_HEX))
		t.show = UP_SHOW_HEX;
	return t;
}

struct up_type up_either_type(struct up_type a, struct up_type b)
{
	struct up_type t = up_arithmetic_type(a, b);

	if (a.ty == b.ty && a.show == b.show && a.bits == b.bits && a.is_signed == b.is_signed)
		return a;
	if (t.ty == TY_INT && t.show == UP_SHOW_DEC &&
	    (a.show == UP_SHOW_NS || b.show == UP_SHOW_NS))
		t.show = UP_SHOW_NS;
	return t;
}

/* ---- numbers ---- */

/* Makes `out` an integer. */
static bool integer(struct up_const *out, struct up_type type, uint64_t u)
{
	*out = (struct up_const){ type, { .u = u } };
	return true;
}

static bool truth(struct up_const *out, bool b)
{
	return integer(out, UP_TYPE_BOOL, b);
}

static bool real(struct up_const *out, double f)
{
	*out = (struct up_const){ UP_TYPE_FLOAT, { .f = f } };
	return true;
}

static double as_float(const struct up_const *c)
{
	return c->type.ty == TY_FLOAT         ? c->v.f
	       : up_is_wide_unsigned(c->type) ? (double)c->v.u
					      : (double)c->v.s;
}

static bool fold_floats(enum up_op op, double a, double b, struct up_const *out)
{
	switch (op) {
	case OPR_ADD:
		return real(out, a + b);
	case OPR_SUB:
		return real(out, a - b);
	case OPR_MUL:
		return real(out, a * b);
	case OPR_DIV:
		return b != 0 && real(out, a / b);
	case OPR_LT:
		return truth(out, a < b);
	case OPR_LE:
		return truth(out, a <= b);
	case OPR_GT:
		return truth(out, a > b);
	case OPR_GE:
		return truth(out, a >= b);
	case OPR_EQ:
		return truth(out, a == b);
	case OPR_NE:
		return truth(out, a != b);
	default:
		return false;
	}
}

static bool fold_comparison(enum up_op op, uint64_t a, uint64_t b, bool is_signed,
			    struct up_const *out)
{
	switch (op) {
	case OPR_LT:
		return truth(out, up_is_less(a, b, is_signed));
	case OPR_LE:
		return truth(out, !up_is_less(b, a, is_signed));
	case OPR_GT:
		return truth(out, up_is_less(b, a, is_signed));
	case OPR_GE:
		return truth(out, !up_is_less(a, b, is_signed));
	case OPR_EQ:
		return truth(out, a == b);
	case OPR_NE:
		return truth(out, a != b);
	default:
		return false;
	}
}

static bool fold_integers(enum up_op op, const struct up_const *ca, const struct up_const *cb,
			  struct up_const *out)
{
	struct up_type type = up_arithmetic_type(ca->type, cb->type);
	struct up_type shifted = up_arithmetic_type(ca->type, UP_TYPE_S64);
	uint64_t a = ca->v.u, b = cb->v.u;

	switch (op) {
	case OPR_ADD:
		return integer(out, type, a + b);
	case OPR_SUB:
		return integer(out, type, a - b);
	case OPR_MUL:
		return integer(out, type, a * b);
	case OPR_DIV:
		return b && integer(out, type, up_divide(a, b, type.is_signed));
	case OPR_MOD:
		return b && integer(out, type, up_remainder(a, b, type.is_signed));
	case OPR_AND:
		return integer(out, type, a & b);
	case OPR_OR:
		return integer(out, type, a | b);
	case OPR_XOR:
		return integer(out, type, a ^ b);
	case OPR_SHL:
		return integer(out, shifted, up_shift_left(a, b));
	case OPR_SHR:
		return integer(out, shifted, up_shift_right(a, b, shifted.is_signed));
	default:
		return fold_comparison(op, a, b, type.is_signed, out);
	}
}

/* ---- text ---- */

static bool fold_truth(const struct up_node *n, bool *out);

/* If it is a constant at all, is it text? So nothing is tried twice. */
static bool is_text(const struct up_node *n)
{
	switch (n->kind) {
	case ND_STR:
		return true;
	case ND_PAREN:
		return is_text(n->sub.e);
	case ND_BINARY:
		return n->op.op == OPR_ADD && is_text(n->op.a);
	case ND_COND:
		return is_text(n->cond.then);
	default:
		return false;
	}
}

/* Appends a constant text; false when it is none, or too long. */
static bool fold_text(const struct up_node *n, struct up_buf *out)
{
	bool t;

	switch (n->kind) {
	case ND_STR:
		up_buf_add(out, n->str.s, n->str.len);
		return !out->failed && out->len <= MAX_TEXT;
	case ND_PAREN:
		return fold_text(n->sub.e, out);
	case ND_BINARY:
		return n->op.op == OPR_ADD && fold_text(n->op.a, out) && fold_text(n->op.b, out);
	case ND_COND:
		return fold_truth(n->cond.cond, &t) &&
		       fold_text(t ? n->cond.then : n->cond.els, out);
	default:
		return false;
	}
}

/* Comparisons of two texts. */
static bool compare_texts(enum up_op op, const struct up_buf *a, const struct up_buf *b,
			  struct up_const *out)
{
	bool is_same = a->len == b->len && (!a->len || !memcmp(a->s, b->s, a->len));

	switch (op) {
	case OPR_EQ:
		return truth(out, is_same);
	case OPR_NE:
		return truth(out, !is_same);
	default:
		return truth(out,
			     up_glob_match(b->s ? b->s : "", b->len, a->s ? a->s : "", a->len));
	}
}

static bool fold_texts(const struct up_node *n, struct up_const *out)
{
	struct up_buf a = { 0 }, b = { 0 };
	bool ok = n->op.op == OPR_EQ || n->op.op == OPR_NE || n->op.op == OPR_MATCH;

	ok = ok && fold_text(n->op.a, &a) && fold_text(n->op.b, &b) &&
	     compare_texts(n->op.op, &a, &b, out);
	up_buf_fini(&a);
	up_buf_fini(&b);
	return ok;
}

bool up_const_text(const struct up_node *n, struct up_arena *a, struct up_text *out)
{
	struct up_buf b = { 0 };
	bool ok = fold_text(n, &b);

	if (ok)
		*out = (struct up_text){ b.len ? up_arena_memdup(a, b.s, b.len) : "", b.len };
	up_buf_fini(&b);
	return ok;
}

/* ---- expressions ---- */

/* `through`: also behind `:TYPE`? */
static bool fold(const struct up_node *n, bool through, struct up_const *out);

/* As a condition. */
static bool fold_truth(const struct up_node *n, bool *out)
{
	struct up_buf text = { 0 };
	struct up_const c;
	bool ok;

	if (!is_text(n)) {
		ok = fold(n, true, &c);
		*out = ok && (c.type.ty == TY_FLOAT ? c.v.f != 0 : c.v.u != 0);
		return ok;
	}
	ok = fold_text(n, &text);
	*out = text.len;
	up_buf_fini(&text);
	return ok;
}

static bool fold_unary(const struct up_node *n, bool through, struct up_const *out)
{
	struct up_const a;
	bool t;

	if (n->op.op == OPR_NOT)
		return fold_truth(n->op.a, &t) && truth(out, !t);
	if (!fold(n->op.a, through, &a))
		return false;
	if (a.type.ty == TY_FLOAT)
		return n->op.op == OPR_NEG && real(out, -a.v.f);
	if (n->op.op == OPR_NEG)
		return integer(out, UP_TYPE_S64, 0 - a.v.u);
	return integer(out, up_arithmetic_type(a.type, UP_TYPE_S64), ~a.v.u);
}

static bool fold_binary(const struct up_node *n, bool through, struct up_const *out)
{
	struct up_const a, b;
	bool t, u;

	if (n->op.op == OPR_LAND || n->op.op == OPR_LOR) {
		if (!fold_truth(n->op.a, &t))
			return false;
		if (t == (n->op.op == OPR_LOR)) /* the right side does not matter */
			return truth(out, t);
		return fold_truth(n->op.b, &u) && truth(out, u);
	}
	if (is_text(n->op.a))
		return fold_texts(n, out);
	if (!fold(n->op.a, through, &a) || !fold(n->op.b, through, &b))
		return false;
	if (a.type.ty == TY_FLOAT || b.type.ty == TY_FLOAT)
		return fold_floats(n->op.op, as_float(&a), as_float(&b), out);
	return fold_integers(n->op.op, &a, &b, out);
}

static bool fold_choice(const struct up_node *n, bool through, struct up_const *out)
{
	struct up_const a, b;
	bool t;

	if (!fold(n->cond.then, through, &a) || !fold(n->cond.els, through, &b) ||
	    !fold_truth(n->cond.cond, &t))
		return false;
	struct up_type type = up_either_type(a.type, b.type);
	const struct up_const *taken = t ? &a : &b;
	if (type.ty == TY_FLOAT)
		return real(out, as_float(taken));
	return integer(out, type, taken->v.u);
}

/* `N:TYPE`, of a type that takes the number itself. */
static bool fold_typed(const struct up_node *n, struct up_const *out)
{
	const struct up_typeref *ref = &n->typed.type;
	const struct up_type_row *row = up_type_find(ref->name);
	struct up_const c;

	if (!row || row->type.ty != TY_INT || row->is_address || row->needs_at || ref->len ||
	    ref->bits || ref->bit_size || !fold(n->typed.e, true, &c))
		return false;
	bool is_bool = row->type.show == UP_SHOW_BOOL;
	uint64_t v = c.type.ty != TY_FLOAT ? c.v.u
		     : is_bool             ? c.v.f != 0
			       : up_truncate(c.v.f, row->type.bits, row->type.is_signed);
	v = up_cast(v, row->type.bits, row->type.is_signed);
	return integer(out, row->type, is_bool ? v != 0 : v);
}

static bool fold(const struct up_node *n, bool through, struct up_const *out)
{
	switch (n->kind) {
	case ND_INT:
		return integer(out, n->num.v > INT64_MAX ? UP_TYPE_U64 : UP_TYPE_S64, n->num.v);
	case ND_FLOAT:
		return real(out, n->flt.v);
	case ND_PAREN:
		return fold(n->sub.e, through, out);
	case ND_TYPED:
		return through && fold_typed(n, out);
	case ND_UNARY:
		return fold_unary(n, through, out);
	case ND_BINARY:
		return fold_binary(n, through, out);
	case ND_COND:
		return fold_choice(n, through, out);
	default:
		return false;
	}
}

bool up_const_number(const struct up_node *n, struct up_const *out)
{
	return fold(n, true, out);
}

bool up_const_int(const struct up_node *n, uint64_t *out)
{
	struct up_const c;

	if (!fold(n, false, &c) || c.type.ty != TY_INT)
		return false;
	*out = c.v.u;
	return true;
}

bool up_is_const_zero(const struct up_node *n)
{
	struct up_const c;

	return fold(n, true, &c) && (c.type.ty == TY_FLOAT ? c.v.f == 0 : c.v.u == 0);
}
