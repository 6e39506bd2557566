/*
 * What the dynamic linker sees of an ELF file: its symbol table and hash, versions, the libraries
 * it needs. Read from PT_DYNAMIC; section headers, where they exist, tell the exact sizes.
 */
#ifndef UP_ELF_DYNAMIC_H
#define UP_ELF_DYNAMIC_H

#include "runtime/elf_image.h"

#define UP_ELF_MAX_NEEDED 512 /* DT_NEEDED entries that are read */

struct up_elf_dynamic {
	const struct up_elf *elf;    /* the file */
	struct up_elf_span strings;  /* .dynstr */
	struct up_elf_span symbols;  /* .dynsym */
	struct up_elf_span gnu_hash; /* .gnu.hash */
	struct up_elf_span versym;   /* .gnu.version: 16 bits a symbol */
	struct up_elf_span verdef;   /* .gnu.version_d: versions it defines */
	struct up_elf_span verneed;  /* .gnu.version_r: versions it needs, by library */
	const char *rpath;           /* DT_RPATH, or NULL */
	const char *runpath;         /* DT_RUNPATH, or NULL */
	bool has_textrel;            /* the dynamic linker writes into what is read-only then */
	bool is_broken;              /* a table that the headers announce is not in the file */
};

/* Nothing is an error here: what is missing or broken is empty. */
void up_elf_dynamic_read(const struct up_elf *e, struct up_elf_dynamic *out);

/* The Nth library that is needed, by the name it is looked for; NULL past the last. */
const char *up_elf_needed(const struct up_elf_dynamic *d, unsigned n);

/*
 * The names of versions by number; the caller frees the array. Those that it needs count too: a
 * program holds copies of its libraries' variables, which keep their versions.
 */
struct up_elf_versions {
	const char **name; /* NULL where there is none */
	unsigned nr;       /* length of the array */
};
/* False when there is no memory. */
bool up_elf_versions_read(const struct up_elf_dynamic *d, struct up_elf_versions *out);

/* Version number of symbol i without the "hidden" bit; 0 when there is none. */
unsigned up_elf_version_number(const struct up_elf_dynamic *d, uint64_t i);

/* The library that a needed version comes from ("libc.so.6"), or NULL. */
const char *up_elf_version_file(const struct up_elf_dynamic *d, unsigned number);

/*
 * Looks a name up in .gnu.hash and calls fn with the number of each symbol whose hash agrees,
 * which mostly has that name. Sets *first_hashed: symbols before it are not in the table. False
 * when there is no usable table.
 */
bool up_elf_hash_lookup(const struct up_elf_dynamic *d, const char *name, uint64_t nr_symbols,
			void (*fn)(void *arg, uint64_t i), void *arg, uint64_t *first_hashed);

#endif
