/*
 * Instructions, as far as a probe is concerned: how long one is, and whether the kernel can put a
 * probe on it. Pure: bytes in, answer out.
 *
 * A table of our own rather than a disassembler library: the smallest one costs more than the
 * rest of the start-up together, and length and opcode are all that is asked.
 */
#ifndef UP_INSN_H
#define UP_INSN_H

#include <stdbool.h>
#include <stddef.h>

#include "lang/resolve.h"

#define UP_INSN_MAX 15 /* bytes of the longest x86 instruction */

struct up_insn {
	unsigned len;        /* bytes, prefixes included */
	const char *refused; /* what the kernel refuses about it ("a lock prefix"), or NULL */
};

/*
 * Decodes one instruction of x86-64, i386 or arm64 at s. False when the bytes are none, or are cut
 * off by `len`. Privileged and undefined ones count as instructions where their length is known.
 */
bool up_insn_decode(enum up_machine m, const unsigned char *s, size_t len, struct up_insn *out);

#endif
