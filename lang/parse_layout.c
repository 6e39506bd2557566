/*
 * The newline rule: puts a TK_TERM between the scanner's tokens where a line ends a statement, and
 * joins `on` and `return`. Knows tokens only.
 */
#include "lang/parse_int.h"
#include "up.tab.h"

/* Does a line that begins with this go on with the line before? */
static bool continues(int kind)
{
	return kind == TK_OPEN || kind == TK_CLOSE || kind == TK_ELSE || kind == TK_BY ||
	       kind == TK_TOP || kind == TK_TERM || kind == TK_EOT;
}

/* May a statement end behind this token? An `if (...)` needs more. */
static bool may_end(const struct up_tok *t)
{
	return up_tok_ends_operand(t->kind) && !(t->kind == TK_RPAREN && t->flags & UP_TOK_IF);
}

bool up_layout_ends(const struct up_tok *before, int kind)
{
	return may_end(before) && !continues(kind);
}

/* What is open around a token. */
struct nesting {
	unsigned blocks, parens;
};

static void track(struct nesting *n, int kind)
{
	if (kind == TK_LPAREN || kind == TK_LBRACK)
		n->parens++;
	else if (kind == TK_RPAREN || kind == TK_RBRACK)
		n->parens -= n->parens > 0;
	else if (kind == TK_OPEN)
		n->blocks++;
	else if (kind == TK_CLOSE)
		n->blocks -= n->blocks > 0;
}

void up_layout(const struct up_scan *sc, struct up_toks *out)
{
	struct nesting n = { 0 };

	out->nr = 0;
	for (size_t i = 0; i < sc->toks.nr; i++) {
		struct up_tok t = sc->toks.v[i];
		const struct up_tok *before = i ? &sc->toks.v[i - 1] : NULL;

		if (before && t.flags & UP_TOK_NEWLINE && n.blocks && !n.parens &&
		    up_layout_ends(before, t.kind)) {
			struct up_tok term = { .kind = TK_TERM, .off = before->off + before->len };

			up_vec_push(sc->arena, out, term);
		}
		track(&n, t.kind);
		if (t.kind == TK_ON && sc->toks.v[i + 1].kind == TK_RETURN) {
			const struct up_tok *ret = &sc->toks.v[++i];

			t.kind = TK_ON_RETURN;
			t.len = ret->off + ret->len - t.off;
		}
		up_vec_push(sc->arena, out, t);
	}
}
