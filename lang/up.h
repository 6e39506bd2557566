/*
 * The compiler's public call: source and environment in, plan or diagnostics out.
 */
#ifndef UP_UP_H
#define UP_UP_H

#include "lang/diag.h"
#include "lang/modules.h"
#include "lang/plan.h"
#include "lang/resolve.h"

/* One `--NAME=VALUE` behind the script. */
struct up_param_arg {
	const char *name;
	const char *value; /* NULL when there was no `=` */
};

/* What the compiler must know of the world. */
struct up_env {
	const struct up_resolver *resolver;   /* objects and symbols */
	const struct up_agg_row *const *aggs; /* aggregates that exist */
	const char *const *args;              /* the script's positional arguments */
	unsigned nr_args;                     /* how many */
	const struct up_param_arg *params;    /* --NAME=VALUE among them, in order */
	unsigned nr_params;                   /* how many */
	const struct up_modules *modules;     /* where `use` looks, or NULL: nowhere */
	const char *script_id; /* the script's own file, as a module has it; or NULL */
	unsigned *args_used;   /* receives the highest number asked for; or NULL */
	unsigned max_arg_text; /* the kernel's limit on one fetch argument, bytes */
	unsigned max_args;     /* the kernel's limit on fetch arguments of an event */
	unsigned max_sites;    /* limit on places in one program */
	bool unsafe;           /* are probes allowed that can harm the program? */
	bool no_filters;       /* are conditions judged by handlers alone, not by the kernel too? */
	bool for_recording;    /* is what other handlers usually want to be fetched, too? */
};

/* The limits that hold on every kernel since 5.4. */
#define UP_MAX_ARG_TEXT 63
#define UP_MAX_ARGS 127
#define UP_MAX_SITES 20000

/* A compilation: owns sources, diagnostics and the tree. */
struct up_compile {
	struct up_arena *arena;
	struct up_sources sources;
	struct up_diags diags;
	bool is_module; /* the text declares no more than a module does: its plan only checks it */
};

/* NULL when there is no memory. */
struct up_compile *up_compile_new(void);
void up_compile_free(struct up_compile *c);

/*
 * Compiles one script. Returns the plan, which the caller frees with up_plan_free(), or NULL when
 * there were errors (then c->diags.nr_errors > 0).
 */
struct up_plan *up_compile(struct up_compile *c, const struct up_env *env, const char *name,
			   const char *text, size_t len);
void up_plan_free(struct up_plan *p);

#endif
