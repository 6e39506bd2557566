/* Comparing two plans of one program, and taking over places. */
#include "lang/plan_grow.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>

static bool is_same_prog(const struct up_plan_prog *a, const struct up_plan_prog *b)
{
	return a->is_return == b->is_return && a->calls == b->calls && a->probe == b->probe &&
	       a->return_sp == b->return_sp && a->pops == b->pops && a->sp_arg == b->sp_arg &&
	       a->ra_arg == b->ra_arg && a->g_arg == b->g_arg && a->top_arg == b->top_arg &&
	       a->goid_arg == b->goid_arg && a->comm_arg == b->comm_arg &&
	       a->nr_code == b->nr_code && !memcmp(a->code, b->code, a->nr_code * sizeof(*a->code));
}

/* Numbers and texts that the handlers mention; an empty text is everywhere the same one. */
static bool has_same_consts(const struct up_plan *a, const struct up_plan *b)
{
	if (a->nr_consts != b->nr_consts)
		return false;
	for (uint32_t i = 0; i < a->nr_consts; i++) {
		const struct up_value *x = &a->consts[i], *y = &b->consts[i];

		if (x->len != y->len || (x->len ? memcmp(x->p, y->p, x->len) != 0 : x->u != y->u))
			return false;
	}
	return true;
}

static bool has_same_handlers(const struct up_plan *a, const struct up_plan *b)
{
	if (a->nr_progs != b->nr_progs || a->nr_prints != b->nr_prints ||
	    a->nr_printfs != b->nr_printfs || a->nr_aggs != b->nr_aggs ||
	    a->nr_vars != b->nr_vars || a->nr_blocks != b->nr_blocks || !has_same_consts(a, b))
		return false;
	for (uint32_t i = 0; i < a->nr_progs; i++)
		if (!is_same_prog(&a->progs[i], &b->progs[i]))
			return false;
	return true;
}

/* The event of p for event i of `from`: they can stand in reverse order. UP_NONE: there is none. */
static uint32_t match_event(const struct up_plan *p, const struct up_plan *from, uint32_t i)
{
	uint32_t other = from->nr_events - 1 - i;

	if (p->nr_events != from->nr_events)
		return UP_NONE;
	if (up_plan_same_shape(&p->events[i], &from->events[i]))
		return i;
	return up_plan_same_shape(&p->events[other], &from->events[i]) ? other : UP_NONE;
}

/* Sites of one file stand side by side: the last answer often is the next, too. */
struct asked {
	struct up_file_id id;
	bool is_asked, has;
};

static bool has_file(const struct up_plan *p, const struct up_file_id *id, struct asked *last)
{
	if (last->is_asked && up_file_id_is_same(&last->id, id))
		return last->has;
	*last = (struct asked){ .id = *id, .is_asked = true };
	for (uint32_t i = 0; i < p->nr_sites && !last->has; i++)
		last->has = up_file_id_is_same(&p->sites[i].id, id);
	return last->has;
}

static struct up_plan_site copy_site(struct up_arena *a, const struct up_plan_site *s,
				     uint32_t event)
{
	struct up_plan_site out = *s;

	out.path = up_arena_strdup(a, s->path);
	out.object = up_arena_strdup(a, s->object);
	out.func = up_arena_strdup(a, s->func);
	out.probe = up_arena_strdup(a, s->probe);
	out.risk = s->risk ? up_arena_strdup(a, s->risk) : NULL;
	out.event = event;
	return out;
}

static uint32_t count_new(const struct up_plan *p, const struct up_plan *from)
{
	struct asked last = { 0 };
	uint32_t nr = 0;

	for (uint32_t i = 0; i < from->nr_sites; i++)
		nr += !has_file(p, &from->sites[i].id, &last);
	return nr;
}

static int grow(struct up_plan *p, const struct up_plan *from)
{
	uint32_t nr = p->nr_sites, nr_new = count_new(p, from);
	struct asked last = { 0 };

	if (!nr_new)
		return 0;
	struct up_plan_site *sites = up_newn(p->arena, struct up_plan_site, nr + nr_new);
	memcpy(sites, p->sites, nr * sizeof(*sites));
	for (uint32_t i = 0; i < from->nr_sites; i++) {
		const struct up_plan_site *s = &from->sites[i];

		if (has_file(p, &s->id, &last))
			continue;
		uint32_t event = match_event(p, from, s->event);
		if (event == UP_NONE)
			return -EINVAL;
		sites[nr++] = copy_site(p->arena, s, event);
	}
	p->sites = sites;
	p->nr_sites = nr;
	return (int)nr_new;
}

int up_plan_grow(struct up_plan *p, const struct up_plan *from)
{
	jmp_buf oom;
	int nr;

	if (!has_same_handlers(p, from))
		return -EINVAL;
	if (setjmp(oom))
		return -ENOMEM;
	up_arena_on_oom(p->arena, &oom);
	nr = grow(p, from);
	up_arena_on_oom(p->arena, NULL);
	return nr;
}
