/*
 * Running a plan from the command line: the command of -c, the loop, the output, the end.
 */
#ifndef UP_CLI_RUN_H
#define UP_CLI_RUN_H

#include "lang/up.h"
#include "runtime/cli/opts.h"
#include "runtime/cli/signals.h"

/* Runs to the end; returns the exit status. `c` is where the kernel's own errors are shown; the
 * plan can gain sites. */
int up_run(const struct up_opts *o, struct up_compile *c, struct up_plan *plan,
	   const struct up_signals *sig);

/* Prints "uptick: TEXT" on standard error. */
void up_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* May what goes to this descriptor be coloured? */
bool up_may_colour(const struct up_opts *o, int fd);

#endif
