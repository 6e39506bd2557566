/*
 * Processes: which process a thread belongs to. Learns from the kernel's task_newtask events,
 * in time order, and from /proc for threads that were there before.
 */
#ifndef UP_PROCS_H
#define UP_PROCS_H

#include <sys/types.h>

#include "runtime/table.h"

struct up_procs {
	struct up_table threads; /* tid -> process id */
	bool is_offline;         /* the threads are not here: nobody can be asked */
	uint64_t unknown; /* threads whose process could not be told: gone before one could ask */
};

void up_procs_init(struct up_procs *p);
void up_procs_fini(struct up_procs *p);

/* The process of a thread; 0 when it cannot be told. */
pid_t up_procs_of(struct up_procs *p, pid_t tid);
/* It is known: `tid` is a thread of process `pid`. */
void up_procs_know(struct up_procs *p, pid_t tid, pid_t pid);
/* `parent` has created `child` with these clone flags (CLONE_THREAD: in the same process). */
void up_procs_born(struct up_procs *p, pid_t parent, pid_t child, uint64_t clone_flags);
void up_procs_died(struct up_procs *p, pid_t tid);

#endif
