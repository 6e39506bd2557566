/*
 * Programs in Go: whether a file is one, what release made it, which of its code is Go, and how its
 * functions are called. From .go.buildinfo and .gopclntab, whose contents are not trusted.
 */
#ifndef UP_ELF_GO_H
#define UP_ELF_GO_H

#include "runtime/elf_symbols.h"

struct up_elf_go {
	bool is_go;        /* it holds code of Go's own compiler */
	bool is_release;   /* a numbered release made it */
	unsigned minor;    /* its number: 19 of go1.19.8; 0: not known */
	uint64_t from, to; /* where the code of Go lies; the same: not known */
};

/* Without `symbols` (NULL) it is not looked for where the code lies. */
void up_elf_go_read(const struct up_elf *e, struct up_elf_symbols *symbols, struct up_elf_go *go);

/* Is it a function of Go, rather than one of C that was linked in? */
bool up_elf_go_has(const struct up_elf_go *go, uint64_t addr);

/* How the function `name` at addr is called; the name may be NULL. */
enum up_calling up_elf_go_calling(const struct up_elf *e, const struct up_elf_go *go, uint64_t addr,
				  const char *name);

/* Where a goroutine's structure has its number, in bytes; 0 when it is not known. */
uint16_t up_elf_go_goid(const struct up_elf *e, const struct up_elf_go *go);

#endif
