/* Aggregations for people: what tables and histograms share. */
#ifndef UP_OUT_AGG_H
#define UP_OUT_AGG_H

#include "runtime/out_put.h"

/* An aggregation as a table or as histograms: the part of `text` for people. */
void up_out_table(struct up_out *o, const struct up_out_agg *a);
/* One key; strings that cannot be mistaken are without quotes. */
void up_out_key(struct up_buf *b, struct up_type t, const struct up_value *v);
/* One result, durations with their units. */
void up_out_result(struct up_buf *b, const struct up_out_agg *a, const void *cell, unsigned field);
/* Cuts the text in the middle so that it takes no more than `width` columns. */
void up_out_shorten(struct up_buf *text, size_t width, bool unicode);
/* The histograms of all rows. */
void up_out_bars(struct up_out *o, const struct up_out_agg *a);

#endif
