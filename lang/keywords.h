/*
 * The words of the language that are no values, functions, actions or aggregates: how the scanner
 * knows them, and what the reference says of them.
 */
#ifndef UP_KEYWORDS_H
#define UP_KEYWORDS_H

struct up_keyword_row {
	const char *text; /* its spelling */
	int kind;         /* its token, TK_... */
	const char *form; /* how it is written; NULL: another table of the reference has it */
	const char *help; /* what it is for */
};

/* Ends with a NULL text. */
extern const struct up_keyword_row up_keyword_rows[];

#endif
