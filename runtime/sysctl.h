/* Settings of the kernel's that are on or off. */
#ifndef UP_SYSCTL_H
#define UP_SYSCTL_H

#include <stdbool.h>

/*
 * Is kernel.NAME set? Not where it cannot be read. `dir` replaces /proc/sys/kernel (tests); NULL
 * does not.
 */
bool up_sysctl_is_set(const char *dir, const char *name);

#endif
