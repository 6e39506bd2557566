/* A walk over the relocations: whoever asks does so for few slots. */
#include "runtime/elf_reloc.h"

#include <elf.h>
#include <string.h>

/* The relocation of a section for the slot; false when it has none. */
static bool find_relocation(const struct up_elf *e, const struct up_elf_section *s, uint64_t slot,
			    Elf64_Rela *out)
{
	struct up_elf_span all = up_elf_section_bytes(e, s);

	for (uint64_t at = 0; all.len >= sizeof(*out) && at <= all.len - sizeof(*out);
	     at += sizeof(*out)) {
		memcpy(out, all.s + at, sizeof(*out));
		if (out->r_offset == slot)
			return true;
	}
	return false;
}

/* The value of a symbol of the section's symbol table; false when it is not defined here. */
static bool find_symbol(const struct up_elf *e, const struct up_elf_section *s, uint64_t symbol,
			uint64_t *value)
{
	struct up_elf_section table;
	Elf64_Sym sym;

	if (!up_elf_section(e, s->link, &table))
		return false;
	struct up_elf_span all = up_elf_section_bytes(e, &table);
	if (symbol >= all.len / sizeof(sym))
		return false;
	memcpy(&sym, all.s + symbol * sizeof(sym), sizeof(sym));
	*value = sym.st_value;
	return sym.st_shndx != SHN_UNDEF;
}

/* The value, with what the file was loaded above its addresses. */
static bool is_relative(const struct up_elf *e, const Elf64_Rela *a)
{
	return ELF64_R_TYPE(a->r_info) ==
	       (e->machine == UP_M_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE);
}

bool up_elf_reloc_value(const struct up_elf *e, uint64_t slot, uint64_t *value, bool *is_import)
{
	struct up_elf_section s;
	Elf64_Rela a;

	*is_import = false;
	if ((e->machine != UP_M_X86_64 && e->machine != UP_M_AARCH64) || !e->is64)
		return false;
	for (uint64_t i = 1; up_elf_section(e, i, &s); i++) {
		if (s.type != SHT_RELA || !(s.flags & SHF_ALLOC) ||
		    !find_relocation(e, &s, slot, &a))
			continue;
		*value = (uint64_t)a.r_addend;
		if (is_relative(e, &a))
			return true;
		*is_import = !find_symbol(e, &s, ELF64_R_SYM(a.r_info), value);
		return !*is_import;
	}
	return false;
}
