/* The flow of x86 and arm64 instructions, and which of them the kernel emulates. */
#include "runtime/insn_flow.h"

#include <string.h>

#include "runtime/insn.h"

/* ---- x86 ---- */

static enum up_flow flow_of_one(const struct up_x86 *x)
{
	unsigned sub = x->reg & 7;

	switch (x->op) {
	case 0xe8:
		return UP_FLOW_CALL;
	case 0xe9:
	case 0xeb:
		return UP_FLOW_JUMP;
	case 0xc2:
	case 0xc3:
		return UP_FLOW_RETURN;
	case 0xcc:
	case 0xf1:
	case 0xf4:
		return UP_FLOW_STOP;
	case 0x9a:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xea:
		return UP_FLOW_ODD;
	case 0xc7: /* xbegin */
		return sub == 7 ? UP_FLOW_BRANCH : UP_FLOW_ON;
	case 0xff:
		if (sub == 2)
			return UP_FLOW_CALL;
		if (sub == 4)
			return UP_FLOW_INDIRECT;
		return sub == 3 || sub == 5 ? UP_FLOW_ODD : UP_FLOW_ON;
	default:
		return (x->op & 0xf0) == 0x70 || (x->op & 0xfc) == 0xe0 ? UP_FLOW_BRANCH
									: UP_FLOW_ON;
	}
}

static enum up_flow flow_of_two(const struct up_x86 *x)
{
	switch (x->op) {
	case 0x0b: /* ud2, ud1, ud0 */
	case 0xb9:
	case 0xff:
		return UP_FLOW_STOP;
	case 0x07: /* sysret, sysexit */
	case 0x35:
		return UP_FLOW_ODD;
	default:
		return (x->op & 0xf0) == 0x80 ? UP_FLOW_BRANCH : UP_FLOW_ON;
	}
}

static enum up_flow flow_of_x86(const struct up_x86 *x)
{
	if (x->is_vector || (x->map != UP_X86_ONE && x->map != UP_X86_0F))
		return UP_FLOW_ON;
	return x->map == UP_X86_ONE ? flow_of_one(x) : flow_of_two(x);
}

static bool read_x86(enum up_machine m, const unsigned char *s, size_t len, struct up_native *out)
{
	if (!up_x86_decode(m == UP_M_X86_64, s, len, &out->x86))
		return false;
	out->len = out->x86.len;
	out->flow = flow_of_x86(&out->x86);
	out->has_target = out->flow == UP_FLOW_BRANCH || out->flow == UP_FLOW_JUMP ||
			  (out->flow == UP_FLOW_CALL && out->x86.op == 0xe8);
	out->target = out->addr + out->len + (uint64_t)out->x86.imm;
	if (m == UP_M_I386)
		out->target = (uint32_t)out->target;
	return true;
}

/* ---- arm64 (Arm ARM, C4.1: branches, exception generating and system instructions) ---- */

static const struct arm64_flow {
	uint32_t mask, value;     /* which encodings */
	enum up_flow flow;        /* where they lead */
	unsigned char bits, from; /* of the distance in words: how many, and the lowest; or 0 */
} arm64_flows[] = {
	{ 0xfc000000, 0x14000000, UP_FLOW_JUMP, 26, 0 },    /* b */
	{ 0xfc000000, 0x94000000, UP_FLOW_CALL, 26, 0 },    /* bl */
	{ 0xff000000, 0x54000000, UP_FLOW_BRANCH, 19, 5 },  /* b.cond, bc.cond */
	{ 0x7e000000, 0x34000000, UP_FLOW_BRANCH, 19, 5 },  /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, UP_FLOW_BRANCH, 14, 5 },  /* tbz, tbnz */
	{ 0xfffffc1f, 0xd61f0000, UP_FLOW_INDIRECT, 0, 0 }, /* br */
	{ 0xfefff800, 0xd61f0800, UP_FLOW_INDIRECT, 0, 0 }, /* braa and the like */
	{ 0xfffffc1f, 0xd63f0000, UP_FLOW_CALL, 0, 0 },     /* blr */
	{ 0xfefff800, 0xd63f0800, UP_FLOW_CALL, 0, 0 },     /* blraa and the like */
	{ 0xfffffc1f, 0xd65f0000, UP_FLOW_RETURN, 0, 0 },   /* ret */
	{ 0xfffffbff, 0xd65f0bff, UP_FLOW_RETURN, 0, 0 },   /* retaa, retab */
	{ 0xffffffff, 0xd69f03e0, UP_FLOW_ODD, 0, 0 },      /* eret */
	{ 0xffe0001f, 0xd4200000, UP_FLOW_STOP, 0, 0 },     /* brk */
	{ 0xffff0000, 0x00000000, UP_FLOW_STOP, 0, 0 },     /* udf */
};

static uint64_t read_distance(uint32_t word, unsigned bits, unsigned from)
{
	uint64_t v = (word >> from) & ((1u << bits) - 1);

	if (v >> (bits - 1))
		v |= ~(uint64_t)0 << bits;
	return v * 4;
}

static bool read_arm64(const unsigned char *s, size_t len, struct up_native *out)
{
	uint32_t word;

	if (len < sizeof(word))
		return false;
	memcpy(&word, s, sizeof(word));
	out->len = sizeof(word);
	for (size_t i = 0; i < sizeof(arm64_flows) / sizeof(arm64_flows[0]); i++) {
		const struct arm64_flow *f = &arm64_flows[i];

		if ((word & f->mask) != f->value)
			continue;
		out->flow = f->flow;
		out->has_target = f->bits;
		if (f->bits)
			out->target = out->addr + read_distance(word, f->bits, f->from);
		break;
	}
	return true;
}

bool up_native_read(enum up_machine m, const unsigned char *s, size_t len, uint64_t addr,
		    struct up_native *out)
{
	out->machine = m;
	out->s = s;
	out->addr = addr;
	out->flow = UP_FLOW_ON;
	out->has_target = false;
	if (m == UP_M_X86_64 || m == UP_M_I386)
		return read_x86(m, s, len, out);
	return m == UP_M_AARCH64 && read_arm64(s, len, out);
}

/* ---- what the kernel makes of it (arch/x86/kernel/uprobes.c) ---- */

static bool is_push(const struct up_x86 *x)
{
	return x->map == UP_X86_ONE && !x->is_vector && (x->op & 0xf8) == 0x50 &&
	       x->len == 1u + x->has_rex;
}

enum up_insn_way up_native_way(const struct up_native *i, enum up_nops nops)
{
	const struct up_x86 *x = &i->x86;

	if (is_push(x))
		return UP_INSN_PUSH;
	if (up_insn_is_nop5(i->machine, x->s, x->len) && nops == UP_NOPS_CALLED &&
	    i->addr % 4096 <= 4096 - 5)
		return UP_INSN_CALLED;
	if (x->s[0] == 0x90 && x->len == 1)
		return UP_INSN_NOP;
	if (up_insn_is_idle(i->machine, x->s, x->len) && x->rep != 0xf3)
		return nops == UP_NOPS_STEPPED ? UP_INSN_STEPPED : UP_INSN_NOP;
	/* xbegin, loop and jrcxz are stepped. */
	bool is_one = x->map == UP_X86_ONE && (x->op == 0xc7 || (x->op & 0xfc) == 0xe0);
	return i->has_target && !is_one && !x->has_66 ? UP_INSN_JUMP : UP_INSN_STEPPED;
}
