/*
 * Syntax errors: says what is wrong in the words of the language, and repairs what can be repaired,
 * so that one mistake gives one message and the ones behind it are still found. Every judge looks
 * at the tokens around the place; the first that answers wins.
 */
#include "lang/parse_look.h"
#include "up.tab.h"

#define ROUNDS_BYTES (64u << 20) /* text that all rounds together may read */
#define REPAIR_FIXES 3           /* the most that one mistake needs */

bool up_repair(struct up_parser *p, enum up_fix_kind kind, uint32_t off, int tok)
{
	struct up_scan *sc = &p->scan;
	struct up_fix f = { off, kind, tok };
	unsigned at = sc->nr_fixes;

	if (!p->again && (sc->nr_fixes + REPAIR_FIXES > UP_FIX_MAX ||
			  (uint64_t)p->nr_rounds * sc->len > ROUNDS_BYTES))
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

static bool is_binary_operator(int kind)
{
	return (kind >= TK_LOR && kind < TK_NOT) || kind == TK_DOT || kind == TK_ARROW;
}

static const char *other_hint(const struct up_parser *p, const struct up_place *at)
{
	int kind = at->kind, before = at->i ? up_look_kind(p, at->i - 1) : TK_EOT;
	size_t start = up_look_statement(p, at->i);

	if (kind == TK_ASSIGN && !p->toks.v[at->i].flags && up_expects(at->x, TK_EQ))
		return "equality is written `==`";
	if (before == kind && (kind == TK_PLUS || before == TK_MINUS))
		return "count with `name += 1`";
	if ((kind == TK_TERM || kind == TK_CLOSE) && at->i > 1 &&
	    up_look_kind(p, at->i - 2) == before && (before == TK_PLUS || before == TK_MINUS))
		return before == TK_PLUS ? "count with `name += 1`" : "count with `name -= 1`";
	if (is_binary_operator(kind) && before == TK_TERM && !p->toks.v[at->i - 1].len)
		return "the line before ended the statement; an operator stands at the end of a "
		       "line, not at the start of the next";
	if (kind == TK_ON_RETURN)
		return "`on return` stands behind a probe's or a point's block, once";
	if (kind == TK_OPEN && before == TK_CLOSE)
		return "a probe has one block for the call and one behind `on return`";
	if (kind == TK_LPAREN && before == TK_FOR)
		return "write `for key in table < ... >`, without parentheses";
	if (kind == TK_BY && up_look_kind(p, start) != TK_BY)
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

static void report_plain(struct up_parser *p, const struct up_place *at)
{
	const char *hint = up_word_habit(&p->toks.v[at->i]);

	if (!hint)
		hint = up_word_habit(&p->toks.v[up_look_statement(p, at->i)]);
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
		int kind = up_look_kind(p, i);

		if (kind == TK_EOT || kind == TK_ON_RETURN || up_tok_is_decl(kind) ||
		    (!level && (kind == TK_TERM || kind == TK_CLOSE)))
			return i;
		level += kind == TK_OPEN;
		if (kind == TK_CLOSE && !--level)
			return i + 1;
	}
}

/* Does a line begin, not indented, with a word that was meant to begin a declaration? */
static bool resembles_decl(const struct up_parser *p, size_t i)
{
	static const int decls[] = {
		TK_PROBE, TK_POINT, TK_ON, TK_USE, TK_CONST, TK_FN, TK_PARAM, 0
	};
	const struct up_tok *t = &p->toks.v[i];

	if (t->kind != TK_NAME || !(t->flags & UP_TOK_NEWLINE) || p->scan.text[t->off - 1] != '\n')
		return false;
	return up_word_habit(t) || up_word_nearest(p, i, NULL, decls);
}

/* Bison drops tokens until the TK_SYNC that comes next. */
static void recover(struct up_parser *p, size_t i)
{
	if (p->last_error == i + 1 && up_look_kind(p, i) != TK_EOT)
		i++;
	p->last_error = i + 1;
	if (p->depth)
		i = statement_end(p, i);
	else
		while (up_look_kind(p, i) != TK_EOT && !up_tok_is_decl(up_look_kind(p, i)) &&
		       (i == p->cur || !resembles_decl(p, i)))
			i++;
	p->next = i;
	p->sync = true;
}

/* Was the mistake behind this one told already? */
static bool is_echo(const struct up_tok *t)
{
	return t->kind == TK_BAD || t->flags & UP_TOK_QUIET ||
	       (t->flags & UP_TOK_MADE && (t->kind == TK_RPAREN || t->kind == TK_RBRACK));
}

void up_parse_failed(struct up_parser *p, const struct up_expected *x)
{
	struct up_place at = { p->cur, up_look_kind(p, p->cur), x };

	if (p->stop)
		return;
	if (!is_echo(&p->toks.v[at.i]) && !up_judge_paren(p, &at) &&
	    !up_judge_missing_close(p, &at) && !up_judge_condition(p, &at) &&
	    !up_judge_word(p, &at) && !up_judge_statement_word(p, &at) &&
	    !up_judge_no_block(p, &at) && !up_judge_bare_less(p, &at) &&
	    !up_judge_bare_greater(p, &at) && !up_judge_extra_close(p, &at))
		report_plain(p, &at);
	if (!p->again)
		recover(p, at.i);
}
