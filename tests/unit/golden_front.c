/*
 * The language's front end on one file, for the golden tests:
 *   golden_front parse|spans|fmt|diag|diag-json FILE
 * parse: the tree, or `line:col tag` for each diagnostic; spans: every node with its text.
 * Exits with 1 when the file has errors (diag, diag-json: when it cannot be read).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/ast.h"
#include "lang/base/text.h"
#include "lang/diag.h"
#include "lang/up.h"

struct front {
	struct up_arena *arena;
	struct up_sources sources;
	struct up_diags diags;
	struct up_buf out;
};

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	size_t cap = 1u << 16;
	char *s = malloc(cap);

	*len = 0;
	while (f && s && !feof(f) && !ferror(f)) {
		*len += fread(s + *len, 1, cap - *len, f);
		if (*len == cap)
			s = realloc(s, cap *= 2);
	}
	if (!f || ferror(f)) {
		free(s);
		s = NULL;
	}
	if (f)
		fclose(f);
	return s;
}

static void list_diags(struct front *f)
{
	for (size_t i = 0; i < f->diags.list.nr; i++) {
		const struct up_diag *d = &f->diags.list.v[i];
		unsigned line, col;

		up_source_where(&f->sources.list.v[d->span.src], d->span.off, &line, &col);
		up_buf_printf(&f->out, "%u:%u %s\n", line, col,
			      up_diag_tag_name(d->tag, (char[UP_TAG_NAME_MAX]){ 0 }));
	}
}

static void parse(struct front *f, const struct up_parse *p)
{
	if (f->diags.list.nr)
		list_diags(f);
	else
		up_ast_dump(p->script, &f->out);
}

/* ---- spans: every node, a level of the tree a column further in ---- */

static const char *const names[ND_COUNT] = {
#define UP_ND(kind, name) [kind] = name,
#include "lang/ast.def"
#undef UP_ND
};

static void list_spans(struct front *f, const struct up_node *n, unsigned level);

static void list_span(struct front *f, const char *name, struct up_span sp, unsigned level)
{
	up_buf_fill(&f->out, ' ', 2 * (size_t)level);
	up_buf_printf(&f->out, "%s: ", name);
	up_text_escape(&f->out, up_source_text(&f->sources, sp), sp.len, 0);
	up_buf_putc(&f->out, '\n');
}

static void list_children(struct front *f, const struct up_node *n, unsigned level)
{
	const struct up_node *lists[6] = { NULL };

	switch (n->kind) {
	case ND_SCRIPT:
		lists[0] = n->script.decls;
		break;
	case ND_PROBE:
	case ND_POINT:
		if (n->probe.name)
			list_span(f, "as", n->probe.name_span, level);
		lists[0] = n->probe.targets;
		lists[1] = n->probe.when;
		lists[2] = n->probe.entry;
		lists[3] = n->probe.ret_when;
		lists[4] = n->probe.ret;
		break;
	case ND_ON:
		lists[0] = n->on.every;
		lists[1] = n->on.block;
		break;
	case ND_CONST:
	case ND_FN:
	case ND_PARAM:
		list_span(f, "called", n->def.name_span, level);
		lists[0] = n->def.params;
		lists[1] = n->def.expr;
		break;
	case ND_BLOCK:
		lists[0] = n->block.stmts;
		break;
	case ND_ASSIGN:
	case ND_DO:
		lists[0] = n->act.lhs;
		lists[1] = n->act.rhs;
		lists[2] = n->act.by;
		lists[3] = n->act.top;
		break;
	case ND_DELETE:
		lists[0] = n->del.what;
		break;
	case ND_IF:
	case ND_COND:
		lists[0] = n->cond.cond;
		lists[1] = n->cond.then;
		lists[2] = n->cond.els;
		break;
	case ND_FOR:
		lists[0] = n->loop.names;
		lists[1] = n->loop.table;
		lists[2] = n->loop.block;
		break;
	case ND_MEMBER:
	case ND_ARROW:
		lists[0] = n->member.obj;
		list_spans(f, lists[0], level);
		list_span(f, "field", n->member.name_span, level);
		return;
	case ND_INDEX:
		list_spans(f, n->index.obj, level);
		lists[0] = n->index.idx;
		break;
	case ND_CALL:
		list_span(f, "called", n->call.name_span, level);
		lists[0] = n->call.args;
		break;
	case ND_AT:
	case ND_ENTRY:
	case ND_PAREN:
		lists[0] = n->sub.e;
		break;
	case ND_TYPED:
		list_spans(f, n->typed.e, level);
		list_span(f, "type", n->typed.type.span, level);
		lists[0] = n->typed.type.len;
		break;
	case ND_UNARY:
	case ND_BINARY:
		lists[0] = n->op.a;
		lists[1] = n->op.b;
		break;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_spans(f, lists[i], level);
}

static void list_spans(struct front *f, const struct up_node *n, unsigned level)
{
	for (; n; n = n->next) {
		list_span(f, names[n->kind], n->span, level);
		list_children(f, n, level + 1);
	}
}

static int run(struct front *f, const char *mode, const char *name, const char *text, size_t len)
{
	int src = up_source_add(&f->sources, name, text, len);

	if (src < 0)
		return 2;
	struct up_parse *p = up_parse(&f->diags, (uint32_t)src);
	if (!strcmp(mode, "parse"))
		parse(f, p);
	else if (!strcmp(mode, "diag"))
		up_diag_text(&f->diags, &f->out, false);
	else if (!strcmp(mode, "diag-json"))
		up_diag_json(&f->diags, &f->out);
	else if (f->diags.nr_errors)
		list_diags(f);
	else if (!strcmp(mode, "spans"))
		list_spans(f, p->script->script.decls, 0);
	else if (!strcmp(mode, "fmt"))
		up_fmt(&f->sources, (uint32_t)src, &f->out);
	else
		return 2;
	return f->diags.nr_errors > 0;
}

int main(int argc, char **argv)
{
	struct front f = { .arena = up_arena_new() };
	size_t len;
	char *text = argc == 3 ? read_file(argv[2], &len) : NULL;

	if (!text || !f.arena) {
		fprintf(stderr, "usage: golden_front parse|spans|fmt|diag|diag-json FILE\n");
		return 2;
	}
	f.sources.arena = f.diags.arena = f.arena;
	f.diags.sources = &f.sources;
	const char *slash = strrchr(argv[2], '/');
	int status = run(&f, argv[1], slash ? slash + 1 : argv[2], text, len);
	if (f.out.len)
		fwrite(f.out.s, 1, f.out.len, stdout);
	up_buf_fini(&f.out);
	up_arena_free(f.arena);
	free(text);
	return status;
}
