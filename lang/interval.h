/*
 * Sets of 64-bit numbers, as a few intervals: for which values a comparison holds. Whether numbers
 * are meant signed or not is the caller's affair: -1 is UINT64_MAX.
 */
#ifndef UP_INTERVAL_H
#define UP_INTERVAL_H

#include "lang/ast.h"

#define UP_SET_MAX 8

struct up_set {
	unsigned nr; /* intervals: ascending, and between two of them there is a gap */
	struct up_interval {
		uint64_t lo, hi; /* both belong to it */
	} v[UP_SET_MAX];
};

/* The numbers x for which `x op c` holds; op is one of the six comparisons. */
struct up_set up_set_compare(enum up_op op, uint64_t c, bool is_unsigned);
/* All other numbers. */
struct up_set up_set_not(const struct up_set *s);
/* x + k (modulo 2^64) of each x, -x of each. */
struct up_set up_set_add(const struct up_set *s, uint64_t k);
struct up_set up_set_negate(const struct up_set *s);
/* Those from lo to hi. */
struct up_set up_set_clip(const struct up_set *s, uint64_t lo, uint64_t hi);

bool up_set_has(const struct up_set *s, uint64_t x);
/* Is there exactly one number in it? */
bool up_set_is_one(const struct up_set *s, uint64_t *x);

#endif
