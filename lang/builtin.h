/*
 * Rows of built-in aggregates: what the checker, the handlers, the output forms and the reference
 * read. The rows stand beside their functions in stdlib/builtin.
 */
#ifndef UP_BUILTIN_H
#define UP_BUILTIN_H

#include "lang/value.h"

struct up_agg_row {
	const char *name;      /* "count" */
	const char *signature; /* "count()", for messages and the reference */
	const char *help;      /* one sentence */
	uint8_t min_args, max_args;
	size_t cell_size; /* bytes of one group's state; all zero is the empty state */
	/* Takes in one hit. v[0..nr) are the arguments; never called with a fault among them. */
	void (*add)(void *cell, const struct up_value *v, unsigned nr);
	/* The result as one value of `type`, for rows, ordering (largest first) and expressions. */
	struct up_type type;
	struct up_value (*result)(const void *cell);
};

/* All aggregates, in the order of the reference; ends with a NULL name. */
extern const struct up_agg_row *const up_agg_rows[];

#endif
