/* The checker's statements: print, printf, aggregations, if, stop. */
#include "lang/check.h"

#include <string.h>

static unsigned count_nodes(const struct up_node *list)
{
	unsigned nr = 0;

	for (; list; list = list->next)
		nr++;
	return nr;
}

static bool is_poisoned(const struct up_node *list)
{
	for (; list; list = list->next)
		if (list->type.ty == TY_POISON)
			return true;
	return false;
}

static void check_list(struct up_check *cx, struct up_node *list)
{
	for (; list; list = list->next)
		up_check_expr(cx, list);
}

/* Labels and types of a list of expressions, in the plan's arena. */
static void describe(struct up_check *cx, const struct up_node *list, const char ***labels,
		     struct up_type **types)
{
	unsigned nr = count_nodes(list), i = 0;

	*labels = up_newn(cx->plan_arena, const char *, nr);
	*types = up_newn(cx->plan_arena, struct up_type, nr);
	for (; list; list = list->next, i++) {
		(*labels)[i] = up_source_label(cx->ds, cx->plan_arena, list->span);
		(*types)[i] = list->type;
	}
}

static void check_print(struct up_check *cx, struct up_node *call)
{
	struct up_plan_print p = { .nr = count_nodes(call->call.args) };

	check_list(cx, call->call.args);
	describe(cx, call->call.args, &p.labels, &p.types);
	call->sem = SEM_PRINT;
	call->ref = (uint32_t)cx->prints.nr;
	up_vec_push(cx->plan_arena, &cx->prints, p);
}

static void check_printf(struct up_check *cx, struct up_node *call)
{
	struct up_plan_printf p = { 0 };
	struct up_node *fmt = call->call.args;

	if (!fmt || fmt->kind != ND_STR) {
		up_error(cx->ds, call->span, E_FORMAT, "printf begins with a format in quotes");
		up_diag_hint(cx->ds, "as in printf(\"%%d %%s\\n\", arg0, comm)");
		check_list(cx, fmt);
		return;
	}
	check_list(cx, fmt->next);
	if (!up_check_format(cx, fmt, fmt->next, &p))
		return;
	call->sem = SEM_PRINTF;
	call->ref = (uint32_t)cx->printfs.nr;
	up_vec_push(cx->plan_arena, &cx->printfs, p);
}

static void check_stop(struct up_check *cx, struct up_node *call)
{
	struct up_node *code = call->call.args;

	check_list(cx, code);
	if (count_nodes(code) > 1)
		up_error(cx->ds, call->span, E_ARG_COUNT, "stop takes one exit status, or nothing");
	else if (code && code->type.ty != TY_INT && code->type.ty != TY_POISON)
		up_error(cx->ds, code->span, E_TYPE, "an exit status is a number");
	call->sem = SEM_STOP;
}

static void check_later_action(struct up_check *cx, struct up_node *call)
{
	up_error(cx->ds, call->call.name_span, E_LATER,
		 "the action `%s` is not to be had in this version", call->call.name);
}

/* The actions that are written like calls. */
static const struct action {
	const char *name;
	void (*check)(struct up_check *cx, struct up_node *call);
} actions[] = {
	{ "print", check_print },       { "printf", check_printf },      { "stop", check_stop },
	{ "show", check_later_action }, { "clear", check_later_action },
};

static const struct up_agg_row *find_agg(const struct up_check *cx, const char *name)
{
	for (const struct up_agg_row *const *r = cx->env->aggs; *r; r++)
		if (!strcmp((*r)->name, name))
			return *r;
	return NULL;
}

static const char *const later_aggs[] = {
	"sum",      "avg",  "min",  "max",   "stats", "hist", "lhist",
	"quantile", "uniq", "rate", "first", "last",  NULL,
};

static bool is_later_agg(const char *name)
{
	for (const char *const *a = later_aggs; *a; a++)
		if (!strcmp(*a, name))
			return true;
	return false;
}

/* Words of other tracers, and what is written here. */
const char *up_foreign_word(const char *name)
{
	static const char *const words[][2] = {
		{ "exit", "to end the run write stop()" },
		{ "str", "the text that arg0 points to is arg0:string" },
		{ "kstr", "the text that arg0 points to is arg0:string" },
		{ "ustr", "the text that arg0 points to is arg0:string" },
		{ "buf", "N bytes at arg0 are arg0:bytes[N]" },
		{ "usym", "an address as function+offset is arg0:sym" },
		{ "quantize", "this version has count()" },
		{ "trace", "write print(...)" },
		{ "echo", "write print(...)" },
		{ "nsecs", "the time in ns is `time`" },
		{ "args", "the arguments are arg0, arg1, ..." },
		{ "uid", "who a process belongs to cannot be asked for" },
		{ "curtask", "the thread is `tid`" },
		{ NULL, NULL },
	};

	for (size_t i = 0; words[i][0]; i++)
		if (!strcmp(words[i][0], name))
			return words[i][1];
	return NULL;
}

static void unknown_action(struct up_check *cx, struct up_node *call)
{
	struct up_nearest near;
	struct up_buf b = { 0 };
	const char *name = call->call.name;

	up_error(cx->ds, call->call.name_span, E_UNKNOWN_FUNCTION,
		 "there is no action or aggregation `%s`", name);
	if (up_foreign_word(name)) {
		up_diag_hint(cx->ds, "%s", up_foreign_word(name));
		return;
	}
	up_nearest_init(&near, name, strlen(name));
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		up_nearest_offer(&near, actions[i].name, strlen(actions[i].name));
	for (const struct up_agg_row *const *r = cx->env->aggs; *r; r++)
		up_nearest_offer(&near, (*r)->name, strlen((*r)->name));
	if (up_nearest_list(&near, &b))
		up_diag_hint(cx->ds, "did you mean %s?", b.s);
	up_buf_fini(&b);
}

/* ---- aggregations ---- */

static bool check_agg_args(struct up_check *cx, const struct up_node *call,
			   const struct up_agg_row *row)
{
	unsigned nr = count_nodes(call->call.args);

	if (nr < row->min_args || nr > row->max_args) {
		up_error(cx->ds, call->span, E_ARG_COUNT, "`%s` is written %s", row->name,
			 row->signature);
		return false;
	}
	return !is_poisoned(call->call.args);
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

/* Two uses of one name must be the same aggregation. */
static bool same_agg(struct up_check *cx, const struct up_node *act, uint32_t i,
		     const struct up_plan_agg *a)
{
	const struct up_plan_agg *old = &cx->aggs.v[i];
	const char *what = NULL;

	if (old->row != a->row)
		what = "another aggregation";
	else if (old->nr_keys != a->nr_keys)
		what = "another number of keys";
	for (uint32_t k = 0; !what && k < a->nr_keys; k++)
		if (!up_type_same_form(old->key_types[k], a->key_types[k]))
			what = "keys of another type";
	if (!what)
		return true;
	up_error(cx->ds, act->span, E_TYPE, "`%s` already is %s", a->name, what);
	up_diag_note(cx->ds, cx->agg_spans.v[i], "here");
	return false;
}

/* The index of the aggregation: an earlier one of the same name, or a new one. */
static uint32_t place_agg(struct up_check *cx, const struct up_node *act,
			  const struct up_plan_agg *a)
{
	for (uint32_t i = 0; a->is_named && i < cx->aggs.nr; i++) {
		if (!cx->aggs.v[i].is_named || strcmp(cx->aggs.v[i].name, a->name))
			continue;
		if (!same_agg(cx, act, i, a))
			return UP_NONE;
		if (a->top > cx->aggs.v[i].top)
			cx->aggs.v[i].top = a->top;
		return i;
	}
	up_vec_push(cx->plan_arena, &cx->aggs, *a);
	up_vec_push(cx->plan_arena, &cx->agg_spans, act->span);
	return (uint32_t)cx->aggs.nr - 1;
}

static bool check_agg_name(struct up_check *cx, const struct up_node *lhs, enum up_op op)
{
	if (op != OPR_SET)
		return up_error(cx->ds, lhs->span, E_AGGREGATE, "an aggregation is named with `=`");
	if (lhs->kind != ND_NAME)
		return up_error(cx->ds, lhs->span, E_AGGREGATE,
				"an aggregation has a plain name; its keys stand behind `by`");
	return true;
}

static void check_agg(struct up_check *cx, struct up_node *act, struct up_node *call,
		      const struct up_agg_row *row)
{
	const struct up_node *lhs = act->act.lhs;
	struct up_plan_agg a = { .row = row, .nr_keys = count_nodes(act->act.by) };

	check_list(cx, call->call.args);
	check_list(cx, act->act.by);
	if (!check_agg_args(cx, call, row) || is_poisoned(act->act.by) ||
	    !top_rows(cx, act, &a.top) || (lhs && !check_agg_name(cx, lhs, act->act.op)))
		return;
	describe(cx, act->act.by, &a.key_labels, &a.key_types);
	a.is_named = lhs != NULL;
	a.name = lhs ? up_arena_strdup(cx->plan_arena, lhs->name.s)
		     : up_source_label(cx->ds, cx->plan_arena, call->span);
	a.where = cx->where_text;
	uint32_t i = place_agg(cx, act, &a);
	if (i == UP_NONE)
		return;
	call->sem = SEM_AGG;
	call->ref = i;
}

/* `by` and `top` belong to aggregations. */
static void check_no_keys(struct up_check *cx, const struct up_node *act)
{
	const struct up_node *what = act->act.by ? act->act.by : act->act.top;

	if (what)
		up_error(cx->ds, what->span, E_AGGREGATE,
			 "`by` and `top` belong behind an aggregation");
}

/* ---- statements ---- */

static void check_do(struct up_check *cx, struct up_node *act)
{
	struct up_node *call = act->act.rhs;

	if (call->kind != ND_CALL) {
		up_check_expr(cx, call);
		up_error(cx->ds, call->span, E_NOT_ACTION,
			 "this computes a value and does nothing with it");
		up_diag_hint(cx->ds, "to see it: print(%s)",
			     up_source_label(cx->ds, cx->ds->arena, call->span));
		return;
	}
	const struct up_agg_row *row = find_agg(cx, call->call.name);
	if (row) {
		check_agg(cx, act, call, row);
		return;
	}
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(actions[i].name, call->call.name)) {
			check_no_keys(cx, act);
			actions[i].check(cx, call);
			return;
		}
	check_list(cx, call->call.args);
	check_list(cx, act->act.by);
	if (is_later_agg(call->call.name))
		up_error(cx->ds, call->call.name_span, E_LATER,
			 "the aggregation `%s` is not to be had in this version", call->call.name);
	else
		unknown_action(cx, call);
}

static void check_assign(struct up_check *cx, struct up_node *act)
{
	struct up_node *rhs = act->act.rhs;
	const struct up_agg_row *row = rhs->kind == ND_CALL ? find_agg(cx, rhs->call.name) : NULL;

	if (row) {
		check_agg(cx, act, rhs, row);
		return;
	}
	if (rhs->kind == ND_CALL && is_later_agg(rhs->call.name)) {
		check_list(cx, rhs->call.args);
		check_list(cx, act->act.by);
		up_error(cx->ds, rhs->call.name_span, E_LATER,
			 "the aggregation `%s` is not to be had in this version", rhs->call.name);
		return;
	}
	up_check_expr(cx, rhs);
	check_no_keys(cx, act);
	up_error(cx->ds, act->act.lhs->span, E_LATER,
		 "variables are not to be had in this version");
	up_diag_hint(cx->ds, "an aggregation can be named: hits = count()");
}

static void check_stmt(struct up_check *cx, struct up_node *n)
{
	switch (n->kind) {
	case ND_DO:
		check_do(cx, n);
		break;
	case ND_ASSIGN:
		check_assign(cx, n);
		break;
	case ND_IF:
		up_check_cond(cx, n->cond.cond);
		up_check_block(cx, n->cond.then);
		if (n->cond.els && n->cond.els->kind == ND_IF)
			check_stmt(cx, n->cond.els);
		else if (n->cond.els)
			up_check_block(cx, n->cond.els);
		break;
	case ND_DELETE:
	case ND_FOR:
		up_error(cx->ds, n->span, E_LATER, "tables are not to be had in this version");
		break;
	default:
		break;
	}
}

void up_check_block(struct up_check *cx, struct up_node *block)
{
	for (struct up_node *n = block->block.stmts; n; n = n->next)
		check_stmt(cx, n);
}
