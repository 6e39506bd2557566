/* What handlers put out: lines and tables, and what that takes off the budget. */
#include "runtime/vm_run.h"

/* What has grown since `before`. */
static void charge(struct up_vm *vm, size_t before)
{
	vm->budget -= UP_RUN_LINE + (int64_t)((vm->out->buf.len - before) / UP_RUN_BYTES);
}

static void set_comm(const struct up_run *r, struct up_out_hit *o)
{
	if (!r->site) {
		o->comm = "uptick";
		o->comm_len = 6;
	}
	if (r->prog->comm_arg == UP_NONE)
		return;
	struct up_value comm = up_vm_string(r->hit, &r->hit->fields[r->prog->comm_arg]);
	if (comm.flags & UP_VALUE_FAULT)
		return;
	o->comm = comm.p;
	o->comm_len = comm.len;
}

static struct up_out_hit describe(const struct up_run *r)
{
	struct up_out_hit o = { .time = r->hit->time,
				.tid = r->hit->tid,
				.probe = r->site ? r->site->probe : r->block->name,
				.is_return = r->prog->is_return };

	set_comm(r, &o);
	return o;
}

void up_run_print(const struct up_run *r, unsigned i, const struct up_value *v)
{
	struct up_out_hit o = describe(r);
	size_t before = r->vm->out->buf.len;

	r->vm->out->form->print(r->vm->out, &o, &r->vm->plan->prints[i], v);
	charge(r->vm, before);
}

void up_run_printf(const struct up_run *r, unsigned i, const struct up_value *v)
{
	struct up_out_hit o = describe(r);
	struct up_buf *b = &r->vm->text;
	size_t before = r->vm->out->buf.len;

	up_buf_reset(b);
	up_out_printf(b, &r->vm->plan->printfs[i], v);
	r->vm->out->form->text(r->vm->out, &o, b->s ? b->s : "", b->len);
	charge(r->vm, before);
}

void up_run_show(struct up_vm *vm, unsigned store)
{
	size_t before = vm->out->buf.len;

	vm->budget -= (int64_t)up_table_count(up_vm_table(vm, store)) * UP_RUN_ROW;
	if (up_store_is_agg(store))
		up_vm_show_agg(vm, up_store_index(store));
	else
		up_vm_show_var(vm, up_store_index(store));
	charge(vm, before);
}
