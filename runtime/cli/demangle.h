/*
 * C++ and Rust names as their sources have them, by the C++ library, which is loaded when the first
 * such name comes.
 */
#ifndef UP_CLI_DEMANGLE_H
#define UP_CLI_DEMANGLE_H

#include <stdbool.h>

/*
 * The name behind a mangled one, for free(); NULL when it is not mangled, by a scheme that is not
 * known (Rust's v0), or the library is not installed.
 */
char *up_demangle(const char *name);
/* Is the library there? Loads it. */
bool up_can_demangle(void);

#endif
