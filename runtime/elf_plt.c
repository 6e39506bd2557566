/*
 * A stub jumps through a slot of the global offset table, or pushes the number of a relocation; the
 * relocation of either names the symbol. Stubs are read for x86 only.
 */
#include "runtime/elf_plt.h"

#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What a stub tells of its relocation. */
struct clue {
	uint64_t slot; /* where it will write, or 0 */
	bool has_push; /* then: */
	int pushed;    /* its number, in 32-bit code its offset */
};

static int32_t get32(const unsigned char *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Where %ebx points to in position-independent 32-bit code. */
static uint64_t find_got(const struct up_elf *e)
{
	struct up_elf_section s;
	uint64_t got = 0;

	for (uint64_t i = 1; up_elf_section(e, i, &s); i++) {
		if (!strcmp(s.name, ".got.plt"))
			return s.addr;
		if (!strcmp(s.name, ".got"))
			got = s.addr;
	}
	return got;
}

/* Reads the stub that starts at addr. */
static struct clue read_stub(const struct up_elf *e, uint64_t addr, uint64_t size)
{
	struct up_elf_span code = up_elf_at_addr(e, addr);
	struct clue clue = { 0 };

	if (size > code.len)
		size = code.len;
	for (uint64_t at = 0; at + 5 <= size && !clue.has_push; at++) {
		const unsigned char *p = code.s + at;

		if (p[0] == 0x68) { /* push */
			clue.has_push = true;
			clue.pushed = get32(p + 1);
		} else if (p[0] == 0xff && at + 6 <= size && (p[1] == 0x25 || p[1] == 0xa3)) {
			uint64_t rel = (uint64_t)(int64_t)get32(p + 2);

			if (p[1] == 0xa3) /* jmp *disp(%ebx) */
				clue.slot = find_got(e) + rel;
			else /* jmp *disp(%rip), or an address in 32-bit code */
				clue.slot = e->is64 ? addr + at + 6 + rel : rel;
			if (!e->is64)
				clue.slot = (uint32_t)clue.slot;
			at += 5;
		}
	}
	return clue;
}

/* Relocation i of a section: where it writes and for which symbol. */
static bool get_relocation(Elf_Data *data, bool has_addend, int i, uint64_t *slot, uint64_t *symbol)
{
	GElf_Rela a;
	GElf_Rel r;

	if (has_addend ? !gelf_getrela(data, i, &a) : !gelf_getrel(data, i, &r))
		return false;
	*slot = has_addend ? a.r_offset : r.r_offset;
	*symbol = GELF_R_SYM(has_addend ? a.r_info : r.r_info);
	return true;
}

static const char *symbol_name(const struct up_elf *e, uint64_t table, uint64_t symbol)
{
	Elf_Scn *scn = elf_getscn(e->handle, table);
	GElf_Shdr h;
	GElf_Sym s;

	if (!symbol || symbol > INT_MAX || !gelf_getshdr(scn, &h) ||
	    !gelf_getsym(elf_getdata(scn, NULL), (int)symbol, &s))
		return NULL;
	const char *name = elf_strptr(e->handle, h.sh_link, s.st_name);
	return name && *name ? name : NULL;
}

/* The symbol that a section's relocations have for the clue, or NULL. */
static const char *search_section(const struct up_elf *e, const struct up_elf_section *s,
				  const struct clue *clue)
{
	Elf_Data *data = elf_getdata(elf_getscn(e->handle, s->index), NULL);
	int pushed = e->is64 ? clue->pushed : clue->pushed / (int)sizeof(Elf32_Rel);
	uint64_t slot, symbol;

	if (!data)
		return NULL;
	if (!clue->slot) {
		bool is_plt = strstr(s->name, ".plt");

		return is_plt && get_relocation(data, s->type == SHT_RELA, pushed, &slot, &symbol)
			       ? symbol_name(e, s->link, symbol)
			       : NULL;
	}
	for (int i = 0; get_relocation(data, s->type == SHT_RELA, i, &slot, &symbol); i++)
		if (slot == clue->slot)
			return symbol_name(e, s->link, symbol);
	return NULL;
}

static const char *search_relocations(const struct up_elf *e, const struct clue *clue)
{
	struct up_elf_section s;
	const char *name = NULL;

	if (!clue->slot && !clue->has_push)
		return NULL;
	for (uint64_t i = 1; !name && up_elf_section(e, i, &s); i++)
		if ((s.type == SHT_RELA || s.type == SHT_REL) && s.flags & SHF_ALLOC)
			name = search_section(e, &s, clue);
	return name;
}

bool up_elf_stub_at(const struct up_elf *e, uint64_t addr, struct up_elf_stub *out)
{
	struct up_elf_section s;

	if (!up_elf_section_at(e, addr, &s) ||
	    (strcmp(s.name, ".plt") != 0 && strcmp(s.name, ".plt.sec") != 0 &&
	     strcmp(s.name, ".plt.got") != 0))
		return false;
	*out = (struct up_elf_stub){ .symbol = NULL };
	snprintf(out->section, sizeof(out->section), "%s", s.name);
	if (e->machine != UP_M_X86_64 && e->machine != UP_M_I386)
		return true;
	uint64_t size = s.entsize == 8 || s.entsize == 16 ? s.entsize : 16;
	uint64_t start = addr - (addr - s.addr) % size;
	/* The first of .plt is what the others jump to: it pushes no number but a slot. */
	if (start == s.addr && !strcmp(s.name, ".plt"))
		return true;
	struct clue clue = read_stub(e, start, size);
	out->symbol = search_relocations(e, &clue);
	return true;
}
