/* Undoing what a session did. */
#include "runtime/guard.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 8 /* attempts to bring an event to rest */

static void left_behind(struct up_guard *g, int index, const char *why)
{
	struct up_change *c = &g->journal->v[index];

	c->state = UP_CHANGE_LEFT;
	c->was_armed = false; /* by the next try anybody may have it */
	if (c->kind == UP_CHANGE_INSTANCE)
		up_buf_printf(&g->left, "the instance %s/instances/%s is left: %s\n", g->fs->root,
			      c->name, why);
	else
		up_buf_printf(&g->left, "the event %s is left: %s\n", c->name, why);
}

static void sleep_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* Name of our instance, or NULL. */
static const char *own_instance(const struct up_guard *g)
{
	int i = up_journal_prev(g->journal, UP_CHANGE_INSTANCE, (int)g->journal->nr);

	return i < 0 ? NULL : g->journal->v[i].name;
}

/* --- places where an event can be enabled ---------------------------------------------------- */

/* A file of an event: at the top when the instance is NULL. */
struct event_path {
	char s[UP_TRACEFS_PATH_MAX];
};

static struct event_path event_file(const char *instance, const char *event, const char *file)
{
	struct event_path p;

	snprintf(p.s, sizeof(p.s), "%s%s%sevents/%s%s%s", instance ? "instances/" : "",
		 instance ? instance : "", instance ? "/" : "", event, *file ? "/" : "", file);
	return p;
}

/*
 * What `enable` says: 0 at rest, 1 enabled in whatever way, -errno. An event or an instance that
 * is no longer there is at rest.
 */
static int is_enabled(const struct up_tracefs *fs, const char *instance, const char *event)
{
	struct event_path p = event_file(instance, event, "enable");
	struct up_buf b = { 0 };
	int err = up_tracefs_read(fs, p.s, &b);
	int state = err ? err : !(b.s && (!strcmp(b.s, "0\n") || !strcmp(b.s, "0")));

	up_buf_fini(&b);
	if ((err == -ENOENT || err == -ENODEV) &&
	    !up_tracefs_exists(fs, event_file(instance, event, "").s))
		return 0;
	return state;
}

/* Bytes of a trigger's line without the state that the kernel shows behind it, " [active]". */
static size_t trigger_len(const char *line, size_t len)
{
	const char *bracket = len && line[len - 1] == ']' ? memrchr(line, '[', len) : NULL;

	return bracket && bracket > line && bracket[-1] == ' ' ? (size_t)(bracket - 1 - line) : len;
}

static int write_trigger_removal(const struct up_tracefs *fs, const char *path, const char *text,
				 size_t len)
{
	struct up_buf b = { 0 };

	up_buf_printf(&b, "!%.*s\n", (int)len, text);
	int err = b.failed ? -ENOMEM : up_tracefs_append(fs, path, b.s, b.len);
	up_buf_fini(&b);
	return err;
}

/* Triggers are removed by writing them back behind a "!"; for some the name alone is wanted. */
static void remove_trigger(const struct up_tracefs *fs, const char *path, const char *line,
			   size_t len)
{
	size_t name_len = strcspn(line, ":\n");

	len = trigger_len(line, len);
	if (write_trigger_removal(fs, path, line, len) && name_len < len)
		write_trigger_removal(fs, path, line, name_len);
}

/* From the last to the first, as later ones may depend on earlier ones. */
static void remove_triggers(const struct up_tracefs *fs, const char *path)
{
	struct up_buf b = { 0 };

	if (up_tracefs_read(fs, path, &b) || !b.s) {
		up_buf_fini(&b);
		return;
	}
	for (size_t end = b.len; end > 0;) {
		size_t start = end;

		while (start > 0 && b.s[start - 1] != '\n')
			start--;
		if (end > start && b.s[start] != '#')
			remove_trigger(fs, path, b.s + start, end - start);
		end = start ? start - 1 : 0;
	}
	up_buf_fini(&b);
}

/* Brings an event to rest in one place if it is not. Returns what is_enabled() says before. */
static int calm_place(const struct up_tracefs *fs, const char *instance, const char *event)
{
	int state = is_enabled(fs, instance, event);

	if (state == 0)
		return 0;
	remove_triggers(fs, event_file(instance, event, "trigger").s);
	up_tracefs_write(fs, event_file(instance, event, "enable").s, "0", 1);
	return state;
}

typedef int place_fn(const struct up_tracefs *fs, const char *instance, const char *event);

/*
 * Visits all places of an event: 0 when fn returned 0 everywhere, else what it returned first.
 * `where` receives the instance of that place ("" for the top).
 */
static int visit_places(const struct up_tracefs *fs, const char *event, place_fn *fn,
			char where[64])
{
	struct up_buf names = { 0 };
	int first = up_tracefs_list(fs, "instances", &names);

	if (first == -ENOENT)
		first = 0; /* a kernel without instances */
	snprintf(where, 64, "%s", "");
	int state = fn(fs, NULL, event);
	if (!first)
		first = state;
	for (const char *n = up_tracefs_next(&names, NULL); n; n = up_tracefs_next(&names, n)) {
		state = fn(fs, n, event);
		if (state && !first) {
			first = state;
			snprintf(where, 64, "%s", n);
		}
	}
	up_buf_fini(&names);
	return first;
}

/* --- may it be removed? ---------------------------------------------------------------------- */

static int say_not_at_rest(struct up_guard *g, int index, int state, const char *where)
{
	char why[256];

	if (state < 0)
		snprintf(why, sizeof(why), "cannot tell whether it is enabled: %s",
			 up_status_strerror(state));
	else
		snprintf(why, sizeof(why), "something keeps it enabled %s%s",
			 *where ? "in the instance " : "at the top of tracefs", where);
	left_behind(g, index, why);
	return -EBUSY;
}

/* Brings an event to rest everywhere, in a bounded number of rounds. */
static int calm_event(struct up_guard *g, int index)
{
	const char *event = g->journal->v[index].name;
	char where[64];
	int state = 0;

	for (int round = 0; round < ROUNDS; round++) {
		state = visit_places(g->fs, event, calm_place, where);
		if (state == 0)
			return 0;
		sleep_ms(round < 2 ? 0 : g->wait_ms / ROUNDS);
	}
	return say_not_at_rest(g, index, state, where);
}

static void instance_path(char path[UP_TRACEFS_PATH_MAX], const char *name)
{
	snprintf(path, UP_TRACEFS_PATH_MAX, "instances/%s", name);
}

/* Makes the session's instance, or takes the one there is for it. */
static int make_instance(struct up_guard *g, const char *session, size_t len)
{
	char path[UP_TRACEFS_PATH_MAX];
	int i = up_journal_plan(g->journal, UP_CHANGE_INSTANCE, session, len);

	if (i < 0)
		return i;
	instance_path(path, g->journal->v[i].name);
	int err = up_tracefs_mkdir(g->fs, path);
	if (err == 0 || err == -EEXIST)
		up_journal_confirm(g->journal, i);
	else
		up_journal_withdraw(g->journal, i);
	return err == -EEXIST ? 0 : err;
}

/* Enables and disables the event in the instance. */
static int enable_once(struct up_guard *g, const char *instance, const char *event)
{
	struct event_path enable = event_file(instance, event, "enable");
	int err = up_tracefs_write(g->fs, enable.s, "1", 1);

	return err ? err : up_tracefs_write(g->fs, enable.s, "0", 1);
}

/* Does what enabling said mean that perf does not hold the event? Some sites cannot be armed. */
static bool is_free_of_perf(int err)
{
	return err == 0 || err == -EINVAL || err == -EIO || err == -ENOEXEC || err == -EOPNOTSUPP ||
	       err == -UP_KERNEL_ENOTSUPP;
}

/*
 * Perf holding an event does not show in its `enable`, but enabling it then fails with EINTR.
 * An event with one probe point needs no such test: the kernel refuses its removal by itself.
 */
static int check_perf(struct up_guard *g, int index)
{
	const char *event = g->journal->v[index].name;
	int err = 0;

	if (g->journal->v[index].was_armed || g->journal->v[index].nr_sites < 2 ||
	    !up_tracefs_exists(g->fs, event_file(NULL, event, "").s))
		return 0;
	if (!own_instance(g))
		err = make_instance(g, event, strcspn(event, "/"));
	for (int round = 0; !err && round < ROUNDS; round++) {
		if (is_free_of_perf(enable_once(g, own_instance(g), event)))
			return calm_event(g, index);
		sleep_ms(g->wait_ms / ROUNDS);
	}
	left_behind(g, index,
		    err ? "cannot tell whether perf uses it"
			: "perf, or a program like it, uses it");
	return -EBUSY;
}

/* --- removal --------------------------------------------------------------------------------- */

static int write_removal(struct up_guard *g, const char *event)
{
	char line[UP_TRACEFS_PATH_MAX];
	int len = snprintf(line, sizeof(line), "-:%s\n", event);

	return up_tracefs_append(g->fs, "uprobe_events", line, (size_t)len);
}

/*
 * Takes off the event's filter in our instance. The kernel would remove it with the event, but it
 * would not notice then that it needs a page for each CPU no longer in which it keeps records while
 * filters judge them.
 */
static void clear_filter(struct up_guard *g, const char *event)
{
	struct event_path filter = event_file(own_instance(g), event, "filter");
	struct up_buf b = { 0 };

	if (own_instance(g) && !up_tracefs_read(g->fs, filter.s, &b) && b.len &&
	    strncmp(b.s, "none", 4))
		up_tracefs_write(g->fs, filter.s, "0", 1);
	up_buf_fini(&b);
}

/* Removes an event that was brought to rest, after looking once more. */
static int remove_calm_event(struct up_guard *g, int index)
{
	const char *event = g->journal->v[index].name;
	char where[64];
	int err = 0;

	for (int round = 0; round < ROUNDS; round++) {
		int state = visit_places(g->fs, event, is_enabled, where);

		if (state)
			return say_not_at_rest(g, index, state, where);
		err = write_removal(g, event);
		if (err == 0 || err == -ENOENT ||
		    !up_tracefs_exists(g->fs, event_file(NULL, event, "").s)) {
			g->journal->v[index].state = UP_CHANGE_UNDONE;
			return 0;
		}
		if (err != -EBUSY)
			break;
		sleep_ms(g->wait_ms / ROUNDS);
	}
	left_behind(g, index, err == -EBUSY ? "something uses it" : up_status_strerror(err));
	return -EBUSY;
}

static void disable_event(struct up_guard *g, int index)
{
	struct up_change *c = &g->journal->v[index];
	const char *instance = own_instance(g);

	if (instance)
		up_tracefs_write(g->fs, event_file(instance, c->name, "enable").s, "0", 1);
	/* Whether it helped is asked of the event itself, before that is removed. */
	c->state = UP_CHANGE_UNDONE;
}

static int prev(const struct up_guard *g, enum up_change_kind kind, int before)
{
	return up_journal_prev(g->journal, kind, before);
}

/* The event's own enables in our instance. */
static void disable_own(struct up_guard *g, const char *event)
{
	int end = (int)g->journal->nr;

	for (int i = prev(g, UP_CHANGE_ENABLE, end); i >= 0; i = prev(g, UP_CHANGE_ENABLE, i))
		if (!event || !strcmp(g->journal->v[i].name, event))
			disable_event(g, i);
}

int up_guard_remove(struct up_guard *g, const char *event)
{
	int i = up_journal_find(g->journal, UP_CHANGE_EVENT, event);

	if (i < 0)
		return i;
	disable_own(g, event);
	if (calm_event(g, i) || check_perf(g, i))
		return -EBUSY;
	clear_filter(g, event);
	return remove_calm_event(g, i);
}

/* All events are brought to rest before the first one is removed. */
static void remove_events(struct up_guard *g)
{
	struct up_journal *j = g->journal;
	int end = (int)j->nr;

	for (int i = prev(g, UP_CHANGE_EVENT, end); i >= 0; i = prev(g, UP_CHANGE_EVENT, i)) {
		j->v[i].state = UP_CHANGE_PLANNED;
		if (!calm_event(g, i))
			check_perf(g, i);
	}
	for (int i = prev(g, UP_CHANGE_EVENT, end); i >= 0; i = prev(g, UP_CHANGE_EVENT, i))
		if (j->v[i].state != UP_CHANGE_LEFT) {
			clear_filter(g, j->v[i].name);
			remove_calm_event(g, i);
		}
}

/* A reader's open descriptor makes the kernel say EBUSY; the reader may just be on its way out. */
static void remove_instance(struct up_guard *g, int index)
{
	struct up_change *c = &g->journal->v[index];
	char path[UP_TRACEFS_PATH_MAX];
	int err = 0;

	instance_path(path, c->name);
	for (unsigned waited = 0, pause = 1;; waited += pause, pause *= 2) {
		err = up_tracefs_rmdir(g->fs, path);
		if (err == 0 || err == -ENOENT) {
			c->state = UP_CHANGE_UNDONE;
			return;
		}
		if (err != -EBUSY || waited >= g->wait_ms)
			break;
		sleep_ms(pause);
	}
	left_behind(g, index,
		    err == -EBUSY ? "a program has a file of it open" : up_status_strerror(err));
}

void up_guard_undo(struct up_guard *g)
{
	const char *instance = own_instance(g);
	char path[UP_TRACEFS_PATH_MAX];

	if (instance) {
		snprintf(path, sizeof(path), "instances/%s/tracing_on", instance);
		up_tracefs_write(g->fs, path, "0", 1);
	}
	disable_own(g, NULL);
	remove_events(g);
	for (int i = prev(g, UP_CHANGE_INSTANCE, (int)g->journal->nr); i >= 0;
	     i = prev(g, UP_CHANGE_INSTANCE, i))
		remove_instance(g, i);
}

/* --- sessions by name ------------------------------------------------------------------------ */

/* Records the event of one line of uprobe_events, "p:GROUP/EVENT PATH:OFFSET ...", if it is the
 * session's. */
static int adopt_line(struct up_guard *g, const char *session, const char *line)
{
	size_t len = strlen(session);
	const char *name = strchr(line, ':');

	if (!name || name - line > 8 || strncmp(name + 1, session, len) || name[1 + len] != '/')
		return 0;
	name++;
	int i = up_journal_plan(g->journal, UP_CHANGE_EVENT, name, strcspn(name, " \n"));
	return i < 0 ? i : 0;
}

static int adopt_events(struct up_guard *g, const char *session)
{
	struct up_buf b = { 0 };
	int err = up_tracefs_read(g->fs, "uprobe_events", &b);

	for (const char *line = b.s; line && *line && !err;) {
		const char *end = strchr(line, '\n');

		err = adopt_line(g, session, line);
		line = end ? end + 1 : NULL;
	}
	up_buf_fini(&b);
	return err;
}

/* Removes the instance of a dead session at once: this disables what it has enabled, and asks
 * whether it is dead. */
static int remove_strange_instance(struct up_guard *g, const char *session)
{
	char path[UP_TRACEFS_PATH_MAX];

	instance_path(path, session);
	int err = up_tracefs_rmdir(g->fs, path);
	return err == -ENOENT ? 0 : err;
}

int up_guard_adopt(struct up_guard *g, const char *session, bool ours)
{
	pid_t owner;
	int err = up_session_parse(session, &owner) ? 0 : -EINVAL;

	if (!err && !ours)
		err = remove_strange_instance(g, session);
	if (!err)
		err = adopt_events(g, session);
	if (!err && (ours || g->journal->nr))
		err = make_instance(g, session, strlen(session));
	return err;
}

bool up_session_parse(const char *name, pid_t *owner)
{
	size_t prefix = strlen(UP_SESSION_PREFIX);
	char *end;

	if (strncmp(name, UP_SESSION_PREFIX, prefix) || !isdigit((unsigned char)name[prefix]) ||
	    strlen(name) >= UP_SESSION_NAME_MAX)
		return false;
	errno = 0;
	long pid = strtol(name + prefix, &end, 10);
	if (errno || pid <= 0 || pid > 1 << 30 || (*end && *end != '_'))
		return false;
	if (*end == '_' && (!end[1] || strspn(end + 1, "0123456789") != strlen(end + 1)))
		return false;
	*owner = (pid_t)pid;
	return true;
}

/* Base name of what a process runs, "" when that cannot be told. */
static void program_of(const char *pid, char name[64])
{
	char link[32], path[PATH_MAX];

	snprintf(link, sizeof(link), "/proc/%s/exe", pid);
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	path[len < 0 ? 0 : len] = 0;
	char *deleted = strstr(path, " (deleted)");
	if (deleted)
		*deleted = 0;
	const char *slash = strrchr(path, '/');
	snprintf(name, 64, "%.63s", slash ? slash + 1 : "");
}

/* A process of that number which runs another program got the number later. */
static bool is_living(pid_t pid)
{
	char number[16], theirs[64], mine[64];

	if (kill(pid, 0) < 0 && errno == ESRCH)
		return false;
	snprintf(number, sizeof(number), "%d", (int)pid);
	program_of(number, theirs);
	program_of("self", mine);
	return !*theirs || !*mine || !strcmp(theirs, mine);
}

static void report_session(const struct up_tracefs *fs, const char *name, up_session_fn *fn,
			   void *arg)
{
	struct up_session_info s = { .has_instance = false };
	struct up_buf events = { 0 };
	char path[UP_TRACEFS_PATH_MAX];

	if (!up_session_parse(name, &s.owner))
		return;
	strcpy(s.name, name);
	instance_path(path, name);
	s.has_instance = up_tracefs_exists(fs, path);
	s.has_owner = is_living(s.owner);
	snprintf(path, sizeof(path), "events/%s", name);
	up_tracefs_list(fs, path, &events);
	for (const char *e = up_tracefs_next(&events, NULL); e; e = up_tracefs_next(&events, e))
		s.nr_events++;
	up_buf_fini(&events);
	fn(arg, &s);
}

int up_session_each(const struct up_tracefs *fs, up_session_fn *fn, void *arg)
{
	struct up_buf groups = { 0 }, instances = { 0 };
	char path[UP_TRACEFS_PATH_MAX];
	int err = up_tracefs_list(fs, "instances", &instances);

	if (err == -ENOENT)
		err = 0;
	if (!err)
		err = up_tracefs_list(fs, "events", &groups);
	for (const char *n = up_tracefs_next(&groups, NULL); n && !err;
	     n = up_tracefs_next(&groups, n))
		report_session(fs, n, fn, arg);
	for (const char *n = up_tracefs_next(&instances, NULL); n && !err;
	     n = up_tracefs_next(&instances, n)) {
		snprintf(path, sizeof(path), "events/%s", n);
		if (!up_tracefs_exists(fs, path))
			report_session(fs, n, fn, arg);
	}
	up_buf_fini(&groups);
	up_buf_fini(&instances);
	return err;
}
