/*
 * `uptick replay`: handlers on the events of a recording.
 */
#ifndef UP_CLI_CMD_REPLAY_H
#define UP_CLI_CMD_REPLAY_H

#include "runtime/cli/build.h"
#include "runtime/replay.h"

/*
 * Compiles a program for an open recording; the recorded one when `name` is NULL. The plan is NULL
 * when it cannot be compiled, or wants what was not recorded: diagnostics say so.
 */
struct up_built up_replay_build(const struct up_opts *o, struct up_replay *r, const char *name,
				const struct up_buf *text);
/* Runs it on the recorded events. Returns the exit status. */
int up_replay_run(const struct up_opts *o, const struct up_signals *sig, struct up_replay *r,
		  const struct up_built *b);

#endif
