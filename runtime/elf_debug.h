/*
 * Symbols that stand outside of a file's own tables: in a separate file of debug information, found
 * by build id or .gnu_debuglink, or in .gnu_debugdata (xz-compressed). By libdw, which is loaded
 * when it is first needed. Nothing is fetched over the network.
 */
#ifndef UP_ELF_DEBUG_H
#define UP_ELF_DEBUG_H

#include "runtime/elf_image.h"

#define UP_LIBDW_SONAME "libdw.so.1"

/* libdw; one for all files. All zero but root as yet. */
struct up_libdw {
	const char *root;           /* folder that stands for /, "" for / itself */
	const char *soname;         /* another file to load; NULL for the usual one */
	struct libdw_functions *fn; /* what was loaded, or NULL */
	bool is_tried;              /* loading was tried */
};

void up_libdw_fini(struct up_libdw *l);

/* The debug information of one file. */
struct up_elf_debug;

/* A symbol table of another ELF file, which may have been made for other addresses. */
struct up_elf_extra {
	struct Elf *handle;         /* libelf's, of the file that holds it */
	struct up_elf_span symbols; /* entries, of the same class as the file's own */
	struct up_elf_span strings; /* their names */
	uint64_t bias;              /* to be added to its addresses */
};

/*
 * Looks for a symbol table beyond those of the file at `path`, whose image is e. NULL when there is
 * none, else what owns it.
 */
struct up_elf_debug *up_elf_debug_open(struct up_libdw *l, const struct up_elf *e, const char *path,
				       struct up_elf_extra *out);
void up_elf_debug_free(struct up_elf_debug *d);

/*
 * Appends where a file with the debug information is looked for by the build id,
 * "/usr/lib/debug/.build-id/ab/cd.debug"; false when the file has no build id.
 */
bool up_elf_debug_place(const struct up_elf *e, struct up_buf *to);

#endif
