/*
 * What reading a page costs: copying it, our walk, libtraceevent's walk, and the merge of several
 * CPUs, in nanoseconds per event, side by side in one run.
 *
 *     pagewalk [BYTES_PER_EVENT]     payload, 36 unless given
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <traceevent/kbuffer.h>

#include "runtime/merge.h"
#include "tests/unit/ringbuild.h"

#define TOTAL ((size_t)8 << 20) /* bytes of pages */
#define ROUNDS 15               /* the best of them counts */
#define MAX_CPUS 64

struct set {
	unsigned char *pages, *copy;
	size_t page_size, nr_pages, nr_events;
	struct kbuffer *kb;
};

static uint64_t sink; /* keeps results alive */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t field(const void *payload)
{
	uint64_t v;

	memcpy(&v, (const char *)payload + 8, sizeof(v));
	return v;
}

static void make_set(struct set *s, size_t page_size, uint32_t event_len)
{
	uint64_t ts = 1, rng = 3;

	*s = (struct set){ .page_size = page_size, .nr_pages = TOTAL / page_size };
	s->pages = aligned_alloc(4096, TOTAL);
	s->copy = aligned_alloc(4096, TOTAL);
	s->kb = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!s->pages || !s->copy || !s->kb)
		exit(1);
	memset(s->copy, 1, TOTAL);
	for (size_t i = 0; i < s->nr_pages; i++) {
		struct ringbuild b;
		void *at;

		ringbuild_begin(&b, s->pages + i * page_size, page_size, 8, ts);
		while ((at = ringbuild_event(&b, ts += ring_random(&rng) % 4000, event_len))) {
			memset(at, (int)ts, event_len);
			s->nr_events++;
		}
		ringbuild_end(&b, 0);
	}
}

static void copy_pages(struct set *s)
{
	for (size_t i = 0; i < s->nr_pages; i++)
		memcpy(s->copy + i * s->page_size, s->pages + i * s->page_size, s->page_size);
	sink += s->copy[ring_random(&sink) % TOTAL];
}

static void walk_ours(struct set *s)
{
	uint64_t sum = 0, ts;
	const void *payload;
	uint32_t len;

	for (size_t i = 0; i < s->nr_pages; i++) {
		struct up_ringpage p;

		up_ringpage_init(&p, s->pages + i * s->page_size, s->page_size, 8);
		while (up_ringpage_next(&p, &payload, &len, &ts))
			sum += field(payload) ^ ts ^ len;
	}
	sink += sum;
}

static void walk_kbuffer(struct set *s)
{
	unsigned long long ts;
	uint64_t sum = 0;

	for (size_t i = 0; i < s->nr_pages; i++) {
		kbuffer_load_subbuffer(s->kb, s->pages + i * s->page_size);
		for (void *at = kbuffer_read_event(s->kb, &ts); at;
		     at = kbuffer_next_event(s->kb, &ts))
			sum += field(at) ^ ts ^ (uint32_t)kbuffer_event_size(s->kb);
	}
	sink += sum;
}

static double best_of(void (*work)(struct set *), struct set *s)
{
	double best = 1e18;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now_ns(), took;

		work(s);
		took = (now_ns() - start) / (double)s->nr_events;
		best = took < best ? took : best;
	}
	return best;
}

/* Deals events to the CPUs in runs of `run`, over pages as long as memory lasts. */
static size_t deal(struct up_pageset *pages, unsigned nr_cpus, unsigned run, uint32_t event_len)
{
	struct ringbuild b[MAX_CPUS] = { 0 };
	struct up_page *open[MAX_CPUS] = { 0 };
	size_t nr = 0;

	for (uint64_t ts = 1;; nr++, ts += 100) {
		unsigned cpu = (unsigned)(nr / run % nr_cpus);
		void *at = open[cpu] ? ringbuild_event(&b[cpu], ts, event_len) : NULL;

		if (!at) {
			if (open[cpu])
				ringbuild_end(&b[cpu], 0);
			open[cpu] = up_pageset_take(pages, cpu);
			if (!open[cpu])
				break;
			open[cpu]->size = pages->page_size;
			ringbuild_begin(&b[cpu], open[cpu]->data, pages->page_size, 8, ts);
			up_pageset_push(pages, cpu, open[cpu]);
			at = ringbuild_event(&b[cpu], ts, event_len);
		}
		memset(at, (int)nr, event_len);
	}
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		if (open[cpu])
			ringbuild_end(&b[cpu], 0);
	return nr;
}

static double merge_once(unsigned nr_cpus, unsigned run, uint32_t event_len, size_t page_size)
{
	unsigned cpus[MAX_CPUS];
	struct up_pageset pages;
	struct up_event ev;
	struct up_merge m;
	uint64_t sum = 0;
	double start;
	size_t nr;

	for (unsigned i = 0; i < nr_cpus; i++)
		cpus[i] = i;
	if (up_pageset_init(&pages, cpus, nr_cpus, page_size, TOTAL) ||
	    up_merge_init(&m, &pages, 8, false))
		exit(1);
	nr = deal(&pages, nr_cpus, run, event_len);
	for (unsigned i = 0; i < nr_cpus; i++)
		up_pageset_set_more(&pages, i, false);
	start = now_ns();
	while (up_merge_next(&m, UINT64_MAX, &ev))
		sum += field(ev.payload) ^ ev.ts ^ ev.len;
	start = (now_ns() - start) / (double)nr;
	sink += sum;
	up_merge_fini(&m);
	up_pageset_fini(&pages);
	return start;
}

static void bench_merge(unsigned nr_cpus, unsigned run, uint32_t event_len, double walk)
{
	double best = 1e18;

	for (int i = 0; i < 5; i++) {
		double took = merge_once(nr_cpus, run, event_len, 65536);

		best = took < best ? took : best;
	}
	printf("merge of %2u CPUs, runs of %4u: %6.2f ns/event, %.2f above the walk\n", nr_cpus,
	       run, best, best - walk);
}

static double bench_pages(size_t page_size, uint32_t event_len)
{
	double copy, ours, theirs;
	struct set s;

	make_set(&s, page_size, event_len);
	copy = best_of(copy_pages, &s);
	ours = best_of(walk_ours, &s);
	theirs = best_of(walk_kbuffer, &s);
	printf("%2zu KiB pages, %zu events of %u bytes, ns/event: memcpy %.2f, walk %.2f, "
	       "kbuffer %.2f; walk/memcpy %.2f, kbuffer/walk %.1f\n",
	       page_size >> 10, s.nr_events, event_len, copy, ours, theirs, ours / copy,
	       theirs / ours);
	kbuffer_free(s.kb);
	free(s.pages);
	free(s.copy);
	return ours;
}

int main(int argc, char **argv)
{
	uint32_t event_len = argc > 1 ? (uint32_t)atoi(argv[1]) & ~3u : 36;
	double walk;

	if (event_len < 16 || event_len > 3000) {
		fputs("pagewalk: BYTES_PER_EVENT is 16 to 3000\n", stderr);
		return 2;
	}
	bench_pages(4096, event_len);
	walk = bench_pages(65536, event_len);
	bench_merge(1, 1, event_len, walk);
	bench_merge(2, 1000, event_len, walk);
	bench_merge(2, 1, event_len, walk);
	bench_merge(8, 10, event_len, walk);
	bench_merge(64, 1, event_len, walk);
	return sink == 42;
}
