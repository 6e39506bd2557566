/* Aggregations for people: what tables and histograms share. */
#ifndef UP_OUT_AGG_H
#define UP_OUT_AGG_H

#include "runtime/out_put.h"

/* Its name, with its place if it has no name of its own, and its keys. */
void up_out_title(struct up_out *o, const struct up_plan_agg *a);
/* One key; strings that cannot be mistaken are without quotes. */
void up_out_key(struct up_buf *b, struct up_type t, const struct up_value *v);
/* One result, durations with their units. */
void up_out_result(struct up_buf *b, const struct up_out_agg *a, const void *cell, unsigned field);
/* Cuts the text in the middle so that it takes no more than `width` columns. */
void up_out_shorten(struct up_buf *text, size_t width, bool unicode);
/* An integer or float, as a float. */
double up_out_number(struct up_type t, const struct up_value *v);
/* The histograms of all rows. */
void up_out_bars(struct up_out *o, const struct up_out_agg *a);

#endif
