/* Replaces names by copies of what they stand for, in one tree, in place. */
#include <stdlib.h>

#include "lang/expand_int.h"

bool up_too_large(struct up_expand *x, struct up_span span)
{
	if (x->is_stopped)
		return false;
	x->is_stopped = true;
	up_error(x->ds, span, E_TOO_LARGE,
		 "the program becomes too large here: more than %d values and operators once its "
		 "constants, functions and points are written out",
		 UP_EXPAND_MAX);
	return false;
}

static struct up_node *copy(struct up_expand *x, const struct up_node *n, struct up_cloner *c)
{
	c->arena = x->arena;
	c->sources = x->sources;
	c->left = &x->left;
	return up_clone(c, n);
}

struct up_node *up_use(struct up_expand *x, const struct up_node *n, struct up_span use)
{
	struct up_cloner c = { .moves = true, .use = use };

	return copy(x, n, &c);
}

struct up_node *up_copy(struct up_expand *x, const struct up_node *n)
{
	struct up_cloner c = { 0 };

	return copy(x, n, &c);
}

bool up_is_named(const struct up_node *n)
{
	switch (n->kind) {
	case ND_INT:
		return n->num.is_named;
	case ND_PAREN:
		return n->sub.is_named || up_is_named(n->sub.e);
	case ND_UNARY:
		return up_is_named(n->op.a);
	case ND_BINARY:
		return up_is_named(n->op.a) || up_is_named(n->op.b);
	default:
		return false;
	}
}

/* ---- what takes a name's place ---- */

static void make_bad(struct up_node *n)
{
	n->kind = ND_BAD;
	n->depth = 1;
}

/* Writes what a constant stands for in place of a name: a literal as itself, the rest as a copy. */
static void put_constant(struct up_walk *w, struct up_node *n, const struct up_node *expr)
{
	if (expr->kind == ND_INT) {
		n->num.v = expr->num.v;
		n->num.is_named = true;
	} else if (expr->kind == ND_FLOAT) {
		n->flt.v = expr->flt.v;
	} else if (expr->kind == ND_STR) {
		n->str = expr->str;
	} else {
		n->sub.e = up_use(w->x, expr, n->span);
	}
	bool is_literal = expr->kind == ND_INT || expr->kind == ND_FLOAT || expr->kind == ND_STR;
	n->kind = is_literal ? expr->kind : ND_PAREN;
	if (!is_literal)
		n->sub.is_named = true;
}

static void put_export(struct up_walk *w, struct up_node *n, const struct up_export *e)
{
	bool is_literal =
		e->expr->kind == ND_INT || e->expr->kind == ND_FLOAT || e->expr->kind == ND_STR;
	struct up_node *inner;

	if (is_literal || e->at_return || !w->at_return || w->in_entry) {
		put_constant(w, n, e->expr);
		return;
	}
	inner = up_node_make(w->x->arena, ND_PAREN, n->span);
	inner->sub.e = up_use(w->x, e->expr, n->span);
	up_node_measure(inner);
	n->kind = ND_ENTRY;
	n->sub.e = inner;
}

/* ---- exports ---- */

const struct up_export *up_find_export(const struct up_point_source *s, const char *name)
{
	for (size_t i = 0; s && i < s->exports.nr; i++)
		if (!strcmp(s->exports.v[i].name, name))
			return &s->exports.v[i];
	return NULL;
}

static const struct up_export *see_export(const struct up_walk *w, const char *name)
{
	const struct up_export *e = up_find_export(w->own, name);

	return e ? e : up_find_export(w->source, name);
}

/* A point among the probe's targets that exports the name, which this target does not have. */
static const struct up_def *find_other_point(const struct up_walk *w, const char *name)
{
	for (size_t i = 0; w->places && i < w->places->points.nr; i++) {
		const struct up_def *d = w->places->points.v[i];

		if (d->state == DEF_DONE && d->sources.nr && up_find_export(&d->sources.v[0], name))
			return d;
	}
	return NULL;
}

static bool use_export(struct up_walk *w, struct up_node *n)
{
	const struct up_export *e = see_export(w, n->name.s);
	const struct up_def *other = e ? NULL : find_other_point(w, n->name.s);

	if (other) {
		up_error(w->x->ds, n->span, E_POINT,
			 "`%s` is a value of %s, and not every target of this probe has one",
			 n->name.s, other->name);
		up_diag_hint(w->x->ds, "write a probe of its own for each");
		make_bad(n);
		return true;
	}
	if (!e)
		return false;
	const struct up_def *d = up_nametab_find(&w->file->names, n->name.s);
	if (d && d->file == w->file && !w->def) {
		up_error(w->x->ds, n->span, E_CLASH,
			 "`%s` is a value of %s here, and defined in this file, too", e->name,
			 w->point->name);
		up_diag_note(w->x->ds, d->span, "declared here");
		make_bad(n);
		return true;
	}
	if (e->at_return && (!w->at_return || w->in_entry)) {
		up_error(w->x->ds, n->span, E_POINT, "`%s` is known at the return only", e->name);
		up_diag_note(w->x->ds, e->span, "declared here");
		up_diag_hint(w->x->ds, "use it in `on return`");
		make_bad(n);
		return true;
	}
	if (!w->def && !w->file->is_module) {
		struct up_span *seen = up_new(w->x->arena, struct up_span);

		*seen = n->span;
		up_nametab_add(w->x->arena, &w->x->exported, n->name.s, seen);
	}
	put_export(w, n, e);
	return true;
}

/* ---- names ---- */

static bool use_parameter(const struct up_walk *w, struct up_node *n)
{
	uint32_t i = 0;

	if (!w->def || w->def->kind != ND_FN)
		return false;
	for (const struct up_node *p = w->def->params; p; p = p->next, i++)
		if (!strcmp(p->name.s, n->name.s)) {
			n->sem = UP_SEM_HOLE;
			n->ref = i;
			return true;
		}
	return false;
}

/* `f` without its arguments. */
static void report_function(struct up_walk *w, struct up_node *n, const struct up_def *d)
{
	struct up_buf b = { 0 };

	for (const struct up_node *p = d->params; p; p = p->next)
		up_buf_printf(&b, "%s%s", b.len ? ", " : "", p->name.s);
	up_error(w->x->ds, n->span, E_UNKNOWN_NAME, "`%s` is a function", d->name);
	up_diag_note(w->x->ds, d->span, "declared here");
	up_diag_hint(w->x->ds, "call it: %s(%s)", d->name, b.s ? b.s : "");
	up_buf_fini(&b);
	make_bad(n);
}

/* Could a name that nothing declares be a variable, or one of the language's own? */
static bool may_stay(const struct up_walk *w, const struct up_node *n)
{
	const char *name = n->name.s;

	if (up_word_kind(name))
		return true;
	if (w->file->is_module)
		return false;
	if (up_nametab_find(&w->x->variables, name))
		return true;
	return !up_has_near(w->file, false, name);
}

static void use_name(struct up_walk *w, struct up_node *n)
{
	if (use_parameter(w, n) || use_export(w, n))
		return;
	struct up_def *d = up_nametab_find(&w->file->names, n->name.s);
	if (!d) {
		if (may_stay(w, n))
			return;
		up_unknown(w->x, w->file, n->span, E_UNKNOWN_NAME, false, n->name.s);
		make_bad(n);
	} else if (d->kind == ND_FN) {
		report_function(w, n, d);
	} else if (up_def_resolve(w->x, d, n->span)) {
		put_constant(w, n, d->expr);
	} else {
		make_bad(n);
	}
}

static bool check_arguments(struct up_walk *w, const struct up_node *n, const struct up_def *d)
{
	unsigned want = up_count_nodes(d->params), got = up_count_nodes(n->call.args);

	if (want == got)
		return true;
	up_error(w->x->ds, n->span, E_ARG_COUNT, "`%s` takes %u argument%s, here are %u", d->name,
		 want, want == 1 ? "" : "s", got);
	up_diag_note(w->x->ds, d->span, "declared here");
	return false;
}

static void use_call(struct up_walk *w, struct up_node *n)
{
	struct up_def *d = up_nametab_find(&w->file->names, n->call.name);
	struct up_cloner c = { .moves = true, .use = n->span, .args = n->call.args };

	if (!d) {
		if (!up_call_kind(w->x->env, n->call.name) &&
		    up_has_near(w->file, true, n->call.name)) {
			up_unknown(w->x, w->file, n->call.name_span, E_UNKNOWN_FUNCTION, true,
				   n->call.name);
			make_bad(n);
		}
		return;
	}
	if (d->kind != ND_FN) {
		up_error(w->x->ds, n->call.name_span, E_UNKNOWN_FUNCTION,
			 "`%s` is no function, it has no arguments", d->name);
		up_diag_note(w->x->ds, d->span, "declared here");
		make_bad(n);
	} else if (!check_arguments(w, n, d) || !up_def_resolve(w->x, d, n->span)) {
		make_bad(n);
	} else {
		n->sub.e = copy(w->x, d->expr, &c);
		n->sub.is_named = true;
		n->kind = ND_PAREN;
	}
}

/* `$1` as a value. */
static void use_position(struct up_walk *w, struct up_node *n)
{
	const struct up_env *env = w->x->env;
	unsigned long nr = strtoul(n->name.s, NULL, 10);

	if (w->file->is_module) {
		up_error(w->x->ds, n->span, E_MODULE, "a module has no arguments");
		up_diag_hint(w->x->ds, "give it to a function, from the script");
		make_bad(n);
		return;
	}
	if (env->args_used && nr > *env->args_used)
		*env->args_used = (unsigned)nr;
	if (nr < 1 || nr > env->nr_args) {
		up_error(w->x->ds, n->span, E_PARAM,
			 "there is no argument $%s: the script was given %u", n->name.s,
			 env->nr_args);
		up_diag_hint(w->x->ds, "write the arguments behind the script");
		make_bad(n);
		return;
	}
	put_constant(w, n,
		     up_argument(w->x, up_arena_printf(w->x->arena, "$%lu", nr),
				 env->args[nr - 1]));
}

/* ---- variables ---- */

/* The name that is assigned to, of a variable or table; NULL for thread.x and the like. */
static struct up_node *assigned_name(struct up_node *lhs)
{
	if (lhs->kind == ND_INDEX)
		lhs = lhs->index.obj;
	return lhs->kind == ND_NAME ? lhs : NULL;
}

static void gather(void *arg, struct up_node **link)
{
	struct up_expand *x = arg;
	struct up_node *n = *link, *name = n->kind == ND_ASSIGN ? assigned_name(n->act.lhs) : NULL;

	if (name)
		up_nametab_add(x->arena, &x->variables, name->name.s, name);
	for (name = n->kind == ND_FOR ? n->loop.names : NULL; name; name = name->next)
		up_nametab_add(x->arena, &x->variables, name->name.s, name);
	up_node_children(n, gather, x);
}

void up_gather_variables(struct up_expand *x, struct up_node *n)
{
	gather(x, &n);
}

/* A variable cannot have the name of something that was declared. */
static void check_variable(struct up_walk *w, const struct up_node *name)
{
	const struct up_export *e = see_export(w, name->name.s);
	const struct up_def *d = up_nametab_find(&w->file->names, name->name.s);

	if (e) {
		up_error(w->x->ds, name->span, E_CLASH, "`%s` is a value of %s, and no variable",
			 name->name.s, w->point->name);
		up_diag_note(w->x->ds, e->span, "declared here");
	} else if (d) {
		up_error(w->x->ds, name->span, E_CLASH, "`%s` is a %s, and no variable",
			 name->name.s, up_def_kind(d));
		up_diag_note(w->x->ds, d->span, "declared here");
	} else {
		return;
	}
	up_diag_hint(w->x->ds, "take another name, as in my_%s", name->name.s);
}

static void walk_child(void *arg, struct up_node **link)
{
	up_walk(arg, *link);
}

static void walk_list(struct up_walk *w, struct up_node *list)
{
	for (; list; list = list->next)
		up_walk(w, list);
}

static void walk_assign(struct up_walk *w, struct up_node *n)
{
	struct up_node *name = assigned_name(n->act.lhs);

	if (name)
		check_variable(w, name);
	if (n->act.lhs->kind == ND_INDEX) {
		walk_list(w, n->act.lhs->index.idx);
		up_node_measure(n->act.lhs);
	}
	up_walk(w, n->act.rhs);
	walk_list(w, n->act.by);
	if (n->act.top)
		up_walk(w, n->act.top);
}

static void walk_for(struct up_walk *w, struct up_node *n)
{
	for (const struct up_node *name = n->loop.names; name; name = name->next)
		check_variable(w, name);
	up_walk(w, n->loop.table);
	up_walk(w, n->loop.block);
}

/* ---- all nodes ---- */

#define MAX_LEVEL (2 * UP_DEPTH_MAX) /* more makes a tree that is too deep, unless it is folded */

static void too_deep(struct up_expand *x, struct up_span span)
{
	x->is_stopped = true;
	up_error(
		x->ds, span, E_TOO_LARGE,
		"this is nested more than %d deep once its constants and functions are written out",
		UP_DEPTH_MAX);
}

/* `reg.ax`, `thread.x`, `call.x`: what stands before the dot is no name of anybody's. */
static void walk_member(struct up_walk *w, struct up_node *n)
{
	const struct up_node *obj = n->member.obj;
	bool is_name = n->kind == ND_MEMBER && obj->kind == ND_NAME;

	if (is_name && w->file->is_module &&
	    (!strcmp(obj->name.s, "thread") || !strcmp(obj->name.s, "call"))) {
		up_error(w->x->ds, n->span, E_MODULE, "a module has no variables");
		make_bad(n);
	} else if (!is_name || !up_word_kind(obj->name.s)) {
		up_walk(w, n->member.obj);
	}
}

static void walk_entry(struct up_walk *w, struct up_node *n)
{
	bool before = w->in_entry;

	w->in_entry = true;
	up_walk(w, n->sub.e);
	w->in_entry = before;
}

static void walk_kind(struct up_walk *w, struct up_node *n)
{
	switch (n->kind) {
	case ND_NAME:
		use_name(w, n);
		break;
	case ND_POS:
		use_position(w, n);
		break;
	case ND_CALL:
		walk_list(w, n->call.args);
		use_call(w, n);
		break;
	case ND_MEMBER:
	case ND_ARROW:
		walk_member(w, n);
		break;
	case ND_ENTRY:
		walk_entry(w, n);
		break;
	case ND_ASSIGN:
		walk_assign(w, n);
		break;
	case ND_FOR:
		walk_for(w, n);
		break;
	default:
		up_node_children(n, walk_child, w);
	}
}

void up_walk(struct up_walk *w, struct up_node *n)
{
	struct up_expand *x = w->x;

	if (x->is_stopped)
		return;
	if (x->level >= MAX_LEVEL) {
		too_deep(x, n->span);
		return;
	}
	x->level++;
	walk_kind(w, n);
	x->level--;
	if (!x->left)
		up_too_large(x, n->span);
	else if (!x->is_stopped && !up_node_measure(n))
		too_deep(x, n->span);
}
