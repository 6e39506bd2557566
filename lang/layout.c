/* Layout of sites into events. The limits are those of the kernel's trace_probe.h. */
#include "lang/layout.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENT_NAME 48 /* leaves room for suffixes below the kernel's 63 */
#define MAX_RECORD 3072   /* bytes of all arguments of one event */
#define MAX_LINE 4094     /* bytes of one definition */

/* The name, or when another event has it, the name with the first free number behind it. */
static const char *free_name(struct up_build *b, const char *base)
{
	unsigned *next = up_nametab_find(&b->event_names, base);
	char name[MAX_EVENT_NAME + 32];

	snprintf(name, sizeof(name), "%s", base);
	while (next && up_nametab_find(&b->event_names, name))
		snprintf(name, sizeof(name), "%s_%u", base, (*next)++);
	const char *own = up_arena_strdup(b->arena, name);
	next = up_new(b->arena, unsigned);
	*next = 2;
	up_nametab_add(b->arena, &b->event_names, own, next);
	return own;
}

/* A C identifier that no event has yet: what the text says, as far as letters go. */
static const char *event_name(struct up_build *b, const char *text, bool is_return)
{
	char base[MAX_EVENT_NAME + 16];
	size_t len = 0;

	if (!isalpha((unsigned char)*text) && *text != '_')
		base[len++] = 'p';
	for (; *text && len < MAX_EVENT_NAME; text++) {
		bool plain = isalnum((unsigned char)*text) || *text == '_';

		if (plain || (len && base[len - 1] != '_'))
			base[len++] = plain ? *text : '_';
	}
	while (len > 1 && base[len - 1] == '_')
		len--;
	snprintf(base + len, sizeof(base) - len, "%s", is_return ? "__return" : "");
	return free_name(b, base);
}

static bool check_record(struct up_diags *ds, const struct up_shape *s, struct up_span span)
{
	unsigned bytes = 4; /* site */

	for (size_t i = 0; i < s->args.nr; i++)
		bytes += s->args.v[i].size ? s->args.v[i].size : 4;
	if (bytes <= MAX_RECORD)
		return true;
	return up_error(ds, span, E_LIMIT, "one event holds at most %d bytes, this needs %u",
			MAX_RECORD, bytes);
}

/* The event of this shape; one that was named by `as`, or in a session, serves only its own probe.
 */
static uint32_t place_event(struct up_build *b, bool is_session, const struct up_node *probe,
			    uint32_t prog, const struct up_target *t, const struct up_shape *shape)
{
	uint32_t owner = probe->probe.name || is_session ? b->progs.v[prog].probe : UP_NONE;
	struct up_plan_event e = { .is_return = shape->side == UP_SIDE_RETURN,
				   .is_exit = shape->side >= UP_SIDE_EXIT,
				   .args = shape->args.v,
				   .nr_args = (uint32_t)shape->args.nr };
	size_t first = shape->after == UP_NONE ? 0 : shape->after + 1;

	for (size_t i = first; i < b->events.nr; i++)
		if (b->owners.v[i] == owner && up_plan_same_shape(&b->events.v[i], &e))
			return (uint32_t)i;
	const char *text = t->places.nr == 1 ? t->places.v[0].func : t->location;
	e.name = event_name(b, probe->probe.name ? probe->probe.name : text,
			    shape->side != UP_SIDE_ENTRY);
	up_vec_push(b->arena, &b->events, e);
	up_vec_push(b->arena, &b->owners, owner);
	return (uint32_t)b->events.nr - 1;
}

static const char *place_text(struct up_arena *a, const struct up_place_at *p)
{
	if (!p->func_off)
		return up_arena_strdup(a, p->shown);
	return up_arena_printf(a, "%s+0x%" PRIx64, p->shown, p->func_off);
}

static struct up_plan_site make_site(struct up_build *b, const struct up_node *probe,
				     const struct up_target *t, const struct up_place_at *p)
{
	struct up_plan_site s = { .offset = p->offset,
				  .addr = p->addr,
				  .func_off = p->func_off,
				  .span = t->span,
				  .id = t->object->id,
				  .machine = t->object->machine };

	s.path = up_arena_strdup(b->arena, t->object->path);
	s.object = up_arena_strdup(b->arena, t->object->name);
	s.func = up_arena_strdup(b->arena, p->shown);
	const char *name = probe->probe.name ? probe->probe.name : probe->probe.point;
	s.probe = name ? up_arena_strdup(b->arena, name)
		       : up_arena_printf(b->arena, "%s:%s", s.object, place_text(b->arena, p));
	return s;
}

static bool check_line(struct up_diags *ds, const struct up_build *b, const struct up_plan_site *s)
{
	const struct up_plan_event *e = &b->events.v[s->event];
	size_t len = strlen(s->path) + strlen(e->name) + 160;

	for (uint32_t i = 0; i < e->nr_args; i++)
		len += strlen(e->args[i].name) + strlen(e->args[i].fetch) +
		       strlen(e->args[i].type) + 3;
	if (len <= MAX_LINE)
		return true;
	return up_error(ds, s->span, E_LIMIT,
			"the definition of this probe takes %zu bytes, the kernel takes %d", len,
			MAX_LINE);
}

/* The target's sites while they are added. */
struct adding {
	struct up_diags *ds;
	const struct up_env *env;
	struct up_build *b;
	const struct up_node *probe;
	const struct up_target *t;
	struct up_shape *shape;
	uint32_t prog;
	bool has_event;
};

static bool add_site(struct adding *a, struct up_plan_site s)
{
	struct up_site_note note = { a->t->object, a->t->is_fixed, a->shape->reads_sp };

	if (!a->has_event) {
		a->shape->event =
			place_event(a->b, a->env->is_session, a->probe, a->prog, a->t, a->shape);
		a->has_event = true;
		s.event = a->shape->event;
		if (!check_line(a->ds, a->b, &s))
			return false;
	}
	s.prog = a->prog;
	s.event = a->shape->event;
	if (a->b->sites.nr >= a->env->max_sites)
		return up_error(a->ds, a->t->span, E_LIMIT, "one program probes at most %u places",
				a->env->max_sites);
	up_vec_push(a->b->arena, &a->b->sites, s);
	up_vec_push(a->b->arena, &a->b->notes, note);
	return true;
}

/* A site on an instruction that leaves the function. */
static void move_to_exit(struct adding *a, struct up_plan_site *s, const struct up_place_at *p,
			 const struct up_exit *e)
{
	const struct up_resolver *r = a->env->resolver;

	r->to_offset(r->ctx, a->t->object, e->addr, &s->offset);
	s->addr = e->addr;
	s->moved = (int64_t)(e->addr - p->addr);
	s->sp_lower = up_abi_find(a->t->object->machine, UP_CALLING_C)->return_sp;
	s->risk = p->risk ? up_arena_strdup(a->b->arena, p->risk) : NULL;
}

static bool add_exits(struct adding *a, const struct up_place_at *p)
{
	struct up_plan_site s = make_site(a->b, a->probe, a->t, p), at;

	for (size_t i = 0; i < p->exits.nr; i++) {
		if (p->exits.v[i].is_tail != (a->shape->side == UP_SIDE_JUMP))
			continue;
		at = s;
		move_to_exit(a, &at, p, &p->exits.v[i]);
		if (!add_site(a, at))
			return false;
	}
	return true;
}

static bool add_entry(struct adding *a, const struct up_place_at *p)
{
	struct up_plan_site s = make_site(a->b, a->probe, a->t, p);

	s.is_kernel_return = p->returns == UP_RETURNS_KERNEL;
	return add_site(a, s);
}

bool up_layout_target(struct up_diags *ds, const struct up_env *env, struct up_build *b,
		      const struct up_node *probe, const struct up_target *t,
		      struct up_shape *shape, uint32_t prog)
{
	struct adding a = { ds, env, b, probe, t, shape, prog, false };
	bool ok = check_record(ds, shape, t->span);

	for (size_t i = 0; i < t->places.nr && ok; i++) {
		const struct up_place_at *p = &t->places.v[i];

		if (shape->side == UP_SIDE_ENTRY ||
		    (shape->side == UP_SIDE_RETURN && p->returns == UP_RETURNS_KERNEL))
			ok = add_entry(&a, p);
		else if (shape->side >= UP_SIDE_EXIT && p->returns == UP_RETURNS_EXITS)
			ok = add_exits(&a, p);
	}
	return ok;
}

static int by_place(const void *va, const void *vb, void *arg)
{
	const struct up_build *b = arg;
	const struct up_plan_site *x = &b->sites.v[*(const uint32_t *)va];
	const struct up_plan_site *y = &b->sites.v[*(const uint32_t *)vb];
	int order = strcmp(x->path, y->path);

	if (order)
		return order;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return b->events.v[x->event].is_return - b->events.v[y->event].is_return;
}

/* Do several probes stand at one place? */
static bool has_shared_place(struct up_build *b)
{
	uint32_t *order = up_newn(b->arena, uint32_t, b->sites.nr + 1);

	for (uint32_t i = 0; i < b->sites.nr; i++)
		order[i] = i;
	qsort_r(order, b->sites.nr, sizeof(*order), by_place, b);
	for (size_t i = 1; i < b->sites.nr; i++)
		if (!by_place(&order[i - 1], &order[i], b))
			return true;
	return false;
}

static void reverse_events(struct up_build *b)
{
	size_t nr = b->events.nr;

	for (size_t i = 0; i < nr / 2; i++) {
		struct up_plan_event e = b->events.v[i];

		b->events.v[i] = b->events.v[nr - 1 - i];
		b->events.v[nr - 1 - i] = e;
	}
	for (size_t i = 0; i < b->sites.nr; i++)
		b->sites.v[i].event = (uint32_t)(nr - 1 - b->sites.v[i].event);
}

/*
 * The kernel runs the probes of one place in the reverse order of their definition. Where there is
 * such a place, all is defined last first, so that handlers run in the order of the script.
 */
void up_layout_events(struct up_build *b)
{
	bool reverse = has_shared_place(b);

	if (reverse)
		reverse_events(b);
	for (size_t i = 0; i < b->sites.nr; i++)
		b->events.v[b->sites.v[i].event].nr_sites++;
	for (size_t i = 0; i < b->events.nr; i++) {
		b->events.v[i].sites = up_newn(b->arena, uint32_t, b->events.v[i].nr_sites);
		b->events.v[i].nr_sites = 0;
	}
	for (size_t i = 0; i < b->sites.nr; i++) {
		uint32_t site = (uint32_t)(reverse ? b->sites.nr - 1 - i : i);
		struct up_plan_event *e = &b->events.v[b->sites.v[site].event];

		e->sites[e->nr_sites++] = site;
	}
}
