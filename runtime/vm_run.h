/* One run of a handler, and what of the machine carries parts of it out: internal to it. */
#ifndef UP_VM_RUN_H
#define UP_VM_RUN_H

#include "runtime/vm.h"

/* In units of the budget. */
#define UP_RUN_LINE 50 /* a line of output */
#define UP_RUN_ROW 10  /* a row that is shown, sought or made */
#define UP_RUN_BYTES 4 /* so many bytes, of output and of texts, are one unit */

/* What one run of a handler works on. */
struct up_run {
	struct up_vm *vm;
	const struct up_hit *hit;
	const struct up_plan_site *site;
	const struct up_plan_block *block; /* without a hit: which it is; then there is no site */
	const struct up_plan_prog *prog;
	struct up_thread *thread; /* whose calls these are */
	struct up_call *call;     /* the call opened or closed, or NULL */
	char offset[24];          /* text of `offset` */
};

/* The table of a variable or an aggregation. */
static inline const struct up_table *up_vm_table(const struct up_vm *vm, unsigned store)
{
	unsigned i = up_store_index(store);

	return up_store_is_agg(store) ? &vm->aggs[i] : &vm->vars.tables[i];
}

/* ---- what is put out: vm_put.c ---- */

/* Print and printf number i of the plan, with their values. */
void up_run_print(const struct up_run *r, unsigned i, const struct up_value *v);
void up_run_printf(const struct up_run *r, unsigned i, const struct up_value *v);
/* Shows a variable or an aggregation. */
void up_run_show(struct up_vm *vm, unsigned store);

#endif
