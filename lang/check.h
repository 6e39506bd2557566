/*
 * The checker: names, types and places of use. It annotates the tree (type, sem, ref) for the code
 * generator, and puts what has no processor in it (labels, formats, aggregations) into the plan.
 */
#ifndef UP_CHECK_H
#define UP_CHECK_H

#include "lang/ast.h"
#include "lang/base/nametab.h"
#include "lang/clone.h"
#include "lang/opcodes.h"
#include "lang/up.h"
#include "lang/values.h"

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
	SEM_STOP,
	SEM_VAR,      /* a variable: global, thread.x, or a table's row; ref: index in plan->vars */
	SEM_CALL_VAR, /* call.x; the name stands in the member node */
	SEM_LOCAL,    /* a loop's variable; ref: its register */
	SEM_RESULT,   /* a result of an aggregation; ref: see up_result_ref() */
	SEM_LEN,      /* len(TABLE); ref: see up_store_ref() */
	SEM_STORE,    /* a table or aggregation as a whole, in len, for, show, clear; likewise */
	SEM_FN,       /* a built-in function; ref: enum up_fn */
	SEM_SHOW,     /* show(X): the argument is SEM_STORE, or SEM_VAR of a global */
	SEM_CLEAR     /* clear(X), likewise */
};

/* SEM_RESULT: which aggregation, and which of its results. */
#define up_result_ref(agg, field) ((uint32_t)(agg) | (uint32_t)(field) << 24)
#define up_result_agg(ref) ((ref)&0xffffff)
#define up_result_field(ref) ((ref) >> 24)

/* Where the checker is. */
enum up_where {
	UP_AT_ENTRY,
	UP_AT_RETURN,
	UP_AT_BLOCK /* on start, on end, on every: there is no hit */
};

/* A variable while its type is sought. */
struct up_var {
	const char *name;
	enum up_var_scope scope;
	struct up_type type;     /* TY_UNKNOWN as long as nothing tells */
	bool is_assigned;        /* somewhere in the script */
	struct up_span span;     /* where its type comes from */
	struct up_span key_span; /* of a table: where its keys come from */
	uint32_t nr_keys;
	struct up_type *key_types;
	const char **key_labels;
	uint32_t index; /* in plan->vars, once that is made */
};

/* A variable of a loop. */
struct up_local {
	const char *name;
	struct up_type type;
	struct up_span span;
};

/* An aggregation while types are sought. Its number is that of its place in the script. */
struct up_agg_seen {
	uint32_t index;      /* in plan->aggs */
	uint32_t pass;       /* in which pass it was met last with all its types; 0: not yet */
	struct up_span span; /* where it stood first */
};

#define UP_STORES_MAX 30000 /* variables and aggregations: they are numbered in 16 bits */
#define UP_PRINTS_MAX 65536 /* calls of print, and of printf: likewise */

struct up_check {
	struct up_diags *ds;
	const struct up_env *env;
	struct up_arena *plan_arena; /* of what goes into the plan */
	UP_VEC(struct up_plan_print) prints;
	UP_VEC(struct up_plan_printf) printfs;
	UP_VEC(struct up_plan_agg) aggs;
	UP_VEC(struct up_agg_seen *) aggs_seen; /* of each aggregation */
	struct up_nametab agg_names;            /* the same by name; of unnamed ones by place */
	UP_VEC(struct up_var *) vars;
	struct up_nametab var_names; /* by full name */
	UP_VEC(struct up_local)
	locals;          /* of the loops around, outermost first; the index is the register */
	unsigned loops;  /* loops around */
	uint32_t clause; /* which clause is being checked */
	uint32_t pass;   /* types are sought in several; the last is not muted */
	bool changed;    /* this pass learned something new of a variable */
	bool guess;      /* constants decide, too, of what nothing else decides */
	bool is_full;    /* there are more than UP_STORES_MAX: nothing goes on */
	struct up_span full_span; /* then: the first beyond it */
	const char *where_text;   /* "zsh:zfree return": for unnamed aggregations */
	enum up_where where;
	const struct up_node *typed;    /* the `VALUE:TYPE` whose value is being checked, or NULL */
	bool in_entry;                  /* inside `entry.X` */
	bool uses_call;                 /* set when a value of a call was met */
	const struct up_node *call_var; /* a call.x that was met, or NULL */
	const struct up_node *first_arg; /* an argN that is fetched at the entry, or NULL */
};

/* Is nothing known of a value: it got a diagnostic, or its type is still sought? */
static inline bool up_is_poison(struct up_type t)
{
	return t.ty == TY_POISON || t.ty == TY_UNKNOWN;
}

/* Marks an expression that got its diagnostic. */
static inline struct up_type up_poison(struct up_node *n)
{
	return n->type = UP_TYPE_POISON;
}

/* Checks an expression; returns its type, also kept in n->type. */
struct up_type up_check_expr(struct up_check *cx, struct up_node *n);
/* Checks `VALUE:TYPE`. */
struct up_type up_check_typed(struct up_check *cx, struct up_node *n);
/*
 * In `on return`, memory behind an argument may have changed: is it said when it is read? False
 * after a diagnostic.
 */
bool up_check_stale(struct up_check *cx, const struct up_node *n, const struct up_node *address);
/* Blocks without a probe have variables, aggregations and the time: says that `name` belongs to a
 * hit. */
struct up_type up_check_no_hit(struct up_check *cx, struct up_node *n, const char *name);
/*
 * What a part of an expression tells of the type of the whole, whose other parts are variables of
 * which nothing is known yet: `max(n, 1)` does not say what n is, unless nothing else does.
 */
struct up_type up_known_type(const struct up_check *cx, const struct up_node *n);
/* How a value of a type is called in messages: "an array". */
const char *up_kind_name(struct up_type t);
/* Checks an expression that is used as a condition. */
void up_check_cond(struct up_check *cx, struct up_node *n);
/* Checks the statements of a block. */
void up_check_block(struct up_check *cx, struct up_node *block);
/* Checks a list of expressions; false when one of them got a diagnostic. */
bool up_check_list(struct up_check *cx, struct up_node *list);
/* Labels and types of a list of expressions, in the plan's arena. */
void up_check_describe(struct up_check *cx, const struct up_node *list, const char ***labels,
		       struct up_type **types);

/* ---- aggregations: check_agg.c ---- */

/* The aggregate that a call is written as, or NULL. */
const struct up_agg_row *up_agg_called(const struct up_check *cx, const struct up_node *call);
/* Checks `NAME = AGGREGATE ...` or `AGGREGATE ...`; false when it is something else. */
bool up_check_agg(struct up_check *cx, struct up_node *act);

/* After the last pass: refuses an aggregation that never had types. */
void up_check_aggs_known(struct up_check *cx);

/* ---- results: check_result.c ---- */

/* `NAME[KEYS]` gives `nr` keys of these types; `where` is the place that says so. False after a
 * diagnostic. */
bool up_check_keys(struct up_check *cx, struct up_node *n, struct up_node *keys, const char *name,
		   uint32_t nr, const struct up_type *types, const char *const *labels,
		   struct up_span where);
/* A result of the i-th aggregation: `NAME`, `NAME[KEYS]`, with or without `.FIELD`. */
struct up_type up_check_result(struct up_check *cx, struct up_node *n, uint32_t i,
			       struct up_node *keys, const char *field, struct up_span field_span);

/* ---- calls: check_call.c, check_fn.c ---- */

struct up_fn_row;
/* Checks a call in an expression. */
struct up_type up_check_call(struct up_check *cx, struct up_node *n);
/* A call of a built-in function. */
struct up_type up_check_fn(struct up_check *cx, struct up_node *n, const struct up_fn_row *row);

/* ---- variables: check_var.c ---- */

/* A name that is no value: a variable, a loop's variable, a result. False when it is none of these.
 */
bool up_check_var_name(struct up_check *cx, struct up_node *n);
/* `thread.x`, `call.x`, `NAME.FIELD`, `NAME[KEYS].FIELD`; false when it is none of these. */
bool up_check_var_member(struct up_check *cx, struct up_node *n);
/* `NAME[KEYS]` */
struct up_type up_check_var_index(struct up_check *cx, struct up_node *n);
/* `len(NAME)` of a table or an aggregation; false when it is something else. */
bool up_check_len(struct up_check *cx, struct up_node *call);
/* `X = Y` and `X += Y`, which becomes the former: the variable takes in the type of Y. */
void up_check_assign_var(struct up_check *cx, struct up_node *act);
/* `delete NAME[KEYS]`, of a table's row or an aggregation's group. */
void up_check_delete(struct up_check *cx, struct up_node *n);
/* `for K, ... in NAME`; its names are variables in the block, which is checked too. */
void up_check_for(struct up_check *cx, struct up_node *n);
/* The argument of show() and clear(). */
void up_check_store_call(struct up_check *cx, struct up_node *call, enum up_sem sem);
/* Offers all names of variables and aggregations. */
void up_offer_vars(const struct up_check *cx, struct up_nearest *near);
/* Begins a pass over the whole script; forgets what the last one made but for types. */
void up_check_begin(struct up_check *cx);
/* Counts variables and aggregations: one that was made for what stands here may be too many. */
void up_check_store_limit(struct up_check *cx, struct up_span span);
/* What no assignment decided becomes a number. False when there was nothing like that. */
bool up_check_settle(struct up_check *cx);
/* The plan's variables, after the last pass. */
void up_check_plan_vars(struct up_check *cx, struct up_plan *p);
/* Is there an aggregation of this name whose types are known? */
bool up_is_agg_name(const struct up_check *cx, const char *name, uint32_t *index);
/* A name for an aggregation: false after a diagnostic when a variable has it. */
bool up_check_free_name(struct up_check *cx, const char *name, struct up_span span);

/* Takes a printf format apart against the values; false after a diagnostic. */
bool up_check_format(struct up_check *cx, struct up_node *fmt, struct up_node *values,
		     struct up_plan_printf *out);

/* One action that is written like a call. */
struct up_action_row {
	const char *name;
	const char *form; /* as it is written, for the reference */
	void (*check)(struct up_check *cx, struct up_node *call);
	const char *help; /* what it does */
};

/* Ends with a NULL name. */
extern const struct up_action_row up_action_rows[];

/*
 * Is the expression a constant integer, without a type written behind it? Folds as the handlers
 * would compute. More of constants: fold.h.
 */
bool up_const_int(const struct up_node *n, uint64_t *out);
/* The source text of a node on one line, white space folded; in arena a. */
const char *up_source_label(const struct up_diags *ds, struct up_arena *a, struct up_span span);
/* What to write instead of a word of another tracer, or NULL. */
const char *up_foreign_word(const char *name);
/* Do two checked expressions compute the same? */
bool up_same_expr(const struct up_node *a, const struct up_node *b);
/* n without the parentheses around it. */
const struct up_node *up_unparen(const struct up_node *n);

#endif
