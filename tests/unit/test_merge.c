/* Time order over made pages: against a sort, with limits, waiting, late events and little memory.
 */
#include <stdlib.h>

#include "runtime/merge.h"
#include "tests/unit/ringbuild.h"
#include "tests/unit/unit.h"

#define PAGE 4096u
#define NR_EVENTS 30000u

/* One event that was made; the payload is its index. */
struct made {
	uint64_t ts;
	uint32_t cpu; /* index */
	uint32_t seq; /* when it was made */
};

/* All events of a run, and what each CPU has not yet delivered. */
struct world {
	struct made *ev; /* in the order made: by time */
	unsigned nr;
	unsigned nr_cpus;
	unsigned *next; /* of each CPU: index of its next event in ev, or nr */
	unsigned *cpus; /* CPU numbers: with holes */
	struct up_pageset pages;
	struct up_merge m;
	unsigned most_held; /* pages in queues at a time */
};

static void go_to_own(struct world *w, unsigned cpu)
{
	while (w->next[cpu] < w->nr && w->ev[w->next[cpu]].cpu != cpu)
		w->next[cpu]++;
}

/* Events in runs of about `run` on one CPU, a quarter of them at the time of the one before. */
static void make_events(struct world *w, unsigned nr_cpus, unsigned run, uint64_t *rng)
{
	uint64_t ts = 1000;
	uint32_t cpu = 0;

	for (unsigned i = 0; i < NR_EVENTS; i++) {
		uint64_t r = ring_random(rng);

		if (r % run == 0)
			cpu = (uint32_t)(r >> 40) % nr_cpus;
		ts += r >> 20 & 3 ? (r >> 24) % (r >> 23 & 255 ? 500 : 400000000) : 0;
		w->ev[w->nr++] = (struct made){ ts, cpu, i };
	}
}

static void world_init(struct world *w, unsigned nr_cpus, unsigned nr_pages, bool unordered)
{
	*w = (struct world){ .nr_cpus = nr_cpus };
	w->ev = calloc(NR_EVENTS, sizeof(*w->ev));
	w->next = calloc(nr_cpus, sizeof(*w->next));
	w->cpus = calloc(nr_cpus, sizeof(*w->cpus));
	for (unsigned i = 0; i < nr_cpus; i++)
		w->cpus[i] = 3 * i + 1;
	CHECK(!up_pageset_init(&w->pages, w->cpus, nr_cpus, PAGE, (size_t)nr_pages * PAGE));
	CHECK(!up_merge_init(&w->m, &w->pages, 8, unordered));
}

static void world_fini(struct world *w)
{
	up_merge_fini(&w->m);
	up_pageset_fini(&w->pages);
	free(w->ev);
	free(w->next);
	free(w->cpus);
}

/* Makes one page of a CPU's next events up to time `now`; at most `max`. */
static void fill(struct world *w, unsigned cpu, struct up_page *page, uint64_t now, unsigned max)
{
	struct ringbuild b;

	ringbuild_begin(&b, page->data, PAGE, 8, w->ev[w->next[cpu]].ts);
	for (; max && w->next[cpu] < w->nr && w->ev[w->next[cpu]].ts <= now; max--) {
		const struct made *e = &w->ev[w->next[cpu]];
		void *at = ringbuild_event(&b, e->ts, 4 + 4 * (e->seq % 40));

		if (!at)
			break;
		memcpy(at, &e->seq, 4);
		w->next[cpu]++;
		go_to_own(w, cpu);
	}
	ringbuild_end(&b, 0);
	page->size = PAGE;
}

/* Delivers, as a source would, what every CPU has at time `now`, as far as there are pages. */
static void drain(struct world *w, uint64_t now, unsigned max)
{
	unsigned held = w->pages.nr_pages;

	for (unsigned cpu = 0; cpu < w->nr_cpus; cpu++) {
		struct up_page *page;

		for (;;) {
			go_to_own(w, cpu);
			if (w->next[cpu] == w->nr || w->ev[w->next[cpu]].ts > now) {
				up_pageset_set_more(&w->pages, cpu, false);
				break;
			}
			page = up_pageset_take(&w->pages, cpu);
			if (!page)
				break;
			fill(w, cpu, page, now, max);
			up_pageset_push(&w->pages, cpu, page);
		}
	}
	held -= w->pages.nr_free;
	w->most_held = held > w->most_held ? held : w->most_held;
}

static uint32_t seq_of(const struct up_event *ev)
{
	uint32_t seq;

	memcpy(&seq, ev->payload, 4);
	return seq;
}

static int compare_made(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

/* Is the event the one made, with its time, CPU and length? */
static bool is_made(const struct world *w, const struct up_event *ev, const struct made *e)
{
	return seq_of(ev) == e->seq && ev->ts == e->ts && ev->cpu == w->cpus[e->cpu] &&
	       ev->len == 4 + 4 * (e->seq % 40);
}

/*
 * A whole run: time goes on in steps; at each the source knows a little more than the limit, and
 * what comes out must be exactly the sorted events up to the limit.
 */
static void run_ordered(unsigned nr_cpus, unsigned run, unsigned nr_pages, unsigned per_page)
{
	uint64_t rng = 1 + nr_cpus * 1000 + run, limit = 0, end;
	unsigned out = 0, wrong = 0, early = 0, missing = 0;
	struct made *sorted;
	struct up_event ev;
	struct world w;

	world_init(&w, nr_cpus, nr_pages, false);
	make_events(&w, nr_cpus, run, &rng);
	sorted = calloc(w.nr, sizeof(*sorted));
	memcpy(sorted, w.ev, w.nr * sizeof(*sorted));
	qsort(sorted, w.nr, sizeof(*sorted), compare_made);
	end = w.ev[w.nr - 1].ts;
	while (limit < end) {
		limit += 1 + ring_random(&rng) % (end / 20);
		for (unsigned i = 0; i < nr_cpus; i++)
			up_pageset_set_more(&w.pages, i, true);
		do {
			drain(&w, limit + ring_random(&rng) % 100000, per_page);
			while (up_merge_next(&w.m, limit, &ev)) {
				early += ev.ts > limit;
				wrong += out >= w.nr || !is_made(&w, &ev, &sorted[out]);
				out++;
			}
		} while (up_merge_waiting(&w.m));
		missing += out < w.nr && sorted[out].ts <= limit;
	}
	CHECK(out == w.nr);
	CHECK(!wrong);
	CHECK(!early);
	CHECK(!missing);
	CHECK(!w.m.late && !w.m.corrupt_pages);
	CHECK(w.most_held <= (nr_pages > nr_cpus ? nr_pages : nr_cpus));
	CHECK(w.pages.nr_free == w.pages.nr_pages && w.pages.nr_empty == nr_cpus);
	free(sorted);
	world_fini(&w);
}

static void test_ordered(void)
{
	static const unsigned cpus[] = { 1, 2, 3, 5, 17, 64, 256 };
	static const unsigned runs[] = { 1, 4, 300 };

	for (size_t c = 0; c < sizeof(cpus) / sizeof(*cpus); c++)
		for (size_t r = 0; r < sizeof(runs) / sizeof(*runs); r++) {
			run_ordered(cpus[c], runs[r], 1000, 1000);
			run_ordered(cpus[c], runs[r], 1, 1000); /* one page a CPU */
			run_ordered(cpus[c], runs[r], cpus[c] + 3, 2);
		}
}

/* Unordered: every event once, each CPU's in its order, whatever the limit. */
static void test_unordered(void)
{
	unsigned out = 0, back = 0, switches = 0, last_cpu = UINT32_MAX;
	uint64_t rng = 5, *last;
	struct up_event ev;
	struct world w;

	world_init(&w, 7, 12, true);
	make_events(&w, 7, 2, &rng);
	last = calloc(3 * 7 + 1, sizeof(*last));
	for (;;) {
		unsigned before = out;

		drain(&w, UINT64_MAX, 1000);
		while (up_merge_next(&w.m, out % 2 ? UINT64_MAX : 0, &ev)) {
			back += ev.ts < last[ev.cpu] || !is_made(&w, &ev, &w.ev[seq_of(&ev)]);
			switches += ev.cpu != last_cpu;
			last_cpu = ev.cpu;
			last[ev.cpu] = ev.ts;
			out++;
		}
		CHECK(!up_merge_waiting(&w.m));
		if (out == before)
			break;
	}
	CHECK(out == w.nr);
	CHECK(!back);
	CHECK(switches < w.nr / 10);
	CHECK(!w.m.late);
	free(last);
	world_fini(&w);
}

/* Queues a page with events at these times (ending with 0) for a CPU; flags as in ringpage.h. */
static void push_flagged(struct up_pageset *pages, unsigned cpu, const uint64_t *ts, uint32_t flags)
{
	struct up_page *page = up_pageset_take(pages, cpu);
	struct ringbuild b;

	CHECK(page != NULL);
	ringbuild_begin(&b, page->data, PAGE, 8, *ts);
	for (; *ts; ts++)
		memcpy(ringbuild_event(&b, *ts, 8), ts, 8);
	ringbuild_end(&b, flags);
	page->size = PAGE;
	up_pageset_push(pages, cpu, page);
}

static void push_times(struct up_pageset *pages, unsigned cpu, const uint64_t *ts)
{
	push_flagged(pages, cpu, ts, 0);
}

/* Takes one event; 0 when there is none. */
static uint64_t take(struct up_merge *m, uint64_t limit)
{
	struct up_event ev;

	return up_merge_next(m, limit, &ev) ? ev.ts : 0;
}

struct small {
	struct up_pageset pages;
	struct up_merge m;
};

static void small_init(struct small *s, unsigned nr_pages)
{
	static const unsigned cpus[] = { 0, 1 };

	CHECK(!up_pageset_init(&s->pages, cpus, 2, PAGE, (size_t)nr_pages * PAGE));
	CHECK(!up_merge_init(&s->m, &s->pages, 8, false));
}

static void small_fini(struct small *s)
{
	up_merge_fini(&s->m);
	up_pageset_fini(&s->pages);
}

static void test_limit_and_waiting(void)
{
	struct small s;

	small_init(&s, 8);
	push_times(&s.pages, 0, (uint64_t[]){ 10, 20, 30, 0 });
	/* CPU 1 has nothing, and something earlier may still come. */
	CHECK(!take(&s.m, 100) && up_merge_waiting(&s.m));
	push_times(&s.pages, 1, (uint64_t[]){ 5, 20, 0 });
	CHECK(take(&s.m, 100) == 5 && !up_merge_waiting(&s.m));
	CHECK(!take(&s.m, 9) && !take(&s.m, 9));
	CHECK(take(&s.m, 10) == 10);
	CHECK(take(&s.m, 20) == 20 && take(&s.m, 20) == 20);
	/* Now CPU 1 is used up, and 30 must not overtake it. */
	CHECK(!take(&s.m, 100) && up_merge_waiting(&s.m));
	up_pageset_set_more(&s.pages, 1, false);
	CHECK(take(&s.m, 100) == 30);
	up_pageset_set_more(&s.pages, 1, true);
	push_times(&s.pages, 0, (uint64_t[]){ 40, 0 });
	CHECK(!take(&s.m, 100) && up_merge_waiting(&s.m));
	up_pageset_set_more(&s.pages, 1, false);
	up_pageset_set_more(&s.pages, 0, false);
	CHECK(take(&s.m, 100) == 40);
	CHECK(!take(&s.m, 100) && !up_merge_waiting(&s.m));
	small_fini(&s);
}

/* Where events were lost is known as soon as the last one before the gap is handed out. */
static void test_gap(void)
{
	struct small s;

	small_init(&s, 8);
	push_times(&s.pages, 0, (uint64_t[]){ 10, 40, 0 });
	push_times(&s.pages, 1, (uint64_t[]){ 20, 0 });
	push_flagged(&s.pages, 1, (uint64_t[]){ 50, 60, 0 }, UP_RINGPAGE_LOST);
	CHECK(take(&s.m, 100) == 10 && take(&s.m, 100) == 20);
	CHECK(s.m.gaps.end[0] == 0 && s.m.gaps.end[1] == 0);
	CHECK(take(&s.m, 100) == 40);
	CHECK(s.m.gaps.end[0] == 0 && s.m.gaps.end[1] == 50);
	up_pageset_set_more(&s.pages, 0, false);
	CHECK(take(&s.m, 100) == 50 && take(&s.m, 100) == 60);
	CHECK(s.m.gaps.end[1] == 50);
	/* A page without events keeps the gap for the next one. */
	push_flagged(&s.pages, 1, (uint64_t[]){ 0 }, UP_RINGPAGE_LOST);
	push_times(&s.pages, 1, (uint64_t[]){ 70, 0 });
	CHECK(take(&s.m, 100) == 70 && s.m.gaps.end[1] == 70 && s.m.gaps.last == 70);
	small_fini(&s);
}

static void test_late(void)
{
	struct small s;

	small_init(&s, 8);
	up_pageset_set_more(&s.pages, 1, false);
	push_times(&s.pages, 0, (uint64_t[]){ 10, 20, 30, 40, 0 });
	CHECK(take(&s.m, 100) == 10 && take(&s.m, 100) == 20);
	push_times(&s.pages, 1, (uint64_t[]){ 15, 20, 25, 0 });
	CHECK(take(&s.m, 100) == 15 && s.m.late == 1);
	CHECK(take(&s.m, 100) == 20 && s.m.late == 1);
	CHECK(take(&s.m, 100) == 25 && take(&s.m, 100) == 30 && take(&s.m, 100) == 40);
	/* A CPU that goes back on itself, from page to page. */
	push_times(&s.pages, 0, (uint64_t[]){ 35, 50, 0 });
	up_pageset_set_more(&s.pages, 0, false);
	CHECK(take(&s.m, 100) == 35 && s.m.late == 2);
	CHECK(take(&s.m, 100) == 50 && s.m.late == 2);
	small_fini(&s);
}

/* The largest time of all, alone and twice. */
static void test_extreme_times(void)
{
	struct small s;

	small_init(&s, 8);
	push_times(&s.pages, 0, (uint64_t[]){ UINT64_MAX - 2, UINT64_MAX, 0 });
	push_times(&s.pages, 1, (uint64_t[]){ UINT64_MAX - 1, UINT64_MAX, 0 });
	up_pageset_set_more(&s.pages, 0, false);
	up_pageset_set_more(&s.pages, 1, false);
	CHECK(take(&s.m, UINT64_MAX) == UINT64_MAX - 2 && take(&s.m, UINT64_MAX) == UINT64_MAX - 1);
	CHECK(take(&s.m, UINT64_MAX) == UINT64_MAX && take(&s.m, UINT64_MAX) == UINT64_MAX);
	CHECK(!take(&s.m, UINT64_MAX) && !s.m.late);
	small_fini(&s);
}

/* Pages without events and broken ones are passed over; the latter are counted. */
static void test_bad_pages(void)
{
	struct up_page *page;
	struct ringbuild b;
	struct small s;

	small_init(&s, 8);
	up_pageset_set_more(&s.pages, 0, false);
	up_pageset_set_more(&s.pages, 1, false);
	push_times(&s.pages, 0, (uint64_t[]){ 0 });
	page = up_pageset_take(&s.pages, 0);
	memset(page->data, 0xff, PAGE);
	page->size = PAGE;
	up_pageset_push(&s.pages, 0, page);
	page = up_pageset_take(&s.pages, 0);
	ringbuild_begin(&b, page->data, PAGE, 8, 3);
	ringbuild_event(&b, 4, 8);
	ringbuild_header(&b, 28, 1); /* without its payload */
	ringbuild_end(&b, 0);
	page->size = PAGE;
	up_pageset_push(&s.pages, 0, page);
	push_times(&s.pages, 0, (uint64_t[]){ 7, 0 });
	CHECK(take(&s.m, 100) == 4 && s.m.corrupt_pages == 1);
	CHECK(take(&s.m, 100) == 7 && s.m.corrupt_pages == 2);
	CHECK(!take(&s.m, 100));
	CHECK(s.pages.nr_free == s.pages.nr_pages);
	small_fini(&s);
}

/* The pool: bounded, and no CPU without a page is ever refused one. */
static void test_pool(void)
{
	struct up_page *page;
	struct small s;
	unsigned nr = 0;

	small_init(&s, 5);
	while ((page = up_pageset_take(&s.pages, 0))) {
		up_pageset_push(&s.pages, 0, page);
		nr++;
	}
	CHECK(nr == 4 && s.pages.nr_free == 1);
	page = up_pageset_take(&s.pages, 1);
	CHECK(page && s.pages.nr_free == 0);
	up_pageset_put(&s.pages, page);
	CHECK(!up_pageset_take(&s.pages, 0));
	up_pageset_push(&s.pages, 1, up_pageset_take(&s.pages, 1));
	CHECK(!up_pageset_take(&s.pages, 0) && !up_pageset_take(&s.pages, 1));
	up_pageset_pop(&s.pages, 0);
	page = up_pageset_take(&s.pages, 1);
	CHECK(page != NULL);
	up_pageset_push(&s.pages, 1, page);
	small_fini(&s);
	CHECK(up_pageset_init(&s.pages, NULL, 0, PAGE, PAGE) < 0);
	CHECK(up_pageset_init(&s.pages, (unsigned[]){ 0 }, 1, SIZE_MAX / 2, PAGE) < 0);
}

int main(void)
{
	test_ordered();
	test_unordered();
	test_limit_and_waiting();
	test_gap();
	test_late();
	test_extreme_times();
	test_bad_pages();
	test_pool();
	return unit_report("merge");
}
