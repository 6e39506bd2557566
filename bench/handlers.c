/*
 * What the handlers of one event cost, in ns of CPU time: from pages in memory, as they were read
 * from the kernel, to what has been gathered. Beside it the same count by libtraceevent's kbuffer
 * with a handler in C, over the same pages. The rounds of all alternate.
 *
 *     handlers PROGRAM [ROUNDS [NAME]]      PROGRAM has a function bench_0000
 *
 * Prints NAME=PS, a row a line; NAME: only that one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/kbuffer.h>

#include "bench/workload.h"

#define EVENTS 400000
#define MAX_ROUNDS 99

/* ---- kbuffer and C ---- */

/* A hash table as one writes it for this one purpose. */
struct counts {
	struct {
		uint64_t key, count;
		bool used;
	} * slots;
	size_t mask, nr;
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccd;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53;
	return x ^ x >> 33;
}

static uint64_t *count_at(struct counts *c, uint64_t key)
{
	size_t i = mix(key) & c->mask;

	while (c->slots[i].used && c->slots[i].key != key)
		i = (i + 1) & c->mask;
	if (!c->slots[i].used) {
		c->slots[i].used = true;
		c->slots[i].key = key;
		c->nr++;
	}
	return &c->slots[i].count;
}

static double run_kbuffer(struct work *w, struct counts *c)
{
	struct kbuffer *kb = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_SAME_AS_HOST);
	const struct up_record_event *e = &w->records.events[0];
	static unsigned char page[WORK_PAGE];
	unsigned long long ts;
	double took = 0;

	for (size_t i = 0; i < w->nr_pages; i++) {
		memcpy(page, w->pages + i * WORK_PAGE, WORK_PAGE);
		double start = work_now();
		kbuffer_load_subbuffer(kb, page);
		for (unsigned char *at = kbuffer_read_event(kb, &ts); at;
		     at = kbuffer_next_event(kb, &ts)) {
			uint64_t key;
			uint16_t id;

			memcpy(&id, at, sizeof(id));
			if (id != e->id)
				continue;
			memcpy(&key, at + e->args[0].off, sizeof(key));
			++*count_at(c, key);
		}
		took += work_now() - start;
	}
	kbuffer_free(kb);
	return took;
}

/* ---- the rows ---- */

static const struct row {
	const char *name;
	const char *script; /* behind the target */
	uint64_t nr_keys;
	unsigned nr_cpus;
	bool calls;
} rows[] = {
	{ "count", "< count() >", 64, 2, false },
	{ "count_by_64", "< count() by arg0 >", 64, 2, false },
	{ "count_by_10000", "< count() by arg0 >", 10000, 2, false },
	{ "filter_sum_hist", "when (arg0 > 6) < sum(arg1)\nhist(arg1) >", 64, 2, false },
	{ "sum_hist_by", "< sum(arg1) by arg0\nhist(arg1) by arg0 >", 64, 2, false },
	{ "latency_hist", "on return < hist(elapsed) >", 64, 2, true },
	{ "printf", "< printf(\"%d\\n\", arg0) >", 64, 2, false },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static void open_row(struct work *w, const struct row *r, const char *program)
{
	const struct work_mix mix = { .nr_events = EVENTS,
				      .nr_keys = r->nr_keys,
				      .nr_threads = 2,
				      .nr_sites = 1,
				      .nr_cpus = r->nr_cpus,
				      .calls = r->calls };
	struct up_buf script = { 0 };

	up_buf_printf(&script, "probe %s:bench_0000 %s", program, r->script);
	work_open(w, script.s);
	work_fill(w, &mix);
	up_buf_fini(&script);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Whole ps per event: the median, and the best beside it. */
static void report(const char *name, double *took, unsigned nr)
{
	qsort(took, nr, sizeof(*took), compare);
	printf("%s=%.0f\n%s.best=%.0f\n", name, took[nr / 2] * 1000 / EVENTS, name,
	       took[0] * 1000 / EVENTS);
}

static int only(const char *name, const char *program, unsigned rounds)
{
	double took[MAX_ROUNDS];
	struct work w;

	for (size_t i = 0; i < NR_ROWS; i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		open_row(&w, &rows[i], program);
		for (unsigned round = 0; round < rounds; round++)
			took[round] = work_run(&w);
		report(name, took, rounds);
		work_close(&w);
		return 0;
	}
	return 2;
}

int main(int argc, char **argv)
{
	static double took[NR_ROWS][MAX_ROUNDS], peer[MAX_ROUNDS];
	static struct work works[NR_ROWS];
	struct counts counts = { .mask = 4095 };
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 15;

	if (argc < 2 || !rounds || rounds > MAX_ROUNDS) {
		fputs("usage: handlers PROGRAM [ROUNDS]\n", stderr);
		return 2;
	}
	if (argc > 3)
		return only(argv[3], argv[1], rounds);
	counts.slots = calloc(counts.mask + 1, sizeof(*counts.slots));
	for (size_t i = 0; i < NR_ROWS; i++) {
		open_row(&works[i], &rows[i], argv[1]);
		work_run(&works[i]); /* memory is there, and all groups are */
	}
	for (unsigned round = 0; round < rounds; round++) {
		for (size_t i = 0; i < NR_ROWS; i++)
			took[i][round] = work_run(&works[i]);
		peer[round] = run_kbuffer(&works[1], &counts);
	}
	for (size_t i = 0; i < NR_ROWS; i++) {
		report(rows[i].name, took[i], rounds);
		work_close(&works[i]);
	}
	report("kbuffer_by_64", peer, rounds);
	free(counts.slots);
	return counts.nr != 64;
}
