/* The kernel's clocks as numbers. */
#ifndef UP_CLOCK_H
#define UP_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t up_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Milliseconds of CLOCK_MONOTONIC, for limits. */
static inline int64_t up_clock_ms(void)
{
	return (int64_t)(up_clock_ns(CLOCK_MONOTONIC) / 1000000);
}

#endif
