/* Words that are almost keywords, or keywords of other languages. */
#include "lang/parse_look.h"
#include "up.tab.h"

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

const char *up_word_habit(const struct up_tok *t)
{
	for (size_t i = 0; t->kind == TK_NAME && i < sizeof(habits) / sizeof(*habits); i++)
		if (!strcmp(t->name, habits[i].word))
			return habits[i].here;
	return NULL;
}

int up_word_nearest(const struct up_parser *p, size_t i, const struct up_expected *x,
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
static bool fits_keyword(const struct up_parser *p, const struct up_place *at, size_t start,
			 int kind)
{
	int next = up_look_kind(p, start + 1), after = up_look_kind(p, start + 2);

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
bool up_judge_word(struct up_parser *p, const struct up_place *at)
{
	static const int after_on[] = { TK_RETURN, 0 }, returns[] = { TK_ON, 0 }, none[] = { 0 };
	const int *also = none;

	if (at->kind != TK_NAME)
		return false;
	if (at->i && up_look_kind(p, at->i - 1) == TK_ON)
		also = after_on;
	else if (up_expects(at->x, TK_ON_RETURN))
		also = returns;
	int kind = up_word_nearest(p, at->i, at->x, also);
	return kind && report_misspelt(p, at->i, kind);
}

/* The word that the statement begins with, which was taken for a name or a call. */
bool up_judge_statement_word(struct up_parser *p, const struct up_place *at)
{
	static const int heads[] = { TK_ELSE, TK_IF, TK_FOR, TK_DELETE, 0 };
	size_t start = up_look_statement(p, at->i);
	bool is_call;

	if (!p->depth || start == at->i || up_look_kind(p, start) != TK_NAME ||
	    (start + 1 != at->i && !(up_look_chain(p, start, &is_call) == at->i && is_call)))
		return false;
	int kind = up_word_nearest(p, start, NULL, heads);
	return kind && fits_keyword(p, at, start, kind) && report_misspelt(p, start, kind);
}
