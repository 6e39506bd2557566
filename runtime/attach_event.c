/* Definitions of an attachment: lines, the kernel's errors. */
#include "runtime/attach_event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4094 /* kernel/trace/trace.c: WRITE_BUFSIZE, less newline and NUL */

/* --- lines ----------------------------------------------------------------------------------- */

/* Lines on their way to the kernel. */
struct definer {
	struct up_attach *a;
	const char *event_name; /* instead of the plan's, or NULL */
	struct up_buf batch;    /* lines not yet written */
	uint32_t first;         /* the first event that is defined */
	uint32_t nr_before;     /* lines of our group that were there before */
	int fd;                 /* holds the file of a path that a line cannot carry, or -1 */
	const char *fd_path;    /* that path */
};

/* The kernel splits a line at white space and takes what follows a # for a comment. */
static bool fits_line(const char *path)
{
	for (const char *s = path; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == '#')
			return false;
	return true;
}

static int open_path(struct definer *d, const char *path)
{
	if (d->fd >= 0 && !strcmp(d->fd_path, path))
		return 0;
	if (d->fd >= 0)
		close(d->fd);
	d->fd_path = path;
	d->fd = open(path, O_PATH | O_CLOEXEC);
	return d->fd < 0 ? -errno : 0;
}

/*
 * Replaces the line's path, between `from` and its length, by a name that leads to the same file:
 * the kernel looks at it once and keeps the file, not the name.
 */
static int replace_path(struct definer *d, const char *path, struct up_buf *line)
{
	struct up_buf b = { 0 };
	const char *at = strchr(line->s, ' ');
	int err = open_path(d, path);

	if (!err) {
		up_buf_add(&b, line->s, (size_t)(at - line->s));
		up_buf_printf(&b, " /proc/%d/fd/%d%s", (int)getpid(), d->fd, at + 1 + strlen(path));
	}
	up_buf_fini(line);
	*line = b;
	return err ? err : b.failed ? -ENOMEM : 0;
}

static void replace_name(const char *group, const char *name, struct up_buf *line)
{
	struct up_buf b = { 0 };

	up_buf_printf(&b, "%c:%s/%s%s", line->s[0], group, name, strchr(line->s, ' '));
	up_buf_fini(line);
	*line = b;
}

/* Makes the line of a site as the kernel gets it, without newline. */
static int make_line(struct definer *d, uint32_t site, struct up_buf *line)
{
	struct up_attach *a = d->a;
	const char *path = a->plan->sites[site].path;

	up_buf_reset(line);
	up_plan_line(a->plan, a->session, site, a->one_event_per_site, line);
	if (!line->failed && d->event_name)
		replace_name(a->session, d->event_name, line);
	if (line->failed)
		return -ENOMEM;
	if (!fits_line(path))
		return replace_path(d, path, line);
	return 0;
}

static void definer_fini(struct definer *d)
{
	if (d->fd >= 0)
		close(d->fd);
	up_buf_fini(&d->batch);
}

static int flush(struct definer *d, struct up_status *st)
{
	int err = 0;

	if (d->batch.failed)
		return up_status_set(st, -ENOMEM, NULL, "cannot define the probes");
	if (d->batch.len)
		err = up_keeper_define(d->a->keeper, d->batch.s, d->batch.len, st);
	up_buf_reset(&d->batch);
	return err;
}

static int say_site(struct up_attach *a, uint32_t site, int err, const char *what,
		    struct up_status *st)
{
	const struct up_plan_site *s = &a->plan->sites[site];
	char off[32] = "";

	if (s->func_off)
		snprintf(off, sizeof(off), "+0x%llx", (unsigned long long)s->func_off);
	up_status_set(st, err, NULL, "%s %s%s of %s (offset 0x%llx)", what, s->func, off, s->path,
		      (unsigned long long)s->offset);
	up_status_span(st, s->span);
	return err;
}

static int add_line(struct definer *d, uint32_t site, struct up_buf *line, struct up_status *st)
{
	int err = 0;

	/* The lines of the batch still need the file that the next one may close. */
	if (d->fd >= 0 && strcmp(d->fd_path, d->a->plan->sites[site].path))
		err = flush(d, st);
	if (err)
		return err;
	err = make_line(d, site, line);
	if (!err && line->len > LINE_MAX_BYTES)
		err = -E2BIG;
	if (err) {
		say_site(d->a, site, err, "cannot define the probe on", st);
		if (err == -E2BIG)
			up_status_reason(st, "its definition is longer than the kernel's %d bytes",
					 LINE_MAX_BYTES);
		return err;
	}
	if (d->batch.len + line->len + 1 > UP_KEEPER_DEFINE_MAX)
		err = flush(d, st);
	up_buf_add(&d->batch, line->s, line->len);
	up_buf_putc(&d->batch, '\n');
	return err;
}

/* --- the kernel's errors --------------------------------------------------------------------- */

/* How many lines of our group does uprobe_events show? */
static int count_defined(struct up_attach *a, uint32_t *nr)
{
	struct up_buf b = { 0 };
	char name[UP_SESSION_NAME_MAX + 4];
	int err = up_keeper_read(a->keeper, "uprobe_events", &b, NULL);

	snprintf(name, sizeof(name), ":%s/", a->session);
	*nr = 0;
	for (const char *s = b.s; s && *s && !err;) {
		const char *colon = strchr(s, ':');
		const char *end = strchr(s, '\n');

		*nr += colon && !strncmp(colon, name, strlen(name));
		s = end ? end + 1 : NULL;
	}
	up_buf_fini(&b);
	return err;
}

/* The site whose line is the nr-th of those events, in the order of definition. */
static uint32_t nth_site(const struct up_plan *plan, uint32_t event, uint32_t nr)
{
	for (uint32_t i = event; i < plan->nr_events; i++) {
		if (nr < plan->events[i].nr_sites)
			return plan->events[i].sites[nr];
		nr -= plan->events[i].nr_sites;
	}
	return UP_NONE;
}

/* The argument of the event whose text stands at byte `at` of the line, or NULL. */
static const struct up_plan_arg *arg_at(const struct up_plan_event *e, const char *line, size_t at)
{
	size_t start = at;

	if (at >= strlen(line))
		return NULL;
	while (start > 0 && line[start - 1] != ' ')
		start--;
	size_t len = strcspn(line + start, "=");
	for (uint32_t i = 0; i < e->nr_args; i++)
		if (strlen(e->args[i].name) == len && !memcmp(e->args[i].name, line + start, len))
			return &e->args[i];
	return NULL;
}

/* What the kernel said of the line, and the piece of the script that brought that about. */
static void explain_line(struct up_attach *a, uint32_t site, const char *line, int err,
			 struct up_status *st)
{
	const struct up_plan_event *e = &a->plan->events[a->plan->sites[site].event];
	const struct up_plan_arg *arg = NULL;
	struct up_tracefs_error said;
	struct up_buf log = { 0 };
	bool known = !up_keeper_read(a->keeper, "error_log", &log, NULL) && log.s &&
		     up_tracefs_error_of(log.s, line, &said);

	up_buf_fini(&log);
	if (known)
		arg = arg_at(e, line, said.caret);
	if (arg) {
		up_status_set(st, err, NULL, "the kernel refuses %s=%s:%s of the probe on %s",
			      arg->name, arg->fetch, arg->type, a->plan->sites[site].func);
		up_status_span(st, arg->span);
	} else {
		say_site(a, site, err, "the kernel refuses the probe on", st);
	}
	if (known)
		up_status_reason(st, "%s", said.message);
}

/* Errors that no single line has brought about. */
static bool is_general(int err)
{
	return up_keeper_is_over(err) || err == -EACCES || err == -EPERM || err == -EROFS ||
	       err == -ENOMEM;
}

/*
 * A definition failed: the lines before it are there, so their number tells which one it was.
 * Returns -ENOTSUP when the kernel did not want a second site in an event.
 */
static int explain_failure(struct definer *d, int err, struct up_status *st)
{
	struct up_attach *a = d->a;
	struct up_buf line = { 0 };
	uint32_t nr, site;

	if (is_general(err) || count_defined(a, &nr) || nr < d->nr_before)
		return err;
	site = nth_site(a->plan, d->first, nr - d->nr_before);
	if (site == UP_NONE)
		return err;
	const struct up_plan_event *e = &a->plan->events[a->plan->sites[site].event];
	if (err == -EEXIST && !a->one_event_per_site && site != e->sites[0])
		return -ENOTSUP;
	up_status_clear(st);
	if (make_line(d, site, &line))
		say_site(a, site, err, "the kernel refuses the probe on", st);
	else
		explain_line(a, site, line.s, err, st);
	up_buf_fini(&line);
	return err;
}

static int define_once(struct up_attach *a, uint32_t event, uint32_t nr_before,
		       struct up_status *st)
{
	const struct up_plan *plan = a->plan;
	struct definer d = { .a = a, .first = event, .nr_before = nr_before, .fd = -1 };
	struct up_status raw = { 0 };
	struct up_buf line = { 0 };
	int err = 0;

	for (uint32_t i = event; i < plan->nr_events && !err; i++)
		for (uint32_t k = 0; k < plan->events[i].nr_sites && !err; k++)
			err = add_line(&d, plan->events[i].sites[k], &line, &raw);
	if (!err)
		err = flush(&d, &raw);
	if (err && !raw.has_span)
		err = explain_failure(&d, err, &raw);
	if (err && st && !st->err)
		*st = raw;
	up_buf_fini(&line);
	definer_fini(&d);
	return err;
}

static int remove_all(struct up_attach *a, struct up_status *st)
{
	struct up_buf name = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < a->plan->nr_events && !err; i++) {
		up_buf_reset(&name);
		up_buf_printf(&name, "%s/%s", a->session, a->plan->events[i].name);
		err = name.failed ? -ENOMEM : up_keeper_remove(a->keeper, name.s, st);
		if (err == -ENOENT) {
			up_status_clear(st);
			err = 0;
		}
	}
	up_buf_fini(&name);
	return err;
}

int up_attach_define(struct up_attach *a, struct up_status *st)
{
	struct up_status raw = { 0 };
	int err = define_once(a, 0, 0, &raw);

	if (err == -ENOTSUP) {
		up_status_clear(&raw);
		err = remove_all(a, &raw);
		a->one_event_per_site = true;
		if (!err)
			err = define_once(a, 0, 0, &raw);
	}
	if (err && st && !st->err)
		*st = raw;
	return err;
}

int up_attach_define_from(struct up_attach *a, uint32_t event, struct up_status *st)
{
	uint32_t nr_before;
	int err = count_defined(a, &nr_before);

	if (err)
		return up_status_set(st, err, NULL, "cannot define the probes");
	return define_once(a, event, nr_before, st);
}

int up_attach_define_as(struct up_attach *a, const char *name, const uint32_t *sites, uint32_t nr,
			struct up_status *st)
{
	struct definer d = { .a = a, .event_name = name, .fd = -1 };
	struct up_buf line = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++)
		err = add_line(&d, sites[i], &line, st);
	if (!err)
		err = flush(&d, st);
	up_buf_fini(&line);
	definer_fini(&d);
	return err;
}

/* --- which site is to blame ------------------------------------------------------------------ */

/* Defines and enables an event of a plan event's sites [from, to). Returns what enabling said. */
static int try_sites(struct up_attach *a, const struct up_plan_event *pe, uint32_t from,
		     uint32_t to)
{
	static const char event[] = "uptick_try";
	struct up_buf name = { 0 };
	int err = up_attach_define_as(a, event, pe->sites + from, to - from, NULL);

	up_buf_printf(&name, "%s/%s", a->session, event);
	if (!err && !name.failed)
		err = up_keeper_enable(a->keeper, name.s, NULL);
	if (!name.failed)
		up_keeper_remove(a->keeper, name.s, NULL);
	up_buf_fini(&name);
	return err;
}

/* Halves the sites until one is left whose event cannot be enabled; UP_NONE when none is found. */
static uint32_t find_bad_site(struct up_attach *a, const struct up_plan_event *pe, int *err)
{
	uint32_t from = 0, to = pe->nr_sites;
	int said;

	while (to - from > 1) {
		uint32_t middle = from + (to - from) / 2;

		said = try_sites(a, pe, from, middle);
		if (said && is_general(said))
			return UP_NONE;
		if (said)
			to = middle;
		else
			from = middle;
	}
	said = try_sites(a, pe, from, to);
	if (!said)
		return UP_NONE;
	*err = said;
	return pe->sites[from];
}

int up_attach_blame(struct up_attach *a, const struct up_record_event *e, int err,
		    struct up_status *st)
{
	const struct up_plan_event *pe;
	uint32_t site = e->site;

	if (e->kind != UP_EVENT_PROBE || is_general(err) || err == -EBUSY)
		return err;
	pe = &a->plan->events[e->event];
	if (site == UP_NONE && pe->nr_sites == 1)
		site = pe->sites[0];
	/* While a run goes on nothing is tried and removed: that would empty the ring buffer. */
	if (site == UP_NONE && !a->is_armed)
		site = find_bad_site(a, pe, &err);
	if (site == UP_NONE)
		return err;
	up_status_clear(st);
	return say_site(a, site, err, "cannot arm the probe on", st);
}
