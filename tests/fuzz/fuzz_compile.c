/*
 * libFuzzer target: the whole compilation, with objects and symbols that stand in a table. The
 * input is cut at zero bytes into a script and up to three modules. Whatever compiles must verify,
 * can be shown, and keeps to the kernel's limits; diagnostics lie in their sources and can be
 * rendered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/builtin.h"
#include "lang/up.h"
#include "lang/verify.h"
#include "tests/fuzz/texts.h"
#include "tests/unit/fake_resolver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_LINE 4096 /* the kernel's, of one definition */
#define MAX_NAME 63   /* of an event */
#define MAX_ARG_NAME 31
#define FEW_SITES 300 /* so that patterns meet the limit */

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

static void check_args(const struct up_plan_event *e)
{
	require(e->nr_args <= UP_MAX_ARGS && strlen(e->name) <= MAX_NAME, "an event's limits");
	for (uint32_t i = 0; i < e->nr_args; i++) {
		const struct up_plan_arg *a = &e->args[i];

		require(strlen(a->name) <= MAX_ARG_NAME, "the name of an argument");
		require(strlen(a->fetch) + 1 + strlen(a->type) <= UP_MAX_ARG_TEXT,
			"the length of an argument");
	}
}

static void check_plan(const struct up_plan *p)
{
	struct up_buf out = { 0 };
	bool ok = up_plan_verify(p, &out);

	require(ok, out.s ? out.s : "");
	require(p->nr_sites <= FEW_SITES, "the number of sites");
	for (uint32_t e = 0; e < p->nr_events; e++)
		check_args(&p->events[e]);
	for (uint32_t s = 0; s < p->nr_sites; s++) {
		up_buf_reset(&out);
		up_plan_line(p, "uptick_4194304_12", s, false, &out);
		require(out.len < MAX_LINE && !memchr(out.s, '\n', out.len), "a line");
		up_buf_reset(&out);
		up_plan_filter(p, s, false, &out);
		require(out.len < MAX_LINE && (!out.len || !memchr(out.s, '\n', out.len)),
			"a filter");
	}
	up_buf_reset(&out);
	up_plan_dump(p, "g", true, &out);
	up_buf_fini(&out);
}

static void check_diags(const struct up_compile *c)
{
	struct up_buf text = { 0 };

	for (size_t i = 0; i < c->diags.list.nr; i++) {
		struct up_span sp = c->diags.list.v[i].span;
		const struct up_source *s = &c->sources.list.v[sp.src];

		require(sp.src < c->sources.list.nr && sp.off <= s->len &&
				sp.len <= s->len - sp.off,
			"a span");
	}
	up_diag_text(&c->diags, &text, false);
	up_diag_json(&c->diags, &text);
	up_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const args[] = { "libc", "app:beta", "42", "-1.5", "\"7\"", "007" };
	static const struct up_param_arg params[] = { { "min", "8KiB" }, { "name", "text" } };
	struct texts texts;
	struct up_modules modules = { &texts, load_text, has_text };
	struct up_compile *c = up_compile_new();
	struct up_env env = { .resolver = &fake_resolver,
			      .aggs = up_agg_rows,
			      .args = args,
			      .nr_args = NR(args),
			      .params = params,
			      .nr_params = size % 3,
			      .modules = &modules,
			      .script_id = "script",
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = FEW_SITES,
			      .unsafe = size & 1 };

	cut_texts(&texts, (const char *)data, size);
	struct up_plan *p = up_compile(c, &env, "script", texts.text[0], texts.len[0]);
	require(!p == (c->diags.nr_errors > 0), "a plan, or errors");
	if (p)
		check_plan(p);
	check_diags(c);
	up_plan_free(p);
	up_compile_free(c);
	return 0;
}
