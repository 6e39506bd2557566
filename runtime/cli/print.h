/* Writing results to standard output. */
#ifndef UP_CLI_PRINT_H
#define UP_CLI_PRINT_H

#include "lang/base/buf.h"
#include "runtime/cli/opts.h"

/*
 * Writes it all and empties it. False after a failure, which it has reported unless nobody reads;
 * at a prompt also when a signal has come.
 */
bool up_print(struct up_buf *b);

/* For commands that know text and JSON only. False after a message when -f says something else. */
bool up_want_json(const struct up_opts *o, bool *json);

/* Appends s as a JSON string, with its quotes. */
void up_json_string(struct up_buf *b, const char *s);

#endif
