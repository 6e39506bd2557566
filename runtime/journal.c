/* Journal of changes. */
#include "runtime/journal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void up_journal_fini(struct up_journal *j)
{
	for (size_t i = 0; i < j->nr; i++)
		free(j->v[i].name);
	free(j->v);
	*j = (struct up_journal){ 0 };
}

static bool is_live(const struct up_change *c)
{
	return c->state != UP_CHANGE_UNDONE;
}

static uint32_t hash_of(const char *name, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h;
}

/* The latest live change of that kind and name, or -ENOENT. */
static int find(const struct up_journal *j, enum up_change_kind kind, const char *name, size_t len)
{
	uint32_t hash = hash_of(name, len);

	for (size_t i = j->nr; i-- > 0;) {
		const struct up_change *c = &j->v[i];

		if (c->hash == hash && c->kind == kind && is_live(c) && strlen(c->name) == len &&
		    !memcmp(c->name, name, len))
			return (int)i;
	}
	return -ENOENT;
}

static int make_room(struct up_journal *j)
{
	if (j->nr < j->cap)
		return 0;
	if (j->nr >= INT_MAX / 2)
		return -ENOMEM;
	size_t cap = j->cap ? j->cap * 2 : 16;
	struct up_change *v = reallocarray(j->v, cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	j->v = v;
	j->cap = cap;
	return 0;
}

int up_journal_plan(struct up_journal *j, enum up_change_kind kind, const char *name, size_t len)
{
	int known = kind == UP_CHANGE_EVENT ? find(j, kind, name, len) : -ENOENT;

	if (known >= 0) {
		j->v[known].nr_sites++;
		j->v[known].state = UP_CHANGE_PLANNED;
		return known;
	}
	if (make_room(j) < 0)
		return -ENOMEM;
	char *copy = strndup(name, len);
	if (!copy)
		return -ENOMEM;
	j->v[j->nr] = (struct up_change){
		.kind = kind,
		.state = UP_CHANGE_PLANNED,
		.name = copy,
		.hash = hash_of(name, len),
		.nr_sites = kind == UP_CHANGE_EVENT,
	};
	return (int)j->nr++;
}

static void mark_armed(struct up_journal *j, int index, bool armed)
{
	const struct up_change *c = &j->v[index];
	int event = c->kind == UP_CHANGE_ENABLE ? up_journal_find(j, UP_CHANGE_EVENT, c->name) : -1;

	if (event >= 0)
		j->v[event].was_armed = armed;
}

void up_journal_confirm(struct up_journal *j, int index)
{
	j->v[index].state = UP_CHANGE_DONE;
	mark_armed(j, index, true);
}

void up_journal_withdraw(struct up_journal *j, int index)
{
	j->v[index].state = UP_CHANGE_UNDONE;
	mark_armed(j, index, false);
}

int up_journal_find(const struct up_journal *j, enum up_change_kind kind, const char *name)
{
	return find(j, kind, name, strlen(name));
}

int up_journal_prev(const struct up_journal *j, enum up_change_kind kind, int before)
{
	for (int i = before - 1; i >= 0; i--)
		if (j->v[i].kind == kind && is_live(&j->v[i]))
			return i;
	return -1;
}

size_t up_journal_nr_live(const struct up_journal *j)
{
	size_t nr = 0;

	for (size_t i = 0; i < j->nr; i++)
		nr += is_live(&j->v[i]);
	return nr;
}
