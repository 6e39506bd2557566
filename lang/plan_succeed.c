/* Renumbering a plan by the one before it. */
#include "lang/plan_succeed.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>

#include "lang/opcodes.h"

/* Both plans, and what was found out. */
struct merge {
	struct up_plan *p;
	const struct up_plan *old;
	struct up_succession *s;
	struct up_arena *arena; /* p's */
	uint32_t *event_to;     /* of each event of p: its number from now on */
	uint32_t *site_to;      /* of each site of p, likewise */
	uint32_t *probe_to;     /* of each probe of p, likewise */
	uint32_t dead[2];       /* handlers for what is gone: of entries, of returns */
};

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* ---- events ---- */

/* One file can be known by several paths. In one that was written to there is other code. */
static bool is_same_file(const struct up_plan_site *a, const struct up_plan_site *b)
{
	if (!a->id.ino)
		return !b->id.ino && !strcmp(a->path, b->path);
	return up_file_id_is_same(&a->id, &b->id) && a->id.size == b->id.size &&
	       a->id.written == b->id.written;
}

/* One place, of one file, under one condition? */
static bool is_same_site(const struct merge *m, uint32_t a, uint32_t b)
{
	const struct up_plan_site *x = &m->p->sites[a], *y = &m->old->sites[b];

	return x->offset == y->offset && x->moved == y->moved && x->sp_lower == y->sp_lower &&
	       is_same_file(x, y) && !strcmp(x->func, y->func) &&
	       is_same_text(m->p->progs[x->prog].filter, m->old->progs[y->prog].filter);
}

static bool has_same_sites(const struct merge *m, const struct up_plan_event *a,
			   const struct up_plan_event *b, bool reversed)
{
	for (uint32_t i = 0; i < a->nr_sites; i++)
		if (!is_same_site(m, a->sites[reversed ? a->nr_sites - 1 - i : i], b->sites[i]))
			return false;
	return true;
}

static void reverse(struct up_plan_event *e)
{
	for (uint32_t i = 0; i < e->nr_sites / 2; i++) {
		uint32_t site = e->sites[i];

		e->sites[i] = e->sites[e->nr_sites - 1 - i];
		e->sites[e->nr_sites - 1 - i] = site;
	}
}

static bool is_same_event(const struct merge *m, uint32_t event, uint32_t old)
{
	const struct up_plan_event *a = &m->p->events[event], *b = &m->old->events[old];

	if (!b->nr_sites || a->nr_sites != b->nr_sites || !up_plan_same_shape(a, b) ||
	    m->s->probes[up_plan_probe_of(m->p, event)] != up_plan_probe_of(m->old, old))
		return false;
	return has_same_sites(m, a, b, false) || has_same_sites(m, a, b, true);
}

/* Lists that a plan has last first, because places are shared there, are put in the old order. */
static void take_order(const struct merge *m, uint32_t event, uint32_t old)
{
	if (!has_same_sites(m, &m->p->events[event], &m->old->events[old], false))
		reverse(&m->p->events[event]);
}

static void match_events(struct merge *m)
{
	uint32_t next = m->old->nr_events;

	m->event_to = up_newn(m->arena, uint32_t, m->p->nr_events + 1);
	m->s->is_gone = up_newn(m->arena, bool, m->old->nr_events + 1);
	for (uint32_t k = 0; k < m->old->nr_events; k++)
		m->s->is_gone[k] = m->old->events[k].nr_sites > 0;
	for (uint32_t i = 0; i < m->p->nr_events; i++) {
		uint32_t k = 0;

		while (k < m->old->nr_events && !(m->s->is_gone[k] && is_same_event(m, i, k)))
			k++;
		if (k < m->old->nr_events) {
			take_order(m, i, k);
			m->s->is_gone[k] = false;
		}
		m->event_to[i] = k < m->old->nr_events ? k : next++;
	}
	m->s->first_event = m->old->nr_events;
}

/* ---- names ---- */

static bool is_taken(const struct up_plan_event *events, uint32_t nr, const char *name)
{
	for (uint32_t i = 0; i < nr; i++)
		if (events[i].name && !strcmp(events[i].name, name))
			return true;
	return false;
}

/* A name that no event has, also none that is gone: the kernel may have it still. */
static const char *free_name(struct merge *m, const struct up_plan_event *events, uint32_t nr,
			     const char *name)
{
	const char *out = name;

	if (m->s->generation)
		out = name = up_arena_printf(m->arena, "%s_g%u", name, m->s->generation);
	for (unsigned i = 2; is_taken(events, nr, out); i++)
		out = up_arena_printf(m->arena, "%s_%u", name, i);
	return out;
}

static const char *copy_text(struct merge *m, const char *s)
{
	return s ? up_arena_strdup(m->arena, s) : NULL;
}

static void renumber_events(struct merge *m)
{
	uint32_t nr = m->old->nr_events, all = nr;
	struct up_plan_event *events;

	for (uint32_t i = 0; i < m->p->nr_events; i++)
		all += m->event_to[i] >= nr;
	events = up_newn(m->arena, struct up_plan_event, all + 1);
	for (uint32_t k = 0; k < nr; k++)
		events[k] = (struct up_plan_event){ .name = copy_text(m, m->old->events[k].name),
						    .is_return = m->old->events[k].is_return };
	for (uint32_t i = 0; i < m->p->nr_events; i++) {
		struct up_plan_event e = m->p->events[i];
		uint32_t to = m->event_to[i];

		e.name = to < nr ? events[to].name : free_name(m, events, to, e.name);
		events[to] = e;
	}
	m->p->events = events;
	m->p->nr_events = all;
}

/* ---- sites ---- */

static void match_sites(struct merge *m)
{
	uint32_t next = m->old->nr_sites;

	m->site_to = up_newn(m->arena, uint32_t, m->p->nr_sites + 1);
	for (uint32_t i = 0; i < m->p->nr_events; i++) {
		const struct up_plan_event *e = &m->p->events[i];
		uint32_t to = m->event_to[i];

		for (uint32_t k = 0; k < e->nr_sites && to < m->old->nr_events; k++)
			m->site_to[e->sites[k]] = m->old->events[to].sites[k];
	}
	for (uint32_t i = 0; i < m->p->nr_sites; i++)
		if (m->event_to[m->p->sites[i].event] >= m->old->nr_events)
			m->site_to[i] = next++;
	m->s->first_site = m->old->nr_sites;
}

/* What stands for a site that is gone: texts of neighbours are shared, none of the old plan's. */
static struct up_plan_site bury_site(struct merge *m, const struct up_plan_site *old,
				     const struct up_plan_site *before)
{
	bool is_same = before && !strcmp(before->path, old->path);
	bool is_same_object = is_same && !strcmp(before->object, old->object);

	return (struct up_plan_site){
		.path = is_same ? before->path : copy_text(m, old->path),
		.offset = old->offset,
		.addr = old->addr,
		.object = is_same_object ? before->object : copy_text(m, old->object),
		.func = copy_text(m, old->func),
		.func_off = old->func_off,
		.probe = copy_text(m, old->probe),
		.prog = m->dead[m->p->events[old->event].is_return],
		.event = old->event,
		.machine = old->machine,
		.id = old->id,
	};
}

static void renumber_sites(struct merge *m)
{
	uint32_t nr = m->old->nr_sites, all = nr;
	struct up_plan_site *sites;
	const struct up_plan_site *before = NULL;
	bool *is_kept = up_newn(m->arena, bool, nr + 1);

	for (uint32_t i = 0; i < m->p->nr_sites; i++)
		if (m->site_to[i] >= nr)
			all++;
		else
			is_kept[m->site_to[i]] = true;
	sites = up_newn(m->arena, struct up_plan_site, all + 1);
	for (uint32_t k = 0; k < nr; k++)
		if (!is_kept[k]) {
			sites[k] = bury_site(m, &m->old->sites[k], before);
			before = &sites[k];
		}
	for (uint32_t i = 0; i < m->p->nr_sites; i++) {
		struct up_plan_site s = m->p->sites[i];

		s.event = m->event_to[s.event];
		sites[m->site_to[i]] = s;
	}
	m->p->sites = sites;
	m->p->nr_sites = all;
}

/* The sites of those events that go on, or are new, under their numbers. */
static void renumber_lists(struct merge *m)
{
	for (uint32_t e = 0; e < m->p->nr_events; e++)
		for (uint32_t k = 0; k < m->p->events[e].nr_sites; k++)
			m->p->events[e].sites[k] = m->site_to[m->p->events[e].sites[k]];
}

/* ---- probes ---- */

static void match_probes(struct merge *m)
{
	uint32_t next = m->old->nr_probes;

	m->probe_to = up_newn(m->arena, uint32_t, m->p->nr_probes + 1);
	for (uint32_t i = 0; i < m->p->nr_probes; i++)
		m->probe_to[i] = m->s->probes[i] != UP_NONE ? m->s->probes[i] : next++;
}

static void renumber_probes(struct merge *m)
{
	uint32_t nr = m->old->nr_probes, all = nr;
	struct up_plan_probe *probes;

	for (uint32_t i = 0; i < m->p->nr_probes; i++)
		all += m->probe_to[i] >= nr;
	probes = up_newn(m->arena, struct up_plan_probe, all + 1);
	for (uint32_t k = 0; k < nr; k++)
		probes[k] = (struct up_plan_probe){ .name = "", .part = UP_NONE };
	for (uint32_t i = 0; i < m->p->nr_probes; i++)
		probes[m->probe_to[i]] = m->p->probes[i];
	for (uint32_t i = 0; i < m->p->nr_progs; i++)
		if (m->p->progs[i].probe != UP_NONE)
			m->p->progs[i].probe = m->probe_to[m->p->progs[i].probe];
	m->p->probes = probes;
	m->p->nr_probes = all;
}

/* A handler that does nothing, of an entry and of a return, for sites that are gone. */
static void add_dead(struct merge *m)
{
	uint32_t nr = m->p->nr_progs;
	struct up_plan_prog *progs = up_newn(m->arena, struct up_plan_prog, nr + 2);
	struct up_insn *code = up_new(m->arena, struct up_insn);

	if (nr)
		memcpy(progs, m->p->progs, nr * sizeof(*progs));
	code->op = OP_END;
	for (unsigned i = 0; i < 2; i++) {
		progs[nr + i] = up_plan_prog_of(UP_NONE, i);
		progs[nr + i].code = code;
		progs[nr + i].nr_code = 1;
		m->dead[i] = nr + i;
	}
	m->p->progs = progs;
	m->p->nr_progs = nr + 2;
}

/* ---- calls ---- */

/* The slot'th slot that the handlers of a probe keep: 0 none, 1 a number, 2 bytes. */
static unsigned slot_kind(const struct up_plan_prog *g, uint16_t slot)
{
	for (uint32_t i = 0; i < g->nr_code; i++)
		if ((g->code[i].op == OP_SAVE || g->code[i].op == OP_SAVED) && g->code[i].b == slot)
			return 1 + (g->code[i].c != 0);
	return 0;
}

static const struct up_plan_prog *find_return(const struct up_plan *p, uint32_t probe,
					      uint32_t *from)
{
	for (; *from < p->nr_progs; ++*from) {
		const struct up_plan_prog *g = &p->progs[*from];

		if (g->probe == probe && g->calls == UP_CALLS_LEAVE)
			return &p->progs[(*from)++];
	}
	return NULL;
}

/* Does the return that comes find in an open call what it looks for there? */
static bool keeps_calls(const struct merge *m, uint32_t probe, uint32_t was)
{
	uint32_t i = 0, k = 0;

	for (;;) {
		const struct up_plan_prog *a = find_return(m->p, probe, &i);
		const struct up_plan_prog *b = find_return(m->old, was, &k);

		if (!a || !b)
			return a == b;
		if (a->nr_saved != b->nr_saved)
			return false;
		for (uint16_t slot = 0; slot < a->nr_saved; slot++)
			if (slot_kind(a, slot) != slot_kind(b, slot))
				return false;
	}
}

static void match_calls(struct merge *m)
{
	m->s->nr_probes = m->old->nr_probes;
	m->s->keeps_calls = up_newn(m->arena, bool, m->old->nr_probes + 1);
	for (uint32_t i = 0; i < m->p->nr_probes; i++)
		if (m->s->probes[i] != UP_NONE)
			m->s->keeps_calls[m->s->probes[i]] = keeps_calls(m, i, m->s->probes[i]);
}

/* ---- what gathers ---- */

static bool has_same_keys(const struct up_type *a, uint32_t nr_a, const struct up_type *b,
			  uint32_t nr_b)
{
	if (nr_a != nr_b)
		return false;
	for (uint32_t i = 0; i < nr_a; i++)
		if (a[i].ty != b[i].ty)
			return false;
	return true;
}

static bool is_same_const(struct up_type t, const struct up_value *a, const struct up_value *b)
{
	if (up_ty_has_bytes(t.ty))
		return a->len == b->len && (!a->len || !memcmp(a->p, b->p, a->len));
	return a->u == b->u && a->flags == b->flags;
}

static bool is_same_gatherer(const struct up_plan_agg *a, const struct up_plan_agg *b)
{
	if (a->row != b->row || a->nr_args != b->nr_args || a->is_named != b->is_named ||
	    strcmp(a->name, b->name) != 0 ||
	    !has_same_keys(a->key_types, a->nr_keys, b->key_types, b->nr_keys))
		return false;
	for (uint32_t i = 0; i < a->nr_args; i++)
		if (!up_type_is_same(a->arg_types[i], b->arg_types[i]) ||
		    !is_same_const(a->arg_types[i], &a->consts[i], &b->consts[i]))
			return false;
	return true;
}

/* The first handler that gathers in an aggregation; NULL when none does. */
static const struct up_plan_prog *gatherer(const struct up_plan *p, uint32_t agg)
{
	for (uint32_t i = 0; i < p->nr_progs; i++)
		for (uint32_t k = 0; k < p->progs[i].nr_code; k++)
			if (p->progs[i].code[k].op == OP_AGG && p->progs[i].code[k].b == agg)
				return &p->progs[i];
	return NULL;
}

static uint32_t block_of(const struct up_plan *p, const struct up_plan_prog *g)
{
	for (uint32_t i = 0; i < p->nr_blocks; i++)
		if (&p->progs[p->blocks[i].prog] == g)
			return i;
	return UP_NONE;
}

/* Do two unnamed aggregations stand in the same declaration, and in the same block of it? */
static bool stand_together(const struct merge *m, const struct up_plan_prog *a,
			   const struct up_plan_prog *b)
{
	if (!a || !b || a->is_return != b->is_return)
		return false;
	if (a->probe != UP_NONE && b->probe != UP_NONE)
		return m->s->probes[a->probe] == b->probe;
	uint32_t block = block_of(m->p, a);
	return a->probe == b->probe && block != UP_NONE &&
	       m->s->blocks[block] == block_of(m->old, b);
}

static bool is_same_agg(const struct merge *m, uint32_t a, uint32_t b)
{
	const struct up_plan_agg *x = &m->p->aggs[a], *y = &m->old->aggs[b];

	return is_same_gatherer(x, y) &&
	       (x->is_named || stand_together(m, gatherer(m->p, a), gatherer(m->old, b)));
}

/* Several unnamed ones of the same text in one block go on in their order. */
static void match_aggs(struct merge *m)
{
	bool *is_taken_over = up_newn(m->arena, bool, m->old->nr_aggs + 1);

	m->s->aggs = up_newn(m->arena, uint32_t, m->p->nr_aggs + 1);
	for (uint32_t i = 0; i < m->p->nr_aggs; i++) {
		uint32_t k = 0;

		while (k < m->old->nr_aggs && (is_taken_over[k] || !is_same_agg(m, i, k)))
			k++;
		m->s->aggs[i] = k < m->old->nr_aggs ? k : UP_NONE;
		if (k < m->old->nr_aggs)
			is_taken_over[k] = true;
	}
}

static bool is_same_var(const struct up_plan_var *a, const struct up_plan_var *b)
{
	return a->scope == b->scope && a->type.ty == b->type.ty && !strcmp(a->name, b->name) &&
	       (a->type.ty != TY_ARRAY || up_type_is_same(a->type, b->type)) &&
	       has_same_keys(a->key_types, a->nr_keys, b->key_types, b->nr_keys);
}

static void match_vars(struct merge *m)
{
	m->s->vars = up_newn(m->arena, uint32_t, m->p->nr_vars + 1);
	for (uint32_t i = 0; i < m->p->nr_vars; i++) {
		uint32_t k = 0;

		while (k < m->old->nr_vars && !is_same_var(&m->p->vars[i], &m->old->vars[k]))
			k++;
		m->s->vars[i] = k < m->old->nr_vars ? k : UP_NONE;
	}
}

/* ---- the whole ---- */

/* Matching needs both plans as they were compiled, so it comes before all renumbering. */
static void succeed(struct merge *m)
{
	match_events(m);
	match_sites(m);
	match_probes(m);
	match_calls(m);
	match_aggs(m);
	match_vars(m);
	add_dead(m);
	renumber_events(m);
	renumber_lists(m);
	renumber_sites(m);
	renumber_probes(m);
	for (unsigned i = 0; i < 2 && m->p->nr_probes; i++)
		m->p->progs[m->dead[i]].probe = 0;
}

int up_plan_succeed(struct up_plan *p, const struct up_plan *old, struct up_succession *s)
{
	struct merge m = { .p = p, .old = old, .s = s, .arena = p->arena };
	jmp_buf oom;

	if (setjmp(oom))
		return -ENOMEM;
	up_arena_on_oom(p->arena, &oom);
	succeed(&m);
	up_arena_on_oom(p->arena, NULL);
	return 0;
}
