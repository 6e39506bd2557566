/* Threads and their processes. */
#include "runtime/procs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/clock.h"

#define CLONE_THREAD_FLAG 0x00010000 /* CLONE_THREAD of linux/sched.h */

struct up_procs_thread {
	pid_t pid;      /* 0: unknown */
	bool has_ended; /* a main thread that is remembered */
	uint64_t seen;  /* when it was so, ns */
};

void up_procs_init(struct up_procs *p)
{
	*p = (struct up_procs){ 0 };
	up_table_init(&p->threads, sizeof(struct up_procs_thread), 0);
}

void up_procs_fini(struct up_procs *p)
{
	up_table_fini(&p->threads);
	free(p->ended);
}

static struct up_procs_thread *find(const struct up_procs *p, pid_t tid)
{
	uint64_t key = (uint64_t)tid;

	return up_table_find(&p->threads, &key, sizeof(key));
}

void up_procs_know(struct up_procs *p, pid_t tid, pid_t pid, uint64_t time)
{
	uint64_t key = (uint64_t)tid;
	struct up_procs_thread *t = up_table_at(&p->threads, &key, sizeof(key));

	if (t)
		*t = (struct up_procs_thread){ .pid = pid, .seen = time };
}

/* ---- what /proc says ---- */

/* "Tgid:" of /proc/TID/status; 0 when the thread is gone. */
static pid_t read_process(pid_t tid)
{
	char path[40], line[128];
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	while (!pid && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) != 1)
			pid = 0;
	fclose(f);
	return pid;
}

/* When a thread began, ns of CLOCK_MONOTONIC, rounded down to ticks; UINT64_MAX: it is gone. */
static uint64_t read_start(pid_t tid)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK), ticks;
	char path[40], stat[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	FILE *f = fopen(path, "re");
	size_t len = f ? fread(stat, 1, sizeof(stat) - 1, f) : 0;
	if (f)
		fclose(f);
	stat[len] = 0;
	/* Field 22; the name before it may hold anything. */
	const char *s = strrchr(stat, ')');
	for (int i = 2; s && i < 22; i++)
		s = strchr(s + 1, ' ');
	if (!s || !hz)
		return UINT64_MAX;
	ticks = strtoull(s, NULL, 10);
	/* In this order, so that it is not below 0. */
	uint64_t awake = up_clock_ns(CLOCK_MONOTONIC);
	uint64_t asleep = up_clock_ns(CLOCK_BOOTTIME) - awake;
	uint64_t start = ticks * (1000000000 / hz);
	return start > asleep ? start - asleep : 0;
}

/* The process of the thread that had the number at `time`, if it is still there. */
static pid_t ask_kernel(const struct up_procs *p, pid_t tid, uint64_t time)
{
	pid_t pid = p->is_offline ? 0 : read_process(tid);

	return pid && read_start(tid) <= time ? pid : 0;
}

/* ---- asking ---- */

/* Events of threads were lost up to this time; 0: none were. */
static uint64_t lost_at(const struct up_procs *p)
{
	return p->gaps ? p->gaps->last : 0;
}

/*
 * The number of a main thread that has ended is seen again, and no event has told of a new thread:
 * another thread of its process has begun a new program, which makes it the main one. Or that event
 * is among the lost.
 */
static pid_t after_end(const struct up_procs *p, pid_t tid, uint64_t time)
{
	return lost_at(p) ? ask_kernel(p, tid, time) : tid;
}

/* What was known before a loss: is it the same thread still? One that is gone may have been. */
static pid_t after_loss(const struct up_procs *p, const struct up_procs_thread *t, pid_t tid,
			uint64_t time)
{
	uint64_t start = p->is_offline ? UINT64_MAX : read_start(tid);

	return start == UINT64_MAX ? t->pid : start <= t->seen ? t->pid : ask_kernel(p, tid, time);
}

pid_t up_procs_of(struct up_procs *p, pid_t tid, uint64_t time)
{
	const struct up_procs_thread *t = find(p, tid);
	uint64_t lost = lost_at(p);
	pid_t pid;

	if (t && !t->has_ended && t->seen >= lost)
		return t->pid;
	if (!t)
		pid = ask_kernel(p, tid, time);
	else if (t->has_ended)
		pid = after_end(p, tid, time);
	else
		pid = after_loss(p, t, tid, time);
	p->unknown += !pid;
	/* Whom the kernel was asked about is the same since then, and the loss lies behind us. */
	up_procs_know(p, tid, pid, pid && lost > time ? lost : time);
	return pid;
}

/* ---- learning ---- */

static void scan_process(struct up_procs *p, pid_t pid, uint64_t now)
{
	char path[40];
	struct dirent *e;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			up_procs_know(p, atoi(e->d_name), pid, now);
	if (dir)
		closedir(dir);
}

void up_procs_scan(struct up_procs *p, uint64_t now)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			scan_process(p, atoi(e->d_name), now);
	if (dir)
		closedir(dir);
}

void up_procs_born(struct up_procs *p, pid_t parent, pid_t child, uint64_t clone_flags,
		   uint64_t time)
{
	bool is_thread = clone_flags & CLONE_THREAD_FLAG;

	up_procs_know(p, child, is_thread ? up_procs_of(p, parent, time) : child, time);
}

static void forget(struct up_procs *p, pid_t tid)
{
	uint64_t key = (uint64_t)tid;

	up_table_delete(&p->threads, &key, sizeof(key));
}

/* Of the main threads that have ended so many are remembered as have a place in the ring. */
static bool remember(struct up_procs *p, pid_t tid)
{
	if (!p->ended)
		p->ended = calloc(UP_PROCS_ENDED, sizeof(*p->ended));
	if (!p->ended)
		return false;
	pid_t *place = &p->ended[p->next_ended++ % UP_PROCS_ENDED];
	const struct up_procs_thread *t = *place ? find(p, *place) : NULL;
	if (t && t->has_ended && *place != tid)
		forget(p, *place);
	*place = tid;
	return true;
}

void up_procs_died(struct up_procs *p, pid_t tid)
{
	struct up_procs_thread *t = find(p, tid);

	if (t && t->pid == tid && remember(p, tid))
		find(p, tid)->has_ended = true;
	else
		forget(p, tid);
}
