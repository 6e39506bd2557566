/* Threads and their processes. */
#include "runtime/procs.h"

#include <stdio.h>
#include <string.h>

#define CLONE_THREAD_FLAG 0x00010000 /* CLONE_THREAD of linux/sched.h */

void up_procs_init(struct up_procs *p)
{
	*p = (struct up_procs){ 0 };
	up_table_init(&p->threads, sizeof(uint64_t), 0);
}

void up_procs_fini(struct up_procs *p)
{
	up_table_fini(&p->threads);
}

void up_procs_know(struct up_procs *p, pid_t tid, pid_t pid)
{
	uint64_t key = (uint64_t)tid;
	uint64_t *v = up_table_at(&p->threads, &key, sizeof(key));

	if (v)
		*v = (uint64_t)pid;
}

/* "Tgid:" of /proc/TID/status; 0 when the thread is gone. */
static pid_t ask_kernel(pid_t tid)
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

pid_t up_procs_of(struct up_procs *p, pid_t tid)
{
	uint64_t key = (uint64_t)tid;
	const uint64_t *v = up_table_find(&p->threads, &key, sizeof(key));

	if (v)
		return (pid_t)*v;
	pid_t pid = p->is_offline ? 0 : ask_kernel(tid);
	if (!pid)
		p->unknown++;
	up_procs_know(p, tid, pid);
	return pid;
}

void up_procs_born(struct up_procs *p, pid_t parent, pid_t child, uint64_t clone_flags)
{
	up_procs_know(p, child, clone_flags & CLONE_THREAD_FLAG ? up_procs_of(p, parent) : child);
}

void up_procs_died(struct up_procs *p, pid_t tid)
{
	uint64_t key = (uint64_t)tid;

	up_table_delete(&p->threads, &key, sizeof(key));
}
