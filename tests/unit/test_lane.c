/*
 * Lanes must not be told from the machine: random scripts, most of whose handlers can have a lane,
 * take the same random hits twice, one after the other and many at a time. All that is shown and
 * counted must agree.
 */
#include <stdlib.h>

#include "lang/up.h"
#include "runtime/engine.h"
#include "tests/unit/dice.h"
#include "tests/unit/fake_resolver.h"
#include "tests/unit/ringbuild.h"
#include "tests/unit/unit.h"

#define SCRIPTS 1500
#define EVENTS 700
#define CPUS 3
#define PAGE 4096

static uint64_t seed = 88172645463325252;
static struct dice dice;

/* ---- scripts ---- */

static const char *pick_leaf(void)
{
	static const char *const leaves[] = { "arg0", "arg1", "arg2:u32", "arg1:s8", "arg3:u16",
					      "tid",  "cpu",  "time",     "0",       "1",
					      "7",    "255",  "1000000",  "-1",      "arg0:bool" };

	return leaves[roll(&dice, NR(leaves))];
}

static void put_expr(struct up_buf *b, unsigned depth)
{
	static const char *const ops[] = { "+",  "-", "*",  "/",  "%",  "&", "|",  "^",  "<<",
					   ">>", "<", "<=", "==", "!=", ">", ">=", "&&", "||" };
	unsigned what = depth ? roll(&dice, 8) : 0;

	if (what < 3) {
		up_buf_puts(b, pick_leaf());
	} else if (what < 5) {
		up_buf_puts(b, what == 3 ? "(!" : "(~");
		put_expr(b, depth - 1);
		up_buf_putc(b, ')');
	} else if (what == 5) {
		up_buf_putc(b, '(');
		put_expr(b, depth - 1);
		up_buf_puts(b, " ? ");
		put_expr(b, depth - 1);
		up_buf_puts(b, " : ");
		put_expr(b, depth - 1);
		up_buf_putc(b, ')');
	} else {
		up_buf_putc(b, '(');
		put_expr(b, depth - 1);
		up_buf_printf(b, " %s ", ops[roll(&dice, NR(ops))]);
		put_expr(b, depth - 1);
		up_buf_putc(b, ')');
	}
}

/* What shows the order of hits is rare, as it makes all handlers wait for each other. */
static void put_agg(struct up_buf *b)
{
	static const char *const many[] = { "sum",  "min", "max",      "hist", "avg",
					    "uniq", "sum", "quantile", "stats" };

	if (!roll(&dice, 4)) {
		up_buf_puts(b, roll(&dice, 2) ? "count()" : "rate()");
		return;
	}
	if (!roll(&dice, 8)) {
		up_buf_puts(b, "lhist(");
		put_expr(b, 1);
		up_buf_puts(b, ", 0, 100, 10)");
		return;
	}
	up_buf_puts(b, roll(&dice, 12) ? many[roll(&dice, NR(many))] : "last");
	up_buf_putc(b, '(');
	put_expr(b, 2);
	up_buf_putc(b, ')');
}

static void put_stmt(struct up_buf *b, unsigned depth)
{
	if (depth && !roll(&dice, 4)) {
		up_buf_puts(b, "if (");
		put_expr(b, 2);
		up_buf_puts(b, ") <\n");
		put_stmt(b, depth - 1);
		up_buf_puts(b, ">");
		if (roll(&dice, 2)) {
			up_buf_puts(b, " else <\n");
			put_stmt(b, depth - 1);
			up_buf_puts(b, ">");
		}
		up_buf_putc(b, '\n');
		return;
	}
	if (!roll(&dice, 4)) {
		up_buf_puts(b, "both = count() by arg0\n"); /* of several probes */
		return;
	}
	put_agg(b);
	if (roll(&dice, 3)) {
		up_buf_puts(b, " by ");
		put_expr(b, 1);
	}
	if (!roll(&dice, 8)) /* two keys: no lane */
		up_buf_puts(b, ", cpu");
	up_buf_putc(b, '\n');
}

static void put_probe(struct up_buf *b, const char *func)
{
	up_buf_printf(b, "probe app:%s", func);
	if (roll(&dice, 2)) {
		up_buf_puts(b, " when (");
		put_expr(b, 3);
		up_buf_putc(b, ')');
	}
	up_buf_puts(b, " <\n");
	for (unsigned n = 1 + roll(&dice, 3); n; n--)
		put_stmt(b, 2);
	if (!roll(&dice, 20)) /* no lane */
		up_buf_puts(b, "seen[arg0] += 1\n");
	up_buf_puts(b, ">\n");
}

/*
 * Is there to be little room? Which of several aggregations gets the rest of it depends on which
 * was first; so there is one alone then.
 */
static bool is_narrow(void)
{
	return seed >> 33 & 1;
}

/* `,` needs a `by`: such a script does not compile, and another one is made. */
static struct up_plan *make_plan(struct up_compile *c, struct up_buf *script)
{
	struct up_env env = { .resolver = &fake_resolver,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };

	if (is_narrow()) {
		up_buf_puts(script, "probe app:alpha <\n");
		put_agg(script);
		up_buf_puts(script, " by arg0\n>\n");
	} else {
		put_probe(script, "alpha");
		put_probe(script, roll(&dice, 2) ? "beta" : "alph*");
		if (roll(&dice, 2))
			put_probe(script, "main");
	}
	return script->failed ? NULL : up_compile(c, &env, "script", script->s, script->len);
}

/* ---- hits ---- */

/* The records of a kind may be cut short, or of nobody's kind. */
static uint32_t write_record(const struct up_plan *plan, const struct up_records *records,
			     unsigned char *rec, uint32_t site)
{
	const struct up_record_event *e = &records->events[plan->sites[site].event];
	uint32_t len = (e->fixed_size + 3u) & ~3u, tid = 1 + roll(&dice, 4);

	memset(rec, 0, len);
	memcpy(rec, &e->id, sizeof(e->id));
	memcpy(rec + e->tid.off, &tid, sizeof(tid));
	if (!roll(&dice, 200))
		site += 1000;
	memcpy(rec + e->site_field.off, &site, sizeof(site));
	for (uint32_t i = 0; i < plan->events[e->event].nr_args; i++) {
		uint64_t v = roll(&dice, 3) ? roll(&dice, 40) : roll_number(&dice);

		memcpy(rec + e->args[i].off, &v, e->args[i].size);
	}
	if (!roll(&dice, 200))
		memset(rec, 0xff, 2);
	return roll(&dice, 200) ? len : 4;
}

static unsigned char pages[CPUS][EVENTS * 64 / PAGE + 64][PAGE];
static unsigned nr_pages[CPUS];

static void write_pages(const struct up_plan *plan, const struct up_records *records)
{
	struct ringbuild b[CPUS] = { 0 };
	unsigned char rec[512];

	memset(nr_pages, 0, sizeof(nr_pages));
	for (unsigned i = 0; i < EVENTS; i++) {
		unsigned cpu = i / (1 + roll(&dice, 30)) % CPUS;
		uint32_t len = write_record(plan, records, rec, roll(&dice, plan->nr_sites));
		void *at = b[cpu].page ? ringbuild_event(&b[cpu], 1000 + i, len) : NULL;

		if (!at) {
			if (b[cpu].page)
				ringbuild_end(&b[cpu], 0);
			ringbuild_begin(&b[cpu], pages[cpu][nr_pages[cpu]++], PAGE, 8, 1000 + i);
			at = ringbuild_event(&b[cpu], 1000 + i, len);
		}
		memcpy(at, rec, len);
	}
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		if (b[cpu].page)
			ringbuild_end(&b[cpu], 0);
}

/* ---- the two ways ---- */

struct world {
	struct up_engine engine;
	struct up_out out;
	struct up_pageset set;
	struct up_merge merge;
};

static void start(struct world *w, const struct up_plan *plan, const struct up_records *records)
{
	static const unsigned cpus[CPUS] = { 0, 1, 2 };
	const struct up_engine_opts opts = { 0 };
	struct up_status st = { 0 };

	*w = (struct world){ .out = { .fd = -1, .form = up_out_form_find("json") } };
	CHECK(!up_engine_init(&w->engine, plan, records, &opts, &w->out, &st));
	up_engine_begin(&w->engine, 500);
	CHECK(!up_pageset_init(&w->set, cpus, CPUS, PAGE, 64 * CPUS * PAGE));
	CHECK(!up_merge_init(&w->merge, &w->set, 8, !plan->needs_order));
	if (is_narrow()) {
		w->engine.vm.agg_left = seed >> 34 & 0x1fff;
		w->engine.vm.aggs[0].max_rows = 1 + (seed >> 47 & 63);
	}
}

static void give_page(struct world *w, unsigned cpu, unsigned i)
{
	struct up_page *page = up_pageset_take(&w->set, cpu);

	CHECK(page != NULL);
	memcpy(page->data, pages[cpu][i], PAGE);
	page->size = PAGE;
	up_pageset_push(&w->set, cpu, page);
}

static void run(struct world *w, bool many, uint64_t chunks)
{
	struct up_event ev;
	unsigned given[CPUS] = { 0 };

	for (bool more = true; more;) {
		more = false;
		for (unsigned cpu = 0; cpu < CPUS; cpu++) {
			for (uint64_t n = 0; n < chunks && given[cpu] < nr_pages[cpu]; n++)
				give_page(w, cpu, given[cpu]++);
			up_pageset_set_more(&w->set, cpu, given[cpu] < nr_pages[cpu]);
			more |= given[cpu] < nr_pages[cpu];
		}
		if (many)
			up_engine_take(&w->engine, &w->merge, UINT64_MAX);
		while (!many && up_merge_next(&w->merge, UINT64_MAX, &ev))
			up_engine_event(&w->engine, &ev);
	}
	up_engine_end(&w->engine, 1000000);
	CHECK(!up_vm_show(&w->engine.vm));
}

static unsigned nr_lanes(const struct world *w)
{
	unsigned nr = 0;

	for (const struct up_lane *lane = w->engine.made; lane; lane = lane->next)
		nr++;
	return nr;
}

static void end(struct world *w)
{
	up_merge_fini(&w->merge);
	up_pageset_fini(&w->set);
	up_engine_fini(&w->engine);
	up_out_fini(&w->out);
}

static bool is_same(const struct world *a, const struct world *b)
{
	struct up_out_totals x, y;

	up_engine_totals(&a->engine, &x);
	up_engine_totals(&b->engine, &y);
	return !memcmp(&x, &y, sizeof(x)) && a->out.buf.len == b->out.buf.len &&
	       !memcmp(a->out.buf.s, b->out.buf.s, a->out.buf.len);
}

/* Did it have lanes? */
static bool try_plan(const struct up_plan *plan, const char *script)
{
	uint64_t chunks = 1 + roll(&dice, 4);
	struct up_records records;
	struct world one, many;
	bool has_lanes;

	CHECK(!up_records_make(&records, plan));
	write_pages(plan, &records);
	start(&one, plan, &records);
	start(&many, plan, &records);
	run(&one, false, chunks);
	run(&many, true, chunks);
	unit_checks++;
	if (!is_same(&one, &many)) {
		unit_failures++;
		fprintf(stderr, "%s\none:\n%.*s\nmany:\n%.*s\n", script, (int)one.out.buf.len,
			one.out.buf.s, (int)many.out.buf.len, many.out.buf.s);
	}
	CHECK(!nr_lanes(&one) == !nr_lanes(&many));
	has_lanes = nr_lanes(&many);
	end(&one);
	end(&many);
	up_records_fini(&records);
	return has_lanes;
}

int main(void)
{
	unsigned compiled = 0, with_lanes = 0;

	for (unsigned i = 0; i < SCRIPTS && unit_failures < 3; i++) {
		struct up_compile *c = up_compile_new();
		struct up_buf script = { 0 };

		seed = seed * 6364136223846793005 + 1442695040888963407;
		dice = (struct dice){ .state = seed | 1 };
		struct up_plan *plan = make_plan(c, &script);
		if (plan) {
			compiled++;
			with_lanes += try_plan(plan, script.s);
		}
		up_plan_free(plan);
		up_compile_free(c);
		up_buf_fini(&script);
	}
	printf("%u scripts, %u with lanes\n", compiled, with_lanes);
	CHECK(compiled > SCRIPTS / 3 && with_lanes > SCRIPTS / 5);
	return unit_report("lane");
}
