/*
 * An attachment whose plan is followed by another one, while it runs. What was ever enabled is not
 * removed before the end: that would empty the ring buffer.
 */
#include <errno.h>

#include "lang/plan_succeed.h"
#include "runtime/attach_event.h"

static bool is_of(const struct up_record_event *e, uint32_t event)
{
	return e->kind == UP_EVENT_PROBE && e->event == event;
}

int up_attach_switch(struct up_attach *a, uint32_t event, bool on, struct up_status *st)
{
	int err = 0;

	for (uint32_t i = 0; i < a->records.nr && !err; i++) {
		struct up_record_event *e = &a->records.events[i];

		if (!is_of(e, event) || e->is_off != on)
			continue;
		err = on ? up_attach_enable_again(a, e, st) : up_attach_disable(a, e, st);
	}
	return err;
}

/* Events that were off already are not armed again when a succession fails. */
int up_attach_retire(struct up_attach *a, const struct up_succession *s, struct up_status *st)
{
	int err = 0;

	for (uint32_t i = 0; i < a->records.nr && !err; i++) {
		struct up_record_event *e = &a->records.events[i];

		if (e->kind != UP_EVENT_PROBE || !s->is_gone[e->event] || e->is_off)
			continue;
		err = up_attach_disable(a, e, st);
		e->is_retired = !err;
	}
	return err;
}

static void restore(struct up_attach *a)
{
	for (uint32_t i = 0; i < a->records.nr; i++) {
		struct up_record_event *e = &a->records.events[i];

		if (e->is_retired)
			up_attach_enable_again(a, e, NULL);
		e->is_retired = false;
	}
}

/* Takes back those from number `first` on, as far as that is possible while recording goes on. */
static void take_back(struct up_attach *a, uint32_t first)
{
	for (uint32_t i = first; i < a->records.nr; i++)
		up_attach_disable(a, &a->records.events[i], NULL);
	up_records_drop(&a->records, first);
}

static int add_events(struct up_attach *a, const struct up_succession *s, struct up_status *st)
{
	uint32_t first = a->records.nr;
	int err = up_attach_check_files(a->plan, s->first_site, st);

	if (!err)
		err = up_attach_define_from(a, s->first_event, st);
	if (!err)
		err = up_attach_check_files(a->plan, s->first_site, st);
	if (!err)
		err = up_attach_layout_from(a, s->first_event, st);
	for (uint32_t i = first; i < a->records.nr && s->is_off && !err; i++) {
		struct up_record_event *e = &a->records.events[i];

		e->is_off = e->is_untried = s->is_off[e->event];
	}
	if (!err)
		err = up_attach_enable(a, first, s->first_site, st);
	if (err)
		take_back(a, first);
	return err;
}

int up_attach_extend(struct up_attach *a, const struct up_plan *plan, const struct up_succession *s,
		     struct up_status *st)
{
	const struct up_plan *old = a->plan;
	int err = 0;

	a->plan = plan;
	if (s->first_event < plan->nr_events)
		err = add_events(a, s, st);
	if (err == -ENOTSUP) {
		up_status_clear(st);
		up_status_set(st, err, NULL, "this kernel has one place in an event");
		up_status_hint(st, "start uptick with --single-sites");
	}
	if (!err)
		return 0;
	a->plan = old;
	restore(a);
	return err;
}

void up_attach_forget(struct up_attach *a, const struct up_succession *s)
{
	for (uint32_t i = 0; i < a->records.nr; i++) {
		struct up_record_event *e = &a->records.events[i];

		if (e->kind != UP_EVENT_PROBE || e->event >= s->first_event ||
		    !s->is_gone[e->event])
			continue;
		up_records_ignore(&a->records, i);
		e->is_retired = false;
	}
}
