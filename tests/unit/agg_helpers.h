/* What the tests of aggregates share: an aggregation of one group, and values. */
#ifndef UP_TESTS_AGG_HELPERS_H
#define UP_TESTS_AGG_HELPERS_H

#include <stdlib.h>

#include "lang/builtin.h"
#include "tests/unit/unit.h"

__extension__ typedef __int128 wide;

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define INT_TYPE(bits_, signed_) ((struct up_type){ TY_INT, UP_SHOW_DEC, bits_, signed_, 0 })

/* An aggregation of one group. */
struct agg {
	const struct up_agg_row *row;
	struct up_agg_cx cx;
	struct up_type types[4];
	struct up_value consts[4];
	uint64_t cell[32];
	size_t left;
};

static inline struct up_value num(int64_t n)
{
	return (struct up_value){ .s = n };
}

static inline struct up_value flt(double f)
{
	return (struct up_value){ .f = f };
}

static inline struct up_value str(const char *s)
{
	return (struct up_value){ .p = s, .len = (uint32_t)strlen(s) };
}

static inline const struct up_agg_row *find(const char *name)
{
	for (const struct up_agg_row *const *r = up_agg_rows; *r; r++)
		if (!strcmp((*r)->name, name))
			return *r;
	fprintf(stderr, "no aggregate %s\n", name);
	exit(1);
}

static inline void start(struct agg *a, const char *name, struct up_type type)
{
	*a = (struct agg){ .row = find(name), .types = { type }, .left = SIZE_MAX / 2 };
	a->cx = (struct up_agg_cx){ .types = a->types,
				    .consts = a->consts,
				    .nr_args = a->row->max_args,
				    .left = &a->left };
	CHECK(a->row->cell_size <= sizeof(a->cell));
}

static inline void start_lhist(struct agg *a, struct up_type type, struct up_type bounds,
			       const struct up_value *consts)
{
	start(a, "lhist", type);
	for (unsigned i = 1; i < 4; i++) {
		a->types[i] = bounds;
		a->consts[i] = consts[i - 1];
	}
}

static inline bool add(struct agg *a, struct up_value v)
{
	return a->row->add(a->cell, &a->cx, &v);
}

/* The cell gives everything back. */
static inline void end(struct agg *a)
{
	if (a->row->fini)
		a->row->fini(a->cell, &a->cx);
	CHECK(a->left == SIZE_MAX / 2);
}

static inline struct up_value get(const struct agg *a, const char *field)
{
	for (unsigned f = 0; f < a->row->nr_fields; f++)
		if (!strcmp(a->row->fields[f].name, field))
			return a->row->field(a->cell, &a->cx, f);
	CHECK(!"there is such a field");
	return num(0);
}

static inline wide get_wide(const struct agg *a, const char *field, bool is_signed)
{
	struct up_value v = get(a, field);

	if (v.flags & UP_VALUE_WIDE)
		return ((wide)v.wide->hi * ((wide)1 << 64)) + v.wide->lo;
	return is_signed ? (wide)v.s : (wide)v.u;
}

static uint64_t random_state = 88172645463325252;

static inline uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

#endif
