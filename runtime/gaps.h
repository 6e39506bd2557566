/* Where events were lost. Knows nothing of how that was found out. */
#ifndef UP_GAPS_H
#define UP_GAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * By the time of the first event after a loss; 0: never. A loss is known as soon as the last event
 * before it was handed out.
 */
struct up_gaps {
	uint64_t *end; /* of the latest loss of each CPU, by its number */
	uint32_t nr;   /* numbers that there is room for */
	uint64_t last; /* the latest of them */
};

/* False without memory. */
static inline bool up_gaps_init(struct up_gaps *g, uint32_t nr)
{
	*g = (struct up_gaps){ .end = calloc(nr, sizeof(*g->end)), .nr = nr };
	return g->end;
}

static inline void up_gaps_fini(struct up_gaps *g)
{
	free(g->end);
	*g = (struct up_gaps){ 0 };
}

/* Events of a CPU were lost before the one at `ts`. */
static inline void up_gaps_note(struct up_gaps *g, uint32_t cpu, uint64_t ts)
{
	g->end[cpu] = ts;
	g->last = ts > g->last ? ts : g->last;
}

/* Events of every CPU. */
static inline void up_gaps_note_all(struct up_gaps *g, uint64_t ts)
{
	for (uint32_t i = 0; i < g->nr; i++)
		up_gaps_note(g, i, ts);
}

#endif
