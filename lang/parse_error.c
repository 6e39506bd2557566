/*
 * Syntax errors: says what is wrong in the words of the language, and repairs what can be repaired,
 * so that one mistake gives one message and the ones behind it are still found. Every judge looks
 * at the tokens around the place; the first that answers wins.
 */
#include "lang/parse_int.h"
#include "up.tab.h"

#define HINT_MAX 80  /* bytes of source text that a hint repeats */
#define LOOKS_MAX 64 /* looks ahead to the next declaration in one round */
#define ROUNDS_BYTES (64u << 20) /* text that all rounds together may read */

/* ---- looking around ---- */

static int kind_at(const struct up_parser *p, size_t i)
{
	return i < p->toks.nr ? p->toks.v[i].kind : TK_EOT;
}

static uint32_t end_of(const struct up_tok *t)
{
	return t->off + t->len;
}

/* From the start of token a to the end of token b. */
static struct up_span span_of(const struct up_parser *p, size_t a, size_t b)
{
	const struct up_tok *from = &p->toks.v[a];

	return up_parser_span(p, from->off, end_of(&p->toks.v[b]) - from->off);
}

/* The text of a span for a hint, or NULL when it is too long or has several lines. */
static const char *short_text(const struct up_parser *p, struct up_span sp)
{
	const char *s = p->scan.text + sp.off;

	if (!sp.len || sp.len > HINT_MAX || memchr(s, '\n', sp.len))
		return NULL;
	return up_arena_memdup(p->arena, s, sp.len);
}

/* Indices of the brackets that are open at a token, outermost first. */
struct brackets {
	size_t v[UP_DEPTH_MAX + 1]; /* token indices */
	size_t nr;                  /* how many */
};

static bool is_paren(int kind)
{
	return kind == TK_LPAREN || kind == TK_LBRACK;
}

static void track_bracket(const struct up_parser *p, struct brackets *b, size_t i)
{
	int kind = p->toks.v[i].kind;
	int top = b->nr ? p->toks.v[b->v[b->nr - 1]].kind : TK_EOT;

	if (kind == TK_OPEN || is_paren(kind)) {
		if (b->nr < UP_DEPTH_MAX)
			b->v[b->nr++] = i;
	} else if (kind == TK_CLOSE) {
		b->nr -= top == TK_OPEN;
	} else if (kind == TK_RPAREN || kind == TK_RBRACK) {
		b->nr -= is_paren(top);
	}
}

static void find_brackets(const struct up_parser *p, struct brackets *b, size_t i)
{
	b->nr = 0;
	for (size_t j = 0; j < i; j++)
		track_bracket(p, b, j);
}

/* The `(` of the `)` at i, or SIZE_MAX. */
static size_t find_lparen(const struct up_parser *p, size_t i)
{
	struct brackets b;

	find_brackets(p, &b, i);
	return b.nr ? b.v[b.nr - 1] : SIZE_MAX;
}

/* The first token of the statement that token i belongs to. */
static size_t statement_start(const struct up_parser *p, size_t i)
{
	while (i && kind_at(p, i - 1) != TK_TERM && kind_at(p, i - 1) != TK_OPEN &&
	       kind_at(p, i - 1) != TK_CLOSE)
		i--;
	return i;
}

/* The kind of the declaration that token i belongs to, or TK_EOT. */
static int declaration_of(const struct up_parser *p, size_t i)
{
	for (; i; i--)
		if (up_tok_is_decl(kind_at(p, i - 1)))
			return kind_at(p, i - 1);
	return TK_EOT;
}

/* How many more `>` than `<` stand between token i and the next declaration. */
static long excess_closes(const struct up_parser *p, size_t i)
{
	long n = 0;

	for (; kind_at(p, i) != TK_EOT && !up_tok_is_decl(kind_at(p, i)); i++)
		n += (kind_at(p, i) == TK_CLOSE) - (kind_at(p, i) == TK_OPEN);
	return n;
}

/* Behind a name, its members, indices and call at i; *is_call when it ends in a call. */
static size_t skip_chain(const struct up_parser *p, size_t i, bool *is_call)
{
	*is_call = false;
	if (kind_at(p, i) != TK_NAME)
		return i;
	for (i++;;) {
		if (kind_at(p, i) == TK_DOT || kind_at(p, i) == TK_ARROW) {
			i += 2;
			*is_call = false;
		} else if (is_paren(kind_at(p, i))) {
			long depth = 0;

			*is_call = kind_at(p, i) == TK_LPAREN;
			do {
				int kind = kind_at(p, i++);

				depth += is_paren(kind);
				depth -= kind == TK_RPAREN || kind == TK_RBRACK;
			} while (depth && kind_at(p, i) != TK_EOT);
		} else {
			return i;
		}
	}
}

/* Does the `<` at i plainly open a block, by what follows it? It may have been read as less-than. */
static bool opens_block(const struct up_parser *p, size_t i)
{
	bool is_call;
	int next = kind_at(p, i + 1);

	if (kind_at(p, i) != TK_OPEN && kind_at(p, i) != TK_LT)
		return false;
	if (next == TK_CLOSE || next == TK_IF || next == TK_FOR || next == TK_DELETE ||
	    (i + 1 < p->toks.nr && p->toks.v[i + 1].flags & UP_TOK_NEWLINE))
		return true;
	next = kind_at(p, skip_chain(p, i + 1, &is_call));
	if (next == TK_ASSIGN || next == TK_OP_ASSIGN)
		return true;
	return is_call && (next == TK_TERM || next == TK_CLOSE || next == TK_GT ||
			   next == TK_SHR || next == TK_BY || next == TK_TOP || next == TK_EOT);
}

/* ---- repairs ---- */

bool up_repair(struct up_parser *p, enum up_fix_kind kind, uint32_t off, int tok)
{
	struct up_scan *sc = &p->scan;
	struct up_fix f = { off, kind, tok };
	unsigned at = sc->nr_fixes;

	if (sc->nr_fixes == UP_FIX_MAX || (uint64_t)p->nr_rounds * sc->len > ROUNDS_BYTES)
		return false;
	while (at && (sc->fixes[at - 1].off > off ||
		      (sc->fixes[at - 1].off == off && kind == UP_FIX_INSERT &&
		       sc->fixes[at - 1].kind != UP_FIX_INSERT)))
		at--;
	if (at && sc->fixes[at - 1].off == off && kind != UP_FIX_INSERT &&
	    sc->fixes[at - 1].kind != UP_FIX_INSERT)
		return false;
	memmove(&sc->fixes[at + 1], &sc->fixes[at], (sc->nr_fixes - at) * sizeof(f));
	sc->fixes[at] = f;
	sc->nr_fixes++;
	p->again = p->stop = true;
	return true;
}

static const char *operator_name(const struct up_parser *p, struct up_span op)
{
	return up_arena_memdup(p->arena, p->scan.text + op.off, op.len);
}

static bool report_bare(struct up_parser *p, struct up_span op)
{
	return up_error(p->ds, op, E_BARE_COMPARISON,
			"`%s` stands outside parentheses, where `<` and `>` are block brackets",
			operator_name(p, op));
}

void up_bare_comparison(struct up_parser *p, const struct up_tok *op, struct up_span all)
{
	const char *text = short_text(p, all);

	report_bare(p, up_tok_span(p, op));
	if (text)
		up_diag_hint(p->ds, "write `(%s)`", text);
	else
		up_diag_hint(p->ds, "put the comparison in parentheses");
}

static bool is_reported(const struct up_parser *p, uint32_t off)
{
	for (size_t i = 0; i < p->ds->list.nr; i++) {
		const struct up_diag *d = &p->ds->list.v[i];

		if (d->tag == E_BARE_COMPARISON && d->span.src == p->src && d->span.off == off)
			return true;
	}
	return false;
}

void up_report_repairs(struct up_parser *p)
{
	for (unsigned i = 0; i < p->scan.nr_fixes; i++) {
		const struct up_fix *f = &p->scan.fixes[i];
		uint32_t len = f->tok == TK_SHR ? 2 : 1;

		if (f->kind != UP_FIX_OPERATOR || is_reported(p, f->off))
			continue;
		report_bare(p, up_parser_span(p, f->off, len));
		up_diag_hint(p->ds, "put the comparison in parentheses");
	}
}

/* ---- judges: each returns true when it said what is wrong ---- */

struct place {
	size_t i;                    /* the token that does not fit */
	int kind;                    /* its kind */
	const struct up_expected *x; /* what would */
};

/* Where a `)` for the `(` at `open` is best put: before the token returned. */
static size_t find_paren_end(const struct up_parser *p, size_t open, size_t nr_blocks)
{
	bool header = open && (kind_at(p, open - 1) == TK_WHEN || kind_at(p, open - 1) == TK_IF);
	size_t j = open + 1;
	long depth = 0;

	for (; kind_at(p, j) != TK_EOT; j++) {
		int kind = kind_at(p, j), before = kind_at(p, j - 1);
		bool line = p->toks.v[j].flags & UP_TOK_NEWLINE;

		if (depth <= 0 && (kind == TK_TERM || (header && opens_block(p, j)) ||
				   (line && (up_tok_ends_operand(before) || before == TK_GT ||
					     before == TK_SHR))))
			break;
		depth += is_paren(kind);
		depth -= kind == TK_RPAREN || kind == TK_RBRACK;
	}
	for (; nr_blocks && j - 1 > open; j--) {
		int before = kind_at(p, j - 1);
		size_t closes = before == TK_SHR ? 2 : before == TK_GT || before == TK_CLOSE;

		if (!closes || closes > nr_blocks)
			break;
		nr_blocks -= closes;
	}
	return j;
}

/* Does a line begin, not indented, with the first word of a declaration? */
static bool begins_decl(const struct up_parser *p, size_t i)
{
	const struct up_tok *t = &p->toks.v[i];

	if (up_tok_is_decl(t->kind))
		return true;
	if (t->kind != TK_NAME || !t->off || p->scan.text[t->off - 1] != '\n')
		return false;
	for (int kind = TK_PROBE; up_tok_is_decl(kind); kind++)
		if (!strcmp(t->name, up_tok_text(kind)))
			return up_tok_ends_operand(kind_at(p, i + 1));
	return false;
}

/* Is the innermost of the brackets closed at or behind token i, before another declaration? */
static bool gets_closed(const struct up_parser *p, struct brackets b, size_t i)
{
	size_t nr = b.nr;

	for (; kind_at(p, i) != TK_EOT && !begins_decl(p, i); i++) {
		track_bracket(p, &b, i);
		if (b.nr < nr)
			return true;
	}
	return false;
}

static bool judge_paren(struct up_parser *p, const struct place *at)
{
	struct brackets b;

	find_brackets(p, &b, at->i);
	if (!b.nr || !is_paren(kind_at(p, b.v[b.nr - 1])) || gets_closed(p, b, at->i))
		return false;
	size_t open = b.v[b.nr - 1], nr_blocks = 0;
	for (size_t j = 0; j < b.nr; j++)
		nr_blocks += kind_at(p, b.v[j]) == TK_OPEN;
	bool round = kind_at(p, open) == TK_LPAREN;
	size_t end = find_paren_end(p, open, nr_blocks);
	up_error(p->ds, up_tok_span(p, &p->toks.v[open]), E_UNCLOSED_PAREN,
		 "this `%c` is never closed", round ? '(' : '[');
	up_diag_note(p->ds, up_parser_span(p, end_of(&p->toks.v[end - 1]), 0),
		     "`%c` could stand here", round ? ')' : ']');
	up_repair(p, UP_FIX_INSERT, end_of(&p->toks.v[end - 1]), round ? TK_RPAREN : TK_RBRACK);
	return true;
}

static bool judge_missing_close(struct up_parser *p, const struct place *at)
{
	struct brackets b;

	if (!p->depth || !(at->kind == TK_EOT || at->kind == TK_ON_RETURN ||
			   up_tok_is_decl(at->kind)))
		return false;
	find_brackets(p, &b, at->i);
	if (!b.nr || kind_at(p, b.v[b.nr - 1]) != TK_OPEN)
		return false;
	const struct up_tok *t = &p->toks.v[at->i], *open = &p->toks.v[b.v[b.nr - 1]];
	up_error(p->ds, up_tok_span(p, open), E_MISSING_CLOSE,
		 "the block that opens here is never closed");
	up_diag_note(p->ds, up_tok_span(p, t),
		     at->kind == TK_EOT       ? "the script ends here" :
		     at->kind == TK_ON_RETURN ? "`on return` stands behind the block, not in it" :
						"the next declaration begins here");
	up_diag_hint(p->ds, "close it with `>`");
	up_repair(p, UP_FIX_INSERT, end_of(&p->toks.v[at->i - 1]), TK_CLOSE);
	return true;
}

/* The first token of a condition that lacks its parentheses, or SIZE_MAX. */
static size_t find_condition(const struct up_parser *p, const struct place *at)
{
	size_t i = at->i, lp = SIZE_MAX;
	bool joins = up_expects(at->x, TK_OPEN) || at->kind == TK_CLOSE || at->kind == TK_OPEN;

	if (!i)
		return SIZE_MAX;
	if (kind_at(p, i - 1) == TK_WHEN || kind_at(p, i - 1) == TK_IF)
		return i;
	if (at->kind == TK_OPEN && kind_at(p, i - 1) == TK_NAME && i > 2 &&
	    kind_at(p, i - 2) == TK_OPEN && kind_at(p, i - 3) == TK_RPAREN)
		lp = find_lparen(p, i - 3);
	else if (kind_at(p, i - 1) == TK_RPAREN && joins &&
		 (at->kind >= TK_LOR || (at->kind == TK_CLOSE && kind_at(p, i + 1) != TK_EOT &&
					 up_tok_begins_operand(kind_at(p, i + 1)))))
		lp = find_lparen(p, i - 1);
	if (lp == SIZE_MAX || !lp)
		return SIZE_MAX;
	return kind_at(p, lp - 1) == TK_WHEN || kind_at(p, lp - 1) == TK_IF ? lp : SIZE_MAX;
}

/* The `<` that opens the block behind a condition which starts at i, or SIZE_MAX. */
static size_t find_block(const struct up_parser *p, size_t i)
{
	long depth = 0;

	for (;; i++) {
		int kind = kind_at(p, i);

		if (kind == TK_EOT || kind == TK_TERM || up_tok_is_decl(kind))
			return SIZE_MAX;
		if (depth == 0 && opens_block(p, i))
			return i;
		depth += is_paren(kind);
		depth -= kind == TK_RPAREN || kind == TK_RBRACK;
	}
}

/* Where a condition that starts at i ends when no block follows: before a value behind a value. */
static size_t find_next_value(const struct up_parser *p, size_t i)
{
	long depth = 0;

	for (;; i++) {
		int kind = kind_at(p, i), next = kind_at(p, i + 1);

		if (kind == TK_EOT || kind == TK_TERM || up_tok_is_decl(kind))
			return SIZE_MAX;
		depth += is_paren(kind);
		depth -= kind == TK_RPAREN || kind == TK_RBRACK;
		if (depth == 0 && up_tok_ends_operand(kind) && kind != TK_CLOSE &&
		    up_tok_begins_operand(next) && next != TK_MINUS && next != TK_TILDE)
			return i + 1;
	}
}

static bool judge_condition(struct up_parser *p, const struct place *at)
{
	size_t start = find_condition(p, at);

	if (start == SIZE_MAX || kind_at(p, start) == TK_OPEN || kind_at(p, start) == TK_TERM ||
	    kind_at(p, start) == TK_EOT)
		return false;
	const char *word = up_tok_text(kind_at(p, start - 1));
	size_t end = find_block(p, start);
	if (end == SIZE_MAX)
		end = find_next_value(p, start);
	struct up_span sp = span_of(p, start, end == SIZE_MAX ? start : end - 1);
	const char *text = end == SIZE_MAX ? NULL : short_text(p, sp);
	up_error(p->ds, sp, E_CONDITION_PARENS, "the condition of `%s` needs parentheses", word);
	if (text)
		up_diag_hint(p->ds, "write `%s (%s)`", word, text);
	else
		up_diag_hint(p->ds, "write `%s (condition)`", word);
	if (end != SIZE_MAX) {
		up_repair(p, UP_FIX_INSERT, sp.off, TK_LPAREN);
		up_repair(p, UP_FIX_INSERT, sp.off + sp.len, TK_RPAREN);
	}
	return true;
}

/* Is the one-word or one-call statement before the `<` at i rather a misspelt compound? */
static bool heads_block(const struct up_parser *p, size_t i)
{
	size_t start = statement_start(p, i);
	bool is_call;

	return kind_at(p, start) == TK_NAME && skip_chain(p, start, &is_call) == i &&
	       opens_block(p, i);
}

/* `x = a < b`: the bracket does not fit. */
static bool judge_bare_less(struct up_parser *p, const struct place *at)
{
	int before = at->i ? kind_at(p, at->i - 1) : TK_EOT;

	if (at->kind != TK_OPEN || !up_tok_ends_operand(before) || before == TK_CLOSE ||
	    before == TK_TARGET || p->toks.v[at->i].flags & UP_TOK_MADE)
		return false;
	if (p->depth ? heads_block(p, at->i) :
		       declaration_of(p, at->i) < TK_CONST || opens_block(p, at->i))
		return false;
	return up_repair(p, UP_FIX_OPERATOR, p->toks.v[at->i].off, TK_LT);
}

/* Are the `>` at i and i + 1 written as one `>>`? */
static bool is_shift(const struct up_parser *p, size_t i)
{
	return kind_at(p, i) == TK_CLOSE && kind_at(p, i + 1) == TK_CLOSE &&
	       end_of(&p->toks.v[i]) == p->toks.v[i + 1].off && p->toks.v[i].len;
}

/* Takes the `>` (or `>>`) whose last bracket is token i for an operator, if operands stand around it. */
static bool repair_greater(struct up_parser *p, size_t i)
{
	size_t first = i && is_shift(p, i - 1) ? i - 1 : i;
	const struct up_tok *next = &p->toks.v[i + 1];
	int before = first ? kind_at(p, first - 1) : TK_EOT;

	if (!up_tok_ends_operand(before) || before == TK_CLOSE || before == TK_TARGET ||
	    !up_tok_begins_operand(next->kind) || next->flags & UP_TOK_NEWLINE ||
	    !p->toks.v[first].len)
		return false;
	return up_repair(p, UP_FIX_OPERATOR, p->toks.v[first].off, first == i ? TK_GT : TK_SHR);
}

/* `x = a > b`: the bracket closed a block, then the rest does not fit. */
static bool judge_bare_greater(struct up_parser *p, const struct place *at)
{
	size_t i = at->i;

	if (p->depth || !i)
		return false;
	if (at->kind == TK_CLOSE) {
		size_t last = is_shift(p, i) ? i + 1 : i;

		return (is_shift(p, i - 1) || declaration_of(p, i) >= TK_CONST) &&
		       repair_greater(p, last);
	}
	return kind_at(p, i - 1) == TK_CLOSE && excess_closes(p, i) > 0 && repair_greater(p, i - 1);
}

void up_check_statement(struct up_parser *p, const struct up_node *e)
{
	size_t lo = 0, hi = p->toks.nr;

	if (e->kind == ND_CALL || e->kind == ND_BAD || p->stop || p->nr_looks >= LOOKS_MAX)
		return;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->toks.v[mid].off < e->span.off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || kind_at(p, lo - 1) != TK_CLOSE || p->toks.v[lo].flags & UP_TOK_NEWLINE)
		return;
	p->nr_looks++;
	if (excess_closes(p, lo) > (long)p->depth)
		repair_greater(p, lo - 1);
}

static bool judge_extra_close(struct up_parser *p, const struct place *at)
{
	if (at->kind != TK_CLOSE || p->depth)
		return false;
	up_error(p->ds, up_tok_span(p, &p->toks.v[at->i]), E_EXTRA_CLOSE,
		 "this `>` closes no block");
	up_diag_hint(p->ds, "leave it out; a comparison needs parentheses: `(a > b)`");
	up_repair(p, UP_FIX_DROP, p->toks.v[at->i].off, 0);
	return true;
}

/* Puts the statement that starts at i into a block. */
static void repair_block(struct up_parser *p, size_t i)
{
	size_t end = i;

	while (kind_at(p, end) != TK_TERM && kind_at(p, end) != TK_EOT &&
	       kind_at(p, end) != TK_CLOSE && kind_at(p, end) != TK_ELSE &&
	       kind_at(p, end) != TK_OPEN && !up_tok_is_decl(kind_at(p, end)))
		end++;
	if (end == i || kind_at(p, end) == TK_OPEN)
		return;
	up_repair(p, UP_FIX_INSERT, p->toks.v[i].off, TK_OPEN);
	up_repair(p, UP_FIX_INSERT, end_of(&p->toks.v[end - 1]), TK_CLOSE);
	if (p->toks.v[end].len && kind_at(p, end + 1) == TK_ELSE)
		up_repair(p, UP_FIX_DROP, p->toks.v[end].off, 0);
}

/* `if (c) x = 1`, `else x = 1`, `for k in t print(k)`. */
static bool judge_no_block(struct up_parser *p, const struct place *at)
{
	size_t start = statement_start(p, at->i), body = at->i;
	const char *word = "else";
	struct up_span sp;

	if (!p->depth)
		return false;
	if (at->i && kind_at(p, at->i - 1) == TK_ELSE && up_expects(at->x, TK_OPEN)) {
		sp = up_tok_span(p, &p->toks.v[at->i - 1]);
	} else if (kind_at(p, start) == TK_FOR && up_expects(at->x, TK_OPEN)) {
		word = "for";
		sp = span_of(p, start, at->i - 1);
	} else if (kind_at(p, start) == TK_IF && up_expects(at->x, TK_ELSE)) {
		word = "if";
		body = start + 1;
		while (kind_at(p, body) != TK_RPAREN || find_lparen(p, body) != start + 1)
			if (++body >= at->i)
				return false;
		sp = span_of(p, start, body++);
	} else {
		return false;
	}
	up_error(p->ds, sp, E_NO_BLOCK, "this `%s` has no block", word);
	up_diag_hint(p->ds, "a statement that depends on it stands in a block: `< ... >`");
	repair_block(p, body);
	return true;
}

/* ---- misspelt keywords ---- */

/* The keyword among those expected (and `also`, a list ended by 0) that token i may have meant. */
static int nearest_keyword(const struct up_parser *p, size_t i, const struct up_expected *x,
			   const int *also)
{
	const struct up_tok *t = &p->toks.v[i];
	struct up_nearest n;

	up_nearest_init(&n, t->name, t->len);
	for (int kind = TK_PROBE; x && kind <= TK_TOP; kind++)
		if (up_expects(x, kind) && kind != TK_ON_RETURN)
			up_nearest_offer(&n, up_tok_text(kind), strlen(up_tok_text(kind)));
	for (; *also; also++)
		up_nearest_offer(&n, up_tok_text(*also), strlen(up_tok_text(*also)));
	for (int kind = TK_PROBE; n.nr && kind <= TK_TOP; kind++)
		if (up_tok_text(kind) && !strcmp(up_tok_text(kind), n.best[0].name))
			return kind;
	return 0;
}

static bool report_misspelt(struct up_parser *p, size_t i, int kind)
{
	const struct up_tok *t = &p->toks.v[i];

	up_error(p->ds, up_tok_span(p, t), E_SYNTAX, "`%s` is not a keyword", t->name);
	up_diag_hint(p->ds, "did you mean `%s`?", up_tok_text(kind));
	up_repair(p, UP_FIX_KIND, t->off, kind);
	return true;
}

/* Would the tokens behind the word at `start` fit that keyword? */
static bool fits_keyword(const struct up_parser *p, const struct place *at, size_t start, int kind)
{
	int next = kind_at(p, start + 1), after = kind_at(p, start + 2);

	switch (kind) {
	case TK_IF:
		return next == TK_LPAREN && at->kind == TK_OPEN;
	case TK_FOR:
		return next == TK_NAME && (after == TK_IN || after == TK_COMMA);
	case TK_DELETE:
		return next == TK_NAME;
	case TK_ELSE:
		return next == TK_OPEN || next == TK_IF;
	default:
		return false;
	}
}

/* The word at the error itself: another keyword was due. */
static bool judge_misspelt_here(struct up_parser *p, const struct place *at)
{
	static const int after_on[] = { TK_RETURN, 0 }, returns[] = { TK_ON, 0 }, none[] = { 0 };
	const int *also = none;

	if (at->kind != TK_NAME)
		return false;
	if (at->i && kind_at(p, at->i - 1) == TK_ON)
		also = after_on;
	else if (up_expects(at->x, TK_ON_RETURN))
		also = returns;
	int kind = nearest_keyword(p, at->i, at->x, also);
	return kind && report_misspelt(p, at->i, kind);
}

/* The word that the statement begins with, which was taken for a name or a call. */
static bool judge_misspelt_head(struct up_parser *p, const struct place *at)
{
	static const int heads[] = { TK_ELSE, TK_IF, TK_FOR, TK_DELETE, 0 };
	size_t start = statement_start(p, at->i);
	bool is_call;

	if (!p->depth || start == at->i || kind_at(p, start) != TK_NAME ||
	    (start + 1 != at->i && !(skip_chain(p, start, &is_call) == at->i && is_call)))
		return false;
	int kind = nearest_keyword(p, start, NULL, heads);
	return kind && fits_keyword(p, at, start, kind) && report_misspelt(p, start, kind);
}

/* ---- everything else ---- */

/* Words of other languages, and what is written here. */
static const struct habit {
	const char *word; /* what was written */
	const char *here; /* the hint */
} habits[] = {
	{ "BEGIN", "what runs at the start is written `on start < ... >`" },
	{ "END", "what runs at the end is written `on end < ... >`" },
	{ "interval", "what runs at intervals is written `on every 1s < ... >`" },
	{ "function", "a function is written `fn name(x) = x + 1`" },
	{ "func", "a function is written `fn name(x) = x + 1`" },
	{ "def", "a function is written `fn name(x) = x + 1`" },
	{ "let", "a constant is written `const NAME = 1`; a variable is just assigned to" },
	{ "var", "a variable is just assigned to: `n = 1`" },
	{ "import", "a module is used with `use name`" },
	{ "include", "a module is used with `use name`" },
	{ "while", "the only loop is `for key in table < ... >`" },
	{ "foreach", "the only loop is `for key in table < ... >`" },
};

static const char *habit_hint(const struct up_parser *p, const struct place *at)
{
	size_t where[] = { at->i, statement_start(p, at->i) };

	for (size_t k = 0; k < 2; k++) {
		const struct up_tok *t = &p->toks.v[where[k]];

		for (size_t i = 0; t->kind == TK_NAME && i < sizeof(habits) / sizeof(*habits); i++)
			if (!strcmp(t->name, habits[i].word))
				return habits[i].here;
	}
	return NULL;
}

static bool is_binary_operator(int kind)
{
	return (kind >= TK_LOR && kind < TK_NOT) || kind == TK_DOT || kind == TK_ARROW;
}

static const char *other_hint(const struct up_parser *p, const struct place *at)
{
	int kind = at->kind, before = at->i ? kind_at(p, at->i - 1) : TK_EOT;
	size_t start = statement_start(p, at->i);

	if (kind == TK_ASSIGN && !p->toks.v[at->i].flags && up_expects(at->x, TK_EQ))
		return "equality is written `==`";
	if (before == kind && (kind == TK_PLUS || before == TK_MINUS))
		return "count with `name += 1`";
	if ((kind == TK_TERM || kind == TK_CLOSE) && at->i > 1 &&
	    kind_at(p, at->i - 2) == before && (before == TK_PLUS || before == TK_MINUS))
		return before == TK_PLUS ? "count with `name += 1`" : "count with `name -= 1`";
	if (is_binary_operator(kind) && before == TK_TERM && !p->toks.v[at->i - 1].len)
		return "the line before ended the statement; an operator stands at the end of a line, "
		       "not at the start of the next";
	if (kind == TK_ON_RETURN)
		return "`on return` stands behind a probe's or a point's block, once";
	if (kind == TK_OPEN && before == TK_CLOSE)
		return "a probe has one block for the call and one behind `on return`";
	if (kind == TK_LPAREN && before == TK_FOR)
		return "write `for key in table < ... >`, without parentheses";
	if (kind == TK_BY && kind_at(p, start) != TK_BY)
		return "`by` stands before `top`, once";
	if (before == TK_TARGET && kind == TK_COLON)
		return "a target is written without blanks: `zsh:zfree`";
	return NULL;
}

static const char *found_text(const struct up_parser *p, size_t i)
{
	while (p->toks.v[i].flags & UP_TOK_MADE)
		i++;
	const struct up_tok *t = &p->toks.v[i];
	if (t->kind == TK_EOT)
		return "the end of the script";
	if (!t->len)
		return "the end of the line";
	if (t->kind == TK_STR)
		return "a string";
	return up_arena_printf(p->arena, t->len > 40 ? "`%.*s...`" : "`%.*s`",
			       t->len > 40 ? 40 : (int)t->len, p->scan.text + t->off);
}

static void report_plain(struct up_parser *p, const struct place *at)
{
	const char *hint = habit_hint(p, at);

	if (!hint)
		hint = other_hint(p, at);
	up_error(p->ds, up_tok_span(p, &p->toks.v[at->i]), E_SYNTAX, "expected %s, found %s",
		 up_expected_text(p, at->x), found_text(p, at->i));
	if (hint)
		up_diag_hint(p->ds, "%s", hint);
	if (at->kind == TK_ASSIGN && up_expects(at->x, TK_EQ) && !up_expects(at->x, TK_TERM))
		up_repair(p, UP_FIX_KIND, p->toks.v[at->i].off, TK_EQ);
}

/* ---- reading on ---- */

/* Where to go on in a block: at the statement's end. */
static size_t statement_end(const struct up_parser *p, size_t i)
{
	for (unsigned level = 0;; i++) {
		int kind = kind_at(p, i);

		if (kind == TK_EOT || kind == TK_ON_RETURN || up_tok_is_decl(kind) ||
		    (!level && (kind == TK_TERM || kind == TK_CLOSE)))
			return i;
		level += kind == TK_OPEN;
		if (kind == TK_CLOSE && !--level)
			return i + 1;
	}
}

/* Bison drops tokens until the TK_SYNC that comes next. */
static void recover(struct up_parser *p, size_t i)
{
	if (p->last_error == i + 1 && kind_at(p, i) != TK_EOT)
		i++;
	p->last_error = i + 1;
	if (p->depth)
		i = statement_end(p, i);
	else
		while (kind_at(p, i) != TK_EOT && !up_tok_is_decl(kind_at(p, i)))
			i++;
	p->next = i;
	p->sync = true;
}

void up_parse_failed(struct up_parser *p, const struct up_expected *x)
{
	struct place at = { p->cur, kind_at(p, p->cur), x };

	if (p->stop)
		return;
	if (at.kind != TK_BAD && !(p->toks.v[at.i].flags & UP_TOK_QUIET) &&
	    !judge_paren(p, &at) && !judge_missing_close(p, &at) && !judge_condition(p, &at) &&
	    !judge_misspelt_here(p, &at) && !judge_misspelt_head(p, &at) &&
	    !judge_no_block(p, &at) && !judge_bare_less(p, &at) &&
	    !judge_bare_greater(p, &at) && !judge_extra_close(p, &at))
		report_plain(p, &at);
	if (!p->again)
		recover(p, at.i);
}
