/* `uptick status` and `uptick clean`: what uptick has in the kernel, and removing what nobody owns.
 */
#ifndef UP_CLI_CMD_STATUS_H
#define UP_CLI_CMD_STATUS_H

#include "runtime/cli/opts.h"
#include "runtime/cli/signals.h"

/* They return the exit status. */
int up_cmd_status(const struct up_opts *o);
int up_cmd_clean(const struct up_opts *o, const struct up_signals *sig);

#endif
