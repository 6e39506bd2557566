/*
 * Handlers: from a checked block to instructions and the fetch arguments they read.
 */
#ifndef UP_CODEGEN_H
#define UP_CODEGEN_H

#include "lang/check.h"
#include "lang/fetch.h"
#include "lang/filter.h"
#include "lang/opcodes.h"

/* What is known of a site while the plan is being built. */
struct up_site_note {
	const struct up_object *object;
	bool is_fixed; /* the script says by an offset or address where the probe is to stand */
	bool reads_sp; /* as in the site's shape */
};

/* The plan while it is being built. */
struct up_build {
	struct up_arena *arena; /* the plan's */
	UP_VEC(struct up_value) consts;
	UP_VEC(struct up_plan_site) sites;
	UP_VEC(struct up_site_note) notes; /* of each site */
	UP_VEC(struct up_plan_prog) progs;
	UP_VEC(struct up_plan_probe) probes;
	UP_VEC(struct up_plan_event) events;
	struct up_nametab event_names; /* of each event's: the number to try next behind it */
	UP_VEC(uint32_t) owners; /* of each event: the probe that named it with `as`, or UP_NONE */
	bool needs_pid, needs_order, reads_late; /* as in the plan */
	bool told_no_result;                     /* was W_NO_RETVAL queued? */
};

#define UP_KEPT_MAX 4096 /* values of one entry: each takes room in every open call */

/* A value that a return block wants from the entry. */
struct up_kept {
	const struct up_node
		*expr;    /* as it is computed at the entry; NULL: a variable of the call */
	const char *text; /* that variable's name */
};

struct up_kept_list {
	UP_VEC(struct up_kept) list; /* the index is the call slot */
};

/* One block being compiled. */
struct up_gen {
	struct up_diags *ds;
	struct up_build *b;
	struct up_fetch_cx fetch;
	struct up_shape *shape; /* of the event that this block runs on */
	UP_VEC(struct up_insn) code;
	struct up_kept_list *kept; /* what the return wants from the entry; shared by both blocks */
	struct up_filter filter;   /* of its `when` */
	const char *jumper;        /* of UP_SIDE_JUMP: a function that is left so */
	unsigned base;             /* registers below it hold variables of loops */
	unsigned loops;            /* loops around */
	unsigned nr_regs;          /* highest register used, plus one */
	bool prints;               /* does it make lines of output? */
	bool failed;               /* a diagnostic was queued */
};

/* Computes n into register r; registers above r may be used on the way. */
void up_gen_expr(struct up_gen *g, const struct up_node *n, unsigned r);
/* Computes a list into registers from r on; returns the register behind the last. */
unsigned up_gen_list(struct up_gen *g, const struct up_node *list, unsigned r);
/* Computes n as 0 or 1. */
void up_gen_cond(struct up_gen *g, const struct up_node *n, unsigned r);
/* `when`: rejects the hit unless the condition holds. */
void up_gen_when(struct up_gen *g, const struct up_node *cond);
/* Opens the call and keeps what the return wants. */
void up_gen_enter(struct up_gen *g);
void up_gen_block(struct up_gen *g, const struct up_node *block);

/* Computes a number as a float. */
void up_gen_float(struct up_gen *g, const struct up_node *n, unsigned r);

/* ---- codegen_load.c ---- */

/* Loads a number, by a type of the kernel's, into register r. */
void up_gen_value(struct up_gen *g, const struct up_node *n, const char *type, unsigned r);
/* `comm` */
void up_gen_comm(struct up_gen *g, const struct up_node *n, unsigned r);
/* `fetch("...")` */
void up_gen_fetch(struct up_gen *g, const struct up_node *n, unsigned r);
/* `VALUE:TYPE` */
void up_gen_typed(struct up_gen *g, const struct up_node *n, unsigned r);

/* ---- codegen_fn.c ---- */

/* A call of a built-in function: its value, into register r. */
void up_gen_fn(struct up_gen *g, const struct up_node *n, unsigned r);
/* `a + b` of strings */
void up_gen_join(struct up_gen *g, const struct up_node *n, unsigned r);

/* ---- codegen_var.c ---- */

/* Reads a variable, or a table's row, into register r. */
void up_gen_var(struct up_gen *g, const struct up_node *n, unsigned r);
/* A result of an aggregation, likewise. */
void up_gen_result(struct up_gen *g, const struct up_node *n, unsigned r);
/* How many rows a table or an aggregation has, likewise. */
void up_gen_len(struct up_gen *g, const struct up_node *n, unsigned r);
void up_gen_assign(struct up_gen *g, const struct up_node *act);
void up_gen_delete(struct up_gen *g, const struct up_node *n);
void up_gen_for(struct up_gen *g, const struct up_node *n);
/* show(X), clear(X) */
void up_gen_store_call(struct up_gen *g, const struct up_node *call);

/* ---- single instructions ---- */

/* May register r, and the one behind it, be used? False after a diagnostic. */
bool up_has_register(struct up_gen *g, const struct up_node *n, unsigned r);
/* The kernel's type of a word: of a register, an argument, memory without a type. */
static inline const char *up_gen_word_type(const struct up_gen *g, const char *type)
{
	return up_abi_word_type(g->fetch.abi, type);
}

/* Appends an instruction; returns its index. */
uint32_t up_emit(struct up_gen *g, enum up_opcode op, unsigned a, unsigned b, unsigned c);
/* Make register r a constant. */
void up_emit_const(struct up_gen *g, unsigned r, struct up_value v);
void up_emit_text(struct up_gen *g, unsigned r, const struct up_text *t);
/* Cuts the number in register r to an integer type. */
void up_emit_cast(struct up_gen *g, unsigned r, struct up_type t);
/* Appends a jump whose target is set later. */
uint32_t up_emit_jump(struct up_gen *g, enum up_opcode op, unsigned a);
/* Appends a jump to an earlier instruction. */
void up_emit_to(struct up_gen *g, enum up_opcode op, uint32_t to);
/* Makes that jump go to the next instruction. */
void up_patch(struct up_gen *g, uint32_t jump);

#endif
