/*
 * Undoing what a session did to the kernel's tracing, and the only code that removes uprobe events.
 *
 * Removing an event that has several probe points while it is enabled anywhere corrupts the kernel:
 * unregister_trace_uprobe() makes its busy test only for the last of them, and frees the others
 * with their breakpoints still in place. So an event is removed only when
 *  - `enable` has been read as "0" at the top and in every instance, after hist and other triggers
 *    on it were removed and 0 was written wherever something else stood, and
 *  - perf cannot hold it either, which no file tells: we have enabled it ourselves at some time,
 *    which the kernel refuses (EINTR) while perf has it, and refuses to perf while we have it.
 * What cannot be brought to that state is left where it is and reported.
 */
#ifndef UP_GUARD_H
#define UP_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/journal.h"
#include "runtime/tracefs.h"

struct up_guard {
	const struct up_tracefs *fs;
	struct up_journal *journal;
	unsigned wait_ms;   /* how long to wait for something that is busy */
	struct up_buf left; /* a line for each thing that could not be undone, and why */
};

/* Undoes all live changes in the safe order; what cannot be undone becomes UP_CHANGE_LEFT. */
void up_guard_undo(struct up_guard *g);

/* Removes one event, "GROUP/EVENT", of the journal. 0, or -EBUSY with a line in `left`. */
int up_guard_remove(struct up_guard *g, const char *event);

/*
 * Fills an empty journal with what there is of a session of that name, so that it can be undone.
 * When it is not `ours` and a program still has the instance open, it lives: -EBUSY.
 */
int up_guard_adopt(struct up_guard *g, const char *session, bool ours);

/* --- names: a session's group and instance are both called "uptick_PID", or "uptick_PID_N" ---- */

#define UP_SESSION_PREFIX "uptick_"
#define UP_SESSION_NAME_MAX 40

struct up_session_info {
	char name[UP_SESSION_NAME_MAX]; /* of group and instance */
	pid_t owner;                    /* from the name */
	bool has_owner;                 /* does that process live, and run this program? */
	bool has_instance;              /* is there an instance? */
	unsigned nr_events;             /* events in its group */
};

/* Is it a name of that form? Then *owner is set. */
bool up_session_parse(const char *name, pid_t *owner);

typedef void up_session_fn(void *arg, const struct up_session_info *s);

/* Calls fn for each session that tracefs shows, living or not. 0 or -errno. Only reads. */
int up_session_each(const struct up_tracefs *fs, up_session_fn *fn, void *arg);

#endif
