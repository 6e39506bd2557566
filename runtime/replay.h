/*
 * A recording being replayed: its files, and the events in them, in order of time, as the records
 * of another plan. Knows nothing of what is done with them.
 */
#ifndef UP_REPLAY_H
#define UP_REPLAY_H

#include "runtime/merge.h"
#include "runtime/rebind.h"
#include "runtime/recording.h"
#include "runtime/src_file.h"

struct up_replay {
	char *path;                /* of the recording */
	int fd;                    /* of it, or -1 */
	struct up_tracedat dat;    /* what stands in front */
	struct up_recording says;  /* what it says of itself */
	struct up_rebind bind;     /* its records, as the plan has them */
	bool unfinished;           /* the recording was killed: pages are in files beside it */
	int *side;                 /* descriptors of these, of each CPU; -1: there is none */
	struct up_tracedat_io *io; /* of each CPU; the first is FILE's */
	struct up_src_file src;
	struct up_merge merge;
	bool has_src, has_merge;
};

/*
 * Opens a recording and reads what it says of itself. -EPROTO and other failures are in the status.
 * up_replay_close() is needed in any case.
 */
int up_replay_open(struct up_replay *r, const char *path, struct up_status *st);
/*
 * Its events are to be those of a plan, which was compiled with up_recorded_iface(r->says.places).
 * -ENOENT: what is missing is among the diagnostics. Other failures are in the status.
 */
int up_replay_bind(struct up_replay *r, const struct up_plan *plan, struct up_diags *ds,
		   struct up_status *st);
/* Events can be read. */
int up_replay_start(struct up_replay *r, struct up_status *st);
/* The next event: 1, and it is valid until the next call; 0 at the end; -errno. */
int up_replay_next(struct up_replay *r, struct up_event *ev, struct up_status *st);
void up_replay_close(struct up_replay *r);

#endif
