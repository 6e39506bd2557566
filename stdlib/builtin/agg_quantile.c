/*
 * quantile(x): the values below which so many percent lie. A cell keeps its first values as they
 * are; when there are more it counts them in rows whose width is 1/64 of their lower bound, so that
 * the middle of a row is within 0.8 % of every value in it.
 */
#include <stdlib.h>
#include <string.h>

#include "stdlib/builtin/agg.h"

#define FEW 64 /* values that are kept as they are */
#define BITS 6 /* of a number behind its first, that tell its row */

struct quantile_cell {
	uint64_t count;
	uint64_t min, max;             /* bits of values */
	uint64_t *few;                 /* as long as there are no more than FEW */
	struct up_agg_window up, down; /* afterwards: positive numbers and 0, negative ones */
};

enum { COUNT, P50, P90, P99, P999, MAX };

static size_t few_size(uint64_t count)
{
	size_t cap = 4;

	if (!count)
		return 0;
	while (cap < count)
		cap *= 2;
	return cap * sizeof(uint64_t);
}

/* ---- rows ---- */

static int32_t whole_row(uint64_t u)
{
	int shift = u >> (BITS + 1) ? 63 - BITS - __builtin_clzll(u) : 0;

	return (int32_t)((shift << BITS) + (int32_t)(u >> shift));
}

/* The middle of a row. */
static uint64_t whole_middle(int32_t row)
{
	int shift = row >> (BITS + 1) ? (row >> BITS) - 1 : 0;
	uint64_t lo = (uint64_t)(row - (shift << BITS)) << shift;

	return lo + (((uint64_t)1 << shift) - 1) / 2;
}

/* Of a positive float: its exponent and its first bits. */
static int32_t float_row(double f)
{
	struct up_value v = { .f = f };

	return (int32_t)(v.u >> (52 - BITS));
}

static double float_middle(int32_t row)
{
	struct up_value v = { .u = (uint64_t)row << (52 - BITS) };

	v.u += (uint64_t)1 << (51 - BITS);
	return v.f;
}

static bool count_value(struct quantile_cell *c, const struct up_agg_cx *cx, uint64_t bits)
{
	struct up_value v = { .u = bits };

	if (cx->types[0].ty == TY_FLOAT)
		return up_agg_window_add(v.f < 0 ? &c->down : &c->up, cx,
					 float_row(v.f < 0 ? -v.f : v.f + 0.0));
	if (cx->types[0].is_signed && v.s < 0)
		return up_agg_window_add(&c->down, cx, whole_row(0 - v.u));
	return up_agg_window_add(&c->up, cx, whole_row(v.u));
}

/* ---- add ---- */

static bool keep_value(struct quantile_cell *c, const struct up_agg_cx *cx, uint64_t bits)
{
	size_t old = few_size(c->count), size = few_size(c->count + 1);

	if (size > old) {
		uint64_t *few = up_agg_grow(cx, c->few, old, size);

		if (!few)
			return false;
		c->few = few;
	}
	c->few[c->count] = bits;
	return true;
}

/* From kept values to rows. Without memory all is as it was. */
static bool spread(struct quantile_cell *c, const struct up_agg_cx *cx)
{
	for (unsigned i = 0; i < FEW; i++)
		if (!count_value(c, cx, c->few[i])) {
			up_agg_window_fini(&c->up, cx);
			up_agg_window_fini(&c->down, cx);
			return false;
		}
	up_agg_grow(cx, c->few, few_size(FEW), 0);
	c->few = NULL;
	return true;
}

static bool quantile_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct quantile_cell *c = cell;
	struct up_type t = cx->types[0];

	if (t.ty == TY_FLOAT && v->f != v->f)
		return true;
	if (c->count < FEW) {
		if (!keep_value(c, cx, v->u))
			return false;
	} else if ((c->few && !spread(c, cx)) || !count_value(c, cx, v->u)) {
		return false;
	}
	bool is_first = !c->count++;
	up_agg_smallest(t, &c->min, v, is_first);
	up_agg_largest(t, &c->max, v, is_first);
	return true;
}

static void quantile_fini(void *cell, const struct up_agg_cx *cx)
{
	struct quantile_cell *c = cell;

	if (c->few)
		up_agg_grow(cx, c->few, few_size(c->count), 0);
	up_agg_window_fini(&c->up, cx);
	up_agg_window_fini(&c->down, cx);
}

/* ---- results ---- */

static int by_value(const void *va, const void *vb, void *type)
{
	const struct up_type *t = type;
	struct up_value a = { .u = *(const uint64_t *)va }, b = { .u = *(const uint64_t *)vb };

	return up_agg_is_less(*t, &b, &a) - up_agg_is_less(*t, &a, &b);
}

static struct up_value among_few(const struct quantile_cell *c, struct up_type t, uint64_t rank)
{
	uint64_t few[FEW];

	memcpy(few, c->few, c->count * sizeof(*few));
	qsort_r(few, c->count, sizeof(*few), by_value, &t);
	return (struct up_value){ .u = few[rank - 1] };
}

static struct up_value middle(struct up_type t, int32_t row, bool is_negative)
{
	if (t.ty == TY_FLOAT)
		return (struct up_value){ .f = is_negative ? -float_middle(row)
							   : float_middle(row) };
	uint64_t u = whole_middle(row);
	return (struct up_value){ .u = is_negative ? 0 - u : u };
}

/* Goes through the rows in the order of values: the value of this rank, counted from 1. */
static struct up_value among_rows(const struct quantile_cell *c, struct up_type t, uint64_t rank)
{
	uint64_t n;

	for (uint32_t i = c->down.nr; i-- > 0; rank -= n) {
		n = c->down.n[i];
		if (n >= rank)
			return middle(t, c->down.first + (int32_t)i, true);
	}
	for (uint32_t i = 0; i < c->up.nr; i++, rank -= n) {
		n = c->up.n[i];
		if (n >= rank)
			return middle(t, c->up.first + (int32_t)i, false);
	}
	return (struct up_value){ .u = c->max };
}

static struct up_value find_rank(const struct quantile_cell *c, struct up_type t, uint64_t rank)
{
	const struct up_value min = { .u = c->min }, max = { .u = c->max };

	if (c->few)
		return among_few(c, t, rank);
	struct up_value v = among_rows(c, t, rank);
	if (up_agg_is_less(t, &v, &min))
		return min;
	return up_agg_is_less(t, &max, &v) ? max : v;
}

static struct up_value quantile_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	static const unsigned per_mille[] = { [P50] = 500, [P90] = 900, [P99] = 990, [P999] = 999 };
	const struct quantile_cell *c = cell;
	struct up_type t = cx->types[0];

	if (field == COUNT)
		return (struct up_value){ .u = c->count };
	if (!c->count) /* there was nothing but NaN, of floats */
		return (struct up_value){ .u = (uint64_t)0x7ff8 << 48 };
	if (field == MAX)
		return (struct up_value){ .u = c->max };
	/* The smallest value that so many do not exceed. */
	up_int128 rank = ((up_int128)c->count * per_mille[field] + 999) / 1000;
	return find_rank(c, t, (uint64_t)rank);
}

static struct up_type quantile_type(unsigned field, const struct up_agg_cx *cx)
{
	return field == COUNT ? UP_TYPE_U64 : up_agg_number_type(cx);
}

static const struct up_agg_field quantile_fields[] = {
	[COUNT] = { "count", NULL, "the number of values" },
	[P50] = { "p50", NULL, "half of the values are not larger" },
	[P90] = { "p90", NULL, "90 % are not" },
	[P99] = { "p99", NULL, "99 % are not" },
	[P999] = { "p999", "p99.9", "99.9 % are not" },
	[MAX] = { "max", NULL, "the largest value" },
};

const struct up_agg_row up_agg_quantile = {
	.name = "quantile",
	.signature = "quantile(x)",
	.help = "p50, p90, p99, p99.9 and the maximum of x, within 1 %",
	.min_args = 1,
	.max_args = 1,
	.cell_size = sizeof(struct quantile_cell),
	.add = quantile_add,
	.fini = quantile_fini,
	.fields = quantile_fields,
	.nr_fields = UP_NR(quantile_fields),
	.field_type = quantile_type,
	.field = quantile_field,
};
