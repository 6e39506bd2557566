/*
 * Shared libraries that are loaded when something first needs them, because most runs never do and
 * linking them would cost every start. Knows nothing of what is in them.
 */
#ifndef UP_LATELOAD_H
#define UP_LATELOAD_H

#include <stddef.h>

/* A function of the library, and where in the caller's structure its pointer goes. */
struct up_late_function {
	const char *name; /* as the library exports it */
	size_t offset;    /* of the function pointer */
};

/*
 * Loads the library and fills `table` in. The handle, for dlclose(3), or NULL when the library is
 * not installed or lacks one of the functions.
 */
void *up_late_load(const char *soname, const struct up_late_function *functions, size_t nr,
		   void *table);

#endif
