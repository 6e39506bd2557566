/*
 * The tree as S-expressions. A declaration, a statement and a clause stand on their own line, an
 * expression is one line. Spans are not shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lang/ast.h"
#include "lang/base/text.h"

static const char *const names[ND_COUNT] = {
#define UP_ND(kind, name) [kind] = name,
#include "lang/ast.def"
#undef UP_ND
};

static void dump_expr(const struct up_node *n, struct up_buf *out);
static void dump_stmts(const struct up_node *n, struct up_buf *out, unsigned level);

static void dump_string(const char *s, size_t len, struct up_buf *out)
{
	up_buf_putc(out, '"');
	for (size_t i = 0; i < len; i++) { /* a backslash of the text becomes two */
		size_t run = 0;

		while (i + run < len && s[i + run] != '\\')
			run++;
		up_text_escape(out, s + i, run, '"');
		i += run;
		if (i < len)
			up_buf_puts(out, "\\\\");
	}
	up_buf_putc(out, '"');
}

/* The shortest spelling that reads back as the same number, with a dot whatever the locale. */
static void dump_float(double v, struct up_buf *out)
{
	char text[40];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	for (char *s = text; *s; s++)
		if (*s == ',')
			*s = '.';
	up_buf_printf(out, "(float %s)", text);
}

static void dump_list(const struct up_node *n, struct up_buf *out)
{
	for (; n; n = n->next) {
		up_buf_putc(out, ' ');
		dump_expr(n, out);
	}
}

static void dump_type(const struct up_typeref *t, struct up_buf *out)
{
	up_buf_printf(out, " :%s", t->name);
	if (t->bit_size || t->bits)
		up_buf_printf(out, "%u@%u/%u", t->bits, t->bit_off, t->bit_size);
	if (t->len) {
		up_buf_putc(out, '[');
		dump_expr(t->len, out);
		up_buf_putc(out, ']');
	}
}

static void dump_parts(const struct up_node *n, struct up_buf *out)
{
	switch (n->kind) {
	case ND_TARGET:
		up_buf_putc(out, ' ');
		dump_string(n->target.raw, n->target.len, out);
		break;
	case ND_STR:
		up_buf_putc(out, ' ');
		dump_string(n->str.s, n->str.len, out);
		break;
	case ND_INT:
		up_buf_printf(out, " %" PRIu64, n->num.v);
		break;
	case ND_NAME:
	case ND_DOLLAR:
	case ND_POS:
		up_buf_printf(out, " %s", n->name.s);
		break;
	case ND_MEMBER:
	case ND_ARROW:
		dump_list(n->member.obj, out);
		up_buf_printf(out, " %s", n->member.name);
		break;
	case ND_INDEX:
		up_buf_putc(out, ' ');
		dump_expr(n->index.obj, out);
		dump_list(n->index.idx, out);
		break;
	case ND_CALL:
		up_buf_printf(out, " %s", n->call.name);
		dump_list(n->call.args, out);
		break;
	case ND_AT:
	case ND_ENTRY:
	case ND_PAREN:
		up_buf_putc(out, ' ');
		dump_expr(n->sub.e, out);
		break;
	case ND_TYPED:
		up_buf_putc(out, ' ');
		dump_expr(n->typed.e, out);
		dump_type(&n->typed.type, out);
		break;
	case ND_UNARY:
	case ND_BINARY:
		up_buf_printf(out, " %s ", up_op_text(n->op.op));
		dump_expr(n->op.a, out);
		if (n->op.b)
			dump_list(n->op.b, out);
		break;
	case ND_COND:
		up_buf_putc(out, ' ');
		dump_expr(n->cond.cond, out);
		up_buf_putc(out, ' ');
		dump_expr(n->cond.then, out);
		up_buf_putc(out, ' ');
		dump_expr(n->cond.els, out);
		break;
	default:
		break;
	}
}

/* One expression, without what follows it in a list. */
static void dump_expr(const struct up_node *n, struct up_buf *out)
{
	if (n->kind == ND_FLOAT) {
		dump_float(n->flt.v, out);
		return;
	}
	up_buf_printf(out, "(%s", names[n->kind]);
	dump_parts(n, out);
	up_buf_putc(out, ')');
}

static void start_line(struct up_buf *out, unsigned level)
{
	up_buf_putc(out, '\n');
	up_buf_fill(out, ' ', 2 * (size_t)level);
}

/* (name expr ...) on its own line; nothing when there are none. */
static void dump_clause(const char *name, const struct up_node *list, struct up_buf *out,
			unsigned level)
{
	if (!list)
		return;
	start_line(out, level);
	up_buf_printf(out, "(%s", name);
	dump_list(list, out);
	up_buf_putc(out, ')');
}

/* (name statement ...) with a line each. */
static void dump_block(const char *name, const struct up_node *block, struct up_buf *out,
		       unsigned level)
{
	if (!block)
		return;
	start_line(out, level);
	up_buf_printf(out, "(%s", name);
	dump_stmts(block->kind == ND_BLOCK ? block->block.stmts : block, out, level + 1);
	up_buf_putc(out, ')');
}

static void dump_act(const struct up_node *n, struct up_buf *out, unsigned level)
{
	if (n->act.lhs) {
		up_buf_printf(out, " %s%s ", n->act.op == OPR_SET ? "" : up_op_text(n->act.op),
			      "=");
		dump_expr(n->act.lhs, out);
	}
	up_buf_putc(out, ' ');
	dump_expr(n->act.rhs, out);
	dump_clause("by", n->act.by, out, level + 1);
	dump_clause("top", n->act.top, out, level + 1);
}

static void dump_stmt(const struct up_node *n, struct up_buf *out, unsigned level)
{
	start_line(out, level);
	up_buf_printf(out, "(%s", names[n->kind]);
	switch (n->kind) {
	case ND_DO:
	case ND_ASSIGN:
		dump_act(n, out, level);
		break;
	case ND_DELETE:
		dump_list(n->del.what, out);
		break;
	case ND_IF:
		up_buf_putc(out, ' ');
		dump_expr(n->cond.cond, out);
		dump_block("then", n->cond.then, out, level + 1);
		dump_block("else", n->cond.els, out, level + 1);
		break;
	case ND_FOR:
		dump_list(n->loop.names, out);
		dump_clause("in", n->loop.table, out, level + 1);
		dump_block("do", n->loop.block, out, level + 1);
		break;
	default:
		break;
	}
	up_buf_putc(out, ')');
}

static void dump_stmts(const struct up_node *n, struct up_buf *out, unsigned level)
{
	for (; n; n = n->next)
		dump_stmt(n, out, level);
}

static void dump_probe(const struct up_node *n, struct up_buf *out)
{
	if (n->probe.name)
		up_buf_printf(out, n->kind == ND_POINT ? " %s" : " as %s", n->probe.name);
	for (const struct up_node *t = n->probe.targets; t; t = t->next) {
		start_line(out, 1);
		dump_expr(t, out);
	}
	dump_clause("when", n->probe.when, out, 1);
	dump_block("entry", n->probe.entry, out, 1);
	dump_clause("return-when", n->probe.ret_when, out, 1);
	dump_block("return", n->probe.ret, out, 1);
}

static void dump_on(const struct up_node *n, struct up_buf *out)
{
	static const char *const which[] = { "start", "end", "every" };

	up_buf_printf(out, " %s", which[n->on.which]);
	if (n->on.every) {
		up_buf_putc(out, ' ');
		dump_expr(n->on.every, out);
	}
	dump_block("do", n->on.block, out, 1);
}

static void dump_use(const struct up_node *n, struct up_buf *out)
{
	up_buf_putc(out, ' ');
	if (n->use.is_path)
		dump_string(n->use.name.s, n->use.name.len, out);
	else
		up_buf_puts(out, n->use.name.s);
}

static void dump_def(const struct up_node *n, struct up_buf *out)
{
	up_buf_printf(out, " %s", n->def.name);
	if (n->kind == ND_FN) {
		up_buf_puts(out, " (params");
		dump_list(n->def.params, out);
		up_buf_putc(out, ')');
	}
	start_line(out, 1);
	dump_expr(n->def.expr, out);
}

static void dump_decl(const struct up_node *n, struct up_buf *out)
{
	up_buf_printf(out, "(%s", names[n->kind]);
	switch (n->kind) {
	case ND_PROBE:
	case ND_POINT:
		dump_probe(n, out);
		break;
	case ND_ON:
		dump_on(n, out);
		break;
	case ND_USE:
		dump_use(n, out);
		break;
	case ND_CONST:
	case ND_FN:
	case ND_PARAM:
		dump_def(n, out);
		break;
	default:
		break;
	}
	up_buf_puts(out, ")\n");
}

void up_ast_dump(const struct up_node *n, struct up_buf *out)
{
	switch (n->kind) {
	case ND_SCRIPT:
		for (n = n->script.decls; n; n = n->next)
			dump_decl(n, out);
		break;
	case ND_PROBE:
	case ND_POINT:
	case ND_ON:
	case ND_USE:
	case ND_CONST:
	case ND_FN:
	case ND_PARAM:
		dump_decl(n, out);
		break;
	case ND_BLOCK:
	case ND_ASSIGN:
	case ND_DO:
	case ND_DELETE:
	case ND_IF:
	case ND_FOR:
		dump_stmts(n->kind == ND_BLOCK ? n->block.stmts : n, out, 0);
		break;
	default:
		dump_expr(n, out);
	}
}
