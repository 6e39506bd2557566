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

static bool refuse_inside(const struct place *p, const struct walk *w)
{
	char here[300], before[300], after[300];

	write_place(p->s, p->addr, here, sizeof(here));
	write_place(p->s, w->before, before, sizeof(before));
	write_place(p->s, w->after, after, sizeof(after));
	up_elf_refuse(p->why, "%s is inside the %" PRIu64 "-byte instruction at %s", here,
		      w->after - w->before, before);
	up_elf_hint(p->why, "use %s or %s", before, after);
	return false;
}

static bool refuse_stuck(const struct place *p, const struct walk *w)
{
	char here[300], stuck[300];

	write_place(p->s, p->addr, here, sizeof(here));
	write_place(p->s, w->before, stuck, sizeof(stuck));
	return up_elf_refuse(p->why,
			     "it cannot be told whether an instruction starts at %s: Capstone "
			     "knows none that has the bytes at %s",
			     here, stuck);
}

static bool refuse_bytes(const struct place *p)
{
	char here[300];

	write_place(p->s, p->addr, here, sizeof(here));
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
	if (has_symbol && f.addr == p->addr)
		return check_insn(p, 0);
	if (!up_disasm_load(p->d))
		return refuse_blind(p);
	if (!has_frame && has_symbol)
		start = f.addr;
	if ((has_frame || has_symbol) && !check_boundary(p, start, has_symbol ? &f : NULL))
		return false;
	struct up_elf_span code = up_elf_at_addr(p->e, p->addr);
	unsigned len = up_disasm_length(p->d, p->e->machine, code.s, code.len);
	return len ? check_insn(p, len) : refuse_bytes(p);
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
		      uint64_t addr, struct up_why *why)
{
	struct place p = { e, s, d, addr, why };

	if (!up_elf_at_addr(e, addr).s)
		return up_elf_refuse(why, "the file has no bytes at 0x%" PRIx64, addr);
	if (!check_section(&p))
		return false;
	if (e->machine == UP_M_X86_64 || e->machine == UP_M_I386)
		return check_x86(&p);
	return e->machine != UP_M_AARCH64 || check_arm64(&p);
}
