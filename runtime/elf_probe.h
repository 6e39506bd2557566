/* May a probe stand at an address of a file: does an instruction start there that can be probed? */
#ifndef UP_ELF_PROBE_H
#define UP_ELF_PROBE_H

#include "runtime/elf_symbols.h"

/* As can_probe of struct up_resolver. */
bool up_elf_can_probe(const struct up_elf *e, struct up_elf_symbols *s, uint64_t addr,
		      struct up_why *why);

#endif
