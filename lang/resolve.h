/*
 * What the compiler must know of programs and libraries, and asks for through this interface:
 * the runtime answers from ELF files, tests answer from a table.
 */
#ifndef UP_RESOLVE_H
#define UP_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/buf.h"
#include "lang/base/text.h"

enum up_machine { UP_M_OTHER, UP_M_X86_64, UP_M_I386, UP_M_AARCH64 };

enum up_symkind {
	UP_SYM_FUNC,
	UP_SYM_NOTYPE, /* assembler label in an executable section */
	UP_SYM_IFUNC,  /* the address is a resolver's, not the function's */
	UP_SYM_DATA    /* object, TLS, or anything outside executable segments */
};

/* An ELF file that was opened. Lives as long as the resolver. */
struct up_object {
	const char *path;        /* absolute, symlinks resolved: what the kernel is told */
	const char *name;        /* what to show: the last component of what was asked for */
	enum up_machine machine; /* from e_machine */
	bool is_pie;             /* ET_DYN */
};

struct up_symbol {
	const char *name;    /* without version; NUL-terminated, lives as long as the object */
	const char *version; /* "GLIBC_2.14", or NULL */
	uint64_t addr;       /* virtual address, as nm prints it */
	uint64_t size;       /* bytes; 0 when the symbol does not tell */
	enum up_symkind kind;
	bool is_local; /* STB_LOCAL */
};

/*
 * An order for qsort(): by address, and of several names of one address the one to show first:
 * global before local, then the shorter, then by letters.
 */
int up_symbol_order(const struct up_symbol *a, const struct up_symbol *b);

enum up_query_kind { UP_QUERY_EXACT, UP_QUERY_GLOB };

struct up_query {
	enum up_query_kind kind;
	const char *pattern; /* NUL-terminated */
	const char *version; /* only this version; NULL for any */
};

/* Why something was refused: text for a diagnostic. The caller frees both with up_buf_fini(). */
struct up_why {
	struct up_buf msg;  /* what is wrong, without a full stop */
	struct up_buf hint; /* what to do; empty if there is nothing to say */
};

enum up_place {
	UP_PLACE_CODE,   /* inside an executable PT_LOAD */
	UP_PLACE_DATA,   /* inside another PT_LOAD */
	UP_PLACE_NOWHERE /* in no PT_LOAD, or not backed by the file */
};

/* Called for each symbol; false stops the walk. */
typedef bool up_symbol_fn(void *arg, const struct up_symbol *sym);

struct up_resolver {
	void *ctx;

	/*
	 * The object that a script names: a path (it contains a slash), a program on $PATH, or a
	 * library's short name, in this order. The same object again yields the same pointer.
	 * NULL: not found, unreadable, not ELF, a script, the wrong byte order...: *why says so.
	 */
	const struct up_object *(*open)(void *ctx, const char *name, struct up_why *why);

	/*
	 * Calls fn for each defined symbol that matches (kinds all of enum up_symkind), .symtab and
	 * .dynsym, in any order, the same address possibly under several names or twice.
	 * Returns 0, or -errno when the file is broken (then *why is set).
	 */
	int (*find)(void *ctx, const struct up_object *o, const struct up_query *q,
		    up_symbol_fn *fn, void *arg, struct up_why *why);

	/* Virtual address to file offset and back, by PT_LOAD. Sets *out only for UP_PLACE_CODE and
	 * _DATA. */
	enum up_place (*to_offset)(void *ctx, const struct up_object *o, uint64_t addr,
				   uint64_t *out);
	enum up_place (*to_addr)(void *ctx, const struct up_object *o, uint64_t off, uint64_t *out);

	/* The function whose bytes hold addr (nearest symbol at or before it, within its size). */
	bool (*func_at)(void *ctx, const struct up_object *o, uint64_t addr, struct up_symbol *out);

	/*
	 * May a probe stand at addr (already known to be UP_PLACE_CODE)? False, with *why, when it
	 * is not the start of an instruction or the kernel cannot probe the instruction there.
	 */
	bool (*can_probe)(void *ctx, const struct up_object *o, uint64_t addr, struct up_why *why);

	/*
	 * Does the object only import `name`? Then true, and *lib is the needed library that
	 * defines it ("libc.so.6"), or NULL when none was found. Lives as long as the object.
	 */
	bool (*imports)(void *ctx, const struct up_object *o, const char *name, const char **lib);

	/* Offers names for "did you mean". */
	void (*near_symbols)(void *ctx, const struct up_object *o, struct up_nearest *n);
	void (*near_objects)(void *ctx, struct up_nearest *n);
};

#endif
