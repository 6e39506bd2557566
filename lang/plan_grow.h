/*
 * More places for a plan that runs: where the same program, compiled again, found another file in
 * the place of one that was replaced. Handlers and events stay as they are.
 */
#ifndef UP_PLAN_GROW_H
#define UP_PLAN_GROW_H

#include "lang/plan.h"

/*
 * Adds to p those sites of `from` that stand in files of which p has no site; they follow p's own,
 * which keep their numbers. `from` is a plan of the same text. Returns how many were added, -EINVAL
 * when the two plans differ in more than places (what handlers fetch can depend on the file), or
 * -ENOMEM; then p is as it was. An event's list of sites does not get the new ones.
 */
int up_plan_grow(struct up_plan *p, const struct up_plan *from);

#endif
