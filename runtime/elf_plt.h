/*
 * The linker's call stubs for imported functions (.plt, .plt.sec, .plt.got): which function one is
 * for. A probe on a stub sees only the calls of its own file, and none once they are bound
 * directly.
 */
#ifndef UP_ELF_PLT_H
#define UP_ELF_PLT_H

#include "runtime/elf_image.h"

struct up_elf_stub {
	char section[16];   /* that it is in */
	const char *symbol; /* what it calls; NULL when that cannot be told; lives as long as e */
};

/* Is there a stub at the address? */
bool up_elf_stub_at(const struct up_elf *e, uint64_t addr, struct up_elf_stub *out);

#endif
