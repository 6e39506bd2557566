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

/* How returns are to be seen. */
enum up_return_how {
	UP_RETURN_AUTO,      /* by the kernel where it does no harm, else at the exits */
	UP_RETURN_BY_KERNEL, /* by the kernel's return probe */
	UP_RETURN_BY_SITES   /* by probes on the instructions that leave the function */
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
	const char *script_id;      /* the script's own file, as a module has it; or NULL */
	unsigned *args_used;        /* receives the highest number asked for; or NULL */
	unsigned max_arg_text;      /* the kernel's limit on one fetch argument, bytes */
	unsigned max_args;          /* the kernel's limit on fetch arguments of an event */
	unsigned max_sites;         /* limit on places in one program */
	enum up_return_how returns; /* how they are to be seen */
	bool exact_entry;   /* does each entry probe stand on the function's first instruction? */
	bool unsafe;        /* are probes allowed that can harm the program? */
	bool no_filters;    /* are conditions judged by handlers alone, not by the kernel too? */
	bool for_recording; /* is what other handlers usually want to be fetched, too? */
	/*
	 * The program of a session, which gains and loses declarations while it runs: there may be
	 * no probe in it, and no two probes share a kernel event, so that each can be taken off
	 * alone.
	 */
	bool is_session;
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

/* One of several texts that a program consists of. */
struct up_part {
	const char *name; /* as shown in diagnostics */
	const char *text;
	size_t len;      /* its bytes */
	uint32_t hidden; /* up_source.hidden */
};

/*
 * Compiles one script. Returns the plan, which the caller frees with up_plan_free(), or NULL when
 * there were errors (then c->diags.nr_errors > 0).
 */
struct up_plan *up_compile(struct up_compile *c, const struct up_env *env, const char *name,
			   const char *text, size_t len);
/*
 * Compiles a program of several texts, whose declarations stand one after the other. Part i is
 * source i.
 */
struct up_plan *up_compile_parts(struct up_compile *c, const struct up_env *env,
				 const struct up_part *parts, size_t nr);
void up_plan_free(struct up_plan *p);

#endif
