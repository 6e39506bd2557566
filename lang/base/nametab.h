/*
 * A table from names to things. Lives in an arena; names and things are the caller's and stay
 * where they are.
 */
#ifndef UP_BASE_NAMETAB_H
#define UP_BASE_NAMETAB_H

#include "lang/base/arena.h"

struct up_nametab {
	struct up_name {
		const char *name; /* NULL: free */
		void *thing;
	} * v;
	size_t nr, cap; /* cap is a power of two, or 0 */
};

/* What has the name, or NULL. */
void *up_nametab_find(const struct up_nametab *t, const char *name);
/* Adds it. Returns NULL, or what has the name already: then nothing is added. */
void *up_nametab_add(struct up_arena *a, struct up_nametab *t, const char *name, void *thing);

#endif
