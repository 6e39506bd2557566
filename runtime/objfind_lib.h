/*
 * Libraries as the dynamic linker finds them: ld.so.cache, then the standard folders (ld.so(8)),
 * and those of musl. The part of objfind that knows about library names.
 */
#ifndef UP_OBJFIND_LIB_H
#define UP_OBJFIND_LIB_H

#include "runtime/objfind.h"

/*
 * How well the file name fits what is asked for: 0 exactly, 1 libX.so.6, 2 libX.so, 3 libX-2.31.so,
 * 4 the C library of musl under its own name; -1 not at all.
 */
int up_library_rank(const char *file, const char *want);
/* Is file a of rank ra to be preferred to b of rank rb? The higher version is. */
bool up_library_is_better(int ra, const char *a, int rb, const char *b);

/* The library of a short or full name, for this machine's own programs rather than 32-bit ones. */
bool up_library_find(const struct up_objfind *f, const char *name, struct up_found *out);

/* ---- from objfind.c ---- */

/* Takes the next of a colon-separated list of folders (*list, NULL at the end). */
bool up_next_folder(const char **list, char *to, size_t size);
/* Opens a place below the root, O_PATH; -1 with errno. */
int up_objfind_place(const char *root, const char *path);
/* Opens the regular file at a place for reading. `path` is how it was reached. */
bool up_objfind_take(int place, const char *root, const char *path, struct up_found *out,
		     struct up_why *why);

#endif
