/*
 * Splitting the command of -c into words, with a shell's quoting and nothing else of it.
 */
#ifndef UP_CLI_WORDS_H
#define UP_CLI_WORDS_H

#include "lang/base/buf.h"

/*
 * Words are separated by blanks; '...', "..." and \ quote as in a shell. Nothing is expanded: `$`,
 * `*` and `~` stay. Returns a NULL-terminated vector in one allocation, for free(); or NULL with
 * what is wrong in `err`, also for an unquoted | & ; < > ( ), which only a shell could obey.
 */
char **up_split_words(const char *s, struct up_buf *err);

#endif
