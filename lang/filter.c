/*
 * From a condition to an event filter, as Documentation/trace/events.rst of the kernel defines it.
 *
 * A condition becomes a formula over simple comparisons of fields. A comparison of a number is
 * first the set of values for which it holds, and then written in the terms of the field that
 * carries the value: so neither the field's width nor its sign can change the meaning (the kernel
 * compares as the field is declared, and cuts constants to its width without a word).
 */
#include "lang/filter.h"

#include <inttypes.h>
#include <string.h>

#include "lang/codegen.h"
#include "lang/fold.h"
#include "lang/interval.h"

#define MAX_STRING 250 /* bytes of a text to compare with; the kernel takes 255 */
#define MAX_BITS 16    /* comparisons made of one mask */
#define MAX_PARTS 1000 /* comparisons of a filter; far more than it has room for */

/* ---- formulas ---- */

enum kind { FALSE_FORM, TRUE_FORM, ATOM, AND, OR };

struct form {
	enum kind kind;
	const char *text;         /* of an atom */
	const struct form *a, *b; /* of AND, OR */
};

static const struct form never = { .kind = FALSE_FORM }, always = { .kind = TRUE_FORM };

struct cx {
	struct up_gen *g;
	struct up_arena *arena; /* the compilation's */
	struct up_buf rest;     /* labels of what was left out */
	unsigned nr_parts;      /* atoms made */
};

static const struct form *atom(struct cx *cx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static const struct form *atom(struct cx *cx, const char *fmt, ...)
{
	struct form *f = up_new(cx->arena, struct form);
	va_list ap;

	cx->nr_parts++;
	va_start(ap, fmt);
	*f = (struct form){ .kind = ATOM, .text = up_arena_vprintf(cx->arena, fmt, ap) };
	va_end(ap);
	return f;
}

/* Is b one of the parts that a is joined of? */
static bool has_part(const struct form *a, enum kind kind, const struct form *b)
{
	if (a->kind == kind)
		return has_part(a->a, kind, b) || has_part(a->b, kind, b);
	return a->kind == ATOM && b->kind == ATOM && !strcmp(a->text, b->text);
}

static const struct form *join(struct cx *cx, enum kind kind, const struct form *a,
			       const struct form *b)
{
	enum kind neutral = kind == AND ? TRUE_FORM : FALSE_FORM;
	enum kind decisive = kind == AND ? FALSE_FORM : TRUE_FORM;

	if (a->kind == decisive || b->kind == neutral)
		return a;
	if (b->kind == decisive || a->kind == neutral)
		return b;
	if (b->kind == kind) /* so that all parts stand in one row */
		return join(cx, kind, join(cx, kind, a, b->a), b->b);
	if (has_part(a, kind, b))
		return a;
	struct form *f = up_new(cx->arena, struct form);
	*f = (struct form){ .kind = kind, .a = a, .b = b };
	return f;
}

static void print(const struct form *f, enum kind around, struct up_buf *out)
{
	bool parens = (f->kind == AND || f->kind == OR) && around != f->kind;

	if (out->len > UP_FILTER_MAX)
		return; /* it is of no use any more */
	if (f->kind == ATOM) {
		up_buf_puts(out, f->text);
		return;
	}
	up_buf_puts(out, parens ? "(" : "");
	print(f->a, f->kind, out);
	up_buf_puts(out, f->kind == AND ? " && " : " || ");
	print(f->b, f->kind, out);
	up_buf_puts(out, parens ? ")" : "");
}

/* ---- fields ---- */

/* A number of the record. */
struct field {
	const char *name;
	unsigned bits;
	bool is_signed;           /* as it is declared, which is how the kernel compares it */
	bool is_hex;              /* shown so */
	bool has_no_bits;         /* the kernel does not know its & */
	const struct form *fault; /* when the value is none */
};

static struct field field_of_arg(const struct up_plan_arg *a)
{
	return (struct field){ .name = a->name,
			       .bits = a->size * 8u,
			       .is_signed = a->is_signed,
			       .is_hex = a->type[0] == 'x',
			       .fault = &never };
}

static const char *number(struct cx *cx, const struct field *f, uint64_t v)
{
	if (f->is_signed)
		return up_arena_printf(cx->arena, "%" PRId64, (int64_t)v);
	return up_arena_printf(cx->arena, f->is_hex && v > 9 ? "0x%" PRIx64 : "%" PRIu64, v);
}

/* The field's values in the order in which the kernel compares them, `shift` added to each. */
struct domain {
	uint64_t min, max, shift;
};

static struct domain domain_of(const struct field *f)
{
	uint64_t half = (uint64_t)1 << (f->bits - 1), top = (uint64_t)1 << 63;

	if (f->is_signed)
		return (struct domain){ top - half, top + (half - 1), top };
	return (struct domain){ 0, half + (half - 1), 0 };
}

/* From lo on, or up to hi: said with that of two numbers which is even, as people mostly do. */
static const struct form *from(struct cx *cx, const struct field *f, struct domain d, uint64_t lo)
{
	if (lo == d.min)
		return &always;
	return lo % 2 ? atom(cx, "%s > %s", f->name, number(cx, f, lo - 1 - d.shift))
		      : atom(cx, "%s >= %s", f->name, number(cx, f, lo - d.shift));
}

static const struct form *up_to(struct cx *cx, const struct field *f, struct domain d, uint64_t hi)
{
	if (hi == d.max)
		return &always;
	return hi % 2 ? atom(cx, "%s < %s", f->name, number(cx, f, hi + 1 - d.shift))
		      : atom(cx, "%s <= %s", f->name, number(cx, f, hi - d.shift));
}

static const struct form *interval(struct cx *cx, const struct field *f, struct domain d,
				   struct up_interval i)
{
	if (i.lo == i.hi)
		return atom(cx, "%s == %s", f->name, number(cx, f, i.lo - d.shift));
	return join(cx, AND, from(cx, f, d, i.lo), up_to(cx, f, d, i.hi));
}

/* The field's value, widened to 64 bits by its sign, is in the set. */
static const struct form *is_in(struct cx *cx, const struct field *f, const struct up_set *set)
{
	struct domain d = domain_of(f);
	struct up_set moved = up_set_add(set, d.shift), in = up_set_clip(&moved, d.min, d.max);
	struct up_set out = up_set_not(&in);
	const struct form *form = &never;
	uint64_t one;

	out = up_set_clip(&out, d.min, d.max);
	if (up_set_is_one(&out, &one) && d.min != d.max)
		return atom(cx, "%s != %s", f->name, number(cx, f, one - d.shift));
	for (unsigned i = 0; i < in.nr; i++)
		form = join(cx, OR, form, interval(cx, f, d, in.v[i]));
	return form;
}

static const struct form *or_fault(struct cx *cx, const struct field *f, const struct form *form)
{
	return join(cx, OR, form, f->fault);
}

/* ---- which field holds a value ---- */

/*
 * A value of the record is recognised by the instructions that load it: one that loads a number,
 * one guard for each pointer on the way to it, and perhaps one that makes a truth of it. So there
 * is one place that knows what is loaded for which expression.
 */
struct load {
	const struct up_insn *code;
	size_t nr; /* instructions, without the last one of a truth */
	const struct up_plan_arg *args;
	bool is_truth;
};

static bool generate(struct cx *cx, const struct up_node *n, struct load *out)
{
	struct up_gen scratch = *cx->g;

	memset(&scratch.code, 0, sizeof(scratch.code));
	up_gen_expr(&scratch, n, 0);
	*out = (struct load){ scratch.code.v, scratch.code.nr, scratch.shape->args.v, false };
	if (scratch.failed || !out->nr)
		return false;
	out->is_truth = out->nr > 1 && out->code[out->nr - 1].op == OP_TRUTH;
	out->nr -= out->is_truth;
	return true;
}

/* When one of the pointers on the way was none. */
static bool find_fault(struct cx *cx, const struct load *l, struct field *f)
{
	static const struct up_set pointers = { 1, { { UP_POINTER_MIN, UP_POINTER_END - 1 } } };
	struct up_set others = up_set_not(&pointers);

	for (size_t i = 1; i < l->nr; i += 2) {
		struct field p;

		if (l->code[i].op != OP_ARG || l->code[i + 1].op != OP_GUARD)
			return false;
		p = field_of_arg(&l->args[l->code[i].b]);
		f->fault = join(cx, OR, f->fault, is_in(cx, &p, &others));
	}
	return true;
}

/* False when the value is none that the kernel can compare. */
static bool find_field(struct cx *cx, const struct up_node *n, struct field *out, bool *is_truth)
{
	struct load l;

	if (n->type.ty != TY_INT || !generate(cx, n, &l))
		return false;
	*is_truth = l.is_truth;
	if (l.code[0].op == OP_CONTEXT && l.nr == 1) {
		*out = (struct field){ .bits = 32, .is_signed = true, .fault = &never };
		out->has_no_bits = l.code[0].b == UP_CX_CPU;
		out->name = l.code[0].b == UP_CX_TID   ? "common_pid"
			    : l.code[0].b == UP_CX_CPU ? "cpu"
						       : NULL;
		return out->name;
	}
	if (l.code[0].op != OP_ARG || l.nr % 2 == 0)
		return false;
	*out = field_of_arg(&l.args[l.code[0].b]);
	return find_fault(cx, &l, out);
}

/* ---- numbers ---- */

/* Left to the handler. */
static const struct form *leave(struct cx *cx, const struct up_node *n)
{
	const char *label = up_source_label(cx->g->ds, cx->arena, n->span);

	up_buf_printf(&cx->rest, "%s%s", cx->rest.len ? ", " : "", label);
	return &always;
}

static bool is_logical(const struct up_node *n)
{
	if (n->kind != ND_BINARY)
		return n->kind == ND_UNARY && n->op.op == OPR_NOT;
	return up_op_is_comparison(n->op.op) || n->op.op == OPR_LAND || n->op.op == OPR_LOR ||
	       n->op.op == OPR_MATCH;
}

/* The set as one of truths: bit 0 of the result says whether it holds 0, bit 1 whether 1. */
static unsigned truths(const struct up_set *set)
{
	return up_set_has(set, 0) | (unsigned)up_set_has(set, 1) << 1;
}

/* Makes the set of a field's values out of one of their truths. */
static struct up_set untruth(const struct up_set *set)
{
	static const struct up_set none = { .nr = 0 };
	struct up_set zero = up_set_compare(OPR_EQ, 0, true);

	switch (truths(set)) {
	case 0:
		return none;
	case 1:
		return zero;
	case 2:
		return up_set_not(&zero);
	default:
		return up_set_not(&none);
	}
}

/* Bits of a mask as the field has them: those beyond its width are copies of its sign. */
static uint64_t mask_of_field(const struct field *f, uint64_t mask)
{
	uint64_t low = f->bits == 64 ? UINT64_MAX : ((uint64_t)1 << f->bits) - 1;

	if (f->is_signed && (mask & ~low))
		mask |= (uint64_t)1 << (f->bits - 1);
	return mask & low;
}

static const struct form *any_bit(struct cx *cx, const struct field *f, uint64_t mask, bool want)
{
	if (!mask)
		return want ? &never : &always;
	return atom(cx, want ? "%s & %s" : "!(%s & %s)", f->name, number(cx, f, mask));
}

/*
 * `(field & mask) == c`, or the contrary. The kernel tells only whether any bit of a mask is set,
 * so each bit that must be set is asked for by itself.
 */
static const struct form *masked(struct cx *cx, const struct field *f, uint64_t mask, uint64_t c,
				 bool want)
{
	const struct form *form = any_bit(cx, f, mask & ~c, !want);

	for (uint64_t left = c, bit; left; left &= left - 1) {
		bit = left & -left;
		form = join(cx, want ? AND : OR, form, any_bit(cx, f, bit, want));
	}
	return form;
}

/* `(n & mask)` is in the set; NULL: that cannot be told. */
static const struct form *mask_in(struct cx *cx, const struct up_node *n, uint64_t mask,
				  const struct up_set *set)
{
	struct up_set others = up_set_not(set);
	bool is_truth;
	struct field f;
	uint64_t c;
	bool want = up_set_is_one(set, &c);

	if ((!want && !up_set_is_one(&others, &c)) || !find_field(cx, n, &f, &is_truth) ||
	    is_truth || f.has_no_bits)
		return NULL;
	if (c && f.is_signed && f.bits < 64 && mask_of_field(&f, mask) != mask)
		return NULL;
	mask = mask_of_field(&f, mask);
	if (c & ~mask)
		return or_fault(cx, &f, want ? &never : &always);
	if (__builtin_popcountll(c) > MAX_BITS)
		return NULL;
	return or_fault(cx, &f, masked(cx, &f, mask, c, want));
}

static const struct form *judge(struct cx *cx, const struct up_node *n, bool want);

/* The number n is in the set; NULL: that cannot be told. */
static const struct form *number_in(struct cx *cx, const struct up_node *n,
				    const struct up_set *set);

/* The same for the result of an operator. */
static const struct form *result_in(struct cx *cx, const struct up_node *n,
				    const struct up_set *set)
{
	const struct up_node *a = n->op.a, *b = n->op.b;
	struct up_set moved = *set;
	uint64_t k;

	if (a->type.ty != TY_INT || (b && b->type.ty != TY_INT))
		return NULL;
	if (n->op.op == OPR_NEG || n->op.op == OPR_BNOT) {
		moved = up_set_negate(set);
		if (n->op.op == OPR_BNOT) /* ~x is -x - 1 */
			moved = up_set_add(&moved, UINT64_MAX);
		return number_in(cx, a, &moved);
	}
	if ((n->op.op == OPR_ADD || n->op.op == OPR_AND) && up_const_int(a, &k)) {
		a = n->op.b;
	} else if (n->op.op == OPR_SUB && up_const_int(a, &k)) {
		moved = up_set_negate(set);
		moved = up_set_add(&moved, k);
		return number_in(cx, b, &moved);
	} else if (!b || !up_const_int(b, &k)) {
		return NULL;
	}
	switch (n->op.op) {
	case OPR_ADD:
	case OPR_SUB:
		moved = up_set_add(set, n->op.op == OPR_ADD ? -k : k);
		return number_in(cx, a, &moved);
	case OPR_AND:
		return mask_in(cx, up_unparen(a), k, set);
	default:
		return NULL;
	}
}

static const struct form *number_in(struct cx *cx, const struct up_node *n,
				    const struct up_set *set)
{
	struct field f;
	bool is_truth;

	n = up_unparen(n);
	if (is_logical(n))
		switch (truths(set)) {
		case 0:
			return &never;
		case 1:
		case 2:
			return judge(cx, n, truths(set) == 2);
		default:
			return &always;
		}
	if (n->kind == ND_UNARY || n->kind == ND_BINARY)
		return result_in(cx, n, set);
	if (!find_field(cx, n, &f, &is_truth))
		return NULL;
	struct up_set values = is_truth ? untruth(set) : *set;
	return or_fault(cx, &f, is_in(cx, &f, &values));
}

static enum up_op mirrored(enum up_op op)
{
	switch (op) {
	case OPR_LT:
		return OPR_GT;
	case OPR_LE:
		return OPR_GE;
	case OPR_GT:
		return OPR_LT;
	case OPR_GE:
		return OPR_LE;
	default:
		return op;
	}
}

static const struct form *judge_numbers(struct cx *cx, const struct up_node *n, bool want)
{
	const struct up_node *a = n->op.a, *b = n->op.b;
	bool is_unsigned = up_is_wide_unsigned(a->type) || up_is_wide_unsigned(b->type);
	enum up_op op = n->op.op;
	const struct form *form;
	uint64_t c;

	if (up_const_int(a, &c)) {
		op = mirrored(op);
		a = b;
	} else if (!up_const_int(b, &c)) {
		return leave(cx, n);
	}
	struct up_set set = up_set_compare(op, c, is_unsigned);
	if (!want)
		set = up_set_not(&set);
	form = number_in(cx, a, &set);
	return form ? form : leave(cx, n);
}

/* ---- text ---- */

/*
 * The name of the field that holds `comm`. Other text is fetched as words, and of a string of the
 * kernel's that could not be read the kernel compares whatever stands in its place; that of `comm`
 * can always be read, unless strings before it took all the room.
 */
static const char *comm_field(struct cx *cx, const struct up_node *n)
{
	struct load l;

	if (n->type.ty != TY_STR || n->kind == ND_STR || !generate(cx, n, &l) || l.nr != 1 ||
	    l.code[0].op != OP_ARGSTR || strcmp(l.args[l.code[0].b].fetch, "$comm"))
		return NULL;
	for (unsigned i = 0; i < l.code[0].b; i++)
		if (!l.args[i].size)
			return NULL;
	return l.args[l.code[0].b].name;
}

/* Has every byte one meaning, to us and to the kernel? `special`: those that must not be there. */
static bool is_plain(const struct up_text *t, const char *special)
{
	if (!t->len || t->len > MAX_STRING)
		return false;
	for (size_t i = 0; i < t->len; i++)
		if (t->s[i] < ' ' || t->s[i] > '~' || strchr(special, t->s[i]))
			return false;
	return true;
}

/* The kernel takes a pattern that begins with ! for its contrary, one with a digit for no pattern.
 */
static bool is_plain_glob(const struct up_text *t)
{
	return is_plain(t, "\"[?\\") && t->s[0] != '!' && !(t->s[0] >= '0' && t->s[0] <= '9');
}

static const struct form *judge_text(struct cx *cx, const struct up_node *n, bool want)
{
	const struct up_node *a = up_unparen(n->op.a), *b = up_unparen(n->op.b);
	enum up_op op = n->op.op;

	if (a->kind == ND_STR && op != OPR_MATCH) {
		const struct up_node *swap = a;

		a = b;
		b = swap;
	}
	const char *field = comm_field(cx, a);
	if (!field || b->kind != ND_STR ||
	    !(op == OPR_MATCH ? is_plain_glob(&b->str) : is_plain(&b->str, "\"")))
		return leave(cx, n);
	if (op == OPR_MATCH)
		return atom(cx, want ? "%s ~ \"%s\"" : "!(%s ~ \"%s\")", field, b->str.s);
	return atom(cx, "%s %s \"%s\"", field, (op == OPR_EQ) == want ? "==" : "!=", b->str.s);
}

/* ---- conditions ---- */

static const struct form *judge_truth(struct cx *cx, const struct up_node *n, bool want)
{
	struct up_set zero = up_set_compare(OPR_EQ, 0, true), set = want ? up_set_not(&zero) : zero;
	const struct form *form = n->type.ty == TY_INT ? number_in(cx, n, &set) : NULL;

	return form ? form : leave(cx, n);
}

static const struct form *judge_comparison(struct cx *cx, const struct up_node *n, bool want)
{
	if (n->op.a->type.ty == TY_INT && n->op.b->type.ty == TY_INT)
		return judge_numbers(cx, n, want);
	if (n->op.a->type.ty == TY_STR && n->op.b->type.ty == TY_STR)
		return judge_text(cx, n, want);
	return leave(cx, n);
}

/*
 * What must hold when n is true, or false if that is wanted; or when a value in it was a fault,
 * which may make it either.
 */
static const struct form *judge(struct cx *cx, const struct up_node *n, bool want)
{
	const struct form *a, *b;

	n = up_unparen(n);
	if (cx->nr_parts > MAX_PARTS)
		return &always;
	if (!is_logical(n))
		return judge_truth(cx, n, want);
	switch (n->op.op) {
	case OPR_NOT:
		return judge(cx, n->op.a, !want);
	case OPR_LAND:
	case OPR_LOR:
		a = judge(cx, n->op.a, want);
		b = judge(cx, n->op.b, want);
		return join(cx, (n->op.op == OPR_LAND) == want ? AND : OR, a, b);
	default:
		return judge_comparison(cx, n, want);
	}
}

/* The filter's text, or NULL when there is none or it is too long. */
static const char *write_filter(struct cx *cx, const struct form *form)
{
	struct up_buf b = { 0 };
	const char *text = NULL;

	if (form->kind == TRUE_FORM || form->kind == FALSE_FORM || cx->nr_parts > MAX_PARTS)
		return NULL;
	print(form, form->kind, &b);
	if (!b.failed && b.len <= UP_FILTER_MAX)
		text = up_arena_memdup(cx->g->b->arena, b.s, b.len);
	up_buf_fini(&b);
	return text;
}

void up_filter_make(struct up_gen *g, const struct up_node *cond, struct up_filter *out)
{
	struct cx cx = { .g = g, .arena = g->ds->arena };

	*out = (struct up_filter){ .whole = up_source_label(g->ds, g->b->arena, cond->span) };
	if (g->failed || g->fetch.env->no_filters)
		return;
	out->text = write_filter(&cx, judge(&cx, cond, true));
	if (out->text && cx.rest.len)
		out->rest = up_arena_memdup(g->b->arena, cx.rest.s, cx.rest.len);
	up_buf_fini(&cx.rest);
}
