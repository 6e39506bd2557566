/*
 * A plan that takes the place of one that runs: the same program with declarations added or taken
 * away. Records that the kernel has written, and goes on to write, hold the numbers of sites; open
 * calls hold those of probes. So these numbers keep their meaning.
 */
#ifndef UP_PLAN_SUCCEED_H
#define UP_PLAN_SUCCEED_H

#include "lang/plan.h"

/* What became of the old plan's parts. Lives as long as the new plan. */
struct up_succession {
	/* Set by the caller: of each probe and block of the new plan as it was compiled, which one
	 * of the old plan it was, or UP_NONE. */
	const uint32_t *probes, *blocks;
	unsigned generation; /* set by him, too: when not 0, part of the names of new events */
	/* Of each aggregation and variable of the new plan: which one of the old goes on in it, or
	 * UP_NONE. */
	uint32_t *aggs, *vars;
	/* Set by the caller behind up_plan_succeed(): which events are not to be armed if they are
	 * new; NULL for none. */
	const bool *is_off;
	/* Events and sites from here on are new; those before it are the old plan's, in its order.
	 */
	uint32_t first_event, first_site;
	bool *is_gone;      /* of each old event: it had sites, and is in the new program no more */
	bool *keeps_calls;  /* of each old probe: do its open calls go on? */
	uint32_t nr_probes; /* how many of these there are */
};

/*
 * Renumbers the probes, events and sites of `p`, both plans of a session (up_env.is_session), so
 * that those it shares with `old` have the numbers that they have there. Of what only `old` has
 * something stays that is never reached: its numbers are not given to others. An event is shared
 * when its records look the same, and come from the same places of the same files. `old` can be
 * freed then. 0 or -ENOMEM; p is not to be used after a failure.
 */
int up_plan_succeed(struct up_plan *p, const struct up_plan *old, struct up_succession *s);

#endif
