/* The checker's calls in expressions. */
#include "lang/check.h"

#include <string.h>

#include "lang/functions.h"
#include "lang/types.h"

static struct up_type check_fetch_call(struct up_check *cx, struct up_node *n)
{
	const struct up_node *arg = n->call.args;
	const char *type;

	if (!arg || arg->next || arg->kind != ND_STR) {
		up_error(cx->ds, n->span, E_ARG_COUNT,
			 "fetch takes one string: a kernel fetch argument");
		up_diag_hint(cx->ds, "as in fetch(\"+8(%%di):u32\")");
		return up_poison(n);
	}
	if (!up_fetch_text_ok(arg->str.s, arg->str.len, &type)) {
		up_error(cx->ds, arg->span, E_FETCH,
			 "this is no fetch argument: it has a blank, or `=`, or nothing in it");
		return up_poison(n);
	}
	struct up_type t;
	uint16_t size;
	if (!up_type_of_kernel(type, &t, &size)) {
		up_error(cx->ds, arg->span, E_UNKNOWN_TYPE,
			 "`%s` is no type that can be fetched like this", type);
		up_diag_hint(cx->ds, "u8 to u64, s8 to s64, x8 to x64, arrays of these as u32[8], "
				     "b4@3/32, string");
		return up_poison(n);
	}
	n->sem = SEM_FETCH;
	return n->type = t;
}

static struct up_type unknown_function(struct up_check *cx, struct up_node *n)
{
	const char *name = n->call.name;
	struct up_nearest near;

	up_error(cx->ds, n->call.name_span, E_UNKNOWN_FUNCTION, "there is no function `%s`", name);
	up_nearest_init(&near, name, strlen(name));
	for (unsigned i = 0; i < FN_COUNT; i++)
		if (up_fn_rows[i].name)
			up_nearest_offer(&near, up_fn_rows[i].name, strlen(up_fn_rows[i].name));
	for (const struct up_agg_row *const *r = cx->env->aggs; *r; r++)
		up_nearest_offer(&near, (*r)->name, strlen((*r)->name));
	if (up_foreign_word(name))
		up_diag_hint(cx->ds, "%s", up_foreign_word(name));
	else
		up_diag_nearest(cx->ds, &near);
	return up_poison(n);
}

struct up_type up_check_call(struct up_check *cx, struct up_node *n)
{
	const char *name = n->call.name;

	if (!strcmp(name, "fetch"))
		return cx->where == UP_AT_BLOCK ? up_check_no_hit(cx, n, name)
						: check_fetch_call(cx, n);
	if (!strcmp(name, "len") && up_check_len(cx, n))
		return n->type;
	const struct up_fn_row *row = up_fn_find(name);
	if (row && !up_agg_called(cx, n))
		return up_check_fn(cx, n, row);
	for (struct up_node *a = n->call.args; a; a = a->next)
		up_check_expr(cx, a);
	if (up_agg_called(cx, n)) {
		up_error(cx->ds, n->span, E_AGGREGATE,
			 "the aggregation `%s` gathers over hits and is a statement, not a value",
			 name);
		return up_poison(n);
	}
	return unknown_function(cx, n);
}
