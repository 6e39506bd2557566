/*
 * What benchmarks of the handlers work on: a script that is compiled for a real program, and pages
 * of records as the kernel would write them for it, which the engine then takes in as in a run.
 */
#ifndef UP_BENCH_WORKLOAD_H
#define UP_BENCH_WORKLOAD_H

#include <time.h>

#include "lang/up.h"
#include "runtime/engine.h"
#include "runtime/merge.h"
#include "runtime/resolver.h"

#define WORK_PAGE ((size_t)64 << 10) /* bytes of a page, as uptick asks the kernel for */
#define WORK_BATCH 16                /* pages that are read before they are handled */

/* What the records hold. */
struct work_mix {
	size_t nr_events;
	uint64_t nr_keys;    /* arg0 is one of so many numbers */
	unsigned nr_threads; /* which take turns */
	unsigned nr_sites;   /* likewise */
	unsigned nr_cpus;    /* likewise: each event comes from another */
	bool calls;          /* an entry is followed by its return, of the same thread and place */
};

struct work {
	struct up_elf_resolver *resolver;
	struct up_compile *compile;
	struct up_plan *plan;
	struct up_records records;
	struct up_out out; /* nobody reads it */
	struct up_engine engine;
	struct work_mix mix;
	unsigned char *pages; /* WORK_PAGE bytes each, in the order of reading */
	unsigned *page_cpu;   /* of each: whose it is */
	size_t nr_pages, cap_pages;
	struct up_pageset set; /* a batch of them */
	struct up_merge merge;
};

/* Compiles a script and learns how its records look. Ends the program when it cannot. */
void work_open(struct work *w, const char *script);
/* Writes the pages. */
void work_fill(struct work *w, const struct work_mix *mix);
/* Has the engine take in all pages; returns the ns of CPU time that it took. */
double work_run(struct work *w);
/* Forgets what was gathered: the next run begins anew. */
void work_restart(struct work *w);
void work_close(struct work *w);

/* CPU time of the thread, ns. */
static inline double work_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#endif
