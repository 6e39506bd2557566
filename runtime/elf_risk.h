/*
 * What would a kernel return probe do to a program? It replaces the return address of a frame, and
 * an exception that crosses the frame ends the program. So does a return that comes out of turn,
 * because the program has switched stacks. Told for an object as a whole; Go's code,
 * which no return probe may touch either, is known from elf_go.h.
 */
#ifndef UP_ELF_RISK_H
#define UP_ELF_RISK_H

#include "runtime/elf_symbols.h"

/* As return_risk of struct up_resolver, for every function of the file that is not Go's. */
enum up_return_risk up_elf_return_risk(const struct up_elf *e, struct up_elf_symbols *s,
				       struct up_buf *why);

#endif
