/* Layouts of records for sources that make records themselves: as the kernel would have it. */
#include <errno.h>
#include <stdlib.h>

#include "runtime/records.h"

#define HEAD_BYTES 8 /* type, two bytes of no use, thread */

static struct up_field place_field(struct up_record_event *e, uint16_t size)
{
	struct up_field f = { .off = e->fixed_size, .size = size };

	e->fixed_size = (uint16_t)(e->fixed_size + size);
	return f;
}

static void place_head(struct up_record_event *e)
{
	e->fixed_size = HEAD_BYTES;
	e->tid = (struct up_field){ .off = 4, .size = 4, .is_signed = true };
}

static int add_probe(struct up_records *r, const struct up_plan *plan, uint32_t event)
{
	const struct up_plan_event *pe = &plan->events[event];
	struct up_record_event e = {
		.id = (uint16_t)(r->nr + 1), .kind = UP_EVENT_PROBE, .event = event, .site = UP_NONE
	};

	place_head(&e);
	e.ip = place_field(&e, 8);
	if (pe->is_return)
		e.ret_ip = place_field(&e, 8);
	e.site_field = place_field(&e, 4);
	e.args = calloc(pe->nr_args + 1, sizeof(*e.args));
	if (!e.args)
		return -ENOMEM;
	for (uint32_t i = 0; i < pe->nr_args; i++) {
		const struct up_plan_arg *a = &pe->args[i];

		e.args[i] = place_field(&e, a->size ? a->size : 4);
		e.args[i].is_signed = a->is_signed;
		e.args[i].is_dynamic = !a->size;
	}
	return up_records_add(r, &e);
}

static int add_task(struct up_records *r, enum up_record_kind kind)
{
	struct up_record_event e = {
		.id = (uint16_t)(r->nr + 1), .kind = kind, .event = UP_NONE, .site = UP_NONE
	};

	place_head(&e);
	e.task = place_field(&e, 4);
	if (kind == UP_EVENT_NEWTASK)
		e.flags = place_field(&e, 8);
	return up_records_add(r, &e);
}

int up_records_make(struct up_records *r, const struct up_plan *plan)
{
	int err = up_records_init(r, (size_t)plan->nr_events + 2);

	for (uint32_t i = 0; i < plan->nr_events && !err; i++)
		err = add_probe(r, plan, i);
	if (!err)
		err = add_task(r, UP_EVENT_NEWTASK);
	return err ? err : add_task(r, UP_EVENT_EXIT);
}
