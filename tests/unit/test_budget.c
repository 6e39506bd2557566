/*
 * No handler runs for ever, whatever its loops are over: it is ended, which is counted and said in
 * the summary; a signal ends it soon. Tables have a cap, and what it drops is counted.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "lang/builtin.h"
#include "lang/up.h"
#include "lang/verify.h"
#include "runtime/vm.h"
#include "tests/unit/fake_resolver.h"
#include "tests/unit/unit.h"

#define ROWS 100000

struct world {
	struct up_compile *c;
	struct up_plan *plan;
	struct up_out out;
	struct up_vm vm;
};

static volatile sig_atomic_t nr_signals;

static unsigned urgency(void)
{
	return (unsigned)nr_signals;
}

static void note_signal(int sig)
{
	(void)sig;
	nr_signals++;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void start(struct world *w, const char *script)
{
	struct up_env env = { .resolver = &fake_resolver,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };
	struct up_buf text = { 0 };

	*w = (struct world){ .c = up_compile_new() };
	w->plan = up_compile(w->c, &env, "script", script, strlen(script));
	up_diag_text(&w->c->diags, &text, false);
	if (!w->plan || !up_plan_verify(w->plan, &text)) {
		fprintf(stderr, "%s\n", text.s ? text.s : "");
		exit(1);
	}
	up_buf_fini(&text);
	w->out = (struct up_out){ .fd = -1, .form = up_out_form_find("text") };
	CHECK(!up_vm_init(&w->vm, w->plan, &w->out));
	w->vm.urgency = urgency;
	up_vm_begin(&w->vm, 0);
}

static void end(struct world *w)
{
	up_vm_fini(&w->vm);
	up_out_fini(&w->out);
	up_plan_free(w->plan);
	up_compile_free(w->c);
}

static uint32_t find_var(const struct world *w, const char *name)
{
	uint32_t i = 0;

	while (i < w->plan->nr_vars && strcmp(w->plan->vars[i].name, name) != 0)
		i++;
	CHECK(i < w->plan->nr_vars);
	return i;
}

static void fill(struct world *w, const char *table, int64_t rows)
{
	uint32_t i = find_var(w, table);

	for (int64_t k = 0; k < rows; k++) {
		struct up_value key = { .s = k };

		up_vars_set_row(&w->vm.vars, i, &key, &key);
	}
}

/* A hit of the first site. */
static void hit(struct world *w)
{
	static const unsigned char record[4096];
	struct up_field fields[64];
	const struct up_plan_event *e = &w->plan->events[w->plan->sites[0].event];
	struct up_hit h = { .rec = record, .len = sizeof(record), .fields = fields, .tid = 1 };

	for (uint32_t a = 0; a < e->nr_args; a++)
		fields[a] = (struct up_field){ .size = e->args[a].size ? e->args[a].size : 4 };
	up_vm_hit(&w->vm, &h);
}

/* The handler of a hit is ended, before it has used much time or memory. */
static void check_cut(const char *body, int line)
{
	struct up_buf script = { 0 };
	struct world w;

	up_buf_printf(&script, "probe app:alpha < %s > on end < t[1] = 1; u[1] = 1 >", body);
	start(&w, script.s);
	fill(&w, "t", ROWS);
	fill(&w, "u", ROWS);
	double began = now();
	hit(&w);
	double took = now() - began;
	unit_checks++;
	if (w.vm.counts.cut_off != 1 || w.vm.counts.handled != 1 || took > 30 ||
	    w.out.buf.len > 200u << 20) {
		unit_failures++;
		fprintf(stderr, "%s:%d: %s: %.1f s, %zu bytes of output, %s\n", __FILE__, line,
			body, took, w.out.buf.len, w.vm.counts.cut_off ? "ended" : "not ended");
	}
	end(&w);
	up_buf_fini(&script);
}

static void test_cut(void)
{
	check_cut("for k in t < for j in t < n = n + 1 > >", __LINE__);
	check_cut("for k in t < for j in t < for i in t < > > >", __LINE__);
	check_cut("for k in t < for j in t < print(k, j) > >", __LINE__);
	check_cut("for k in t < for j in t < printf(\"%d\\n\", k) > >", __LINE__);
	check_cut("for k in t < show(t) >", __LINE__);
	/* Rows that are gone have to be passed over all the same. */
	check_cut("for k in u < delete u[k] > for k in t < for j in u < > >", __LINE__);
	/* Long texts. */
	check_cut("s = \"x\"; for k in t < if (len(s) < 50000) < s = s + s > m = s;"
		  " for j in t < if (s ~ \"*y*z\") < n = 1 > > >",
		  __LINE__);
	/* A table that was large is emptied again and again. */
	check_cut("for k in t < for j in t < clear(u); u[j] = k > >", __LINE__);
}

/* What ends in time is not ended. */
static void test_whole(void)
{
	struct world w;

	start(&w, "on every 1s < n = 0; for k in t < n = n + 1; print(k) > > on end < t[1] = 1 >");
	fill(&w, "t", ROWS);
	up_vm_block(&w.vm, 0, 1);
	CHECK(w.vm.counts.cut_off == 0);
	CHECK(up_vars_get(&w.vm.vars, find_var(&w, "n")).s == ROWS);
	end(&w);
}

static void test_summary(void)
{
	struct up_out_totals t = { .cut_off = 1, .dropped_vars = 10 };
	struct up_buf b = { 0 };

	up_out_summary(&b, &t);
	CHECK(strstr(b.s, "1 handler was ended: its loops ran too long"));
	CHECK(strstr(b.s, "10 "));
	up_buf_fini(&b);
}

/* A signal that comes while a block runs ends it; one that came before does not. */
static void test_signal(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 50000 } };
	struct sigaction note = { .sa_handler = note_signal };
	struct world w;

	start(&w, "on end < for k in t < for j in t < n = n + 1 > > > on every 1s < t[1] = 1 >");
	fill(&w, "t", ROWS);
	nr_signals = 0;
	sigaction(SIGALRM, &note, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	while (!w.vm.counts.cut_off)
		up_vm_block(&w.vm, 0, 1);
	CHECK(nr_signals == 1 || w.vm.budget < 0);
	while (!nr_signals)
		;
	int64_t before = up_vars_get(&w.vm.vars, find_var(&w, "n")).s;
	up_vm_block(&w.vm, 0, 2);
	CHECK(w.vm.counts.cut_off == 2 && w.vm.budget < 0);
	CHECK(up_vars_get(&w.vm.vars, find_var(&w, "n")).s > before);
	end(&w);
}

/* A million rows are kept, no more; what was dropped is counted, and rows can be made again. */
static void test_million(void)
{
	struct up_value key = { .s = 3 };
	struct world w;

	start(&w, "probe app:alpha < t[arg0] = 1; c = count() by arg0 > on end < print(len(t)) >");
	fill(&w, "t", UP_VARS_MAX_ROWS + 10);
	uint32_t t = find_var(&w, "t");
	CHECK(up_table_count(&w.vm.vars.tables[t]) == UP_VARS_MAX_ROWS);
	CHECK(up_vars_dropped(&w.vm.vars) == 10);
	up_vars_set_row(&w.vm.vars, t, &key, &key); /* a row that is there */
	CHECK(up_vars_dropped(&w.vm.vars) == 10);
	up_vars_delete_row(&w.vm.vars, t, &key);
	up_vars_set_row(&w.vm.vars, t, &key, &key);
	CHECK(up_vars_dropped(&w.vm.vars) == 10);
	for (int64_t k = 0; k < 1000003; k++) {
		struct up_value by = { .s = k };

		up_vm_add(&w.vm, 0, &by);
	}
	CHECK(up_table_count(&w.vm.aggs[0]) == 1000000 && w.vm.aggs[0].overflow == 3);
	up_vars_clear(&w.vm.vars, t);
	fill(&w, "t", 5);
	CHECK(up_table_count(&w.vm.vars.tables[t]) == 5);
	end(&w);
}

int main(void)
{
	test_cut();
	test_whole();
	test_summary();
	test_signal();
	test_million();
	return unit_report("budget");
}
