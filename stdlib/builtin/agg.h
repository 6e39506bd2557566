/* What several aggregates share: memory, sums beyond 64 bits, the types of results. */
#ifndef UP_AGG_H
#define UP_AGG_H

#include "lang/builtin.h"
#include "lang/number.h"

#define UP_NR(array) ((unsigned)(sizeof(array) / sizeof((array)[0])))

/*
 * Makes a cell's block of `old` bytes (p NULL, old 0: none yet) one of `size` bytes; the new bytes
 * are zero. Size 0 frees it. NULL when memory or the aggregation's share of it is used up; the old
 * block is as it was then.
 */
void *up_agg_grow(const struct up_agg_cx *cx, void *p, size_t old, size_t size);

/* A wide integer as a value: one of `type` where it fits, else borrowed. */
struct up_value up_agg_wide_value(struct up_type type, const struct up_wide *w);

/* Defines NAME_add_many() of a row from its NAME_add(). */
#define UP_AGG_MANY(name)                                                               \
	static size_t name##_add_many(void *const *cells, const struct up_agg_cx *cx,   \
				      const struct up_value *v, size_t nr)              \
	{                                                                               \
		for (size_t i = 0; i < nr; i++)                                         \
			if (cells[i] && !name##_add(cells[i], cx, v + i * cx->nr_args)) \
				return i;                                               \
		return nr;                                                              \
	}

/* ---- sums ---- */

/* Of integers exact; of floats with the error of each step kept (Neumaier). All zero is 0. */
union up_agg_sum {
	struct up_wide whole;
	struct {
		double sum, rest;
	} f;
};

/* False when 128 bits are not enough: the sum is as it was. */
bool up_agg_sum_add(union up_agg_sum *s, struct up_type t, const struct up_value *v);
double up_agg_sum_double(const union up_agg_sum *s, struct up_type t);
/* As a value of up_agg_number_type(), perhaps wide. */
struct up_value up_agg_sum_value(const union up_agg_sum *s, const struct up_agg_cx *cx);
/* sum / count, of integers rounded once. */
double up_agg_mean(const union up_agg_sum *s, struct up_type t, uint64_t count);

/* ---- counters ---- */

/* Counters of rows `first` to `first + nr - 1`. */
struct up_agg_window {
	uint64_t *n;
	int32_t first;
	uint32_t nr;       /* 0: there is none yet */
	int32_t low, high; /* the first and the last that is not empty */
};

/* Adds one to row i; false without memory. */
bool up_agg_window_add(struct up_agg_window *w, const struct up_agg_cx *cx, int32_t i);
/* The first and the last row that is not empty; false when all are. */
bool up_agg_window_range(const struct up_agg_window *w, int32_t *first, int32_t *last);
uint64_t up_agg_window_at(const struct up_agg_window *w, int32_t i);
void up_agg_window_fini(struct up_agg_window *w, const struct up_agg_cx *cx);

/* ---- types ---- */

/* A number or anything else will do. */
bool up_agg_check_any(const struct up_agg_cx *cx, unsigned *arg, struct up_buf *why);
/* Is a before b? False when one of them is NaN. */
bool up_agg_is_less(struct up_type t, const struct up_value *a, const struct up_value *b);
/* Makes *best the smallest (largest) value so far; NaN only as long as there is nothing else. */
void up_agg_smallest(struct up_type t, uint64_t *best, const struct up_value *v, bool is_first);
void up_agg_largest(struct up_type t, uint64_t *best, const struct up_value *v, bool is_first);
/* The type of a count. */
struct up_type up_agg_count_type(unsigned field, const struct up_agg_cx *cx);
/* The type of the argument. */
struct up_type up_agg_arg_type(unsigned field, const struct up_agg_cx *cx);
/* The type of a number computed from argument 0: decimal, or ns, and 64 bits wide. */
struct up_type up_agg_number_type(const struct up_agg_cx *cx);
/* The same as a float. */
struct up_type up_agg_float_type(const struct up_agg_cx *cx);

#endif
