/*
 * From the name in a script to an open file. Says where a name was looked for when nothing is
 * there; what is in the file is the next one's business.
 *
 * In this order:
 *   a name with a slash is a path; with a process, a path as the process sees it comes first;
 *   a file that the process has mapped, by its name, or a library by its short name;
 *   a program on $PATH, then a library, found as the dynamic linker finds it. Names that begin with
 *   "lib" or hold ".so" are looked for as a library first: `libtool` is still the program, since
 *   there is no such library, and `libreoffice` likewise.
 *
 * A short name is what stands before ".so": `libc` is libc.so.6, and of several versions the
 * highest. LD_LIBRARY_PATH does not count: it is the traced program's that would matter.
 */
#ifndef UP_OBJFIND_H
#define UP_OBJFIND_H

#include <sys/types.h>

#include "runtime/elf_image.h"

struct up_objfind {
	pid_t pid; /* whose files and mappings come first; 0: nobody's */
	const char
		*root; /* the folder that names are looked for under; "" for all of this machine */
	const char *path; /* $PATH */
};

struct up_found {
	int fd;     /* open for reading; the caller closes it */
	char *path; /* absolute, without symlinks; the caller frees it */
};

/* False with *why when there is none, or it cannot be read. */
bool up_objfind_open(const struct up_objfind *f, const char *name, struct up_found *out,
		     struct up_why *why);

/*
 * A library as the dynamic linker finds it for the program `e` in folder `origin`: exactly this
 * name, in the program's RPATH or RUNPATH (`dirs`, colon-separated, may hold $ORIGIN; NULL: none),
 * then where all libraries are. False when there is none for the same machine.
 */
bool up_objfind_needed(const struct up_objfind *f, const struct up_elf *e, const char *name,
		       const char *dirs, const char *origin, struct up_found *out);

/* Offers programs on $PATH and the short names of libraries. */
void up_objfind_near(const struct up_objfind *f, struct up_nearest *n);

#endif
