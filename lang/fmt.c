/*
 * The formatter. Works on tokens and comments, never on the tree: line breaks stay where they were,
 * except that each declaration begins a line; spaces, indentation and blank lines are made anew.
 */
#include "lang/parse_int.h"
#include "up.tab.h"

struct writer {
	const struct up_scan *sc;  /* tokens and comments */
	struct up_buf *out;        /* the result */
	size_t i;                  /* the token to write next */
	const struct up_tok *prev; /* the token written last, or NULL */
	uint32_t end;              /* where in the source the last token or comment ended */
	unsigned blocks, parens;   /* brackets that are open */
	bool newline;              /* a `;` was left out that stood on a line of its own */
	bool prev_unary;           /* was prev a prefix operator? */
	bool any;                  /* something was written */
	bool comment;              /* and the last of it was a comment */
};

/* ---- lines ---- */

static unsigned count_newlines(const struct up_scan *sc, uint32_t from, uint32_t to)
{
	unsigned nr = 0;
	const char *s = sc->text + from, *end = sc->text + to;

	while (nr < 2 && s < end && (s = memchr(s, '\n', (size_t)(end - s)))) {
		nr++;
		s++;
	}
	return nr;
}

/* Newlines between what was written last and the source offset `to`, where the next thing stands.
 */
static unsigned newlines_to(const struct writer *w, uint32_t to)
{
	unsigned nr = count_newlines(w->sc, w->end, to);

	return nr || !w->newline ? nr : 1;
}

static int next_kind(const struct writer *w, size_t i)
{
	return i < w->sc->toks.nr ? w->sc->toks.v[i].kind : TK_EOT;
}

static bool is_return(const struct writer *w, size_t i)
{
	return next_kind(w, i) == TK_ON && next_kind(w, i + 1) == TK_RETURN;
}

static bool starts_decl(const struct writer *w, size_t i)
{
	return up_tok_is_decl(next_kind(w, i)) && !is_return(w, i);
}

/* Does token i, first on its line, go on with what stands on the line before? */
static bool is_continuation(const struct writer *w, size_t i)
{
	int kind = next_kind(w, i);

	if (w->parens)
		return kind != TK_RPAREN && kind != TK_RBRACK;
	if (kind == TK_OPEN || kind == TK_CLOSE || kind == TK_EOT || !w->prev)
		return false;
	if (kind == TK_ELSE) /* of a statement, or of a value of one, it stands below its `if` */
		return !w->blocks && w->prev->kind != TK_CLOSE;
	if (!w->blocks)
		return !starts_decl(w, i) && !is_return(w, i);
	return w->prev->kind != TK_OPEN && w->prev->kind != TK_TERM && !up_line_ends(w->prev, kind);
}

static void start_line(struct writer *w, unsigned newlines, unsigned level)
{
	if (!w->any)
		return;
	up_buf_fill(w->out, '\n', newlines);
	up_buf_fill(w->out, '\t', level);
}

/* ---- spaces ---- */

/* Is a `-` or `~` here a sign before its operand? */
static bool is_unary(const struct writer *w, const struct up_tok *t, bool newline)
{
	const struct up_tok *p = w->prev;

	if (t->kind == TK_NOT || t->kind == TK_AT)
		return true;
	if (t->kind != TK_MINUS && t->kind != TK_TILDE)
		return false;
	return !p || !up_tok_ends_operand(p->kind) || p->kind == TK_CLOSE ||
	       (p->kind == TK_RPAREN && p->flags & UP_TOK_IF) ||
	       (newline && w->blocks && !w->parens);
}

static bool is_tight_before(int kind)
{
	return kind == TK_COMMA || kind == TK_TERM || kind == TK_RPAREN || kind == TK_RBRACK ||
	       kind == TK_LBRACK || kind == TK_DOT || kind == TK_ARROW || kind == TK_COLON ||
	       kind == TK_BITS;
}

static bool is_tight_after(int kind)
{
	return kind == TK_LPAREN || kind == TK_LBRACK || kind == TK_DOT || kind == TK_ARROW ||
	       kind == TK_COLON || kind == TK_ENTRY;
}

/* Is a space written between prev and t, both on one line? */
static bool is_spaced(const struct writer *w, const struct up_tok *t)
{
	int before = w->prev->kind;

	if (is_tight_before(t->kind) || is_tight_after(before) || w->prev_unary)
		return false;
	return !(t->kind == TK_LPAREN && before == TK_NAME);
}

/* ---- tokens and comments ---- */

static const struct up_comment *next_comment(const struct writer *w, size_t c)
{
	const struct up_comment *v = w->sc->comments.v;

	if (c == w->sc->comments.nr || v[c].span.off > w->sc->toks.v[w->i].off)
		return NULL;
	return &v[c];
}

static void write_comment(struct writer *w, const struct up_comment *c)
{
	unsigned newlines = newlines_to(w, c->span.off);
	uint32_t len = c->span.len;
	const char *s = w->sc->text + c->span.off;

	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	if (newlines > 1 && w->prev && w->prev->kind == TK_OPEN && !w->comment)
		newlines = 1;
	if (newlines || !w->any)
		start_line(w, newlines, w->blocks + (w->parens || is_continuation(w, w->i)));
	else
		up_buf_putc(w->out, ' ');
	up_buf_add(w->out, s, len);
	w->end = c->span.off + c->span.len;
	w->any = w->comment = true;
	w->newline = false;
}

/* How many newlines stand before t; a trailing `;` and doubled blank lines are gone. */
static unsigned newlines_before(const struct writer *w, const struct up_tok *t)
{
	unsigned nr = newlines_to(w, t->off);

	if (nr == 0 && (w->comment || (w->any && !w->blocks && starts_decl(w, w->i))))
		nr = 1;
	if (nr > 1 && (t->kind == TK_CLOSE || (w->prev && w->prev->kind == TK_OPEN && !w->comment)))
		nr = 1;
	return nr;
}

static void write_token(struct writer *w, const struct up_tok *t)
{
	unsigned newlines = newlines_before(w, t);
	bool unary = is_unary(w, t, newlines > 0);

	if (newlines)
		start_line(w, newlines,
			   w->blocks - (t->kind == TK_CLOSE) + is_continuation(w, w->i));
	else if (w->any && is_spaced(w, t))
		up_buf_putc(w->out, ' ');
	up_buf_add(w->out, w->sc->text + t->off, t->len);
	up_tok_nest(t->kind, &w->blocks, &w->parens);
	w->prev = t;
	w->prev_unary = unary;
	w->end = t->off + t->len;
	w->any = true;
	w->comment = w->newline = false;
}

/* `by` and `top` as names: without the `;` before them they would be keywords. */
static bool is_soft_name(const struct up_tok *t)
{
	return t->kind == TK_NAME && (!strcmp(t->name, "by") || !strcmp(t->name, "top"));
}

/* Would what stands around the `;` t end the statement, too? */
static bool is_needless(const struct writer *w, const struct up_tok *t)
{
	const struct up_tok *next = t, *prev = w->prev;

	while (next->kind == TK_TERM)
		next++;
	if (!w->blocks || !prev || prev->kind == TK_TERM || prev->kind == TK_OPEN ||
	    next->kind == TK_CLOSE)
		return true;
	return count_newlines(w->sc, prev->off + prev->len, next->off) && !is_soft_name(next) &&
	       up_line_ends(prev, next->kind);
}

static void skip_token(struct writer *w, const struct up_tok *t)
{
	w->newline |= count_newlines(w->sc, w->end, t->off) > 0;
	w->end = t->off + t->len;
}

static void write_all(struct writer *w)
{
	size_t c = 0;

	for (w->i = 0; w->i < w->sc->toks.nr; w->i++) {
		const struct up_tok *t = &w->sc->toks.v[w->i];
		const struct up_comment *comment;

		for (; (comment = next_comment(w, c)); c++)
			write_comment(w, comment);
		if (t->kind == TK_EOT)
			break;
		if (t->kind == TK_TERM && is_needless(w, t))
			skip_token(w, t);
		else
			write_token(w, t);
	}
	for (; c < w->sc->comments.nr; c++)
		write_comment(w, &w->sc->comments.v[c]);
	if (w->any)
		up_buf_putc(w->out, '\n');
}

void up_fmt(const struct up_sources *ss, uint32_t src, struct up_buf *out)
{
	struct up_scan *sc = up_new(ss->arena, struct up_scan);
	struct writer w = { .sc = sc, .out = out };

	up_scan_init(sc, ss->arena, &ss->list.v[src], src);
	up_scan_all(sc);
	write_all(&w);
}
