/*
 * What sessions that are gone left in the kernel: finding it and having it removed.
 *
 * Nothing of a session is touched while its owner lives, or while a keeper is still at work whose
 * owner is gone, for two that take the same events away at once would break the guard's promise
 * (guard.h). One cleaner works at a time, by a lock on the directory of instances. In a PID
 * namespace of its own a process cannot see the owners, so there nothing is removed.
 */
#ifndef UP_LEFTOVERS_H
#define UP_LEFTOVERS_H

#include "runtime/guard.h"
#include "runtime/status.h"

enum up_owner {
	UP_OWNER_LIVES,  /* the process that made it, as far as can be told */
	UP_OWNER_ENDING, /* it is gone; its keeper may still be taking things away */
	UP_OWNER_GONE,   /* there is nobody any more */
	UP_OWNER_UNSEEN  /* it cannot be told from inside this container */
};

struct up_leftover {
	struct up_session_info session; /* as tracefs shows it */
	enum up_owner owner;            /* judged by more than the number and the program's name */
};

/*
 * Appends a struct up_leftover for each session in the kernel. 0 or -errno; -ETIMEDOUT when
 * tracefs does not answer within limit_ms. 0 as limit: looks directly, without a helper process.
 */
int up_leftovers_list(const struct up_tracefs *fs, unsigned limit_ms, struct up_buf *out);

/* What became of one session; `left` has a line for each thing that stays, "" when all is gone. */
typedef void up_cleaned_fn(void *arg, const struct up_leftover *l, int err, const char *left);

struct up_clean_opts {
	int stop_fd;       /* readable: give up; -1 for none */
	unsigned limit_ms; /* longest wait for one step */
	unsigned wait_ms;  /* how long to wait for another cleaner or a keeper at work */
	up_cleaned_fn *fn; /* is told of each session that was dealt with; may be NULL */
	void *arg;         /* handed to fn */
};

/*
 * Removes what has no owner. 0, also when there is nothing; -EBUSY when something was left, or
 * others were at work all the time; another -errno when it could not be done.
 */
int up_leftovers_clean(const struct up_tracefs *fs, const struct up_clean_opts *o,
		       struct up_status *st);

/* The same, quietly, at the start of a run: two directories are read when there is nothing. */
void up_leftovers_sweep(const struct up_tracefs *fs, int stop_fd);

#endif
