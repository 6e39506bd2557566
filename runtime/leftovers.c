/* What sessions that are gone left in the kernel. */
#include "runtime/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/keeper.h"
#include "runtime/timed.h"

#define KEEPER_NAME "uptick-keeper" /* as the keeper calls itself */
#define SLACK_NS 2000000000         /* clocks of processes and of files may differ by so much */
#define SWEEP_LIMIT_MS 3000         /* a run does not wait longer for a step of cleaning up */
#define RETRY_MS 20

/* ---- processes ---- */

/* The text of /proc/PID/FILE, or of a link there; "" when it cannot be had. */
static const char *proc_text(pid_t pid, const char *file, bool is_link, char *to, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	if (is_link) {
		n = readlink(path, to, size - 1);
	} else {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		n = fd < 0 ? -1 : read(fd, to, size - 1);
		if (fd >= 0)
			close(fd);
	}
	to[n > 0 ? n : 0] = 0;
	return to;
}

/* Field `nr` (from 3) of /proc/PID/stat; 0 when there is none. */
static unsigned long long stat_field(pid_t pid, int nr)
{
	char text[1024], *s;

	proc_text(pid, "stat", false, text, sizeof(text));
	s = strrchr(text, ')'); /* the name before it may hold anything */
	for (int i = 2; s && i < nr; i++)
		s = strchr(s + 1, ' ');
	return s ? strtoull(s, NULL, 10) : 0;
}

/* When the process started, on the clock that files are stamped by; 0 when that cannot be told. */
static int64_t started_at(pid_t pid)
{
	unsigned long long ticks = stat_field(pid, 22);
	long hz = sysconf(_SC_CLK_TCK);

	if (!ticks || hz <= 0)
		return 0;
	int64_t age = (int64_t)up_clock_ns(CLOCK_BOOTTIME) -
		      (int64_t)(ticks * (1000000000ull / (unsigned)hz));
	return (int64_t)up_clock_ns(CLOCK_REALTIME) - age;
}

/* Is it a number that a later process got, so that it cannot have made the instance? */
static bool is_later(const struct up_tracefs *fs, const struct up_session_info *s)
{
	char path[512];
	struct stat sb;

	snprintf(path, sizeof(path), "%s/instances/%s", fs->root, s->name);
	if (!s->has_instance || stat(path, &sb) < 0)
		return !s->has_owner;
	int64_t made = (int64_t)sb.st_ctim.tv_sec * 1000000000 + sb.st_ctim.tv_nsec;
	int64_t start = started_at(s->owner);
	return start > made + SLACK_NS;
}

/* In the namespace that the kernel starts with, where every process has a number? */
static bool sees_all_processes(void)
{
	char name[64];

	proc_text(getpid(), "ns/pid", true, name, sizeof(name));
	return !*name || !strcmp(name, "pid:[4026531836]"); /* PROC_PID_INIT_INO */
}

/* The last number of "NSpid:": what the process calls itself in its own namespace; 0 unknown. */
static pid_t own_number(pid_t pid)
{
	char text[4096];
	const char *line = strstr(proc_text(pid, "status", false, text, sizeof(text)), "\nNSpid:");
	const char *end = line ? line + 1 + strcspn(line + 1, "\n") : text;

	while (line && isdigit((unsigned char)end[-1]))
		end--;
	return line ? (pid_t)atoi(end) : 0;
}

typedef bool pid_fn(pid_t pid, pid_t arg);

/* Is fn true of any process? */
static bool any_process(pid_fn *fn, pid_t arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	bool found = !dir; /* unknown counts as yes */

	while (dir && !found && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			found = fn((pid_t)atoi(e->d_name), arg);
	if (dir)
		closedir(dir);
	return found;
}

/* Does it still run? One that has ended but was not waited for does not. */
static bool is_running(pid_t pid)
{
	char text[1024];
	const char *s = strrchr(proc_text(pid, "stat", false, text, sizeof(text)), ')');

	return s && s[1] == ' ' && s[2] != 'Z' && s[2] != 'X';
}

/* A keeper whose parent is not the uptick that it was forked from. */
static bool is_orphaned_keeper(pid_t pid, pid_t unused)
{
	char comm[32], mine[PATH_MAX], parents[PATH_MAX];

	(void)unused;
	if (strcmp(proc_text(pid, "comm", false, comm, sizeof(comm)), KEEPER_NAME "\n"))
		return false;
	pid_t parent = (pid_t)stat_field(pid, 4);
	proc_text(pid, "exe", true, mine, sizeof(mine));
	proc_text(parent, "exe", true, parents, sizeof(parents));
	return (!*mine || strcmp(mine, parents)) && is_running(pid);
}

/* An uptick in a container, which goes by another number there. */
static bool is_contained_owner(pid_t pid, pid_t owner)
{
	char comm[32];

	return pid != owner &&
	       !strncmp(proc_text(pid, "comm", false, comm, sizeof(comm)), "uptick", 6) &&
	       strcmp(comm, KEEPER_NAME "\n") && own_number(pid) == owner;
}

/* ---- judging sessions ---- */

/*
 * Whose number is taken by an older process is left alone, whatever that one is called now: a
 * program that runs can be renamed.
 */
static bool is_owner_gone(const struct up_tracefs *fs, const struct up_session_info *s)
{
	bool exists = s->has_owner || kill(s->owner, 0) == 0 || errno != ESRCH;

	return (!exists || is_later(fs, s)) && !any_process(is_contained_owner, s->owner);
}

struct list {
	const struct up_tracefs *fs;
	struct up_buf *out;
};

static void add_session(void *arg, const struct up_session_info *s)
{
	struct list *l = arg;
	struct up_leftover found = { .session = *s, .owner = UP_OWNER_LIVES };

	if (is_owner_gone(l->fs, s))
		found.owner = sees_all_processes() ? UP_OWNER_GONE : UP_OWNER_UNSEEN;
	up_buf_add(l->out, &found, sizeof(found));
}

/*
 * A keeper is looked for after its owner was found gone, so that it cannot be missed: by then it
 * has another parent, or has ended.
 */
static int list_now(void *arg, struct up_buf *out)
{
	const struct up_tracefs *fs = arg;
	struct list l = { fs, out };
	size_t start = out->len;
	int orphans = -1;
	int err = up_session_each(fs, add_session, &l);

	for (size_t at = start; !out->failed && at + sizeof(struct up_leftover) <= out->len;
	     at += sizeof(struct up_leftover)) {
		struct up_leftover l1;

		memcpy(&l1, out->s + at, sizeof(l1));
		if (l1.owner != UP_OWNER_GONE)
			continue;
		if (orphans < 0)
			orphans = any_process(is_orphaned_keeper, 0);
		if (orphans)
			l1.owner = UP_OWNER_ENDING;
		memcpy(out->s + at, &l1, sizeof(l1));
	}
	return err ? err : out->failed ? -ENOMEM : 0;
}

int up_leftovers_list(const struct up_tracefs *fs, unsigned limit_ms, struct up_buf *out)
{
	if (!limit_ms)
		return list_now((void *)fs, out);
	return up_timed_call(list_now, (void *)fs, limit_ms, out);
}

/* ---- removing ---- */

/* How many sessions of the list are in that state. */
static size_t count(const struct up_buf *list, enum up_owner owner)
{
	struct up_leftover l;
	size_t nr = 0;

	for (size_t at = 0; at + sizeof(l) <= list->len; at += sizeof(l)) {
		memcpy(&l, list->s + at, sizeof(l));
		nr += l.owner == owner;
	}
	return nr;
}

/* The descriptor that holds the lock, or -EBUSY: another process cleans up. */
static int lock(const struct up_tracefs *fs)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/instances", fs->root);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	int err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(fd);
	return err;
}

static int clean_one(const struct up_tracefs *fs, const struct up_clean_opts *o,
		     const struct up_leftover *l, struct up_status *st)
{
	struct up_keeper_opts ko = { .fs = fs, .stop_fd = o->stop_fd, .limit_ms = o->limit_ms };
	struct up_buf left = { 0 };
	struct up_status own = { 0 };
	int err = up_keeper_clean(&ko, l->session.name, &left, &own);

	if (o->fn)
		o->fn(o->arg, l, err, left.s ? left.s : "");
	if (err && st && !st->err)
		*st = own;
	up_buf_fini(&left);
	return err;
}

/* With the lock held. */
static int clean_listed(const struct up_tracefs *fs, const struct up_clean_opts *o,
			struct up_status *st)
{
	struct up_buf list = { 0 };
	struct up_leftover l;
	int err = up_leftovers_list(fs, 0, &list);

	if (!err && count(&list, UP_OWNER_ENDING))
		err = -EAGAIN;
	for (size_t at = 0; !err && at + sizeof(l) <= list.len; at += sizeof(l)) {
		memcpy(&l, list.s + at, sizeof(l));
		if (l.owner != UP_OWNER_GONE)
			continue;
		int failed = clean_one(fs, o, &l, st);
		/* What cannot be removed for its own reasons does not save the others from it. */
		if (failed && failed != -EBUSY)
			err = failed;
	}
	up_buf_fini(&list);
	return err ? err : st && st->err ? st->err : 0;
}

static int try_clean(const struct up_tracefs *fs, const struct up_clean_opts *o,
		     struct up_status *st)
{
	int fd = lock(fs);

	if (fd < 0)
		return fd == -EBUSY ? -EAGAIN : fd;
	int err = clean_listed(fs, o, st);
	close(fd);
	return err;
}

int up_leftovers_clean(const struct up_tracefs *fs, const struct up_clean_opts *o,
		       struct up_status *st)
{
	struct timespec pause = { 0, RETRY_MS * 1000000 };
	unsigned waited = 0;
	int err;

	while ((err = try_clean(fs, o, st)) == -EAGAIN && waited < o->wait_ms) {
		nanosleep(&pause, NULL);
		waited += RETRY_MS;
	}
	if (err == -EAGAIN) {
		err = up_status_set(st, -EBUSY, NULL, "cannot remove what is left");
		up_status_reason(st, "another uptick is removing something at this moment");
	}
	return err == -ENOENT ? 0 : err; /* a kernel without instances */
}

void up_leftovers_sweep(const struct up_tracefs *fs, int stop_fd)
{
	struct up_clean_opts o = { .stop_fd = stop_fd, .limit_ms = SWEEP_LIMIT_MS };
	struct up_buf list = { 0 };
	struct up_status st = { 0 };

	if (!up_leftovers_list(fs, 0, &list) && count(&list, UP_OWNER_GONE))
		up_leftovers_clean(fs, &o, &st);
	up_buf_fini(&list);
}
