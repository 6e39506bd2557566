/*
 * How many threads began and ended on the machine in a stretch of time: a bound for how many of
 * the kernel's records about them can be among those that were lost. Knows nothing of records.
 */
#ifndef UP_TASKS_H
#define UP_TASKS_H

#include <stdbool.h>
#include <stdint.h>

struct up_tasks {
	uint64_t born;  /* threads made since boot */
	uint64_t alive; /* threads there are, those counted in that have ended and wait for their
			   parent */
	bool known;     /* could it be read? */
};

void up_tasks_read(struct up_tasks *t);

/*
 * Beginnings and ends between an earlier reading and now, at most; UINT64_MAX when that cannot be
 * told.
 */
uint64_t up_tasks_since(const struct up_tasks *earlier);

#endif
