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

/* How the callers of a function hand over its arguments. */
enum up_calling {
	UP_CALLING_C,  /* as the processor's usual ABI says */
	UP_CALLING_GO, /* in the registers of Go's own ABI, one of which holds the goroutine */
	UP_CALLING_GO_STACK, /* on the stack, results too: Go's assembly, and all of it before 1.17
			      */
	UP_CALLING_COUNT
};

/* Which file stood at a path, and whether it is still as it was. All 0: not known. */
struct up_file_id {
	uint64_t dev, ino; /* which */
	uint64_t size;     /* bytes */
	int64_t written;   /* when it was last written to, ns */
};

/* The same file, whatever was written to it? */
static inline bool up_file_id_is_same(const struct up_file_id *a, const struct up_file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* An ELF file that was opened. Lives as long as the resolver. */
struct up_object {
	const char *path;        /* absolute, symlinks resolved: what the kernel is told */
	const char *name;        /* what to show: the last component of what was asked for */
	enum up_machine machine; /* from e_machine */
	bool is_pie;             /* ET_DYN */
	struct up_file_id id;    /* the file that was read */
	bool is_go;              /* it holds a program in Go */
	uint16_t goid_off;       /* then: of the number in a goroutine's structure; 0: not known */
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
 * An order of struct up_symbol for qsort(): by address, and of several names of one address the one
 * to show first: global before local, then the shorter, then by letters.
 */
int up_symbol_order(const void *a, const void *b);

enum up_query_kind { UP_QUERY_EXACT, UP_QUERY_GLOB };

struct up_query {
	enum up_query_kind kind;
	const char *pattern; /* NUL-terminated */
	const char *version; /* only this version; NULL for any */
};

/* What a probe would do to the program, where the kernel would take it all the same. */
enum up_harm {
	UP_HARM_NONE,    /* nothing; or it cannot be had */
	UP_HARM_INSIDE,  /* it changes an instruction, which it does not stand at the start of */
	UP_HARM_UNKNOWN, /* perhaps that: it cannot be told */
	UP_HARM_RED_ZONE /* the kernel overwrites the word below the stack pointer */
};

/* Why something was refused: text for a diagnostic. The caller frees it with up_why_fini(). */
struct up_why {
	struct up_buf msg;  /* what is wrong, without a full stop */
	struct up_buf hint; /* what to do; empty if there is nothing to say */
	enum up_harm harm;  /* of can_probe() */
};

static inline void up_why_fini(struct up_why *why)
{
	up_buf_fini(&why->msg);
	up_buf_fini(&why->hint);
}

enum up_place {
	UP_PLACE_CODE,   /* inside an executable PT_LOAD */
	UP_PLACE_DATA,   /* inside another PT_LOAD */
	UP_PLACE_NOWHERE /* in no PT_LOAD, or not backed by the file */
};

/* Somewhere a function is left. */
struct up_exit {
	uint64_t addr;
	/* A jump to another function, which returns in its stead: there is no return value yet. */
	bool is_tail;
};

/* Called for each way out; false stops the walk. */
typedef bool up_exit_fn(void *arg, const struct up_exit *e);

/*
 * A place in a function's first straight run at which a probe sees what it would see at the entry.
 * It is known to be the start of an instruction that can be probed.
 */
struct up_entry_at {
	uint64_t addr;
	unsigned cost;     /* of a hit, in about ns: for comparison alone */
	const char *insn;  /* "push", "nop", for a reader; static */
	unsigned sp_lower; /* bytes by which sp is lower there than at the entry */
	uint64_t regs;     /* registers changed on the way: bit i is abi->regs[i]; not sp, ip */
	/*
	 * The entry itself is hit again within one call, this place is not: take it. Never set for
	 * the entry.
	 */
	bool is_needed;
};

#define UP_MAX_ENTRIES 16 /* as many as entries() ever finds */

/* What a kernel return probe, which replaces the return address, would do to the program. */
enum up_return_risk {
	UP_RETURN_SAFE,
	UP_RETURN_EXCEPTIONS, /* one that crosses the function's frame ends the program */
	UP_RETURN_STACKS,     /* it switches stacks: returns are not in the order of one */
	UP_RETURN_GO          /* Go moves stacks and reads them */
};

/* Which of an object's functions have names that can be looked for. */
enum up_named {
	UP_NAMES_ALL,      /* all */
	UP_NAMES_EXPORTED, /* those that other objects can use: it is stripped */
	UP_NAMES_NONE      /* none: it is stripped, and others use nothing of it */
};

/* Called for each symbol; false stops the walk. */
typedef bool up_symbol_fn(void *arg, const struct up_symbol *sym);

struct up_resolver {
	void *ctx;
	bool is_recorded; /* it knows only what was probed when a recording was made */

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
	 * why->harm tells refusals that are for the program's sake from those without remedy.
	 */
	bool (*can_probe)(void *ctx, const struct up_object *o, uint64_t addr, struct up_why *why);

	/* How the function that holds addr is called. Only asked of objects that are Go. */
	enum up_calling (*calling)(void *ctx, const struct up_object *o, uint64_t addr);

	/*
	 * All ways out of the function that starts at addr, by address. One of them is the entry
	 * itself where the function is nothing but a jump. False, with *why, when they cannot be
	 * found completely; then fn was not called.
	 */
	bool (*exits)(void *ctx, const struct up_object *o, uint64_t addr, up_exit_fn *fn,
		      void *arg, struct up_why *why);

	/*
	 * Places for a probe on the entry of the function at addr: the entry itself first, then by
	 * address those that are cheaper, or needed. Returns how many, at least 1 of max. Nothing
	 * before a place writes memory but below the entry's sp.
	 */
	unsigned (*entries)(void *ctx, const struct up_object *o, uint64_t addr,
			    struct up_entry_at *out, unsigned max);

	/*
	 * What a kernel return probe on the function at addr would do to the program; *why gets
	 * words for a reader ("it is a Go program"), nothing when it is safe.
	 */
	enum up_return_risk (*return_risk)(void *ctx, const struct up_object *o, uint64_t addr,
					   struct up_buf *why);

	/*
	 * Does the object only import `name`? Then true, and *lib is the needed library that
	 * defines it ("libc.so.6"), or NULL when none was found. Lives as long as the object.
	 */
	bool (*imports)(void *ctx, const struct up_object *o, const char *name, const char **lib);

	/*
	 * Calls fn for each function that the indirect function with its resolver at addr may pick,
	 * as far as the resolver's code tells; the name is NULL where the object has none for it.
	 */
	void (*picks)(void *ctx, const struct up_object *o, uint64_t addr, up_symbol_fn *fn,
		      void *arg);

	/*
	 * Which functions have names here. Where not all have, *hint says how to get them; the
	 * caller frees it with up_buf_fini().
	 */
	enum up_named (*names)(void *ctx, const struct up_object *o, struct up_buf *hint);

	/* Offers names for "did you mean". */
	void (*near_symbols)(void *ctx, const struct up_object *o, struct up_nearest *n);
	void (*near_objects)(void *ctx, struct up_nearest *n);
};

/*
 * Offers functions by their C++ or Rust names, as near_symbols() does by their symbols: all when
 * what is wanted holds "::", else those of no namespace.
 */
void up_near_source_names(const struct up_resolver *r, const struct up_object *o,
			  struct up_nearest *n);

#endif
