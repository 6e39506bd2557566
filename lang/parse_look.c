/* Looking at the tokens around a syntax error. */
#include "lang/parse_look.h"
#include "up.tab.h"

#define TEXT_MAX 80 /* bytes of source text that a hint repeats */

int up_look_kind(const struct up_parser *p, size_t i)
{
	return i < p->toks.nr ? p->toks.v[i].kind : TK_EOT;
}

uint32_t up_look_end(const struct up_tok *t)
{
	return t->off + t->len;
}

struct up_span up_look_span(const struct up_parser *p, size_t a, size_t b)
{
	const struct up_tok *from = &p->toks.v[a];

	return up_parser_span(p, from->off, up_look_end(&p->toks.v[b]) - from->off);
}

const char *up_look_text(const struct up_parser *p, struct up_span sp)
{
	const char *s = p->scan.text + sp.off;

	if (!sp.len || sp.len > TEXT_MAX || memchr(s, '\n', sp.len))
		return NULL;
	return up_arena_memdup(p->arena, s, sp.len);
}

bool up_look_is_paren(int kind)
{
	return kind == TK_LPAREN || kind == TK_LBRACK;
}

void up_look_track(const struct up_parser *p, struct up_brackets *b, size_t i)
{
	int kind = p->toks.v[i].kind;
	int top = b->nr ? p->toks.v[b->v[b->nr - 1]].kind : TK_EOT;

	if (kind == TK_OPEN || up_look_is_paren(kind)) {
		if (b->nr < UP_DEPTH_MAX)
			b->v[b->nr++] = i;
	} else if (kind == TK_CLOSE) {
		b->nr -= top == TK_OPEN;
	} else if (kind == TK_RPAREN || kind == TK_RBRACK) {
		b->nr -= up_look_is_paren(top);
	}
}

void up_look_brackets(const struct up_parser *p, struct up_brackets *b, size_t i)
{
	b->nr = 0;
	for (size_t j = 0; j < i; j++)
		up_look_track(p, b, j);
}

size_t up_look_lparen(const struct up_parser *p, size_t i)
{
	struct up_brackets b;

	up_look_brackets(p, &b, i);
	return b.nr ? b.v[b.nr - 1] : SIZE_MAX;
}

size_t up_look_behind_paren(const struct up_parser *p, size_t i)
{
	long depth = 0;

	do {
		int kind = up_look_kind(p, i++);

		depth += up_look_is_paren(kind);
		depth -= kind == TK_RPAREN || kind == TK_RBRACK;
	} while (depth > 0 && up_look_kind(p, i) != TK_EOT);
	return i;
}

size_t up_look_statement(const struct up_parser *p, size_t i)
{
	while (i && up_look_kind(p, i - 1) != TK_TERM && up_look_kind(p, i - 1) != TK_OPEN &&
	       up_look_kind(p, i - 1) != TK_CLOSE)
		i--;
	return i;
}

int up_look_declaration(const struct up_parser *p, size_t i)
{
	for (; i; i--)
		if (up_tok_is_decl(up_look_kind(p, i - 1)))
			return up_look_kind(p, i - 1);
	return TK_EOT;
}

long up_look_excess(const struct up_parser *p, size_t i)
{
	long n = 0;

	for (; up_look_kind(p, i) != TK_EOT && !up_tok_is_decl(up_look_kind(p, i)); i++)
		n += (up_look_kind(p, i) == TK_CLOSE) - (up_look_kind(p, i) == TK_OPEN);
	return n;
}

size_t up_look_chain(const struct up_parser *p, size_t i, bool *is_call)
{
	*is_call = false;
	if (up_look_kind(p, i) != TK_NAME)
		return i;
	for (i++;;) {
		if (up_look_kind(p, i) == TK_DOT || up_look_kind(p, i) == TK_ARROW) {
			i += 2;
			*is_call = false;
		} else if (up_look_is_paren(up_look_kind(p, i))) {
			*is_call = up_look_kind(p, i) == TK_LPAREN;
			i = up_look_behind_paren(p, i);
		} else {
			return i;
		}
	}
}

bool up_look_opens_block(const struct up_parser *p, size_t i)
{
	bool is_call;
	int next = up_look_kind(p, i + 1);

	if (up_look_kind(p, i) != TK_OPEN && up_look_kind(p, i) != TK_LT)
		return false;
	if (next == TK_CLOSE || next == TK_IF || next == TK_FOR || next == TK_DELETE ||
	    (i + 1 < p->toks.nr && p->toks.v[i + 1].flags & UP_TOK_NEWLINE))
		return true;
	next = up_look_kind(p, up_look_chain(p, i + 1, &is_call));
	if (next == TK_ASSIGN || next == TK_OP_ASSIGN)
		return true;
	return is_call && (next == TK_TERM || next == TK_CLOSE || next == TK_GT || next == TK_SHR ||
			   next == TK_BY || next == TK_TOP || next == TK_EOT);
}
