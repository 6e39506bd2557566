/*
 * How many hits the kernel has counted at the probes of an attachment. uprobe_profile has a
 * line for each site of everybody, "  PATH EVENT HITS", without group and place. Where there are as
 * many lines of our events' names as we have sites, they are ours. Otherwise uprobe_events, which
 * lists the same sites in the same order, tells whose each line is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "runtime/attach_event.h"
#include "runtime/table.h"

#define EXACT_RELEASE 6012 /* 6.12: since then the kernel has a counter for each CPU */
#define TRIES 5            /* lists that do not fit together because others change them meanwhile */

/* One line of uprobe_profile. */
struct line {
	const char *name; /* of the event; not NUL-terminated */
	size_t name_len;
	uint64_t hits;
};

/* Moves *end before the last word that ends there; the word begins where it is returned. */
static const char *last_word(const char *start, const char **end)
{
	const char *e = *end, *w;

	while (e > start && e[-1] == ' ')
		e--;
	for (w = e; w > start && w[-1] != ' ';)
		w--;
	*end = e;
	return w;
}

/* Takes the first line off a text; false at the end, or for a line that is none of a site. */
static bool take_line(const char **text, struct line *l)
{
	const char *end = *text ? strchr(*text, '\n') : NULL;

	if (!end)
		return false;
	const char *e = end, *w = last_word(*text, &e);
	l->hits = strtoull(w, NULL, 10);
	e = w;
	l->name = last_word(*text, &e);
	l->name_len = (size_t)(e - l->name);
	*text = end + 1;
	return l->name_len > 0;
}

/* ---- by name ---- */

/* The names of our events, with where their hits count; how many sites they have. */
struct names {
	struct up_table places; /* name -> uint64_t *, into `hits` */
	uint64_t *hits;         /* of each kind of record */
	uint32_t nr;            /* how many kinds */
	uint64_t nr_sites;
	bool has_changed; /* sites have come or gone, of which it is not known how many */
};

static bool add_name(const struct up_attach *a, uint32_t i, struct names *s)
{
	const struct up_record_event *e = &a->records.events[i];
	const struct up_plan_event *pe = &a->plan->events[e->event];
	struct up_buf name = { 0 };

	if (e->name || e->site == UP_NONE)
		up_buf_puts(&name, e->name ? e->name : pe->name);
	else
		up_plan_event_name(a->plan, e->site, true, &name);
	uint64_t **place = name.failed ? NULL : up_table_at(&s->places, name.s, name.len);
	if (place)
		*place = &s->hits[i];
	s->nr_sites += e->site == UP_NONE ? pe->nr_sites : 1;
	s->has_changed |= e->name || !pe->nr_sites;
	up_buf_fini(&name);
	return place;
}

static bool names_init(struct names *s, const struct up_attach *a)
{
	uint32_t nr = a->records.nr;

	*s = (struct names){ .hits = calloc(nr + 1, sizeof(*s->hits)), .nr = nr };
	up_table_init(&s->places, sizeof(uint64_t *), 0);
	bool ok = s->hits;
	for (uint32_t i = 0; i < nr && ok; i++)
		ok = a->records.events[i].kind != UP_EVENT_PROBE || add_name(a, i, s);
	return ok;
}

static void names_fini(struct names *s)
{
	up_table_fini(&s->places);
	free(s->hits);
}

/* Adds the hits of a line if its event is called like one of ours. */
static bool add_line(struct names *s, const struct line *l)
{
	uint64_t **place = up_table_find(&s->places, l->name, l->name_len);

	if (place)
		**place += l->hits;
	return place;
}

static bool sum_by_name(struct names *s, const char *profile)
{
	uint64_t found = 0;
	struct line l;

	while (take_line(&profile, &l))
		found += add_line(s, &l);
	return found == s->nr_sites && !s->has_changed;
}

/* ---- by line ---- */

/*
 * Takes a line "p:GROUP/EVENT PLACE ..." off a text. False when its event is not called as in `l`.
 * *is_ours: is it of the session's group?
 */
static bool take_definition(const char **text, const char *session, const struct line *l,
			    bool *is_ours)
{
	const char *end = *text ? strchr(*text, '\n') : NULL;
	const char *group = end ? memchr(*text, ':', (size_t)(end - *text)) : NULL;
	const char *slash = group ? memchr(group, '/', (size_t)(end - group)) : NULL;
	size_t len = strlen(session);

	if (!slash || strcspn(slash + 1, " \n") != l->name_len ||
	    memcmp(slash + 1, l->name, l->name_len))
		return false;
	group++;
	*is_ours = (size_t)(slash - group) == len && !memcmp(group, session, len);
	*text = end + 1;
	return true;
}

static bool sum_by_line(struct names *s, const char *session, const char *profile,
			const char *definitions)
{
	struct line l;
	bool is_ours;

	memset(s->hits, 0, s->nr * sizeof(*s->hits));
	while (take_line(&profile, &l)) {
		if (!take_definition(&definitions, session, &l, &is_ours))
			return false;
		if (is_ours)
			add_line(s, &l);
	}
	return !definitions || !*definitions;
}

static bool read_profile(struct up_attach *a, struct up_buf *profile)
{
	up_buf_reset(profile);
	return !up_keeper_read(a->keeper, "uprobe_profile", profile, NULL) && !profile->failed &&
	       profile->s;
}

static bool sum_with_definitions(struct up_attach *a, struct names *s, struct up_buf *profile)
{
	struct up_buf definitions = { 0 };
	bool ok = false;

	for (int i = 0; i < TRIES && !ok; i++) {
		up_buf_reset(&definitions);
		if (up_keeper_read(a->keeper, "uprobe_events", &definitions, NULL) ||
		    definitions.failed || !read_profile(a, profile))
			break;
		ok = sum_by_line(s, a->session, profile->s, definitions.s);
	}
	up_buf_fini(&definitions);
	return ok;
}

/* Counts the hits of each kind of record; names_fini() is needed in any case. */
static bool count_kinds(struct up_attach *a, struct names *s)
{
	struct up_buf profile = { 0 };
	bool ok = names_init(s, a) && read_profile(a, &profile) &&
		  (sum_by_name(s, profile.s) || sum_with_definitions(a, s, &profile));

	up_buf_fini(&profile);
	return ok;
}

bool up_attach_count_events(struct up_attach *a, uint64_t *hits)
{
	struct names names;
	bool ok = count_kinds(a, &names);

	memset(hits, 0, a->plan->nr_events * sizeof(*hits));
	for (uint32_t i = 0; i < names.nr && ok; i++)
		if (a->records.events[i].kind == UP_EVENT_PROBE)
			hits[a->records.events[i].event] += names.hits[i];
	names_fini(&names);
	return ok;
}

/* ---- before and after recording ---- */

/* Where hits of an event count, or NULL. The kernel counts calls where an event is of returns. */
static uint64_t *place_of(const struct up_attach *a, const struct up_record_event *e,
			  struct up_hit_count *n)
{
	if (e->kind != UP_EVENT_PROBE)
		return NULL;
	if (!a->plan->events[e->event].is_return)
		return &n->entries;
	return e->is_filtered ? &n->calls : NULL;
}

bool up_attach_count(struct up_attach *a, struct up_hit_count *n)
{
	struct names names;
	bool ok = count_kinds(a, &names);

	*n = (struct up_hit_count){ 0 };
	for (uint32_t i = 0; i < names.nr && ok; i++) {
		uint64_t *place = place_of(a, &a->records.events[i], n);

		if (place)
			*place += names.hits[i];
	}
	names_fini(&names);
	return ok;
}

static void count_now(struct up_attach *a, struct up_hit_count *n)
{
	a->hits.is_known = a->hits.is_known && up_attach_count(a, n);
}

static bool is_racy(const struct up_attach *a)
{
	unsigned major = 0, minor = 0;
	struct utsname u = { 0 };

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	return a->nr_cpus > 1 && major * 1000 + minor < EXACT_RELEASE;
}

void up_attach_hits_begin(struct up_attach *a, unsigned i)
{
	if (i == 0) {
		a->hits.is_known = true;
		a->hits.is_racy = is_racy(a);
	}
	count_now(a, &a->hits.before[i]);
}

void up_attach_hits_end(struct up_attach *a, unsigned i)
{
	count_now(a, &a->hits.after[i]);
}

bool up_attach_hits(const struct up_attach *a, struct up_hit_count *n, uint64_t *slack)
{
	const struct up_hit_count *b = a->hits.before, *e = a->hits.after;

	if (!a->hits.is_known || e[1].entries < e[0].entries || b[1].entries < b[0].entries ||
	    e[1].entries < b[0].entries || e[1].calls < b[0].calls)
		return false;
	n->entries = e[1].entries - b[0].entries;
	n->calls = e[1].calls - b[0].calls;
	*slack = e[1].entries - e[0].entries + b[1].entries - b[0].entries;
	return true;
}
