/* Variables: cells that own their bytes. */
#include "runtime/vars.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int up_vars_init(struct up_vars *vs, const struct up_plan *plan, size_t *left)
{
	*vs = (struct up_vars){ .plan = plan, .left = left };
	up_table_init(&vs->threads, sizeof(struct up_cell *), 0);
	vs->globals = calloc(plan->nr_vars + 1, sizeof(*vs->globals));
	vs->tables = calloc(plan->nr_vars + 1, sizeof(*vs->tables));
	if (!vs->globals || !vs->tables)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->nr_vars; i++)
		up_table_init(&vs->tables[i], sizeof(struct up_cell), UP_VARS_MAX_ROWS);
	return 0;
}

static void free_own(struct up_vars *vs, struct up_cell *c)
{
	*vs->left += c->cap;
	free(c->own);
}

static void free_rows(struct up_vars *vs, struct up_table *t)
{
	const void *key;
	size_t key_len;

	for (size_t r = 0; r < up_table_end(t); r++) {
		struct up_cell *c = up_table_row(t, r, &key, &key_len);

		if (c)
			free_own(vs, c);
	}
}

static void free_cells(struct up_vars *vs, struct up_cell *cells)
{
	for (uint32_t i = 0; cells && i < vs->plan->nr_vars; i++)
		free_own(vs, &cells[i]);
	free(cells);
}

void up_vars_fini(struct up_vars *vs)
{
	const void *key;
	size_t key_len;

	if (!vs->plan)
		return;
	for (uint32_t i = 0; vs->tables && i < vs->plan->nr_vars; i++) {
		free_rows(vs, &vs->tables[i]);
		up_table_fini(&vs->tables[i]);
	}
	for (size_t r = 0; r < up_table_end(&vs->threads); r++) {
		struct up_cell **cells = up_table_row(&vs->threads, r, &key, &key_len);

		if (cells)
			free_cells(vs, *cells);
	}
	free_cells(vs, vs->globals);
	free(vs->tables);
	up_table_fini(&vs->threads);
	up_key_fini(&vs->key);
	*vs = (struct up_vars){ 0 };
}

/* ---- another plan ---- */

int up_vars_reserve(struct up_vars *to, const struct up_vars *vs)
{
	const void *key;
	size_t key_len;

	for (size_t r = 0; r < up_table_end(&vs->threads); r++) {
		if (!up_table_row(&vs->threads, r, &key, &key_len))
			continue;
		struct up_cell **cells = up_table_at(&to->threads, key, key_len);

		if (cells)
			*cells = calloc(to->plan->nr_vars + 1, sizeof(**cells));
		if (!cells || !*cells)
			return -ENOMEM;
	}
	return 0;
}

static void move_cell(struct up_cell *to, struct up_cell *from)
{
	*to = *from;
	*from = (struct up_cell){ 0 };
}

static void move_thread_cells(struct up_vars *to, struct up_vars *vs, const uint32_t *from)
{
	const void *key;
	size_t key_len;

	for (size_t r = 0; r < up_table_end(&vs->threads); r++) {
		struct up_cell **old = up_table_row(&vs->threads, r, &key, &key_len);
		struct up_cell **new = old ? up_table_find(&to->threads, key, key_len) : NULL;

		for (uint32_t i = 0; new &&*old &&i < to->plan->nr_vars; i++)
			if (from[i] != UP_NONE)
				move_cell(&(*new)[i], &(*old)[from[i]]);
	}
}

void up_vars_take_over(struct up_vars *to, struct up_vars *vs, const uint32_t *from)
{
	move_thread_cells(to, vs, from);
	for (uint32_t i = 0; i < to->plan->nr_vars; i++) {
		struct up_table empty;

		if (from[i] == UP_NONE)
			continue;
		move_cell(&to->globals[i], &vs->globals[from[i]]);
		empty = to->tables[i];
		to->tables[i] = vs->tables[from[i]];
		vs->tables[from[i]] = empty;
	}
	to->no_memory = vs->no_memory;
}

/* ---- cells ---- */

static struct up_value empty_value(const struct up_vars *vs, uint32_t i)
{
	struct up_value v = { 0 };

	if (up_ty_has_bytes(vs->plan->vars[i].type.ty))
		v.p = "";
	return v;
}

static struct up_value read_cell(const struct up_vars *vs, uint32_t i, const struct up_cell *c)
{
	struct up_value v;

	if (!c || !up_ty_has_bytes(vs->plan->vars[i].type.ty))
		return c ? c->v : empty_value(vs, i);
	v = c->v;
	v.p = c->own ? c->own : "";
	return v;
}

static bool reserve(struct up_vars *vs, struct up_cell *c, uint32_t len)
{
	uint32_t cap = c->cap ? c->cap : 16;

	if (len <= c->cap)
		return true;
	while (cap < len)
		cap *= 2;
	if (cap - c->cap > *vs->left)
		return false;
	char *own = realloc(c->own, cap);
	if (!own)
		return false;
	*vs->left -= cap - c->cap;
	c->own = own;
	c->cap = cap;
	return true;
}

/* The bytes may be the cell's own. False without memory, counted: the cell is as it was. */
static bool write_cell(struct up_vars *vs, uint32_t i, struct up_cell *c, const struct up_value *v)
{
	bool has_bytes = up_ty_has_bytes(vs->plan->vars[i].type.ty);

	if (!has_bytes || (v->flags & UP_VALUE_FAULT)) {
		c->v = *v;
		if (has_bytes)
			c->v.len = 0;
		return true;
	}
	if (v->len && v->p == c->own) {
		c->v.len = v->len;
		c->v.flags = v->flags;
		return true;
	}
	bool is_inside = c->own && v->p > c->own && v->p < c->own + c->cap;
	if (!is_inside && !reserve(vs, c, v->len)) {
		vs->no_memory++;
		return false;
	}
	if (v->len)
		memmove(c->own, v->p, v->len);
	c->v = (struct up_value){ .len = v->len, .flags = v->flags };
	return true;
}

/* ---- globals ---- */

struct up_value up_vars_get(const struct up_vars *vs, uint32_t i)
{
	return read_cell(vs, i, &vs->globals[i]);
}

void up_vars_set(struct up_vars *vs, uint32_t i, const struct up_value *v)
{
	write_cell(vs, i, &vs->globals[i], v);
}

/* ---- threads ---- */

struct up_value up_vars_get_thread(struct up_vars *vs, pid_t tid, uint32_t i)
{
	uint64_t key = (uint64_t)tid;
	struct up_cell **cells = up_table_find(&vs->threads, &key, sizeof(key));

	return read_cell(vs, i, cells && *cells ? &(*cells)[i] : NULL);
}

void up_vars_set_thread(struct up_vars *vs, pid_t tid, uint32_t i, const struct up_value *v)
{
	uint64_t key = (uint64_t)tid;
	struct up_cell **cells = up_table_at(&vs->threads, &key, sizeof(key));

	if (cells && !*cells)
		*cells = calloc(vs->plan->nr_vars, sizeof(**cells));
	if (!cells || !*cells)
		vs->no_memory++;
	else
		write_cell(vs, i, &(*cells)[i], v);
}

void up_vars_died(struct up_vars *vs, pid_t tid)
{
	uint64_t key = (uint64_t)tid;
	struct up_cell **cells = up_table_find(&vs->threads, &key, sizeof(key));

	if (!cells)
		return;
	free_cells(vs, *cells);
	up_table_delete(&vs->threads, &key, sizeof(key));
}

/* ---- tables ---- */

/* In vs->key; false when memory is out. */
static bool make_key(struct up_vars *vs, uint32_t i, const struct up_value *keys)
{
	const struct up_plan_var *var = &vs->plan->vars[i];

	up_key_reset(&vs->key);
	for (uint32_t k = 0; k < var->nr_keys; k++)
		up_key_add(&vs->key, var->key_types[k].ty, &keys[k]);
	return !vs->key.failed;
}

struct up_value up_vars_get_row(struct up_vars *vs, uint32_t i, const struct up_value *keys)
{
	const struct up_cell *c = NULL;

	if (make_key(vs, i, keys))
		c = up_table_find(&vs->tables[i], vs->key.p, vs->key.len);
	return read_cell(vs, i, c);
}

void up_vars_set_row(struct up_vars *vs, uint32_t i, const struct up_value *keys,
		     const struct up_value *v)
{
	struct up_table *t = &vs->tables[i];
	size_t before = up_table_count(t);

	if (!make_key(vs, i, keys)) {
		vs->no_memory++;
		return;
	}
	struct up_cell *c = up_table_at(t, vs->key.p, vs->key.len);
	/* Where there is none the table has counted it. */
	if (c && !write_cell(vs, i, c, v) && up_table_count(t) > before)
		up_table_delete(t, vs->key.p, vs->key.len);
}

void up_vars_delete_row(struct up_vars *vs, uint32_t i, const struct up_value *keys)
{
	struct up_cell *c;

	if (!make_key(vs, i, keys))
		return;
	c = up_table_find(&vs->tables[i], vs->key.p, vs->key.len);
	if (!c)
		return;
	free_own(vs, c);
	up_table_delete(&vs->tables[i], vs->key.p, vs->key.len);
}

void up_vars_clear(struct up_vars *vs, uint32_t i)
{
	free_rows(vs, &vs->tables[i]);
	up_table_clear(&vs->tables[i]);
	vs->globals[i].v = (struct up_value){ 0 };
}

uint64_t up_vars_dropped(const struct up_vars *vs)
{
	uint64_t nr = vs->no_memory;

	for (uint32_t i = 0; i < vs->plan->nr_vars; i++)
		nr += vs->tables[i].overflow;
	return nr;
}

/* ---- showing ---- */

static struct up_type value_type(unsigned field, const struct up_agg_cx *cx)
{
	(void)field;
	return cx->types[0];
}

static struct up_value value_of(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	const struct up_cell *c = cell;
	struct up_value v = c->v;

	(void)field;
	if (up_ty_has_bytes(cx->types[0].ty))
		v.p = c->own ? c->own : "";
	return v;
}

static const struct up_agg_field value_field = { "value", NULL, "what it holds" };

const struct up_agg_row up_var_row = {
	.name = "variable",
	.signature = "NAME",
	.help = "a variable",
	.max_args = 1,
	.cell_size = sizeof(struct up_cell),
	.fields = &value_field,
	.nr_fields = 1,
	.field_type = value_type,
	.field = value_of,
};
