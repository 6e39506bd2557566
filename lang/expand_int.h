/*
 * What the parts of the expansion share. Private to lang/expand*.c.
 *
 * Each definition is written out once, when it is first needed: its own expression then holds no
 * name of another definition any more. A use is a copy of that. So a definition that rests on
 * itself is met while it is being written out, and each copy is counted.
 */
#ifndef UP_EXPAND_INT_H
#define UP_EXPAND_INT_H

#include "lang/base/nametab.h"
#include "lang/clone.h"
#include "lang/expand.h"

enum up_def_state { DEF_NEW, DEF_BUSY, DEF_DONE, DEF_BAD };

struct up_file;

/* A value that a point exports. */
struct up_export {
	const char *name;
	struct up_span span;  /* of the name */
	struct up_node *expr; /* written out */
	bool at_return;       /* known at the return only */
};

/* One place of a point. */
struct up_point_source {
	struct up_node *target;          /* ND_TARGET */
	struct up_node *when, *ret_when; /* written out, or NULL */
	bool at_return;                  /* what it is used for happens at the return */
	UP_VEC(struct up_export) exports;
	struct up_span span; /* of the point's name in its declaration */
};

struct up_def {
	enum up_nd kind; /* ND_CONST, ND_FN, ND_PARAM, ND_POINT */
	const char *name;
	struct up_span span; /* of the name; of a point where it is declared first */
	struct up_file *file;
	enum up_def_state state;
	struct up_node *params;                 /* of a function: list of ND_NAME */
	struct up_node *expr;                   /* but for points; written out when DEF_DONE */
	UP_VEC(struct up_node *) decls;         /* of a point: each ND_POINT */
	UP_VEC(struct up_point_source) sources; /* of a point that is DEF_DONE */
	UP_VEC(bool) absent; /* of a point: which sources this machine does not have, once asked */
};

/* The script, or a module. */
struct up_file {
	const char *id;   /* as struct up_module_text has it; NULL for a program that is no file */
	const char *name; /* as shown */
	struct up_node *script;
	bool is_module;
	bool is_open;             /* it is being read: to use it now is a cycle */
	struct up_file *used_by;  /* who asked for it first */
	struct up_nametab names;  /* constants, functions and parameters that can be seen in it */
	struct up_nametab points; /* likewise */
	UP_VEC(struct up_def *) defs;  /* what it declares */
	UP_VEC(struct up_file *) uses; /* each once */
};

/* The expansion of one program. */
struct up_expand {
	struct up_diags *ds;
	struct up_sources *sources;
	struct up_arena *arena;
	const struct up_env *env;
	UP_VEC(struct up_file *) files;
	uint32_t left;   /* nodes that may still be made */
	unsigned level;  /* of nested walks, through definitions too */
	bool is_partial; /* a module could not be had: nobody knows what it declares */
	bool is_stopped; /* it has become too large: nothing goes on */
	struct up_nametab
		variables; /* what the script assigns to, and its loops' variables: a node */
	struct up_nametab exported;   /* exports that the script's blocks use: a span, where */
	UP_VEC(struct up_def *) busy; /* what is being written out, outermost first */
};

/* What one target of a probe is. */
struct up_place_named {
	struct up_node *target; /* ND_TARGET */
	struct up_def *point;   /* NULL: a place in a program */
	bool is_bad;            /* a point that there is not, which was said */
};

/* What a probe's targets are. */
struct up_places {
	UP_VEC(struct up_place_named) list;   /* all, in order */
	UP_VEC(const struct up_def *) points; /* those among them that are points, each once */
	struct up_nametab seen;               /* these by name */
};

/* Where names are being replaced. */
struct up_walk {
	struct up_expand *x;
	struct up_file *file; /* whose names are meant */
	struct up_def *def;   /* what is being written out; NULL in the script's blocks */
	const struct up_point_source
		*own; /* exports so far of the point being written out, or NULL */
	const struct up_point_source *source; /* the point's place that this is for, or NULL */
	const struct up_def *point;           /* whose place that is */
	const struct up_places *places; /* of the probe: its other points export other names */
	bool at_return;
	bool in_entry; /* inside `entry.` */
};

/* ---- expand_module.c ---- */

/* Reads the modules that the file uses and gives it its names. */
void up_declare(struct up_expand *x, struct up_file *f);
struct up_file *up_file_new(struct up_expand *x, const char *id, const char *name,
			    struct up_node *script);

/* What a definition is called: "constant". */
const char *up_def_kind(const struct up_def *d);

/* ---- expand_walk.c ---- */

/* Replaces the names in n and below, in place. */
void up_walk(struct up_walk *w, struct up_node *n);
/* A copy, `use` being where it is used; counted. */
struct up_node *up_use(struct up_expand *x, const struct up_node *n, struct up_span use);
/* A copy whose spans stay what they are; counted. */
struct up_node *up_copy(struct up_expand *x, const struct up_node *n);
/* Says once that the program has become too large. False, for `return`. */
bool up_too_large(struct up_expand *x, struct up_span span);
/* What the place exports under the name, or NULL. `s` may be NULL. */
const struct up_export *up_find_export(const struct up_point_source *s, const char *name);
/* Gathers what a block of the script assigns to. */
void up_gather_variables(struct up_expand *x, struct up_node *n);

/* ---- expand_def.c ---- */

/* Makes the definition ready for use; false when it is bad, which was said. */
bool up_def_resolve(struct up_expand *x, struct up_def *def, struct up_span use);
/* The text of an argument or parameter as a literal. `name` is what its place is called. */
struct up_node *up_argument(struct up_expand *x, const char *name, const char *text);
/* Is it an integer, a float or a string, written as itself, perhaps with a minus sign? */
enum up_nd up_literal_kind(const struct up_node *n);
/* Sets the parameters that were given on the command line; names those that there are not. */
void up_check_params(struct up_expand *x, const struct up_file *script);

/* ---- expand_point.c ---- */

/* Writes out all places of a point. */
bool up_point_resolve(struct up_expand *x, struct up_def *def);
/* The probe, once for each place of its points and once for its other targets; a list. */
struct up_node *up_expand_probe(struct up_expand *x, struct up_file *f, struct up_node *n);
/* A probe for a point, which prints what it exports. */
struct up_node *up_point_probe(struct up_expand *x, struct up_def *def);

/* ---- expand_words.c ---- */

/* What the language itself calls so before parentheses: "an action"; NULL when the name is free. */
const char *up_call_kind(const struct up_env *env, const char *name);
/* Queues that nothing is called so, with near names that can be seen in the file. */
bool up_unknown(struct up_expand *x, const struct up_file *f, struct up_span span,
		enum up_diag_tag tag, bool is_call, const char *name);
/* Is there a near name among the file's own definitions? */
bool up_has_near(const struct up_file *f, bool is_call, const char *name);

#endif
