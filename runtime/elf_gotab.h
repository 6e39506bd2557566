/*
 * The functions of a program in Go whose symbols were stripped: Go's runtime needs their names, so
 * they stand in .gopclntab all the same. Made into a symbol table. Of 64-bit programs, Go 1.16 and
 * later. The table's contents are not trusted.
 */
#ifndef UP_ELF_GOTAB_H
#define UP_ELF_GOTAB_H

#include <elf.h>

#include "runtime/elf_image.h"

struct up_elf_gotab {
	Elf64_Sym *symbols; /* functions, and the marks runtime.text and runtime.etext */
	size_t nr;          /* how many */
	char *strings;      /* their names */
	size_t strings_len; /* bytes */
};

/* Where a file has that table; false when it has none. */
bool up_elf_gotab_find(const struct up_elf *e, struct up_elf_section *out);

/* False when there is none, or none that is understood; then there is nothing to free. */
bool up_elf_gotab_read(const struct up_elf *e, struct up_elf_gotab *t);
void up_elf_gotab_fini(struct up_elf_gotab *t);

#endif
