/* Aggregations as output: rows sorted by value, keys taken apart again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/vm.h"

/* All rows of one aggregation. */
struct rows {
	struct up_out_row *v;  /* the rows */
	struct up_value *keys; /* storage of their keys */
	size_t nr;
};

static int compare_values(struct up_type t, const struct up_value *a, const struct up_value *b);

/* Element by element; the shorter one first when all they share is equal. */
static int compare_arrays(struct up_type t, const struct up_value *a, const struct up_value *b)
{
	uint32_t na = up_element_count(t, a), nb = up_element_count(t, b);

	for (uint32_t i = 0; i < na && i < nb; i++) {
		struct up_value x = up_element(t, a, i), y = up_element(t, b, i);
		int order = compare_values(up_element_type(t), &x, &y);

		if (order)
			return order;
	}
	return (na > nb) - (na < nb);
}

static int compare_values(struct up_type t, const struct up_value *a, const struct up_value *b)
{
	if (t.ty == TY_ARRAY)
		return compare_arrays(t, a, b);
	if (t.ty == TY_STR || t.ty == TY_BYTES) {
		size_t len = a->len < b->len ? a->len : b->len;
		int order = len ? memcmp(a->p, b->p, len) : 0;

		return order ? order : (a->len > b->len) - (a->len < b->len);
	}
	if (t.ty == TY_FLOAT)
		return (a->f > b->f) - (a->f < b->f);
	if (t.is_signed)
		return (a->s > b->s) - (a->s < b->s);
	return (a->u > b->u) - (a->u < b->u);
}

/* Largest value first; equal ones by key, so that output is the same every time. */
static int by_value(const void *va, const void *vb, void *arg)
{
	const struct up_out_row *a = va, *b = vb;
	const struct up_plan_agg *agg = arg;
	int order = compare_values(agg->row->type, &b->value, &a->value);

	for (uint32_t k = 0; !order && k < agg->nr_keys; k++)
		order = compare_values(agg->key_types[k], &a->keys[k], &b->keys[k]);
	return order;
}

static void take_keys(const struct up_plan_agg *a, const void *key, size_t len,
		      struct up_value *out)
{
	size_t pos = 0;
	enum up_ty ty;

	for (uint32_t k = 0; k < a->nr_keys; k++)
		if (!up_key_next(key, len, &pos, &ty, &out[k]))
			out[k] = (struct up_value){ .flags = UP_VALUE_FAULT };
}

static int gather(const struct up_plan_agg *a, const struct up_table *t, struct rows *r)
{
	size_t count = up_table_count(t), key_len;
	const void *key;

	r->v = calloc(count + 1, sizeof(*r->v));
	r->keys = calloc(count * a->nr_keys + 1, sizeof(*r->keys));
	if (!r->v || !r->keys)
		return -ENOMEM;
	for (size_t i = 0; i < up_table_end(t); i++) {
		const void *cell = up_table_row(t, i, &key, &key_len);

		if (!cell)
			continue;
		struct up_value *keys = r->keys + r->nr * a->nr_keys;
		take_keys(a, key, key_len, keys);
		r->v[r->nr++] = (struct up_out_row){ keys, a->row->result(cell) };
	}
	qsort_r(r->v, r->nr, sizeof(*r->v), by_value, (void *)a);
	return 0;
}

static int show_one(struct up_vm *vm, uint32_t i)
{
	const struct up_plan_agg *a = &vm->plan->aggs[i];
	struct rows r = { 0 };
	int err = gather(a, &vm->aggs[i], &r);

	if (!err) {
		size_t shown = a->top && a->top < r.nr ? a->top : r.nr;

		vm->out->form->agg(vm->out, a, r.v, shown, r.nr);
	}
	free(r.v);
	free(r.keys);
	return err;
}

int up_vm_show(struct up_vm *vm)
{
	int err = 0;

	for (uint32_t i = 0; i < vm->plan->nr_aggs && !err; i++)
		err = show_one(vm, i);
	return err;
}
