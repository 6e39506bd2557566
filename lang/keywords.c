/* The words of the language, one row each. */
#include "lang/keywords.h"

#include <stddef.h>

#include "lang/parse_int.h"
#include "up.tab.h"

const struct up_keyword_row up_keyword_rows[] = {
	{ "probe", TK_PROBE, "probe TARGET, ... [as NAME] [when (E)] [< ... >] [on return < ... >]",
	  "a declaration: what is done when functions or other places are hit, at the entry and at "
	  "the return" },
	{ "when", TK_WHEN, "when (E)",
	  "behind a target, or `on return`: only hits for which the condition is true; the kernel "
	  "judges it where it can" },
	{ "return", TK_RETURN, "on return [when (E)] < ... >",
	  "the block for a call's return, where `retval`, `elapsed` and `entry.X` are known" },
	{ "as", TK_AS, "probe TARGET as NAME", "the name under which the probe's hits are shown" },
	{ "on", TK_ON, "on return | start | end | every TIME",
	  "begins the block of a return, or a declaration of a block that runs without a hit" },
	{ "start", TK_START, "on start < ... >",
	  "a declaration: runs once the probes are armed, before any hit" },
	{ "every", TK_EVERY, "on every TIME < ... >",
	  "a declaration: runs again and again, as in `on every 10s < show(n) >`" },
	{ "end", TK_END, "on end < ... >",
	  "a declaration: runs when all is handled, before the aggregations are shown" },
	{ "if", TK_IF, "if (E) < ... > [else < ... >]",
	  "a statement; between values, `if (E) A else B` is one of the two" },
	{ "else", TK_ELSE, "if (E) < ... > else < ... >", "what is done, or meant, otherwise" },
	{ "for", TK_FOR, "for K, ... in TABLE < ... >",
	  "a statement: goes through the rows of a table, or of an aggregation with keys" },
	{ "in", TK_IN, "for K, ... in TABLE < ... >", "the table that a `for` goes through" },
	{ "delete", TK_DELETE, "delete TABLE[K, ...]", "a statement: takes a row out of a table" },
	{ "by", TK_BY, "AGGREGATE by KEY, ...",
	  "behind an aggregate: a row for each combination of keys, as in `count() by comm, pid`" },
	{ "top", TK_TOP, "AGGREGATE by KEY, ... top N",
	  "behind an aggregate: shows the N rows with the largest result" },
	{ "entry", TK_ENTRY, NULL, NULL },
	{ "const", TK_CONST, "const NAME = VALUE", "a declaration: a name for a constant" },
	{ "fn", TK_FN, "fn NAME(A, B) = VALUE",
	  "a declaration: a function that is one expression, written out where it is called" },
	{ "param", TK_PARAM, "param NAME = VALUE",
	  "a declaration: a value that `--NAME=...` behind the script's name sets" },
	{ "point", TK_POINT,
	  "point NAME = TARGET [when (E)] [< NAME = VALUE >] [on return < ... >]",
	  "a declaration: a place under a name that probes can use, with the values that it has" },
	{ "use", TK_USE, "use NAME, use \"PATH\"",
	  "a declaration: the points, functions and constants of a module" },
	{ NULL, 0, NULL, NULL },
};
