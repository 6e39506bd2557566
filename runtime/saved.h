/*
 * Events that were recorded elsewhere, or earlier: what those who read them offer to the one who
 * runs handlers on them. Nothing of the machine they come from is here.
 */
#ifndef UP_SAVED_H
#define UP_SAVED_H

#include "runtime/engine.h"
#include "runtime/merge.h"

struct up_saved {
	void *ctx;
	const struct up_records *records; /* how they look */
	struct up_gaps *gaps;             /* where events were lost; NULL: nowhere */
	uint64_t begun_at, ended_at; /* of the recording, by the events' clock; 0: the first event's
					time, the last one's */
	int64_t wall_offset;         /* what turns that clock into the time of day; 0: not known */

	/* Tells what is known beforehand, of threads and processes; the engine stays. May be NULL.
	 */
	void (*begin)(void *ctx, struct up_engine *e);
	/*
	 * The next event, valid until the next call: 1; 0 at the end; -EAGAIN when more may come,
	 * and `fd` is readable then; else -errno, with a status.
	 */
	int (*next)(void *ctx, struct up_event *ev, struct up_status *st);
	int fd; /* -1 where there is no -EAGAIN */
	/* What next() takes events from, so that others can be taken right after one; or NULL. */
	struct up_merge *merge;
	/* Adds to what the engine counted: lost, corrupt, late ... */
	void (*totals)(void *ctx, struct up_out_totals *t);
};

#endif
