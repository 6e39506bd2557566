/*
 * What is typed at a prompt: whether it is whole, and which of the things it is that a session can
 * do something with. Looks at the text alone, not at what its names mean.
 */
#ifndef UP_PROMPT_H
#define UP_PROMPT_H

#include "lang/ast.h"
#include "lang/up.h"

enum up_typed_kind {
	UP_TYPED_NOTHING,   /* blanks and comments */
	UP_TYPED_MORE,      /* it goes on in the next line */
	UP_TYPED_DECLS,     /* declarations */
	UP_TYPED_STATEMENT, /* statements, as they stand in a block */
	UP_TYPED_VALUE      /* an expression whose value is wanted */
};

/* What a declaration gives to others. */
struct up_given {
	const char *name;   /* that it defines, with "(" behind it if it is called; or NULL */
	const char *module; /* `use`: what it names, or NULL */
	bool is_path;       /* and is that a path? */
	bool is_point;
	const char **values; /* of a point: the names that it exports */
	size_t nr_values;
};

/* What was typed. Lives as long as the arena. */
struct up_typed {
	enum up_typed_kind kind;
	const char
		*name; /* of a value that is a name alone, of a variable that is set: it; or NULL */
	bool is_lasting;        /* a statement: it sets something, or gathers under a name */
	bool reads_name;        /* and what it sets `name` to depends on what that was */
	size_t nr;              /* UP_TYPED_DECLS: how many could be told apart */
	struct up_span *v;      /* and the text of each: with the comments before it */
	struct up_given *gives; /* and of each: what it gives */
	struct up_text text;    /* what is compiled of a statement or a value: on start < ... > */
};

/*
 * `is_fn` says which calls are a value's (NULL: none): those of built-in functions are known here.
 * What has mistakes is taken for what it looks like, and the compiler says what is wrong.
 */
typedef bool up_typed_is_fn(void *arg, const char *name);
void up_prompt_read(struct up_arena *a, const char *text, size_t len, up_typed_is_fn *is_fn,
		    void *arg, struct up_typed *out);
/* How often a text that has been parsed has this word. */
size_t up_prompt_count(struct up_arena *a, const struct up_text *text, const char *word);

#endif
