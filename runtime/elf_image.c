/*
 * Opening an ELF file and bounds-checked access to it. Nothing is copied beyond the PT_LOAD
 * headers.
 */
#include "runtime/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/mapguard.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* ---- messages ---- */

static void __attribute__((format(printf, 2, 0)))
write_text(struct up_buf *b, const char *fmt, va_list ap)
{
	struct up_buf raw = { 0 };

	up_buf_vprintf(&raw, fmt, ap);
	up_buf_reset(b);
	if (raw.s)
		up_text_escape(b, raw.s, raw.len, 0);
	up_buf_fini(&raw);
}

bool up_elf_refuse(struct up_why *why, const char *fmt, ...)
{
	va_list ap;

	if (!why)
		return false;
	va_start(ap, fmt);
	write_text(&why->msg, fmt, ap);
	va_end(ap);
	up_buf_reset(&why->hint);
	return false;
}

void up_elf_hint(struct up_why *why, const char *fmt, ...)
{
	va_list ap;

	if (!why)
		return;
	va_start(ap, fmt);
	write_text(&why->hint, fmt, ap);
	va_end(ap);
}

/* ---- what kind of file ---- */

static const struct machine {
	unsigned em;             /* EM_ */
	enum up_machine machine; /* for the language */
	const char *name;        /* for messages */
} machines[] = {
	{ EM_X86_64, UP_M_X86_64, "x86-64" },   { EM_386, UP_M_I386, "32-bit x86" },
	{ EM_AARCH64, UP_M_AARCH64, "arm64" },  { EM_ARM, UP_M_OTHER, "32-bit arm" },
	{ EM_RISCV, UP_M_OTHER, "RISC-V" },     { EM_PPC64, UP_M_OTHER, "64-bit POWER" },
	{ EM_PPC, UP_M_OTHER, "32-bit POWER" }, { EM_S390, UP_M_OTHER, "s390" },
	{ EM_MIPS, UP_M_OTHER, "MIPS" },        { EM_LOONGARCH, UP_M_OTHER, "LoongArch" },
	{ EM_BPF, UP_M_OTHER, "BPF" },
};

static const struct machine *find_machine(unsigned em)
{
	static const struct machine other = { EM_NONE, UP_M_OTHER, "another processor" };

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].em == em)
			return &machines[i];
	return &other;
}

/* Can this machine run it? On machines that we do not know, yes. */
static bool is_native(unsigned em)
{
#if defined(__x86_64__)
	return em == EM_X86_64 || em == EM_386;
#elif defined(__i386__)
	return em == EM_386;
#elif defined(__aarch64__)
	return em == EM_AARCH64;
#else
	return em != EM_NONE;
#endif
}

/* A script's first line names who runs it. */
static void refuse_script(const unsigned char *s, size_t size, const char *name, struct up_why *why)
{
	size_t from = 2;

	while (from < size && (s[from] == ' ' || s[from] == '\t'))
		from++;
	size_t to = from;
	while (to < size && to - from < 255 && !strchr(" \t\r\n", s[to]))
		to++;
	up_elf_refuse(why, "%s is a script run by %.*s, not an ELF file", name, (int)(to - from),
		      (const char *)s + from);
	up_elf_hint(why, "probe the interpreter: \"%.*s\":FUNCTION", (int)(to - from),
		    (const char *)s + from);
}

static bool refuse_content(const unsigned char *s, size_t size, const char *name,
			   struct up_why *why)
{
	if (!size)
		return up_elf_refuse(why, "%s is empty", name);
	if (size > 2 && s[0] == '#' && s[1] == '!') {
		refuse_script(s, size, name, why);
	} else if (size > 8 && !memcmp(s, "!<arch>\n", 8)) {
		up_elf_refuse(why, "%s is a static library", name);
		up_elf_hint(why, "probe the program that it was linked into");
	} else if (size > 13 && !memcmp(s, "/* GNU ld scr", 13)) {
		up_elf_refuse(why, "%s is a text for the linker, not a library", name);
		up_elf_hint(why, "name the library that it stands for, e.g. libc.so.6");
	} else {
		up_elf_refuse(why, "%s is not an ELF file", name);
	}
	return false;
}

static bool check_ident(const unsigned char *s, size_t size, const char *name, struct up_why *why)
{
	const unsigned char native =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	if (size < SELFMAG || memcmp(s, ELFMAG, SELFMAG) != 0)
		return refuse_content(s, size, name, why);
	if (size < sizeof(Elf32_Ehdr) || (s[EI_CLASS] == ELFCLASS64 && size < sizeof(Elf64_Ehdr)))
		return up_elf_refuse(why, "%s is cut off: it ends inside the ELF header", name);
	if (s[EI_CLASS] != ELFCLASS32 && s[EI_CLASS] != ELFCLASS64)
		return up_elf_refuse(why, "%s has a broken ELF header: class %u", name,
				     s[EI_CLASS]);
	if (s[EI_DATA] != native)
		return up_elf_refuse(why, "%s is for a machine of the other byte order", name);
	return true;
}

static bool check_type(unsigned type, unsigned em, const char *name, struct up_why *why)
{
	if (type == ET_REL) {
		up_elf_refuse(why, "%s is an object file, not linked yet", name);
		up_elf_hint(why, "probe the program or library that it is linked into");
		return false;
	}
	if (type == ET_CORE)
		return up_elf_refuse(why, "%s is a core dump, not a program", name);
	if (type != ET_EXEC && type != ET_DYN)
		return up_elf_refuse(why, "%s is neither a program nor a library (ELF type %u)",
				     name, type);
	if (!is_native(em))
		return up_elf_refuse(why, "%s is a program for %s, which this machine cannot run",
				     name, find_machine(em)->name);
	return true;
}

/* ---- headers ---- */

/* What of a PT_LOAD the file really has. */
static void trim_segment(const struct up_elf *e, struct up_elf_segment *p)
{
	if (p->offset > e->size)
		p->filesz = 0;
	else if (p->filesz > e->size - p->offset)
		p->filesz = e->size - p->offset;
	if (p->memsz < p->filesz)
		p->memsz = p->filesz;
	if (p->memsz > UINT64_MAX - p->vaddr)
		p->memsz = UINT64_MAX - p->vaddr;
	if (p->filesz > p->memsz)
		p->filesz = p->memsz;
}

static bool add_load(struct up_elf *e, const GElf_Phdr *h, const char *name, struct up_why *why)
{
	struct up_elf_segment p = { h->p_offset, h->p_vaddr,        h->p_filesz,
				    h->p_memsz,  h->p_flags & PF_X, h->p_flags & PF_W };

	if (e->nr_load == UP_ELF_MAX_LOAD)
		return up_elf_refuse(why, "%s has more than %d loadable segments", name,
				     UP_ELF_MAX_LOAD);
	trim_segment(e, &p);
	e->load[e->nr_load++] = p;
	return true;
}

/* Keeps the segments that matter. */
static bool read_segments(struct up_elf *e, const GElf_Ehdr *h, const char *name,
			  struct up_why *why)
{
	size_t nr = 0;
	GElf_Phdr p;

	if (!h->e_phnum)
		return up_elf_refuse(why, "%s has no program headers", name);
	if (h->e_phentsize != gelf_fsize(e->handle, ELF_T_PHDR, 1, EV_CURRENT) ||
	    elf_getphdrnum(e->handle, &nr) < 0 || nr < h->e_phnum)
		return up_elf_refuse(why, "%s is broken: its program headers are not in the file",
				     name);
	e->load = calloc(nr < UP_ELF_MAX_LOAD ? nr : UP_ELF_MAX_LOAD, sizeof(*e->load));
	if (!e->load)
		return up_elf_refuse(why, "out of memory");
	for (size_t i = 0; i < nr && i < INT_MAX && gelf_getphdr(e->handle, (int)i, &p); i++) {
		struct up_elf_segment other = { p.p_offset, p.p_vaddr,        p.p_filesz,
						p.p_memsz,  p.p_flags & PF_X, p.p_flags & PF_W };

		if (p.p_type == PT_LOAD && !add_load(e, &p, name, why))
			return false;
		if (p.p_type == PT_DYNAMIC)
			e->dynamic = other;
		if (p.p_type == PT_GNU_EH_FRAME)
			e->eh_frame = other;
	}
	return true;
}

/* Section headers are optional: what is broken about them is as if they were not there. */
static void find_sections(struct up_elf *e, const GElf_Ehdr *h)
{
	if (h->e_shentsize != gelf_fsize(e->handle, ELF_T_SHDR, 1, EV_CURRENT) ||
	    elf_getshdrnum(e->handle, &e->nr_sections) < 0)
		e->nr_sections = 0;
	if (elf_getshdrstrndx(e->handle, &e->shstrndx) < 0)
		e->shstrndx = SHN_UNDEF;
}

static bool has_code(const struct up_elf *e)
{
	for (unsigned i = 0; i < e->nr_load; i++)
		if (e->load[i].is_code && e->load[i].filesz)
			return true;
	return false;
}

/* libelf's view of the bytes; it reads them only, whatever its types say. */
static bool open_handle(struct up_elf *e, GElf_Ehdr *h, const char *name, struct up_why *why)
{
	elf_version(EV_CURRENT);
	e->handle = elf_memory((char *)e->bytes, e->size);
	if (e->handle && elf_kind(e->handle) == ELF_K_ELF && gelf_getehdr(e->handle, h))
		return true;
	return up_elf_refuse(why, "%s has a broken ELF header: %s", name,
			     e->bytes[EI_VERSION] != EV_CURRENT ? "its version is not 1"
								: elf_errmsg(-1));
}

static bool read_headers(struct up_elf *e, const char *name, struct up_why *why)
{
	GElf_Ehdr h;

	if (!check_ident(e->bytes, e->size, name, why) || !open_handle(e, &h, name, why))
		return false;
	e->is64 = e->bytes[EI_CLASS] == ELFCLASS64;
	e->is_pie = h.e_type == ET_DYN;
	e->e_machine = h.e_machine;
	e->machine = find_machine(h.e_machine)->machine;
	if (!check_type(h.e_type, h.e_machine, name, why) || !read_segments(e, &h, name, why))
		return false;
	find_sections(e, &h);
	if (has_code(e))
		return true;
	up_elf_refuse(why, "%s holds no code", name);
	up_elf_hint(why, "a file of debug information cannot be probed: name the program itself");
	return false;
}

/* ---- open and close ---- */

struct up_elf *up_elf_open_bytes(const void *bytes, size_t size, const char *name,
				 struct up_why *why)
{
	struct up_elf *e = calloc(1, sizeof(*e));

	if (!e) {
		up_elf_refuse(why, "out of memory");
		return NULL;
	}
	e->bytes = bytes;
	e->size = size;
	e->more = calloc(1, sizeof(*e->more));
	if (!e->more)
		up_elf_refuse(why, "out of memory");
	else if (read_headers(e, name, why))
		return e;
	up_elf_free(e);
	return NULL;
}

static bool check_file(const struct stat *st, const char *name, struct up_why *why)
{
	if (S_ISDIR(st->st_mode))
		return up_elf_refuse(why, "%s is a directory", name);
	if (!S_ISREG(st->st_mode))
		return up_elf_refuse(why, "%s is not a regular file", name);
	if (!st->st_size)
		return up_elf_refuse(why, "%s is empty", name);
	return true;
}

/*
 * Shared, never private: the kernel writes its breakpoints into private mappings of a probed
 * file, ours included, and then we would read them as the program's code.
 */
struct up_elf *up_elf_open(int fd, const char *name, struct up_why *why)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		up_elf_refuse(why, "%s: %s", name, strerror(errno));
		return NULL;
	}
	if (!check_file(&st, name, why))
		return NULL;
	size_t size = (size_t)st.st_size;
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		up_elf_refuse(why, "%s cannot be mapped: %s", name, strerror(errno));
		return NULL;
	}
	up_mapguard_add(map, size);
	struct up_elf *e = up_elf_open_bytes(map, size, name, why);
	if (e) {
		e->is_mapped = true;
		return e;
	}
	up_mapguard_remove(map);
	munmap(map, size);
	return NULL;
}

void up_elf_free(struct up_elf *e)
{
	if (!e)
		return;
	elf_end(e->handle);
	if (e->is_mapped) {
		up_mapguard_remove(e->bytes);
		munmap((void *)e->bytes, e->size);
	}
	if (e->more)
		free(e->more->frames);
	free(e->more);
	free(e->load);
	free(e);
}

/* ---- access ---- */

const unsigned char *up_elf_at(const struct up_elf *e, uint64_t off, uint64_t len)
{
	return off <= e->size && len <= e->size - off ? e->bytes + off : NULL;
}

/* The segment that holds addr in its bytes from the file; executable ones first. */
static const struct up_elf_segment *segment_at(const struct up_elf *e, uint64_t addr)
{
	const struct up_elf_segment *found = NULL;

	for (unsigned i = 0; i < e->nr_load; i++) {
		const struct up_elf_segment *p = &e->load[i];

		if (addr < p->vaddr || addr - p->vaddr >= p->filesz)
			continue;
		if (p->is_code)
			return p;
		if (!found)
			found = p;
	}
	return found;
}

struct up_elf_span up_elf_at_addr(const struct up_elf *e, uint64_t addr)
{
	const struct up_elf_segment *p = segment_at(e, addr);

	if (!p)
		return (struct up_elf_span){ 0 };
	uint64_t in = addr - p->vaddr;
	return (struct up_elf_span){ e->bytes + p->offset + in, p->filesz - in };
}

struct up_elf_span up_elf_constant_at(const struct up_elf *e, uint64_t addr)
{
	struct up_elf_span s = { 0 };

	for (unsigned i = 0; i < e->nr_load && !s.s; i++) {
		const struct up_elf_segment *p = &e->load[i];

		if (!p->is_written && addr >= p->vaddr && addr - p->vaddr < p->filesz)
			s = (struct up_elf_span){ e->bytes + p->offset + (addr - p->vaddr),
						  p->filesz - (addr - p->vaddr) };
	}
	return s;
}

void up_elf_prefetch(struct up_elf_span s)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)s.s / page * page;

#ifdef MADV_POPULATE_READ
	if (s.s)
		madvise((void *)from, (uintptr_t)s.s + s.len - from, MADV_POPULATE_READ);
#endif
}

bool up_elf_section(const struct up_elf *e, uint64_t i, struct up_elf_section *out)
{
	GElf_Shdr h;

	if (i >= e->nr_sections || !gelf_getshdr(elf_getscn(e->handle, i), &h))
		return false;
	const char *name = elf_strptr(e->handle, e->shstrndx, h.sh_name);
	*out = (struct up_elf_section){
		.name = name ? name : "",
		.index = i,
		.type = h.sh_type,
		.link = h.sh_link,
		.info = h.sh_info,
		.flags = h.sh_flags,
		.addr = h.sh_addr,
		.offset = h.sh_offset,
		.size = h.sh_size,
		.entsize = h.sh_entsize,
	};
	return true;
}

bool up_elf_section_of_type(const struct up_elf *e, uint32_t type, struct up_elf_section *out)
{
	for (uint64_t i = 0; up_elf_section(e, i, out); i++)
		if (out->type == type)
			return true;
	return false;
}

bool up_elf_section_named(const struct up_elf *e, const char *name, struct up_elf_section *out)
{
	for (uint64_t i = 0; up_elf_section(e, i, out); i++)
		if (!strcmp(out->name, name))
			return true;
	return false;
}

bool up_elf_section_at(const struct up_elf *e, uint64_t addr, struct up_elf_section *out)
{
	for (uint64_t i = 1; up_elf_section(e, i, out); i++)
		if (out->flags & SHF_ALLOC && !(out->flags & SHF_TLS) && addr >= out->addr &&
		    addr - out->addr < out->size)
			return true;
	return false;
}

struct up_elf_span up_elf_section_bytes(const struct up_elf *e, const struct up_elf_section *s)
{
	const Elf_Data *d = NULL;

	if (s->type != SHT_NOBITS && s->size)
		d = elf_rawdata(elf_getscn(e->handle, s->index), NULL);
	if (!d || !d->d_buf)
		return (struct up_elf_span){ 0 };
	return (struct up_elf_span){ d->d_buf, d->d_size };
}

const char *up_elf_string(struct up_elf_span table, uint64_t off)
{
	if (off >= table.len)
		return NULL;
	uint64_t room = table.len - off;
	if (!memchr(table.s + off, 0, room < UP_ELF_MAX_STRING ? room : UP_ELF_MAX_STRING))
		return NULL;
	return (const char *)table.s + off;
}

enum up_place up_elf_to_offset(const struct up_elf *e, uint64_t addr, uint64_t *out)
{
	const struct up_elf_segment *p = segment_at(e, addr);

	if (!p)
		return UP_PLACE_NOWHERE;
	*out = p->offset + (addr - p->vaddr);
	return p->is_code ? UP_PLACE_CODE : UP_PLACE_DATA;
}

enum up_place up_elf_to_addr(const struct up_elf *e, uint64_t off, uint64_t *out)
{
	enum up_place place = UP_PLACE_NOWHERE;

	for (unsigned i = 0; i < e->nr_load; i++) {
		const struct up_elf_segment *p = &e->load[i];

		if (off < p->offset || off - p->offset >= p->filesz)
			continue;
		if (place != UP_PLACE_NOWHERE && !p->is_code)
			continue;
		*out = p->vaddr + (off - p->offset);
		place = p->is_code ? UP_PLACE_CODE : UP_PLACE_DATA;
		if (p->is_code)
			break;
	}
	return place;
}

bool up_elf_is_code(const struct up_elf *e, uint64_t addr)
{
	for (unsigned i = 0; i < e->nr_load; i++) {
		const struct up_elf_segment *p = &e->load[i];

		if (p->is_code && addr >= p->vaddr && addr - p->vaddr < p->memsz)
			return true;
	}
	return false;
}
