/*
 * Instructions have no marks of their own, so boundaries are found by decoding from a place that is
 * known to be one: the start of the function around the address. The unwinder's table tells it even
 * for stripped files; symbols tell it otherwise. Without either (a stripped file without unwind
 * information) nothing better can be said than that the bytes at the address are an instruction.
 */
#include "runtime/elf_probe.h"

#include <inttypes.h>
#include <stdio.h>

#include "runtime/elf_frames.h"
#include "runtime/insn.h"

/* How decoding from a function's start to an address went. */
struct walk {
	uint64_t start;  /* where it began */
	uint64_t before; /* the last instruction that starts before the address */
	uint64_t after;  /* the first one at or behind it */
	bool is_stuck;   /* the bytes at `before` are no instruction */
};

static bool decode_at(const struct up_elf *e, uint64_t addr, struct up_insn *out)
{
	struct up_elf_span code = up_elf_at_addr(e, addr);

	return code.s && up_insn_decode(e->machine, code.s, code.len, out);
}

static void walk_to(const struct up_elf *e, uint64_t start, uint64_t addr, struct walk *w)
{
	struct up_elf_span code = up_elf_at_addr(e, start);
	struct up_insn insn;

	*w = (struct walk){ start, start, start, false };
	while (w->after < addr) {
		uint64_t in = w->after - start;

		w->before = w->after;
		if (in >= code.len ||
		    !up_insn_decode(e->machine, code.s + in, code.len - in, &insn)) {
			w->is_stuck = true;
			return;
		}
		w->after += insn.len;
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

static bool refuse_inside(struct up_elf_symbols *s, const struct walk *w, uint64_t addr,
			  struct up_why *why)
{
	char here[300], before[300], after[300];

	write_place(s, addr, here, sizeof(here));
	write_place(s, w->before, before, sizeof(before));
	write_place(s, w->after, after, sizeof(after));
	up_elf_refuse(why, "%s is inside the %" PRIu64 "-byte instruction at %s", here,
		      w->after - w->before, before);
	up_elf_hint(why, "use %s or %s", before, after);
	return false;
}

static bool refuse_stuck(struct up_elf_symbols *s, const struct walk *w, uint64_t addr,
			 struct up_why *why)
{
	char here[300], stuck[300];

	write_place(s, addr, here, sizeof(here));
	write_place(s, w->before, stuck, sizeof(stuck));
	return up_elf_refuse(why,
			     "it cannot be told whether an instruction starts at %s: the bytes at "
			     "%s are none",
			     here, stuck);
}

static bool refuse_bytes(struct up_elf_symbols *s, uint64_t addr, struct up_why *why)
{
	char here[300];

	write_place(s, addr, here, sizeof(here));
	return up_elf_refuse(why, "the bytes at %s are no instruction", here);
}

static bool refuse_insn(const struct up_elf *e, struct up_elf_symbols *s, uint64_t addr,
			const struct up_insn *insn, struct up_why *why)
{
	const unsigned char *p = up_elf_at_addr(e, addr).s;
	char here[300], bytes[3 * UP_INSN_MAX + 1] = "";

	for (unsigned i = 0; i < insn->len; i++)
		snprintf(bytes + 3 * i, 4, " %02x", p[i]);
	write_place(s, addr, here, sizeof(here));
	up_elf_refuse(why, "the kernel cannot probe the instruction at %s: %s (%s)", here,
		      insn->refused, bytes + 1);
	up_elf_hint(why, "probe another instruction of the function");
	return false;
}

/*
 * Is addr a boundary, counted from `start`? When it is not, the nearest symbol gets a say: behind
 * the function at `start` may stand code of which the unwinder knows nothing.
 */
static bool check_boundary(const struct up_elf *e, struct up_elf_symbols *s, uint64_t start,
			   uint64_t addr, struct up_why *why)
{
	struct up_symbol f;
	struct walk w;

	walk_to(e, start, addr, &w);
	if (!w.is_stuck && w.after == addr)
		return true;
	if (up_elf_symbols_at(s, addr, &f) && f.addr > start)
		walk_to(e, f.addr, addr, &w);
	if (!w.is_stuck && w.after == addr)
		return true;
	return w.is_stuck ? refuse_stuck(s, &w, addr, why) : refuse_inside(s, &w, addr, why);
}

static bool check_arm64(uint64_t addr, struct up_why *why)
{
	if (addr % 4 == 0)
		return true;
	up_elf_refuse(why, "0x%" PRIx64 " is inside an instruction: they stand at multiples of 4",
		      addr);
	up_elf_hint(why, "use 0x%" PRIx64 " or 0x%" PRIx64, addr - addr % 4, addr - addr % 4 + 4);
	return false;
}

static bool check_x86(const struct up_elf *e, struct up_elf_symbols *s, uint64_t addr,
		      struct up_why *why)
{
	struct up_symbol f;
	uint64_t start;

	if (up_elf_frame_start(e, addr, &start))
		return start == addr || check_boundary(e, s, start, addr, why);
	if (up_elf_symbols_at(s, addr, &f))
		return f.addr == addr || check_boundary(e, s, f.addr, addr, why);
	return true;
}

bool up_elf_can_probe(const struct up_elf *e, struct up_elf_symbols *s, uint64_t addr,
		      struct up_why *why)
{
	bool is_x86 = e->machine == UP_M_X86_64 || e->machine == UP_M_I386;
	struct up_insn insn;

	if (e->machine == UP_M_OTHER)
		return true;
	if (is_x86 ? !check_x86(e, s, addr, why) : !check_arm64(addr, why))
		return false;
	if (!decode_at(e, addr, &insn))
		return refuse_bytes(s, addr, why);
	return !insn.refused || refuse_insn(e, s, addr, &insn, why);
}
