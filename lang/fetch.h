/*
 * Expressions as kernel fetch arguments: `@(arg0 + 8):u32` is `+8(%di):u32`. Collects what one
 * event fetches, each thing once.
 */
#ifndef UP_FETCH_H
#define UP_FETCH_H

#include "lang/abi.h"
#include "lang/ast.h"
#include "lang/up.h"

#define UP_FETCH_DEPTH 14 /* nested memory reads: MAX_ARG_LEVEL of the kernel */

/* A fetch argument being built, and the pointers it follows. */
struct up_fetch {
	const char *text; /* "+8(%di)" */
	const char *base; /* of memory: what the address rests on, "%di"; NULL for a constant */
	uint64_t off;     /* of memory: what is added to it */
	const char
		*ptrs[UP_FETCH_DEPTH]; /* fetch texts of the pointers on the way, outermost last */
	unsigned nr_ptrs;
	/*
	 * The pointer stands in memory and is narrower than the kernel's, which cannot follow it:
	 * it must be read here, and the memory at it plus `off` in user space. Nothing else but
	 * `off` is set then. NULL when the kernel reads all.
	 */
	const struct up_node *late;
};

/* When an event happens. */
enum up_side {
	UP_SIDE_ENTRY,
	UP_SIDE_RETURN, /* the kernel's return probe */
	UP_SIDE_EXIT,   /* right before an instruction that returns */
	UP_SIDE_JUMP    /* right before a jump to another function, which returns in its stead */
};

/* What one event of one probe fetches. */
struct up_shape {
	struct up_arena *arena; /* the plan's */
	UP_VEC(struct up_plan_arg) args;
	enum up_side side;
	uint32_t event; /* index of the event that it became, or UP_NONE */
	uint32_t after; /* its event comes behind this one, or UP_NONE: no matter where */
	bool reads_sp;  /* does the script itself want to know the stack pointer? */
};

struct up_fetch_cx {
	struct up_diags *ds;
	const struct up_env *env;
	const struct up_abi *abi;
	enum up_side side;
};

/*
 * Is this a value that the kernel can fetch as it is (a register, an argument, a stack word,
 * memory), rather than one that is computed from such values?
 */
bool up_is_fetchable(const struct up_node *n, bool at_return);

/* The fetch text of such a value, without type. False after a diagnostic. */
bool up_fetch_value(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out);

/* The fetch text that reads memory at the address n: "+8(%di)", or out->late. False after a
 * diagnostic. */
bool up_fetch_memory(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out);

/*
 * The index of the argument `text` of kernel type `type` in the shape, added if it is new.
 * Numbers of 64 bits are the same whatever their sign. UP_NONE after a diagnostic.
 */
uint32_t up_shape_add(struct up_fetch_cx *cx, struct up_shape *s, const char *text,
		      const char *type, struct up_span span);

/* Has the value another word behind it, which up_fetch_behind() fetches? */
bool up_has_behind(const struct up_node *n);

/*
 * The fetch text of the word behind such a value: of the next argument, the next word of the stack
 * or of memory, the second word that is returned. False after a diagnostic.
 */
bool up_fetch_behind(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out);

/* Memory that is read as elements of one type behind another: `count` of them, then perhaps single
 * bytes. */
struct up_run {
	const char *type; /* kernel type of an element */
	unsigned size;    /* its bytes */
	uint64_t count;   /* how many */
	uint64_t rest;    /* bytes behind the last element, read one by one */
};

/*
 * The index of the first of the arguments that read a run at f, as arrays: an array has 64 elements
 * at most, and the kernel's own strings can make a hit vanish (see docs/design/kernel.md). *pieces
 * says how many arguments follow each other. UP_NONE after a diagnostic.
 */
uint32_t up_shape_add_run(struct up_fetch_cx *cx, struct up_shape *s, const struct up_fetch *f,
			  const struct up_run *run, uint32_t *pieces, struct up_span span);

/* Does one of the arguments hold the stack pointer itself? */
bool up_shape_reads_sp(const struct up_shape *s);

#endif
