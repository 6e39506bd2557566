/*
 * Instructions, as far as a probe is concerned: whether the kernel can put a probe on one, and how
 * long it is. Bytes in, answer out; knows nothing of files.
 *
 * The first is told from the opcode alone. The second needs a disassembler, and only where an
 * address is not known to be the start of a function; then Capstone is loaded, not before.
 */
#ifndef UP_INSN_H
#define UP_INSN_H

#include <stdbool.h>
#include <stddef.h>

#include "lang/resolve.h"

#define UP_INSN_MAX 15 /* bytes of the longest x86 instruction */

/*
 * What the kernel refuses about the instruction at s ("a lock prefix"), or NULL. The bytes are
 * taken to be an instruction of x86-64, i386 or arm64. Sets *seen to how many of them tell.
 */
const char *up_insn_refusal(enum up_machine m, const unsigned char *s, size_t len, unsigned *seen);

/* Is it a nop that x86 kernels may turn into a call, see nop5.h? */
bool up_insn_is_nop5(enum up_machine m, const unsigned char *s, size_t len);
/* Does the instruction of `len` bytes do nothing: a nop of any length, endbr? x86 alone. */
bool up_insn_is_idle(enum up_machine m, const unsigned char *s, size_t len);

/* A disassembler, all zero as yet. */
struct up_disasm {
	const char *soname;        /* another file to load; NULL for the usual one */
	struct capstone *capstone; /* what was loaded, or NULL */
	bool is_tried;             /* loading was tried */
};

#define UP_DISASM_SONAME "libcapstone.so.4"
#define UP_DISASM_PACKAGE "libcapstone4"

/* Makes sure that Capstone is loaded; false when it cannot be. */
bool up_disasm_load(struct up_disasm *d);
void up_disasm_fini(struct up_disasm *d);

/*
 * Length of the instruction at s: 0 when the bytes are none, or are cut off by `len`. Needs
 * up_disasm_load() except for arm64, where all have the same.
 */
unsigned up_disasm_length(struct up_disasm *d, enum up_machine m, const unsigned char *s,
			  size_t len);

#endif
