/* The account of hits. */
#include "runtime/account.h"

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* At most so many of the lost were something else than entries. */
static uint64_t lost_others(const struct up_account_in *in)
{
	return in->has_returns ? in->lost : smaller(in->not_hits, in->lost);
}

/* Entries that are gone and were not lost were rejected by conditions. */
static void with_conditions(struct up_account *a, const struct up_account_in *in, uint64_t gone)
{
	uint64_t high = smaller(in->lost, gone);
	uint64_t low = smaller(in->lost - lost_others(in), high);

	a->grown = smaller(in->grown, gone - high);
	a->rejected = gone - high - a->grown;
	a->is_exact &= low == high && !in->slack && !a->grown && !a->not_hits;
}

/* They are those of other processes. */
static void with_others(struct up_account *a, const struct up_account_in *in, uint64_t gone)
{
	gone = less(gone, in->lost);
	a->grown = smaller(in->grown, gone);
	a->foreign += gone - a->grown;
	a->is_exact &= !a->not_hits && !a->grown;
}

/* They were outside of recording. */
static void with_none(struct up_account *a, const struct up_account_in *in, uint64_t gone)
{
	uint64_t lost = smaller(in->lost, gone), rest = gone - lost;

	if (!in->has_returns && !in->slack && !rest)
		a->not_hits = in->lost - lost; /* so many, for the lost entries are known */
	else
		a->is_exact &= !a->not_hits && (!in->slack || !lost_others(in));
	a->grown = smaller(rest, in->grown);
	a->missing = less(rest - a->grown, in->slack);
	a->outside = rest - a->grown - a->missing;
	/* Returns of that time were not counted by anybody. */
	a->is_exact &= !a->grown || (!in->has_returns && !in->slack);
}

struct up_account up_account_close(const struct up_account_in *in)
{
	struct up_account a = {
		.foreign = in->foreign,
		.lost = in->lost,
		.not_hits = smaller(in->not_hits, in->lost),
		.rejected_known = in->is_counted || (!in->rejects_entries && !in->rejects_returns),
	};
	uint64_t gone = in->is_counted ? less(in->counted, in->entries) : 0;

	a.is_exact = in->is_counted && !in->is_racy && !in->lost_unknown &&
		     in->counted >= in->entries && !in->rejects_returns;
	if (in->rejects_entries)
		with_conditions(&a, in, gone);
	else if (in->rejects_processes)
		with_others(&a, in, gone);
	else
		with_none(&a, in, gone);
	/* Every call returns, or nearly so. */
	if (in->rejects_returns)
		a.rejected += less(in->calls, in->filtered);
	a.lost += a.grown;
	a.hits = in->entries + in->returns - in->foreign + a.rejected + a.outside + a.missing +
		 a.lost - (a.is_exact ? a.not_hits : 0);
	return a;
}
