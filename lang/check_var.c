/*
 * The checker's variables: globals, thread.x, call.x, tables, loop variables, and the results of
 * aggregations read by name.
 *
 * A variable has no declaration: its type is what is assigned to it. So the script is checked
 * several times; all passes but the last are muted, and learn types until nothing new comes.
 */
#include "lang/check.h"
#include "lang/expand.h"

#include <string.h>

/* ---- types ---- */

/* One type for two integers; false when one is signed, the other unsigned, and both are wide. */
static bool join_ints(struct up_type a, struct up_type b, struct up_type *out)
{
	if (up_type_is_wide(a) && up_type_is_wide(b) && a.is_signed != b.is_signed)
		return false;
	if (a.show == b.show && a.bits == b.bits && a.is_signed == b.is_signed) {
		*out = a;
		return true;
	}
	*out = UP_TYPE_S64;
	if (up_type_is_wide(a) || up_type_is_wide(b))
		out->is_signed = up_type_is_wide(a) ? a.is_signed : b.is_signed;
	out->show = a.show == b.show ? a.show : UP_SHOW_DEC;
	if (out->show == UP_SHOW_BOOL || out->show == UP_SHOW_CHAR)
		out->show = UP_SHOW_DEC;
	return true;
}

/* One type that can hold values of both. */
static bool join_types(struct up_type a, struct up_type b, struct up_type *out)
{
	if (a.ty == TY_INT && b.ty == TY_INT)
		return join_ints(a, b, out);
	if (up_type_is_number(a) && up_type_is_number(b)) {
		*out = UP_TYPE_FLOAT;
		return true;
	}
	*out = a;
	return up_type_same_form(a, b);
}

/* A constant that any integer can hold: it says nothing of the sign. */
static bool is_plain_constant(const struct up_node *n)
{
	uint64_t v;

	return n->type.ty == TY_INT && n->type.show != UP_SHOW_BOOL && up_const_int(n, &v) &&
	       v <= INT64_MAX;
}

static const char *sign_name(struct up_type t)
{
	return t.ty != TY_INT ? up_kind_name(t)
	       : t.is_signed  ? "a signed number"
			      : "an unsigned number";
}

static void type_conflict(struct up_check *cx, const struct up_var *v, const struct up_node *rhs)
{
	struct up_type t = rhs->type;
	bool is_sign = v->type.ty == TY_INT && t.ty == TY_INT;

	up_error(cx->ds, rhs->span, E_TYPE, "this is %s, and `%s` holds %s",
		 is_sign ? sign_name(t) : up_kind_name(t), v->name,
		 is_sign ? sign_name(v->type) : up_kind_name(v->type));
	up_diag_note(cx->ds, v->span, "%s here",
		     is_sign ? sign_name(v->type) : up_kind_name(v->type));
	if (is_sign)
		up_diag_hint(cx->ds, "say which it is: (%s):%s",
			     up_source_label(cx->ds, cx->ds->arena, rhs->span),
			     v->type.is_signed ? "s64" : "u64");
}

/* Takes in what an assignment tells of a variable. */
static void learn(struct up_check *cx, struct up_var *v, const struct up_node *rhs)
{
	struct up_type t = rhs->type, joined;

	if (up_is_poison(t))
		return;
	if (is_plain_constant(rhs)) {
		if (up_type_is_number(v->type) || (v->type.ty == TY_UNKNOWN && !cx->guess))
			return;
		t = UP_TYPE_S64;
	}
	if (v->type.ty == TY_UNKNOWN) {
		v->type = t;
		v->span = rhs->span;
		cx->changed = true;
	} else if (!join_types(v->type, t, &joined)) {
		type_conflict(cx, v, rhs);
	} else if (!up_type_is_same(joined, v->type)) {
		v->type = joined;
		cx->changed = true;
	}
}

/* ---- finding ---- */

/* The name under which a variable is found: globals and tables share one space. */
static const char *full_name(const struct up_check *cx, enum up_var_scope scope, const char *name)
{
	if (scope == UP_VAR_THREAD)
		return up_arena_printf(cx->ds->arena, "thread.%s", name);
	if (scope == UP_VAR_CALL)
		return up_arena_printf(cx->ds->arena, "call.%u.%s", cx->clause, name);
	return name;
}

static struct up_var *find_var(const struct up_check *cx, enum up_var_scope scope, const char *name)
{
	return up_nametab_find(&cx->var_names, full_name(cx, scope, name));
}

static struct up_var *add_var(struct up_check *cx, enum up_var_scope scope, const char *name,
			      struct up_span span)
{
	struct up_var *v = up_new(cx->ds->arena, struct up_var);

	*v = (struct up_var){ .name = up_arena_strdup(cx->plan_arena, name),
			      .scope = scope,
			      .type = UP_TYPE_UNKNOWN,
			      .span = span,
			      .key_span = span,
			      .index = (uint32_t)cx->vars.nr };
	up_vec_push(cx->ds->arena, &cx->vars, v);
	up_nametab_add(cx->ds->arena, &cx->var_names, full_name(cx, scope, v->name), v);
	cx->changed = true;
	up_check_store_limit(cx, span);
	return v;
}

void up_check_store_limit(struct up_check *cx, struct up_span span)
{
	if (cx->is_full || cx->vars.nr + cx->aggs.nr <= UP_STORES_MAX)
		return;
	cx->is_full = true;
	cx->full_span = span;
}

bool up_is_agg_name(const struct up_check *cx, const char *name, uint32_t *index)
{
	const struct up_agg_seen *seen = up_nametab_find(&cx->agg_names, name);

	if (seen && seen->pass)
		*index = seen->index;
	return seen && seen->pass;
}

static const struct up_local *find_local(const struct up_check *cx, const char *name, uint32_t *reg)
{
	for (size_t i = cx->locals.nr; i-- > 0;)
		if (!strcmp(cx->locals.v[i].name, name)) {
			*reg = (uint32_t)i;
			return &cx->locals.v[i];
		}
	return NULL;
}

void up_offer_vars(const struct up_check *cx, struct up_nearest *near)
{
	for (size_t i = 0; i < cx->vars.nr; i++)
		if (cx->vars.v[i]->is_assigned && cx->vars.v[i]->scope != UP_VAR_THREAD &&
		    cx->vars.v[i]->scope != UP_VAR_CALL)
			up_nearest_offer(near, cx->vars.v[i]->name, strlen(cx->vars.v[i]->name));
	for (size_t i = 0; i < cx->aggs.nr; i++)
		if (cx->aggs_seen.v[i]->pass && cx->aggs.v[i].is_named)
			up_nearest_offer(near, cx->aggs.v[i].name, strlen(cx->aggs.v[i].name));
	for (size_t i = 0; i < cx->locals.nr; i++)
		up_nearest_offer(near, cx->locals.v[i].name, strlen(cx->locals.v[i].name));
}

bool up_check_free_name(struct up_check *cx, const char *name, struct up_span span)
{
	const struct up_var *v = find_var(cx, UP_VAR_GLOBAL, name);

	if (!v || !v->is_assigned)
		return true;
	up_error(cx->ds, span, E_TYPE, "`%s` is a variable already, and cannot name an aggregation",
		 name);
	up_diag_note(cx->ds, v->span, "assigned here");
	return false;
}

/* ---- reading ---- */

static void table_as_value(struct up_check *cx, struct up_node *n, const struct up_var *v)
{
	up_error(cx->ds, n->span, E_TYPE, "`%s` is a table, not one value", v->name);
	up_diag_note(cx->ds, v->key_span, "here it has a key");
	up_diag_hint(cx->ds, "write %s[KEY], or len(%s) for how many there are", v->name, v->name);
}

/* Reads a variable that is assigned to somewhere. */
static struct up_type read_var(struct up_node *n, const struct up_var *v)
{
	n->sem = v->scope == UP_VAR_CALL ? SEM_CALL_VAR : SEM_VAR;
	n->ref = v->index;
	return n->type = v->type;
}

bool up_check_var_name(struct up_check *cx, struct up_node *n)
{
	uint32_t i;
	const struct up_local *l = find_local(cx, n->name.s, &i);

	if (l) {
		n->sem = SEM_LOCAL;
		n->ref = i;
		n->type = l->type;
		return true;
	}
	if (up_is_agg_name(cx, n->name.s, &i)) {
		up_check_result(cx, n, i, NULL, NULL, n->span);
		return true;
	}
	const struct up_var *v = find_var(cx, UP_VAR_GLOBAL, n->name.s);
	if (!v || !v->is_assigned) {
		n->type = UP_TYPE_UNKNOWN;
		return cx->ds->muted;
	}
	if (v->scope == UP_VAR_TABLE) {
		table_as_value(cx, n, v);
		up_poison(n);
		return true;
	}
	read_var(n, v);
	return true;
}

static bool scope_word(const struct up_node *obj, enum up_var_scope *scope)
{
	if (obj->kind != ND_NAME)
		return false;
	*scope = !strcmp(obj->name.s, "call") ? UP_VAR_CALL : UP_VAR_THREAD;
	return *scope == UP_VAR_CALL || !strcmp(obj->name.s, "thread");
}

/* Is there a thread, a call, whose variable this could be? */
static bool check_scope(struct up_check *cx, struct up_node *n, enum up_var_scope scope)
{
	if (cx->where == UP_AT_BLOCK)
		return up_error(cx->ds, n->span, E_NO_HIT,
				"there is no %s here: this block has no hit",
				scope == UP_VAR_CALL ? "call" : "thread");
	if (scope != UP_VAR_CALL)
		return true;
	cx->uses_call = true;
	if (!cx->call_var)
		cx->call_var = n;
	return true;
}

static struct up_type check_scoped(struct up_check *cx, struct up_node *n, enum up_var_scope scope)
{
	const char *word = scope == UP_VAR_CALL ? "call" : "thread";

	if (!check_scope(cx, n, scope))
		return up_poison(n);
	const struct up_var *v = find_var(cx, scope, n->member.name);
	if (v && v->is_assigned)
		return read_var(n, v);
	if (cx->ds->muted)
		return n->type = UP_TYPE_UNKNOWN;
	up_error(cx->ds, n->span, E_UNKNOWN_NAME, "nothing is assigned to `%s.%s`%s", word,
		 n->member.name, scope == UP_VAR_CALL ? " in this probe" : "");
	up_diag_hint(cx->ds, "as in %s.%s = %s", word, n->member.name,
		     scope == UP_VAR_CALL ? "arg0, at the entry" : "arg0");
	return up_poison(n);
}

bool up_check_var_member(struct up_check *cx, struct up_node *n)
{
	struct up_node *obj = n->member.obj, *keys = NULL;
	uint32_t i;
	enum up_var_scope scope;

	if (scope_word(obj, &scope)) {
		check_scoped(cx, n, scope);
		return true;
	}
	if (obj->kind == ND_INDEX) {
		keys = obj->index.idx;
		obj = obj->index.obj;
	}
	if (obj->kind != ND_NAME)
		return false;
	if (up_is_agg_name(cx, obj->name.s, &i)) {
		up_check_result(cx, n, i, keys, n->member.name, n->member.name_span);
		return true;
	}
	if (!cx->ds->muted)
		return false;
	n->type = UP_TYPE_UNKNOWN;
	return true;
}

/* ---- tables ---- */

/* What a table's use tells of its keys. */
static void learn_keys(struct up_check *cx, struct up_var *v, const struct up_node *keys,
		       struct up_span span)
{
	uint32_t nr = up_count_nodes(keys), i = 0;

	if (!v->key_types) {
		v->nr_keys = nr;
		v->key_types = up_newn(cx->plan_arena, struct up_type, nr);
		v->key_labels = up_newn(cx->plan_arena, const char *, nr);
		v->key_span = span;
		for (const struct up_node *k = keys; k; k = k->next, i++) {
			v->key_types[i] = UP_TYPE_UNKNOWN;
			v->key_labels[i] = up_source_label(cx->ds, cx->plan_arena, k->span);
		}
		cx->changed = true;
	}
	i = 0;
	for (const struct up_node *k = keys; k && i < v->nr_keys; k = k->next, i++)
		if (up_is_poison(v->key_types[i]) && !up_is_poison(k->type)) {
			v->key_types[i] = k->type;
			cx->changed = true;
		}
}

/* `NAME[KEYS]` of a variable; NULL after a diagnostic. */
static struct up_var *check_table(struct up_check *cx, struct up_node *n)
{
	struct up_node *obj = n->index.obj;
	enum up_var_scope scope;

	if (obj->kind == ND_MEMBER && scope_word(obj->member.obj, &scope)) {
		up_error(cx->ds, n->span, E_TYPE,
			 "variables of a thread or call are single values");
		up_diag_hint(cx->ds, "write a table with the thread as a key: %s[tid, ...]",
			     obj->member.name);
		return NULL;
	}
	if (obj->kind != ND_NAME) {
		if (obj->kind == ND_DOLLAR || obj->kind == ND_ARROW)
			up_check_expr(cx, obj); /* says that they are not to be had */
		else
			up_error(cx->ds, obj->span, E_TYPE, "only a table has keys in [ ]");
		return NULL;
	}
	struct up_var *v = find_var(cx, UP_VAR_TABLE, obj->name.s);
	if (!v)
		v = add_var(cx, UP_VAR_TABLE, obj->name.s, n->span);
	if (v->scope != UP_VAR_TABLE) {
		up_error(cx->ds, n->span, E_TYPE, "`%s` is one value, not a table", v->name);
		up_diag_note(cx->ds, v->span, "here");
		return NULL;
	}
	if (!up_check_list(cx, n->index.idx) && !cx->ds->muted)
		return NULL;
	learn_keys(cx, v, n->index.idx, n->span);
	if (!up_check_keys(cx, n, n->index.idx, v->name, v->nr_keys, v->key_types, v->key_labels,
			   v->key_span))
		return NULL;
	return v;
}

struct up_type up_check_var_index(struct up_check *cx, struct up_node *n)
{
	const struct up_node *obj = n->index.obj;
	uint32_t i;

	if (obj->kind == ND_NAME && up_is_agg_name(cx, obj->name.s, &i))
		return up_check_result(cx, n, i, n->index.idx, NULL, n->span);
	const struct up_var *v = check_table(cx, n);
	if (!v)
		return up_poison(n);
	if (v->is_assigned)
		return read_var(n, v);
	if (cx->ds->muted)
		return n->type = UP_TYPE_UNKNOWN;
	struct up_nearest near;
	up_error(cx->ds, n->span, E_UNKNOWN_NAME, "nothing is ever put into a table `%s`", v->name);
	up_nearest_init(&near, v->name, strlen(v->name));
	up_offer_vars(cx, &near);
	up_diag_nearest(cx->ds, &near);
	return up_poison(n);
}

/* ---- assignments ---- */

/* Names that stand for something that cannot be assigned to. */
static bool check_assignable(struct up_check *cx, const struct up_node *lhs)
{
	uint32_t i;

	if (up_word_kind(lhs->name.s)) {
		up_error(cx->ds, lhs->span, E_ASSIGN, "`%s` is given, and cannot be assigned to",
			 lhs->name.s);
		up_diag_hint(cx->ds, "take another name: my_%s = ...", lhs->name.s);
		return false;
	}
	if (find_local(cx, lhs->name.s, &i)) {
		up_error(cx->ds, lhs->span, E_ASSIGN,
			 "`%s` is this loop's variable, and cannot be assigned to", lhs->name.s);
		up_diag_note(cx->ds, cx->locals.v[i].span, "here");
		return false;
	}
	if (!up_is_agg_name(cx, lhs->name.s, &i))
		return true;
	up_error(cx->ds, lhs->span, E_ASSIGN, "`%s` is an aggregation, and cannot be assigned to",
		 lhs->name.s);
	up_diag_note(cx->ds, cx->aggs_seen.v[i]->span, "here");
	return false;
}

static struct up_var *assigned_name(struct up_check *cx, struct up_node *lhs)
{
	if (!check_assignable(cx, lhs))
		return NULL;
	struct up_var *v = find_var(cx, UP_VAR_GLOBAL, lhs->name.s);
	if (!v)
		v = add_var(cx, UP_VAR_GLOBAL, lhs->name.s, lhs->span);
	if (v->scope == UP_VAR_GLOBAL)
		return v;
	table_as_value(cx, lhs, v);
	return NULL;
}

static struct up_var *assigned_member(struct up_check *cx, struct up_node *lhs)
{
	enum up_var_scope scope;

	if (!scope_word(lhs->member.obj, &scope)) {
		up_error(cx->ds, lhs->span, E_ASSIGN, "this cannot be assigned to");
		up_diag_hint(cx->ds, "variables are NAME, NAME[KEY], thread.NAME and call.NAME");
		return NULL;
	}
	if (!check_scope(cx, lhs, scope))
		return NULL;
	if (scope == UP_VAR_CALL && cx->where == UP_AT_RETURN) {
		up_error(cx->ds, lhs->span, E_ASSIGN,
			 "`call.%s` is set at the entry and read in `on return`", lhs->member.name);
		up_diag_hint(cx->ds, "the call ends here: use a variable, or thread.%s",
			     lhs->member.name);
		return NULL;
	}
	struct up_var *v = find_var(cx, scope, lhs->member.name);
	return v ? v : add_var(cx, scope, lhs->member.name, lhs->span);
}

static struct up_var *assigned_row(struct up_check *cx, struct up_node *lhs)
{
	uint32_t i;

	if (lhs->index.obj->kind == ND_NAME && up_is_agg_name(cx, lhs->index.obj->name.s, &i)) {
		up_error(cx->ds, lhs->span, E_ASSIGN,
			 "`%s` is an aggregation, and cannot be assigned to",
			 lhs->index.obj->name.s);
		up_diag_note(cx->ds, cx->aggs_seen.v[i]->span, "here");
		return NULL;
	}
	if (lhs->index.obj->kind == ND_NAME && !check_assignable(cx, lhs->index.obj))
		return NULL;
	return check_table(cx, lhs);
}

static struct up_var *assigned_var(struct up_check *cx, struct up_node *lhs)
{
	switch (lhs->kind) {
	case ND_NAME:
		return assigned_name(cx, lhs);
	case ND_MEMBER:
		return assigned_member(cx, lhs);
	default:
		return assigned_row(cx, lhs);
	}
}

/* `X += Y` is `X = X + Y`. */
static void spell_out(struct up_check *cx, struct up_node *act)
{
	struct up_node *both;

	if (act->act.op == OPR_SET)
		return;
	both = up_node_make(cx->ds->arena, ND_BINARY, act->span);
	both->op.op = act->act.op;
	both->op.a = up_new(cx->ds->arena, struct up_node);
	*both->op.a = *act->act.lhs;
	both->op.b = act->act.rhs;
	act->act.rhs = both;
	act->act.op = OPR_SET;
}

void up_check_assign_var(struct up_check *cx, struct up_node *act)
{
	struct up_node *lhs = act->act.lhs;

	/* The variable first: `n = n + 1` and `n += 1` read what they make. */
	struct up_var *v = assigned_var(cx, lhs);
	if (!v) {
		up_check_expr(cx, act->act.rhs);
		return;
	}
	v->is_assigned = true;
	spell_out(cx, act);
	up_check_expr(cx, act->act.rhs);
	learn(cx, v, act->act.rhs);
	read_var(lhs, v);
}

/* ---- whole tables ---- */

/* A table or an aggregation by its name. False when it is none; no diagnostic. */
static bool check_store(const struct up_check *cx, struct up_node *n)
{
	uint32_t i;

	if (n->kind != ND_NAME)
		return false;
	if (up_is_agg_name(cx, n->name.s, &i)) {
		n->ref = up_store_ref(true, i);
	} else {
		const struct up_var *v = find_var(cx, UP_VAR_TABLE, n->name.s);

		if (!v || v->scope != UP_VAR_TABLE)
			return false;
		n->ref = up_store_ref(false, v->index);
	}
	n->sem = SEM_STORE;
	n->type = UP_TYPE_NONE;
	return true;
}

static bool store_expected(struct up_check *cx, const struct up_node *n, const char *what)
{
	struct up_nearest near;

	up_error(cx->ds, n->span, E_TYPE, "%s the name of a table or an aggregation", what);
	if (n->kind == ND_NAME) {
		up_nearest_init(&near, n->name.s, strlen(n->name.s));
		up_offer_vars(cx, &near);
		up_diag_nearest(cx->ds, &near);
	}
	return false;
}

bool up_check_len(struct up_check *cx, struct up_node *call)
{
	struct up_node *arg = call->call.args;

	if (!arg || arg->next || !check_store(cx, arg))
		return false;
	call->sem = SEM_LEN;
	call->ref = arg->ref;
	call->type = UP_TYPE_S64;
	return true;
}

void up_check_delete(struct up_check *cx, struct up_node *n)
{
	struct up_node *what = n->del.what;
	uint32_t i;

	if (what->index.obj->kind == ND_NAME && up_is_agg_name(cx, what->index.obj->name.s, &i)) {
		up_check_result(cx, what, i, what->index.idx, NULL, what->span);
		return;
	}
	const struct up_var *v = check_table(cx, what);
	if (v)
		read_var(what, v);
}

static bool loop_source(struct up_check *cx, struct up_node *n, uint32_t *nr,
			const struct up_type **types)
{
	struct up_node *table = n->loop.table;

	if (!check_store(cx, table))
		return store_expected(cx, table, "`for` goes through what has keys, and needs");
	if (up_store_is_agg(table->ref)) {
		*nr = cx->aggs.v[up_store_index(table->ref)].nr_keys;
		*types = cx->aggs.v[up_store_index(table->ref)].key_types;
	} else {
		*nr = cx->vars.v[up_store_index(table->ref)]->nr_keys;
		*types = cx->vars.v[up_store_index(table->ref)]->key_types;
	}
	if (*nr)
		return true;
	return up_error(cx->ds, table->span, E_TYPE, "`%s` has no keys to go through",
			table->name.s);
}

/* `for pid, fd in seen`: one name for each key. */
static bool check_loop_names(struct up_check *cx, struct up_node *n, uint32_t nr)
{
	const struct up_node *table = n->loop.table;

	for (const struct up_node *k = n->loop.names; k; k = k->next) {
		uint32_t i;

		for (const struct up_node *o = n->loop.names; o != k; o = o->next)
			if (!strcmp(o->name.s, k->name.s))
				return up_error(cx->ds, k->span, E_CLASH, "`%s` stands here twice",
						k->name.s);
		if (find_local(cx, k->name.s, &i)) {
			up_error(cx->ds, k->span, E_CLASH,
				 "`%s` is the variable of a loop around this one", k->name.s);
			up_diag_note(cx->ds, cx->locals.v[i].span, "here");
			return false;
		}
	}
	if (up_count_nodes(n->loop.names) == nr)
		return true;
	return up_error(cx->ds, n->loop.names->span, E_ARG_COUNT,
			"`%s` has %u key%s: `for` needs %s", table->name.s, nr, nr == 1 ? "" : "s",
			nr == 1 ? "one name" : "a name for each");
}

void up_check_for(struct up_check *cx, struct up_node *n)
{
	const struct up_type *types = NULL;
	size_t before = cx->locals.nr;
	uint32_t nr = 0, i = 0;

	if (!loop_source(cx, n, &nr, &types) || !check_loop_names(cx, n, nr))
		return;
	if (cx->loops == UP_LOOPS_MAX) {
		up_error(cx->ds, n->span, E_LIMIT, "at most %d loops stand one within the other",
			 UP_LOOPS_MAX);
		return;
	}
	for (const struct up_node *k = n->loop.names; k; k = k->next, i++) {
		struct up_local l = { k->name.s, types[i], k->span };

		up_vec_push(cx->ds->arena, &cx->locals, l);
	}
	cx->loops++;
	up_check_block(cx, n->loop.block);
	cx->loops--;
	cx->locals.nr = before;
}

void up_check_store_call(struct up_check *cx, struct up_node *call, enum up_sem sem)
{
	struct up_node *arg = call->call.args;
	const char *name = call->call.name;

	call->sem = (uint16_t)sem;
	if (!arg || arg->next) {
		up_error(cx->ds, call->span, E_ARG_COUNT,
			 "%s takes the name of an aggregation or a variable", name);
		up_diag_hint(cx->ds, "as in %s(sizes), where sizes = hist(arg0)", name);
		return;
	}
	if (check_store(cx, arg))
		return;
	const struct up_var *v =
		arg->kind == ND_NAME ? find_var(cx, UP_VAR_GLOBAL, arg->name.s) : NULL;
	if (v && v->is_assigned)
		read_var(arg, v);
	else if (!cx->ds->muted)
		store_expected(cx, arg, up_arena_printf(cx->ds->arena, "%s takes", name));
}

/* ---- passes ---- */

void up_check_begin(struct up_check *cx)
{
	cx->prints.nr = 0;
	cx->printfs.nr = 0;
	cx->changed = false;
	cx->pass++;
}

bool up_check_settle(struct up_check *cx)
{
	bool decided = false;

	for (size_t i = 0; i < cx->vars.nr; i++) {
		struct up_var *v = cx->vars.v[i];

		if (v->type.ty == TY_UNKNOWN && v->is_assigned) {
			v->type = UP_TYPE_S64;
			decided = true;
		}
		for (uint32_t k = 0; k < v->nr_keys; k++)
			if (v->key_types[k].ty == TY_UNKNOWN) {
				v->key_types[k] = UP_TYPE_S64;
				decided = true;
			}
	}
	return decided;
}

void up_check_plan_vars(struct up_check *cx, struct up_plan *p)
{
	p->vars = up_newn(cx->plan_arena, struct up_plan_var, cx->vars.nr + 1);
	for (size_t i = 0; i < cx->vars.nr; i++) {
		const struct up_var *v = cx->vars.v[i];

		p->vars[p->nr_vars++] = (struct up_plan_var){
			.name = v->name,
			.scope = v->scope,
			.type = v->type.ty == TY_UNKNOWN ? UP_TYPE_S64 : v->type,
			.nr_keys = v->nr_keys,
			.key_labels = v->key_labels,
			.key_types = v->key_types,
		};
		p->needs_threads |= v->scope == UP_VAR_THREAD;
	}
}
