/* sum(x) and avg(x). */
#include "stdlib/builtin/agg.h"

struct sum_cell {
	union up_agg_sum sum;
	uint64_t count;
};

static bool sum_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct sum_cell *c = cell;

	if (!up_agg_sum_add(&c->sum, cx->types[0], v))
		return false;
	c->count++;
	return true;
}

UP_AGG_MANY(sum)

static struct up_type sum_type(unsigned field, const struct up_agg_cx *cx)
{
	(void)field;
	return up_agg_number_type(cx);
}

static struct up_value sum_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	const struct sum_cell *c = cell;

	(void)field;
	return up_agg_sum_value(&c->sum, cx);
}

static struct up_type avg_type(unsigned field, const struct up_agg_cx *cx)
{
	(void)field;
	return up_agg_float_type(cx);
}

static struct up_value avg_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	const struct sum_cell *c = cell;

	(void)field;
	return (struct up_value){ .f = up_agg_mean(&c->sum, cx->types[0], c->count) };
}

static const struct up_agg_field sum_fields[] = { { "sum", NULL, "the sum" } };
static const struct up_agg_field avg_fields[] = { { "avg", NULL, "the average" } };

const struct up_agg_row up_agg_sum = {
	.name = "sum",
	.signature = "sum(x)",
	.help = "the sum of x; of integers exact, also beyond 64 bits",
	.min_args = 1,
	.max_args = 1,
	.cell_size = sizeof(struct sum_cell),
	.add = sum_add,
	.add_many = sum_add_many,
	.fields = sum_fields,
	.nr_fields = UP_NR(sum_fields),
	.field_type = sum_type,
	.field = sum_field,
};

const struct up_agg_row up_agg_avg = {
	.name = "avg",
	.signature = "avg(x)",
	.help = "the average of x",
	.min_args = 1,
	.max_args = 1,
	.cell_size = sizeof(struct sum_cell),
	.add = sum_add,
	.add_many = sum_add_many,
	.fields = avg_fields,
	.nr_fields = UP_NR(avg_fields),
	.field_type = avg_type,
	.field = avg_field,
};
