/* Values as numbers of C. */
#ifndef UP_NUMBER_H
#define UP_NUMBER_H

#include "lang/value.h"

__extension__ typedef __int128 up_int128;

static inline up_int128 up_wide_number(struct up_wide w)
{
	return (up_int128)w.hi * ((up_int128)1 << 64) + w.lo;
}

static inline struct up_wide up_number_wide(up_int128 n)
{
	return (struct up_wide){ .lo = (uint64_t)n, .hi = (int64_t)(n >> 64) };
}

/* An integer, perhaps wide. */
static inline up_int128 up_value_whole(struct up_type t, const struct up_value *v)
{
	if (v->flags & UP_VALUE_WIDE)
		return up_wide_number(*v->wide);
	return t.is_signed ? (up_int128)v->s : (up_int128)v->u;
}

/* An integer or float, as a float. */
static inline double up_value_double(struct up_type t, const struct up_value *v)
{
	if (v->flags & UP_VALUE_WIDE)
		return (double)up_wide_number(*v->wide);
	return t.ty == TY_FLOAT ? v->f : t.is_signed ? (double)v->s : (double)v->u;
}

#endif
