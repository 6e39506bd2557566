/* What the parts of the verifier share. Private to lang/verify*.c. */
#ifndef UP_VERIFY_INT_H
#define UP_VERIFY_INT_H

#include "lang/opcodes.h"
#include "lang/verify.h"

#define UP_VERIFY_WORDS ((UP_MAX_REGS + 2 + 63) / 64)

/* What is known before an instruction. Registers have a bit each. */
struct up_verify_state {
	uint64_t written[UP_VERIFY_WORDS];
	uint64_t bytes[UP_VERIFY_WORDS]; /* of these: which hold text, bytes or an array, not a
					    number */
	uint64_t keys[UP_VERIFY_WORDS];  /* and which hold the keys of loops in use */
	uint32_t heads[UP_LOOPS_MAX]; /* of iterators in use: the loop's OP_NEXT; 0: not in use */
	bool is_opened;               /* was the call opened, on some way? */
	bool is_reached;
};

struct up_verify {
	const struct up_plan *p;
	const struct up_plan_prog *prog;
	const struct up_plan_event
		*event;                 /* whose arguments it reads; NULL: a block without a hit */
	struct up_verify_state *states; /* one before each instruction */
	uint32_t at;
	struct up_buf *why;
};

/* Says what is wrong with the instruction at v->at; returns false. */
bool up_verify_bad(struct up_verify *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The letters of an instruction's operands: see opcodes.def. */
extern const char *const up_verify_kinds[];

/* 1, 2, 4 or 8 bytes? */
static inline bool up_verify_is_width(unsigned size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Is each operand in its range, and fit for what the instruction does? Registers are left out. */
bool up_verify_operands(struct up_verify *v, const struct up_insn *i);

/*
 * The registers that an instruction reads were written with the right kind of value; those that it
 * writes are noted. OP_NEXT's keys are not among them.
 */
bool up_verify_registers(struct up_verify *v, struct up_verify_state *s, const struct up_insn *i);
/* Register r is written: with bytes, or with a number. */
bool up_verify_write(struct up_verify *v, struct up_verify_state *s, unsigned r, bool bytes);
/* What bytes were borrowed from has changed: only the keys of loops are still written. */
void up_verify_forget(struct up_verify_state *s);

#endif
