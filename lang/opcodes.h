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
#define UP_LOOPS_MAX 8 /* one within the other; the machine keeps a place for each */

/* A table or aggregation as an operand: an index in plan->aggs or plan->vars. */
#define up_store_ref(is_agg, index) ((uint32_t)(index) << 1 | (uint32_t)(is_agg))
#define up_store_is_agg(ref) ((ref)&1)
#define up_store_index(ref) ((ref) >> 1)

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

/* What OP_GUARD takes for a pointer: not null, not in the first 64 KiB, canonical. */
#define UP_POINTER_MIN 0x10000u
#define UP_POINTER_END ((uint64_t)1 << 56)

/* How OP_PEEK takes the bytes that it reads. */
enum up_peek {
	UP_PEEK_NUMBER, /* 1, 2, 4 or 8 bytes, unsigned */
	UP_PEEK_TEXT,   /* as OP_TEXT */
	UP_PEEK_CHARS,  /* as OP_CHARS */
	UP_PEEK_BYTES,  /* as OP_BYTES */
	UP_PEEK_ARRAY   /* as OP_ARRAY */
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
