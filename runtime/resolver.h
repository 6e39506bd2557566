/*
 * The compiler's view of programs and libraries (lang/resolve.h), answered from ELF files. Owns the
 * files that were opened; they stay mapped as long as it lives.
 *
 * An object's path can be /proc/PID/root/... for a process in a container, and
 * /proc/PID/map_files/A-B for a file that a process runs but that has lost its name.
 */
#ifndef UP_RESOLVER_H
#define UP_RESOLVER_H

#include <sys/types.h>

#include "lang/plan.h"
#include "runtime/elf_image.h"
#include "runtime/nop5.h"

struct up_elf_options {
	pid_t pid;         /* the process of -p, or 0 */
	const char *root;  /* folder that names are looked for under; NULL: the process's, or all */
	const char *path;  /* $PATH; NULL: from the environment */
	enum up_nop5 nop5; /* what the kernel does to five-byte nops; UP_NOP5_ASK but for tests */
	/* A name that is asked for again is the file that it was, up to a refresh. */
	bool compile_once;
	/* Instead of a file that this plan probes, what has taken its place is opened. Or NULL. */
	const struct up_plan *succeed;
};

struct up_elf_resolver;

/* NULL when there is no memory. Copies the options. */
struct up_elf_resolver *up_elf_resolver_new(const struct up_elf_options *opt);
void up_elf_resolver_free(struct up_elf_resolver *r);

/*
 * Before another compile: closes files that were written to, since they are not what was read, and
 * end us when they have become shorter; and others that lost their place, unless the plan probes
 * them. Objects of these are no longer valid.
 */
void up_elf_resolver_refresh(struct up_elf_resolver *r, const struct up_plan *probed);

/* The interface, as long as the resolver lives. */
const struct up_resolver *up_elf_resolver_iface(const struct up_elf_resolver *r);

/* The file behind an object of this resolver. */
const struct up_elf *up_elf_resolver_image(const struct up_object *o);

#endif
