/*
 * Running a plan from the command line: the command of -c, the loop, the output, the end.
 */
#ifndef UP_CLI_RUN_H
#define UP_CLI_RUN_H

#include "lang/up.h"
#include "runtime/cli/opts.h"
#include "runtime/cli/output.h"
#include "runtime/cli/signals.h"

struct up_recorder;

/*
 * Runs to the end; returns the exit status. `c` is where the kernel's own errors are shown; the
 * plan can gain sites. With a recorder, or NULL, events are written down and not handled.
 */
int up_run(const struct up_opts *o, struct up_compile *c, struct up_plan *plan,
	   const struct up_signals *sig, struct up_recorder *recorder);

#endif
