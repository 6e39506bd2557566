/* The list of aggregates. */
#include "lang/builtin.h"

extern const struct up_agg_row up_agg_count;

const struct up_agg_row *const up_agg_rows[] = {
	&up_agg_count,
	NULL,
};
