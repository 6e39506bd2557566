/* Event filters of an attachment, and how many hits they have rejected. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/attach_event.h"

#define MAX_COUNTED 256 /* events whose hits are summed up; each is looked for in a long list */

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

/* --- counting -------------------------------------------------------------------------------- */

/* Adds up the lines "  PATH EVENT HITS" of one event; returns how many there are. */
static unsigned sum_lines(const char *profile, const char *event, uint64_t *hits)
{
	size_t len = strlen(event);
	unsigned nr = 0;

	for (const char *line = profile, *end; line && *line; line = end ? end + 1 : NULL) {
		const char *name = line + strspn(line, " ");

		end = strchr(line, '\n');
		name += strcspn(name, " ");
		name += strspn(name, " ");
		if (strncmp(name, event, len) || name[len] != ' ')
			continue;
		*hits += strtoull(name + len, NULL, 10);
		nr++;
	}
	return nr;
}

/*
 * The hits of one event. The kernel shows neither group nor place, so another program's event of
 * the same name cannot be told from ours.
 */
static bool sum_event(const struct up_attach *a, const struct up_record_event *e,
		      const char *profile, uint64_t *hits)
{
	const struct up_plan_event *pe = &a->plan->events[e->event];
	struct up_buf name = { 0 };
	bool ok = false;

	/* Sites that came later, or went: how many is not known here. */
	if (e->name || !pe->nr_sites)
		return false;
	uint32_t site = e->site == UP_NONE ? pe->sites[0] : e->site;
	up_plan_event_name(a->plan, site, a->one_event_per_site, &name);
	if (!name.failed)
		ok = sum_lines(profile, name.s, hits) == (e->site == UP_NONE ? pe->nr_sites : 1);
	up_buf_fini(&name);
	return ok;
}

static bool sum_hits(struct up_attach *a, uint64_t *hits)
{
	struct up_buf profile = { 0 };
	bool ok = a->records.nr <= MAX_COUNTED &&
		  !up_keeper_read(a->keeper, "uprobe_profile", &profile, NULL) && profile.s;

	*hits = 0;
	for (uint32_t i = 0; i < a->records.nr && ok; i++)
		if (a->records.events[i].is_filtered)
			ok = sum_event(a, &a->records.events[i], profile.s, hits);
	up_buf_fini(&profile);
	return ok;
}

void up_attach_hits_begin(struct up_attach *a)
{
	a->hits_known = a->nr_filters && sum_hits(a, &a->hits_before);
}

bool up_attach_hits(struct up_attach *a, uint64_t *hits)
{
	if (!a->hits_known || !sum_hits(a, hits))
		return false;
	*hits = *hits > a->hits_before ? *hits - a->hits_before : 0;
	return true;
}
