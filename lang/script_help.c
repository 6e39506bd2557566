/* `SCRIPT --help`: what the script says of itself. */
#include <stdlib.h>

#include "lang/clone.h"
#include "lang/expand.h"

#define HEADER_LINES 20

static void put_text(const struct up_diags *ds, struct up_span sp, struct up_buf *out)
{
	up_text_escape(out, up_source_text(ds->sources, sp), sp.len, 0);
}

/* A comment's text without its sign and the blank behind it. */
static struct up_span comment_text(const struct up_diags *ds, struct up_span sp)
{
	const char *s = up_source_text(ds->sources, sp);
	uint32_t skip = sp.len > 1 && s[1] == ' ' ? 2 : 1;

	return (struct up_span){ sp.off + skip, sp.len - skip, sp.src };
}

static unsigned line_of(const struct up_diags *ds, uint32_t src, uint32_t off)
{
	unsigned line, col;

	up_source_where(&ds->sources->list.v[src], off, &line, &col);
	return line;
}

/* The comment lines that the script begins with, without a shebang. */
static void put_header(const struct up_diags *ds, const struct up_parse *parse, uint32_t src,
		       struct up_buf *out)
{
	const char *text = ds->sources->list.v[src].text;
	unsigned before = 0, nr = 0;

	for (size_t i = 0; i < parse->comments.nr && nr < HEADER_LINES; i++) {
		struct up_span sp = parse->comments.v[i].span;
		unsigned line = line_of(ds, src, sp.off);

		if (i == 0 && sp.off == 0 && sp.len > 1 && text[1] == '!') {
			before = line;
			continue;
		}
		if ((before || i) && line != before + 1)
			break;
		if (sp.off && text[sp.off - 1] != '\n')
			break;
		put_text(ds, comment_text(ds, sp), out);
		up_buf_putc(out, '\n');
		before = line;
		nr++;
	}
	if (nr)
		up_buf_putc(out, '\n');
}

/* The comment behind a declaration, on its last line. */
static bool find_comment(const struct up_diags *ds, const struct up_parse *parse,
			 const struct up_node *n, struct up_span *out)
{
	uint32_t end = n->span.off + n->span.len;

	for (size_t i = 0; i < parse->comments.nr; i++) {
		struct up_span sp = parse->comments.v[i].span;

		if (sp.off < end)
			continue;
		*out = comment_text(ds, sp);
		return line_of(ds, n->span.src, sp.off) == line_of(ds, n->span.src, end);
	}
	return false;
}

static void put_param(const struct up_diags *ds, const struct up_parse *parse,
		      const struct up_node *n, struct up_buf *out)
{
	size_t start = out->len;
	struct up_span comment;

	up_buf_printf(out, "  --%s=", n->def.name);
	put_text(ds, n->def.expr->span, out);
	if (find_comment(ds, parse, n, &comment)) {
		size_t len = out->len - start;

		up_buf_fill(out, ' ', len < 26 ? 26 - len : 2);
		put_text(ds, comment, out);
	}
	up_buf_putc(out, '\n');
}

static void note_argument(unsigned *max, const char *digits)
{
	unsigned long nr = strtoul(digits, NULL, 10);

	if (nr < 1000 && nr > *max)
		*max = (unsigned)nr;
}

static void find_arguments(void *arg, struct up_node **link)
{
	struct up_node *n = *link;

	if (n->kind == ND_POS)
		note_argument(arg, n->name.s);
	for (size_t i = 0; n->kind == ND_TARGET && i + 1 < n->target.len; i++)
		if (n->target.raw[i] == '$')
			note_argument(arg, n->target.raw + i + 1);
	up_node_children(n, find_arguments, arg);
}

static bool has_params(const struct up_node *script)
{
	for (const struct up_node *n = script->script.decls; n; n = n->next)
		if (n->kind == ND_PARAM)
			return true;
	return false;
}

void up_script_help(const struct up_diags *ds, const struct up_parse *parse, uint32_t src,
		    struct up_buf *out)
{
	struct up_node *script = parse->script;
	bool params = has_params(script);
	unsigned nr_args = 0;

	find_arguments(&nr_args, &script);
	up_buf_printf(out, "usage: uptick [OPTIONS] %s%s", ds->sources->list.v[src].name,
		      params ? " [--NAME=VALUE ...]" : "");
	for (unsigned i = 1; i <= nr_args && i <= 3; i++)
		up_buf_printf(out, " $%u", i);
	if (nr_args > 3)
		up_buf_printf(out, " ... $%u", nr_args);
	up_buf_puts(out, "\n\n");
	put_header(ds, parse, src, out);
	if (!params)
		up_buf_puts(out, "It has no parameters.\n");
	else
		up_buf_puts(out, "Parameters, with what they are when not given:\n");
	for (const struct up_node *n = script->script.decls; n; n = n->next)
		if (n->kind == ND_PARAM)
			put_param(ds, parse, n, out);
}
