/* Scripts and the pages for them. */
#include "bench/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/ringbuild.h"

#define STEP_NS 700 /* between two events */
#define STACK 0x7ffd00000000
#define CALLER 0x55d000001234
#define NAME "bench" /* of the thread: the one string that records have */

static void die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(2);
}

/* ---- scripts ---- */

static void compile(struct work *w, const char *script)
{
	const struct up_elf_options opts = { .compile_once = true };

	w->resolver = up_elf_resolver_new(&opts);
	w->compile = up_compile_new();
	if (!w->resolver || !w->compile)
		die("out of memory");
	const struct up_env env = { .resolver = up_elf_resolver_iface(w->resolver),
				    .aggs = up_agg_rows,
				    .max_arg_text = UP_MAX_ARG_TEXT,
				    .max_args = UP_MAX_ARGS,
				    .max_sites = UP_MAX_SITES };
	w->plan = up_compile(w->compile, &env, "bench.up", script, strlen(script));
	for (size_t i = 0; i < w->compile->diags.list.nr; i++)
		fprintf(stderr, "bench: %s\n", w->compile->diags.list.v[i].msg);
	if (!w->plan)
		die(script);
}

/* As in a run: asked for before every event. */
static unsigned no_urgency(void)
{
	static volatile int is_stopped;

	return (unsigned)is_stopped;
}

static void start_engine(struct work *w)
{
	const struct up_engine_opts opts = { .urgency = no_urgency };
	struct up_status st = { 0 };

	if (up_engine_init(&w->engine, w->plan, &w->records, &opts, &w->out, &st))
		die("the engine");
	up_engine_begin(&w->engine, 1);
}

void work_open(struct work *w, const char *script)
{
	*w = (struct work){ .out = { .form = up_out_form_find("text"), .fd = -1 } };
	compile(w, script);
	if (up_records_make(&w->records, w->plan))
		die("out of memory");
	start_engine(w);
}

void work_restart(struct work *w)
{
	up_engine_fini(&w->engine);
	start_engine(w);
}

static void free_pages(struct work *w)
{
	if (!w->nr_pages)
		return;
	up_merge_fini(&w->merge);
	up_pageset_fini(&w->set);
	free(w->pages);
	free(w->page_cpu);
	w->pages = NULL;
	w->page_cpu = NULL;
	w->nr_pages = w->cap_pages = 0;
}

void work_close(struct work *w)
{
	up_engine_fini(&w->engine);
	free_pages(w);
	up_records_fini(&w->records);
	up_out_fini(&w->out);
	up_plan_free(w->plan);
	up_compile_free(w->compile);
	up_elf_resolver_free(w->resolver);
}

/* ---- pages ---- */

/* One hit. */
struct hit {
	uint64_t number; /* which one */
	bool is_return;
	uint32_t site;
	pid_t tid;
	uint64_t arg0, arg1;
};

/* What an argument fetches. */
static uint64_t value_of(const struct hit *h, const char *fetch)
{
	if (!strcmp(fetch, "%di") || !strcmp(fetch, "%x0"))
		return h->arg0;
	if (!strcmp(fetch, "%si") || !strcmp(fetch, "%x1"))
		return h->arg1;
	if (!strcmp(fetch, "%sp"))
		return STACK + ((uint64_t)h->tid << 20) + (h->is_return ? 8 : 0);
	return CALLER;
}

static void put(unsigned char *rec, const struct up_field *f, uint64_t value)
{
	memcpy(rec + f->off, &value, f->size);
}

static uint32_t length_of(const struct work *w, const struct up_record_event *e)
{
	const struct up_plan_event *pe = &w->plan->events[e->event];
	uint32_t len = e->fixed_size;

	for (uint32_t i = 0; i < pe->nr_args; i++)
		len += pe->args[i].size ? 0 : sizeof(NAME);
	return (len + 3) & ~3u;
}

/* Strings stand one behind the other after the fixed part, whose end is *at. */
static void put_string(unsigned char *rec, const struct up_field *f, uint32_t *at)
{
	put(rec, f, *at | sizeof(NAME) << 16);
	memcpy(rec + *at, NAME, sizeof(NAME));
	*at += sizeof(NAME);
}

static void write_record(const struct work *w, const struct up_record_event *e, const struct hit *h,
			 unsigned char *rec)
{
	const struct up_plan_event *pe = &w->plan->events[e->event];
	uint64_t place = 0x55d000000000 + w->plan->sites[h->site].addr;
	uint32_t end = e->fixed_size;

	memset(rec, 0, length_of(w, e));
	memcpy(rec, &e->id, sizeof(e->id));
	put(rec, &e->tid, (uint64_t)h->tid);
	put(rec, &e->ip, place);
	put(rec, &e->ret_ip, CALLER);
	put(rec, &e->site_field, h->site);
	for (uint32_t i = 0; i < pe->nr_args; i++)
		if (pe->args[i].size)
			put(rec, &e->args[i], value_of(h, pe->args[i].fetch));
		else
			put_string(rec, &e->args[i], &end);
}

/* Sizes and times are spread like this: many small ones, few large ones. */
static uint64_t spread(uint64_t random)
{
	return (random & 0xffff) << (random >> 60);
}

/* The sites of entries, or of returns. */
struct sites {
	uint32_t *v;
	uint32_t nr;
};

static struct sites find_sites(const struct work *w, bool is_return)
{
	struct sites s = { calloc(w->plan->nr_sites, sizeof(*s.v)), 0 };

	for (uint32_t i = 0; i < w->plan->nr_sites; i++)
		if (w->plan->events[w->plan->sites[i].event].is_return == is_return)
			s.v[s.nr++] = i;
	return s;
}

static struct hit make_hit(const struct work_mix *mix, const struct sites sites[2], uint64_t i)
{
	uint64_t call = mix->calls ? i / 2 : i, rng = call * 0x9e3779b97f4a7c15 + 88172645463325252;
	struct hit h = { .number = i, .is_return = mix->calls && i % 2 };

	h.tid = (pid_t)(1000 + call % mix->nr_threads);
	h.site = sites[h.is_return].v[call % mix->nr_sites % sites[h.is_return].nr];
	h.arg0 = ring_random(&rng) % mix->nr_keys;
	h.arg1 = spread(ring_random(&rng));
	return h;
}

/* Opens a page for a CPU. */
static void add_page(struct work *w, struct ringbuild *b, unsigned cpu, uint64_t ts)
{
	if (w->nr_pages == w->cap_pages)
		die("pages were counted wrongly");
	w->page_cpu[w->nr_pages] = cpu;
	ringbuild_begin(b, w->pages + w->nr_pages++ * WORK_PAGE, WORK_PAGE, 8, ts);
}

static void write_pages(struct work *w, struct ringbuild *b)
{
	struct sites sites[] = { find_sites(w, false), find_sites(w, true) };

	for (uint64_t i = 0; i < w->mix.nr_events; i++) {
		unsigned cpu = (unsigned)(i % w->mix.nr_cpus);
		struct hit h = make_hit(&w->mix, sites, i);
		const struct up_record_event *e = &w->records.events[w->plan->sites[h.site].event];
		uint64_t ts = (i + 1) * STEP_NS;
		void *at = b[cpu].page ? ringbuild_event(&b[cpu], ts, length_of(w, e)) : NULL;

		if (!at) {
			if (b[cpu].page)
				ringbuild_end(&b[cpu], 0);
			add_page(w, &b[cpu], cpu, ts);
			at = ringbuild_event(&b[cpu], ts, length_of(w, e));
		}
		write_record(w, e, &h, at);
	}
	free(sites[0].v);
	free(sites[1].v);
}

/* Pages that hold so many events, and one begun for each CPU. */
static size_t count_pages(const struct work *w, const struct work_mix *mix)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < w->plan->nr_events; i++)
		if (length_of(w, &w->records.events[i]) > longest)
			longest = length_of(w, &w->records.events[i]);
	return mix->nr_events / ((WORK_PAGE - 16) / (longest + 4)) + 2 * mix->nr_cpus + 1;
}

static void open_merge(struct work *w)
{
	unsigned *cpus = calloc(w->mix.nr_cpus, sizeof(*cpus));
	size_t nr = WORK_BATCH + 2 * w->mix.nr_cpus;

	for (unsigned i = 0; cpus && i < w->mix.nr_cpus; i++)
		cpus[i] = i;
	if (!cpus || up_pageset_init(&w->set, cpus, w->mix.nr_cpus, WORK_PAGE, nr * WORK_PAGE) ||
	    up_merge_init(&w->merge, &w->set, 8, !w->plan->needs_order && !w->mix.calls))
		die("out of memory");
	memset(w->set.mem, 1, w->set.mem_size); /* it is not what is measured */
	up_engine_set_gaps(&w->engine, &w->merge.gaps);
	free(cpus);
}

void work_fill(struct work *w, const struct work_mix *mix)
{
	struct ringbuild *b = calloc(mix->nr_cpus, sizeof(*b));

	free_pages(w);
	w->mix = *mix;
	w->cap_pages = count_pages(w, mix);
	w->pages = aligned_alloc(WORK_PAGE, w->cap_pages * WORK_PAGE);
	w->page_cpu = calloc(w->cap_pages, sizeof(*w->page_cpu));
	if (!b || !w->pages || !w->page_cpu)
		die("out of memory");
	write_pages(w, b);
	for (unsigned cpu = 0; cpu < mix->nr_cpus; cpu++)
		if (b[cpu].page)
			ringbuild_end(&b[cpu], 0);
	free(b);
	open_merge(w);
}

/* ---- runs ---- */

/* Reads pages as the source does, which copies them: while there is room for some. */
static size_t read_batch(struct work *w, size_t from)
{
	size_t end = from + WORK_BATCH + w->mix.nr_cpus;

	for (; from < w->nr_pages && from < end; from++) {
		unsigned cpu = w->page_cpu[from];
		struct up_page *page = up_pageset_take(&w->set, cpu);

		if (!page)
			break;
		memcpy(page->data, w->pages + from * WORK_PAGE, WORK_PAGE);
		page->size = WORK_PAGE;
		up_pageset_push(&w->set, cpu, page);
	}
	for (unsigned i = 0; i < w->mix.nr_cpus; i++)
		up_pageset_set_more(&w->set, i, from < w->nr_pages);
	return from;
}

static void handle_batch(struct work *w)
{
	up_engine_take(&w->engine, &w->merge, UINT64_MAX);
	w->out.buf.len = 0;
}

double work_run(struct work *w)
{
	uint64_t before = w->engine.vm.counts.handled + w->engine.vm.counts.filtered;
	double took = 0;

	w->merge.last = 0; /* time begins anew */
	for (size_t at = 0; at < w->nr_pages;) {
		at = read_batch(w, at);
		double start = work_now();
		handle_batch(w);
		took += work_now() - start;
	}
	uint64_t seen = w->engine.vm.counts.handled + w->engine.vm.counts.filtered - before;
	if (seen + (w->mix.calls ? w->mix.nr_events / 2 : 0) < w->mix.nr_events)
		die("not every event was handled");
	return took;
}
