/* lhist(x, lo, hi, step): a linear histogram with rows for what lies below and above. */
#include <math.h>

#include "lang/base/buf.h"
#include "stdlib/builtin/agg.h"

#define MAX_ROWS 1000

/* Row 0 is below lo, 1 to nr the steps, nr + 1 from hi on, nr + 2 what is no number. */
struct lhist_cell {
	uint64_t count;
	struct up_agg_window rows;
};

static bool is_float(const struct up_agg_cx *cx)
{
	return cx->types[0].ty == TY_FLOAT;
}

static up_int128 whole_const(const struct up_agg_cx *cx, unsigned i)
{
	return up_value_whole(cx->types[i], &cx->consts[i]);
}

static double float_const(const struct up_agg_cx *cx, unsigned i)
{
	return up_value_double(cx->types[i], &cx->consts[i]);
}

enum { LO = 1, HI, STEP };

/* How many steps; the last one may be shorter. Of floats a billionth of a step more is no step. */
static double float_steps(const struct up_agg_cx *cx)
{
	double lo = float_const(cx, LO), hi = float_const(cx, HI), step = float_const(cx, STEP);

	return ceil((hi - lo) / step - 1e-9);
}

static up_int128 whole_steps(const struct up_agg_cx *cx)
{
	up_int128 step = whole_const(cx, STEP);

	return (whole_const(cx, HI) - whole_const(cx, LO) + step - 1) / step;
}

static int32_t count_steps(const struct up_agg_cx *cx)
{
	return is_float(cx) ? (int32_t)float_steps(cx) : (int32_t)whole_steps(cx);
}

/* ---- check ---- */

static bool refuse(struct up_buf *why, unsigned *arg, unsigned which, const char *text)
{
	*arg = which;
	up_buf_puts(why, text);
	return false;
}

static bool is_number(struct up_type t)
{
	return t.ty == TY_INT || t.ty == TY_FLOAT;
}

static bool lhist_check(const struct up_agg_cx *cx, unsigned *arg, struct up_buf *why)
{
	for (unsigned i = 0; i < cx->nr_args; i++) {
		if (!is_number(cx->types[i]))
			return refuse(why, arg, i, "this takes a number");
		if (!is_float(cx) && cx->types[i].ty == TY_FLOAT)
			return refuse(why, arg, i, "the rows of whole numbers have whole bounds");
	}
	if (!(float_const(cx, HI) > float_const(cx, LO)) || isinf(float_const(cx, HI)) ||
	    isinf(float_const(cx, LO)))
		return refuse(why, arg, HI, "the upper end is not above the lower one");
	if (!(float_const(cx, STEP) > 0))
		return refuse(why, arg, STEP, "a step is larger than 0");
	if (is_float(cx) ? float_steps(cx) > MAX_ROWS : whole_steps(cx) > MAX_ROWS)
		return refuse(why, arg, STEP, "this makes more than 1000 rows");
	if (!is_float(cx) && whole_const(cx, LO) < 0 && whole_const(cx, HI) > INT64_MAX)
		return refuse(why, arg, HI, "the bounds do not fit into one number of 64 bits");
	return true;
}

/* ---- rows ---- */

/* Between which steps a value lies: 0 to nr. It is at least lo and below hi. */
static int32_t float_step(const struct up_agg_cx *cx, double x, int32_t nr)
{
	double lo = float_const(cx, LO), step = float_const(cx, STEP);
	int32_t i = (int32_t)((x - lo) / step);

	i = i >= nr ? nr - 1 : i;
	while (i > 0 && x < lo + i * step) /* the division may have rounded up, or down */
		i--;
	while (i + 1 < nr && x >= lo + (i + 1) * step)
		i++;
	return i;
}

static int32_t float_row(const struct up_agg_cx *cx, double x)
{
	int32_t nr = count_steps(cx);

	if (x != x)
		return nr + 2;
	if (x < float_const(cx, LO))
		return 0;
	return x >= float_const(cx, HI) ? nr + 1 : 1 + float_step(cx, x, nr);
}

static int32_t whole_row(const struct up_agg_cx *cx, const struct up_value *v)
{
	up_int128 x = up_value_whole(cx->types[0], v), lo = whole_const(cx, LO);

	if (x < lo)
		return 0;
	if (x >= whole_const(cx, HI))
		return count_steps(cx) + 1;
	return 1 + (int32_t)((uint64_t)(x - lo) / cx->consts[STEP].u);
}

static bool lhist_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct lhist_cell *c = cell;
	int32_t row = is_float(cx) ? float_row(cx, v->f) : whole_row(cx, v);
	bool ok = up_agg_window_add(&c->rows, cx, row);

	c->count += ok;
	return ok;
}

static void lhist_fini(void *cell, const struct up_agg_cx *cx)
{
	up_agg_window_fini(&((struct lhist_cell *)cell)->rows, cx);
}

static struct up_type bound_type(const struct up_agg_cx *cx)
{
	struct up_type t = up_agg_number_type(cx);

	if (is_float(cx))
		return up_agg_float_type(cx);
	t.is_signed = whole_const(cx, HI) <= INT64_MAX;
	return t;
}

/* The lower bound of step i, or hi. */
static struct up_value bound(const struct up_agg_cx *cx, int32_t i)
{
	bool is_end = i >= count_steps(cx);

	if (!is_float(cx))
		return (struct up_value){ .u = is_end ? cx->consts[HI].u
						      : cx->consts[LO].u +
								(uint64_t)i * cx->consts[STEP].u };
	double at = float_const(cx, LO) + i * float_const(cx, STEP);
	return (struct up_value){ .f = is_end ? float_const(cx, HI) : at };
}

static bool lhist_bucket(const void *cell, const struct up_agg_cx *cx, unsigned i,
			 struct up_agg_bucket *b)
{
	const struct lhist_cell *c = cell;
	int32_t first, last, nr = count_steps(cx);

	if (!up_agg_window_range(&c->rows, &first, &last) || i > (unsigned)(last - first))
		return false;
	int32_t row = first + (int32_t)i;
	*b = (struct up_agg_bucket){ .type = bound_type(cx),
				     .has_lo = row > 0 && row < nr + 2,
				     .has_hi = row <= nr,
				     .count = up_agg_window_at(&c->rows, row) };
	if (b->has_lo)
		b->lo = bound(cx, row - 1);
	if (b->has_hi)
		b->hi = bound(cx, row);
	return true;
}

static struct up_value lhist_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	(void)cx;
	(void)field;
	return (struct up_value){ .u = ((const struct lhist_cell *)cell)->count };
}

static const struct up_agg_field lhist_fields[] = { { "count", NULL, "the number of values" } };

const struct up_agg_row up_agg_lhist = {
	.name = "lhist",
	.signature = "lhist(x, lo, hi, step)",
	.help = "how x is distributed: a histogram in equal steps from lo to hi",
	.min_args = 4,
	.max_args = 4,
	.const_args = 1 << LO | 1 << HI | 1 << STEP,
	.cell_size = sizeof(struct lhist_cell),
	.check = lhist_check,
	.add = lhist_add,
	.fini = lhist_fini,
	.fields = lhist_fields,
	.nr_fields = UP_NR(lhist_fields),
	.field_type = up_agg_count_type,
	.field = lhist_field,
	.bucket = lhist_bucket,
};
