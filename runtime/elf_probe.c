/*
 * Instructions have no marks of their own, so boundaries are found by decoding from a place that is
 * known to be one: the start of the function around the address. The unwinder's table tells it even
 * for stripped files; symbols tell it otherwise. Without either (a stripped file without unwind
 * information) nothing better can be said than that the bytes at the address are an instruction.
 */
#include "runtime/elf_probe.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

#include "runtime/elf_frames.h"

/* What is asked, and whom to tell. */
struct place {
	const struct up_elf *e;   /* the file */
	struct up_elf_symbols *s; /* its symbols */
	struct up_disasm *d;      /* tells lengths, once it is loaded */
	enum up_nop5 nop5;        /* what the kernel does to such nops */
	uint64_t addr;            /* where a probe should stand */
	struct up_why *why;       /* for the refusal */
};

/* How decoding from a function's start to an address went. */
struct walk {
	uint64_t before; /* the last instruction that starts before the address */
	uint64_t after;  /* the first one at or behind it */
	bool is_stuck;   /* the bytes at `before` are no instruction */
};

static void walk_to(const struct place *p, uint64_t start, struct walk *w)
{
	struct up_elf_span code = up_elf_at_addr(p->e, start);

	*w = (struct walk){ start, start, false };
	while (w->after < p->addr) {
		uint64_t in = w->after - start;
		unsigned len = in >= code.len ? 0
					      : up_disasm_length(p->d, p->e->machine, code.s + in,
								 code.len - in);

		w->before = w->after;
		w->after += len;
		if (!len) {
			w->is_stuck = true;
			return;
		}
	}
}

/* "zfree+0x10", or "0x46430" where no function is known. */
static void write_place(struct up_elf_symbols *s, uint64_t addr, char *to, size_t size)
{
	struct up_symbol f;

	if (!up_elf_symbols_at(s, addr, &f))
		snprintf(to, size, "0x%" PRIx64, addr);
	else if (f.addr == addr)
		snprintf(to, size, "%s", f.name);
	else
		snprintf(to, size, "%s+0x%" PRIx64, f.name, addr - f.addr);
}

/* Would the kernel take the bytes at the address? Then a refusal is for the program's sake. */
static void set_harm(const struct place *p, enum up_harm harm)
{
	struct up_elf_span code = up_elf_at_addr(p->e, p->addr);
	unsigned seen;

	if (p->why && !up_insn_refusal(p->e->machine, code.s, code.len, &seen))
		p->why->harm = harm;
}

static bool refuse_inside(const struct place *p, const struct walk *w)
{
	char here[300], before[300], after[300];

	write_place(p->s, p->addr, here, sizeof(here));
	write_place(p->s, w->before, before, sizeof(before));
	write_place(p->s, w->after, after, sizeof(after));
	up_elf_refuse(p->why, "%s is inside the %" PRIu64 "-byte instruction at %s", here,
		      w->after - w->before, before);
	up_elf_hint(p->why, "use %s or %s", before, after);
	set_harm(p, UP_HARM_INSIDE);
	return false;
}

static bool refuse_stuck(const struct place *p, const struct walk *w)
{
	char here[300], stuck[300];

	write_place(p->s, p->addr, here, sizeof(here));
	write_place(p->s, w->before, stuck, sizeof(stuck));
	set_harm(p, UP_HARM_UNKNOWN);
	return up_elf_refuse(p->why,
			     "it cannot be told whether an instruction starts at %s: Capstone "
			     "knows none that has the bytes at %s",
			     here, stuck);
}

static bool refuse_bytes(const struct place *p)
{
	char here[300];

	write_place(p->s, p->addr, here, sizeof(here));
	set_harm(p, UP_HARM_UNKNOWN);
	return up_elf_refuse(p->why, "Capstone knows no instruction that has the bytes at %s",
			     here);
}

static bool refuse_blind(const struct place *p)
{
	char here[300];

	write_place(p->s, p->addr, here, sizeof(here));
	up_elf_refuse(p->why,
		      "whether an instruction starts at %s cannot be told without the library "
		      "Capstone, which is not installed",
		      here);
	up_elf_hint(p->why,
		    "install the package " UP_DISASM_PACKAGE " (%s), or probe the start of a "
		    "function",
		    p->d->soname ? p->d->soname : UP_DISASM_SONAME);
	set_harm(p, UP_HARM_UNKNOWN);
	return false;
}

/* `nr` bytes of the instruction are shown. */
static bool refuse_insn(const struct place *p, const char *what, unsigned nr)
{
	const unsigned char *s = up_elf_at_addr(p->e, p->addr).s;
	char here[300], bytes[3 * UP_INSN_MAX + 4] = "";

	for (unsigned i = 0; i < nr && i < UP_INSN_MAX; i++)
		snprintf(bytes + 3 * i, 4, " %02x", s[i]);
	write_place(p->s, p->addr, here, sizeof(here));
	up_elf_refuse(p->why, "the kernel cannot probe the instruction at %s: %s (%s)", here, what,
		      bytes + 1);
	up_elf_hint(p->why, "probe another instruction of the function");
	return false;
}

/* Can the kernel probe the instruction? `len` is its length, 0 when that was not asked. */
static bool check_insn(const struct place *p, unsigned len)
{
	struct up_elf_span code = up_elf_at_addr(p->e, p->addr);
	unsigned seen;
	const char *what = up_insn_refusal(p->e->machine, code.s, code.len, &seen);

	return !what || refuse_insn(p, what, len ? len : seen);
}

/*
 * Is the address a boundary, counted from `start`? When it is not, the nearest symbol gets a say:
 * behind the function at `start` may stand code of which the unwinder knows nothing.
 */
static bool check_boundary(const struct place *p, uint64_t start, const struct up_symbol *nearest)
{
	struct walk w;

	walk_to(p, start, &w);
	if (!w.is_stuck && w.after == p->addr)
		return true;
	if (nearest && nearest->addr > start)
		walk_to(p, nearest->addr, &w);
	if (!w.is_stuck && w.after == p->addr)
		return true;
	return w.is_stuck ? refuse_stuck(p, &w) : refuse_inside(p, &w);
}

/* ---- five-byte nops ---- */

/* Stands nothing but nops and the like between a function's start and the address? */
static bool is_preamble(const struct place *p, uint64_t start)
{
	while (start < p->addr) {
		struct up_elf_span code = up_elf_at_addr(p->e, start);
		unsigned len = up_disasm_length(p->d, p->e->machine, code.s, code.len);

		if (!len || !up_insn_is_idle(p->e->machine, code.s, len))
			return false;
		start += len;
	}
	return start == p->addr;
}

/* The first instruction behind the nop that can be probed; false when there is none near. */
static bool find_next(const struct place *p, uint64_t *out)
{
	struct up_elf_span code = up_elf_at_addr(p->e, p->addr);
	size_t at = 0;

	for (unsigned i = 0; i < 8 && at < code.len; i++) {
		const unsigned char *s = code.s + at;
		unsigned seen, len = up_disasm_length(p->d, p->e->machine, s, code.len - at);

		*out = p->addr + at;
		if (!up_insn_is_nop5(p->e->machine, s, code.len - at) &&
		    !up_insn_refusal(p->e->machine, s, code.len - at, &seen))
			return len;
		/* Behind anything that does something, registers are others. */
		if (!len || !up_insn_is_idle(p->e->machine, s, len))
			return false;
		at += len;
	}
	return false;
}

static bool refuse_nop5(const struct place *p)
{
	char here[300], next[300];
	uint64_t addr;

	write_place(p->s, p->addr, here, sizeof(here));
	up_elf_refuse(p->why,
		      "%s is a five-byte nop inside a function: when it is probed, this kernel "
		      "overwrites the word below the stack pointer",
		      here);
	if (find_next(p, &addr)) {
		write_place(p->s, addr, next, sizeof(next));
		up_elf_hint(p->why, "use %s, where registers and stack are the same", next);
	} else {
		up_elf_hint(p->why, "probe another instruction of the function");
	}
	set_harm(p, UP_HARM_RED_ZONE);
	return false;
}

/*
 * Is it a nop that the kernel makes harmful, not at the entry of a function that starts at `start`?
 * One that crosses a page is left as it is.
 */
static bool check_nop5(const struct place *p, bool has_start, uint64_t start)
{
	struct up_elf_span code = up_elf_at_addr(p->e, p->addr);

	if (!up_insn_is_nop5(p->e->machine, code.s, code.len) || p->addr % 4096 > 4096 - 5 ||
	    p->nop5 == UP_NOP5_FINE || (p->nop5 == UP_NOP5_ASK && up_nop5_ask() == UP_NOP5_FINE))
		return true;
	return (has_start && is_preamble(p, start)) || refuse_nop5(p);
}

static bool check_arm64(const struct place *p)
{
	uint64_t addr = p->addr;

	if (addr % 4 == 0)
		return check_insn(p, 0);
	up_elf_refuse(p->why,
		      "0x%" PRIx64 " is inside an instruction: they stand at multiples of 4", addr);
	up_elf_hint(p->why, "use 0x%" PRIx64 " or 0x%" PRIx64, addr - addr % 4,
		    addr - addr % 4 + 4);
	return false;
}

static bool check_x86(const struct place *p)
{
	struct up_symbol f;
	uint64_t start;
	bool has_frame = up_elf_frame_start(p->e, p->addr, &start);

	if (has_frame && start == p->addr)
		return check_insn(p, 0);
	bool has_symbol = up_elf_symbols_at(p->s, p->addr, &f);
	bool is_label = has_symbol && f.addr == p->addr;
	if (is_label && (!has_frame || f.kind != UP_SYM_NOTYPE))
		return check_insn(p, 0);
	if (!up_disasm_load(p->d))
		return is_label ? check_insn(p, 0) : refuse_blind(p);
	if (is_label)
		return check_nop5(p, has_frame, start) && check_insn(p, 0);
	if (!has_frame && has_symbol)
		start = f.addr;
	if ((has_frame || has_symbol) && !check_boundary(p, start, has_symbol ? &f : NULL))
		return false;
	struct up_elf_span code = up_elf_at_addr(p->e, p->addr);
	unsigned len = up_disasm_length(p->d, p->e->machine, code.s, code.len);
	if (!len)
		return refuse_bytes(p);
	return check_nop5(p, has_frame || has_symbol, start) && check_insn(p, len);
}

/* Old linkers put constants and code into one executable segment; sections tell them apart. */
static bool check_section(const struct place *p)
{
	struct up_elf_section s;

	if (!up_elf_section_at(p->e, p->addr, &s) || s.flags & SHF_EXECINSTR)
		return true;
	return up_elf_refuse(p->why, "0x%" PRIx64 " is data, not code, in section \"%s\"", p->addr,
			     s.name);
}

bool up_elf_can_probe(const struct up_elf *e, struct up_elf_symbols *s, struct up_disasm *d,
		      enum up_nop5 nop5, uint64_t addr, struct up_why *why)
{
	struct place p = { e, s, d, nop5, addr, why };

	if (why)
		why->harm = UP_HARM_NONE;
	if (!up_elf_at_addr(e, addr).s)
		return up_elf_refuse(why, "the file has no bytes at 0x%" PRIx64, addr);
	if (!check_section(&p))
		return false;
	if (e->machine == UP_M_X86_64 || e->machine == UP_M_I386)
		return check_x86(&p);
	return e->machine != UP_M_AARCH64 || check_arm64(&p);
}
