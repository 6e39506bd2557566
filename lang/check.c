/* The checker's expressions. Statements are in check_act.c. */
#include "lang/check.h"

#include <string.h>

#include "lang/abi.h"
#include "lang/expand.h"
#include "lang/fold.h"
#include "lang/values.h"

const struct up_node *up_unparen(const struct up_node *n)
{
	while (n && n->kind == ND_PAREN)
		n = n->sub.e;
	return n;
}

const char *up_source_label(const struct up_diags *ds, struct up_arena *a, struct up_span span)
{
	const char *s = up_source_text(ds->sources, span);
	char *out = up_arena_alloc(a, span.len + 1), *to = out;
	bool in_string = false;

	for (uint32_t i = 0; i < span.len; i++) {
		char c = s[i];

		if (c == '"' && (i == 0 || s[i - 1] != '\\'))
			in_string = !in_string;
		if (!in_string && c == '#')
			while (i + 1 < span.len && s[i + 1] != '\n')
				i++;
		else if (!in_string && strchr(" \t\r\n", c)) {
			if (to > out && to[-1] != ' ')
				*to++ = ' ';
		} else {
			*to++ = c;
		}
	}
	*to = 0;
	return out;
}

/* ---- names ---- */

static void offer_values(const struct up_check *cx, struct up_nearest *near)
{
	up_offer_vars(cx, near);
	for (unsigned i = 0; i < VAL_COUNT; i++)
		up_nearest_offer(near, up_val_rows[i].name, strlen(up_val_rows[i].name));
	for (unsigned i = 0; i < 6; i++)
		up_nearest_offer(near, (const char[]){ 'a', 'r', 'g', (char)('0' + i), 0 }, 4);
	up_nearest_offer(near, "entry", 5);
	up_nearest_offer(near, "reg", 3);
}

static struct up_type unknown_name(struct up_check *cx, struct up_node *n)
{
	struct up_nearest near;

	up_error(cx->ds, n->span, E_UNKNOWN_NAME, "nothing is named `%s`", n->name.s);
	if (up_foreign_word(n->name.s)) {
		up_diag_hint(cx->ds, "%s", up_foreign_word(n->name.s));
		return up_poison(n);
	}
	up_nearest_init(&near, n->name.s, strlen(n->name.s));
	offer_values(cx, &near);
	up_diag_nearest(cx->ds, &near);
	return up_poison(n);
}

static struct up_type outside_return(struct up_check *cx, struct up_node *n, const char *name)
{
	bool is_retval = !strcmp(name, "retval");

	if (cx->in_entry)
		up_error(cx->ds, n->span, is_retval ? E_RETVAL : E_ENTRY,
			 "`%s` is not known at the entry, where `entry.` looks", name);
	else
		up_error(cx->ds, n->span, is_retval ? E_RETVAL : E_ENTRY,
			 "`%s` exists only in `on return`", name);
	up_diag_hint(cx->ds, "write it in the return's block: on return < print(%s) >", name);
	return up_poison(n);
}

struct up_type up_check_no_hit(struct up_check *cx, struct up_node *n, const char *name)
{
	up_error(cx->ds, n->span, E_NO_HIT, "`%s` belongs to a hit, and this block has none", name);
	up_diag_hint(cx->ds, "keep it in a probe: last = %s", name);
	return up_poison(n);
}

static struct up_type check_value(struct up_check *cx, struct up_node *n,
				  const struct up_val_row *row)
{
	if (row->where & UP_LATER) {
		up_error(cx->ds, n->span, E_LATER, "`%s` is not to be had in this version",
			 row->name);
		return up_poison(n);
	}
	if (cx->where == UP_AT_BLOCK && !(row->where & UP_ANYWHERE))
		return up_check_no_hit(cx, n, row->name);
	if ((row->where & UP_IN_RETURN) && cx->where != UP_AT_RETURN)
		return outside_return(cx, n, row->name);
	if (row->val == VAL_ELAPSED || row->val == VAL_DEPTH)
		cx->uses_call = true;
	n->sem = SEM_VALUE;
	n->ref = row->val;
	return n->type = row->type;
}

static struct up_type check_name(struct up_check *cx, struct up_node *n)
{
	const struct up_val_row *row = up_val_find(n->name.s);
	unsigned arg;

	if (row)
		return check_value(cx, n, row);
	if (up_val_arg(n->name.s, &arg) && cx->where == UP_AT_BLOCK)
		return up_check_no_hit(cx, n, n->name.s);
	if (up_val_arg(n->name.s, &arg)) {
		n->sem = SEM_ARG;
		n->ref = arg;
		cx->uses_call |= cx->where == UP_AT_RETURN;
		if (!cx->first_arg)
			cx->first_arg = n;
		return n->type = UP_TYPE_S64;
	}
	if (!strcmp(n->name.s, "reg") || !strcmp(n->name.s, "entry")) {
		up_error(cx->ds, n->span, E_UNKNOWN_NAME, "`%s` needs a name behind a dot",
			 n->name.s);
		up_diag_hint(cx->ds, "as in %s", n->name.s[0] == 'r' ? "reg.ax" : "entry.arg0");
		return up_poison(n);
	}
	return up_check_var_name(cx, n) ? n->type : unknown_name(cx, n);
}

/* The program's own name for something, or a member of its structure. */
static struct up_type check_own_later(struct up_check *cx, struct up_node *n)
{
	up_error(cx->ds, n->span, E_LATER,
		 "the program's own variables need debug information, which this version does not "
		 "read");
	if (n->kind == ND_ARROW && n->member.obj->kind == ND_NAME)
		up_diag_hint(cx->ds, "a member at byte 16, of four bytes, is @(%s + 16):u32",
			     n->member.obj->name.s);
	return up_poison(n);
}

static struct up_type check_member(struct up_check *cx, struct up_node *n)
{
	const struct up_node *obj = n->member.obj;

	if (obj->kind == ND_NAME && !strcmp(obj->name.s, "reg")) {
		if (cx->where == UP_AT_BLOCK)
			return up_check_no_hit(cx, n, "reg");
		n->sem = SEM_REG;
		return n->type = UP_TYPE_X64;
	}
	if (up_check_var_member(cx, n))
		return n->type;
	if (obj->kind == ND_DOLLAR || obj->kind == ND_ARROW)
		return check_own_later(cx, n);
	if (up_check_expr(cx, n->member.obj).ty == TY_POISON)
		return up_poison(n);
	up_error(cx->ds, n->span, E_UNKNOWN_NAME, "`%s` has no parts to pick with a dot",
		 up_source_label(cx->ds, cx->ds->arena, obj->span));
	return up_poison(n);
}

static struct up_type check_index(struct up_check *cx, struct up_node *n)
{
	const struct up_node *obj = n->index.obj;
	uint64_t slot;

	if (obj->kind != ND_NAME || strcmp(obj->name.s, "stack"))
		return up_check_var_index(cx, n);
	if (cx->where == UP_AT_BLOCK)
		return up_check_no_hit(cx, n, "stack");
	if (n->index.idx->next || !up_const_int(n->index.idx, &slot) || slot > 4095) {
		up_error(cx->ds, n->index.idx->span, E_NOT_CONSTANT,
			 "the kernel reads stack[N] only for a constant N from 0 to 4095");
		return up_poison(n);
	}
	n->sem = SEM_STACK;
	n->ref = (uint32_t)slot;
	return n->type = UP_TYPE_X64;
}

/* ---- memory ---- */

static struct up_type check_at(struct up_check *cx, struct up_node *n)
{
	const struct up_node *e = up_unparen(n->sub.e);

	if (e->kind == ND_STR) {
		up_error(cx->ds, n->span, E_LATER,
			 "global variables by name are not to be had in this version");
		up_diag_hint(cx->ds, "give the address: @(0x...)");
		return up_poison(n);
	}
	if (cx->where == UP_AT_BLOCK)
		return up_check_no_hit(cx, n, "@");
	struct up_type t = up_check_expr(cx, n->sub.e);
	if (up_is_poison(t))
		return up_poison(n);
	if (t.ty != TY_INT) {
		up_error(cx->ds, n->sub.e->span, E_TYPE, "an address is a number, this is %s",
			 up_kind_name(t));
		return up_poison(n);
	}
	if (!up_check_stale(cx, n, n->sub.e))
		return up_poison(n);
	return n->type = UP_TYPE_X64;
}

static struct up_type check_entry(struct up_check *cx, struct up_node *n)
{
	if (cx->where != UP_AT_RETURN || cx->in_entry) {
		up_error(cx->ds, n->span, E_ENTRY,
			 "`entry.` looks back from `on return`; here it is the entry");
		up_diag_hint(cx->ds, "write %s without `entry.`",
			     up_source_label(cx->ds, cx->ds->arena, n->sub.e->span));
		return up_poison(n);
	}
	cx->where = UP_AT_ENTRY;
	cx->in_entry = true;
	struct up_type t = up_check_expr(cx, n->sub.e);
	cx->where = UP_AT_RETURN;
	cx->in_entry = false;
	cx->uses_call = true;
	return n->type = t;
}

/* `entry.X:TYPE`: the type belongs to what is read at the entry. Turns TYPED(ENTRY(X)) into
 * ENTRY(TYPED(X)). */
static void push_type_into_entry(struct up_node *n)
{
	struct up_node *entry = n->typed.e;
	struct up_typeref type = n->typed.type;
	struct up_node *inner = entry->sub.e;

	entry->kind = ND_TYPED;
	entry->span = up_span_join(inner->span, type.span);
	entry->typed.e = inner;
	entry->typed.type = type;
	n->kind = ND_ENTRY;
	n->sub.e = entry;
}

/* ---- operators ---- */

static struct up_type mismatch(struct up_check *cx, struct up_node *n, const char *what)
{
	up_error(cx->ds, n->span, E_TYPE, "%s", what);
	return up_poison(n);
}

static struct up_type check_string_op(struct up_check *cx, struct up_node *n, struct up_type a,
				      struct up_type b)
{
	enum up_op op = n->op.op;

	if (op == OPR_ADD && a.ty == TY_STR && b.ty == TY_STR)
		return n->type = UP_TYPE_STR;
	if (op == OPR_ADD) {
		mismatch(cx, n, "this joins a string and a number");
		up_diag_hint(cx->ds, "a number as text is dec(x) or hex(x), the number that a text "
				     "begins with int(s)");
		return n->type;
	}
	if (op != OPR_EQ && op != OPR_NE && op != OPR_MATCH) {
		mismatch(cx, n,
			 "strings can be compared with ==, != and ~ (glob) and joined with +, "
			 "nothing else");
		if (a.ty == TY_STR && b.ty == TY_STR)
			return n->type;
		up_diag_hint(cx->ds, "the number that a text begins with is int(%s)",
			     up_source_label(cx->ds, cx->ds->arena,
					     (a.ty == TY_STR ? n->op.a : n->op.b)->span));
		return n->type;
	}
	if (a.ty == b.ty)
		return n->type = UP_TYPE_BOOL;
	mismatch(cx, n, "this compares a string with a number");
	struct up_node *num = a.ty == TY_STR ? n->op.b : n->op.a;
	uint64_t constant;
	if (up_const_int(num, &constant))
		up_diag_hint(cx->ds, "a string is written in quotes: \"%s\"",
			     up_source_label(cx->ds, cx->ds->arena, num->span));
	else if (num->type.ty == TY_INT && num->type.bits == 64)
		up_diag_hint(cx->ds, "if the number is the address of text, write %s:string",
			     up_source_label(cx->ds, cx->ds->arena, num->span));
	return n->type;
}

/* Bytes can be compared with bytes and with text, arrays with nothing. */
static struct up_type check_block_op(struct up_check *cx, struct up_node *n, struct up_type a,
				     struct up_type b)
{
	bool is_equality = n->op.op == OPR_EQ || n->op.op == OPR_NE;

	if (a.ty == TY_ARRAY || b.ty == TY_ARRAY) {
		const struct up_node *array = a.ty == TY_ARRAY ? n->op.a : n->op.b;

		up_error(cx->ds, array->span, E_TYPE,
			 "an array can be shown and be a key, nothing else");
		up_diag_hint(cx->ds, "read the element: @(ADDRESS + N * SIZE):TYPE");
		return up_poison(n);
	}
	if (!is_equality)
		return mismatch(cx, n, "bytes can be compared with == and !=, nothing else");
	if (up_ty_has_bytes(a.ty) && up_ty_has_bytes(b.ty))
		return n->type = UP_TYPE_BOOL;
	return mismatch(cx, n, "this compares bytes with a number");
}

/* Operators that need integers. */
static bool is_integer_op(enum up_op op)
{
	return op == OPR_SHL || op == OPR_SHR || op == OPR_AND || op == OPR_OR || op == OPR_XOR ||
	       op == OPR_MOD;
}

static struct up_type check_number_op(struct up_check *cx, struct up_node *n, struct up_type a,
				      struct up_type b)
{
	enum up_op op = n->op.op;

	if (is_integer_op(op) && (a.ty == TY_FLOAT || b.ty == TY_FLOAT)) {
		mismatch(cx, n, "this operator needs integers");
		up_diag_hint(cx->ds, ":s64 behind a floating-point number cuts it to an integer");
		return n->type;
	}
	if (up_op_is_comparison(op))
		return n->type = UP_TYPE_BOOL;
	switch (op) {
	case OPR_MATCH:
		return mismatch(cx, n, "~ matches a string against a glob; these are numbers");
	case OPR_SHL:
	case OPR_SHR:
		return n->type = up_arithmetic_type(a, UP_TYPE_S64);
	default:
		if ((op == OPR_DIV || op == OPR_MOD) && up_is_const_zero(n->op.b))
			up_error(cx->ds, n->span, W_DIVISION_BY_ZERO,
				 "this divides by zero; the result is always 0");
		n->type = up_arithmetic_type(a, b);
		if ((op == OPR_ADD || op == OPR_SUB || op == OPR_MOD) && n->type.ty == TY_INT &&
		    n->type.show == UP_SHOW_DEC && (a.show == UP_SHOW_NS || b.show == UP_SHOW_NS))
			n->type.show = UP_SHOW_NS;
		return n->type;
	}
}

/* Can it be a condition? */
static bool check_truth(struct up_check *cx, const struct up_node *n)
{
	if (n->type.ty != TY_ARRAY && n->type.ty != TY_BYTES)
		return true;
	return up_error(cx->ds, n->span, E_TYPE, "%s is neither true nor false",
			up_kind_name(n->type));
}

struct up_type up_known_type(const struct up_check *cx, const struct up_node *n)
{
	uint64_t v;

	return !cx->guess && n->type.ty == TY_INT && up_const_int(n, &v) ? UP_TYPE_UNKNOWN
									 : n->type;
}

/* The type when one operand is a variable of which nothing is known yet. */
static struct up_type guess_binary(const struct up_check *cx, const struct up_node *n,
				   struct up_type a)
{
	bool a_known = a.ty != TY_UNKNOWN;
	struct up_type known = up_known_type(cx, a_known ? n->op.a : n->op.b);

	if (up_op_is_comparison(n->op.op))
		return UP_TYPE_BOOL;
	switch (n->op.op) {
	case OPR_MATCH:
	case OPR_LAND:
	case OPR_LOR:
		return UP_TYPE_BOOL;
	case OPR_SHL:
	case OPR_SHR:
		return a_known ? up_arithmetic_type(a, UP_TYPE_S64) : a;
	default:
		return known.ty == TY_INT ? up_arithmetic_type(known, known) : known;
	}
}

static struct up_type check_binary(struct up_check *cx, struct up_node *n)
{
	struct up_type a = up_check_expr(cx, n->op.a), b = up_check_expr(cx, n->op.b);

	if (a.ty == TY_POISON || b.ty == TY_POISON)
		return up_poison(n);
	if (up_is_poison(a) || up_is_poison(b))
		return n->type = guess_binary(cx, n, a);
	if (n->op.op == OPR_LAND || n->op.op == OPR_LOR)
		return check_truth(cx, n->op.a) && check_truth(cx, n->op.b)
			       ? (n->type = UP_TYPE_BOOL)
			       : up_poison(n);
	if (a.ty == TY_ARRAY || b.ty == TY_ARRAY || a.ty == TY_BYTES || b.ty == TY_BYTES)
		return check_block_op(cx, n, a, b);
	if (a.ty == TY_STR || b.ty == TY_STR)
		return check_string_op(cx, n, a, b);
	return check_number_op(cx, n, a, b);
}

static struct up_type check_unary(struct up_check *cx, struct up_node *n)
{
	struct up_type t = up_check_expr(cx, n->op.a);

	if (t.ty == TY_POISON)
		return up_poison(n);
	if (n->op.op == OPR_NOT)
		return check_truth(cx, n->op.a) ? (n->type = UP_TYPE_BOOL) : up_poison(n);
	if (t.ty == TY_UNKNOWN)
		return n->type = t;
	if (t.ty == TY_FLOAT && n->op.op == OPR_NEG)
		return n->type = UP_TYPE_FLOAT;
	if (t.ty != TY_INT)
		return mismatch(cx, n,
				t.ty == TY_FLOAT ? "this operator needs an integer"
						 : "this operator needs a number");
	return n->type = n->op.op == OPR_NEG ? UP_TYPE_S64 : up_arithmetic_type(t, UP_TYPE_S64);
}

static struct up_type check_choice(struct up_check *cx, struct up_node *n)
{
	up_check_cond(cx, n->cond.cond);
	struct up_type a = up_check_expr(cx, n->cond.then), b = up_check_expr(cx, n->cond.els);

	if (a.ty == TY_POISON || b.ty == TY_POISON)
		return up_poison(n);
	if (a.ty == TY_UNKNOWN || b.ty == TY_UNKNOWN)
		return n->type = up_known_type(cx, a.ty == TY_UNKNOWN ? n->cond.els : n->cond.then);
	if (up_type_is_number(a) && up_type_is_number(b))
		return n->type = up_either_type(a, b);
	if (a.ty == TY_ARRAY && b.ty == TY_ARRAY && !up_type_same_form(a, b))
		return mismatch(cx, n, "the two branches are arrays of different types");
	if (a.ty != b.ty)
		return mismatch(cx, n,
				up_arena_printf(cx->ds->arena, "one branch is %s, the other %s",
						up_kind_name(a), up_kind_name(b)));
	return n->type = a;
}

static struct up_type check_literal_later(struct up_check *cx, struct up_node *n, const char *what)
{
	up_error(cx->ds, n->span, E_LATER, "%s", what);
	return up_poison(n);
}

struct up_type up_check_expr(struct up_check *cx, struct up_node *n)
{
	switch (n->kind) {
	case ND_INT:
		return n->type = n->num.v > INT64_MAX ? UP_TYPE_U64 : UP_TYPE_S64;
	case ND_STR:
		return n->type = UP_TYPE_STR;
	case ND_FLOAT:
		return n->type = UP_TYPE_FLOAT;
	case ND_DOLLAR:
	case ND_ARROW:
		return check_own_later(cx, n);
	case ND_POS:
		return check_literal_later(
			cx, n,
			"arguments of the script can stand in targets only, in this version");
	case ND_NAME:
		return check_name(cx, n);
	case ND_MEMBER:
		return check_member(cx, n);
	case ND_INDEX:
		return check_index(cx, n);
	case ND_CALL:
		return up_check_call(cx, n);
	case ND_AT:
		return check_at(cx, n);
	case ND_ENTRY:
		return check_entry(cx, n);
	case ND_TYPED:
		if (n->typed.e->kind == ND_ENTRY) {
			push_type_into_entry(n);
			return check_entry(cx, n);
		}
		return up_check_typed(cx, n);
	case ND_UNARY:
		return check_unary(cx, n);
	case ND_BINARY:
		return check_binary(cx, n);
	case ND_COND:
		return check_choice(cx, n);
	case ND_PAREN:
		return n->type = up_check_expr(cx, n->sub.e);
	default:
		return up_poison(n);
	}
}

void up_check_cond(struct up_check *cx, struct up_node *n)
{
	uint64_t v;

	if (!up_is_poison(up_check_expr(cx, n)) && check_truth(cx, n) && up_const_int(n, &v) &&
	    !up_is_named(n))
		up_error(cx->ds, n->span, W_CONSTANT_CONDITION, "this condition is always %s",
			 v ? "true" : "false");
}
