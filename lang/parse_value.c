/* One literal by itself: a parameter's or argument's text, by the scanner's own rules. */
#include "lang/parse_int.h"
#include "up.tab.h"

static bool is_text(const struct up_source *s)
{
	uint32_t cp, i = 0;
	size_t n = 1;

	while (i < s->len && s->text[i] && (n = up_utf8_decode(s->text + i, s->len - i, &cp)))
		i += (uint32_t)n;
	return i == s->len;
}

static struct up_node *make_node(struct up_diags *ds, const struct up_tok *t, struct up_span sp)
{
	struct up_node *n = up_new(ds->arena, struct up_node);

	n->kind = t->kind == TK_INT ? ND_INT : t->kind == TK_FLOAT ? ND_FLOAT : ND_STR;
	n->span = sp;
	n->depth = 1;
	if (n->kind == ND_INT)
		n->num.v = t->num;
	else if (n->kind == ND_FLOAT)
		n->flt.v = t->flt;
	else
		n->str = *t->text;
	return n;
}

static struct up_node *negate(struct up_diags *ds, struct up_node *a, struct up_span sp)
{
	struct up_node *n = up_new(ds->arena, struct up_node);

	*n = (struct up_node){ .kind = ND_UNARY, .span = sp, .depth = 2 };
	n->op.op = OPR_NEG;
	n->op.a = a;
	return n;
}

struct up_node *up_parse_literal(struct up_diags *ds, uint32_t src)
{
	const struct up_source *s = &ds->sources->list.v[src];
	struct up_span all = { 0, s->len, src };
	struct up_scan *sc = up_new(ds->arena, struct up_scan);

	if (!is_text(s))
		return NULL;
	up_scan_init(sc, ds->arena, s, src);
	up_scan_all(sc);
	const struct up_tok *t = sc->toks.v;
	bool minus = t->kind == TK_MINUS;
	if (minus)
		t++;
	bool is_literal = t->kind == TK_INT || t->kind == TK_FLOAT || (t->kind == TK_STR && !minus);
	/* Nothing before it, between sign and number, or behind it; a comment is no part of it. */
	if (sc->errs.nr || !is_literal || t[1].kind != TK_EOT || t->off != minus ||
	    t->off + t->len != s->len)
		return NULL;
	struct up_node *n = make_node(ds, t, all);
	return minus ? negate(ds, n, all) : n;
}
