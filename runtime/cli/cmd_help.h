/* `uptick help [WORD]` and `uptick --reference TABLE`. */
#ifndef UP_CLI_CMD_HELP_H
#define UP_CLI_CMD_HELP_H

#include "runtime/cli/opts.h"

/* What words of the language and options mean. Returns the exit status. */
int up_cmd_word(const struct up_opts *o);
/* A table of the reference in Markdown. Returns the exit status. */
int up_cmd_reference(const struct up_opts *o);

#endif
