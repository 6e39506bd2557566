/*
 * The instruction set of handlers: a register machine, one struct up_insn each.
 */
#ifndef UP_OPCODES_H
#define UP_OPCODES_H

#include "lang/base/buf.h"
#include "lang/plan.h"

enum up_opcode {
#define UP_OPCODE(op, name, operands) op,
#include "lang/opcodes.def"
#undef UP_OPCODE
	OP_COUNT
};

#define UP_MAX_REGS 250

enum up_site_text { UP_SITE_FUNC, UP_SITE_OBJECT, UP_SITE_PROBE, UP_SITE_OFFSET };

enum up_context {
	UP_CX_IP,   /* entry: where the probe sits; return: where the call returns to */
	UP_CX_TIME, /* ns, CLOCK_MONOTONIC */
	UP_CX_TID,
	UP_CX_PID, /* of the process */
	UP_CX_CPU,
	UP_CX_ELAPSED, /* return: ns since the entry */
	UP_CX_DEPTH    /* return: how many calls of this probe were open below it in the thread */
};

/* The 32-bit operand of OP_CONST and jumps. */
static inline uint32_t up_insn_wide(const struct up_insn *i)
{
	return i->b | (uint32_t)i->c << 16;
}

/* One instruction as text, with what it refers to; no newline. */
void up_disasm(const struct up_plan *p, const struct up_plan_prog *prog, uint32_t at,
	       struct up_buf *out);

#endif
