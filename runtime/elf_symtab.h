/*
 * One symbol table as it lies in the file: reading entry i, and where in it a name may be.
 * Private to elf_symbols.c and elf_index.c.
 */
#ifndef UP_ELF_SYMTAB_H
#define UP_ELF_SYMTAB_H

#include <elf.h>
#include <string.h>

#include "runtime/elf_symbols.h"

struct up_elf_symtab {
	struct up_elf_span symbols; /* the entries */
	struct up_elf_span strings; /* their names */
	uint64_t nr;                /* entries */
	unsigned size;              /* bytes of an entry */
	bool is64;                  /* which structure it is */
	bool is_dynamic;            /* .dynsym: versions are in a table of their own */
	uint64_t bias;              /* to be added to its addresses */
	struct Elf *handle;         /* libelf's, of the file that holds it */
};

/* An entry with its fields widened. */
struct up_elf_entry {
	uint64_t value; /* st_value */
	uint64_t size;  /* st_size */
	uint32_t name;  /* offset in strings */
	uint16_t shndx; /* SHN_ or a section */
	uint8_t type;   /* STT_ */
	uint8_t bind;   /* STB_ */
};

static inline void up_elf_symtab_init(struct up_elf_symtab *t, const struct up_elf *e,
				      struct up_elf_span symbols, struct up_elf_span strings)
{
	t->is64 = e->is64;
	t->size = e->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	t->symbols = symbols;
	t->strings = strings;
	t->nr = symbols.len / t->size;
	t->handle = e->handle;
}

/* Entry i < nr. */
static inline void up_elf_symtab_read(const struct up_elf_symtab *t, uint64_t i,
				      struct up_elf_entry *out)
{
	const unsigned char *p = t->symbols.s + i * t->size;
	Elf64_Sym s;
	Elf32_Sym n;

	if (t->is64) {
		memcpy(&s, p, sizeof(s));
		*out = (struct up_elf_entry){ s.st_value + t->bias,
					      s.st_size,
					      s.st_name,
					      s.st_shndx,
					      ELF64_ST_TYPE(s.st_info),
					      ELF64_ST_BIND(s.st_info) };
		return;
	}
	memcpy(&n, p, sizeof(n));
	*out = (struct up_elf_entry){ (uint32_t)(n.st_value + t->bias),
				      n.st_size,
				      n.st_name,
				      n.st_shndx,
				      ELF32_ST_TYPE(n.st_info),
				      ELF32_ST_BIND(n.st_info) };
}

/* Only the offset of entry i's name: the first field in both classes. */
static inline uint32_t up_elf_symtab_name(const struct up_elf_symtab *t, uint64_t i)
{
	uint32_t name;

	memcpy(&name, t->symbols.s + i * t->size, sizeof(name));
	return name;
}

/* The name at an offset and its length; NULL when it is not in the table, empty, or too long. */
static inline const char *up_elf_symtab_text(const struct up_elf_symtab *t, uint32_t off,
					     size_t *len)
{
	if (off >= t->strings.len)
		return NULL;
	uint64_t room = t->strings.len - off;
	const unsigned char *s = t->strings.s + off;
	const unsigned char *end =
		memchr(s, 0, room < UP_ELF_MAX_STRING ? (size_t)room : UP_ELF_MAX_STRING);

	if (!end || end == s)
		return NULL;
	*len = (size_t)(end - s);
	return (const char *)s;
}

/* ---- the index by address ---- */

struct up_elf_index;

/* A symbol in the index: which table and entry. */
struct up_elf_place {
	uint64_t addr;  /* where it starts */
	uint64_t size;  /* bytes; 0: unknown */
	uint32_t entry; /* its number in the table */
	uint8_t table;  /* its table */
	uint8_t rank;   /* which of several at one address is shown: the smallest */
};

struct up_elf_index *up_elf_index_new(void);
void up_elf_index_free(struct up_elf_index *x);
/* False when there is no memory. */
bool up_elf_index_add(struct up_elf_index *x, const struct up_elf_place *p);
/* After the last one was added. */
void up_elf_index_sort(struct up_elf_index *x);
/*
 * The symbol whose bytes hold addr: the nearest at or before it that tells its size and reaches so
 * far, else the nearest of all when it does not tell its size.
 */
const struct up_elf_place *up_elf_index_find(const struct up_elf_index *x, uint64_t addr);

#endif
