/* rate() and rate(x): hits, or units of x, per second. */
#include "stdlib/builtin/agg.h"

struct rate_cell {
	union up_agg_sum sum; /* of x */
	uint64_t count;
};

static bool rate_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct rate_cell *c = cell;

	if (cx->nr_args && !up_agg_sum_add(&c->sum, cx->types[0], v))
		return false;
	c->count++;
	return true;
}

static struct up_type rate_type(unsigned field, const struct up_agg_cx *cx)
{
	(void)field;
	return cx->nr_args ? up_agg_float_type(cx) : UP_TYPE_FLOAT;
}

static struct up_value rate_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	const struct rate_cell *c = cell;
	double n = cx->nr_args ? up_agg_sum_double(&c->sum, cx->types[0]) : (double)c->count;
	double seconds = cx->now > cx->since ? (double)(cx->now - cx->since) / 1e9 : 0;

	(void)field;
	return (struct up_value){ .f = seconds > 0 ? n / seconds : 0 };
}

static const struct up_agg_field rate_fields[] = { { "rate", NULL, "so many in a second" } };

const struct up_agg_row up_agg_rate = {
	.name = "rate",
	.signature = "rate() or rate(x)",
	.help = "hits, or units of x, per second of the time since gathering began",
	.max_args = 1,
	.unit = "/s",
	.cell_size = sizeof(struct rate_cell),
	.add = rate_add,
	.fields = rate_fields,
	.nr_fields = UP_NR(rate_fields),
	.field_type = rate_type,
	.field = rate_field,
};
