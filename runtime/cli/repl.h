/*
 * The prompt: a session that gains and loses declarations while it runs.
 */
#ifndef UP_CLI_REPL_H
#define UP_CLI_REPL_H

#include "runtime/cli/opts.h"
#include "runtime/cli/signals.h"

/* Runs it until its user leaves; returns the exit status. */
int up_repl(const struct up_opts *o, const struct up_signals *sig);

/* Its commands as a table in Markdown; what one is, or false when there is none of this name. */
void up_repl_markdown(struct up_buf *out);
bool up_repl_word(const char *word, struct up_buf *out);

#endif
