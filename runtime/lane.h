/*
 * Lanes: handlers that work with numbers alone, in a form that runs on many hits at once, several
 * times faster than the machine does one after the other. Such a handler reads numbers of the
 * record, computes, and gives them to aggregations; nothing it does can fail to be read, or take
 * long, or be seen before its lane has run.
 *
 * A lane gathers hits of its handler. When it runs, each instruction is carried out for all of them
 * before the next instruction is; what an aggregation is given, it is given in the order of hits.
 */
#ifndef UP_LANE_H
#define UP_LANE_H

#include "runtime/merge.h"
#include "runtime/records.h"
#include "runtime/vm.h"

#define UP_LANE_HITS UP_TABLE_MANY

struct up_lane {
	uint16_t id;                 /* the records it is for: struct up_record_event.id */
	uint32_t prog;               /* the handler: index in plan->progs */
	const struct up_field *args; /* where its arguments stood when it was made */
	struct up_lane *next;        /* for whoever made it */
	struct up_lane_insn *code;   /* the handler's instructions, one for one */
	uint32_t nr_code;
	uint64_t (*regs)[UP_LANE_HITS]; /* the registers of all hits */
	/* The hits that were gathered. */
	unsigned nr;
	const unsigned char *rec[UP_LANE_HITS]; /* their records, borrowed */
	uint64_t time[UP_LANE_HITS];
	uint32_t cpu[UP_LANE_HITS];
};

/*
 * The lane of a handler for one kind of records, whose arguments stand at args[]; NULL when it can
 * have none, or for want of memory. Neither need outlive it.
 */
struct up_lane *up_lane_new(struct up_vm *vm, uint32_t prog, const struct up_record_event *kind,
			    const struct up_field *args);
void up_lane_free(struct up_lane *lane);

/* Runs the handler on the hits that were gathered, and counts them. */
void up_lane_run(struct up_lane *lane, struct up_vm *vm);

/* Gathers a hit, whose record must stay until the lane has run; runs it when it is full. */
static inline void up_lane_add(struct up_lane *lane, struct up_vm *vm, const struct up_event *ev)
{
	unsigned n = lane->nr;

	lane->rec[n] = ev->payload;
	lane->time[n] = ev->ts;
	lane->cpu[n] = ev->cpu;
	lane->nr = n + 1;
	if (lane->nr == UP_LANE_HITS)
		up_lane_run(lane, vm);
}

#endif
