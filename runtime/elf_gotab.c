/*
 * The layout is that of debug/gosym/pclntab.go and runtime/symtab.go of Go's sources: a header; the
 * functions' names; a table of entries and of where each function's own structure lies, by address.
 */
#include "runtime/elf_gotab.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/elf_reloc.h"

#define WORD 8u
#define HEAD 8u            /* bytes before the header's words: magic, sizes */
#define MAX_FUNCS 4000000u /* more is taken for damage */

/* A release's layout. */
struct layout {
	uint32_t magic;      /* the first four bytes */
	unsigned text_start; /* which word of the header has the address of all code; 0: none */
	unsigned names;      /* which has the offset of the names, */
	unsigned funcs;      /* and which that of the table of functions */
	unsigned entry;      /* bytes of an address in that table, and in a structure */
	unsigned flags;      /* where a structure has its flags; 0: there is none for assembly */
};

static const struct layout layouts[] = {
	{ 0xfffffff1, 2, 3, 7, 4, 41 }, /* 1.20 */
	{ 0xfffffff0, 2, 3, 7, 4, 37 }, /* 1.18 */
	{ 0xfffffffa, 0, 2, 6, 8, 0 },  /* 1.16 */
};

#define FLAG_ASSEMBLY 4 /* abi.FuncFlagAsm */

/* The table while it is read. */
struct reader {
	const struct layout *l;
	struct up_elf_span all;   /* the section */
	struct up_elf_span names; /* from the names on */
	struct up_elf_span funcs; /* from the table of functions on; structures count from here */
	uint64_t nr;              /* functions */
	uint64_t text_start;      /* what addresses count from */
};

static uint64_t load(struct up_elf_span s, uint64_t off, unsigned size)
{
	uint64_t v = 0;

	if (off <= s.len && size <= s.len - off)
		memcpy(&v, s.s + off, size);
	return v;
}

static uint64_t header(const struct reader *r, unsigned word)
{
	return load(r->all, HEAD + word * WORD, WORD);
}

static struct up_elf_span behind(struct up_elf_span s, uint64_t off)
{
	return off < s.len ? (struct up_elf_span){ s.s + off, s.len - off }
			   : (struct up_elf_span){ NULL, 0 };
}

bool up_elf_gotab_find(const struct up_elf *e, struct up_elf_section *out)
{
	for (uint64_t i = 0; up_elf_section(e, i, out); i++)
		if (!strcmp(out->name, ".gopclntab") ||
		    !strcmp(out->name, ".data.rel.ro.gopclntab"))
			return true;
	return false;
}

/* Where all code starts; in what can be loaded anywhere the dynamic linker writes it. */
static bool find_text(const struct up_elf *e, uint64_t table, struct reader *r)
{
	uint64_t slot = table + HEAD + r->l->text_start * WORD;
	bool is_import;

	r->text_start = header(r, r->l->text_start);
	return r->text_start || up_elf_reloc_value(e, slot, &r->text_start, &is_import);
}

static bool open_table(const struct up_elf *e, struct reader *r)
{
	struct up_elf_section s;

	if (!e->is64 || !up_elf_gotab_find(e, &s))
		return false;
	r->all = up_elf_section_bytes(e, &s);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (load(r->all, 0, 4) == layouts[i].magic)
			r->l = &layouts[i];
	if (!r->l || load(r->all, 7, 1) != WORD)
		return false;
	r->nr = header(r, 0);
	r->names = behind(r->all, header(r, r->l->names));
	r->funcs = behind(r->all, header(r, r->l->funcs));
	if (r->l->text_start && !find_text(e, s.addr, r))
		return false;
	return r->nr && r->nr <= MAX_FUNCS && r->nr * 2 * r->l->entry <= r->funcs.len;
}

/* Where function i begins; of i == nr: where all code ends. */
static uint64_t entry_of(const struct reader *r, uint64_t i)
{
	return r->text_start + load(r->funcs, i * 2 * r->l->entry, r->l->entry);
}

static uint64_t structure_of(const struct reader *r, uint64_t i)
{
	return load(r->funcs, (i * 2 + 1) * r->l->entry, r->l->entry);
}

static bool is_assembly(const struct reader *r, uint64_t i)
{
	uint64_t off = structure_of(r, i);

	return r->l->flags && off < r->funcs.len &&
	       load(r->funcs, off + r->l->flags, 1) & FLAG_ASSEMBLY;
}

/* The name of function i, or NULL. */
static const char *name_of(const struct reader *r, uint64_t i)
{
	uint64_t off = structure_of(r, i);

	if (off >= r->funcs.len)
		return NULL;
	return up_elf_string(r->names, load(r->funcs, off + r->l->entry, 4));
}

static int by_name(const void *va, const void *vb, void *arg)
{
	const struct reader *r = arg;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const char *x = name_of(r, a), *y = name_of(r, b);
	int order = x == y ? 0 : !x ? -1 : !y ? 1 : strcmp(x, y);

	return order ? order : (a > b) - (a < b);
}

/*
 * Go's linker calls a function in assembly that has a wrapper NAME.abi0; here both are NAME.
 * Marks those, by their number.
 */
static bool find_wrapped(const struct reader *r, bool *is_wrapped)
{
	uint32_t *order = calloc(r->nr, sizeof(*order));

	if (!order)
		return false;
	for (uint32_t i = 0; i < r->nr; i++)
		order[i] = i;
	qsort_r(order, r->nr, sizeof(*order), by_name, (void *)r);
	for (uint64_t i = 0, end; i < r->nr; i = end) {
		const char *name = name_of(r, order[i]);
		bool has_wrapper = false;

		for (end = i; end < r->nr; end++) {
			const char *other = name_of(r, order[end]);

			if (!name || !other || strcmp(name, other) != 0)
				break;
			has_wrapper |= !is_assembly(r, order[end]);
		}
		for (uint64_t k = i; k < end; k++)
			is_wrapped[order[k]] = has_wrapper && is_assembly(r, order[k]);
		end = end > i ? end : i + 1;
	}
	free(order);
	return true;
}

/* Two functions may have one name; more would make strings of any length from a short table. */
static void add(const struct reader *r, struct up_elf_gotab *t, struct up_buf *strings,
		const char *name, const char *suffix, uint64_t addr, uint64_t size)
{
	if (strings->len > UINT32_MAX / 2 || strings->len > 2 * r->names.len)
		return;
	t->symbols[t->nr++] = (Elf64_Sym){ .st_name = (uint32_t)strings->len,
					   .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
					   .st_shndx = 1,
					   .st_value = addr,
					   .st_size = size };
	up_buf_puts(strings, name);
	up_buf_puts(strings, suffix);
	up_buf_putc(strings, 0);
}

static void add_all(const struct reader *r, const bool *is_wrapped, struct up_elf_gotab *t,
		    struct up_buf *strings)
{
	for (uint64_t i = 0; i < r->nr; i++) {
		uint64_t from = entry_of(r, i), to = entry_of(r, i + 1);
		const char *name = name_of(r, i);

		if (name && *name && from < to)
			add(r, t, strings, name, is_wrapped[i] ? ".abi0" : "", from, to - from);
	}
	add(r, t, strings, "runtime.text", "", entry_of(r, 0), 0);
	add(r, t, strings, "runtime.etext", "", entry_of(r, r->nr), 0);
}

bool up_elf_gotab_read(const struct up_elf *e, struct up_elf_gotab *t)
{
	struct reader r = { 0 };
	struct up_buf strings = { 0 };

	*t = (struct up_elf_gotab){ 0 };
	if (!open_table(e, &r))
		return false;
	bool *is_wrapped = calloc(r.nr, sizeof(*is_wrapped));
	t->symbols = calloc(r.nr + 2, sizeof(*t->symbols));
	up_buf_putc(&strings, 0);
	if (is_wrapped && t->symbols && find_wrapped(&r, is_wrapped))
		add_all(&r, is_wrapped, t, &strings);
	free(is_wrapped);
	if (!t->nr || strings.failed) {
		up_buf_fini(&strings);
		up_elf_gotab_fini(t);
		return false;
	}
	t->strings = strings.s;
	t->strings_len = strings.len;
	return true;
}

void up_elf_gotab_fini(struct up_elf_gotab *t)
{
	free(t->symbols);
	free(t->strings);
	*t = (struct up_elf_gotab){ 0 };
}
