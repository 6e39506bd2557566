/*
 * Processes: which process a thread belongs to. Learns from the kernel's task_newtask events, in
 * time order, and from /proc for threads that were there before.
 *
 * What is told is right or unknown: a number that /proc shows is believed only when its thread had
 * begun before the hit; what is known from before a loss of such events is looked up again.
 */
#ifndef UP_PROCS_H
#define UP_PROCS_H

#include <sys/types.h>

#include "runtime/gaps.h"
#include "runtime/table.h"

#define UP_PROCS_ENDED 16384 /* main threads that have ended and are remembered */

struct up_procs {
	struct up_table threads;    /* tid -> struct up_procs_thread */
	pid_t *ended;               /* ring of the main threads that ended, or NULL */
	unsigned next_ended;        /* where the next one goes */
	const struct up_gaps *gaps; /* where events were lost; NULL for nowhere */
	bool is_offline;            /* the threads are not here: nobody can be asked */
	uint64_t unknown; /* threads whose process could not be told: gone before one could ask */
};

void up_procs_init(struct up_procs *p);
void up_procs_fini(struct up_procs *p);

/* The process of a thread that was there at `time`, ns; 0 when it cannot be told. */
pid_t up_procs_of(struct up_procs *p, pid_t tid, uint64_t time);
/* It is known: `tid` is a thread of process `pid`, at `time`. */
void up_procs_know(struct up_procs *p, pid_t tid, pid_t pid, uint64_t time);
/* Looks up all threads that there are now. */
void up_procs_scan(struct up_procs *p, uint64_t now);
/* `parent` has created `child` with these clone flags (CLONE_THREAD: in the same process). */
void up_procs_born(struct up_procs *p, pid_t parent, pid_t child, uint64_t clone_flags,
		   uint64_t time);
void up_procs_died(struct up_procs *p, pid_t tid);

#endif
