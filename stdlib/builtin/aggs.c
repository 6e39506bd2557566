/* The list of aggregates. */
#include "lang/builtin.h"

extern const struct up_agg_row up_agg_count, up_agg_sum, up_agg_avg, up_agg_min, up_agg_max,
	up_agg_stats, up_agg_hist, up_agg_lhist, up_agg_quantile, up_agg_uniq, up_agg_rate,
	up_agg_first, up_agg_last;

const struct up_agg_row *const up_agg_rows[] = {
	&up_agg_count, &up_agg_sum,   &up_agg_avg,      &up_agg_min,  &up_agg_max,  &up_agg_stats,
	&up_agg_hist,  &up_agg_lhist, &up_agg_quantile, &up_agg_uniq, &up_agg_rate, &up_agg_first,
	&up_agg_last,  NULL,
};
