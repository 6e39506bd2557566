/*
 * Comparisons without parentheses: `x = a > b`, `when a > b < ... >`. There a bracket was read
 * where an operator was meant, so the text is parsed again with that known.
 */
#include "lang/parse_look.h"
#include "up.tab.h"

#define LOOKS_MAX 64 /* looks ahead to the next declaration in one round */

/* ---- reports ---- */

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
	const char *text = up_look_text(p, all);

	report_bare(p, up_tok_span(p, op));
	if (text)
		up_diag_hint(p->ds, "write `(%s)`", text);
	else
		up_diag_hint(p->ds, "put it in parentheses, with its operands");
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
		up_diag_hint(p->ds, "put it in parentheses, with its operands");
	}
}

/* ---- conditions ---- */

/* The first token of a condition that lacks its parentheses, or SIZE_MAX. */
static size_t find_condition(const struct up_parser *p, const struct up_place *at)
{
	size_t i = at->i, lp = SIZE_MAX;
	bool joins = up_expects(at->x, TK_OPEN) || at->kind == TK_CLOSE || at->kind == TK_OPEN;

	if (!i)
		return SIZE_MAX;
	if (up_look_kind(p, i - 1) == TK_WHEN || up_look_kind(p, i - 1) == TK_IF)
		return i;
	if (at->kind == TK_OPEN && up_look_kind(p, i - 1) == TK_NAME && i > 2 &&
	    up_look_kind(p, i - 2) == TK_OPEN && up_look_kind(p, i - 3) == TK_RPAREN)
		lp = up_look_lparen(p, i - 3);
	else if (up_look_kind(p, i - 1) == TK_RPAREN && joins &&
		 (at->kind >= TK_LOR || (at->kind == TK_CLOSE && up_look_kind(p, i + 1) != TK_EOT &&
					 up_tok_begins_operand(up_look_kind(p, i + 1)))))
		lp = up_look_lparen(p, i - 1);
	if (lp == SIZE_MAX || !lp)
		return SIZE_MAX;
	return up_look_kind(p, lp - 1) == TK_WHEN || up_look_kind(p, lp - 1) == TK_IF ? lp
										      : SIZE_MAX;
}

/* Is the search for a condition's end over at token i? A newline ends that of an `if`. */
static bool ends_search(const struct up_parser *p, size_t i, bool is_if)
{
	int kind = up_look_kind(p, i);

	return kind == TK_EOT || kind == TK_TERM || kind == TK_ELSE || up_tok_is_decl(kind) ||
	       (is_if && p->toks.v[i].flags & UP_TOK_NEWLINE && kind != TK_LT &&
		up_line_ends(&p->toks.v[i - 1], kind));
}

/*
 * Where a condition that starts at i and lacks its parentheses ends: before the `<` that opens the
 * block or, when there is none, before a value that follows a value. SIZE_MAX when unknown.
 */
static size_t find_condition_end(const struct up_parser *p, size_t i)
{
	bool is_if = up_look_kind(p, i - 1) == TK_IF;
	size_t value = SIZE_MAX;
	long depth = 0;

	for (; !ends_search(p, i, is_if); i++) {
		int kind = up_look_kind(p, i), next = up_look_kind(p, i + 1);

		if (depth == 0 && up_look_opens_block(p, i))
			return i;
		depth += up_look_is_paren(kind);
		depth -= kind == TK_RPAREN || kind == TK_RBRACK;
		if (value == SIZE_MAX && depth == 0 && up_tok_ends_operand(kind) &&
		    kind != TK_CLOSE && up_tok_begins_operand(next) && next != TK_MINUS &&
		    next != TK_TILDE)
			value = i + 1;
	}
	return value;
}

bool up_judge_condition(struct up_parser *p, const struct up_place *at)
{
	size_t start = find_condition(p, at);

	if (start == SIZE_MAX || !up_tok_begins_operand(up_look_kind(p, start)))
		return false;
	const char *word = up_tok_text(up_look_kind(p, start - 1));
	size_t end = find_condition_end(p, start);
	struct up_span sp = up_look_span(p, start, end == SIZE_MAX ? start : end - 1);
	const char *text = end == SIZE_MAX ? NULL : up_look_text(p, sp);
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

/* ---- operators ---- */

/* Is the one-word or one-call statement before the `<` at i rather a misspelt compound? */
static bool heads_block(const struct up_parser *p, size_t i)
{
	size_t start = up_look_statement(p, i);
	bool is_call;

	return up_look_kind(p, start) == TK_NAME && up_look_chain(p, start, &is_call) == i &&
	       up_look_opens_block(p, i);
}

/* `x = a < b`: the bracket does not fit. */
bool up_judge_bare_less(struct up_parser *p, const struct up_place *at)
{
	int before = at->i ? up_look_kind(p, at->i - 1) : TK_EOT;

	if (at->kind != TK_OPEN || !up_tok_ends_operand(before) || before == TK_CLOSE ||
	    before == TK_TARGET || p->toks.v[at->i].flags & UP_TOK_MADE)
		return false;
	if (p->depth ? heads_block(p, at->i)
		     : up_look_declaration(p, at->i) < TK_CONST || up_look_opens_block(p, at->i))
		return false;
	return up_repair(p, UP_FIX_OPERATOR, p->toks.v[at->i].off, TK_LT);
}

/* Are the `>` at i and i + 1 written as one `>>`? */
static bool is_shift(const struct up_parser *p, size_t i)
{
	return up_look_kind(p, i) == TK_CLOSE && up_look_kind(p, i + 1) == TK_CLOSE &&
	       up_look_end(&p->toks.v[i]) == p->toks.v[i + 1].off && p->toks.v[i].len;
}

/*
 * Takes the `>` (or `>>`) whose last bracket is token i for an operator, if operands stand around
 * it.
 */
static bool repair_greater(struct up_parser *p, size_t i)
{
	size_t first = i && is_shift(p, i - 1) ? i - 1 : i;
	const struct up_tok *next = &p->toks.v[i + 1];
	int before = first ? up_look_kind(p, first - 1) : TK_EOT;

	if (!up_tok_ends_operand(before) || before == TK_CLOSE || before == TK_TARGET ||
	    !up_tok_begins_operand(next->kind) || next->flags & UP_TOK_NEWLINE ||
	    !p->toks.v[first].len)
		return false;
	return up_repair(p, UP_FIX_OPERATOR, p->toks.v[first].off, first == i ? TK_GT : TK_SHR);
}

/* Is the `>` at i, outside blocks, in an expression of a declaration that ends with it? */
static bool in_definition(const struct up_parser *p, size_t i)
{
	while (i && !up_tok_is_decl(up_look_kind(p, i - 1)))
		if (up_look_kind(p, --i) == TK_OPEN)
			return false;
	return i && (up_look_kind(p, i - 1) >= TK_CONST || up_look_kind(p, i) == TK_EVERY);
}

/* `x = a > b`: the bracket closed a block and the rest does not fit, or it does not fit itself. */
bool up_judge_bare_greater(struct up_parser *p, const struct up_place *at)
{
	size_t i = at->i, last = is_shift(p, i) ? i + 1 : i;

	if (!i)
		return false;
	if (p->depth)
		return at->kind == TK_CLOSE && up_expects(at->x, TK_ELSE) &&
		       repair_greater(p, last);
	if (at->kind == TK_CLOSE)
		return (is_shift(p, i - 1) || in_definition(p, i)) && repair_greater(p, last);
	return up_look_kind(p, i - 1) == TK_CLOSE && up_look_excess(p, i) > 0 &&
	       repair_greater(p, i - 1);
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
	if (!lo || up_look_kind(p, lo - 1) != TK_CLOSE || p->toks.v[lo].flags & UP_TOK_NEWLINE)
		return;
	p->nr_looks++;
	if (up_look_excess(p, lo) > (long)p->depth)
		repair_greater(p, lo - 1);
}
