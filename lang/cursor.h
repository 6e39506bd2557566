/*
 * What can stand where a text ends: for completion. Looks at the text alone.
 */
#ifndef UP_CURSOR_H
#define UP_CURSOR_H

#include <stdbool.h>

#include "lang/base/arena.h"

enum up_cursor_kind {
	UP_CURSOR_NOTHING,  /* inside a string or a comment, or behind something that ends there */
	UP_CURSOR_FIRST,    /* a declaration, or a statement of the prompt */
	UP_CURSOR_OBJECT,   /* of a target */
	UP_CURSOR_LOCATION, /* behind a target's colon */
	UP_CURSOR_CLAUSE,   /* behind a target, a `when` or a block: as, when, on return */
	UP_CURSOR_ON,       /* behind `on` outside of a block */
	UP_CURSOR_VALUE,    /* an expression, or a statement in a block */
	UP_CURSOR_TYPE,     /* behind the colon of a value */
	UP_CURSOR_MEMBER,   /* behind the dot of a name or a row */
	UP_CURSOR_MODULE    /* behind `use` */
};

enum up_cursor_where { UP_CURSOR_ENTRY, UP_CURSOR_RETURN, UP_CURSOR_BLOCK };

struct up_cursor {
	enum up_cursor_kind kind;
	size_t from;                /* where the word that ends there begins */
	enum up_cursor_where where; /* of a value: in which block; UP_CURSOR_BLOCK has no hit */
	bool is_statement;          /* a value: a statement can begin there as well */
	const char *of;       /* of a location the object; of a member the name before the dot */
	const char **targets; /* of the probe or point that it is in: as they are written */
	size_t nr_targets;
	const char **names; /* that values were given in its blocks, up to there */
	size_t nr_names;
};

void up_cursor_find(struct up_arena *a, const char *text, size_t len, struct up_cursor *out);

#endif
