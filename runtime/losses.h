/*
 * Losses while a run goes on: when to tell of them, and how large the buffers may become. Knows
 * neither how they are told nor how buffers grow.
 */
#ifndef UP_LOSSES_H
#define UP_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#define UP_LOSSES_PAUSE 5000000000u /* ns between two messages */

struct up_losses {
	uint64_t told;    /* how many losses there were when it was last told */
	uint64_t told_at; /* ns; 0: never */
	bool may_grow;    /* may the buffers be made larger? Once they may. */
};

/* Is it to be told now that there were so many losses? Then it counts as told. */
bool up_losses_tell(struct up_losses *l, uint64_t nr, uint64_t now);

/*
 * The size that buffers of `kb` KiB on each of nr_cpus get when they turn out too small, where
 * `free_kb` KiB of memory are available: as large as four times, if they then take a sixteenth of
 * that memory at most; 0 when they cannot even be twice as large.
 */
uint64_t up_losses_larger(uint64_t kb, unsigned nr_cpus, uint64_t free_kb);

/* "MemAvailable" of /proc/meminfo, KiB; 0 when that cannot be told. */
uint64_t up_losses_free_kb(void);

#endif
