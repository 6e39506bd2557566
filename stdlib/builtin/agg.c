/* What several aggregates share. */
#include "stdlib/builtin/agg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void *up_agg_grow(const struct up_agg_cx *cx, void *p, size_t old, size_t size)
{
	if (cx->left && size > old && size - old > *cx->left)
		return NULL;
	if (!size) {
		free(p);
		p = NULL;
	} else {
		p = realloc(p, size);
		if (!p)
			return NULL;
		if (size > old)
			memset((char *)p + old, 0, size - old);
	}
	if (cx->left)
		*cx->left = *cx->left + old - size;
	return p;
}

struct up_value up_agg_wide_value(struct up_type type, const struct up_wide *w)
{
	bool fits = type.is_signed ? w->hi == ((int64_t)w->lo < 0 ? -1 : 0) : w->hi == 0;

	if (fits)
		return (struct up_value){ .u = w->lo };
	return (struct up_value){ .wide = w, .flags = UP_VALUE_WIDE };
}

/* ---- sums ---- */

static void add_float(union up_agg_sum *s, double x)
{
	double sum = s->f.sum + x;

	if (fabs(s->f.sum) >= fabs(x))
		s->f.rest += (s->f.sum - sum) + x;
	else
		s->f.rest += (x - sum) + s->f.sum;
	s->f.sum = sum;
}

bool up_agg_sum_add(union up_agg_sum *s, struct up_type t, const struct up_value *v)
{
	up_int128 sum;

	if (t.ty == TY_FLOAT) {
		add_float(s, v->f);
		return true;
	}
	if (__builtin_add_overflow(up_wide_number(s->whole), up_value_whole(t, v), &sum))
		return false;
	s->whole = up_number_wide(sum);
	return true;
}

double up_agg_sum_double(const union up_agg_sum *s, struct up_type t)
{
	double sum = s->f.sum + s->f.rest;

	if (t.ty != TY_FLOAT)
		return (double)up_wide_number(s->whole);
	return sum == sum ? sum : s->f.sum; /* the rest of an infinity is no number */
}

struct up_value up_agg_sum_value(const union up_agg_sum *s, const struct up_agg_cx *cx)
{
	if (cx->types[0].ty == TY_FLOAT)
		return (struct up_value){ .f = up_agg_sum_double(s, cx->types[0]) };
	return up_agg_wide_value(up_agg_number_type(cx), &s->whole);
}

/* Leading zeros of n, which is not 0. */
static int leading_zeros(unsigned __int128 n)
{
	uint64_t high = (uint64_t)(n >> 64);

	return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)n);
}

/*
 * The dividend is moved up so far that the quotient has more bits than a float keeps; a bit at the
 * end stands for what was cut off, so that the conversion rounds as if it saw all.
 */
static double divide(up_int128 sum, uint64_t count)
{
	unsigned __int128 n = sum < 0 ? 0 - (unsigned __int128)sum : (unsigned __int128)sum;

	if (!n)
		return 0;
	int shift = leading_zeros(n);
	n <<= shift;
	unsigned __int128 q = n / count;
	double f = ldexp((double)(q | (n % count != 0)), -shift);
	return sum < 0 ? -f : f;
}

double up_agg_mean(const union up_agg_sum *s, struct up_type t, uint64_t count)
{
	if (!count)
		return 0;
	if (t.ty == TY_FLOAT)
		return up_agg_sum_double(s, t) / (double)count;
	return divide(up_wide_number(s->whole), count);
}

/* ---- counters ---- */

/* Makes row i one of the window's, with some room beyond for its neighbours. */
static bool widen(struct up_agg_window *w, const struct up_agg_cx *cx, int32_t i)
{
	int64_t first = w->nr ? w->first : i, end = w->nr ? first + w->nr : first;
	int64_t room = w->nr / 2 + 1;

	if (i < first)
		first = i - room;
	if (i >= end)
		end = i + 1 + room;
	size_t nr = (size_t)(end - first), before = w->nr ? (size_t)(w->first - first) : 0;
	uint64_t *n = up_agg_grow(cx, w->n, w->nr * sizeof(*n), nr * sizeof(*n));
	if (!n)
		return false;
	if (before) {
		memmove(n + before, n, w->nr * sizeof(*n));
		memset(n, 0, before * sizeof(*n));
	}
	w->n = n;
	w->first = (int32_t)first;
	w->nr = (uint32_t)nr;
	return true;
}

bool up_agg_window_add(struct up_agg_window *w, const struct up_agg_cx *cx, int32_t i)
{
	uint64_t at = (uint64_t)((int64_t)i - w->first);
	bool is_first = !w->nr;

	if (at >= w->nr) {
		if (!widen(w, cx, i))
			return false;
		at = (uint64_t)((int64_t)i - w->first);
	}
	w->n[at]++;
	w->low = is_first || i < w->low ? i : w->low;
	w->high = is_first || i > w->high ? i : w->high;
	return true;
}

bool up_agg_window_range(const struct up_agg_window *w, int32_t *first, int32_t *last)
{
	*first = w->low;
	*last = w->high;
	return w->nr > 0;
}

uint64_t up_agg_window_at(const struct up_agg_window *w, int32_t i)
{
	uint64_t at = (uint64_t)((int64_t)i - w->first);

	return at < w->nr ? w->n[at] : 0;
}

void up_agg_window_fini(struct up_agg_window *w, const struct up_agg_cx *cx)
{
	up_agg_grow(cx, w->n, w->nr * sizeof(*w->n), 0);
	*w = (struct up_agg_window){ 0 };
}

/* ---- types ---- */

bool up_agg_check_any(const struct up_agg_cx *cx, unsigned *arg, struct up_buf *why)
{
	(void)cx;
	(void)arg;
	(void)why;
	return true;
}

bool up_agg_is_less(struct up_type t, const struct up_value *a, const struct up_value *b)
{
	if (t.ty == TY_FLOAT)
		return a->f < b->f;
	return t.is_signed ? a->s < b->s : a->u < b->u;
}

static bool is_nan(struct up_type t, const struct up_value *v)
{
	return t.ty == TY_FLOAT && v->f != v->f;
}

void up_agg_smallest(struct up_type t, uint64_t *best, const struct up_value *v, bool is_first)
{
	struct up_value old = { .u = *best };

	if (is_first || is_nan(t, &old) || up_agg_is_less(t, v, &old))
		*best = v->u;
}

void up_agg_largest(struct up_type t, uint64_t *best, const struct up_value *v, bool is_first)
{
	struct up_value old = { .u = *best };

	if (is_first || is_nan(t, &old) || up_agg_is_less(t, &old, v))
		*best = v->u;
}

struct up_type up_agg_count_type(unsigned field, const struct up_agg_cx *cx)
{
	(void)field;
	(void)cx;
	return UP_TYPE_U64;
}

struct up_type up_agg_arg_type(unsigned field, const struct up_agg_cx *cx)
{
	(void)field;
	return cx->types[0];
}

struct up_type up_agg_number_type(const struct up_agg_cx *cx)
{
	struct up_type t = cx->types[0];

	if (t.ty == TY_FLOAT)
		return t;
	t.bits = 64;
	if (t.show != UP_SHOW_NS)
		t.show = UP_SHOW_DEC;
	return t;
}

struct up_type up_agg_float_type(const struct up_agg_cx *cx)
{
	struct up_type t = UP_TYPE_FLOAT;

	if (cx->types[0].show == UP_SHOW_NS)
		t.show = UP_SHOW_NS;
	return t;
}
