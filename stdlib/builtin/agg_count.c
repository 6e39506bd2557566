/* count(): the number of hits. */
#include "lang/builtin.h"

static void count_add(void *cell, const struct up_value *v, unsigned nr)
{
	(void)v;
	(void)nr;
	++*(uint64_t *)cell;
}

static struct up_value count_result(const void *cell)
{
	return (struct up_value){ .u = *(const uint64_t *)cell };
}

const struct up_agg_row up_agg_count = {
	.name = "count",
	.signature = "count()",
	.help = "the number of hits",
	.cell_size = sizeof(uint64_t),
	.add = count_add,
	.type = { TY_INT, UP_SHOW_DEC, 64, false, 0 },
	.result = count_result,
};
