/* May a probe stand at an address of a file: does an instruction start there that can be probed? */
#ifndef UP_ELF_PROBE_H
#define UP_ELF_PROBE_H

#include "runtime/elf_symbols.h"
#include "runtime/insn.h"
#include "runtime/nop5.h"

/*
 * As can_probe of struct up_resolver, call stubs of imported functions aside (elf_plt.h). Loads the
 * disassembler only where the address is not the start of a function. `nop5` is for tests;
 * otherwise UP_NOP5_ASK.
 */
bool up_elf_can_probe(const struct up_elf *e, struct up_elf_symbols *s, struct up_disasm *d,
		      enum up_nop5 nop5, uint64_t addr, struct up_why *why);

#endif
