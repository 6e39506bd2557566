/* Following files that are replaced. */
#include "runtime/cli/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/plan_grow.h"
#include "runtime/cli/run.h"
#include "runtime/clock.h"

#define MS 1000000ull        /* ns */
#define SETTLED (200 * MS)   /* a file that was written to so long ago is whole */
#define RETRY (200 * MS)     /* between two tries */
#define PATIENCE (3000 * MS) /* how long a new file may take to become what is asked for */

void up_follow_init(struct up_follow *f, const struct up_opts *o, const struct up_compile *c,
		    struct up_plan *plan)
{
	*f = (struct up_follow){ .o = o, .c = c, .plan = plan };
	up_filewatch_init(&f->watch, plan);
}

void up_follow_fini(struct up_follow *f)
{
	up_filewatch_fini(&f->watch);
	free(f->why);
	f->why = NULL;
}

int up_follow_fd(const struct up_follow *f)
{
	return f->watch.fd;
}

int up_follow_wait_ms(const struct up_follow *f)
{
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);

	if (f->try_at)
		return f->try_at <= now ? 0 : (int)((f->try_at - now) / MS) + 1;
	if (!up_filewatch_must_look(&f->watch))
		return -1;
	uint64_t look_at = f->looked_at + UP_FILEWATCH_LOOK_MS * MS;
	return look_at <= now ? 0 : (int)((look_at - now) / MS) + 1;
}

/* ---- telling ---- */

static void warn(const struct up_follow *f, const struct up_watched *file)
{
	const char *what = file->state == UP_FILE_GONE ? "removed" : "replaced";

	if (f->o->quiet || file->is_told)
		return;
	if (file->state == UP_FILE_WRITTEN)
		up_complain("%s was written to while it is probed: the probes may stand in wrong "
			    "places now, and harm programs; end this run and start it again",
			    file->path);
	else
		up_complain("%s was %s: processes that run the old file are traced on, those that "
			    "start with a new one are not; --follow-files probes the new file too",
			    file->path, what);
}

/* A file has changed. */
static void note(void *arg, const struct up_watched *file)
{
	struct up_follow *f = arg;
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);

	if (file->state == UP_FILE_SAME)
		return;
	if (!file->is_told)
		f->nr_changed++;
	if (!f->o->follow_files || file->state == UP_FILE_WRITTEN) {
		warn(f, file);
		return;
	}
	f->try_at = now;
	f->give_up_at = now + PATIENCE;
}

static void keep_reason(struct up_follow *f, const char *why)
{
	free(f->why);
	f->why = strdup(why);
}

static void say_followed(const struct up_follow *f, uint32_t first)
{
	for (uint32_t i = first, nr = 1; i < f->plan->nr_sites; i++, nr++) {
		const struct up_plan_site *s = &f->plan->sites[i];

		if (i + 1 < f->plan->nr_sites && !strcmp(s->path, s[1].path))
			continue;
		if (!f->o->quiet)
			up_complain("a probed file was replaced: %u %s armed in the new %s", nr,
				    nr == 1 ? "place" : "places", s->path);
		nr = 0;
	}
}

/* Ends the tries. The reason is of the last one, or one that no other try would change. */
static void give_up(struct up_follow *f)
{
	f->try_at = 0;
	for (size_t i = 0; i < f->watch.nr && !f->o->quiet; i++) {
		const struct up_watched *file = &f->watch.v[i];

		if (file->state == UP_FILE_REPLACED || file->state == UP_FILE_GONE)
			up_complain("%s was %s, and no probe can be put on a new file: %s",
				    file->path,
				    file->state == UP_FILE_GONE ? "removed" : "replaced",
				    f->why ? f->why : "out of memory");
	}
}

/* ---- following ---- */

static void keep_error(struct up_follow *f, const struct up_built *b)
{
	for (size_t i = 0; b->c && i < b->c->diags.list.nr; i++)
		if (b->c->diags.list.v[i].severity == UP_SEV_ERROR) {
			keep_reason(f, b->c->diags.list.v[i].msg);
			return;
		}
	keep_reason(f, "out of memory");
}

/* How many ns until the files of these sites have been left alone for long enough. */
static uint64_t unsettled(const struct up_plan *plan, uint32_t first)
{
	int64_t now = (int64_t)up_clock_ns(CLOCK_REALTIME), most = 0;

	for (uint32_t i = first; i < plan->nr_sites; i++) {
		int64_t age = now - plan->sites[i].id.written;

		/* What was written in the future comes from a clock that cannot be compared. */
		if (age >= 0 && age < (int64_t)SETTLED && (int64_t)SETTLED - age > most)
			most = (int64_t)SETTLED - age;
	}
	return (uint64_t)most;
}

/* Arms the plan's new sites. On failure it forgets them, unless some may be armed. */
static void arm(struct up_follow *f, struct up_session *s, uint32_t first)
{
	struct up_status st = { 0 };
	struct up_buf b = { 0 };
	bool has_begun;
	int err = up_session_grow(s, first, &has_begun, &st);

	if (err && !has_begun)
		f->plan->nr_sites = first;
	if (!err) {
		f->try_at = 0;
		say_followed(f, first);
		up_filewatch_add(&f->watch, f->plan, first);
		return;
	}
	up_status_render(&st, &b);
	keep_reason(f, b.s ? b.s : "out of memory");
	up_buf_fini(&b);
	if (err != -ESTALE)
		give_up(f);
}

static void take_plan(struct up_follow *f, struct up_session *s, const struct up_plan *plan)
{
	uint32_t first = f->plan->nr_sites;
	int nr = up_plan_grow(f->plan, plan);
	uint64_t wait = nr > 0 ? unsettled(f->plan, first) : 0;

	if (nr == -EINVAL) {
		keep_reason(f, "its handlers would be others; end this run and start it again");
		give_up(f);
	} else if (nr <= 0) {
		keep_reason(f, nr ? "out of memory" : "the program's targets do not lead to one");
	} else if (wait) {
		f->plan->nr_sites = first;
		keep_reason(f, "it is still being written to");
		f->try_at = up_clock_ns(CLOCK_MONOTONIC) + wait;
	} else {
		arm(f, s, first);
	}
}

static void try_to_follow(struct up_follow *f, struct up_session *s, uint64_t now)
{
	struct up_built b = up_build_again(f->o, f->c, f->plan);

	f->try_at = now + RETRY;
	if (b.plan)
		take_plan(f, s, b.plan);
	else
		keep_error(f, &b);
	up_built_fini(&b);
	if (f->try_at && now >= f->give_up_at)
		give_up(f);
}

/* Is there a file that lost its place, and nothing has been put on what came after it? */
static bool has_lost(const struct up_follow *f)
{
	for (size_t i = 0; i < f->watch.nr; i++)
		if (f->watch.v[i].state == UP_FILE_REPLACED || f->watch.v[i].state == UP_FILE_GONE)
			return true;
	return false;
}

/* Is it time to look at what tells nothing? */
static bool must_look(const struct up_follow *f, uint64_t now)
{
	return up_filewatch_must_look(&f->watch) && now >= f->looked_at + UP_FILEWATCH_LOOK_MS * MS;
}

void up_follow_serve(struct up_follow *f, struct up_session *s, bool is_told)
{
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);

	if (is_told || must_look(f, now)) {
		f->looked_at = now;
		up_filewatch_look(&f->watch, note, f);
	}
	/* A file that could not be followed may have become whole. */
	if (is_told && f->o->follow_files && !f->try_at && has_lost(f)) {
		f->try_at = now;
		f->give_up_at = now + PATIENCE;
	}
	if (f->try_at && f->try_at <= up_clock_ns(CLOCK_MONOTONIC)) {
		try_to_follow(f, s, now);
		if (!f->try_at) /* what happened meanwhile */
			up_filewatch_look(&f->watch, note, f);
	}
}
