/*
 * Compiling for the command line: the resolver, the compilation, and waiting for files that are
 * not there yet.
 */
#ifndef UP_CLI_BUILD_H
#define UP_CLI_BUILD_H

#include "lang/up.h"
#include "runtime/cli/opts.h"
#include "runtime/cli/signals.h"

struct up_built {
	struct up_compile *c; /* diagnostics and source; NULL when memory ran out */
	struct up_plan *plan; /* NULL when there were errors */
	unsigned args_used;   /* the highest $N of the program */
	struct up_buf places; /* of record: what is known of the probed places, for replaying */
};

/*
 * Compiles the text. With --wait, and while objects cannot be found, it tries again until they are
 * there, whole, or a signal comes; it says what it waits for on standard error.
 */
struct up_built up_build(const struct up_opts *o, const struct up_signals *sig, const char *name,
			 const struct up_buf *text);
/*
 * Compiles the program of `c` anew, whose plan runs: with what has taken the place of files that
 * the plan probes.
 */
struct up_built up_build_again(const struct up_opts *o, const struct up_compile *c,
			       const struct up_plan *plan);
/*
 * Compiles the parts of a session's program, by a resolver that lives longer. The plan, or NULL; in
 * `c` there is why.
 */
struct up_elf_resolver;
struct up_plan *up_build_parts(const struct up_opts *o, struct up_elf_resolver *elf,
			       struct up_compile *c, const struct up_part *parts, size_t nr);
void up_built_fini(struct up_built *b);

#endif
