/* Event filters of an attachment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/attach_event.h"

static int write_filter(struct up_attach *a, struct up_record_event *e, const char *filter,
			struct up_status *st)
{
	struct up_status refusal = { 0 };
	struct up_buf path = { 0 };
	int err = -ENOMEM;

	up_attach_event_path(a, e, &path);
	if (!path.failed)
		err = up_keeper_filter(a->keeper, path.s, filter, &refusal);
	up_buf_fini(&path);
	e->is_filtered = !err;
	a->nr_filters += !err;
	a->nr_refused += err != 0;
	if (!up_keeper_is_over(err))
		return 0;
	if (st && !st->err)
		*st = refusal;
	return err;
}

int up_attach_filter(struct up_attach *a, struct up_record_event *e, struct up_status *st)
{
	struct up_buf filter = { 0 };
	int err = 0;

	if (e->kind != UP_EVENT_PROBE)
		return 0;
	up_plan_filter(a->plan, e->site == UP_NONE ? a->plan->events[e->event].sites[0] : e->site,
		       a->one_event_per_site, &filter);
	if (filter.len && !filter.failed)
		err = write_filter(a, e, filter.s, st);
	up_buf_fini(&filter);
	return err;
}
