/*
 * The machine that runs handlers. It reads one record at a time and knows nothing of where records
 * come from. No allocation per hit, but for rows that an aggregation gains.
 */
#ifndef UP_VM_H
#define UP_VM_H

#include "lang/opcodes.h"
#include "lang/plan.h"
#include "runtime/calls.h"
#include "runtime/field.h"
#include "runtime/loops.h"
#include "runtime/memory.h"
#include "runtime/out.h"
#include "runtime/procs.h"
#include "runtime/symbolize.h"
#include "runtime/table.h"
#include "runtime/vars.h"

struct up_succession;

/* One hit: a record, and what is known of it. */
struct up_hit {
	const unsigned char *rec;      /* the record */
	uint32_t len;                  /* its bytes */
	uint32_t site;                 /* index in plan->sites */
	const struct up_field *fields; /* of the event's arguments, in the plan's order */
	uint64_t time;                 /* ns */
	uint64_t ip;                   /* __probe_ip, or of a return __probe_ret_ip */
	uint64_t place; /* where the probe sits in this process; 0 when it is not known */
	pid_t tid;
	uint32_t cpu;
};

#define UP_VM_PEEKED 32
#define UP_VM_MENDED 16384 /* bytes for texts that have to be completed */

struct up_counts {
	uint64_t handled;  /* hits whose handler ran to its end */
	uint64_t filtered; /* hits that a `when` rejected */
	uint64_t unpaired; /* returns whose entry was not seen, or not selected */
	uint64_t faults;   /* values that could not be read */
	uint64_t by_zero;  /* divisions by zero */
	uint64_t cut_off;  /* handlers that were ended because they ran too long */
	uint64_t no_room;  /* texts that a handler made and that found no room */
};

/*
 * What a handler may run: only loops can take long. Counted are instructions, and what takes longer
 * than one: rows that are shown or passed over, lines and bytes of output, long texts. A unit is 10
 * to 100 ns.
 */
#define UP_VM_BUDGET 10000000        /* of a hit's handler */
#define UP_VM_BUDGET_BLOCK 100000000 /* of `on start`, `on every`, `on end` */
#define UP_VM_SCRATCH (256u * 1024)  /* bytes of the texts that a handler makes */

/* Memory that was read late for this hit. */
struct up_vm_peeked {
	uint64_t addr; /* where */
	size_t want;   /* bytes that were asked for */
	size_t got;    /* and that there were */
	const char *s; /* the bytes */
};

struct up_vm {
	const struct up_plan *plan;
	bool is_offline; /* the traced programs are not here, and never were perhaps */
	struct up_value *regs;
	struct up_table *aggs;    /* one an aggregation of the plan */
	struct up_agg_cx *agg_cx; /* what the functions of each one's row are told */
	bool *agg_cleared;        /* was it cleared? */
	size_t agg_left;          /* bytes that cells of aggregations may still allocate */
	uint64_t now;             /* ns: the time of what is being handled, or of asking */
	struct up_vars vars;      /* of the script */
	struct up_loop loops[UP_LOOPS_MAX]; /* those that run, outermost first */
	int64_t budget;                     /* what the handler may still run */
	unsigned (*urgency)(void);          /* rises when the run is to end; NULL: never */
	unsigned urgency_before; /* when the outermost loop began: a rise since then ends it */
	char *scratch;           /* texts that the handler has made: UP_VM_SCRATCH bytes, or NULL */
	size_t nr_scratch;       /* how much of it is used */
	struct up_key key;       /* scratch */
	struct up_buf text;      /* scratch, for printf */
	char *mended;            /* texts of this hit that had to be completed, or were read late */
	size_t mended_size;      /* its bytes */
	size_t nr_mended;        /* how much of it is used */
	struct up_memory memory; /* of traced programs, for what is read late */
	struct up_vm_peeked
		peeked[UP_VM_PEEKED]; /* what this hit has read late, for a second use */
	unsigned nr_peeked;           /* how many */
	struct up_calls calls;
	struct up_procs procs;
	struct up_symbolize *symbols; /* names of addresses; NULL until the first is asked for */
	struct up_out *out;
	struct up_counts counts;
	bool stopped;    /* stop() was called */
	int stop_status; /* its exit status */
};

/* -ENOMEM, or 0. The plan and the output must outlive it. */
int up_vm_init(struct up_vm *vm, const struct up_plan *plan, struct up_out *out);
void up_vm_fini(struct up_vm *vm);

/*
 * The programs are not here, they were traced elsewhere or at another time: neither their memory
 * nor /proc is looked at, nor files of which it is not known that they are the same.
 */
void up_vm_set_offline(struct up_vm *vm);

/*
 * Another plan goes on where this one is: with its calls, processes, counts, and with what the
 * variables and aggregations that both have hold. up_vm_prepare() makes `next` ready, or returns
 * -ENOMEM; up_vm_succeed() puts it in the place of `vm` and cannot fail. What was prepared and is
 * not wanted goes through up_vm_fini().
 */
int up_vm_prepare(struct up_vm *next, const struct up_vm *vm, const struct up_plan *plan);
void up_vm_succeed(struct up_vm *vm, struct up_vm *next, const struct up_succession *s,
		   uint64_t now);

/* Runs the handler of a hit's site. */
void up_vm_hit(struct up_vm *vm, const struct up_hit *hit);

/* Runs a block that belongs to no hit, at a time. */
void up_vm_block(struct up_vm *vm, uint32_t i, uint64_t now);

/*
 * Room for a text that a handler makes; it lives until the handler ends, or its loop's turn. NULL
 * when there is none left; counted.
 */
char *up_vm_scratch(struct up_vm *vm, size_t n);

/*
 * A string that the kernel has read: its __data_loc holds the offset in the low half, the length
 * with NUL in the high one; length 0 is a fault.
 */
struct up_value up_vm_string(const struct up_hit *h, const struct up_field *f);
/*
 * What OP_TEXT and OP_CHARS do: the text, whose arguments lie one behind the other; `addr` is where
 * it was read.
 */
struct up_value up_vm_text(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			   uint64_t addr);
/* What OP_BYTES and OP_ARRAY do; `addr` 0: it cannot be told where it was read. */
struct up_value up_vm_bytes(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			    uint64_t addr);

/* What OP_PEEK does: reads at `addr`. Bytes live until the handler returns. */
struct up_value up_vm_peek(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			   uint64_t addr);
/* The most scratch memory that one run of a handler needs for that. */
size_t up_vm_peek_room(const struct up_plan *plan);

/* A thread has begun: whoever had its number before has ended, even if that was not told. */
void up_vm_born(struct up_vm *vm, pid_t tid);
/* A thread has ended: what is known of it, and of its process if it was the main one, is forgotten.
 */
void up_vm_died(struct up_vm *vm, pid_t tid);

/* ---- aggregations: vm_agg.c ---- */

int up_vm_aggs_init(struct up_vm *vm);
void up_vm_aggs_fini(struct up_vm *vm);
/* Gathering begins: rates are counted from here. */
void up_vm_begin(struct up_vm *vm, uint64_t now);
/* What the functions of an aggregate's row are to be told at vm->now. */
const struct up_agg_cx *up_vm_agg_cx(struct up_vm *vm, uint32_t i);
/* Takes in one hit: the values of the keys, then of the arguments. */
void up_vm_add(struct up_vm *vm, uint32_t i, const struct up_value *v);
/*
 * A result of the group with these keys; 0 or "" where there is none. What needs more than 64 bits
 * becomes the nearest number that does not. Bytes are borrowed until the next hit.
 */
struct up_value up_vm_agg_field(struct up_vm *vm, uint32_t i, const struct up_value *keys,
				unsigned field);
/* Forgets one group; false when there is none. */
bool up_vm_delete_agg(struct up_vm *vm, uint32_t i, const struct up_value *keys);
/* Forgets all groups; rates begin anew at vm->now. */
void up_vm_clear_agg(struct up_vm *vm, uint32_t i);
/* ---- many at once: vm_many.c ---- */

#define UP_MANY_ARGS 4 /* arguments of such an aggregation, at most */

/* Can an aggregation take in many hits at once? One of numbers can, with one integer as its key. */
bool up_vm_may_add_many(const struct up_vm *vm, uint32_t i);
/*
 * As up_vm_add() of one hit after the other: numbers[0][k] is the key of hit k, numbers[1][k] its
 * first argument; without a key that is numbers[0][k]. Up to UP_TABLE_MANY hits.
 */
void up_vm_add_many(struct up_vm *vm, uint32_t i, uint64_t (*numbers)[UP_TABLE_MANY], size_t nr);

/* ---- showing: vm_show.c ---- */

/* Shows one aggregation. -ENOMEM, or 0. */
int up_vm_show_agg(struct up_vm *vm, uint32_t i);
/* Shows a variable. -ENOMEM, or 0. */
int up_vm_show_var(struct up_vm *vm, uint32_t i);
/* Shows every aggregation but those that have gathered nothing since they were cleared. */
int up_vm_show(struct up_vm *vm);

#endif
