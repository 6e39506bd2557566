/* A machine whose plan is followed by another one, while it runs. */
#include <string.h>

#include "lang/plan_succeed.h"
#include "runtime/vm.h"

int up_vm_prepare(struct up_vm *next, const struct up_vm *vm, const struct up_plan *plan)
{
	int err = up_vm_init(next, plan, vm->out);

	return err ? err : up_vars_reserve(&next->vars, &vm->vars);
}

static void take_aggs(struct up_vm *next, struct up_vm *vm, const struct up_succession *s,
		      uint64_t now)
{
	for (uint32_t i = 0; i < next->plan->nr_aggs; i++) {
		uint32_t from = s->aggs[i];
		struct up_table empty = next->aggs[i];

		next->agg_cx[i].since = now;
		if (from == UP_NONE)
			continue;
		next->aggs[i] = vm->aggs[from];
		vm->aggs[from] = empty;
		next->agg_cx[i].since = vm->agg_cx[from].since;
		next->agg_cleared[i] = vm->agg_cleared[from];
	}
}

#define SWAP(member)                                           \
	do {                                                   \
		__typeof__(next->member) mine_ = next->member; \
		next->member = vm->member;                     \
		vm->member = mine_;                            \
	} while (0)

void up_vm_succeed(struct up_vm *vm, struct up_vm *next, const struct up_succession *s,
		   uint64_t now)
{
	take_aggs(next, vm, s, now);
	up_vars_take_over(&next->vars, &vm->vars, s->vars);
	SWAP(memory);
	SWAP(calls);
	SWAP(procs);
	SWAP(symbols);
	next->counts = vm->counts;
	next->now = vm->now;
	next->urgency = vm->urgency;
	next->stopped = vm->stopped;
	next->stop_status = vm->stop_status;
	up_calls_orphan(&next->calls, s->keeps_calls, s->nr_probes);
	/* What is left of the old one gives its memory back to the account that goes on. */
	struct up_vm old = *vm;
	old.vars.left = &old.agg_left;
	up_vm_aggs_fini(&old);
	old.aggs = NULL;
	old.agg_cx = NULL;
	old.agg_cleared = NULL;
	up_vars_fini(&old.vars);
	next->agg_left = old.agg_left;
	up_vm_fini(&old);
	*vm = *next;
	vm->vars.left = &vm->agg_left;
}
