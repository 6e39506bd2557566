/* first(x) and last(x): values of any type, in the order of events. */
#include <string.h>

#include "stdlib/builtin/agg.h"

struct kept_cell {
	uint64_t bits; /* of a number */
	char *p;       /* bytes of text, or NULL */
	uint32_t size; /* bytes allocated */
	uint32_t len;  /* bytes used */
	uint32_t flags;
	bool is_set;
};

static bool keep_bytes(struct kept_cell *c, const struct up_agg_cx *cx, const struct up_value *v)
{
	if (v->len > c->size) {
		char *p = up_agg_grow(cx, c->p, c->size, v->len);

		if (!p)
			return false;
		c->p = p;
		c->size = v->len;
	}
	if (v->len)
		memcpy(c->p, v->p, v->len);
	c->len = v->len;
	return true;
}

static bool last_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct kept_cell *c = cell;

	if (!up_ty_has_bytes(cx->types[0].ty))
		c->bits = v->u;
	else if (!keep_bytes(c, cx, v))
		return false;
	c->flags = v->flags;
	c->is_set = true;
	return true;
}

static bool first_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	const struct kept_cell *c = cell;

	return c->is_set || last_add(cell, cx, v);
}

static void kept_fini(void *cell, const struct up_agg_cx *cx)
{
	struct kept_cell *c = cell;

	up_agg_grow(cx, c->p, c->size, 0);
	*c = (struct kept_cell){ 0 };
}

static struct up_value kept_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	const struct kept_cell *c = cell;

	(void)field;
	if (!up_ty_has_bytes(cx->types[0].ty))
		return (struct up_value){ .u = c->bits };
	return (struct up_value){ .p = c->p ? c->p : "", .len = c->len, .flags = c->flags };
}

static const struct up_agg_field first_fields[] = { { "first", NULL, "the first value" } };
static const struct up_agg_field last_fields[] = { { "last", NULL, "the latest value" } };

const struct up_agg_row up_agg_first = {
	.name = "first",
	.signature = "first(x)",
	.help = "the first x, of any type",
	.min_args = 1,
	.max_args = 1,
	.needs_order = true,
	.cell_size = sizeof(struct kept_cell),
	.check = up_agg_check_any,
	.add = first_add,
	.fini = kept_fini,
	.fields = first_fields,
	.nr_fields = UP_NR(first_fields),
	.field_type = up_agg_arg_type,
	.field = kept_field,
};

const struct up_agg_row up_agg_last = {
	.name = "last",
	.signature = "last(x)",
	.help = "the latest x, of any type",
	.min_args = 1,
	.max_args = 1,
	.needs_order = true,
	.cell_size = sizeof(struct kept_cell),
	.check = up_agg_check_any,
	.add = last_add,
	.fini = kept_fini,
	.fields = last_fields,
	.nr_fields = UP_NR(last_fields),
	.field_type = up_agg_arg_type,
	.field = kept_field,
};
