/*
 * What probes ask about a function's code: where it is left, and where its entry can be probed at
 * the least cost. As exits and entries of struct up_resolver, for a body that was read.
 */
#ifndef UP_ELF_FLOW_H
#define UP_ELF_FLOW_H

#include "runtime/elf_body.h"
#include "runtime/nop5.h"

bool up_elf_exits(const struct up_elf_body *b, up_exit_fn *fn, void *arg, struct up_why *why);

/* `nop5` and `nops`: what the kernel does to nops. */
unsigned up_elf_entries(struct up_elf_body *b, enum up_nop5 nop5, enum up_nops nops,
			struct up_entry_at *out, unsigned max);

#endif
