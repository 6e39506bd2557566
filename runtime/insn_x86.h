/*
 * x86 instructions taken apart: their length, opcode, operand in memory and constant. Follows the
 * opcode maps of the Intel manual (volume 2, appendix A) and the encodings of VEX, EVEX and XOP.
 * Private to insn_flow.c and insn_effect.c; whether the kernel can probe one is insn.c's.
 *
 * Not Capstone: every function that is probed is read from end to end, in the runs that probe but
 * one too, for which loading it would take longer than all the rest.
 */
#ifndef UP_INSN_X86_H
#define UP_INSN_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which table an opcode is of. */
enum up_x86_map {
	UP_X86_ONE, /* of one byte */
	UP_X86_0F,
	UP_X86_0F38,
	UP_X86_0F3A,
	UP_X86_MAP5, /* half-precision floats */
	UP_X86_MAP6, /* likewise */
	UP_X86_XOP   /* AMD's */
};

#define UP_X86_NONE (-1) /* no register */
#define UP_X86_PC (-2)   /* the address of the next instruction, as a base */
#define UP_X86_SP 4
#define UP_X86_BP 5

struct up_x86 {
	const unsigned char *s; /* the bytes */
	unsigned limit;         /* how many there may be */
	unsigned len;           /* how many it has */
	bool is64;              /* 64-bit code */

	bool has_66, has_67, has_lock; /* prefixes */
	unsigned char rep;             /* 0xf2, 0xf3, or 0 */
	unsigned char segment;         /* a prefix 26 2e 36 3e 64 65, or 0 */
	unsigned char rex; /* what a REX prefix, or a vector prefix, says as such: W R X B */
	bool has_rex;      /* a REX prefix is there */
	bool is_vector;    /* VEX, EVEX, XOP */

	enum up_x86_map map;
	unsigned char op; /* the opcode in its map */

	bool has_modrm;
	unsigned char mod; /* the fields of the ModRM byte: 3 for a register, not memory */
	unsigned char reg; /* with its bit of REX */
	unsigned char rm;  /* likewise: the register, when mod is 3 */

	int base, index; /* of the operand in memory: registers, or UP_X86_NONE, UP_X86_PC */
	unsigned scale;  /* of the index: 1, 2, 4, 8 */
	int64_t disp;    /* of the operand in memory */

	int64_t imm;       /* the constant, with its sign */
	unsigned imm_size; /* bytes; 0: none */
};

/* Is the operand in memory? */
static inline bool up_x86_has_memory(const struct up_x86 *x)
{
	return x->has_modrm && x->mod != 3;
}

/* False when the `len` bytes at s do not begin with an instruction. */
bool up_x86_decode(bool is64, const unsigned char *s, size_t len, struct up_x86 *out);

#endif
