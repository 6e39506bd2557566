/* Names to things: open addressing, at most half full. */
#include "lang/base/nametab.h"

#include <stdint.h>

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 15;
}

/* Where the name is, or where it would be put. */
static struct up_name *find_slot(const struct up_nametab *t, const char *name)
{
	size_t i = hash(name) & (t->cap - 1);

	while (t->v[i].name && strcmp(t->v[i].name, name))
		i = (i + 1) & (t->cap - 1);
	return &t->v[i];
}

void *up_nametab_find(const struct up_nametab *t, const char *name)
{
	return t->cap ? find_slot(t, name)->thing : NULL;
}

static void grow(struct up_arena *a, struct up_nametab *t)
{
	struct up_nametab old = *t;

	t->cap = old.cap ? old.cap * 2 : 16;
	t->v = up_newn(a, struct up_name, t->cap);
	for (size_t i = 0; i < old.cap; i++)
		if (old.v[i].name)
			*find_slot(t, old.v[i].name) = old.v[i];
}

void *up_nametab_add(struct up_arena *a, struct up_nametab *t, const char *name, void *thing)
{
	if (2 * (t->nr + 1) > t->cap)
		grow(a, t);
	struct up_name *slot = find_slot(t, name);

	if (slot->name)
		return slot->thing;
	*slot = (struct up_name){ name, thing };
	t->nr++;
	return NULL;
}
