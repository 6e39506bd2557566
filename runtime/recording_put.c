/* Writing what a recording says of itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/text.h"
#include "runtime/recording.h"

static void put_bytes(struct up_buf *b, const char *s, size_t len)
{
	up_buf_puts(b, " \"");
	up_text_escape(b, s, len, '"');
	up_buf_putc(b, '"');
}

/* A text, or that there is none. */
static void put_text(struct up_buf *b, const char *s)
{
	if (s)
		put_bytes(b, s, strlen(s));
	else
		up_buf_puts(b, " -");
}

static void put_number(struct up_buf *b, uint64_t v)
{
	up_buf_printf(b, " %" PRIu64, v);
}

static void put_end_of_line(struct up_buf *b)
{
	up_buf_putc(b, '\n');
}

void up_recording_put_begin(struct up_buf *b)
{
	up_buf_puts(b, "uptick 1\n");
}

void up_recording_put_script(struct up_buf *b, const char *name, const char *id, const char *text,
			     size_t len)
{
	up_buf_puts(b, "script");
	put_text(b, name);
	put_text(b, id);
	put_bytes(b, text, len);
	put_end_of_line(b);
}

void up_recording_put_arg(struct up_buf *b, const char *arg)
{
	up_buf_puts(b, "arg");
	put_text(b, arg);
	put_end_of_line(b);
}

void up_recording_put_param(struct up_buf *b, const struct up_param_arg *p)
{
	up_buf_puts(b, "param");
	put_text(b, p->name);
	put_text(b, p->value);
	put_end_of_line(b);
}

void up_recording_put_module(struct up_buf *b, const struct up_rec_module *m)
{
	up_buf_puts(b, "module");
	put_text(b, m->from);
	put_text(b, m->name);
	put_number(b, m->is_path);
	put_text(b, m->text.id);
	put_text(b, m->text.name);
	put_bytes(b, m->text.text, m->text.len);
	put_end_of_line(b);
}

/* ---- places ---- */

/* The symbols of one object that hold a probed place. */
struct around {
	struct up_buf *b;
	const struct up_plan *plan;
	const struct up_object *o;
	uint32_t object;      /* its number */
	const uint64_t *addr; /* probed, ascending */
	size_t nr;
};

static bool holds_place(const struct around *a, const struct up_symbol *s)
{
	size_t low = 0, high = a->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (a->addr[middle] < s->addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->nr && a->addr[low] - s->addr < (s->size ? s->size : 1);
}

static bool put_symbol(void *arg, const struct up_symbol *s)
{
	struct around *a = arg;

	if (s->kind == UP_SYM_DATA || !holds_place(a, s))
		return true;
	up_buf_puts(a->b, "symbol");
	put_number(a->b, a->object);
	put_text(a->b, s->name);
	put_text(a->b, s->version);
	put_number(a->b, s->addr);
	put_number(a->b, s->size);
	put_number(a->b, s->kind);
	put_number(a->b, s->is_local);
	put_end_of_line(a->b);
	return true;
}

static int compare_addresses(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

static void put_place(struct around *a, const struct up_resolver *r, uint64_t addr, uint64_t off)
{
	up_buf_puts(a->b, "place");
	put_number(a->b, a->object);
	put_number(a->b, addr);
	put_number(a->b, off);
	put_number(a->b, a->o->is_go ? r->calling(r->ctx, a->o, addr) : UP_CALLING_C);
	put_end_of_line(a->b);
}

static bool has_return(const struct up_plan *p, uint32_t probe)
{
	for (uint32_t i = 0; i < p->nr_progs; i++)
		if (p->progs[i].probe == probe && p->progs[i].is_return)
			return true;
	return false;
}

/* The place that a site means, and the one where its probe stands. */
static void put_site_places(struct around *a, const struct up_resolver *r,
			    const struct up_plan_site *s)
{
	const struct up_plan *p = a->plan;
	uint64_t meant = s->addr - (uint64_t)s->moved, off;

	if (r->to_offset(r->ctx, a->o, meant, &off) == UP_PLACE_CODE)
		put_place(a, r, meant, off);
	if (s->moved)
		put_place(a, r, s->addr, s->offset);
	if (p->events[s->event].is_exit)
		up_buf_printf(a->b, "exit %u %" PRIu64 " %" PRIu64 " %d\n", a->object, meant,
			      s->addr, p->progs[s->prog].is_jump);
	else if (has_return(p, p->progs[s->prog].probe) && !s->is_kernel_return &&
		 !p->events[s->event].is_return)
		up_buf_printf(a->b, "exits %u %" PRIu64 "\n", a->object, meant);
	if (s->moved && !p->events[s->event].is_exit)
		up_buf_printf(a->b, "entry %u %" PRIu64 " %" PRIu64 "\n", a->object, meant,
			      s->addr);
}

/* The places of an object, and the symbols that hold them. */
static void put_around(struct up_buf *b, const struct up_plan *plan, const struct up_resolver *r,
		       const struct up_object *o, uint32_t object)
{
	static const struct up_query all = { UP_QUERY_GLOB, "*", NULL };
	uint64_t *addr = calloc(plan->nr_sites + 1, sizeof(*addr));
	struct around a = { b, plan, o, object, addr, 0 };
	struct up_why why = { 0 };

	if (!addr) {
		b->failed = true;
		return;
	}
	for (uint32_t i = 0; i < plan->nr_sites; i++) {
		const struct up_plan_site *s = &plan->sites[i];

		if (strcmp(s->path, o->path) != 0)
			continue;
		addr[a.nr++] = s->addr - (uint64_t)s->moved;
		put_site_places(&a, r, s);
	}
	qsort(addr, a.nr, sizeof(*addr), compare_addresses);
	r->find(r->ctx, o, &all, put_symbol, &a, &why);
	up_why_fini(&why);
	free(addr);
}

/* Was this object's path met at an earlier site? */
static bool is_known(const struct up_plan *plan, uint32_t site)
{
	for (uint32_t i = 0; i < site; i++)
		if (!strcmp(plan->sites[i].path, plan->sites[site].path))
			return true;
	return false;
}

void up_recording_put_places(struct up_buf *b, const struct up_plan *plan,
			     const struct up_resolver *r)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < plan->nr_sites; i++) {
		const struct up_plan_site *s = &plan->sites[i];
		struct up_why why = { 0 };

		if (i && !strcmp(plan->sites[i - 1].path, s->path))
			continue;
		if (is_known(plan, i))
			continue;
		const struct up_object *o = r->open(r->ctx, s->path, &why);
		up_buf_puts(b, "object");
		put_text(b, s->object);
		put_text(b, s->path);
		put_number(b, s->machine);
		put_number(b, o && o->is_pie);
		put_number(b, o && o->is_go);
		put_number(b, o ? o->goid_off : 0);
		put_end_of_line(b);
		if (o)
			put_around(b, plan, r, o, nr);
		nr++;
		up_why_fini(&why);
	}
}

void up_recording_put_plan(struct up_buf *b, const struct up_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_events; i++) {
		const struct up_plan_event *e = &plan->events[i];

		up_buf_printf(b, "event %d %d\n", e->is_return, e->is_exit);
		for (uint32_t k = 0; k < e->nr_args; k++) {
			up_buf_puts(b, "fetch");
			put_number(b, i);
			put_text(b, e->args[k].name);
			put_text(b, e->args[k].fetch);
			put_text(b, e->args[k].type);
			put_end_of_line(b);
		}
	}
	for (uint32_t i = 0; i < plan->nr_sites; i++) {
		const struct up_plan_site *s = &plan->sites[i];

		up_buf_puts(b, "site");
		put_number(b, s->event);
		put_text(b, s->path);
		put_number(b, s->addr);
		put_text(b, s->func);
		put_number(b, s->func_off);
		put_text(b, plan->progs[s->prog].filter);
		put_end_of_line(b);
	}
}

/* ---- the run ---- */

void up_recording_put_kernel(struct up_buf *b, const char *name, uint32_t event, uint32_t site)
{
	up_buf_puts(b, "kernel");
	put_text(b, name);
	put_number(b, event);
	if (site == UP_NONE)
		up_buf_puts(b, " -");
	else
		put_number(b, site);
	put_end_of_line(b);
}

void up_recording_put_thread(struct up_buf *b, pid_t tid, pid_t pid)
{
	up_buf_printf(b, "thread %d %d\n", (int)tid, (int)pid);
}

void up_recording_put_tracer(struct up_buf *b, pid_t tid)
{
	up_buf_printf(b, "tracer %d\n", (int)tid);
}

void up_recording_put_unsafe(struct up_buf *b)
{
	up_buf_puts(b, "unsafe\n");
}

void up_recording_put_process(struct up_buf *b, pid_t pid)
{
	up_buf_printf(b, "process %d\n", (int)pid);
}

void up_recording_put_clock(struct up_buf *b, int64_t wall_offset, uint64_t begun_at)
{
	up_buf_puts(b, "clock");
	put_number(b, wall_offset > 0 ? (uint64_t)wall_offset : 0);
	put_number(b, begun_at);
	put_end_of_line(b);
}

void up_recording_put_end(struct up_buf *b, uint64_t ended_at, uint64_t lost)
{
	up_buf_puts(b, "end");
	put_number(b, ended_at);
	put_number(b, lost);
	put_end_of_line(b);
}
