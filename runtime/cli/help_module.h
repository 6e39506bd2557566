/* Help on modules that are built in. */
#ifndef UP_CLI_HELP_MODULE_H
#define UP_CLI_HELP_MODULE_H

#include "lang/base/buf.h"
#include "lang/base/text.h"

/* Appends what a module, or one of its points, is. False when the word is neither. */
bool up_help_module(const char *word, struct up_buf *out);
/* Offers the modules' names to a search for what is like the word. */
void up_help_modules_offer(const char *word, struct up_nearest *near);

#endif
