/*
 * hist(x): a histogram by powers of two. Its rows are [0, 1), [1, 2), [2, 4), [4, 8) ... and
 * downwards [-1, 0), [-2, -1), [-4, -2) ...; those of floats go on below 1 as far as there are
 * values.
 */
#include <math.h>

#include "stdlib/builtin/agg.h"

/*
 * Rows of integers are all in `up`: row 0 is [0, 1), row k is [2^(k-1), 2^k), row -1 is [-1, 0),
 * row -k is [-2^(k-1), -2^(k-2)). Of floats row k of `up` is [2^k, 2^(k+1)), row k of `down` is
 * [-2^(k+1), -2^k).
 */
struct hist_cell {
	uint64_t count;
	struct up_agg_window up, down;
	struct up_agg_window odd; /* enum odd, of floats */
};

enum odd { ODD_MINUS_INF, ODD_ZERO, ODD_INF, ODD_NAN };

static int32_t whole_row(struct up_type t, const struct up_value *v)
{
	uint64_t below = 0 - v->u - 1; /* of a negative number: how far below -1 */

	if (t.is_signed && v->s < 0)
		return below ? __builtin_clzll(below) - 65 : -1;
	return v->u ? 64 - __builtin_clzll(v->u) : 0;
}

/* The row of a float that is neither 0 nor infinite. */
static int32_t float_row(double f)
{
	int e;
	double m = frexp(fabs(f), &e);

	return f < 0 && m == 0.5 ? e - 2 : e - 1; /* a power of two is the lower bound of its row */
}

static bool add_float(struct hist_cell *c, const struct up_agg_cx *cx, double f)
{
	if (isnan(f))
		return up_agg_window_add(&c->odd, cx, ODD_NAN);
	if (isinf(f))
		return up_agg_window_add(&c->odd, cx, f < 0 ? ODD_MINUS_INF : ODD_INF);
	if (f == 0)
		return up_agg_window_add(&c->odd, cx, ODD_ZERO);
	return up_agg_window_add(f < 0 ? &c->down : &c->up, cx, float_row(f));
}

static bool hist_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct hist_cell *c = cell;
	struct up_type t = cx->types[0];
	bool ok = t.ty == TY_FLOAT ? add_float(c, cx, v->f)
				   : up_agg_window_add(&c->up, cx, whole_row(t, v));

	c->count += ok;
	return ok;
}

UP_AGG_MANY(hist)

static void hist_fini(void *cell, const struct up_agg_cx *cx)
{
	struct hist_cell *c = cell;

	up_agg_window_fini(&c->up, cx);
	up_agg_window_fini(&c->down, cx);
	up_agg_window_fini(&c->odd, cx);
}

/* ---- rows ---- */

/* 2^power or -2^power as a bound of integers. */
static struct up_value whole_power(struct up_type t, int power, bool is_negative)
{
	static const struct up_wide two_63 = { (uint64_t)1 << 63, 0 }, two_64 = { 0, 1 };

	if (!is_negative && power == 64)
		return (struct up_value){ .wide = &two_64, .flags = UP_VALUE_WIDE };
	if (!is_negative && power == 63 && t.is_signed)
		return (struct up_value){ .wide = &two_63, .flags = UP_VALUE_WIDE };
	uint64_t u = (uint64_t)1 << power;
	return (struct up_value){ .u = is_negative ? 0 - u : u };
}

static bool whole_bucket(const struct hist_cell *c, const struct up_agg_cx *cx, unsigned i,
			 struct up_agg_bucket *b)
{
	struct up_type t = up_agg_number_type(cx);
	const struct up_value zero = { .u = 0 };
	int32_t first, last;

	if (!up_agg_window_range(&c->up, &first, &last) || i > (unsigned)(last - first))
		return false;
	int32_t row = first + (int32_t)i;
	*b = (struct up_agg_bucket){ .type = t,
				     .is_power = true,
				     .has_lo = true,
				     .has_hi = true,
				     .count = up_agg_window_at(&c->up, row) };
	if (row >= 0) {
		b->lo = row ? whole_power(t, row - 1, false) : zero;
		b->hi = whole_power(t, row, false);
	} else {
		b->lo = whole_power(t, -row - 1, true);
		b->hi = row == -1 ? zero : whole_power(t, -row - 2, true);
	}
	return true;
}

static struct up_value float_bound(double sign, int power)
{
	return (struct up_value){ .f = ldexp(sign, power) };
}

/*
 * The rows of floats, from below: minus infinity, those of `down` from the largest on, what lies
 * between, those of `up`, infinity, NaN. Zeros lie between; so that there is no gap, these rows
 * reach from and to the rows of other values.
 */
struct shape {
	int32_t down_first, down_last, up_first, up_last;    /* as far as there are any */
	unsigned minus_inf, down, below, zero, up, inf, nan; /* how many rows there are of each */
};

static struct shape find_shape(const struct hist_cell *c)
{
	struct shape s = { 0 };
	bool down = up_agg_window_range(&c->down, &s.down_first, &s.down_last);
	bool up = up_agg_window_range(&c->up, &s.up_first, &s.up_last);
	bool zero = up_agg_window_at(&c->odd, ODD_ZERO);

	s.minus_inf = up_agg_window_at(&c->odd, ODD_MINUS_INF) != 0;
	s.inf = up_agg_window_at(&c->odd, ODD_INF) != 0;
	s.nan = up_agg_window_at(&c->odd, ODD_NAN) != 0;
	s.down = down ? (unsigned)(s.down_last - s.down_first) + 1 : 0;
	s.up = up ? (unsigned)(s.up_last - s.up_first) + 1 : 0;
	s.below = down && (zero || up);
	s.zero = zero || (down && up);
	return s;
}

static void set_bounds(struct up_agg_bucket *b, struct up_value lo, struct up_value hi)
{
	b->lo = lo;
	b->hi = hi;
	b->has_lo = b->has_hi = true;
}

static bool float_bucket(const struct hist_cell *c, const struct up_agg_cx *cx, unsigned i,
			 struct up_agg_bucket *b)
{
	struct shape s = find_shape(c);

	*b = (struct up_agg_bucket){ .type = up_agg_float_type(cx), .is_power = true };
	if (i < s.minus_inf) {
		b->has_hi = true;
		b->hi.f = -HUGE_VAL;
		b->count = up_agg_window_at(&c->odd, ODD_MINUS_INF);
	} else if ((i -= s.minus_inf) < s.down) {
		int32_t row = s.down_last - (int32_t)i;

		set_bounds(b, float_bound(-1, row + 1), float_bound(-1, row));
		b->count = up_agg_window_at(&c->down, row);
	} else if ((i -= s.down) < s.below) {
		set_bounds(b, float_bound(-1, s.down_first), (struct up_value){ .f = 0 });
	} else if ((i -= s.below) < s.zero) {
		set_bounds(b, (struct up_value){ .f = 0 }, float_bound(1, s.up ? s.up_first : 0));
		b->count = up_agg_window_at(&c->odd, ODD_ZERO);
	} else if ((i -= s.zero) < s.up) {
		int32_t row = s.up_first + (int32_t)i;

		set_bounds(b, float_bound(1, row), float_bound(1, row + 1));
		b->count = up_agg_window_at(&c->up, row);
	} else if ((i -= s.up) < s.inf) {
		b->has_lo = true;
		b->lo.f = HUGE_VAL;
		b->count = up_agg_window_at(&c->odd, ODD_INF);
	} else if (i - s.inf < s.nan) {
		b->count = up_agg_window_at(&c->odd, ODD_NAN);
	} else {
		return false;
	}
	return true;
}

static bool hist_bucket(const void *cell, const struct up_agg_cx *cx, unsigned i,
			struct up_agg_bucket *b)
{
	return cx->types[0].ty == TY_FLOAT ? float_bucket(cell, cx, i, b)
					   : whole_bucket(cell, cx, i, b);
}

static struct up_value hist_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	(void)cx;
	(void)field;
	return (struct up_value){ .u = ((const struct hist_cell *)cell)->count };
}

static const struct up_agg_field hist_fields[] = { { "count", NULL, "the number of values" } };

const struct up_agg_row up_agg_hist = {
	.name = "hist",
	.signature = "hist(x)",
	.help = "how x is distributed: a histogram by powers of two",
	.min_args = 1,
	.max_args = 1,
	.cell_size = sizeof(struct hist_cell),
	.add = hist_add,
	.add_many = hist_add_many,
	.fini = hist_fini,
	.fields = hist_fields,
	.nr_fields = UP_NR(hist_fields),
	.field_type = up_agg_count_type,
	.field = hist_field,
	.bucket = hist_bucket,
};
