/*
 * Running a plan on saved trace text.
 */
#ifndef UP_CLI_RUN_TEXT_H
#define UP_CLI_RUN_TEXT_H

#include "runtime/cli/run.h"

/* Runs on the text that --source names; returns the exit status. */
int up_run_text(const struct up_opts *o, const struct up_plan *plan, const struct up_signals *sig);

#endif
