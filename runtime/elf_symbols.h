/*
 * The symbols of one ELF file: .symtab and .dynsym. They are read where they lie; only the index
 * by address, built when it first pays, and the few names that carry a version are copied.
 */
#ifndef UP_ELF_SYMBOLS_H
#define UP_ELF_SYMBOLS_H

#include "runtime/elf_dynamic.h"

struct up_elf_symbols;

/* NULL when there is no memory. The image must outlive it. */
struct up_elf_symbols *up_elf_symbols_new(const struct up_elf *e);
void up_elf_symbols_free(struct up_elf_symbols *s);

const struct up_elf_dynamic *up_elf_symbols_dynamic(const struct up_elf_symbols *s);

/* As find, func_at and near_symbols of struct up_resolver. `name` is for messages. */
int up_elf_symbols_find(struct up_elf_symbols *s, const char *name, const struct up_query *q,
			up_symbol_fn *fn, void *arg, struct up_why *why);
bool up_elf_symbols_at(struct up_elf_symbols *s, uint64_t addr, struct up_symbol *out);
void up_elf_symbols_near(struct up_elf_symbols *s, struct up_nearest *n);

/* Is `name` undefined in .dynsym? Sets *version to its version number, 0 when it has none. */
bool up_elf_symbols_import(struct up_elf_symbols *s, const char *name, unsigned *version);
/* Does .dynsym define `name` for others? */
bool up_elf_symbols_export(struct up_elf_symbols *s, const char *name);

#endif
