/*
 * Any bytes as the code of functions and as the unwinder's tables of a file: reading them must end,
 * stay inside, and find nothing but instructions. The first bytes choose the processor and sizes.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/elf_flow.h"
#include "runtime/elf_risk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CODE 0x1000u
#define FRAMES 0x2000u
#define HEADER 0x3000u
#define OTHER 0x3800u /* symbols, names, sections */
#define IMAGE 0x4000u
#define PIECE 0x800u /* the last piece of the code: a moved part, and another function */

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* Copies up to `room` bytes of the input; returns how many. */
static size_t fill(unsigned char *to, size_t room, const uint8_t **data, size_t *size)
{
	size_t nr = *size < room ? *size : room;

	memcpy(to, *data, nr);
	*data += nr;
	*size -= nr;
	return nr;
}

static void put_symbols(unsigned char *image, unsigned len)
{
	static const char names[] = "\0f\0f.cold\0g\0.eh_frame\0.symtab\0.strtab";
	Elf64_Sym sym[] = {
		{ 0 },
		{ .st_name = 1,
		  .st_info = STT_FUNC,
		  .st_shndx = 1,
		  .st_value = CODE,
		  .st_size = len },
		{ .st_name = 3,
		  .st_info = STT_FUNC,
		  .st_shndx = 1,
		  .st_value = CODE + PIECE,
		  .st_size = PIECE / 2 },
		{ .st_name = 10,
		  .st_info = STT_FUNC,
		  .st_shndx = 1,
		  .st_value = CODE + PIECE + PIECE / 2,
		  .st_size = PIECE / 4 },
	};
	Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_name = 12,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC,
		  .sh_addr = FRAMES,
		  .sh_offset = FRAMES,
		  .sh_size = HEADER - FRAMES },
		{ .sh_name = 22,
		  .sh_type = SHT_SYMTAB,
		  .sh_offset = OTHER,
		  .sh_size = sizeof(sym),
		  .sh_link = 3,
		  .sh_entsize = sizeof(sym[0]) },
		{ .sh_name = 30,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = OTHER + 0x100,
		  .sh_size = sizeof(names) },
	};

	memcpy(image + OTHER, sym, sizeof(sym));
	memcpy(image + OTHER + 0x100, names, sizeof(names));
	memcpy(image + OTHER + 0x200, sections, sizeof(sections));
}

/* Two functions for the unwinder, described at places of the input's choice. */
static void put_header(unsigned char *image, const uint8_t *choice)
{
	unsigned char head[12] = { 1, 0x1b, 3, 0x3b };
	uint32_t nr = 2;
	int32_t pairs[] = {
		(int32_t)(CODE - HEADER),
		(int32_t)(FRAMES - HEADER) + choice[0],
		(int32_t)(CODE + PIECE - HEADER),
		(int32_t)(FRAMES - HEADER) + choice[1],
	};

	memcpy(head + 8, &nr, sizeof(nr));
	memcpy(image + HEADER, head, sizeof(head));
	memcpy(image + HEADER + sizeof(head), pairs, sizeof(pairs));
}

static void put_head(unsigned char *image)
{
	Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_shoff = OTHER + 0x200,
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
	Elf64_Phdr p[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = IMAGE, .p_memsz = IMAGE },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_flags = PF_R,
		  .p_offset = HEADER,
		  .p_vaddr = HEADER,
		  .p_filesz = 28,
		  .p_memsz = 28 },
	};

	memcpy(image, &h, sizeof(h));
	memcpy(image + sizeof(h), p, sizeof(p));
}

/* What was found last. */
struct seen {
	struct up_elf_body *b;
	uint64_t last;
};

static bool check_exit(void *arg, const struct up_exit *e)
{
	struct seen *s = arg;
	struct up_native i;

	require(e->addr > s->last && up_elf_body_insn(s->b, e->addr, &i));
	require(e->is_tail ? i.flow == UP_FLOW_JUMP || i.flow == UP_FLOW_INDIRECT
			   : i.flow == UP_FLOW_RETURN);
	s->last = e->addr;
	return true;
}

static void check_entries(struct up_elf_body *b, enum up_nops nops)
{
	struct up_entry_at at[UP_MAX_ENTRIES];
	struct up_native i;
	unsigned nr = up_elf_entries(b, UP_NOP5_HARMS, nops, at, UP_MAX_ENTRIES);

	require(nr >= 1 && nr <= UP_MAX_ENTRIES && at[0].addr == b->addr);
	require(!at[0].sp_lower && !at[0].regs && !at[0].is_needed);
	for (unsigned k = 1; k < nr; k++) {
		require(at[k].addr > at[k - 1].addr && up_elf_body_insn(b, at[k].addr, &i));
		require(at[k].is_needed || at[k].cost < at[0].cost);
		require(!up_elf_body_is_aim(b, at[k].addr));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum up_machine machines[] = { UP_M_X86_64, UP_M_I386, UP_M_AARCH64 };
	struct up_why why = { .harm = UP_HARM_NONE };
	struct up_elf_body b;
	struct up_buf risk = { 0 };

	if (size < 6)
		return 0;
	unsigned char *image = calloc(1, IMAGE);
	put_head(image);
	enum up_machine machine = machines[data[0] % 3];
	put_symbols(image, 1 + (data[2] | data[3] << 8) % (PIECE * 2));
	put_header(image, data + 4);
	enum up_nops nops = data[1] % 3;
	data += 6;
	size -= 6;
	fill(image + FRAMES, 256, &data, &size);
	fill(image + CODE, PIECE * 2, &data, &size);
	struct up_elf *e = up_elf_open_bytes(image, IMAGE, "it", &why);
	require(e);
	e->machine = machine; /* of others a machine opens no files */
	struct up_elf_symbols *s = up_elf_symbols_new(e);
	up_elf_body_read(&b, e, s, CODE);
	struct seen seen = { &b, 0 };
	up_elf_exits(&b, check_exit, &seen, &why);
	check_entries(&b, nops);
	up_elf_return_risk(e, s, &risk);
	up_elf_body_fini(&b);
	up_elf_symbols_free(s);
	up_elf_free(e);
	up_buf_fini(&risk);
	up_why_fini(&why);
	free(image);
	return 0;
}
