/*
 * The implementations of an indirect function (IFUNC): the functions whose addresses its resolver's
 * code holds. Read from the bytes, for x86-64 only; what a resolver computes in another way is not
 * seen.
 */
#ifndef UP_ELF_IFUNC_H
#define UP_ELF_IFUNC_H

#include "runtime/elf_symbols.h"

/*
 * Calls fn for each of them, by address; the name is NULL where the file has none for it. False
 * from fn ends the walk.
 */
void up_elf_ifunc_each(const struct up_elf *e, struct up_elf_symbols *s, uint64_t resolver,
		       up_symbol_fn *fn, void *arg);

#endif
