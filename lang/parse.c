/*
 * The parser's outside: checks that the text is text, hands tokens to bison, and parses again after
 * a repair. The rounds are bounded by UP_FIX_MAX, so the time is linear in the text.
 */
#include "lang/parse_int.h"
#include "up.tab.h"

struct up_span up_parser_span(const struct up_parser *p, uint32_t off, uint32_t len)
{
	return (struct up_span){ off, len, p->src };
}

struct up_span up_tok_span(const struct up_parser *p, const struct up_tok *t)
{
	return up_parser_span(p, t->off, t->len);
}

/* ---- what bison calls ---- */

/* Queues what the scanner had to say about the text up to here. */
static void queue_scan_errors(struct up_parser *p, uint32_t end)
{
	for (; p->next_err < p->scan.errs.nr; p->next_err++) {
		const struct up_scan_err *e = &p->scan.errs.v[p->next_err];

		if (e->span.off >= end)
			return;
		up_error(p->ds, e->span, e->tag, "%s", e->msg);
		if (e->hint)
			up_diag_hint(p->ds, "%s", e->hint);
	}
}

int up_yylex(UP_YYSTYPE *value, struct up_span *loc, struct up_parser *p)
{
	static const struct up_tok end;
	const struct up_tok *t = p->toks.nr ? &p->toks.v[p->next] : &end;

	*loc = up_tok_span(p, t);
	value->tok = t;
	p->stop |= p->ds->nr_errors >= UP_DIAG_MAX;
	if (p->stop)
		return TK_EOT;
	if (p->sync) {
		p->sync = false;
		return TK_SYNC;
	}
	p->cur = p->next;
	p->next += t->kind != TK_EOT;
	p->stop |= t->kind == TK_EOT && p->scan.is_cut;
	queue_scan_errors(p, t->kind == TK_EOT ? UINT32_MAX : t->off + t->len);
	return t->kind;
}

/* Bison's stack is full; syntax errors go another way. */
void up_yyerror(struct up_span *loc, struct up_parser *p, const char *msg)
{
	(void)msg;
	if (!p->stop)
		up_error(p->ds, *loc, E_TOO_LARGE, "this is nested too deep");
	p->stop = true;
}

/* ---- the text ---- */

/* Is it UTF-8 without NUL bytes? Else says where it is not. */
static bool check_text(struct up_parser *p)
{
	const char *s = p->scan.text;
	uint32_t cp, i = 0;
	size_t n = 1;

	while (i < p->scan.len && s[i] && (n = up_utf8_decode(s + i, p->scan.len - i, &cp)))
		i += (uint32_t)n;
	if (i == p->scan.len)
		return true;
	up_error(p->ds, up_parser_span(p, i, 1), E_ENCODING, "this is not text: the byte 0x%02x %s",
		 (unsigned char)s[i], s[i] ? "is not UTF-8 here" : "cannot stand in a script");
	return false;
}

/* ---- rounds ---- */

static void parse_round(struct up_parser *p)
{
	up_scan_all(&p->scan);
	p->toks = p->scan.toks;
	p->cur = p->next = p->next_err = p->nr_nodes = p->last_error = 0;
	p->depth = p->nr_looks = 0;
	p->nr_rounds++;
	p->sync = p->stop = p->again = false;
	p->script = up_node_new(p, ND_SCRIPT, up_parser_span(p, 0, p->scan.len));
	up_yyparse(p);
	if (!p->again)
		queue_scan_errors(p, UINT32_MAX);
}

/* By place, so that one mistake's repair does not change the order. Few, nearly sorted. */
static void sort_diags(struct up_diag *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		for (size_t j = i; j && v[j - 1].span.off > v[j].span.off; j--) {
			struct up_diag swap = v[j];

			v[j] = v[j - 1];
			v[j - 1] = swap;
		}
}

struct up_parse *up_parse(struct up_diags *ds, uint32_t src)
{
	struct up_parser *p = up_new(ds->arena, struct up_parser);
	struct up_parse *result = up_new(ds->arena, struct up_parse);
	size_t first = ds->list.nr;

	p->ds = ds;
	p->arena = ds->arena;
	p->src = src;
	up_scan_init(&p->scan, ds->arena, &ds->sources->list.v[src], src);
	p->scan.for_parser = true;
	p->script = up_node_new(p, ND_SCRIPT, up_parser_span(p, 0, p->scan.len));
	result->script = p->script;
	if (!check_text(p))
		return result;
	do
		parse_round(p);
	while (p->again);
	up_report_repairs(p);
	if (ds->list.nr > first)
		sort_diags(ds->list.v + first, ds->list.nr - first);
	result->script = p->script;
	memcpy(&result->comments, &p->scan.comments, sizeof(result->comments));
	return result;
}
