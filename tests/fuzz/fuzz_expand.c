/*
 * libFuzzer target: the expansion of constants, functions, parameters and points, with modules. The
 * input is cut into a script and up to three modules at zero bytes. What comes out holds nothing
 * but probes and `on` blocks, is no deeper than the parser would allow, and no node stands in it
 * twice; spans lie in their sources, and diagnostics can be rendered.
 */
#include <stdlib.h>
#include <string.h>

#include "lang/builtin.h"
#include "lang/clone.h"
#include "lang/expand.h"
#include "tests/fuzz/texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* ---- what comes out ---- */

struct walk {
	const struct up_sources *sources;
	uint32_t nr; /* nodes seen */
};

static void check_node(void *arg, struct up_node **link)
{
	struct walk *w = arg;
	struct up_node *n = *link;
	const struct up_source *s = &w->sources->list.v[n->span.src];

	require(n->span.src < w->sources->list.nr && n->span.off <= s->len &&
		n->span.len <= s->len - n->span.off);
	require(n->depth <= UP_DEPTH_MAX);
	require(n->kind != ND_POS && n->kind != ND_BAD && n->sem == 0);
	n->sem = 1; /* no node stands in the tree twice */
	w->nr++;
	up_node_children(n, check_node, w);
}

static void check_tree(struct up_node *script, const struct up_sources *ss, size_t size)
{
	struct walk w = { .sources = ss };

	for (struct up_node *n = script->script.decls; n; n = n->next) {
		require(n->kind == ND_PROBE || n->kind == ND_ON);
		check_node(&w, &n);
	}
	require(w.nr <= UP_EXPAND_MAX + 64 * size + 1000);
}

static void check_diags(const struct up_diags *ds)
{
	struct up_buf text = { 0 };

	up_diag_text(ds, &text, false);
	up_diag_json(ds, &text);
	up_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct up_agg_row *const aggs[] = { NULL };
	static const char *const args[] = { "1", "0x", "\"s\"", "-2.5" };
	static const struct up_param_arg params[] = { { "p", "7" }, { "q", "text" } };
	struct texts texts;
	struct up_modules modules = { &texts, load_text, has_text };
	struct up_sources ss = { .arena = up_arena_new() };
	struct up_diags ds = { .arena = ss.arena, .sources = &ss };
	struct up_env env = { .aggs = aggs,
			      .args = args,
			      .nr_args = 4,
			      .params = params,
			      .nr_params = size % 3,
			      .modules = &modules,
			      .script_id = "script" };
	bool is_module;

	cut_texts(&texts, (const char *)data, size);
	int src = up_source_add(&ss, "script", texts.text[0], texts.len[0]);
	struct up_parse *p = up_parse(&ds, (uint32_t)src);
	if (!ds.nr_errors && up_expand(&ds, &ss, &env, p->script, &is_module))
		check_tree(p->script, &ss, size);
	check_diags(&ds);
	up_arena_free(ss.arena);
	return 0;
}
