/*
 * How long reading may take: files made to cost far more than their size. What is not bounded takes
 * minutes to hours here, and the alarm ends the test.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/elf_flow.h"
#include "runtime/elf_gotab.h"
#include "tests/unit/unit.h"

#define SECONDS 60 /* for all of it, sanitizers too */

#define HEAD 0x1000u /* bytes before the contents */
#define NAMES "\0.eh_frame\0.gopclntab\0.symtab\0f\0g"

static struct up_why why;

/* A program whose one segment is the whole file, with one section beside those of its symbols. */
struct image {
	unsigned char *s;
	size_t size;
	struct up_elf *e;
	struct up_elf_symbols *symbols;
};

static void put(struct image *m, size_t at, const void *v, size_t len)
{
	CHECK(at + len <= m->size);
	memcpy(m->s + at, v, len);
}

static void put32(struct image *m, size_t at, uint64_t v)
{
	uint32_t word = (uint32_t)v;

	put(m, at, &word, sizeof(word));
}

static void begin(struct image *m, size_t size)
{
	*m = (struct image){ calloc(1, HEAD + size), HEAD + size, NULL, NULL };
}

/* Two functions, of which f has `len` bytes; a section with the name at `name` of NAMES. */
static void finish(struct image *m, uint64_t f, uint64_t len, unsigned name, uint64_t from)
{
	unsigned char info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	Elf64_Ehdr h = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				      EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(h),
			 .e_shoff = 0x200,
			 .e_ehsize = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 4,
			 .e_shstrndx = 3 };
	Elf64_Phdr p = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = m->size, .p_memsz = m->size
	};
	Elf64_Sym symbols[] = { { 0 },
				{ 30, info, 0, 1, f, len },
				{ 32, info, 0, 1, f + len, HEAD + 16 } };
	Elf64_Shdr sections[] = {
		{ 0 },
		{ name, SHT_PROGBITS, SHF_ALLOC, from, from, m->size - from, 0, 0, 1, 0 },
		{ 22, SHT_SYMTAB, 0, 0, 0x400, sizeof(symbols), 3, 0, 8, sizeof(symbols[0]) },
		{ 0, SHT_STRTAB, 0, 0, 0x500, sizeof(NAMES), 0, 0, 1, 0 },
	};

	put(m, 0, &h, sizeof(h));
	put(m, sizeof(h), &p, sizeof(p));
	put(m, 0x200, sections, sizeof(sections));
	put(m, 0x400, symbols, sizeof(symbols));
	put(m, 0x500, NAMES, sizeof(NAMES));
	m->e = up_elf_open_bytes(m->s, m->size, "it", &why);
	m->symbols = m->e ? up_elf_symbols_new(m->e) : NULL;
	CHECK(m->symbols);
}

static void end(struct image *m)
{
	up_elf_symbols_free(m->symbols);
	up_elf_free(m->e);
	free(m->s);
}

/* A common entry at `at` whose letters do not end, and many entries that share it. */
static void check_letters(void)
{
	enum { COMMON = 4 << 20, NR = 400000 };
	struct up_elf_frame f;
	struct image m;

	begin(&m, COMMON + 4 + NR * 16);
	put32(&m, HEAD, COMMON);
	memset(m.s + HEAD + 8, 'B', COMMON - 4);
	m.s[HEAD + 8] = 1;
	for (unsigned i = 0; i < NR; i++) {
		size_t at = HEAD + COMMON + 4 + i * 16;

		put32(&m, at, 12);
		put32(&m, at + 4, at + 4 - HEAD);
	}
	finish(&m, HEAD, 16, 1, HEAD);
	CHECK(!up_elf_has_handlers(m.e));
	CHECK(!up_elf_frame_at(m.e, HEAD, &f));
	end(&m);
}

static bool count_exit(void *arg, const struct up_exit *x)
{
	(void)x;
	++*(unsigned *)arg;
	return true;
}

/* A function of jumps to another one, and a long description of where its stack is. */
static void check_leaps(void)
{
	enum { CODE = HEAD + 16, LEN = 4000000, MORE = 4 << 20 };
	static const unsigned char common[] = { 16,  0, 0, 0,    0,  0, 0,    0,  1, 'z',
						'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8 };
	struct up_elf_body b;
	unsigned nr = 0;
	struct image m;
	size_t at = CODE + LEN + HEAD + 16;

	begin(&m, LEN + HEAD + 64 + MORE + 64);
	for (size_t i = 0; i < LEN; i += 5) {
		m.s[CODE + i] = 0xe9;
		put32(&m, CODE + i + 1, LEN - i - 5);
	}
	put(&m, at, common, sizeof(common));
	put32(&m, at + 20, 13 + MORE);
	put32(&m, at + 24, 24);
	put32(&m, at + 28, CODE - (at + 28));
	put32(&m, at + 32, LEN);
	finish(&m, CODE, LEN, 1, at);
	up_elf_body_read(&b, m.e, m.symbols, CODE);
	CHECK(b.nr_parts == 1 && b.parts[0].has_frame);
	CHECK(!up_elf_exits(&b, count_exit, &nr, &why) && !nr);
	CHECK(why.msg.s && strstr(why.msg.s, "f is left at too many places"));
	up_elf_body_fini(&b);
	end(&m);
}

/* Functions of Go whose names are the rests of one long name. */
static void check_names(void)
{
	enum { NAME = 16000, NR = 12000, FUNCS = 72 + NAME + NR, STRUCTURES = NR * 8 + 4 };
	uint64_t words[8] = { NR, 0, HEAD, 72, 0, 0, 0, FUNCS };
	struct up_elf_gotab t;
	struct image m;

	begin(&m, FUNCS + STRUCTURES + NR * 44);
	put32(&m, HEAD, 0xfffffff1);
	m.s[HEAD + 6] = 1;
	m.s[HEAD + 7] = 8;
	put(&m, HEAD + 8, words, sizeof(words));
	memset(m.s + HEAD + 72, 'a', NAME - 1);
	for (unsigned i = 0; i < NR; i++) {
		put32(&m, HEAD + FUNCS + i * 8, i);
		put32(&m, HEAD + FUNCS + i * 8 + 4, STRUCTURES + i * 44);
		put32(&m, HEAD + FUNCS + STRUCTURES + i * 44 + 4, i % 64);
	}
	put32(&m, HEAD + FUNCS + NR * 8, NR);
	finish(&m, HEAD, 16, 11, HEAD);
	CHECK(up_elf_gotab_read(m.e, &t) && t.nr && t.strings_len < 3 * m.size);
	up_elf_gotab_fini(&t);
	end(&m);
}

int main(void)
{
	alarm(SECONDS);
	check_letters();
	check_leaps();
	check_names();
	up_why_fini(&why);
	return unit_report("flow_work");
}
