/* The checker's aggregations: NAME = AGGREGATE by KEYS top N. */
#include "lang/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct up_agg_row *up_agg_called(const struct up_check *cx, const struct up_node *call)
{
	if (call->kind != ND_CALL)
		return NULL;
	for (const struct up_agg_row *const *r = cx->env->aggs; *r; r++)
		if (!strcmp((*r)->name, call->call.name))
			return (*r)->is_function_too &&
					       up_count_nodes(call->call.args) > (*r)->max_args
				       ? NULL
				       : *r;
	return NULL;
}

/* ---- arguments ---- */

static bool const_number(const struct up_node *n, struct up_value *v)
{
	if (n->kind == ND_PAREN)
		return const_number(n->sub.e, v);
	if (up_const_int(n, &v->u))
		return true;
	if (n->kind == ND_FLOAT) {
		v->f = n->flt.v;
		return true;
	}
	if (n->kind != ND_UNARY || n->op.op != OPR_NEG || n->type.ty != TY_FLOAT ||
	    !const_number(n->op.a, v))
		return false;
	v->f = -v->f;
	return true;
}

static bool default_check(const struct up_agg_cx *cx, unsigned *arg, struct up_buf *why)
{
	for (*arg = 0; *arg < cx->nr_args; ++*arg)
		if (!up_type_is_number(cx->types[*arg])) {
			up_buf_printf(why, "this takes a number, not %s",
				      up_kind_name(cx->types[*arg]));
			return false;
		}
	return true;
}

static const struct up_node *nth(const struct up_node *list, unsigned i)
{
	while (i--)
		list = list->next;
	return list;
}

/* Asks the aggregate itself. */
static bool check_fit(struct up_check *cx, const struct up_node *call, const struct up_plan_agg *a)
{
	struct up_agg_cx acx = up_plan_agg_cx(a);
	struct up_buf why = { 0 };
	unsigned arg = 0;
	bool ok = a->row->check ? a->row->check(&acx, &arg, &why) : default_check(&acx, &arg, &why);

	if (!ok) {
		up_error(cx->ds, nth(call->call.args, arg)->span, E_TYPE, "%s",
			 why.s ? why.s : "this does not fit");
		up_diag_hint(cx->ds, "it is written %s", a->row->signature);
	}
	up_buf_fini(&why);
	return ok;
}

static bool check_args(struct up_check *cx, const struct up_node *call, struct up_plan_agg *a)
{
	const struct up_agg_row *row = a->row;
	unsigned i = 0;

	a->nr_args = up_count_nodes(call->call.args);
	if (a->nr_args < row->min_args || a->nr_args > row->max_args)
		return up_error(cx->ds, call->span, E_ARG_COUNT, "`%s` is written %s", row->name,
				row->signature);
	a->arg_types = up_newn(cx->plan_arena, struct up_type, a->nr_args);
	a->consts = up_newn(cx->plan_arena, struct up_value, a->nr_args);
	for (const struct up_node *n = call->call.args; n; n = n->next, i++) {
		a->arg_types[i] = n->type;
		a->consts[i] = (struct up_value){ 0 };
		if (row->const_args >> i & 1 && !const_number(n, &a->consts[i]))
			return up_error(cx->ds, n->span, E_NOT_CONSTANT,
					"this argument of `%s` is a constant number", row->name);
	}
	return check_fit(cx, call, a);
}

static bool top_rows(struct up_check *cx, const struct up_node *act, uint32_t *rows)
{
	uint64_t v;

	*rows = 0;
	if (!act->act.top)
		return true;
	if (!up_const_int(act->act.top, &v) || v == 0 || v > UINT32_MAX) {
		up_error(cx->ds, act->act.top->span, E_NOT_CONSTANT,
			 "`top` takes a constant number of rows, 1 or more");
		return false;
	}
	if (!act->act.by) {
		up_error(cx->ds, act->act.top->span, E_AGGREGATE,
			 "`top` picks rows, and without `by` there is one");
		up_diag_hint(cx->ds, "as in count() by comm top 10");
		return false;
	}
	*rows = (uint32_t)v;
	return true;
}

/* ---- one aggregation in several places ---- */

/*
 * One type for what two places give: integers may differ in width and in how they are shown, not
 * in what the same 64 bits mean.
 */
static bool join(struct up_type *a, struct up_type b)
{
	if (!up_type_same_form(*a, b))
		return false;
	if (a->ty != TY_INT || (a->is_signed == b.is_signed && a->show == b.show)) {
		a->bits = a->bits > b.bits ? a->bits : b.bits;
		return true;
	}
	if (a->is_signed != b.is_signed && up_type_is_wide(*a) && up_type_is_wide(b))
		return false;
	a->is_signed = up_type_is_wide(*a) ? a->is_signed : !up_type_is_wide(b) || b.is_signed;
	a->show = a->show == b.show ? a->show : UP_SHOW_DEC;
	a->bits = 64;
	return true;
}

/* Do they differ in nothing but whether their 64 bits have a sign? */
static bool is_sign(struct up_type a, struct up_type b)
{
	return a.ty == TY_INT && b.ty == TY_INT && a.is_signed != b.is_signed;
}

static bool same_consts(const struct up_plan_agg *a, const struct up_plan_agg *b)
{
	for (uint32_t i = 0; i < a->nr_args; i++)
		if (a->row->const_args >> i & 1 && a->consts[i].u != b->consts[i].u)
			return false;
	return true;
}

/* Takes a second use of an aggregation into the first; NULL, or in what it differs. */
static const char *join_aggs(struct up_plan_agg *old, const struct up_plan_agg *a)
{
	const char *what = NULL;

	if (old->row != a->row)
		return "another aggregation";
	if (old->nr_args != a->nr_args)
		return "an aggregation with another number of arguments";
	if (!same_consts(old, a))
		return "an aggregation with other constants";
	if (old->nr_keys != a->nr_keys)
		return "an aggregation with another number of keys";
	for (uint32_t i = 0; i < a->nr_args; i++)
		if (!join(&old->arg_types[i], a->arg_types[i]))
			what = is_sign(old->arg_types[i], a->arg_types[i])
				       ? "an aggregation of values of another sign"
				       : "an aggregation of values of another type";
	for (uint32_t k = 0; k < a->nr_keys; k++)
		if (!join(&old->key_types[k], a->key_types[k]))
			what = is_sign(old->key_types[k], a->key_types[k])
				       ? "an aggregation with keys of another sign"
				       : "an aggregation with keys of another type";
	if (a->top > old->top)
		old->top = a->top;
	return what;
}

/*
 * The aggregation that stands here: one of that name, or an unnamed one that belongs to its place.
 * It gets its number when it is met first, whether its types are known by then or not.
 */
static struct up_agg_seen *see_agg(struct up_check *cx, const struct up_node *act,
				   const struct up_agg_row *row)
{
	const struct up_node *lhs = act->act.lhs;
	struct up_arena *arena = cx->ds->arena;
	char place[3 * 11 + 1]; /* no name begins with a digit */

	snprintf(place, sizeof(place), "%" PRIu32 ":%" PRIu32 ":%" PRIu32, act->span.src,
		 act->span.off, act->span.len);
	struct up_agg_seen *seen = up_nametab_find(&cx->agg_names, lhs ? lhs->name.s : place);
	if (seen)
		return seen;
	seen = up_new(arena, struct up_agg_seen);
	*seen = (struct up_agg_seen){ (uint32_t)cx->aggs.nr, 0, act->span };
	up_vec_push(cx->plan_arena, &cx->aggs, ((struct up_plan_agg){ .row = row }));
	up_vec_push(arena, &cx->aggs_seen, seen);
	up_nametab_add(arena, &cx->agg_names, lhs ? lhs->name.s : up_arena_strdup(arena, place),
		       seen);
	up_check_store_limit(cx, act->span);
	return seen;
}

/* Takes in what stands here of the aggregation. False after a diagnostic. */
static bool place_agg(struct up_check *cx, const struct up_node *act, struct up_agg_seen *seen,
		      const struct up_plan_agg *a)
{
	struct up_plan_agg *old = &cx->aggs.v[seen->index];

	if (seen->pass != cx->pass) { /* types may have become known since */
		cx->changed |= !seen->pass;
		*old = *a;
		seen->pass = cx->pass;
		seen->span = act->span;
		return true;
	}
	const char *what = join_aggs(old, a);
	if (!what)
		return true;
	up_error(cx->ds, act->span, E_TYPE, "`%s` already is %s", a->name, what);
	up_diag_note(cx->ds, seen->span, "here");
	if (strstr(what, "sign"))
		up_diag_hint(cx->ds, "say everywhere which it is: (VALUE):s64 or (VALUE):u64");
	return false;
}

static bool check_name(struct up_check *cx, const struct up_node *lhs, enum up_op op)
{
	if (op != OPR_SET)
		return up_error(cx->ds, lhs->span, E_AGGREGATE, "an aggregation is named with `=`");
	if (lhs->kind != ND_NAME)
		return up_error(cx->ds, lhs->span, E_AGGREGATE,
				"an aggregation has a plain name; its keys stand behind `by`");
	return up_check_free_name(cx, lhs->name.s, lhs->span);
}

bool up_check_agg(struct up_check *cx, struct up_node *act)
{
	struct up_node *call = act->act.rhs;
	const struct up_node *lhs = act->act.lhs;
	struct up_plan_agg a = { .row = up_agg_called(cx, call) };

	if (!a.row)
		return false;
	struct up_agg_seen *seen = lhs && lhs->kind != ND_NAME ? NULL : see_agg(cx, act, a.row);
	call->sem = SEM_NONE;
	bool ok = up_check_list(cx, call->call.args);
	ok = up_check_list(cx, act->act.by) && ok;
	if (!ok || !check_args(cx, call, &a) || !top_rows(cx, act, &a.top) ||
	    (lhs && !check_name(cx, lhs, act->act.op)))
		return true;
	a.nr_keys = up_count_nodes(act->act.by);
	up_check_describe(cx, act->act.by, &a.key_labels, &a.key_types);
	a.is_named = lhs != NULL;
	a.text = up_source_label(cx->ds, cx->plan_arena, call->span);
	a.name = lhs ? up_arena_strdup(cx->plan_arena, lhs->name.s) : a.text;
	a.where = cx->where_text;
	if (place_agg(cx, act, seen, &a)) {
		call->sem = SEM_AGG;
		call->ref = seen->index;
	}
	return true;
}

void up_check_aggs_known(struct up_check *cx)
{
	for (size_t i = 0; !cx->ds->nr_errors && i < cx->aggs.nr; i++)
		if (!cx->aggs_seen.v[i]->pass)
			up_error(cx->ds, cx->aggs_seen.v[i]->span, E_TYPE,
				 "what this gathers rests on too much that is not known yet");
}
