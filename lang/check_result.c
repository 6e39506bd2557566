/* The checker's results of aggregations, read by name: NAME, NAME[KEYS], NAME.FIELD. */
#include "lang/check.h"

#include <string.h>

static const char *key_list(struct up_check *cx, const char *const *labels, uint32_t nr)
{
	const char *s = "";

	for (uint32_t i = 0; i < nr; i++)
		s = up_arena_printf(cx->ds->arena, "%s%s%s", s, i ? ", " : "", labels[i]);
	return s;
}

bool up_check_keys(struct up_check *cx, struct up_node *n, struct up_node *keys, const char *name,
		   uint32_t nr, const struct up_type *types, const char *const *labels,
		   struct up_span where)
{
	uint32_t i = 0;

	if (!up_check_list(cx, keys))
		return false;
	if (up_count_nodes(keys) != nr) {
		up_error(cx->ds, n->span, E_TYPE, "`%s` has %u key%s, this gives %u", name, nr,
			 nr == 1 ? "" : "s", up_count_nodes(keys));
		up_diag_note(cx->ds, where, "here it is `%s[%s]`", name, key_list(cx, labels, nr));
		return false;
	}
	for (const struct up_node *k = keys; k; k = k->next, i++) {
		if (up_is_poison(types[i]) || up_is_poison(k->type) ||
		    up_type_same_form(types[i], k->type))
			continue;
		up_error(cx->ds, k->span, E_TYPE, "the key `%s` of `%s` is %s, this is %s",
			 labels[i], name, up_kind_name(types[i]), up_kind_name(k->type));
		up_diag_note(cx->ds, where, "here");
		return false;
	}
	return true;
}

static struct up_type unknown_field(struct up_check *cx, struct up_node *n,
				    const struct up_plan_agg *a, struct up_span span,
				    const char *field)
{
	struct up_buf b = { 0 };

	for (unsigned f = 0; f < a->row->nr_fields; f++)
		up_buf_printf(&b, "%s%s", f ? ", " : "", a->row->fields[f].name);
	up_error(cx->ds, span, E_UNKNOWN_NAME, "`%s` has no result `%s`", a->name, field);
	up_diag_hint(cx->ds, "%s gives %s", a->row->signature, b.s ? b.s : "nothing");
	up_buf_fini(&b);
	return up_poison(n);
}

struct up_type up_check_result(struct up_check *cx, struct up_node *n, uint32_t i,
			       struct up_node *keys, const char *field, struct up_span field_span)
{
	const struct up_plan_agg *a = &cx->aggs.v[i];
	unsigned f = 0;

	if (!keys && a->nr_keys) {
		up_error(cx->ds, n->span, E_TYPE, "`%s` has a result for each key", a->name);
		up_diag_hint(cx->ds, "write %s[%s]%s%s, or `for` to go through all", a->name,
			     key_list(cx, a->key_labels, a->nr_keys), field ? "." : "",
			     field ? field : "");
		return up_poison(n);
	}
	if (!up_check_keys(cx, n, keys, a->name, a->nr_keys, a->key_types, a->key_labels,
			   cx->aggs_seen.v[i]->span))
		return up_poison(n);
	while (field && f < a->row->nr_fields && strcmp(a->row->fields[f].name, field))
		f++;
	if (f >= a->row->nr_fields)
		return unknown_field(cx, n, a, field_span, field ? field : "");
	n->sem = SEM_RESULT;
	n->ref = up_result_ref(i, f);
	struct up_agg_cx acx = up_plan_agg_cx(a);
	return n->type = a->row->field_type(f, &acx);
}
