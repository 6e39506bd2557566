/*
 * ELF files: hand-made ones of both classes, what is refused, real ones against nm and objdump, and
 * a run of damaged ones, which must neither crash nor be read outside their bytes.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/elf_frames.h"
#include "runtime/elf_plt.h"
#include "runtime/elf_probe.h"
#include "runtime/elf_symbols.h"
#include "runtime/resolver.h"
#include "tests/unit/elf_helpers.h"

/* Places with known bytes, for what can be probed. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl up_test_code\n .type up_test_code,@function\n"
	"up_test_code:\n .cfi_startproc\n"
	" .byte 0x55\n"           /* +0 push */
	" .byte 0x48,0x89,0xe5\n" /* +1 mov */
	" .byte 0xf0,0xff,0x07\n" /* +4 lock incl (%rdi) */
	" .byte 0xcc\n"           /* +7 int3 */
	" .byte 0x5d\n"           /* +8 pop */
	" .byte 0xc3\n"           /* +9 ret */
	" .cfi_endproc\n .size up_test_code,.-up_test_code\n"
	".type up_test_unsized,@function\n"
	"up_test_unsized:\n nop\n nop\n ret\n"
	"up_test_label:\n nop\n ret\n"
	".type up_test_jump,@function\n"
	"up_test_jump:\n .byte 0xeb,0x01,0x06,0xc3\n" /* a byte that is no instruction, jumped over
						       */
	".size up_test_jump,.-up_test_jump\n"
	".p2align 6\n.type up_test_nop5,@function\n"
	"up_test_nop5:\n .cfi_startproc\n"
	" endbr64\n"                        /* +0 */
	" .byte 0x0f,0x1f,0x44,0x00,0x00\n" /* +4 */
	" push %rbp\n"                      /* +9 */
	" .byte 0x0f,0x1f,0x44,0x00,0x00\n" /* +10 */
	" .byte 0x0f,0x1f,0x44,0x00,0x00\n" /* +15 */
	" pop %rbp\n"                       /* +20 */
	"up_test_nop5_label:\n"
	" .byte 0x0f,0x1f,0x44,0x00,0x00\n" /* +21 */
	" lock incl (%rdi)\n"               /* +26 */
	" ret\n"
	" .cfi_endproc\n .size up_test_nop5,.-up_test_nop5\n"
	".p2align 12\n.type up_test_page,@function\n"
	"up_test_page:\n .cfi_startproc\n"
	" .skip 4092, 0x90\n .byte 0x0f,0x1f,0x44,0x00,0x00\n ret\n" /* +0xffc: into the next page
								      */
	" .cfi_endproc\n .size up_test_page,.-up_test_page\n");
#endif

static struct found find(struct up_elf_symbols *s, enum up_query_kind kind, const char *pattern)
{
	struct up_query q = { kind, pattern, NULL };
	struct found f = { 0 };

	if (up_elf_symbols_find(s, "test", &q, note, &f, &why) < 0)
		f.nr = 9999;
	return f;
}

/* ---- a small program, made by hand, of either class ---- */

#define TEXT 0x401000u
#define DATA 0x403000u

/* Fields of one symbol. */
struct sym {
	const char *name; /* "" for none */
	uint64_t value;   /* st_value */
	uint64_t size;    /* st_size */
	unsigned info;    /* st_info */
	unsigned shndx;   /* st_shndx */
};

#define INFO(bind, type) ELF64_ST_INFO(bind, type)

static const struct sym syms[] = {
	{ "", 0, 0, 0, 0 },
	{ "a.c", 0, 0, INFO(STB_LOCAL, STT_FILE), SHN_ABS },
	{ "", TEXT, 0, INFO(STB_LOCAL, STT_SECTION), 1 },
	{ "helper", TEXT + 0x40, 0x10, INFO(STB_LOCAL, STT_FUNC), 1 },
	{ "$x", TEXT + 0x48, 0, INFO(STB_LOCAL, STT_NOTYPE), 1 },
	{ ".L3", TEXT + 0x49, 0, INFO(STB_LOCAL, STT_NOTYPE), 1 },
	{ "main", TEXT, 0x30, INFO(STB_GLOBAL, STT_FUNC), 1 },
	{ "__main_alias", TEXT, 0x30, INFO(STB_GLOBAL, STT_FUNC), 1 },
	{ "inner", TEXT + 0x10, 0, INFO(STB_LOCAL, STT_NOTYPE), 1 },
	{ "unsized", TEXT + 0x60, 0, INFO(STB_GLOBAL, STT_FUNC), 1 },
	{ "pick", TEXT + 0x70, 8, INFO(STB_GLOBAL, STT_GNU_IFUNC), 1 },
	{ "old@V_1", TEXT + 0x80, 8, INFO(STB_GLOBAL, STT_FUNC), 1 },
	{ "old@@V_2", TEXT + 0x88, 8, INFO(STB_GLOBAL, STT_FUNC), 1 },
	{ "table", DATA, 8, INFO(STB_GLOBAL, STT_OBJECT), 2 },
	{ "strange", DATA + 8, 8, INFO(STB_GLOBAL, STT_FUNC), 2 },
	{ "tls", 0, 8, INFO(STB_GLOBAL, STT_TLS), 2 },
	{ "puts", 0, 0, INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF },
	{ "fixed", 1, 0, INFO(STB_GLOBAL, STT_NOTYPE), SHN_ABS },
};

#define NR_SYMS (sizeof(syms) / sizeof(syms[0]))

/* Names, one after the other; returns the offset of the Nth. */
static uint32_t put_names(unsigned char *to, size_t n)
{
	uint32_t off = 1;

	for (size_t i = 0; i < n; i++) {
		memcpy(to + off, syms[i].name, strlen(syms[i].name) + 1);
		off += (uint32_t)strlen(syms[i].name) + 1;
	}
	return off;
}

#define IMAGE_SIZE 0x3000

#define MAKE_IMAGE(bits, class_, machine_)                               \
	static unsigned char *make_image##bits(void)                     \
	{                                                                \
		unsigned char *b = calloc(1, IMAGE_SIZE);                \
		Elf##bits##_Ehdr *h = (void *)b;                         \
		Elf##bits##_Phdr *p = (void *)(b + sizeof(*h));          \
		Elf##bits##_Shdr *s = (void *)(b + 0x2800);              \
		Elf##bits##_Sym *y = (void *)(b + 0x2200);               \
                                                                         \
		memcpy(h->e_ident, ELFMAG, SELFMAG);                     \
		h->e_ident[EI_CLASS] = class_;                           \
		h->e_ident[EI_DATA] = ELFDATA2LSB;                       \
		h->e_ident[EI_VERSION] = EV_CURRENT;                     \
		h->e_type = ET_EXEC;                                     \
		h->e_machine = machine_;                                 \
		h->e_phoff = sizeof(*h);                                 \
		h->e_phentsize = sizeof(*p);                             \
		h->e_phnum = 2;                                          \
		h->e_shoff = 0x2800;                                     \
		h->e_shentsize = sizeof(*s);                             \
		h->e_shnum = 5;                                          \
		p[0].p_type = PT_LOAD;                                   \
		p[0].p_flags = PF_R | PF_X;                              \
		p[0].p_offset = 0x1000;                                  \
		p[0].p_vaddr = TEXT;                                     \
		p[0].p_filesz = p[0].p_memsz = 0x100;                    \
		p[1].p_type = PT_LOAD;                                   \
		p[1].p_flags = PF_R | PF_W;                              \
		p[1].p_offset = 0x2000;                                  \
		p[1].p_vaddr = DATA;                                     \
		p[1].p_filesz = 0x40;                                    \
		p[1].p_memsz = 0x100;                                    \
		memset(b + 0x1000, 0x90, 0x100);                         \
		for (size_t i = 0; i < NR_SYMS; i++) {                   \
			y[i].st_name = put_names(b + 0x2600, i);         \
			y[i].st_value = (Elf##bits##_Addr)syms[i].value; \
			y[i].st_size = (Elf##bits##_Word)syms[i].size;   \
			y[i].st_info = (unsigned char)syms[i].info;      \
			y[i].st_shndx = (uint16_t)syms[i].shndx;         \
		}                                                        \
		s[1].sh_type = SHT_PROGBITS;                             \
		s[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;               \
		s[1].sh_addr = TEXT;                                     \
		s[1].sh_offset = 0x1000;                                 \
		s[1].sh_size = 0xf0;                                     \
		s[3].sh_type = SHT_SYMTAB;                               \
		s[3].sh_link = 4;                                        \
		s[3].sh_offset = 0x2200;                                 \
		s[3].sh_size = NR_SYMS * sizeof(*y);                     \
		s[4].sh_type = SHT_STRTAB;                               \
		s[4].sh_offset = 0x2600;                                 \
		s[4].sh_size = put_names(b + 0x2600, NR_SYMS);           \
		return b;                                                \
	}

#if defined(__x86_64__)
MAKE_IMAGE(64, ELFCLASS64, EM_X86_64)
MAKE_IMAGE(32, ELFCLASS32, EM_386)
#elif defined(__aarch64__)
MAKE_IMAGE(64, ELFCLASS64, EM_AARCH64)
#else
MAKE_IMAGE(64, ELFCLASS64, EM_RISCV)
#endif

static void check_places(const struct up_elf *e)
{
	uint64_t out = 0;

	CHECK(up_elf_to_offset(e, TEXT + 5, &out) == UP_PLACE_CODE && out == 0x1005);
	CHECK(up_elf_to_offset(e, TEXT + 0x100, &out) == UP_PLACE_NOWHERE);
	CHECK(up_elf_to_offset(e, TEXT - 1, &out) == UP_PLACE_NOWHERE);
	CHECK(up_elf_to_offset(e, DATA + 0x3f, &out) == UP_PLACE_DATA && out == 0x203f);
	CHECK(up_elf_to_offset(e, DATA + 0x40, &out) == UP_PLACE_NOWHERE);
	CHECK(up_elf_to_addr(e, 0x10ff, &out) == UP_PLACE_CODE && out == TEXT + 0xff);
	CHECK(up_elf_to_addr(e, 0x1100, &out) == UP_PLACE_NOWHERE);
	CHECK(up_elf_to_addr(e, 0x2000, &out) == UP_PLACE_DATA && out == DATA);
	CHECK(up_elf_to_addr(e, UINT64_MAX, &out) == UP_PLACE_NOWHERE);
}

static void check_names(struct up_elf_symbols *s)
{
	struct found f = find(s, UP_QUERY_EXACT, "helper");

	CHECK(f.nr == 1 && f.last.kind == UP_SYM_FUNC && f.last.is_local && f.last.size == 0x10);
	f = find(s, UP_QUERY_EXACT, "main");
	CHECK(f.nr == 1 && f.last.addr == TEXT && !f.last.is_local);
	f = find(s, UP_QUERY_EXACT, "alias"); /* the end of another name is no name */
	CHECK(f.nr == 0);
	f = find(s, UP_QUERY_EXACT, "table");
	CHECK(f.nr == 1 && f.last.kind == UP_SYM_DATA);
	f = find(s, UP_QUERY_EXACT, "strange"); /* a function outside of the code */
	CHECK(f.nr == 1 && f.last.kind == UP_SYM_DATA);
	f = find(s, UP_QUERY_EXACT, "tls");
	CHECK(f.nr == 1 && f.last.kind == UP_SYM_DATA);
	f = find(s, UP_QUERY_EXACT, "pick");
	CHECK(f.nr == 1 && f.last.kind == UP_SYM_IFUNC);
	f = find(s, UP_QUERY_EXACT, "inner");
	CHECK(f.nr == 1 && f.last.kind == UP_SYM_NOTYPE);
	CHECK(find(s, UP_QUERY_EXACT, "puts").nr == 0);
	CHECK(find(s, UP_QUERY_EXACT, "fixed").nr == 0);
	CHECK(find(s, UP_QUERY_EXACT, "a.c").nr == 0);
	CHECK(find(s, UP_QUERY_EXACT, "$x").nr == 0);
	CHECK(find(s, UP_QUERY_EXACT, ".L3").nr == 0);
	CHECK(find(s, UP_QUERY_EXACT, "").nr == 0);
	CHECK(find(s, UP_QUERY_GLOB, "*").nr == 11);
	CHECK(find(s, UP_QUERY_GLOB, "*main*").nr == 2);
	CHECK(find(s, UP_QUERY_GLOB, "[hm]*").nr == 2);
	CHECK(find(s, UP_QUERY_GLOB, "m?in").nr == 1);
	CHECK(find(s, UP_QUERY_GLOB, "nothing*").nr == 0);
}

static void check_versions(struct up_elf_symbols *s)
{
	struct up_query q = { UP_QUERY_EXACT, "old", "V_2" };
	struct found f = find(s, UP_QUERY_EXACT, "old");

	CHECK(f.nr == 2 && !strcmp(f.last.name, "old") && !strcmp(f.last.version, "V_2"));
	const char *kept = f.last.name;
	f = (struct found){ 0 };
	up_elf_symbols_find(s, "test", &q, note, &f, &why);
	CHECK(f.nr == 1 && f.last.addr == TEXT + 0x88 && f.last.name == kept);
	q.version = "V_3";
	f = (struct found){ 0 };
	CHECK(up_elf_symbols_find(s, "test", &q, note, &f, &why) == 0 && f.nr == 0);
	CHECK(find(s, UP_QUERY_GLOB, "ol?").nr == 2);
	q = (struct up_query){ UP_QUERY_GLOB, "*", NULL };
	f = (struct found){ .stop_at = 3 };
	CHECK(up_elf_symbols_find(s, "test", &q, note, &f, &why) == 0 && f.nr == 3);
}

static const char *name_at(struct up_elf_symbols *s, uint64_t addr)
{
	struct up_symbol sym;

	return up_elf_symbols_at(s, addr, &sym) ? sym.name : "-";
}

static void check_addresses(struct up_elf_symbols *s)
{
	CHECK(!strcmp(name_at(s, TEXT), "main"));        /* not __main_alias */
	CHECK(!strcmp(name_at(s, TEXT + 0x18), "main")); /* not the label inside */
	CHECK(!strcmp(name_at(s, TEXT + 0x30), "-"));    /* between two functions */
	CHECK(!strcmp(name_at(s, TEXT + 0x4f), "helper"));
	CHECK(!strcmp(name_at(s, TEXT + 0x50), "-"));
	CHECK(!strcmp(name_at(s, TEXT + 0x6f), "unsized")); /* up to the next symbol */
	CHECK(!strcmp(name_at(s, TEXT + 0x88), "old"));
	CHECK(!strcmp(name_at(s, TEXT - 1), "-"));
	CHECK(!strcmp(name_at(s, DATA), "-"));
	CHECK(!strcmp(name_at(s, UINT64_MAX), "-"));
}

static void check_image(unsigned char *bytes)
{
	struct up_elf *e = up_elf_open_bytes(bytes, IMAGE_SIZE, "made", &why);
	struct up_nearest near;
	struct up_buf b = { 0 };

	CHECK(e);
	if (!e)
		return;
	struct up_elf_symbols *s = up_elf_symbols_new(e);
	CHECK(!e->is_pie && e->nr_load == 2 && e->nr_sections == 5);
	check_places(e);
	check_names(s);
	check_versions(s);
	check_addresses(s);
	up_nearest_init(&near, "mian", 4);
	up_elf_symbols_near(s, &near);
	up_nearest_list(&near, &b);
	CHECK_BUF(&b, "`main`");
	up_buf_fini(&b);
	up_elf_symbols_free(s);
	up_elf_free(e);
	free(bytes);
}

/* ---- refusals ---- */

static void refuse(const void *bytes, size_t size, const char *message)
{
	struct up_elf *e = up_elf_open_bytes(bytes, size, "it", &why);

	CHECK(!e);
	CHECK(says(message));
	up_elf_free(e);
}

static void check_refusals(void)
{
	unsigned char *b = make_image64();
	Elf64_Ehdr *h = (void *)b;
	Elf64_Phdr *p = (void *)(b + sizeof(*h));
	const Elf64_Ehdr good = *h;

	refuse("", 0, "it is empty");
	refuse("#! /bin/sh -e\nls\n", 17, "it is a script run by /bin/sh, not");
	CHECK(hints("\"/bin/sh\":FUNCTION"));
	refuse("#!", 2, "not an ELF file");
	refuse("!<arch>\nfile", 12, "static library");
	refuse("/* GNU ld script\n*/", 19, "text for the linker");
	refuse("hello, world", 12, "not an ELF file");
	refuse("\033[31m#", 6, "it is not");
	refuse(b, 40, "cut off");
	refuse(b, 63, "cut off");
	h->e_ident[EI_CLASS] = 7;
	refuse(b, IMAGE_SIZE, "class 7");
	*h = good;
	h->e_ident[EI_VERSION] = 9;
	refuse(b, IMAGE_SIZE, "its version is not 1");
	*h = good;
	h->e_ident[EI_DATA] = ELFDATA2MSB;
	refuse(b, IMAGE_SIZE, "other byte order");
	*h = good;
	h->e_type = ET_REL;
	refuse(b, IMAGE_SIZE, "object file");
	h->e_type = ET_CORE;
	refuse(b, IMAGE_SIZE, "core dump");
	h->e_type = 77;
	refuse(b, IMAGE_SIZE, "ELF type 77");
	*h = good;
#if defined(__x86_64__)
	h->e_machine = EM_AARCH64;
	refuse(b, IMAGE_SIZE, "for arm64, which this machine");
	h->e_machine = 4711;
	refuse(b, IMAGE_SIZE, "another processor");
#endif
	*h = good;
	h->e_phnum = 0;
	refuse(b, IMAGE_SIZE, "no program headers");
	h->e_phnum = 60000;
	refuse(b, IMAGE_SIZE, "program headers are not in the file");
	*h = good;
	h->e_phoff = UINT64_MAX - 8;
	refuse(b, IMAGE_SIZE, "program headers are not in the file");
	*h = good;
	p[0].p_filesz = 0;
	refuse(b, IMAGE_SIZE, "holds no code");
	p[0].p_filesz = 0x100;
	p[0].p_offset = UINT64_MAX - 4;
	refuse(b, IMAGE_SIZE, "holds no code");
	free(b);
}

/* Tables that are not in the file are an error, section headers that are not are no loss. */
static void check_broken_tables(void)
{
	unsigned char *b = make_image64();
	Elf64_Ehdr *h = (void *)b;
	Elf64_Shdr *sections = (void *)(b + h->e_shoff);
	struct up_query q = { UP_QUERY_GLOB, "*", NULL };
	struct found f = { 0 };

	sections[3].sh_size = IMAGE_SIZE;
	struct up_elf *e = up_elf_open_bytes(b, IMAGE_SIZE, "it", &why);
	struct up_elf_symbols *s = up_elf_symbols_new(e);
	CHECK(up_elf_symbols_find(s, "it", &q, note, &f, &why) == -ENOEXEC);
	CHECK(says("it is broken or cut off") && f.nr == 0);
	up_elf_symbols_free(s);
	up_elf_free(e);
	h->e_shoff = IMAGE_SIZE;
	e = up_elf_open_bytes(b, IMAGE_SIZE, "it", &why);
	s = up_elf_symbols_new(e);
	CHECK(e->nr_sections == 0);
	CHECK(up_elf_symbols_find(s, "it", &q, note, &f, &why) == 0 && f.nr == 0);
	up_elf_symbols_free(s);
	up_elf_free(e);
	free(b);
}

/* ---- real files ---- */

/* Every symbol that nm tells of is found at its address. `option` is "" or "-D". */
static void check_nm(const char *path, const char *option, unsigned limit)
{
	const struct up_object *o = open_object(path);
	char command[400], line[2000], type, name[1800];
	unsigned nr = 0, nr_missed = 0;
	unsigned long addr;

	snprintf(command, sizeof(command), "nm --defined-only %s '%s' 2>/dev/null", option,
		 o->path);
	FILE *p = popen(command, "r");
	while (p && fgets(line, sizeof(line), p) && nr < limit) {
		if (sscanf(line, "%lx %c %1799s", &addr, &type, name) != 3 || strchr("Aa", type))
			continue;
		char *at = strchr(name, '@'), *version = NULL;
		if (at && at > name) {
			version = at + (at[1] == '@' ? 2 : 1);
			*at = 0;
		}
		struct up_query q = { UP_QUERY_EXACT, name, version };
		struct found f = { .want = addr };
		up->find(up->ctx, o, &q, note, &f, &why);
		nr++;
		if (!f.has_want && nr_missed++ < 5)
			fprintf(stderr, "%s: not found: %s", path, line);
	}
	if (p)
		pclose(p);
	if (!nr)
		printf("elf: nm is not installed, or found nothing in %s\n", path);
	CHECK(nr_missed == 0);
}

/* As many symbols as nm has lines, debug information aside. */
static void check_count(const char *path)
{
	const struct up_object *o = open_object(path);
	struct up_query q = { UP_QUERY_GLOB, "*", NULL };
	char command[400], line[2000], type;
	struct found f = { 0 };
	unsigned nr = 0;

	snprintf(command, sizeof(command), "nm -D --defined-only '%s' 2>/dev/null", o->path);
	FILE *p = popen(command, "r");
	while (p && fgets(line, sizeof(line), p))
		nr += sscanf(line, "%*x %c", &type) == 1 && !strchr("Aa", type);
	if (p)
		pclose(p);
	struct up_elf_symbols *own = up_elf_symbols_new(up_elf_resolver_image(o));
	CHECK(up_elf_symbols_find(own, path, &q, note, &f, &why) == 0);
	CHECK(!nr || f.nr == nr);
	up_elf_symbols_free(own);
}

static void check_libc(void)
{
	const struct up_object *o = open_object("libc"), *again = open_object("libc.so.6");
	struct up_query q = { UP_QUERY_EXACT, "memcpy", NULL };
	struct found f = { 0 };
	struct up_symbol s;
	uint64_t off, addr;

	CHECK(o && o == again && o->is_pie && !strcmp(o->name, "libc"));
	if (!o)
		return;
	q.pattern = "malloc";
	CHECK(!up->find(up->ctx, o, &q, note, &f, &why) && f.nr >= 1 && f.last.kind == UP_SYM_FUNC);
	CHECK(up->to_offset(up->ctx, o, f.last.addr, &off) == UP_PLACE_CODE);
	CHECK(up->to_addr(up->ctx, o, off, &addr) == UP_PLACE_CODE && addr == f.last.addr);
	CHECK(up->func_at(up->ctx, o, f.last.addr + 4, &s) && s.addr == f.last.addr);
	CHECK(up->can_probe(up->ctx, o, f.last.addr, &why));
#if defined(__x86_64__) && defined(__GLIBC__)
	q = (struct up_query){ UP_QUERY_EXACT, "memcpy", "GLIBC_2.14" };
	f = (struct found){ 0 };
	CHECK(!up->find(up->ctx, o, &q, note, &f, &why) && f.nr == 1 &&
	      f.last.kind == UP_SYM_IFUNC && !strcmp(f.last.version, "GLIBC_2.14"));
	q.version = "GLIBC_2.2.5";
	f = (struct found){ 0 };
	CHECK(!up->find(up->ctx, o, &q, note, &f, &why) && f.nr == 1 && f.last.kind == UP_SYM_FUNC);
#endif
}

static void __attribute__((noinline)) check_self(void)
{
	const struct up_object *o = open_object("/proc/self/exe");
	struct up_query q = { UP_QUERY_EXACT, "check_self", NULL };
	struct found f = { 0 };
	struct up_symbol s;
	const char *lib = "";

	CHECK(!up->find(up->ctx, o, &q, note, &f, &why) && f.nr == 1 && f.last.is_local);
	CHECK(up->func_at(up->ctx, o, f.last.addr + 1, &s) && !strcmp(s.name, "check_self"));
	CHECK(up_elf_resolver_image(o)->is64 == (sizeof(void *) == 8));
	CHECK(up->imports(up->ctx, o, "mkdtemp", &lib) && lib && !strncmp(lib, "libc.", 5));
	CHECK(!up->imports(up->ctx, o, "check_self", &lib) && !lib);
	CHECK(!up->imports(up->ctx, o, "", &lib));
}

#if defined(__x86_64__)
static uint64_t address_of(const struct up_object *o, const char *name)
{
	struct up_query q = { UP_QUERY_EXACT, name, NULL };
	struct found f = { 0 };

	up->find(up->ctx, o, &q, note, &f, &why);
	CHECK(f.nr == 1);
	return f.last.addr;
}

static void check_probes(void)
{
	const struct up_object *o = open_object("/proc/self/exe");
	uint64_t code = address_of(o, "up_test_code"), jump = address_of(o, "up_test_jump");
	struct up_symbol s;

	CHECK(up->can_probe(up->ctx, o, code, &why));
	CHECK(up->can_probe(up->ctx, o, code + 1, &why));
	CHECK(!up->can_probe(up->ctx, o, code + 2, &why));
	CHECK(says("up_test_code+0x2 is inside the 3-byte instruction at up_test_code+0x1"));
	CHECK(hints("use up_test_code+0x1 or up_test_code+0x4"));
	CHECK(!up->can_probe(up->ctx, o, code + 4, &why));
	CHECK(says("up_test_code+0x4: a lock prefix (f0 ff 07)"));
	CHECK(!up->can_probe(up->ctx, o, code + 7, &why));
	CHECK(says("up_test_code+0x7: int3 (cc)"));
	CHECK(up->can_probe(up->ctx, o, code + 9, &why));
	CHECK(!up->can_probe(up->ctx, o, jump + 3, &why));
	CHECK(says("cannot be told whether an instruction starts at up_test_jump+0x3: Capstone "
		   "knows none that has the bytes at up_test_jump+0x2"));
	CHECK(up->func_at(up->ctx, o, address_of(o, "up_test_unsized") + 2, &s) &&
	      !strcmp(s.name, "up_test_unsized"));
	CHECK(up->func_at(up->ctx, o, address_of(o, "up_test_label") + 1, &s) &&
	      s.kind == UP_SYM_NOTYPE && !strcmp(s.name, "up_test_label"));
	CHECK(address_of(o, "up_test_label") == address_of(o, "up_test_unsized") + 3);
}

/* Inside an instruction the kernel takes what looks like another one. */
static void check_harm(void)
{
	const struct up_object *o = open_object("/proc/self/exe");
	uint64_t code = address_of(o, "up_test_code"), jump = address_of(o, "up_test_jump");

	CHECK(!up->can_probe(up->ctx, o, code + 2, &why) && why.harm == UP_HARM_INSIDE);
	CHECK(!up->can_probe(up->ctx, o, code + 4, &why) && why.harm == UP_HARM_NONE);
	CHECK(!up->can_probe(up->ctx, o, code + 7, &why) && why.harm == UP_HARM_NONE);
	CHECK(!up->can_probe(up->ctx, o, jump + 3, &why) && why.harm == UP_HARM_UNKNOWN);
	CHECK(up->can_probe(up->ctx, o, code, &why) && why.harm == UP_HARM_NONE);
}

/* A five-byte nop, on a kernel that handles it wrongly and on one that does not. */
static void check_nop5(void)
{
	struct up_elf_options opt = { .nop5 = UP_NOP5_HARMS };
	struct up_elf_resolver *bad = up_elf_resolver_new(&opt);

	opt.nop5 = UP_NOP5_FINE;
	struct up_elf_resolver *good = up_elf_resolver_new(&opt);
	const struct up_resolver *b = up_elf_resolver_iface(bad), *g = up_elf_resolver_iface(good);
	const struct up_object *ob = b->open(b->ctx, "/proc/self/exe", &why);
	const struct up_object *og = g->open(g->ctx, "/proc/self/exe", &why);
	uint64_t at = address_of(ob, "up_test_nop5"), page = address_of(ob, "up_test_page");

	CHECK(b->can_probe(b->ctx, ob, at, &why) && b->can_probe(b->ctx, ob, at + 4, &why));
	CHECK(!b->can_probe(b->ctx, ob, at + 10, &why) && why.harm == UP_HARM_RED_ZONE);
	CHECK(says("up_test_nop5+0xa is a five-byte nop inside a function"));
	CHECK(hints("use up_test_nop5+0x14, where registers and stack are the same"));
	CHECK(!b->can_probe(b->ctx, ob, at + 15, &why) && why.harm == UP_HARM_RED_ZONE);
	CHECK(b->can_probe(b->ctx, ob, at + 20, &why) && why.harm == UP_HARM_NONE);
	/* A label is no entry; what stands behind this one cannot be probed. */
	CHECK(!b->can_probe(b->ctx, ob, at + 21, &why) && why.harm == UP_HARM_RED_ZONE);
	CHECK(hints("probe another instruction of the function"));
	CHECK(b->can_probe(b->ctx, ob, page + 4092, &why));
	for (unsigned i = 10; i <= 21; i++)
		if (i == 10 || i == 15 || i == 21)
			CHECK(g->can_probe(g->ctx, og, at + i, &why));
	up_elf_resolver_free(bad);
	up_elf_resolver_free(good);
}

/* Without Capstone a probe stands at the start of a function, or nowhere. */
static void check_no_disasm(void)
{
	const struct up_object *o = open_object("/proc/self/exe");
	const struct up_elf *e = up_elf_resolver_image(o);
	struct up_elf_symbols *s = up_elf_symbols_new(e);
	struct up_disasm none = { .soname = "libcapstone.so.none" };
	uint64_t code = address_of(o, "up_test_code");

	CHECK(up_elf_can_probe(e, s, &none, UP_NOP5_FINE, code, &why) && !none.is_tried);
	CHECK(!up_elf_can_probe(e, s, &none, UP_NOP5_FINE, code + 1, &why));
	CHECK(says("whether an instruction starts at up_test_code+0x1 cannot be told without the "
		   "library Capstone, which is not installed"));
	CHECK(hints("install the package libcapstone4"));
	up_elf_symbols_free(s);
}

/* Of a stripped program, exactly the places that objdump shows are taken for instructions. */
static void check_boundaries(const char *path)
{
	const struct up_object *o = open_object(path);
	unsigned long addr, next = 0;
	unsigned nr = 0, nr_wrong = 0;
	char command[400], line[500];

	snprintf(command, sizeof(command), "objdump -dw -j .text '%s' 2>/dev/null", o->path);
	FILE *p = popen(command, "r");
	while (p && fgets(line, sizeof(line), p)) {
		if (!strstr(line, ":\t") || sscanf(line, "%lx:", &addr) != 1)
			continue;
		for (; nr && next < addr; next++)
			if (up->can_probe(up->ctx, o, next, &why) ||
			    !strstr(why.msg.s, "inside the"))
				nr_wrong++;
		if (!up->can_probe(up->ctx, o, addr, &why) && strstr(why.msg.s, "inside the"))
			nr_wrong++;
		next = addr + 1;
		nr++;
	}
	if (p)
		pclose(p);
	CHECK(nr_wrong == 0);
}
#endif

/* ---- who defines an import ---- */

/* A program needs libup_b, that needs libup_a, which defines the symbol; found by RUNPATH. */
static void check_definer(void)
{
	char dir[] = "/tmp/up_elf_XXXXXX", command[2000], path[200];
	const char *lib = NULL;

	if (!mkdtemp(dir))
		return;
	snprintf(command, sizeof(command),
		 "cd %s && echo 'int up_deep(void) { return 1; }' >a.c && "
		 "echo 'int up_deep(void); int up_mid(void) { return up_deep(); }' >b.c && "
		 "echo 'int up_deep(void); int up_mid(void); int main(void) { return up_deep() + "
		 "up_mid(); }' >m.c && "
		 "cc -shared -fPIC -o libup_a.so.1 -Wl,-soname,libup_a.so.1 a.c && "
		 "cc -shared -fPIC -o libup_b.so -Wl,-soname,libup_b.so b.c ./libup_a.so.1 "
		 "-Wl,-rpath,'$ORIGIN' && "
		 "cc -o main m.c ./libup_b.so -Wl,-rpath,'$ORIGIN/../%s' "
		 "-Wl,--unresolved-symbols=ignore-all 2>/dev/null",
		 dir, dir + 5);
	if (run(command)) {
		snprintf(path, sizeof(path), "%s/main", dir);
		const struct up_object *o = open_object(path);
		CHECK(o && up->imports(up->ctx, o, "up_deep", &lib));
		CHECK(lib && strstr(lib, "libup_a.so.1"));
		CHECK(o && up->imports(up->ctx, o, "up_mid", &lib) && lib &&
		      strstr(lib, "libup_b.so"));
	} else {
		printf("elf: no compiler: the libraries behind an import are not tested\n");
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	run(command);
}

/* ---- damage ---- */

static struct up_disasm disasm;

/* Asks everything that can be asked. */
static void exercise(const unsigned char *bytes, size_t size)
{
	struct up_elf *e = up_elf_open_bytes(bytes, size, "it", &why);
	struct up_nearest near;
	struct up_symbol sym;
	struct up_elf_stub stub;
	unsigned version = 0;
	uint64_t x;

	if (!e)
		return;
	struct up_elf_symbols *s = up_elf_symbols_new(e);
	find(s, UP_QUERY_GLOB, "*");
	find(s, UP_QUERY_GLOB, "*e*");
	find(s, UP_QUERY_EXACT, "main");
	find(s, UP_QUERY_EXACT, "stderr");
	up_nearest_init(&near, "exti", 4);
	up_elf_symbols_near(s, &near);
	if (up_elf_symbols_import(s, "exit", &version))
		up_elf_version_file(up_elf_symbols_dynamic(s), version);
	up_elf_symbols_export(s, "stderr");
	for (unsigned i = 0; up_elf_needed(up_elf_symbols_dynamic(s), i); i++)
		;
	for (unsigned i = 0; i < e->nr_load && i < 8; i++) {
		uint64_t addr = e->load[i].vaddr + next_random() % (e->load[i].filesz + 1);

		up_elf_symbols_at(s, addr, &sym);
		up_elf_frame_start(e, addr, &x);
		up_elf_to_addr(e, e->load[i].offset, &x);
		if (up_elf_to_offset(e, addr, &x) == UP_PLACE_CODE)
			up_elf_can_probe(e, s, &disasm, UP_NOP5_HARMS, addr, &why);
		up_elf_stub_at(e, addr, &stub);
	}
	up_elf_symbols_free(s);
	up_elf_free(e);
}

static void check_damage(const char *path, unsigned rounds)
{
	size_t size, cut;
	unsigned char *whole = read_file(path, &size);

	rng = 88172645463325252u;
	for (unsigned i = 0; i < rounds && size; i++) {
		cut = next_random() % 16 ? size : next_random() % size;
		unsigned char *b = malloc(cut ? cut : 1);

		memcpy(b, whole, cut);
		if (cut)
			damage(b, cut);
		exercise(b, cut);
		free(b);
	}
	CHECK(size > 0);
	free(whole);
}

/* Names that overlap without end must not be copied without end. */
static void check_overlapping_names(void)
{
	unsigned char *b = make_image64();
	Elf64_Sym *y = (void *)(b + 0x2200);

	memset(b + 0x2600, 'n', 0x100);
	memcpy(b + 0x2600 + 0xfe, "@V", 2);
	Elf64_Shdr *sections = (void *)(b + 0x2800);
	sections[4].sh_size = 0x101;
	for (size_t i = 1; i < NR_SYMS; i++)
		y[i] = (Elf64_Sym){
			.st_name = (uint32_t)i, .st_info = STT_FUNC, .st_shndx = 1, .st_value = TEXT
		};
	struct up_elf *e = up_elf_open_bytes(b, IMAGE_SIZE, "it", &why);
	struct up_elf_symbols *s = up_elf_symbols_new(e);
	struct found f = find(s, UP_QUERY_GLOB, "*");
	CHECK(f.nr == 2);
	CHECK(find(s, UP_QUERY_GLOB, "*").nr == 2);
	up_elf_symbols_free(s);
	up_elf_free(e);
	free(b);
}

/* Which file a name leads to when another one takes its place: the first one during a compile. */
static void check_replaced(bool compile_once)
{
	struct up_elf_options opt = { .compile_once = compile_once };
	struct up_elf_resolver *its = up_elf_resolver_new(&opt);
	const struct up_resolver *r = up_elf_resolver_iface(its);
	char dir[] = "/tmp/uptick-test-elf.XXXXXX", path[64], other[64], command[200];

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/it", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(command, sizeof(command), "cp /bin/true %s && cp /bin/true %s", path, other);
	CHECK(!system(command));
	const struct up_object *first = r->open(r->ctx, path, &why);
	CHECK(first && r->open(r->ctx, path, &why) == first);
	CHECK(!rename(other, path));
	CHECK((r->open(r->ctx, path, &why) == first) == compile_once);
	CHECK(!unlink(path) && !rmdir(dir));
	up_elf_resolver_free(its);
}

int main(int argc, char **argv)
{
	struct up_elf_options opt = { 0 };
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1200;

	resolver = up_elf_resolver_new(&opt);
	up = up_elf_resolver_iface(resolver);
	check_image(make_image64());
#if defined(__x86_64__)
	check_image(make_image32());
#endif
	check_refusals();
	check_broken_tables();
	check_nm("/bin/bash", "-D", 3000);
	check_nm("libc", "-D", 4000);
	check_nm("/proc/self/exe", "", 300);
	check_count("/bin/bash");
	check_count("libc");
	check_libc();
	check_self();
#if defined(__x86_64__)
	check_probes();
	check_harm();
	check_nop5();
	check_no_disasm();
	check_boundaries("/bin/true");
#endif
	check_definer();
	check_replaced(false);
	check_replaced(true);
	check_overlapping_names();
	check_damage("/bin/true", rounds);
	check_damage(open_object("libm")->path, rounds / 20);
	up_disasm_fini(&disasm);
	up_elf_resolver_free(resolver);
	up_buf_fini(&why.msg);
	up_buf_fini(&why.hint);
	return unit_report("elf");
}
