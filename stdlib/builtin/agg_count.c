/* count(): the number of hits. */
#include "stdlib/builtin/agg.h"

static bool count_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	(void)cx;
	(void)v;
	++*(uint64_t *)cell;
	return true;
}

UP_AGG_MANY(count)

static struct up_value count_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	(void)cx;
	(void)field;
	return (struct up_value){ .u = *(const uint64_t *)cell };
}

static const struct up_agg_field count_fields[] = { { "count", NULL, "the number of hits" } };

const struct up_agg_row up_agg_count = {
	.name = "count",
	.signature = "count()",
	.help = "the number of hits",
	.cell_size = sizeof(uint64_t),
	.add = count_add,
	.add_many = count_add_many,
	.fields = count_fields,
	.nr_fields = 1,
	.field_type = up_agg_count_type,
	.field = count_field,
};
