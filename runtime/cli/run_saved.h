/*
 * Running a plan on saved events: no kernel, no privileges; time is the events' time.
 */
#ifndef UP_CLI_RUN_SAVED_H
#define UP_CLI_RUN_SAVED_H

#include "runtime/cli/run.h"
#include "runtime/saved.h"

/* Runs to the end of the events, or as -n, -d, -p, stop() and signals say. Returns the exit status.
 */
int up_run_saved(const struct up_opts *o, const struct up_plan *plan, const struct up_signals *sig,
		 struct up_saved *src);

#endif
