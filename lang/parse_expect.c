/* What could stand at a syntax error, in words. Knows token kinds, not rules. */
#include "lang/parse_int.h"
#include "up.tab.h"

static unsigned bit_of(int kind)
{
	return (unsigned)(kind - UP_TK_FIRST);
}

bool up_expects(const struct up_expected *x, int kind)
{
	if (kind == TK_EOT)
		return x->eof;
	return x->bits[bit_of(kind) / 64] >> bit_of(kind) % 64 & 1;
}

void up_expected_add(struct up_expected *x, int kind)
{
	if (kind == TK_EOT)
		x->eof = true;
	else
		x->bits[bit_of(kind) / 64] |= (uint64_t)1 << bit_of(kind) % 64;
}

/* Phrases in the order of use: the most helpful first. */
static const struct phrase {
	int kind;         /* expected when this kind is ... */
	int unless;       /* ... and this one is not; 0 for none */
	const char *text; /* then this could stand there */
} phrases[] = {
	{ TK_TARGET, 0, "a target such as `zsh:zfree`" },
	{ TK_INT, 0, "a value" },
	{ TK_NAME, TK_INT, "a name" },
	{ TK_STR, TK_INT, "a path in quotes" },
	{ TK_START, 0, "`start`, `end`, `every` or `return`" },
	{ TK_IN, 0, "`in`" },
	{ TK_ELSE, 0, "`else`" },
	{ TK_LPAREN, TK_INT, "`(`" },
	{ TK_ASSIGN, 0, "`=`" },
	{ TK_DOT, TK_INT, "`.`" },
	{ TK_OPEN, 0, "a block `< ... >`" },
	{ TK_IF, TK_INT, "`if`" },
	{ TK_AS, 0, "`as`" },
	{ TK_WHEN, 0, "`when`" },
	{ TK_ON_RETURN, 0, "`on return`" },
	{ TK_BY, 0, "`by`" },
	{ TK_TOP, 0, "`top`" },
	{ TK_PLUS, 0, "an operator" },
	{ TK_COMMA, 0, "`,`" },
	{ TK_RPAREN, 0, "`)`" },
	{ TK_RBRACK, 0, "`]`" },
	{ TK_PROBE, 0, "a declaration" },
	{ TK_TERM, TK_PROBE, "the end of the statement" },
};

#define NR_PHRASES (sizeof(phrases) / sizeof(phrases[0]))

/* A statement can begin there: so many things that one word says it better. */
static bool expects_statement(const struct up_expected *x)
{
	return up_expects(x, TK_DELETE);
}

/* Between operand and end nearly all is possible; what only lengthens it is left out. */
static bool is_noise(const struct up_expected *x, int kind)
{
	bool in_value = up_expects(x, TK_PLUS);

	if (kind == TK_DOT)
		return in_value;
	if (kind == TK_LPAREN)
		return in_value || up_expects(x, TK_DOT);
	return false;
}

const char *up_expected_text(struct up_parser *p, const struct up_expected *x)
{
	const char *found[NR_PHRASES], *text = NULL;
	size_t nr = 0;

	if (expects_statement(x))
		return "a statement";
	for (size_t i = 0; i < NR_PHRASES; i++)
		if (up_expects(x, phrases[i].kind) && !is_noise(x, phrases[i].kind) &&
		    !(phrases[i].unless && up_expects(x, phrases[i].unless)))
			found[nr++] = phrases[i].text;
	for (size_t i = 0; i < nr; i++)
		text = !text ? found[i]
			     : up_arena_printf(p->arena, i + 1 == nr ? "%s or %s" : "%s, %s", text,
					       found[i]);
	return text ? text : "the end of the script";
}
