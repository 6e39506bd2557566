/*
 * The checker: names, types and places of use. It annotates the tree (type, sem, ref) for the code
 * generator, and puts what has no processor in it (labels, formats, aggregations) into the plan.
 */
#ifndef UP_CHECK_H
#define UP_CHECK_H

#include "lang/ast.h"
#include "lang/up.h"

/* What a name, or a form like `stack[2]`, turned out to be: up_node.sem, with up_node.ref. */
enum up_sem {
	SEM_NONE,
	SEM_VALUE,  /* ref: enum up_val */
	SEM_ARG,    /* ref: N of argN */
	SEM_REG,    /* a register; the name stands in the member node */
	SEM_STACK,  /* ref: N of stack[N] */
	SEM_FETCH,  /* fetch("..."): a kernel fetch argument */
	SEM_PRINT,  /* ref: index in plan->prints */
	SEM_PRINTF, /* ref: index in plan->printfs */
	SEM_AGG,    /* ref: index in plan->aggs */
	SEM_STOP
};

/* Where the checker is. */
enum up_where { UP_AT_ENTRY, UP_AT_RETURN };

struct up_check {
	struct up_diags *ds;
	const struct up_env *env;
	struct up_arena *plan_arena; /* of what goes into the plan */
	UP_VEC(struct up_plan_print) prints;
	UP_VEC(struct up_plan_printf) printfs;
	UP_VEC(struct up_plan_agg) aggs;
	UP_VEC(struct up_span) agg_spans; /* where each aggregation stood first */
	const char *where_text;           /* "zsh:zfree return": for unnamed aggregations */
	enum up_where where;
	bool in_entry;                   /* inside `entry.X` */
	bool uses_call;                  /* set when a value of a call was met */
	const struct up_node *first_arg; /* an argN that is fetched at the entry, or NULL */
};

/* Checks an expression; returns its type, also kept in n->type. */
struct up_type up_check_expr(struct up_check *cx, struct up_node *n);
/* Checks `VALUE:TYPE`. */
struct up_type up_check_typed(struct up_check *cx, struct up_node *n);
/*
 * In `on return`, memory behind an argument may have changed: is it said when it is read? False
 * after a diagnostic.
 */
bool up_check_stale(struct up_check *cx, const struct up_node *n, const struct up_node *address);
/* How a value of a type is called in messages: "an array". */
const char *up_kind_name(struct up_type t);
/* Checks an expression that is used as a condition. */
void up_check_cond(struct up_check *cx, struct up_node *n);
/* Checks the statements of a block. */
void up_check_block(struct up_check *cx, struct up_node *block);
/* Takes a printf format apart against the values; false after a diagnostic. */
bool up_check_format(struct up_check *cx, struct up_node *fmt, struct up_node *values,
		     struct up_plan_printf *out);

/* Is the expression a constant integer? Folds as the handlers would compute. */
bool up_const_int(const struct up_node *n, uint64_t *out);
/* The source text of a node on one line, white space folded; in arena a. */
const char *up_source_label(const struct up_diags *ds, struct up_arena *a, struct up_span span);
/* What to write instead of a word of another tracer, or NULL. */
const char *up_foreign_word(const char *name);
/* n without the parentheses around it. */
struct up_node *up_unparen(struct up_node *n);

#endif
