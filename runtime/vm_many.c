/*
 * Many hits given to an aggregation at once: their groups are looked for together, so that the
 * processor waits for memory once instead of for each.
 */
#include "runtime/vm.h"

bool up_vm_may_add_many(const struct up_vm *vm, uint32_t i)
{
	const struct up_plan_agg *a = &vm->plan->aggs[i];

	for (uint32_t k = 0; k < a->nr_args; k++)
		if (!up_type_is_number(a->arg_types[k]))
			return false;
	return a->nr_args <= UP_MANY_ARGS &&
	       (!a->nr_keys || (a->nr_keys == 1 && a->key_types[0].ty == TY_INT));
}

/* The cells of their groups; NULL for those that found no room, counted. */
static void find_cells(struct up_vm *vm, uint32_t i, const uint64_t *keys, size_t nr, void **cells)
{
	struct up_table *t = &vm->aggs[i];

	if (vm->plan->aggs[i].nr_keys) {
		up_table_at_numbers(t, keys, nr, cells);
		return;
	}
	for (size_t k = 0; k < nr; k++)
		cells[k] = k && cells[0] ? cells[0] : up_table_at(t, "", 0);
}

/* How many were taken in before one was refused. */
static size_t add(const struct up_agg_row *row, void *const *cells, const struct up_agg_cx *cx,
		  const struct up_value *v, size_t nr)
{
	size_t k = 0;

	if (row->add_many)
		return row->add_many(cells, cx, v, nr);
	while (k < nr && (!cells[k] || row->add(cells[k], cx, v + k * cx->nr_args)))
		k++;
	return k;
}

static bool is_empty(const unsigned char *cell, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (cell[i])
			return false;
	return true;
}

/*
 * From hit `at` on, which was refused, one after the other: a group that was made for a refused hit
 * is taken away again, and another may get its place.
 */
static void add_rest(struct up_vm *vm, uint32_t i, const uint64_t *keys, void *const *cells,
		     const struct up_value *args, size_t at, size_t nr)
{
	struct up_table *t = &vm->aggs[i];
	uint32_t nr_keys = vm->plan->aggs[i].nr_keys, nr_args = vm->plan->aggs[i].nr_args;
	struct up_value v[1 + UP_MANY_ARGS] = { 0 };

	for (size_t k = at; k < nr; k++) {
		v[0].u = keys[k];
		t->overflow -= !cells[k];
		if (cells[k] && is_empty(cells[k], t->value_size))
			up_vm_delete_agg(vm, i, v);
	}
	for (size_t k = at; k < nr; k++) {
		v[0].u = keys[k];
		for (uint32_t n = 0; n < nr_args; n++)
			v[nr_keys + n] = args[k * nr_args + n];
		up_vm_add(vm, i, v);
	}
}

void up_vm_add_many(struct up_vm *vm, uint32_t i, uint64_t (*numbers)[UP_TABLE_MANY], size_t nr)
{
	const struct up_plan_agg *a = &vm->plan->aggs[i];
	struct up_value args[UP_TABLE_MANY * UP_MANY_ARGS];
	void *cells[UP_TABLE_MANY];
	size_t done;

	find_cells(vm, i, numbers[0], nr, cells);
	for (uint32_t n = 0; n < a->nr_args; n++)
		for (size_t k = 0; k < nr; k++)
			args[k * a->nr_args + n] =
				(struct up_value){ .u = numbers[a->nr_keys + n][k] };
	done = add(a->row, cells, up_vm_agg_cx(vm, i), args, nr);
	if (done < nr)
		add_rest(vm, i, numbers[0], cells, args, done, nr);
}
