/*
 * How the returns of each function are seen: by the kernel's return probe, which replaces the
 * return address, where that does the program no harm; else by probes on the instructions that
 * leave the function.
 */
#ifndef UP_RETURNS_H
#define UP_RETURNS_H

#include "lang/target.h"

/*
 * Decides it for each place of a target. False after a diagnostic: the returns of one cannot be
 * seen. A pattern leaves such functions out and says so, unless they are all.
 */
bool up_returns_decide(struct up_diags *ds, const struct up_env *env, struct up_target *t);

#endif
