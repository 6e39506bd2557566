/* Sets of numbers as intervals. */
#include "lang/interval.h"

#define TOP ((uint64_t)1 << 63)

/* Puts an interval where it belongs, and joins it with those that it touches. */
static void insert(struct up_set *s, uint64_t lo, uint64_t hi)
{
	unsigned from = 0, to, nr;

	while (from < s->nr && s->v[from].hi < lo && s->v[from].hi + 1 < lo)
		from++;
	for (to = from; to < s->nr && (hi == UINT64_MAX || s->v[to].lo <= hi + 1); to++) {
		lo = s->v[to].lo < lo ? s->v[to].lo : lo;
		hi = s->v[to].hi > hi ? s->v[to].hi : hi;
	}
	nr = s->nr - (to - from) + 1;
	if (nr > UP_SET_MAX)
		__builtin_trap();
	if (to > from + 1)
		for (unsigned i = to; i < s->nr; i++)
			s->v[i - (to - from - 1)] = s->v[i];
	else if (to == from)
		for (unsigned i = s->nr; i > from; i--)
			s->v[i] = s->v[i - 1];
	s->v[from] = (struct up_interval){ lo, hi };
	s->nr = nr;
}

/* Likewise for one that may go past the largest number and on from 0. */
static void insert_wrapped(struct up_set *s, uint64_t lo, uint64_t hi)
{
	if (lo <= hi) {
		insert(s, lo, hi);
		return;
	}
	insert(s, 0, hi);
	insert(s, lo, UINT64_MAX);
}

struct up_set up_set_compare(enum up_op op, uint64_t c, bool is_unsigned)
{
	uint64_t min = is_unsigned ? 0 : TOP, max = min - 1;
	struct up_set s = { .nr = 0 };

	switch (op) {
	case OPR_LT:
		if (c != min)
			insert_wrapped(&s, min, c - 1);
		break;
	case OPR_LE:
		insert_wrapped(&s, min, c);
		break;
	case OPR_GT:
		if (c != max)
			insert_wrapped(&s, c + 1, max);
		break;
	case OPR_GE:
		insert_wrapped(&s, c, max);
		break;
	default:
		insert(&s, c, c);
		break;
	}
	return op == OPR_NE ? up_set_not(&s) : s;
}

struct up_set up_set_not(const struct up_set *s)
{
	struct up_set out = { .nr = 0 };
	uint64_t next = 0;

	for (unsigned i = 0; i < s->nr; i++) {
		if (s->v[i].lo > next)
			insert(&out, next, s->v[i].lo - 1);
		if (s->v[i].hi == UINT64_MAX)
			return out;
		next = s->v[i].hi + 1;
	}
	insert(&out, next, UINT64_MAX);
	return out;
}

/* All numbers: moving them would look like an interval that goes around. */
static bool is_all(const struct up_set *s)
{
	return s->nr == 1 && s->v[0].lo == 0 && s->v[0].hi == UINT64_MAX;
}

struct up_set up_set_add(const struct up_set *s, uint64_t k)
{
	struct up_set out = { .nr = 0 };

	if (is_all(s))
		return *s;
	for (unsigned i = 0; i < s->nr; i++)
		insert_wrapped(&out, s->v[i].lo + k, s->v[i].hi + k);
	return out;
}

struct up_set up_set_negate(const struct up_set *s)
{
	struct up_set out = { .nr = 0 };

	if (is_all(s))
		return *s;
	for (unsigned i = 0; i < s->nr; i++)
		insert_wrapped(&out, -s->v[i].hi, -s->v[i].lo);
	return out;
}

struct up_set up_set_clip(const struct up_set *s, uint64_t lo, uint64_t hi)
{
	struct up_set out = { .nr = 0 };

	for (unsigned i = 0; i < s->nr; i++) {
		uint64_t from = s->v[i].lo > lo ? s->v[i].lo : lo;
		uint64_t to = s->v[i].hi < hi ? s->v[i].hi : hi;

		if (from <= to)
			insert(&out, from, to);
	}
	return out;
}

bool up_set_has(const struct up_set *s, uint64_t x)
{
	for (unsigned i = 0; i < s->nr; i++)
		if (x >= s->v[i].lo && x <= s->v[i].hi)
			return true;
	return false;
}

bool up_set_is_one(const struct up_set *s, uint64_t *x)
{
	*x = s->nr ? s->v[0].lo : 0;
	return s->nr == 1 && s->v[0].lo == s->v[0].hi;
}
