/* Brackets and blocks that are missing, left open or too many. */
#include "lang/parse_look.h"
#include "up.tab.h"

/* Where a `)` for the `(` at `open` is best put: before the token returned. */
static size_t find_paren_end(const struct up_parser *p, size_t open, size_t nr_blocks)
{
	bool header = open &&
		      (up_look_kind(p, open - 1) == TK_WHEN || up_look_kind(p, open - 1) == TK_IF);
	size_t j = open + 1;
	long depth = 0;

	for (; up_look_kind(p, j) != TK_EOT; j++) {
		int kind = up_look_kind(p, j), before = up_look_kind(p, j - 1);
		bool line = p->toks.v[j].flags & UP_TOK_NEWLINE;

		if (kind == TK_NAME && before != TK_NAME && up_look_kind(p, j + 1) == TK_NAME &&
		    !strcmp(p->toks.v[j].name, "on") && !strcmp(p->toks.v[j + 1].name, "return"))
			break;
		if (depth <= 0 && (kind == TK_TERM || (header && up_look_opens_block(p, j)) ||
				   (line && (up_tok_ends_operand(before) || before == TK_GT ||
					     before == TK_SHR))))
			break;
		depth += up_look_is_paren(kind);
		depth -= kind == TK_RPAREN || kind == TK_RBRACK;
	}
	for (; nr_blocks && j - 1 > open; j--) {
		int before = up_look_kind(p, j - 1);
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
			return up_tok_ends_operand(up_look_kind(p, i + 1));
	return false;
}

/* Is the innermost of the brackets closed at or behind token i, before another declaration? */
static bool gets_closed(const struct up_parser *p, struct up_brackets b, size_t i)
{
	size_t nr = b.nr;

	for (; up_look_kind(p, i) != TK_EOT && !begins_decl(p, i); i++) {
		up_look_track(p, &b, i);
		if (b.nr < nr)
			return !(p->toks.v[i].flags & UP_TOK_QUIET);
	}
	return false;
}

bool up_judge_paren(struct up_parser *p, const struct up_place *at)
{
	struct up_brackets b;

	up_look_brackets(p, &b, at->i);
	if (!b.nr || !up_look_is_paren(up_look_kind(p, b.v[b.nr - 1])) || gets_closed(p, b, at->i))
		return false;
	size_t open = b.v[b.nr - 1], nr_blocks = 0;
	for (size_t j = 0; j < b.nr; j++)
		nr_blocks += up_look_kind(p, b.v[j]) == TK_OPEN;
	bool round = up_look_kind(p, open) == TK_LPAREN;
	size_t end = find_paren_end(p, open, nr_blocks);
	up_error(p->ds, up_tok_span(p, &p->toks.v[open]), E_UNCLOSED_PAREN,
		 "this `%c` is never closed", round ? '(' : '[');
	up_diag_note(p->ds, up_parser_span(p, up_look_end(&p->toks.v[end - 1]), 0),
		     "`%c` could stand here", round ? ')' : ']');
	up_repair(p, UP_FIX_INSERT, up_look_end(&p->toks.v[end - 1]),
		  round ? TK_RPAREN : TK_RBRACK);
	return true;
}

bool up_judge_missing_close(struct up_parser *p, const struct up_place *at)
{
	struct up_brackets b;

	if (!p->depth ||
	    !(at->kind == TK_EOT || at->kind == TK_ON_RETURN || up_tok_is_decl(at->kind)))
		return false;
	up_look_brackets(p, &b, at->i);
	if (!b.nr || up_look_kind(p, b.v[b.nr - 1]) != TK_OPEN)
		return false;
	const struct up_tok *t = &p->toks.v[at->i], *open = &p->toks.v[b.v[b.nr - 1]];
	up_error(p->ds, up_tok_span(p, open), E_MISSING_CLOSE,
		 "the block that opens here is never closed");
	up_diag_note(p->ds, up_tok_span(p, t),
		     at->kind == TK_EOT         ? "the script ends here"
		     : at->kind == TK_ON_RETURN ? "`on return` stands behind the block, not in it"
						: "the next declaration begins here");
	up_diag_hint(p->ds, "close it with `>`");
	up_repair(p, UP_FIX_INSERT, up_look_end(&p->toks.v[at->i - 1]), TK_CLOSE);
	return true;
}

bool up_judge_extra_close(struct up_parser *p, const struct up_place *at)
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

	while (up_look_kind(p, end) != TK_TERM && up_look_kind(p, end) != TK_EOT &&
	       up_look_kind(p, end) != TK_CLOSE && up_look_kind(p, end) != TK_ELSE &&
	       up_look_kind(p, end) != TK_OPEN && !up_tok_is_decl(up_look_kind(p, end)))
		end++;
	if (end == i || up_look_kind(p, end) == TK_OPEN)
		return;
	up_repair(p, UP_FIX_INSERT, p->toks.v[i].off, TK_OPEN);
	up_repair(p, UP_FIX_INSERT, up_look_end(&p->toks.v[end - 1]), TK_CLOSE);
	if (p->toks.v[end].len && up_look_kind(p, end + 1) == TK_ELSE)
		up_repair(p, UP_FIX_DROP, p->toks.v[end].off, 0);
}

/* `if (c) x = 1`, `else x = 1`, `for k in t print(k)`. */
bool up_judge_no_block(struct up_parser *p, const struct up_place *at)
{
	size_t start = up_look_statement(p, at->i), body = at->i;
	const char *word = "else";
	struct up_span sp;

	if (!p->depth)
		return false;
	if (at->i && up_look_kind(p, at->i - 1) == TK_ELSE && up_expects(at->x, TK_OPEN)) {
		sp = up_tok_span(p, &p->toks.v[at->i - 1]);
	} else if (up_look_kind(p, start) == TK_FOR && up_expects(at->x, TK_OPEN)) {
		word = "for";
		sp = up_look_span(p, start, at->i - 1);
	} else if (up_look_kind(p, start) == TK_IF && up_expects(at->x, TK_ELSE)) {
		word = "if";
		body = up_look_behind_paren(p, start + 1);
		if (body > at->i)
			return false;
		sp = up_look_span(p, start, body - 1);
	} else {
		return false;
	}
	up_error(p->ds, sp, E_NO_BLOCK, "this `%s` has no block", word);
	up_diag_hint(p->ds, "a statement that depends on it stands in a block: `< ... >`");
	repair_block(p, body);
	return true;
}
