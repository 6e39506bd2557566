/*
 * Loops over the rows of a table, one within the other. A row that is deleted meanwhile is not
 * seen; one that is added may be or not.
 */
#ifndef UP_LOOPS_H
#define UP_LOOPS_H

#include "lang/base/buf.h"
#include "lang/opcodes.h"
#include "runtime/table.h"

struct up_loop {
	const struct up_table *t;
	size_t at, end;     /* the next row, and behind the last one that was there at the start */
	struct up_buf keys; /* bytes of the keys that the handler sees */
	uint32_t nr_keys;   /* of a row; the caller's */
	size_t scratch;     /* scratch memory in use when it began; the caller's */
};

void up_loop_begin(struct up_loop *l, const struct up_table *t);
/* The keys of the next row, good until the next call; false at the end or without memory. */
bool up_loop_next(struct up_loop *l, struct up_value *keys, uint32_t nr_keys);

#endif
