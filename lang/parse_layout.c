/*
 * The newline rule: where a newline ends a statement. Knows tokens only; the scanner puts a TK_TERM
 * where this says so.
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

bool up_line_ends(const struct up_tok *before, int kind)
{
	return may_end(before) && !continues(kind);
}
