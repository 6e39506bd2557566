/*
 * The engine: a plan's handlers at work on records, one after the other, in whatever way they come:
 * it pairs them with processes, leaves out whom nobody asked for, runs handlers and timed blocks,
 * and counts. Knows nothing of the kernel or of files.
 */
#ifndef UP_ENGINE_H
#define UP_ENGINE_H

#include "runtime/lane.h"
#include "runtime/records.h"
#include "runtime/vm.h"

struct up_succession;

struct up_engine_opts {
	pid_t only;           /* handle hits of this process alone; 0: of all */
	bool is_offline;      /* the records are not of now and here: see up_vm_set_offline() */
	uint64_t max_handled; /* end after so many handled hits; 0 for no limit */
	bool counts_probes;   /* are the hits of each probe and kind of record counted? */
	/* Asked before every event, or NULL: at 1 a round ends early, so that recording can be
	 * stopped; at 2 the hits that are left then are counted and not handled. */
	unsigned (*urgency)(void);
};

struct up_engine {
	const struct up_plan *plan;
	const struct up_records *records; /* how records look */
	struct up_engine_opts opts;
	struct up_vm vm;
	pid_t own[2];                /* processes that are never traced: ours; 0: none */
	uint64_t *due;               /* of each timed block: when it runs next, ns; 0 for others */
	uint64_t begun_at, ended_at; /* ns, of the records' clock; 0 before */
	bool is_recording;           /* do new events come? */
	uint64_t *hits;              /* of each probe of the plan; NULL unless asked for */
	uint64_t *received;          /* likewise: records that made sense, of each type number */
	bool counts_only;            /* hits are counted as outside, and not handled */
	uint64_t entries;            /* hits of entry probes that made sense */
	uint64_t returns[2];         /* of return probes; [1]: of those with a kernel's condition */
	uint64_t foreign;            /* those of threads that are not to be traced */
	uint64_t outside;            /* those after the end of the run */
	uint64_t corrupt;            /* records too short for their event */
	uint64_t left_out;           /* hits not handled, because the run was to end at once */
	struct up_lane **lanes;      /* of each site; NULL: it had no hit yet */
	uint32_t nr_lanes;           /* sites that `lanes` has room for */
	struct up_lane *made;        /* all lanes; the latest first */
	struct up_lane *last_lane;   /* that a hit was gathered in; NULL: none */
	struct up_lane no_lane;      /* of sites whose handler can have none */
	struct up_gaps *gaps;        /* where events were lost; NULL: nowhere */
	uint64_t gap_at;             /* before the next event from then on some were lost; 0: no */
	uint64_t nr_task_records;    /* records of threads that began or ended */
};

/* 0 or -errno; up_engine_fini() is needed in any case. Plan, records and output must outlive it. */
int up_engine_init(struct up_engine *e, const struct up_plan *plan,
		   const struct up_records *records, const struct up_engine_opts *opts,
		   struct up_out *out, struct up_status *st);
void up_engine_fini(struct up_engine *e);

/* Events may be lost: where, is told there. It must outlive the engine. */
void up_engine_set_gaps(struct up_engine *e, struct up_gaps *gaps);

/* Events come from `now` on; starts the clocks. The blocks `on start` are run by _start(). */
void up_engine_begin(struct up_engine *e, uint64_t now);
void up_engine_start(struct up_engine *e);
/* Runs what `on end` says, at `now`. */
void up_engine_end(struct up_engine *e, uint64_t now);

/*
 * Another plan goes on where this one is; see up_vm_prepare(). up_engine_prepare() checks that it
 * can: 0 or -errno, and then up_engine_succeed() cannot fail. Blocks that are new begin: `on start`
 * runs. `next` is for the two to share.
 */
struct up_engine_next {
	struct up_vm vm;
	uint64_t *due, *hits;
};
int up_engine_prepare(struct up_engine *e, const struct up_plan *plan, struct up_engine_next *next,
		      struct up_status *st);
void up_engine_succeed(struct up_engine *e, struct up_engine_next *next,
		       const struct up_succession *s, uint64_t now);
void up_engine_next_fini(struct up_engine_next *next);

/* Takes in the next record. Those of unknown type are passed over. */
void up_engine_event(struct up_engine *e, const struct up_event *ev);
/*
 * Takes in what a merge has up to a time, as far as no more than that is to be handled for now.
 * Were there any?
 */
bool up_engine_take(struct up_engine *e, struct up_merge *m, uint64_t limit);

/* stop() was called, or max_handled is reached: no more is to be handled. */
bool up_engine_is_over(const struct up_engine *e);
/* Is nothing more to be taken in for now? */
bool up_engine_is_cut_short(const struct up_engine *e);

/* When the next timed block is due, ns; 0 when there is none. */
uint64_t up_engine_due(const struct up_engine *e);
/* Runs the timed blocks that are due at `now`. Those that were late run once. */
void up_engine_timers(struct up_engine *e, uint64_t now);

/* A timed block runs no more, or again, the first time after its interval. */
void up_engine_switch(struct up_engine *e, uint32_t block, bool on, uint64_t now);

/* What it has counted: sets those of the totals that it knows, and the others to 0. */
void up_engine_totals(const struct up_engine *e, struct up_out_totals *t);

#endif
