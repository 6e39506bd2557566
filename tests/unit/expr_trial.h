/*
 * One trial of expressions: a random one is written twice, with literals, which the compiler folds,
 * and with variables that hold them, which the machine computes; and C computes it while it is
 * made. All three must agree, in value and type. Used by test_expr and fuzz_expr.
 */
#ifndef UP_TESTS_EXPR_TRIAL_H
#define UP_TESTS_EXPR_TRIAL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lang/up.h"
#include "runtime/vm.h"
#include "tests/unit/dice.h"

/* What C makes of it. */
struct model {
	enum { MODEL_SIGNED, MODEL_UNSIGNED, MODEL_REAL } kind;
	uint64_t u;
	double f;
};

#define TRIAL_MAX 24 /* leaves of an expression */

struct trial {
	struct dice *d;
	struct up_buf folded, computed; /* the expression in both forms */
	struct up_buf head;             /* assignments of the variables */
	unsigned nr;                    /* variables */
	unsigned by_zero;               /* did it divide by zero? */
	const char *what;               /* what went wrong, or NULL */
	struct up_value got[3];         /* folded, computed, of a constant's name; numbers only */
	struct up_buf shown;            /* the first of them, or what printf makes */
	struct up_type types[3];
	uint64_t divisions; /* by zero, counted by the machine */
};

static inline struct model signed_model(int64_t s)
{
	return (struct model){ MODEL_SIGNED, (uint64_t)s, 0 };
}

static inline struct model unsigned_model(uint64_t u)
{
	return (struct model){ MODEL_UNSIGNED, u, 0 };
}

static inline struct model real_model(double f)
{
	return (struct model){ MODEL_REAL, 0, f };
}

static inline double real_of(struct model m)
{
	return m.kind == MODEL_REAL     ? m.f
	       : m.kind == MODEL_SIGNED ? (double)(int64_t)m.u
					: (double)m.u;
}

static inline bool truth_of(struct model m)
{
	return m.kind == MODEL_REAL ? m.f != 0 : m.u != 0;
}

/* --- C ------------------------------------------------------------------------------------- */

static inline struct model compute_real(struct trial *t, const char *op, double a, double b)
{
	switch (op[0]) {
	case '+':
		return real_model(a + b);
	case '-':
		return real_model(a - b);
	case '*':
		return real_model(a * b);
	case '/':
		t->by_zero += b == 0;
		return real_model(b == 0 ? 0 : a / b);
	case '<':
		return signed_model(op[1] ? a <= b : a < b);
	case '>':
		return signed_model(op[1] ? a >= b : a > b);
	default:
		return signed_model(op[0] == '=' ? a == b : a != b);
	}
}

static inline struct model compute_unsigned(struct trial *t, const char *op, uint64_t a, uint64_t b)
{
	switch (op[0]) {
	case '/':
		t->by_zero += !b;
		return unsigned_model(b ? a / b : 0);
	case '%':
		t->by_zero += !b;
		return unsigned_model(b ? a % b : 0);
	case '<':
		return signed_model(op[1] ? a <= b : a < b);
	default:
		return signed_model(op[1] ? a >= b : a > b);
	}
}

static inline struct model compute_signed(struct trial *t, const char *op, int64_t a, int64_t b)
{
	switch (op[0]) {
	case '/':
		t->by_zero += !b;
		/* C leaves it open; it wraps around as the rest does. */
		if (a == INT64_MIN && b == -1)
			return signed_model(a);
		return signed_model(b ? a / b : 0);
	case '%':
		t->by_zero += !b;
		return signed_model(b && b != -1 ? a % b : 0);
	case '<':
		return signed_model(op[1] ? a <= b : a < b);
	default:
		return signed_model(op[1] ? a >= b : a > b);
	}
}

static inline struct model compute_shift(const char *op, struct model a, uint64_t n)
{
	if (op[0] == '<')
		a.u <<= n % 64;
	else if (a.kind == MODEL_SIGNED)
		a.u = (uint64_t)((int64_t)a.u >> n % 64);
	else
		a.u >>= n % 64;
	return a;
}

/* The same bits whatever the signs. */
static inline bool compute_bits(const char *op, uint64_t a, uint64_t b, uint64_t *out)
{
	switch (op[0]) {
	case '+':
		*out = a + b;
		return true;
	case '-':
		*out = a - b;
		return true;
	case '*':
		*out = a * b;
		return true;
	case '&':
		*out = a & b;
		return true;
	case '|':
		*out = a | b;
		return true;
	case '^':
		*out = a ^ b;
		return true;
	default:
		return false;
	}
}

static inline struct model compute(struct trial *t, const char *op, struct model a, struct model b)
{
	bool is_unsigned = a.kind == MODEL_UNSIGNED || b.kind == MODEL_UNSIGNED;
	uint64_t bits;

	if (!strcmp(op, "&&") || !strcmp(op, "||"))
		return signed_model(op[0] == '&' ? truth_of(a) && truth_of(b)
						 : truth_of(a) || truth_of(b));
	if (!strcmp(op, "<<") || !strcmp(op, ">>"))
		return compute_shift(op, a, b.u);
	if (a.kind == MODEL_REAL || b.kind == MODEL_REAL)
		return compute_real(t, op, real_of(a), real_of(b));
	if (!strcmp(op, "==") || !strcmp(op, "!="))
		return signed_model((a.u == b.u) == (op[0] == '='));
	if (compute_bits(op, a.u, b.u, &bits))
		return is_unsigned ? unsigned_model(bits) : signed_model((int64_t)bits);
	return is_unsigned ? compute_unsigned(t, op, a.u, b.u)
			   : compute_signed(t, op, (int64_t)a.u, (int64_t)b.u);
}

/* --- expressions ---------------------------------------------------------------------------- */

static inline void put(struct trial *t, const char *s)
{
	up_buf_puts(&t->folded, s);
	up_buf_puts(&t->computed, s);
}

/* A literal, and a variable that holds it. */
static inline void put_leaf(struct trial *t, const char *literal)
{
	up_buf_puts(&t->folded, literal);
	up_buf_printf(&t->computed, "v%u", t->nr);
	up_buf_printf(&t->head, "\tv%u = %s\n", t->nr++, literal);
}

static inline struct model put_typed(struct trial *t, uint64_t v, unsigned type)
{
	static const char *const types[] = { "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64" };
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64 ":%s", v, types[type]);
	put_leaf(t, text);
	switch (type) {
	case 0:
		return signed_model((uint8_t)v);
	case 1:
		return signed_model((int8_t)v);
	case 2:
		return signed_model((uint16_t)v);
	case 3:
		return signed_model((int16_t)v);
	case 4:
		return signed_model((uint32_t)v);
	case 5:
		return signed_model((int32_t)v);
	case 6:
		return unsigned_model(v);
	default:
		return signed_model((int64_t)v);
	}
}

static inline struct model put_integer(struct trial *t, uint64_t v)
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	put_leaf(t, text);
	return v > INT64_MAX ? unsigned_model(v) : signed_model((int64_t)v);
}

static inline struct model put_real(struct trial *t)
{
	static const char *const texts[] = { "0.0",  "0.5",    "1.0",  "2.5",
					     "1e18", "9.3e18", "2e19", "1e300" };
	const char *text = texts[roll(t->d, 8)];

	put_leaf(t, text);
	return real_model(strtod(text, NULL));
}

static inline struct model put_any(struct trial *t)
{
	switch (roll(t->d, 8)) {
	case 0:
		return put_real(t);
	case 1:
	case 2:
		return put_typed(t, roll_number(t->d), roll(t->d, 8));
	default:
		return put_integer(t, roll_number(t->d));
	}
}

static inline struct model put_expr(struct trial *t, unsigned depth);

static inline struct model put_unary(struct trial *t, unsigned depth)
{
	/* The operators that take floats too, then the one that does not. */
	unsigned which = roll(t->d, 3);
	struct model a;

	put(t, which == 0 ? "(-" : which == 1 ? "(!" : "(~");
	a = put_expr(t, depth - 1);
	put(t, ")");
	if (which == 1)
		return signed_model(!truth_of(a));
	if (which == 0)
		return a.kind == MODEL_REAL ? real_model(-a.f) : signed_model((int64_t)(0 - a.u));
	if (a.kind == MODEL_REAL) {
		t->what = ""; /* no expression of the language */
		return a;
	}
	a.u = ~a.u;
	return a;
}

static inline bool takes_floats(const char *op)
{
	return !strchr("%&|^", op[0]) || !strcmp(op, "&&") || !strcmp(op, "||");
}

static inline struct model put_binary(struct trial *t, unsigned depth)
{
	static const char *const ops[] = { "+",  "-", "*",  "/", "%",  "&",  "|",  "^",  "<<",
					   ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||" };
	const char *op = ops[roll(t->d, 18)];
	struct model a, b;

	put(t, "(");
	a = put_expr(t, depth - 1);
	put(t, " ");
	put(t, op);
	put(t, " ");
	unsigned by_zero = t->by_zero;
	b = put_expr(t, depth - 1);
	put(t, ")");
	if ((!strcmp(op, "&&") && !truth_of(a)) || (!strcmp(op, "||") && truth_of(a)))
		t->by_zero = by_zero; /* it is not computed */
	bool is_real = a.kind == MODEL_REAL || b.kind == MODEL_REAL;
	if (is_real && (!takes_floats(op) || !strcmp(op, "<<") || !strcmp(op, ">>"))) {
		t->what = "";
		return a;
	}
	return compute(t, op, a, b);
}

static inline struct model put_choice(struct trial *t, unsigned depth)
{
	struct model c, a, b;

	put(t, "(if (");
	c = put_expr(t, depth - 1);
	put(t, ") ");
	unsigned before = t->by_zero, then;
	a = put_expr(t, depth - 1);
	then = t->by_zero;
	t->by_zero = before;
	put(t, " else ");
	b = put_expr(t, depth - 1);
	put(t, ")");
	if (truth_of(c)) /* only one of them is computed */
		t->by_zero = then;
	struct model taken = truth_of(c) ? a : b;
	if (a.kind == MODEL_REAL || b.kind == MODEL_REAL)
		return real_model(real_of(taken));
	taken.kind = a.kind == MODEL_UNSIGNED || b.kind == MODEL_UNSIGNED ? MODEL_UNSIGNED
									  : MODEL_SIGNED;
	return taken;
}

/* min() and max() of two, which no constant folds. */
static inline struct model put_extreme(struct trial *t, unsigned depth)
{
	bool is_min = roll(t->d, 2);
	struct model a, b;

	put(t, is_min ? "min(" : "max(");
	a = put_expr(t, depth - 1);
	put(t, ", ");
	b = put_expr(t, depth - 1);
	put(t, ")");
	struct model less = compute(t, "<", b, a), more = compute(t, ">", b, a);
	struct model taken = (is_min ? less.u : more.u) ? b : a;
	if (a.kind == MODEL_REAL || b.kind == MODEL_REAL)
		return real_model(real_of(taken));
	taken.kind = a.kind == MODEL_UNSIGNED || b.kind == MODEL_UNSIGNED ? MODEL_UNSIGNED
									  : MODEL_SIGNED;
	return taken;
}

static inline struct model put_expr(struct trial *t, unsigned depth)
{
	if (!depth || t->nr >= TRIAL_MAX)
		return put_any(t);
	switch (roll(t->d, 10)) {
	case 0:
		return put_any(t);
	case 1:
	case 2:
		return put_unary(t, depth);
	case 3:
		return put_choice(t, depth);
	case 4:
		return put_extreme(t, depth);
	default:
		return put_binary(t, depth);
	}
}

/* --- running ------------------------------------------------------------------------------- */

extern const struct up_agg_row *const up_agg_rows[];

/* The output form of trials: keeps what is printed. */
struct trial_out {
	struct up_out out;
	struct trial *t;
};

static inline void keep_print(struct up_out *o, const struct up_out_hit *h,
			      const struct up_plan_print *p, const struct up_value *v)
{
	struct trial *t = ((struct trial_out *)(void *)o)->t;

	(void)h;
	up_out_value(&t->shown, p->types[0], &v[0]);
	for (uint32_t i = 0; i < p->nr && i < 3; i++) {
		t->got[i] = v[i];
		t->types[i] = p->types[i];
	}
}

static inline void keep_text(struct up_out *o, const struct up_out_hit *h, const char *s,
			     size_t len)
{
	(void)h;
	up_buf_add(&((struct trial_out *)(void *)o)->t->shown, s, len);
}

/* False when the script does not compile, or texts found no room. */
static inline bool run_script(struct trial *t, const char *text, size_t len)
{
	static const struct up_out_form form = { .print = keep_print, .text = keep_text };
	static const struct up_resolver resolver;
	struct up_env env = { .resolver = &resolver,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };
	struct trial_out out = { .out = { .form = &form }, .t = t };
	struct up_compile *c = up_compile_new();
	struct up_plan *p = c ? up_compile(c, &env, "trial", text, len) : NULL;
	struct up_vm vm;
	bool ok = p && !up_vm_init(&vm, p, &out.out);

	if (ok) {
		up_vm_block(&vm, 0, 0);
		t->divisions = vm.counts.by_zero;
		ok = !vm.counts.faults && !vm.counts.no_room;
		up_vm_fini(&vm);
	}
	up_plan_free(p);
	up_compile_free(c);
	return ok;
}

static inline bool same_value(struct model want, struct up_type type, struct up_value v)
{
	if (v.flags || (type.ty == TY_FLOAT) != (want.kind == MODEL_REAL))
		return false;
	if (want.kind == MODEL_REAL) /* NaN is NaN, and 0 is not -0 */
		return want.f == want.f ? !memcmp(&want.f, &v.f, 8) : v.f != v.f;
	return type.ty == TY_INT && want.u == v.u &&
	       (want.kind == MODEL_UNSIGNED) == (type.bits == 64 && !type.is_signed);
}

static inline void judge_trial(struct trial *t, struct model want)
{
	/* What a constant's name stands for is a literal without a type. */
	bool named = want.kind == MODEL_REAL ? same_value(want, t->types[2], t->got[2])
					     : t->got[2].u == want.u;

	if (!same_value(want, t->types[0], t->got[0]))
		t->what = "folded, it is something else than in C";
	else if (!same_value(want, t->types[1], t->got[1]))
		t->what = "computed, it is something else than in C";
	else if (!named)
		t->what = "a constant is something else than its expression";
	else if (!t->by_zero != !t->divisions)
		t->what = "a division by zero is not counted, or one that was none";
}

/* False when something is wrong: t->what, and t->head with the script. */
static inline bool finish_trial(struct trial *t, struct model want)
{
	struct up_buf script = { 0 };
	bool ok;

	up_buf_printf(&script, "const k = %s\non start <\n%s\tprint(%s, %s, k)\n>\n", t->folded.s,
		      t->head.len ? t->head.s : "", t->folded.s, t->computed.s);
	ok = run_script(t, script.s, script.len);
	if (t->what) { /* it should not have compiled */
		t->what = ok ? "an operator takes floats that needs integers" : NULL;
	} else if (!ok) {
		t->what = "it does not compile";
	} else {
		judge_trial(t, want);
	}
	if (t->what)
		fprintf(stderr,
			"%s\n%swant %d %" PRIu64 " %g; folded %" PRIu64 " computed %" PRIu64
			" named %" PRIu64 "\n",
			t->what, script.s, (int)want.kind, want.u, want.f, t->got[0].u, t->got[1].u,
			t->got[2].u);
	up_buf_fini(&script);
	up_buf_fini(&t->folded);
	up_buf_fini(&t->computed);
	up_buf_fini(&t->head);
	up_buf_fini(&t->shown);
	return !t->what;
}

static inline bool run_trial(struct dice *d)
{
	struct trial t = { .d = d };
	struct model want = put_expr(&t, 1 + roll(d, 4));

	return finish_trial(&t, want);
}

#endif
