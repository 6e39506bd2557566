/*
 * `uptick record`: a run whose events go into a file as they are. `uptick replay` runs handlers on
 * such a file.
 */
#ifndef UP_CLI_CMD_RECORD_H
#define UP_CLI_CMD_RECORD_H

#include "runtime/cli/build.h"

/* `b` is the program of that name and text, compiled. Returns the exit status. */
int up_cmd_record(const struct up_opts *o, const struct up_signals *sig, const char *name,
		  const struct up_buf *text, const struct up_built *b);

#endif
