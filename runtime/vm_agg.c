/* The machine's aggregations: taking in hits, reading results, clearing. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/vm.h"

#define MAX_ROWS 1000000       /* groups of one aggregation; more are counted as dropped */
#define MAX_MEMORY (1ul << 30) /* bytes that cells own; at most a quarter of the machine's */

static size_t choose_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	size_t most = MAX_MEMORY;

	if (pages > 0 && size > 0 && (size_t)pages / 4 < most / (size_t)size)
		most = (size_t)pages / 4 * (size_t)size;
	return most;
}

int up_vm_aggs_init(struct up_vm *vm)
{
	const struct up_plan *p = vm->plan;

	vm->agg_left = choose_memory();
	vm->aggs = calloc(p->nr_aggs + 1, sizeof(*vm->aggs));
	vm->agg_cx = calloc(p->nr_aggs + 1, sizeof(*vm->agg_cx));
	vm->agg_cleared = calloc(p->nr_aggs + 1, sizeof(*vm->agg_cleared));
	if (!vm->aggs || !vm->agg_cx || !vm->agg_cleared)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nr_aggs; i++) {
		up_table_init(&vm->aggs[i], p->aggs[i].row->cell_size, MAX_ROWS);
		vm->agg_cx[i] = up_plan_agg_cx(&p->aggs[i]);
	}
	return 0;
}

const struct up_agg_cx *up_vm_agg_cx(struct up_vm *vm, uint32_t i)
{
	vm->agg_cx[i].now = vm->now;
	vm->agg_cx[i].left = &vm->agg_left; /* the machine may have been moved */
	return &vm->agg_cx[i];
}

static void free_cells(struct up_vm *vm, uint32_t i)
{
	const struct up_agg_row *row = vm->plan->aggs[i].row;
	const struct up_agg_cx *cx = up_vm_agg_cx(vm, i);
	const void *key;
	size_t key_len;

	for (size_t r = 0; row->fini && r < up_table_end(&vm->aggs[i]); r++) {
		void *cell = up_table_row(&vm->aggs[i], r, &key, &key_len);

		if (cell)
			row->fini(cell, cx);
	}
}

void up_vm_aggs_fini(struct up_vm *vm)
{
	bool whole = vm->aggs && vm->agg_cx && vm->agg_cleared;

	for (uint32_t i = 0; whole && i < vm->plan->nr_aggs; i++) {
		free_cells(vm, i);
		up_table_fini(&vm->aggs[i]);
	}
	free(vm->aggs);
	free(vm->agg_cx);
	free(vm->agg_cleared);
}

void up_vm_begin(struct up_vm *vm, uint64_t now)
{
	vm->now = now;
	for (uint32_t i = 0; i < vm->plan->nr_aggs; i++)
		vm->agg_cx[i].since = now;
}

/* The key of a group, in vm->key; false when memory is out. */
static bool make_key(struct up_vm *vm, const struct up_plan_agg *a, const struct up_value *keys)
{
	up_key_reset(&vm->key);
	for (uint32_t k = 0; k < a->nr_keys; k++)
		up_key_add(&vm->key, a->key_types[k].ty, &keys[k]);
	return !vm->key.failed;
}

/* The cell of the group with these keys, a new one if need be; NULL: no room, counted. */
static void *cell_at(struct up_vm *vm, uint32_t i, const struct up_value *keys)
{
	const struct up_plan_agg *a = &vm->plan->aggs[i];
	struct up_table *t = &vm->aggs[i];
	const void *key;
	size_t len;

	/* The usual cases, which need no key to be made: one group, and one number. */
	if (!a->nr_keys && up_table_count(t))
		return up_table_row(t, 0, &key, &len);
	if (a->nr_keys == 1 && a->key_types[0].ty == TY_INT && !(keys->flags & UP_VALUE_FAULT))
		return up_table_at_number(t, keys->u);
	if (make_key(vm, a, keys))
		return up_table_at(t, vm->key.p, vm->key.len);
	t->overflow++;
	return NULL;
}

void up_vm_add(struct up_vm *vm, uint32_t i, const struct up_value *v)
{
	const struct up_plan_agg *a = &vm->plan->aggs[i];
	struct up_table *t = &vm->aggs[i];
	const struct up_agg_cx *cx = up_vm_agg_cx(vm, i);

	for (uint32_t k = a->nr_keys; k < a->nr_keys + a->nr_args; k++)
		if (v[k].flags & UP_VALUE_FAULT)
			return; /* counted when it was read */
	size_t before = up_table_count(t);
	void *cell = cell_at(vm, i, v);
	if (!cell || a->row->add(cell, cx, v + a->nr_keys))
		return;
	t->overflow++;
	if (up_table_count(t) > before && make_key(vm, a, v)) /* there is no row without a hit */
		up_table_delete(t, vm->key.p, vm->key.len);
}

void up_vm_clear_agg(struct up_vm *vm, uint32_t i)
{
	free_cells(vm, i);
	up_table_clear(&vm->aggs[i]);
	vm->agg_cx[i].since = vm->now;
	vm->agg_cleared[i] = true;
}

bool up_vm_delete_agg(struct up_vm *vm, uint32_t i, const struct up_value *keys)
{
	const struct up_plan_agg *a = &vm->plan->aggs[i];
	const struct up_agg_cx *cx = up_vm_agg_cx(vm, i);

	if (!make_key(vm, a, keys))
		return false;
	void *cell = up_table_find(&vm->aggs[i], vm->key.p, vm->key.len);
	if (cell && a->row->fini)
		a->row->fini(cell, cx);
	return cell && up_table_delete(&vm->aggs[i], vm->key.p, vm->key.len);
}

/* The nearest number of 64 bits. */
static struct up_value narrow(struct up_type t, const struct up_wide *w)
{
	if (!t.is_signed)
		return (struct up_value){ .u = w->hi < 0 ? 0 : UINT64_MAX };
	return (struct up_value){ .s = w->hi < 0 ? INT64_MIN : INT64_MAX };
}

static struct up_value cell_field(struct up_vm *vm, uint32_t i, const void *cell, unsigned field)
{
	const struct up_agg_row *row = vm->plan->aggs[i].row;
	const struct up_agg_cx *cx = up_vm_agg_cx(vm, i);
	struct up_value v = row->field(cell, cx, field);

	return v.flags & UP_VALUE_WIDE ? narrow(row->field_type(field, cx), v.wide) : v;
}

struct up_value up_vm_agg_field(struct up_vm *vm, uint32_t i, const struct up_value *keys,
				unsigned field)
{
	const void *cell = NULL;

	if (make_key(vm, &vm->plan->aggs[i], keys))
		cell = up_table_find(&vm->aggs[i], vm->key.p, vm->key.len);
	return cell ? cell_field(vm, i, cell, field) : (struct up_value){ 0 };
}
