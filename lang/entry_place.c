/* Entries that are moved to a cheaper instruction. */
#include "lang/entry_place.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What the probes of one function fetch where they stand. */
struct needs {
	uint64_t regs; /* bit i: abi->regs[i] */
	bool sp;       /* the stack pointer must be that of the entry */
	bool is_fixed; /* nothing will do but the entry */
};

/* The value of these depends on the very instruction. */
static bool tells_place(const char *reg)
{
	static const char *const names[] = { "ip", "pc", "flags", "pstate" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], reg))
			return true;
	return false;
}

/* One register of a fetch argument. What the stack pointer leads to is put right by its distance.
 */
static void need_register(const struct up_abi *abi, const char *name, struct needs *n)
{
	if (!strcmp(name, "sp"))
		return;
	for (unsigned i = 0; abi->regs[i]; i++)
		if (!strcmp(abi->regs[i], name) && !tells_place(name)) {
			n->regs |= (uint64_t)1 << i;
			return;
		}
	n->is_fixed = true;
}

/* The registers of "+8(%di)". */
static void need_registers(const struct up_abi *abi, const char *fetch, struct needs *n)
{
	for (const char *s = strchr(fetch, '%'); s; s = strchr(s, '%')) {
		char name[16];
		size_t len = 0;

		for (s++; isalnum((unsigned char)*s) || *s == '_'; s++)
			if (len < sizeof(name) - 1)
				name[len++] = *s;
		name[len] = 0;
		need_register(abi, name, n);
	}
}

static void need_site(const struct up_build *b, uint32_t site, struct needs *n)
{
	const struct up_plan_event *e = &b->events.v[b->sites.v[site].event];
	const struct up_site_note *note = &b->notes.v[site];
	const struct up_abi *abi = up_abi_find(note->object->machine, UP_CALLING_C);

	n->is_fixed |= note->is_fixed;
	/* The kernel replaces the word at the stack pointer. */
	n->sp |= note->reads_sp || e->is_return;
	for (uint32_t i = 0; i < e->nr_args && !e->is_return; i++)
		need_registers(abi, e->args[i].fetch, n);
}

/* The best of the places: the first is the entry itself. */
static const struct up_entry_at *choose(const struct up_entry_at *at, unsigned nr,
					const struct needs *n)
{
	const struct up_entry_at *best = at;

	for (unsigned i = 1; i < nr; i++) {
		if ((at[i].regs & n->regs) || (at[i].sp_lower && n->sp))
			continue;
		if (at[i].is_needed != best->is_needed ? at[i].is_needed : at[i].cost < best->cost)
			best = &at[i];
	}
	return best;
}

static void move(struct up_plan_site *s, const struct up_entry_at *to, uint64_t offset,
		 unsigned cost)
{
	s->moved = (int64_t)(to->addr - s->addr);
	s->addr = to->addr;
	s->offset = offset;
	s->sp_lower = to->sp_lower;
	s->insn = to->insn;
	s->percent = cost ? to->cost * 100 / cost : 100;
}

/* Moves the sites of one function, which stand side by side in `order`. */
static void move_function(const struct up_env *env, struct up_build *b, const uint32_t *order,
			  size_t nr)
{
	const struct up_resolver *r = env->resolver;
	const struct up_object *o = b->notes.v[order[0]].object;
	struct up_entry_at at[UP_MAX_ENTRIES];
	struct needs n = { 0 };
	uint64_t offset;

	for (size_t i = 0; i < nr; i++)
		need_site(b, order[i], &n);
	/* Whoever replays it may want to know the stack pointer. */
	n.sp |= env->for_recording;
	if (n.is_fixed)
		return;
	const struct up_entry_at *to =
		choose(at, r->entries(r->ctx, o, b->sites.v[order[0]].addr, at, UP_MAX_ENTRIES),
		       &n);
	if (to == at || r->to_offset(r->ctx, o, to->addr, &offset) != UP_PLACE_CODE)
		return;
	for (size_t i = 0; i < nr; i++)
		move(&b->sites.v[order[i]], to, offset, at[0].cost);
}

/* Which probes stand at one place: in a session those of one declaration, which comes and goes. */
struct grouping {
	const struct up_build *b;
	bool is_session;
};

static int compare(const struct grouping *g, uint32_t x, uint32_t y)
{
	const struct up_plan_site *sx = &g->b->sites.v[x], *sy = &g->b->sites.v[y];
	const struct up_object *ox = g->b->notes.v[x].object, *oy = g->b->notes.v[y].object;

	if (ox != oy)
		return ox < oy ? -1 : 1;
	if (sx->addr != sy->addr)
		return sx->addr < sy->addr ? -1 : 1;
	if (!g->is_session)
		return 0;
	uint32_t px = g->b->progs.v[sx->prog].probe, py = g->b->progs.v[sy->prog].probe;
	return px < py ? -1 : px > py;
}

static int by_group(const void *va, const void *vb, void *arg)
{
	return compare(arg, *(const uint32_t *)va, *(const uint32_t *)vb);
}

void up_move_entries(const struct up_env *env, struct up_build *b)
{
	uint32_t *order = up_newn(b->arena, uint32_t, b->sites.nr + 1);
	struct grouping g = { b, env->is_session };
	size_t nr = 0, first = 0;

	for (uint32_t i = 0; i < b->sites.nr; i++)
		if (!b->sites.v[i].func_off && !b->events.v[b->sites.v[i].event].is_exit)
			order[nr++] = i;
	qsort_r(order, nr, sizeof(*order), by_group, &g);
	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && !compare(&g, order[i], order[first]))
			continue;
		move_function(env, b, order + first, i - first);
		first = i;
	}
}
