/* `uptick doctor`: can this machine trace, and if not, what is missing? */
#ifndef UP_CLI_CMD_DOCTOR_H
#define UP_CLI_CMD_DOCTOR_H

#include "runtime/cli/opts.h"
#include "runtime/cli/signals.h"

/* Runs the command; returns the exit status: 0 when tracing works. */
int up_cmd_doctor(const struct up_opts *o, const struct up_signals *sig);

#endif
