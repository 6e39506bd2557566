/*
 * The keeper: a helper process that makes every change in the kernel's tracing and undoes them all
 * when it is told to, or when the process that started it ends in whatever way.
 *
 * It is forked early, lives in a session of its own, ignores the signals that end its parent, and
 * holds no descriptor but its socket. The calls below wait for its answer, for a limited time: a
 * kernel whose tracing hangs takes the keeper with it, not us.
 *
 * Rules for the caller:
 *  - Fork it before ring buffers are opened: a forked copy of their descriptors, once closed,
 *    marks them as closed for everybody.
 *  - Close ring buffers before up_keeper_undo().
 *  - Another child forked while it lives must exec or exit soon (its socket is close-on-exec).
 *  - It is a child process: wait for other children by their number.
 */
#ifndef UP_KEEPER_H
#define UP_KEEPER_H

#include "runtime/guard.h"
#include "runtime/status.h"
#include "runtime/tracefs.h"

struct up_keeper;

struct up_keeper_opts {
	const struct up_tracefs *fs; /* copied */
	int stop_fd;                 /* readable: stop waiting (see up_keeper_watch); -1 for none */
	unsigned limit_ms;           /* longest wait for one step; 0: 15 s */
	unsigned busy_ms;            /* how long undoing waits for something busy; 0: 2 s */
};

/* Starts it. 0 and *out, or -errno. */
int up_keeper_start(const struct up_keeper_opts *opts, struct up_keeper **out,
		    struct up_status *st);

/*
 * Lets it go: whatever was not undone is undone by it, while we wait a moment for its end. Unless
 * undoing takes long or the kernel hangs, nothing is left when this returns. NULL is allowed.
 */
void up_keeper_stop(struct up_keeper *k);

/* Becomes readable when the keeper has died; do not read from it. */
int up_keeper_fd(const struct up_keeper *k);

/* Its process number, for tests and messages. */
pid_t up_keeper_pid(const struct up_keeper *k);

/* Do the steps end with -EINTR when stop_fd becomes readable? At first they do. */
void up_keeper_watch(struct up_keeper *k, bool watch);

/*
 * All steps return 0 or -errno and fill the status:
 *   -EINTR      stop_fd became readable; the step may still happen and is then undone
 *   -ETIMEDOUT  no answer in time; all later steps fail at once with this
 *   -EPIPE      the keeper has died; up_keeper_undo() still works
 * else what the kernel said.
 */

/* Is it one of these three: no later step can be expected to succeed? */
bool up_keeper_is_over(int err);

/* Chooses a free session name for this process and makes the instance of that name. */
int up_keeper_begin(struct up_keeper *k, struct up_status *st);
/* The name of group and instance, "" before up_keeper_begin(). */
const char *up_keeper_session(const struct up_keeper *k);

/* Longest text of definitions in one step. */
#define UP_KEEPER_DEFINE_MAX (64u << 10)
/*
 * Adds definition lines, each "p:SESSION/EVENT ..." or "r:..." with a newline behind it. When one
 * fails, those before it stay defined.
 */
int up_keeper_define(struct up_keeper *k, const char *lines, size_t len, struct up_status *st);

/* Writes a file of our instance, "trace_clock". Not for files that enable events. */
int up_keeper_set(struct up_keeper *k, const char *file, const char *value, struct up_status *st);

/* Enables, disables "SYSTEM/EVENT" in our instance. -EBUSY: perf has it. */
/* Empties set_event_pid of the instance: threads that were written there restrict it no more. */
int up_keeper_free_threads(struct up_keeper *k, struct up_status *st);

int up_keeper_enable(struct up_keeper *k, const char *event, struct up_status *st);
int up_keeper_disable(struct up_keeper *k, const char *event, struct up_status *st);

/*
 * Sets the filter of an event of our group, "SESSION/EVENT", in our instance. Whatever the kernel
 * refuses, the event has none then.
 */
int up_keeper_filter(struct up_keeper *k, const char *event, const char *filter,
		     struct up_status *st);

/* Removes an event of our group, "SESSION/EVENT"; -EBUSY when that is not safe. */
int up_keeper_remove(struct up_keeper *k, const char *event, struct up_status *st);

/* Appends the content of a file anywhere in tracefs. */
int up_keeper_read(struct up_keeper *k, const char *path, struct up_buf *out, struct up_status *st);

/*
 * Undoes everything, by a second keeper when the first has died. Returns 0; -EBUSY when something
 * had to be left behind, then *left has a line for each thing; or another -errno as above.
 * The state of stop_fd is of no matter here; but when this has taken a second and then one more
 * byte comes into it (a pipe), the keeper is left alone with the rest of the work: -EINTR.
 */
int up_keeper_undo(struct up_keeper *k, struct up_buf *left, struct up_status *st);

/*
 * Removes what a dead session of that name left. -EBUSY also when a program still has its
 * instance open, so that it is alive after all.
 */
int up_keeper_clean(const struct up_keeper_opts *opts, const char *session, struct up_buf *left,
		    struct up_status *st);

#endif
