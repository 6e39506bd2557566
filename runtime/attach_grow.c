/* Sites that come to an attachment while it runs, and whether files are what they were. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/attach_event.h"
#include "runtime/fileid.h"

#define NAME_SIZE 96 /* bytes of an event's name */

/* ---- files ---- */

static int say_changed(const char *path, enum up_file_change change, struct up_status *st)
{
	up_status_set(st, -ESTALE, NULL, "%s %s after it had been read", path,
		      change == UP_FILE_WRITTEN    ? "was written to"
		      : change == UP_FILE_REPLACED ? "was replaced"
						   : "was removed");
	up_status_reason(st, "the places that were found are those of the file as it was");
	up_status_hint(st, "start uptick again");
	return -ESTALE;
}

/*
 * The kernel looks a path up when the site is defined, and keeps the file. Where the path leads to
 * the file that was read, before and after, that is the file.
 */
int up_attach_check_files(const struct up_plan *plan, uint32_t first, struct up_status *st)
{
	const char *last = "";

	for (uint32_t i = first; i < plan->nr_sites; i++) {
		const struct up_plan_site *s = &plan->sites[i];
		struct up_file_id now;

		if (!strcmp(s->path, last)) /* sites of one file stand together */
			continue;
		last = s->path;
		enum up_file_change change = up_file_id_check(s->path, &s->id, &now);
		if (change != UP_FILE_SAME)
			return say_changed(s->path, change, st);
	}
	return 0;
}

/* ---- more sites ---- */

/* Was everything defined last first, so that handlers run in the order of the script? */
static bool is_reversed(const struct up_plan *p)
{
	const struct up_plan_event *last = &p->events[p->nr_events - 1];

	return p->events[0].sites[0] > last->sites[last->nr_sites - 1];
}

/* The new sites of a plan event, in the order of definition. Returns how many. */
static uint32_t list_sites(const struct up_plan *p, uint32_t event, uint32_t first, uint32_t *out)
{
	bool reversed = is_reversed(p);
	uint32_t nr = 0;

	for (uint32_t i = first; i < p->nr_sites; i++) {
		uint32_t site = reversed ? p->nr_sites - 1 - (i - first) : i;

		if (p->sites[site].event == event)
			out[nr++] = site;
	}
	return nr;
}

/* One kernel event of many sites; or without a name an event for each, called after its site. */
static int add_event(struct up_attach *a, const char *name, uint32_t event, const uint32_t *sites,
		     uint32_t nr, struct up_status *st)
{
	struct up_record_event model = { .kind = UP_EVENT_PROBE, .event = event, .site = UP_NONE };
	int err = up_attach_define_as(a, name, sites, nr, st);

	if (!name) {
		for (uint32_t i = 0; i < nr && !err; i++) {
			model.site = sites[i];
			err = up_attach_layout_add(a, model, st);
		}
		return err;
	}
	if (err)
		return err;
	model.name = strdup(name);
	if (!model.name)
		return up_status_set(st, -ENOMEM, NULL, "cannot define more probes");
	return up_attach_layout_add(a, model, st);
}

/* Another name than the plan's, since an event that is armed takes no more sites. */
static void name_grown(const struct up_attach *a, uint32_t event, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%s_g%u", a->plan->events[event].name, a->nr_grown);
}

static int add_sites(struct up_attach *a, uint32_t event, uint32_t first, uint32_t *sites,
		     struct up_status *st)
{
	uint32_t nr = list_sites(a->plan, event, first, sites);
	char name[NAME_SIZE];

	name_grown(a, event, name);
	return nr ? add_event(a, a->one_event_per_site ? NULL : name, event, sites, nr, st) : 0;
}

/* Removes "SESSION/NAME" if it is there. False when there is no use in going on. */
static bool remove_event(struct up_attach *a, const char *name)
{
	struct up_buf path = { 0 };
	int err = -ENOMEM;

	up_buf_printf(&path, "%s/%s", a->session, name);
	if (!path.failed)
		err = up_keeper_remove(a->keeper, path.s, NULL);
	up_buf_fini(&path);
	return !up_keeper_is_over(err);
}

/*
 * Takes back what was defined for sites from number `first` on, of which nothing was enabled. Only
 * events of one site: to remove others safely they are enabled once, and the removal of an event
 * that was enabled empties the ring buffer. They stay, disabled, until everything is undone.
 */
static void shrink(struct up_attach *a, uint32_t first, uint32_t *sites)
{
	bool go_on = true;

	for (uint32_t i = 0; i < a->plan->nr_events && go_on; i++) {
		uint32_t nr = list_sites(a->plan, i, first, sites);
		char name[NAME_SIZE];

		name_grown(a, i, name);
		if (nr == 1 && !a->one_event_per_site)
			go_on = remove_event(a, name);
		for (uint32_t k = 0; k < nr && a->one_event_per_site && go_on; k++) {
			struct up_buf b = { 0 };

			up_plan_event_name(a->plan, sites[k], true, &b);
			go_on = !b.failed && remove_event(a, b.s);
			up_buf_fini(&b);
		}
	}
}

int up_attach_grow(struct up_attach *a, uint32_t first, bool *has_begun, struct up_status *st)
{
	uint32_t *sites = calloc(a->plan->nr_sites - first + 1, sizeof(*sites));
	uint32_t nr_before = a->records.nr;
	int err = 0;

	*has_begun = false;
	if (!sites)
		return up_status_set(st, -ENOMEM, NULL, "cannot define more probes");
	a->nr_grown++;
	err = up_attach_check_files(a->plan, first, st);
	for (uint32_t i = 0; i < a->plan->nr_events && !err; i++)
		err = add_sites(a, i, first, sites, st);
	if (!err)
		err = up_attach_check_files(a->plan, first, st);
	if (err) {
		up_records_drop(&a->records, nr_before);
		shrink(a, first, sites);
	}
	free(sites);
	*has_begun = !err;
	return err ? err : up_attach_enable(a, nr_before, first, st);
}
