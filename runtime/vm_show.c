/* Aggregations as output: rows sorted by value, keys taken apart again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/vm.h"

/*
 * A row while it is sorted. The ranks order most rows alone, without looking at the table. `rank`
 * is a number that is smaller where the value is larger; equal ranks are equal values unless these
 * consist of bytes. `key_rank` is not larger where the first key is smaller.
 */
struct item {
	uint64_t rank[2]; /* high half, low half */
	uint64_t key_rank;
	const void *cell; /* in the table */
	const void *key;  /* its bytes */
	uint32_t key_len;
};

/* What sorting needs to know. */
struct order {
	const struct up_plan_agg *agg;
	struct up_agg_cx cx;
	struct up_type type; /* of the first result */
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

/* NaN is larger than all numbers, so that there is an order. */
static int compare_floats(double a, double b)
{
	if (a != a || b != b)
		return (a != a) - (b != b);
	return (a > b) - (a < b);
}

/* Faults come last. */
static int compare_values(struct up_type t, const struct up_value *a, const struct up_value *b)
{
	uint32_t fa = a->flags & UP_VALUE_FAULT, fb = b->flags & UP_VALUE_FAULT;

	if (fa || fb)
		return (int)fa - (int)fb;
	if (t.ty == TY_ARRAY)
		return compare_arrays(t, a, b);
	if (t.ty == TY_STR || t.ty == TY_BYTES) {
		size_t len = a->len < b->len ? a->len : b->len;
		int order = len ? memcmp(a->p, b->p, len) : 0;

		return order ? order : (a->len > b->len) - (a->len < b->len);
	}
	if (t.ty == TY_FLOAT)
		return compare_floats(a->f, b->f);
	if (t.is_signed)
		return (a->s > b->s) - (a->s < b->s);
	return (a->u > b->u) - (a->u < b->u);
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

/* ---- order ---- */

/* The bits of a float, so that they compare as it does; NaN is smallest: its row comes last. */
static uint64_t float_rank(double f)
{
	uint64_t bits;

	if (f != f)
		return 0;
	f = f == 0 ? 0 : f;
	memcpy(&bits, &f, sizeof(bits));
	return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static void make_rank(struct up_type t, const struct up_value *v, uint64_t rank[2])
{
	const uint64_t sign = (uint64_t)1 << 63;
	struct up_wide w = { .lo = v->u, .hi = t.is_signed && v->s < 0 ? -1 : 0 };

	if (up_ty_has_bytes(t.ty))
		w = (struct up_wide){ 0 };
	else if (t.ty == TY_FLOAT)
		w = (struct up_wide){ .lo = float_rank(v->f) };
	else if (v->flags & UP_VALUE_WIDE)
		w = *v->wide;
	rank[0] = ~((uint64_t)w.hi ^ sign);
	rank[1] = ~w.lo;
}

/* The start of a text as a number. */
static uint64_t text_rank(const struct up_value *v)
{
	unsigned char start[8] = { 0 };
	uint64_t rank = 0;

	if (v->len)
		memcpy(start, v->p, v->len < sizeof(start) ? v->len : sizeof(start));
	for (size_t i = 0; i < sizeof(start); i++)
		rank = rank << 8 | start[i];
	return rank;
}

static uint64_t key_rank(const struct up_plan_agg *a, const void *key, size_t len)
{
	struct up_type t = a->nr_keys ? a->key_types[0] : UP_TYPE_NONE;
	struct up_value v;
	size_t pos = 0;
	enum up_ty ty;

	if (!a->nr_keys || !up_key_next(key, len, &pos, &ty, &v) || t.ty == TY_ARRAY)
		return 0;
	if (v.flags & UP_VALUE_FAULT)
		return UINT64_MAX;
	if (up_ty_has_bytes(t.ty))
		return text_rank(&v);
	if (t.ty == TY_FLOAT)
		return v.f != v.f ? UINT64_MAX : float_rank(v.f);
	return t.is_signed ? v.u ^ (uint64_t)1 << 63 : v.u;
}

static int compare_keys(const struct up_plan_agg *a, const struct item *x, const struct item *y)
{
	size_t px = 0, py = 0;
	struct up_value vx, vy;
	enum up_ty ty;

	for (uint32_t k = 0; k < a->nr_keys; k++) {
		if (!up_key_next(x->key, x->key_len, &px, &ty, &vx) ||
		    !up_key_next(y->key, y->key_len, &py, &ty, &vy))
			return 0;
		int order = compare_values(a->key_types[k], &vx, &vy);
		if (order)
			return order;
	}
	return 0;
}

/* Largest value first; equal ones by key, so that output is the same every time. */
static int compare_items(const void *vx, const void *vy, void *arg)
{
	const struct item *x = vx, *y = vy;
	const struct order *o = arg;

	for (int i = 0; i < 2; i++)
		if (x->rank[i] != y->rank[i])
			return x->rank[i] < y->rank[i] ? -1 : 1;
	if (up_ty_has_bytes(o->type.ty)) {
		struct up_value a = o->agg->row->field(x->cell, &o->cx, 0);
		struct up_value b = o->agg->row->field(y->cell, &o->cx, 0);
		int order = compare_values(o->type, &b, &a);

		if (order)
			return order;
	}
	if (x->key_rank != y->key_rank)
		return x->key_rank < y->key_rank ? -1 : 1;
	return compare_keys(o->agg, x, y);
}

static void swap(struct item *a, struct item *b)
{
	struct item t = *a;

	*a = *b;
	*b = t;
}

/* Moves v[i] down until no child in v[0..nr) comes after its parent. */
static void sift(struct item *v, size_t nr, size_t i, struct order *o)
{
	for (size_t child; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && compare_items(&v[child + 1], &v[child], o) > 0)
			child++;
		if (compare_items(&v[i], &v[child], o) >= 0)
			return;
		swap(&v[i], &v[child]);
	}
}

/* Brings the first `top` of v[0..nr) in order to its start: those of a heap whose root is last. */
static void sort_items(struct item *v, size_t nr, size_t top, struct order *o)
{
	if (top < nr) {
		for (size_t i = top / 2; i-- > 0;)
			sift(v, top, i, o);
		for (size_t i = top; i < nr; i++)
			if (compare_items(&v[i], &v[0], o) < 0) {
				swap(&v[i], &v[0]);
				sift(v, top, 0, o);
			}
		nr = top;
	}
	qsort_r(v, nr, sizeof(*v), compare_items, o);
}

/* ---- showing ---- */

static size_t gather(const struct order *o, const struct up_table *t, struct item *v)
{
	size_t nr = 0, key_len;
	const void *key;

	for (size_t i = 0; i < up_table_end(t); i++) {
		const void *cell = up_table_row(t, i, &key, &key_len);

		if (!cell)
			continue;
		struct up_value value = o->agg->row->field(cell, &o->cx, 0);
		v[nr] = (struct item){ .key_rank = key_rank(o->agg, key, key_len),
				       .cell = cell,
				       .key = key,
				       .key_len = (uint32_t)key_len };
		make_rank(o->type, &value, v[nr++].rank);
	}
	return nr;
}

static int show_rows(struct up_vm *vm, const struct order *o, const struct item *v,
		     struct up_out_agg *show)
{
	size_t nr = show->nr_rows, nr_keys = o->agg->nr_keys;
	struct up_out_row *rows = calloc(nr + 1, sizeof(*rows));
	struct up_value *keys = calloc(nr * nr_keys + 1, sizeof(*keys));
	int err = rows && keys ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		rows[i] = (struct up_out_row){ keys + i * nr_keys, v[i].cell };
		take_keys(o->agg, v[i].key, v[i].key_len, keys + i * nr_keys);
	}
	show->rows = rows;
	if (!err)
		vm->out->form->agg(vm->out, show);
	free(rows);
	free(keys);
	return err;
}

static int show_table(struct up_vm *vm, const struct up_plan_agg *a, struct up_agg_cx cx,
		      const struct up_table *t)
{
	struct order o = { .agg = a, .cx = cx };
	struct item *v = calloc(up_table_count(t) + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	o.type = a->row->field_type(0, &o.cx);
	struct up_out_agg show = { .plan = a, .cx = o.cx };
	show.total_rows = gather(&o, t, v);
	show.nr_rows = a->top && a->top < show.total_rows ? a->top : show.total_rows;
	sort_items(v, show.total_rows, show.nr_rows, &o);
	int err = show_rows(vm, &o, v, &show);
	free(v);
	return err;
}

int up_vm_show_agg(struct up_vm *vm, uint32_t i)
{
	return show_table(vm, &vm->plan->aggs[i], *up_vm_agg_cx(vm, i), &vm->aggs[i]);
}

int up_vm_show_var(struct up_vm *vm, uint32_t i)
{
	const struct up_plan_var *var = &vm->plan->vars[i];
	struct up_type type = var->type;
	struct up_value none = { 0 };
	struct up_plan_agg a = { .name = var->name,
				 .is_named = true,
				 .row = &up_var_row,
				 .nr_args = 1,
				 .arg_types = &type,
				 .consts = &none,
				 .nr_keys = var->nr_keys,
				 .key_labels = var->key_labels,
				 .key_types = var->key_types };
	struct up_agg_cx cx = up_plan_agg_cx(&a);

	cx.now = vm->now;
	if (var->scope == UP_VAR_TABLE)
		return show_table(vm, &a, cx, &vm->vars.tables[i]);
	struct up_out_row row = { NULL, &vm->vars.globals[i] };
	struct up_out_agg show = {
		.plan = &a, .cx = cx, .rows = &row, .nr_rows = 1, .total_rows = 1
	};
	vm->out->form->agg(vm->out, &show);
	return 0;
}

int up_vm_show(struct up_vm *vm)
{
	int err = 0;

	for (uint32_t i = 0; i < vm->plan->nr_aggs && !err; i++)
		if (up_table_count(&vm->aggs[i]) || !vm->agg_cleared[i])
			err = up_vm_show_agg(vm, i);
	return err;
}
