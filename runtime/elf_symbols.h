/*
 * The symbols of one ELF file: .symtab and .dynsym, and what separate debug information or the
 * table of a Go program has beyond them, looked for when that may help. They are read where they
 * lie; only the index by address, built when it first pays, and the few names that carry a version
 * are copied.
 */
#ifndef UP_ELF_SYMBOLS_H
#define UP_ELF_SYMBOLS_H

#include "runtime/elf_debug.h"
#include "runtime/elf_dynamic.h"

struct up_elf_symbols;

/* NULL when there is no memory. The image must outlive it. */
struct up_elf_symbols *up_elf_symbols_new(const struct up_elf *e);
void up_elf_symbols_free(struct up_elf_symbols *s);

/* Lets it look for debug information of the file at `path`; both must outlive it. */
void up_elf_symbols_allow_debug(struct up_elf_symbols *s, struct up_libdw *l, const char *path);
/* Looks for it once; true when that brought symbols. */
bool up_elf_symbols_add_debug(struct up_elf_symbols *s);
/* Has it a .symtab, with the names of all functions? */
bool up_elf_symbols_are_full(const struct up_elf_symbols *s);

const struct up_elf_dynamic *up_elf_symbols_dynamic(const struct up_elf_symbols *s);

/*
 * As find, func_at and near_symbols of struct up_resolver. `name` is for messages. A name that is
 * in no table of the file, and a pattern when there is no .symtab, are looked for in its debug
 * information too.
 */
int up_elf_symbols_find(struct up_elf_symbols *s, const char *name, const struct up_query *q,
			up_symbol_fn *fn, void *arg, struct up_why *why);
bool up_elf_symbols_at(struct up_elf_symbols *s, uint64_t addr, struct up_symbol *out);
void up_elf_symbols_near(struct up_elf_symbols *s, struct up_nearest *n);

/* Is `name` undefined in .dynsym? Sets *version to its version number, 0 when it has none. */
bool up_elf_symbols_import(struct up_elf_symbols *s, const char *name, unsigned *version);
/* Calls fn for each name of a function that the file itself has or imports; false stops the walk.
 */
typedef bool up_elf_name_fn(void *arg, const char *name);
void up_elf_symbols_each_name(struct up_elf_symbols *s, up_elf_name_fn *fn, void *arg);
/* Does .dynsym define `name` for others? */
bool up_elf_symbols_export(struct up_elf_symbols *s, const char *name);

#endif
