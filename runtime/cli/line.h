/*
 * The line being typed: GNU readline in its callback form, loaded when a prompt is first shown.
 * Output can come while a line is being typed: it is hidden, and shown again below. Knows nothing
 * of what is typed. Readline has one terminal for the whole process, so this has state of its own,
 * too.
 */
#ifndef UP_CLI_LINE_H
#define UP_CLI_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "lang/base/buf.h"

/* What can stand where the cursor is; filled by up_line_opts.complete. */
struct up_candidates {
	size_t from; /* where in the line the word begins that they replace */
	struct up_candidate {
		char *word;  /* from malloc; behind one that ends in ( [ . : / no blank is put */
		char *label; /* what is listed instead, or NULL; from malloc */
	} * v;
	size_t nr, cap;
};

struct up_line_opts {
	/* The text before the line in an input of several lines; asked for when completing. */
	void (*complete)(void *arg, const char *line, size_t point, struct up_candidates *out);
	/* Shows a text while a line is being typed. */
	void (*say)(void *arg, const char *text, size_t len);
	/* Writes to the terminal what shows the line. */
	void (*put)(void *arg, const char *s, size_t len);
	void *arg;
};

/* False when the library is not installed. */
bool up_line_open(const struct up_line_opts *opts);
void up_line_close(void);

/* Shows a prompt and waits for a line; the terminal is readline's until there is one. */
void up_line_ask(const char *prompt);
bool up_line_is_asking(void);
/* Shows another prompt before the line as it is. */
void up_line_set_prompt(const char *prompt);
/*
 * To be called when standard input is readable. True when a line is there: *line, which the caller
 * frees, or NULL at the end of input. It is not asking then.
 */
bool up_line_read(char **line);
/* What has been typed, as long as it is asking. */
const char *up_line_typed(void);
/* Gives the line up; the cursor stands in a new line. It is not asking then. */
void up_line_abandon(void);
/* Around output, while it is asking. */
void up_line_hide(void);
void up_line_show(void);
/* The window has another size; the program was stopped and goes on. */
void up_line_resize(void);
void up_line_leave(void);
void up_line_return(void);

/* ---- history ---- */

void up_line_remember(const char *text);

/* Adds a word to candidates, with what is listed for it; or NULL. */
void up_candidate_add(struct up_candidates *c, const char *word, size_t len, const char *label);

#endif
