/* stats(x): count, average, minimum, maximum, standard deviation and sum. */
#include <math.h>

#include "stdlib/builtin/agg.h"

struct stats_cell {
	union up_agg_sum sum;
	uint64_t count;
	uint64_t min, max; /* bits of values */
	/* The standard deviation's (Welford): small differences of large numbers stay exact. */
	uint64_t origin; /* bits of the first value */
	double mean;     /* of the distances from it */
	double squares;  /* sum of the squared distances from the average */
};

enum { COUNT, AVG, MIN, MAX, STDDEV, SUM };

static double distance(struct up_type t, const struct up_value *v, uint64_t origin)
{
	const struct up_value from = { .u = origin };

	if (t.ty == TY_FLOAT)
		return v->f - from.f;
	return (double)(up_value_whole(t, v) - up_value_whole(t, &from));
}

static bool stats_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct stats_cell *c = cell;
	struct up_type t = cx->types[0];

	if (!up_agg_sum_add(&c->sum, t, v))
		return false;
	bool is_first = !c->count++;
	up_agg_smallest(t, &c->min, v, is_first);
	up_agg_largest(t, &c->max, v, is_first);
	if (is_first)
		c->origin = v->u;
	double x = distance(t, v, c->origin), off = x - c->mean;
	c->mean += off / (double)c->count;
	c->squares += off * (x - c->mean);
	return true;
}

static struct up_type stats_type(unsigned field, const struct up_agg_cx *cx)
{
	switch (field) {
	case COUNT:
		return UP_TYPE_U64;
	case MIN:
	case MAX:
		return cx->types[0];
	case SUM:
		return up_agg_number_type(cx);
	default:
		return up_agg_float_type(cx);
	}
}

static struct up_value stats_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	const struct stats_cell *c = cell;

	switch (field) {
	case COUNT:
		return (struct up_value){ .u = c->count };
	case AVG:
		return (struct up_value){ .f = up_agg_mean(&c->sum, cx->types[0], c->count) };
	case MIN:
		return (struct up_value){ .u = c->min };
	case MAX:
		return (struct up_value){ .u = c->max };
	case STDDEV:
		return (struct up_value){ .f = sqrt(c->squares / (double)c->count) };
	default:
		return up_agg_sum_value(&c->sum, cx);
	}
}

static const struct up_agg_field stats_fields[] = {
	[COUNT] = { "count", NULL, "the number of values" },
	[AVG] = { "avg", NULL, "their average" },
	[MIN] = { "min", NULL, "the smallest" },
	[MAX] = { "max", NULL, "the largest" },
	[STDDEV] = { "stddev", NULL, "their standard deviation, as of a whole population" },
	[SUM] = { "sum", NULL, "their sum" },
};

const struct up_agg_row up_agg_stats = {
	.name = "stats",
	.signature = "stats(x)",
	.help = "count, average, minimum, maximum, standard deviation and sum of x",
	.min_args = 1,
	.max_args = 1,
	.cell_size = sizeof(struct stats_cell),
	.add = stats_add,
	.fields = stats_fields,
	.nr_fields = UP_NR(stats_fields),
	.field_type = stats_type,
	.field = stats_field,
};
