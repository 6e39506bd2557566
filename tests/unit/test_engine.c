/* What the engine makes of losses: what it knew of threads before one is looked up again. */
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/engine.h"
#include "tests/unit/recbuild.h"
#include "tests/unit/unit.h"
#include "tests/unit/waiter.h"

#define PAGE 4096
#define MISSED (1u << 31) /* in the commit field: events were lost before this page */
#define NOBODY 0x3ffffff0 /* no kernel gives such a number */

struct world {
	struct up_plan *plan;
	struct up_records records;
	struct up_engine engine;
	struct up_out out;
	struct up_pageset set;
	struct up_merge merge;
};

static void start(struct world *w)
{
	static const char script[] = "probe app:alpha < n = count() by pid >\n";
	static const unsigned cpus[] = { 0 };
	const struct up_engine_opts opts = { 0 };
	struct up_status st = { 0 };

	*w = (struct world){ .out = { .fd = -1, .form = up_out_form_find("csv") } };
	w->plan = rec_compile(&fake_resolver, script, false, NULL);
	CHECK(w->plan && !up_records_make(&w->records, w->plan));
	CHECK(!up_engine_init(&w->engine, w->plan, &w->records, &opts, &w->out, &st));
	CHECK(!up_pageset_init(&w->set, cpus, 1, PAGE, 16 * PAGE));
	CHECK(!up_merge_init(&w->merge, &w->set, 8, false));
	up_engine_set_gaps(&w->engine, &w->merge.gaps);
	up_engine_begin(&w->engine, up_clock_ns(CLOCK_MONOTONIC));
}

static void end(struct world *w)
{
	up_merge_fini(&w->merge);
	up_pageset_fini(&w->set);
	up_engine_fini(&w->engine);
	up_records_fini(&w->records);
	up_plan_free(w->plan);
	up_out_fini(&w->out);
}

/* A thread hits the probe now, in a page of its own. */
static void hit(struct world *w, pid_t tid, uint32_t flags)
{
	const struct up_record_event *e = &w->records.events[0];
	struct up_page *page = up_pageset_take(&w->set, 0);
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);
	uint32_t len = (e->fixed_size + 3u) & ~3u, site = 0;
	struct ringbuild b;

	ringbuild_begin(&b, page->data, PAGE, 8, now);
	unsigned char *rec = ringbuild_event(&b, now, len);
	memset(rec, 0, len);
	memcpy(rec, &e->id, sizeof(e->id));
	memcpy(rec + e->tid.off, &tid, sizeof(tid));
	memcpy(rec + e->site_field.off, &site, sizeof(site));
	ringbuild_end(&b, flags);
	page->size = PAGE;
	up_pageset_push(&w->set, 0, page);
	CHECK(up_engine_take(&w->engine, &w->merge, UINT64_MAX));
}

/* How many hits were those of a process? */
static unsigned count_of(struct world *w, pid_t pid)
{
	const struct up_value key = { .s = pid };

	return (unsigned)up_vm_agg_field(&w->engine.vm, 0, &key, 0).u;
}

/*
 * The number of a thread had belonged to somebody else, whose end was lost as was the beginning of
 * the thread: the page says so, or the buffers were made larger meanwhile.
 */
static void test_reused(bool page_says)
{
	uint64_t before = up_clock_ns(CLOCK_MONOTONIC);
	struct world w;
	pid_t tid;

	start(&w);
	usleep(30000); /* the kernel tells when a thread began in steps of 10 ms */
	pthread_t t = waiter_start(&tid);
	up_procs_know(&w.engine.vm.procs, tid, NOBODY, before);
	hit(&w, tid, 0);
	CHECK(count_of(&w, NOBODY) == 1 && count_of(&w, getpid()) == 0);
	if (!page_says)
		w.engine.gap_at = up_clock_ns(CLOCK_MONOTONIC);
	hit(&w, tid, page_says ? MISSED : 0);
	hit(&w, tid, 0);
	CHECK(count_of(&w, NOBODY) == 1 && count_of(&w, getpid()) == 2);
	waiter_end(t);
	end(&w);
}

int main(void)
{
	test_reused(true);
	test_reused(false);
	return unit_report("engine");
}
