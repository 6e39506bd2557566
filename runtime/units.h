/* Numbers with units, as people read them in tables and beside bars. */
#ifndef UP_UNITS_H
#define UP_UNITS_H

#include "lang/base/buf.h"
#include "lang/value.h"

/*
 * A duration with three significant digits: "999 ns", "1.23 us", "12.3 ms", "123 s"; `gap` goes
 * between number and unit. Whole nanoseconds are `is_whole`, and have no decimals below 1 us.
 */
void up_put_duration(struct up_buf *b, double ns, bool is_whole, const char *gap);
/* An integer in units of 1024 as far as it is a multiple: "512", "1K", "-64M", "16E". */
void up_put_binary(struct up_buf *b, struct up_type t, const struct up_value *v);

#endif
