/*
 * What x86-64 instructions change, for those that stand at the beginning of functions. A row for
 * each range of opcodes; what no row has, or has in memory, is taken for the worst.
 */
#include "runtime/insn.h"
#include "runtime/insn_flow.h"

/* What an instruction writes to. */
enum dest {
	TO_NONE,  /* nothing; the flags perhaps */
	TO_REG,   /* the register of the field reg */
	TO_RM,    /* that of the field rm */
	TO_BOTH,  /* both */
	TO_LOW,   /* that of the opcode's lowest bits */
	TO_A,     /* ax */
	TO_D,     /* dx */
	TO_VECTOR /* none that a probe can see */
};

/* One range of opcodes. */
struct row {
	enum up_x86_map map;
	unsigned char from, to; /* the opcodes */
	unsigned char step;     /* every so many of them */
	unsigned char subs;     /* which values of the field reg, a bit each; 0xff: all */
	enum dest dest;
	bool has_flags; /* it changes the flags */
	bool is_byte;   /* of registers of 8 bits */
	bool is_lea;    /* it computes an address and reads nothing */
};

#define ALL 0xff

static const struct row rows[] = {
	/* add or adc sbb and sub xor, in four forms; cmp writes nothing */
	{ UP_X86_ONE, 0x00, 0x30, 8, ALL, TO_RM, true, true, false },
	{ UP_X86_ONE, 0x01, 0x31, 8, ALL, TO_RM, true, false, false },
	{ UP_X86_ONE, 0x02, 0x32, 8, ALL, TO_REG, true, true, false },
	{ UP_X86_ONE, 0x03, 0x33, 8, ALL, TO_REG, true, false, false },
	{ UP_X86_ONE, 0x04, 0x34, 8, ALL, TO_A, true, false, false },
	{ UP_X86_ONE, 0x05, 0x35, 8, ALL, TO_A, true, false, false },
	{ UP_X86_ONE, 0x38, 0x3d, 1, ALL, TO_NONE, true, false, false },
	{ UP_X86_ONE, 0x63, 0x63, 1, ALL, TO_REG, false, false, false },
	{ UP_X86_ONE, 0x69, 0x69, 1, ALL, TO_REG, true, false, false },
	{ UP_X86_ONE, 0x6b, 0x6b, 1, ALL, TO_REG, true, false, false },
	{ UP_X86_ONE, 0x80, 0x80, 1, 0x7f, TO_RM, true, true, false },
	{ UP_X86_ONE, 0x81, 0x81, 1, 0x7f, TO_RM, true, false, false },
	{ UP_X86_ONE, 0x83, 0x83, 1, 0x7f, TO_RM, true, false, false },
	{ UP_X86_ONE, 0x80, 0x83, 1, 0x80, TO_NONE, true, false, false }, /* cmp */
	{ UP_X86_ONE, 0x84, 0x85, 1, ALL, TO_NONE, true, false, false },  /* test */
	{ UP_X86_ONE, 0x86, 0x86, 1, ALL, TO_BOTH, false, true, false },  /* xchg */
	{ UP_X86_ONE, 0x87, 0x87, 1, ALL, TO_BOTH, false, false, false },
	{ UP_X86_ONE, 0x88, 0x88, 1, ALL, TO_RM, false, true, false }, /* mov */
	{ UP_X86_ONE, 0x89, 0x89, 1, ALL, TO_RM, false, false, false },
	{ UP_X86_ONE, 0x8a, 0x8a, 1, ALL, TO_REG, false, true, false },
	{ UP_X86_ONE, 0x8b, 0x8b, 1, ALL, TO_REG, false, false, false },
	{ UP_X86_ONE, 0x8d, 0x8d, 1, ALL, TO_REG, false, false, true },
	{ UP_X86_ONE, 0x98, 0x98, 1, ALL, TO_A, false, false, false }, /* cltq */
	{ UP_X86_ONE, 0x99, 0x99, 1, ALL, TO_D, false, false, false }, /* cqto */
	{ UP_X86_ONE, 0xa8, 0xa9, 1, ALL, TO_NONE, true, false, false },
	{ UP_X86_ONE, 0xb0, 0xb7, 1, ALL, TO_LOW, false, true, false },
	{ UP_X86_ONE, 0xb8, 0xbf, 1, ALL, TO_LOW, false, false, false },
	{ UP_X86_ONE, 0xc0, 0xc0, 1, ALL, TO_RM, true, true, false }, /* shifts */
	{ UP_X86_ONE, 0xc1, 0xc1, 1, ALL, TO_RM, true, false, false },
	{ UP_X86_ONE, 0xc6, 0xc6, 1, 0x01, TO_RM, false, true, false },
	{ UP_X86_ONE, 0xc7, 0xc7, 1, 0x01, TO_RM, false, false, false },
	{ UP_X86_ONE, 0xd0, 0xd2, 2, ALL, TO_RM, true, true, false },
	{ UP_X86_ONE, 0xd1, 0xd3, 2, ALL, TO_RM, true, false, false },
	{ UP_X86_ONE, 0xf6, 0xf7, 1, 0x03, TO_NONE, true, false, false }, /* test */
	{ UP_X86_ONE, 0xf6, 0xf6, 1, 0x0c, TO_RM, true, true, false },    /* not neg */
	{ UP_X86_ONE, 0xf7, 0xf7, 1, 0x0c, TO_RM, true, false, false },
	{ UP_X86_ONE, 0xfe, 0xfe, 1, 0x03, TO_RM, true, true, false }, /* inc dec */
	{ UP_X86_ONE, 0xff, 0xff, 1, 0x03, TO_RM, true, false, false },
	{ UP_X86_0F, 0x10, 0x12, 1, ALL, TO_VECTOR, false, false, false },
	{ UP_X86_0F, 0x14, 0x16, 1, ALL, TO_VECTOR, false, false, false },
	{ UP_X86_0F, 0x28, 0x28, 1, ALL, TO_VECTOR, false, false, false },
	{ UP_X86_0F, 0x2a, 0x2a, 1, ALL, TO_VECTOR, false, false, false },
	{ UP_X86_0F, 0x2c, 0x2d, 1, ALL, TO_REG, false, false, false },
	{ UP_X86_0F, 0x2e, 0x2f, 1, ALL, TO_VECTOR, true, false, false },
	{ UP_X86_0F, 0x40, 0x4f, 1, ALL, TO_REG, false, false, false }, /* cmov */
	{ UP_X86_0F, 0x51, 0x6f, 1, ALL, TO_VECTOR, false, false, false },
	{ UP_X86_0F, 0x90, 0x9f, 1, ALL, TO_RM, false, true, false },   /* set */
	{ UP_X86_0F, 0xa3, 0xa3, 1, ALL, TO_NONE, true, false, false }, /* bt */
	{ UP_X86_0F, 0xba, 0xba, 1, 0x10, TO_NONE, true, false, false },
	{ UP_X86_0F, 0xaf, 0xaf, 1, ALL, TO_REG, true, false, false },
	{ UP_X86_0F, 0xb6, 0xb8, 1, ALL, TO_REG, true, false, false },
	{ UP_X86_0F, 0xbc, 0xbf, 1, ALL, TO_REG, true, false, false },
	{ UP_X86_0F, 0xc8, 0xcf, 1, ALL, TO_LOW, false, false, false }, /* bswap */
	{ UP_X86_0F, 0xd4, 0xd6, 1, ALL, TO_VECTOR, false, false, false },
	{ UP_X86_0F, 0xef, 0xef, 1, ALL, TO_VECTOR, false, false, false },
};

static bool is_of(const struct row *r, const struct up_x86 *x)
{
	return r->map == x->map && x->op >= r->from && x->op <= r->to &&
	       (x->op - r->from) % r->step == 0 && (r->subs == ALL || r->subs >> (x->reg & 7) & 1);
}

static const struct row *find_row(const struct up_x86 *x)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_of(&rows[i], x))
			return &rows[i];
	return NULL;
}

/* The bit of a register; without a REX prefix, the bytes 4 to 7 are the high ones of 0 to 3. */
static uint32_t bit_of(const struct up_x86 *x, unsigned reg, bool is_byte)
{
	if (is_byte && !x->has_rex && reg >= 4)
		reg -= 4;
	return 1u << reg;
}

static uint32_t find_regs(const struct up_x86 *x, const struct row *r)
{
	uint32_t low = (x->op & 7u) | (x->rex & 1u) << 3;

	switch (r->dest) {
	case TO_REG:
		return bit_of(x, x->reg, r->is_byte);
	case TO_RM:
		return bit_of(x, x->rm, r->is_byte);
	case TO_BOTH:
		return bit_of(x, x->reg, r->is_byte) | bit_of(x, x->rm, r->is_byte);
	case TO_LOW:
		return bit_of(x, low, r->is_byte);
	case TO_A:
		return 1u << 0;
	case TO_D:
		return 1u << 2;
	default:
		return 0;
	}
}

/* Memory that is there whenever the function runs: its object's, its stack's, its thread's. */
static bool is_sure(const struct up_x86 *x)
{
	if (x->index != UP_X86_NONE || x->has_67)
		return false;
	return x->base == UP_X86_PC || (x->base == UP_X86_SP && !x->segment) ||
	       (x->segment == 0x64 && x->base == UP_X86_NONE);
}

/* Does it write to memory, or read memory that may not be there? */
static bool has_risk(const struct up_x86 *x, const struct row *r)
{
	if (!up_x86_has_memory(x) || r->is_lea)
		return false;
	return r->dest == TO_RM || r->dest == TO_BOTH || r->dest == TO_VECTOR || !is_sure(x);
}

/* push, push of a constant, and taking a constant off sp; 0 for any other. */
static unsigned lowers_by(const struct up_x86 *x)
{
	if (x->map != UP_X86_ONE || x->has_66 || x->segment)
		return 0;
	if ((x->op & 0xf8) == 0x50 || x->op == 0x68 || x->op == 0x6a)
		return 8;
	bool is_sub = (x->op == 0x81 || x->op == 0x83) && (x->reg & 7) == 5;
	if (is_sub && x->mod == 3 && x->rm == UP_X86_SP && x->rex & 8 && x->imm > 0 &&
	    x->imm < 1 << 20)
		return (unsigned)x->imm;
	return 0;
}

void up_native_effect(const struct up_native *i, struct up_native_effect *out)
{
	const struct up_x86 *x = &i->x86;
	const struct row *r;

	*out = (struct up_native_effect){ .effect = UP_EFFECT_OTHER };
	if (i->machine != UP_M_X86_64 || i->flow != UP_FLOW_ON || x->is_vector || x->has_lock)
		return;
	if (up_insn_is_idle(i->machine, x->s, x->len)) {
		out->effect = UP_EFFECT_REGS;
		return;
	}
	out->sp_lower = lowers_by(x);
	if (out->sp_lower) {
		out->effect = UP_EFFECT_LOWER;
		out->regs = x->op == 0x81 || x->op == 0x83 ? 1u << UP_EFFECT_FLAGS : 0;
		return;
	}
	r = find_row(x);
	if (!r || has_risk(x, r))
		return;
	out->regs = find_regs(x, r);
	if (out->regs & 1u << UP_X86_SP) {
		out->regs = 0;
		return;
	}
	if (r->has_flags)
		out->regs |= 1u << UP_EFFECT_FLAGS;
	out->effect = UP_EFFECT_REGS;
}
