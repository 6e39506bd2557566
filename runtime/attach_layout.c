/* The layout of an attachment's records, learned from the kernel. */
#include <errno.h>
#include <stdlib.h>

#include "runtime/attach_event.h"

void up_attach_event_path(const struct up_attach *a, const struct up_record_event *e,
			  struct up_buf *out)
{
	if (e->kind == UP_EVENT_NEWTASK) {
		up_buf_puts(out, "task/task_newtask");
	} else if (e->kind == UP_EVENT_EXIT) {
		up_buf_puts(out, "sched/sched_process_exit");
	} else {
		const struct up_plan_event *pe = &a->plan->events[e->event];

		up_buf_printf(out, "%s/", a->session);
		if (e->name || e->site == UP_NONE)
			up_buf_puts(out, e->name ? e->name : pe->name);
		else
			up_plan_event_name(a->plan, e->site, true, out);
	}
}

static int set_no_memory(struct up_status *st)
{
	return up_status_set(st, -ENOMEM, NULL, "cannot learn the layout of events");
}

int up_attach_read_event(struct up_attach *a, const struct up_record_event *e, const char *file,
			 struct up_buf *out, struct up_status *st)
{
	struct up_buf path = { 0 };

	up_buf_puts(&path, "events/");
	up_attach_event_path(a, e, &path);
	up_buf_printf(&path, "/%s", file);
	int err = path.failed ? -ENOMEM : up_keeper_read(a->keeper, path.s, out, st);
	if (!err && (out->failed || !out->s))
		err = set_no_memory(st);
	up_buf_fini(&path);
	return err;
}

static int read_layout(struct up_attach *a, struct up_record_event *e, struct up_status *st)
{
	struct up_buf text = { 0 };
	int err = up_attach_read_event(a, e, "format", &text, st);

	if (!err)
		err = up_records_describe(e, a->plan, text.s, text.len, st);
	up_buf_fini(&text);
	return err;
}

/* Further events of the same arguments differ from the first in their number alone. */
static int copy_layout(struct up_attach *a, const struct up_record_event *first,
		       struct up_record_event *e, struct up_status *st)
{
	struct up_buf text = { 0 };
	int err = up_attach_read_event(a, e, "id", &text, st);

	e->fixed_size = first->fixed_size;
	e->tid = first->tid;
	e->site_field = first->site_field;
	e->ip = first->ip;
	e->ret_ip = first->ret_ip;
	e->args = first->args;
	e->shares_args = true;
	e->id = err ? 0 : (uint16_t)strtoul(text.s, NULL, 10);
	up_buf_fini(&text);
	return err;
}

/* `first`: which entry has the same layout, or UP_NONE. */
static int layout_event(struct up_attach *a, uint32_t first, struct up_record_event e,
			struct up_status *st)
{
	struct up_records *r = &a->records;
	int err = first == UP_NONE ? read_layout(a, &e, st)
				   : copy_layout(a, &r->events[first], &e, st);

	if (err) {
		free(e.shares_args ? NULL : e.args);
		free(e.name);
		return err;
	}
	err = up_records_add(r, &e);
	if (err == -ENOMEM)
		return set_no_memory(st);
	return err ? up_status_set(st, err, NULL, "the kernel numbers its events in a strange way")
		   : 0;
}

static int layout_plan_event(struct up_attach *a, uint32_t index, struct up_status *st)
{
	const struct up_plan_event *pe = &a->plan->events[index];
	struct up_record_event model = { .kind = UP_EVENT_PROBE, .event = index, .site = UP_NONE };
	uint32_t first = a->records.nr;
	int err = 0;

	if (!a->one_event_per_site)
		return layout_event(a, UP_NONE, model, st);
	for (uint32_t i = 0; i < pe->nr_sites && !err; i++) {
		model.site = pe->sites[i];
		err = layout_event(a, i ? first : UP_NONE, model, st);
	}
	return err;
}

int up_attach_layout_from(struct up_attach *a, uint32_t event, struct up_status *st)
{
	int err = 0;

	for (uint32_t i = event; i < a->plan->nr_events && !err; i++)
		err = layout_plan_event(a, i, st);
	return err;
}

int up_attach_layout(struct up_attach *a, struct up_status *st)
{
	size_t nr = a->one_event_per_site ? a->plan->nr_sites : a->plan->nr_events;

	if (up_records_init(&a->records, nr + (a->lifecycle ? 2 : 0)))
		return set_no_memory(st);
	int err = up_attach_layout_from(a, 0, st);
	for (int kind = UP_EVENT_NEWTASK; kind <= UP_EVENT_EXIT && a->lifecycle && !err; kind++)
		err = layout_event(a, UP_NONE,
				   (struct up_record_event){ .kind = (enum up_record_kind)kind,
							     .event = UP_NONE,
							     .site = UP_NONE },
				   st);
	return err;
}

int up_attach_layout_add(struct up_attach *a, struct up_record_event model, struct up_status *st)
{
	uint32_t first = 0;

	while (a->records.events[first].kind != UP_EVENT_PROBE ||
	       a->records.events[first].event != model.event)
		first++;
	return layout_event(a, first, model, st);
}
