/*
 * Where an instruction leads, and what it changes: bytes in, answer out; knows nothing of files.
 * For x86 in full, for arm64 where it leads alone.
 */
#ifndef UP_INSN_FLOW_H
#define UP_INSN_FLOW_H

#include "lang/resolve.h"
#include "runtime/insn_x86.h"
#include "runtime/nop5.h"

enum up_flow {
	UP_FLOW_ON,       /* to the next instruction */
	UP_FLOW_CALL,     /* elsewhere, and mostly back to the next one */
	UP_FLOW_BRANCH,   /* to the target or on */
	UP_FLOW_JUMP,     /* to the target */
	UP_FLOW_INDIRECT, /* to what a register or memory says */
	UP_FLOW_RETURN,   /* to the caller */
	UP_FLOW_STOP,     /* nowhere: an exception */
	UP_FLOW_ODD       /* to another segment, another mode */
};

struct up_native {
	enum up_machine machine;
	const unsigned char *s; /* its bytes */
	uint64_t addr;
	unsigned len;
	enum up_flow flow;
	bool has_target; /* CALL, BRANCH and JUMP: */
	uint64_t target;
	struct up_x86 x86; /* what it was found from */
};

/* The instruction at s, whose address is addr; false when the bytes are none. */
bool up_native_read(enum up_machine m, const unsigned char *s, size_t len, uint64_t addr,
		    struct up_native *out);

/* What an instruction does beside going on. */
enum up_effect {
	UP_EFFECT_REGS,  /* changes registers and nothing else */
	UP_EFFECT_LOWER, /* likewise, and lowers sp: a push, a frame */
	UP_EFFECT_OTHER  /* more than that, or it is not known */
};

#define UP_EFFECT_FLAGS 16 /* the number of the flags in `regs` */

struct up_native_effect {
	enum up_effect effect;
	uint32_t regs;     /* changed, but for sp: bit i is register i of the processor's numbers */
	unsigned sp_lower; /* LOWER: by how many bytes */
};

/*
 * What an x86-64 instruction does. One that could end the program instead (a load through a
 * register, a division) is UP_EFFECT_OTHER, since what stands behind it is not reached then.
 */
void up_native_effect(const struct up_native *i, struct up_native_effect *out);

/* How the kernel carries a probed instruction out. */
enum up_insn_way {
	UP_INSN_STEPPED, /* a copy of it is single-stepped */
	UP_INSN_PUSH,    /* the kernel does it itself */
	UP_INSN_NOP,     /* likewise */
	UP_INSN_JUMP,    /* likewise: jumps, branches and calls to a target */
	UP_INSN_CALLED   /* a nop that becomes a call to the kernel */
};

/* That of an x86-64 instruction. */
enum up_insn_way up_native_way(const struct up_native *i, enum up_nops nops);

#endif
