/* min(x) and max(x). */
#include "stdlib/builtin/agg.h"

struct best_cell {
	uint64_t best;
	uint64_t count;
};

static bool min_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct best_cell *c = cell;

	up_agg_smallest(cx->types[0], &c->best, v, !c->count++);
	return true;
}

UP_AGG_MANY(min)

static bool max_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct best_cell *c = cell;

	up_agg_largest(cx->types[0], &c->best, v, !c->count++);
	return true;
}

UP_AGG_MANY(max)

static struct up_value best_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	const struct best_cell *c = cell;

	(void)cx;
	(void)field;
	return (struct up_value){ .u = c->best };
}

static const struct up_agg_field min_fields[] = { { "min", NULL, "the smallest value" } };
static const struct up_agg_field max_fields[] = { { "max", NULL, "the largest value" } };

const struct up_agg_row up_agg_min = {
	.name = "min",
	.signature = "min(x)",
	.help = "the smallest x; with more arguments min is a function",
	.min_args = 1,
	.max_args = 1,
	.is_function_too = true,
	.cell_size = sizeof(struct best_cell),
	.add = min_add,
	.add_many = min_add_many,
	.fields = min_fields,
	.nr_fields = UP_NR(min_fields),
	.field_type = up_agg_arg_type,
	.field = best_field,
};

const struct up_agg_row up_agg_max = {
	.name = "max",
	.signature = "max(x)",
	.help = "the largest x; with more arguments max is a function",
	.min_args = 1,
	.max_args = 1,
	.is_function_too = true,
	.cell_size = sizeof(struct best_cell),
	.add = max_add,
	.add_many = max_add_many,
	.fields = max_fields,
	.nr_fields = UP_NR(max_fields),
	.field_type = up_agg_arg_type,
	.field = best_field,
};
