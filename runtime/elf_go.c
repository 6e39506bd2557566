/*
 * .go.buildinfo is written by cmd/link and read by debug/buildinfo of Go's sources; .gopclntab is
 * read by debug/gosym. Which release passes arguments how: doc/go1.17.html and doc/go1.18.html.
 */
#include "runtime/elf_go.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/elf_gotab.h"

/* The first bytes of .go.buildinfo, then the size of a pointer and flags. */
#define MAGIC "\xff Go buildinf:"
#define MAGIC_LEN 14
#define INFO_HEAD 32
#define FLAG_INLINE 2 /* the version follows as a length and text, not behind pointers */

/* A number of `size` bytes, which are there. */
static uint64_t load_word(const unsigned char *p, unsigned size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return v;
}

/* Seven bits a byte, the lowest first; false when it does not end. */
static bool load_varint(struct up_elf_span *s, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 63 && s->len; shift += 7) {
		unsigned char c = *s->s++;

		s->len--;
		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

/* The version behind a pointer to a Go string, as files before 1.18 have it. */
static struct up_elf_span pointed_version(const struct up_elf *e, const unsigned char *info,
					  unsigned word)
{
	struct up_elf_span none = { NULL, 0 };
	struct up_elf_span str = up_elf_at_addr(e, load_word(info + 16, word));

	if (!str.s || str.len < 2 * word)
		return none;
	struct up_elf_span text = up_elf_at_addr(e, load_word(str.s, word));
	uint64_t len = load_word(str.s + word, word);
	if (!text.s || len > text.len)
		return none;
	text.len = len;
	return text;
}

static struct up_elf_span find_version(const struct up_elf *e, struct up_elf_span info)
{
	struct up_elf_span none = { NULL, 0 };
	uint64_t len;

	if (!info.s || info.len < INFO_HEAD || memcmp(info.s, MAGIC, MAGIC_LEN))
		return none;
	unsigned word = info.s[MAGIC_LEN], flags = info.s[MAGIC_LEN + 1];
	if (!(flags & FLAG_INLINE))
		return word == (e->is64 ? 8 : 4) ? pointed_version(e, info.s, word) : none;
	info.s += INFO_HEAD;
	info.len -= INFO_HEAD;
	if (!load_varint(&info, &len) || len > info.len)
		return none;
	info.len = len;
	return info;
}

/* "go1.19.8", "go1.21rc2", "go1.22.1 X:boringcrypto", "devel go1.23-abcdef". */
static void parse_version(struct up_elf_span text, struct up_elf_go *go)
{
	const unsigned char *at = text.s ? memmem(text.s, text.len, "go1.", 4) : NULL;

	if (!at)
		return;
	go->is_release = at == text.s;
	for (at += 4; at < text.s + text.len && isdigit(*at) && go->minor < 1000; at++)
		go->minor = go->minor * 10 + (unsigned)(*at - '0');
}

/* Without a version the table of functions tells about how old it is at least. */
static unsigned table_minor(struct up_elf_span table)
{
	uint64_t magic = table.s && table.len >= 16 ? load_word(table.s, 4) : 0;

	switch (magic) {
	case 0xfffffff1:
		return 20;
	case 0xfffffff0:
		return 18;
	case 0xfffffffa:
		return 16;
	case 0xfffffffb:
		return 2;
	default:
		return 0;
	}
}

static bool take_addr(void *arg, const struct up_symbol *s)
{
	*(uint64_t *)arg = s->addr;
	return false;
}

/* The linker marks where the code of Go begins and ends: code of C may lie around it. */
static void find_code(struct up_elf_symbols *symbols, struct up_elf_go *go)
{
	struct up_query from = { UP_QUERY_EXACT, "runtime.text", NULL };
	struct up_query to = { UP_QUERY_EXACT, "runtime.etext", NULL };

	up_elf_symbols_find(symbols, "", &from, take_addr, &go->from, NULL);
	up_elf_symbols_find(symbols, "", &to, take_addr, &go->to, NULL);
}

/* Go's linker writes both sections into every program, and `strip` keeps them. */
static bool find_info(const struct up_elf *e, struct up_elf_span *out)
{
	struct up_elf_section s;

	if (!up_elf_section_named(e, ".go.buildinfo", &s))
		return false;
	*out = up_elf_section_bytes(e, &s);
	return true;
}

static bool find_table(const struct up_elf *e, struct up_elf_span *out)
{
	struct up_elf_section s;

	if (!up_elf_gotab_find(e, &s))
		return false;
	*out = up_elf_section_bytes(e, &s);
	return true;
}

void up_elf_go_read(const struct up_elf *e, struct up_elf_symbols *symbols, struct up_elf_go *go)
{
	struct up_elf_span info = { NULL, 0 }, table = { NULL, 0 };
	bool has_info = find_info(e, &info), has_table = find_table(e, &table);

	*go = (struct up_elf_go){ .is_go = has_info || has_table };
	if (!go->is_go)
		return;
	parse_version(find_version(e, info), go);
	if (!go->minor)
		go->minor = table_minor(table);
	if (symbols)
		find_code(symbols, go);
}

bool up_elf_go_has(const struct up_elf_go *go, uint64_t addr)
{
	return go->is_go && (go->from >= go->to || (addr >= go->from && addr < go->to));
}

/* The first release that passes arguments in registers. */
static unsigned first_by_register(enum up_machine m)
{
	return m == UP_M_X86_64 ? 17 : m == UP_M_AARCH64 ? 18 : 10000;
}

/*
 * A function in assembly that Go calls has two symbols: its own with a suffix, and a wrapper's
 * without. Assembly that takes its arguments in registers has its name alone, and so has assembly
 * that only assembly calls, of which nothing can be told.
 */
static bool is_stack_name(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	return len > 5 && !strcmp(name + len - 5, ".abi0");
}

/* Go's own linker puts the C of `net` among the code of Go. All names of Go have a package. */
static bool is_name_of_c(const char *name)
{
	return name && !strchr(name, '.');
}

enum up_calling up_elf_go_calling(const struct up_elf *e, const struct up_elf_go *go, uint64_t addr,
				  const char *name)
{
	if (!up_elf_go_has(go, addr) || is_name_of_c(name))
		return UP_CALLING_C;
	if (go->minor < first_by_register(e->machine) || is_stack_name(name))
		return UP_CALLING_GO_STACK;
	return UP_CALLING_GO;
}

/*
 * struct g of src/runtime/runtime2.go, on 64-bit machines: the number follows two words of the
 * stack, two guards, three pointers, `sched` (seven words, six since 1.25), three of a system call
 * and the stack's top (four since 1.23), a parameter, and two numbers of 32 bits.
 */
uint16_t up_elf_go_goid(const struct up_elf *e, const struct up_elf_go *go)
{
	if (!go->is_release || !e->is64 || go->minor < 17 || go->minor > 25)
		return 0;
	return go->minor == 23 || go->minor == 24 ? 160 : 152;
}
