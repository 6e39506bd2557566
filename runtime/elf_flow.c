/*
 * Exits are what the body has found. Entries are looked for from the entry on, for as long as there
 * is one way only and nothing is done that a probe could see, but for changes that are told.
 */
#include "runtime/elf_flow.h"

#include <string.h>

#include "lang/abi.h"
#include "runtime/elf_frames.h"
#include "runtime/insn.h"

#define MAX_RUN 16     /* instructions of the straight run */
#define MAX_DETOUR 100 /* instructions from Go's check of the stack back to the entry */
#define MAX_NEAR 4096  /* bytes of a neighbour that are looked at */
#define MAX_BEFORE 4   /* neighbours before a function */
#define MAX_PADDING 64 /* bytes between functions */

bool up_elf_exits(const struct up_elf_body *b, up_exit_fn *fn, void *arg, struct up_why *why)
{
	if (b->reason.len || b->reason.failed)
		return up_elf_refuse(why, "%s", b->reason.s ? b->reason.s : "out of memory");
	for (size_t i = 0; i < b->nr_exits && fn(arg, &b->exits[i]); i++)
		;
	return true;
}

/* ---- neighbours ---- */

/* Where the code starts that ends, but for padding, at addr; false when that is not known. */
static bool find_before(const struct up_elf_body *b, uint64_t addr, uint64_t *start)
{
	struct up_symbol s;

	if (up_elf_frame_start(b->e, addr - 1, start))
		return true;
	for (unsigned i = 1; i <= MAX_PADDING && i <= addr; i++)
		if (up_elf_symbols_at(b->s, addr - i, &s)) {
			*start = s.addr;
			return true;
		}
	return false;
}

/* Does the code of a neighbour jump behind the entry, up to `to`? */
static bool leads_into(const struct up_elf_body *b, uint64_t start, uint64_t end, uint64_t to)
{
	return end - start <= MAX_NEAR && up_elf_leads_into(b->e, start, end, b->addr, to);
}

/*
 * Does the function before it or behind it? Assembler code shares the rest of a function so:
 * mempcpy into memcpy.
 */
static bool is_shared(const struct up_elf_body *b, uint64_t to)
{
	uint64_t after = (b->parts[0].end + 15) & ~(uint64_t)15, before = b->addr, start, end;

	for (unsigned i = 0; i < MAX_BEFORE && find_before(b, before, &start); i++) {
		if (leads_into(b, start, before, to))
			return true;
		before = start;
	}
	return up_elf_body_extent(b->e, b->s, after, &end) && leads_into(b, after, end, to);
}

/* ---- entries ---- */

/* About what a hit costs, ns: measured on Linux 6.18 in a virtual machine. */
static unsigned cost_of(enum up_insn_way way)
{
	switch (way) {
	case UP_INSN_CALLED:
		return 1600;
	case UP_INSN_NOP:
	case UP_INSN_PUSH:
	case UP_INSN_JUMP:
		return 6200;
	default:
		return 22000;
	}
}

static const char *name_of(const struct up_native *i, enum up_insn_way way)
{
	if (way == UP_INSN_PUSH)
		return "push";
	if (way == UP_INSN_JUMP)
		return i->flow == UP_FLOW_CALL ? "call" : "jump";
	if (up_insn_is_idle(i->machine, i->s, i->len))
		return i->s[0] == 0xf3 ? "endbr" : "nop";
	return "instruction";
}

/* Bits of abi->regs for those of the processor's numbers. */
static uint64_t name_regs(uint32_t regs)
{
	static const char *const names[] = { "ax",  "cx",  "dx",  "bx",  "sp",   "bp",
					     "si",  "di",  "r8",  "r9",  "r10",  "r11",
					     "r12", "r13", "r14", "r15", "flags" };
	const struct up_abi *abi = up_abi_find(UP_M_X86_64, UP_CALLING_C);
	uint64_t bits = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (unsigned k = 0; regs >> i & 1 && abi->regs[k]; k++)
			if (!strcmp(names[i], abi->regs[k]))
				bits |= (uint64_t)1 << k;
	return bits;
}

/* The walk from the entry. */
struct run {
	struct up_elf_body *b;
	enum up_nop5 nop5;
	enum up_nops nops;
	struct up_entry_at *out;
	unsigned nr, max;
	uint32_t regs;     /* changed so far, by the processor's numbers */
	unsigned sp_lower; /* so far */
	bool is_idle;      /* nothing but nops so far */
	bool has_push;     /* one was passed */
	bool is_needed;    /* Go's check of the stack was passed */
};

static void offer(struct run *r, const struct up_native *i, enum up_insn_way way, bool is_needed)
{
	if (r->nr < r->max)
		r->out[r->nr++] = (struct up_entry_at){
			.addr = i->addr,
			.cost = cost_of(way),
			.insn = name_of(i, way),
			.sp_lower = r->sp_lower,
			.regs = name_regs(r->regs),
			.is_needed = is_needed,
		};
}

/* May a probe for the entry stand at an instruction behind it? Not where one for a return may. */
static bool is_fit(const struct run *r, const struct up_native *i)
{
	unsigned seen;

	for (size_t k = 0; k < r->b->nr_exits; k++)
		if (r->b->exits[k].addr == i->addr)
			return false;
	if (up_insn_refusal(i->machine, i->s, i->len, &seen))
		return false;
	return r->is_idle || r->nop5 == UP_NOP5_FINE || !up_insn_is_nop5(i->machine, i->s, i->len);
}

/* Does a jump, or anything that has a name, lead to an instruction behind the entry? */
static bool is_reached(const struct run *r, uint64_t addr)
{
	struct up_symbol s;

	return up_elf_body_is_aim(r->b, addr) ||
	       (up_elf_symbols_at(r->b->s, addr, &s) && s.addr == addr);
}

/* A comparison of the stack pointer, or of what was made of it, with the goroutine's limit. */
static bool compares_limit(const struct up_native *i)
{
	const struct up_x86 *x = &i->x86;

	return x->map == UP_X86_ONE && x->op == 0x3b && x->mod == 1 && x->index == UP_X86_NONE &&
	       (x->disp == 0x10 || x->disp == 0x18);
}

/* Is it a branch to code that calls something and goes back to the entry, as Go's to morestack? */
static bool is_detour(const struct run *r, const struct up_native *branch)
{
	uint64_t at = branch->target;
	struct up_native i;
	bool has_call = false;

	if (branch->flow != UP_FLOW_BRANCH || at <= branch->addr)
		return false;
	for (unsigned nr = 0; nr < MAX_DETOUR && up_elf_body_insn(r->b, at, &i); nr++) {
		if (i.flow == UP_FLOW_JUMP)
			return has_call && i.target == r->b->addr;
		if (i.flow != UP_FLOW_ON && i.flow != UP_FLOW_CALL)
			return false;
		has_call = has_call || i.flow == UP_FLOW_CALL;
		at += i.len;
	}
	return false;
}

/* What stands before it is passed once more when the stack has grown: only what follows counts. */
static void pass_detour(struct run *r)
{
	if (r->nr > 1)
		r->nr = 1;
	r->is_needed = true;
}

/* Passes an instruction; false where the straight run ends. */
static bool pass(struct run *r, const struct up_native *i)
{
	struct up_native_effect e;

	if (is_detour(r, i)) {
		pass_detour(r);
		return true;
	}
	up_native_effect(i, &e);
	if (compares_limit(i))
		e = (struct up_native_effect){ UP_EFFECT_REGS, 1u << UP_EFFECT_FLAGS, 0 };
	if (e.effect == UP_EFFECT_OTHER)
		return false;
	r->regs |= e.regs;
	r->sp_lower += e.sp_lower;
	r->is_idle = r->is_idle && up_insn_is_idle(i->machine, i->s, i->len);
	r->has_push = r->has_push || e.effect == UP_EFFECT_LOWER;
	return true;
}

/* The instruction at the end of the run so far; false when the run is over before it. */
static bool visit(struct run *r, const struct up_native *i)
{
	enum up_insn_way way = up_native_way(i, r->nops);

	if (is_reached(r, i->addr) || (r->b->has_switch && r->has_push))
		return false;
	if (is_fit(r, i) && (cost_of(way) < r->out[0].cost || r->is_needed)) {
		offer(r, i, way, r->is_needed);
		r->is_needed = false;
	}
	return true;
}

static void walk(struct run *r, const struct up_native *entry)
{
	struct up_native i = *entry;

	for (unsigned nr = 1; nr < MAX_RUN && pass(r, &i); nr++)
		if (!up_elf_body_insn(r->b, i.addr + i.len, &i) || !visit(r, &i))
			return;
}

unsigned up_elf_entries(struct up_elf_body *b, enum up_nop5 nop5, enum up_nops nops,
			struct up_entry_at *out, unsigned max)
{
	struct run r = { b, nop5, nops, out, .max = max, .is_idle = true };
	struct up_native entry;

	out[0] = (struct up_entry_at){ .addr = b->addr,
				       .cost = cost_of(UP_INSN_STEPPED),
				       .insn = "instruction" };
	if (b->e->machine != UP_M_X86_64 || !up_elf_body_insn(b, b->addr, &entry))
		return 1;
	offer(&r, &entry, up_native_way(&entry, nops), false);
	if (!b->is_torn)
		walk(&r, &entry);
	while (r.nr > 1 && out[r.nr - 1].regs && !out[r.nr - 1].is_needed &&
	       is_shared(b, out[r.nr - 1].addr))
		r.nr--;
	return r.nr;
}
