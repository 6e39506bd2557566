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
#include "runtime/out.h"
#include "runtime/procs.h"
#include "runtime/symbolize.h"
#include "runtime/table.h"

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

#define UP_VM_MENDED 16384

struct up_counts {
	uint64_t handled;  /* hits whose handler ran to its end */
	uint64_t filtered; /* hits that a `when` rejected */
	uint64_t unpaired; /* returns whose entry was not seen, or not selected */
	uint64_t faults;   /* values that could not be read */
	uint64_t by_zero;  /* divisions by zero */
};

struct up_vm {
	const struct up_plan *plan;
	struct up_value *regs;
	struct up_table *aggs; /* one an aggregation of the plan */
	struct up_key key;     /* scratch */
	struct up_buf text;    /* scratch, for printf */
	char *mended;          /* texts of this hit that had to be completed, UP_VM_MENDED bytes */
	size_t nr_mended;      /* how much of it is used */
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

/* Runs the handler of a hit's site. */
void up_vm_hit(struct up_vm *vm, const struct up_hit *hit);

/*
 * What OP_TEXT and OP_CHARS do: the text, whose arguments lie one behind the other; `addr` is where
 * it was read.
 */
struct up_value up_vm_text(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			   uint64_t addr);
/* What OP_BYTES and OP_ARRAY do; `addr` 0: it cannot be told where it was read. */
struct up_value up_vm_bytes(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			    uint64_t addr);

/* A thread has ended: what is known of it, and of its process if it was the main one, is forgotten.
 */
void up_vm_died(struct up_vm *vm, pid_t tid);

/* Shows every aggregation, rows largest first. */
int up_vm_show(struct up_vm *vm);

#endif
