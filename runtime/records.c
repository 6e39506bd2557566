/* Layouts of records, learned from descriptions as the kernel writes them. */
#include "runtime/records.h"

#include <errno.h>
#include <stdlib.h>

#include "runtime/format.h"

int up_records_init(struct up_records *r, size_t cap)
{
	*r = (struct up_records){ 0 };
	if (cap >= UINT16_MAX)
		return -ENOMEM;
	r->cap = (uint32_t)(cap ? cap : 1);
	r->events = calloc(r->cap, sizeof(*r->events));
	r->by_id = calloc(UINT16_MAX + 1, sizeof(*r->by_id));
	return r->events && r->by_id ? 0 : -ENOMEM;
}

static void free_event(struct up_record_event *e)
{
	if (!e->shares_args)
		free(e->args);
	free(e->name);
}

void up_records_drop(struct up_records *r, uint32_t first)
{
	for (uint32_t i = first; i < r->nr; i++) {
		up_records_ignore(r, i);
		free_event(&r->events[i]);
	}
	r->nr = first < r->nr ? first : r->nr;
}

void up_records_ignore(struct up_records *r, uint32_t i)
{
	if (r->by_id[r->events[i].id] == i + 1)
		r->by_id[r->events[i].id] = 0;
}

void up_records_fini(struct up_records *r)
{
	if (r->events && r->by_id)
		up_records_drop(r, 0);
	free(r->events);
	free(r->by_id);
	*r = (struct up_records){ 0 };
}

static int make_room(struct up_records *r)
{
	struct up_record_event *more;

	if (r->nr < r->cap)
		return 0;
	if (r->nr >= UINT16_MAX - 1)
		return -ENOMEM;
	more = reallocarray(r->events, r->cap + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->events = more;
	r->cap++;
	return 0;
}

int up_records_add(struct up_records *r, const struct up_record_event *e)
{
	struct up_record_event own = *e;
	int err = !e->id || r->by_id[e->id] ? -EPROTO : make_room(r);

	if (err) {
		free_event(&own);
		return err;
	}
	r->events[r->nr++] = own;
	r->by_id[own.id] = (uint16_t)r->nr;
	return 0;
}

/* ---- descriptions ---- */

/* A description that is being read. */
struct description {
	const char *text;
	size_t len;
};

static struct up_field find_field(const struct description *d, const char *name)
{
	return up_format_field(d->text, d->len, name);
}

static void take_size(struct up_record_event *e, struct up_field f)
{
	if (f.off + f.size > e->fixed_size)
		e->fixed_size = (uint16_t)(f.off + f.size);
}

/* Does the kernel's field hold what the plan's argument wants? */
static bool fits_arg(struct up_field f, const struct up_plan_arg *arg)
{
	return f.size &&
	       (arg->size ? !f.is_dynamic && f.size == arg->size : f.is_dynamic && f.size == 4);
}

static int describe_args(struct up_record_event *e, const struct up_plan_event *pe,
			 const struct description *event, struct up_status *st)
{
	e->args = calloc(pe->nr_args ? pe->nr_args : 1, sizeof(*e->args));
	if (!e->args)
		return up_status_set(st, -ENOMEM, NULL, "cannot learn the layout of events");
	for (uint32_t i = 0; i < pe->nr_args; i++) {
		e->args[i] = find_field(event, pe->args[i].name);
		take_size(e, e->args[i]);
		if (!fits_arg(e->args[i], &pe->args[i])) {
			up_status_set(st, -EPROTO, NULL,
				      "the kernel records %s of %s in another way "
				      "than was asked for",
				      pe->args[i].name, pe->name);
			up_status_span(st, pe->args[i].span);
			return -EPROTO;
		}
	}
	return 0;
}

static int describe_probe(struct up_record_event *e, const struct up_plan_event *pe,
			  const struct description *event, struct up_status *st)
{
	e->site_field = find_field(event, "site");
	e->ip = find_field(event, pe->is_return ? "__probe_func" : "__probe_ip");
	e->ret_ip = find_field(event, "__probe_ret_ip");
	take_size(e, e->site_field);
	take_size(e, e->ip);
	take_size(e, e->ret_ip);
	if ((e->site == UP_NONE && e->site_field.size != 4) || !e->ip.size)
		return up_status_set(st, -EPROTO, NULL, "the kernel's event %s lacks a field",
				     pe->name);
	return describe_args(e, pe, event, st);
}

static int describe_task(struct up_record_event *e, const struct description *event,
			 struct up_status *st)
{
	e->task = find_field(event, "pid");
	e->comm = find_field(event, "comm");
	e->flags = find_field(event, "clone_flags");
	take_size(e, e->task);
	take_size(e, e->comm);
	take_size(e, e->flags);
	if (e->task.size != 4 || (e->kind == UP_EVENT_NEWTASK && !e->flags.size))
		return up_status_set(st, -EPROTO, NULL, "the kernel's event %s lacks a field",
				     e->kind == UP_EVENT_NEWTASK ? "task_newtask"
								 : "sched_process_exit");
	return 0;
}

int up_records_describe(struct up_record_event *e, const struct up_plan *plan, const char *format,
			size_t len, struct up_status *st)
{
	struct description d = { format, len };

	e->id = up_format_id(format, len);
	if (!e->id)
		return up_status_set(st, -EPROTO, NULL,
				     "cannot read the kernel's description of an event");
	e->tid = find_field(&d, "common_pid");
	take_size(e, e->tid);
	return e->kind == UP_EVENT_PROBE ? describe_probe(e, &plan->events[e->event], &d, st)
					 : describe_task(e, &d, st);
}
