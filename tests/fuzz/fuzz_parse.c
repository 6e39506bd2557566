/*
 * libFuzzer target: scanner, parser, dump, formatter and the rendering of diagnostics. A script
 * without errors must mean the same after formatting, and formatting again must change nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "lang/ast.h"
#include "lang/base/text.h"
#include "lang/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct front {
	struct up_arena *arena;
	struct up_sources sources;
	struct up_diags diags;
};

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* Parses one more source and dumps its tree. */
static void parse(struct front *f, const char *text, size_t len, struct up_buf *dump)
{
	int src = up_source_add(&f->sources, "fuzz", text, len);

	require(src >= 0);
	struct up_parse *p = up_parse(&f->diags, (uint32_t)src);
	up_ast_dump(p->script, dump);
}

static bool is_same(const struct up_buf *a, const struct up_buf *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->s, b->s, a->len));
}

static void check_format(struct front *f, const struct up_buf *dump)
{
	struct up_buf once = { 0 }, twice = { 0 }, again = { 0 };

	up_fmt(&f->sources, 0, &once);
	parse(f, once.s ? once.s : "", once.len, &again);
	require(!f->diags.nr_errors);
	require(is_same(dump, &again));
	up_fmt(&f->sources, 1, &twice);
	require(is_same(&once, &twice));
	up_buf_fini(&once);
	up_buf_fini(&twice);
	up_buf_fini(&again);
}

static void check_diags(struct front *f, size_t size)
{
	struct up_buf text = { 0 };

	for (size_t i = 0; i < f->diags.list.nr; i++) {
		struct up_span sp = f->diags.list.v[i].span;

		require(sp.src == 0 && sp.off <= size && sp.len <= size - sp.off);
	}
	up_diag_text(&f->diags, &text, size & 1);
	up_diag_json(&f->diags, &text);
	up_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct front f = { .arena = up_arena_new() };
	struct up_buf dump = { 0 };

	f.sources.arena = f.diags.arena = f.arena;
	f.diags.sources = &f.sources;
	parse(&f, (const char *)data, size, &dump);
	if (f.diags.nr_errors)
		check_diags(&f, size);
	else
		check_format(&f, &dump);
	up_buf_fini(&dump);
	up_arena_free(f.arena);
	return 0;
}
