/* What is shown of places: functions of one name are told apart. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/target_int.h"

/* A place, and what it is sorted by. */
struct shown {
	const struct up_object *object;
	struct up_place_at *place;
};

/* Where its function begins. */
static uint64_t start_of(const struct shown *s)
{
	return s->place->addr - s->place->func_off;
}

static bool reads_same(const struct shown *a, const struct shown *b)
{
	return a->object == b->object && !strcmp(a->place->shown, b->place->shown);
}

static int by_text(const void *va, const void *vb)
{
	const struct shown *a = va, *b = vb;
	int order = strcmp(a->place->shown, b->place->shown);

	if (order)
		return order;
	if (a->object != b->object)
		return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
	return start_of(a) < start_of(b) ? -1 : start_of(a) > start_of(b);
}

static const char *with_params(struct up_arena *a, const struct shown *s)
{
	return up_source_full(a, s->place->symbol);
}

static const char *with_address(struct up_arena *a, const struct shown *s)
{
	return up_arena_printf(a, "%s@0x%" PRIx64, s->place->shown, start_of(s));
}

/* Says more of those that read the same though they are of different functions. */
static void say_more(struct up_arena *a, struct shown *v, size_t nr,
		     const char *(*text)(struct up_arena *, const struct shown *))
{
	for (size_t from = 0, to; from < nr; from = to) {
		for (to = from + 1; to < nr && reads_same(&v[from], &v[to]); to++)
			;
		if (start_of(&v[from]) == start_of(&v[to - 1]))
			continue;
		while (from < to) {
			v[from].place->shown = text(a, &v[from]);
			from++;
		}
	}
}

void up_targets_tell_apart(struct up_arena *a, struct up_target *targets, size_t nr_targets)
{
	UP_VEC(struct shown) all = { 0 };

	for (size_t t = 0; t < nr_targets; t++)
		for (size_t i = 0; i < targets[t].places.nr; i++) {
			struct shown s = { targets[t].object, &targets[t].places.v[i] };

			s.place->shown = s.place->func;
			up_vec_push(a, &all, s);
		}
	if (!all.nr)
		return;
	qsort(all.v, all.nr, sizeof(*all.v), by_text);
	say_more(a, all.v, all.nr, with_params);
	qsort(all.v, all.nr, sizeof(*all.v), by_text);
	say_more(a, all.v, all.nr, with_address);
}
