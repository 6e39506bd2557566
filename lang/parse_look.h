/*
 * What the judges of syntax errors share: looking at the tokens around a place. Indices may be
 * behind the end, where TK_EOT is.
 */
#ifndef UP_PARSE_LOOK_H
#define UP_PARSE_LOOK_H

#include "lang/parse_int.h"

/* A syntax error. */
struct up_place {
	size_t i;                    /* the token that does not fit */
	int kind;                    /* its kind */
	const struct up_expected *x; /* what would */
};

/* Indices of the brackets that are open at a token, outermost first. */
struct up_brackets {
	size_t v[UP_DEPTH_MAX + 1]; /* token indices */
	size_t nr;                  /* how many */
};

int up_look_kind(const struct up_parser *p, size_t i);
uint32_t up_look_end(const struct up_tok *t);
/* From the start of token a to the end of token b. */
struct up_span up_look_span(const struct up_parser *p, size_t a, size_t b);
/* The text of a span for a hint, or NULL when it is too long or has several lines. */
const char *up_look_text(const struct up_parser *p, struct up_span sp);

bool up_look_is_paren(int kind); /* `(` or `[` */
/* The brackets that are open before token i; and one token more. */
void up_look_brackets(const struct up_parser *p, struct up_brackets *b, size_t i);
void up_look_track(const struct up_parser *p, struct up_brackets *b, size_t i);
/* The `(` of the `)` at i, or SIZE_MAX. */
size_t up_look_lparen(const struct up_parser *p, size_t i);
/* The token behind the parenthesis or index that opens at i. */
size_t up_look_behind_paren(const struct up_parser *p, size_t i);

/* The first token of the statement that token i belongs to. */
size_t up_look_statement(const struct up_parser *p, size_t i);
/* The kind of the declaration that token i belongs to, or TK_EOT. */
int up_look_declaration(const struct up_parser *p, size_t i);
/* How many more `>` than `<` stand between token i and the next declaration. */
long up_look_excess(const struct up_parser *p, size_t i);
/* Behind a name, its members, indices and call at i; *is_call when it ends in a call. */
size_t up_look_chain(const struct up_parser *p, size_t i, bool *is_call);
/* Does the `<` at i plainly open a block, by what follows it? It may have been read as less-than.
 */
bool up_look_opens_block(const struct up_parser *p, size_t i);

/* ---- words ---- */

/* The keyword among those expected (x may be NULL) and `also` (ended by 0) that token i resembles,
 * or 0. */
int up_word_nearest(const struct up_parser *p, size_t i, const struct up_expected *x,
		    const int *also);
/* What is written here instead of a word of another language, or NULL. */
const char *up_word_habit(const struct up_tok *t);

/* ---- judges: each returns true when it said what is wrong ---- */

bool up_judge_paren(struct up_parser *p, const struct up_place *at);
bool up_judge_missing_close(struct up_parser *p, const struct up_place *at);
bool up_judge_condition(struct up_parser *p, const struct up_place *at);
bool up_judge_word(struct up_parser *p, const struct up_place *at);
bool up_judge_statement_word(struct up_parser *p, const struct up_place *at);
bool up_judge_no_block(struct up_parser *p, const struct up_place *at);
bool up_judge_bare_less(struct up_parser *p, const struct up_place *at);
bool up_judge_bare_greater(struct up_parser *p, const struct up_place *at);
bool up_judge_extra_close(struct up_parser *p, const struct up_place *at);

#endif
