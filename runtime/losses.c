/* When to tell of losses, and how far buffers may grow. */
#include "runtime/losses.h"

#include <stdio.h>

#define FACTOR 4 /* by which buffers grow */
#define SHARE 16 /* the part of the free memory that they may take */

bool up_losses_tell(struct up_losses *l, uint64_t nr, uint64_t now)
{
	if (nr <= l->told || (l->told_at && now - l->told_at < UP_LOSSES_PAUSE))
		return false;
	l->told = nr;
	l->told_at = now;
	return true;
}

uint64_t up_losses_larger(uint64_t kb, unsigned nr_cpus, uint64_t free_kb)
{
	uint64_t most = nr_cpus ? free_kb / SHARE / nr_cpus : 0;
	uint64_t larger = kb * FACTOR < most ? kb * FACTOR : most;

	return larger < kb * 2 ? 0 : larger;
}

uint64_t up_losses_free_kb(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kb = 0;
	char line[128];

	while (f && !kb && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kb) != 1)
			kb = 0;
	if (f)
		fclose(f);
	return kb;
}
