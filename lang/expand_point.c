/*
 * Points: what each place of a point is and exports, and probes on points. A point on a point and a
 * probe on a point are put together in the same way; only what stands in the blocks differs.
 */
#include "lang/check.h"
#include "lang/expand_int.h"
#include "lang/target.h"

/* ---- targets that are points ---- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The text of a target that could be a point's name: names with dots between; else NULL. */
static const char *point_name(struct up_expand *x, const struct up_node *t)
{
	const char *s = t->target.raw;

	for (size_t i = 0; i < t->target.len; i++) {
		bool begins = i == 0 || s[i - 1] == '.';

		if (s[i] == '.' ? begins || i + 1 == t->target.len : !is_word(s[i]))
			return NULL;
		if (begins && s[i] >= '0' && s[i] <= '9')
			return NULL;
	}
	return t->target.len ? up_arena_memdup(x->arena, s, t->target.len) : NULL;
}

/* "heap.alloc, heap.free": the points whose names begin like this one, up to the first dot. */
static const char *list_family(struct up_expand *x, const struct up_file *f, const char *name)
{
	size_t len = strcspn(name, ".") + 1;
	const char *text = NULL;
	unsigned nr = 0;

	for (size_t i = 0; i <= f->uses.nr; i++) {
		const struct up_file *from = i < f->uses.nr ? f->uses.v[i] : f;

		for (size_t k = 0; k < from->defs.nr && nr < 12; k++) {
			const struct up_def *d = from->defs.v[k];

			if (d->kind == ND_POINT && !strncmp(d->name, name, len) && ++nr)
				text = up_arena_printf(x->arena, "%s%s%s", text ? text : "",
						       text ? ", " : "", d->name);
		}
	}
	return text;
}

static void find_near(const struct up_file *f, const char *name, struct up_nearest *near)
{
	up_nearest_init(near, name, strlen(name));
	for (size_t i = 0; i < f->points.cap; i++)
		if (f->points.v[i].name)
			up_nearest_offer(near, f->points.v[i].name, strlen(f->points.v[i].name));
}

static void hint_points(struct up_expand *x, const struct up_file *f, const char *name)
{
	const char *module = up_arena_memdup(x->arena, name, strcspn(name, "."));
	const char *family = list_family(x, f, name);
	struct up_nearest near;

	find_near(f, name, &near);
	if (up_diag_nearest(x->ds, &near))
		return;
	if (family)
		up_diag_hint(x->ds, "there are %s", family);
	else if (x->env->modules && x->env->modules->has(x->env->modules->ctx, module))
		up_diag_hint(x->ds, "write `use %s` to have the points of that module", module);
	else
		up_diag_hint(x->ds, "a place in a program is OBJECT:LOCATION, as in libc:malloc");
}

/*
 * The point that a target names, or NULL. *bad: it should be one, and there is none; that was said.
 * A word without a dot that is no point is left to those who know programs.
 */
static struct up_def *find_point(struct up_expand *x, const struct up_file *f,
				 const struct up_node *t, bool *bad)
{
	const char *name = point_name(x, t);
	struct up_def *d = name ? up_nametab_find(&f->points, name) : NULL;
	struct up_nearest near;

	*bad = false;
	if (!name || d)
		return d;
	find_near(f, name, &near);
	*bad = strchr(name, '.') || near.nr || (f->is_module && f->points.nr);
	if (*bad && !x->is_partial) {
		up_error(x->ds, t->span, E_POINT, "there is no point `%s`", name);
		hint_points(x, f, name);
	}
	return NULL;
}

/* A module's targets cannot hold arguments of a script. */
static bool check_target(struct up_expand *x, const struct up_file *f, const struct up_node *t)
{
	bool quoted = false;

	for (size_t i = 0; f->is_module && i + 1 < t->target.len; i++) {
		const char *s = t->target.raw + i;

		quoted ^= *s == '"';
		if (!quoted && *s == '$' && s[1] >= '0' && s[1] <= '9')
			return up_error(x->ds, t->span, E_MODULE, "a module has no arguments");
	}
	return true;
}

/* ---- putting a point and what is built on it together ---- */

static const char *condition_text(struct up_expand *x, const struct up_node *n)
{
	const char *text = up_source_label(x->ds, x->arena, n->span);
	bool is_loose = n->kind == ND_COND || (n->kind == ND_BINARY && n->op.op == OPR_LOR);

	return is_loose ? up_arena_printf(x->arena, "(%s)", text) : text;
}

/* Where "a && b" stands: in a text of its own, since the two are of different files. */
static struct up_span both_span(struct up_expand *x, const struct up_node *a,
				const struct up_node *b)
{
	const char *text =
		up_arena_printf(x->arena, "%s && %s", condition_text(x, a), condition_text(x, b));
	int src = up_source_add(x->sources, "condition", text, strlen(text));

	if (src < 0)
		return b->span;
	x->sources->list.v[src].is_used = true;
	x->sources->list.v[src].used_at = b->span;
	return (struct up_span){ 0, (uint32_t)strlen(text), (uint32_t)src };
}

/* a && b, each of which may be missing. */
static struct up_node *both(struct up_expand *x, struct up_node *a, struct up_node *b)
{
	struct up_node *n;

	if (!a || !b)
		return a ? a : b;
	n = up_node_make(x->arena, ND_BINARY, both_span(x, a, b));
	n->op.op = OPR_LAND;
	n->op.a = a;
	n->op.b = b;
	up_node_measure(n);
	return n;
}

static struct up_node *use_or_null(struct up_expand *x, const struct up_node *n, struct up_span use)
{
	return n ? up_use(x, n, use) : NULL;
}

/* The first block of what is built on a point that happens at the return runs there. */
static bool move_to_return(struct up_expand *x, const struct up_def *point, struct up_node *n)
{
	if (n->probe.entry && n->probe.ret) {
		up_error(x->ds, n->probe.ret->span, E_POINT,
			 "%s happens when its function returns: there is no later `on return`",
			 point->name);
		up_diag_note(x->ds, point->span, "declared here");
		up_diag_hint(x->ds, "write one block");
		return false;
	}
	if (!n->probe.ret)
		n->probe.ret = n->probe.entry;
	n->probe.entry = NULL;
	return true;
}

/* What is done with a block: its statements are a probe's, or a point's exports. */
typedef void block_fn(struct up_walk *w, struct up_node *block, struct up_point_source *out);

static void walk_part(struct up_walk *w, struct up_node *n, bool at_return)
{
	w->at_return = at_return;
	if (n)
		up_walk(w, n);
}

static void do_block(struct up_walk *w, struct up_node *block, bool at_return, block_fn *fn,
		     struct up_point_source *out)
{
	w->at_return = at_return;
	if (block)
		fn(w, block, out);
}

/*
 * Replaces the names in n, an ND_PROBE or ND_POINT of its own, for one place of the point it is
 * built on (NULL: none), and gives it that place's target and conditions.
 */
static bool compose(struct up_walk *w, struct up_node *n, struct up_span use, block_fn *fn,
		    struct up_point_source *out)
{
	const struct up_point_source *s = w->source;
	struct up_expand *x = w->x;
	bool late = s && s->at_return;

	if (late && !move_to_return(x, w->point, n))
		return false;
	walk_part(w, n->probe.when, late);
	do_block(w, n->probe.entry, false, fn, out);
	walk_part(w, n->probe.ret_when, true);
	do_block(w, n->probe.ret, true, fn, out);
	if (!s)
		return true;
	struct up_node *when = late ? NULL : n->probe.when,
		       *late_when = late ? n->probe.when : NULL;
	n->probe.targets = up_use(x, s->target, use);
	n->probe.when = both(x, use_or_null(x, s->when, use), when);
	if (n->probe.ret || n->kind == ND_POINT)
		n->probe.ret_when = both(x, both(x, use_or_null(x, s->ret_when, use), late_when),
					 n->probe.ret_when);
	return true;
}

/* ---- exports ---- */

static bool check_export(struct up_walk *w, const struct up_node *n,
			 const struct up_point_source *out)
{
	struct up_expand *x = w->x;
	const struct up_node *lhs = n->kind == ND_ASSIGN ? n->act.lhs : NULL;

	if (n->kind == ND_BAD)
		return false;
	if (!lhs || lhs->kind != ND_NAME || n->act.op != OPR_SET || n->act.by || n->act.top) {
		up_error(x->ds, n->span, E_POINT, "a point only says what it exports");
		up_diag_hint(x->ds, "its blocks hold NAME = VALUE, nothing else");
		return false;
	}
	const char *what = up_word_kind(lhs->name.s);
	if (what) {
		up_error(x->ds, lhs->span, E_CLASH, "`%s` is %s already", lhs->name.s, what);
		up_diag_hint(x->ds, "take another name, as in my_%s", lhs->name.s);
		return false;
	}
	const struct up_def *d = up_nametab_find(&w->file->names, lhs->name.s);
	if (d) {
		up_error(x->ds, lhs->span, E_CLASH, "`%s` is defined already", lhs->name.s);
		up_diag_note(x->ds, d->span, "here");
		return false;
	}
	for (size_t i = 0; i < out->exports.nr; i++)
		if (!strcmp(out->exports.v[i].name, lhs->name.s)) {
			up_error(x->ds, lhs->span, E_CLASH, "this point exports `%s` twice",
				 lhs->name.s);
			up_diag_note(x->ds, out->exports.v[i].span, "here");
			return false;
		}
	return true;
}

static void take_exports(struct up_walk *w, struct up_node *block, struct up_point_source *out)
{
	for (struct up_node *n = block->block.stmts; n; n = n->next) {
		if (!check_export(w, n, out))
			continue;
		up_walk(w, n->act.rhs);
		struct up_export e = { n->act.lhs->name.s, n->act.lhs->span, n->act.rhs,
				       w->at_return };
		up_vec_push(w->x->arena, &out->exports, e);
	}
}

static bool exports_late_only(const struct up_point_source *s)
{
	for (size_t i = 0; i < s->exports.nr; i++)
		if (!s->exports.v[i].at_return)
			return false;
	return s->exports.nr > 0;
}

/* One declaration of a point, on one place of another point or on a place of a program. */
static void add_source(struct up_expand *x, struct up_def *d, const struct up_node *decl,
		       const struct up_def *point, const struct up_point_source *base)
{
	struct up_walk w = { .x = x, .file = d->file, .def = d, .point = point, .source = base };
	struct up_node *n = up_copy(x, decl);
	struct up_point_source s = { .span = decl->probe.name_span };

	w.own = &s;
	if (x->is_stopped || n->kind == ND_BAD ||
	    !compose(&w, n, decl->probe.targets->span, take_exports, &s))
		return;
	s.target = n->probe.targets;
	s.when = n->probe.when;
	s.ret_when = n->probe.ret_when;
	s.at_return = (base && base->at_return) || exports_late_only(&s);
	up_vec_push(x->arena, &d->sources, s);
}

/* All places of a point export the same names. */
static bool same_exports(struct up_expand *x, const struct up_def *d,
			 const struct up_point_source *a, const struct up_point_source *b)
{
	const struct up_point_source *without = a->exports.nr < b->exports.nr ? a : b;
	const struct up_point_source *with = without == a ? b : a;

	for (size_t i = 0; i < with->exports.nr; i++) {
		const struct up_export *e = &with->exports.v[i];

		if (up_find_export(without, e->name))
			continue;
		up_error(x->ds, without->span, E_POINT,
			 "every declaration of %s exports the same names; here `%s` is missing",
			 d->name, e->name);
		up_diag_note(x->ds, e->span, "exported here");
		return false;
	}
	return true;
}

bool up_point_resolve(struct up_expand *x, struct up_def *d)
{
	bool ok = true, bad;

	for (size_t i = 0; i < d->decls.nr && !x->is_stopped; i++) {
		const struct up_node *decl = d->decls.v[i];
		struct up_def *base = find_point(x, d->file, decl->probe.targets, &bad);

		ok &= !bad && check_target(x, d->file, decl->probe.targets);
		if (!base) {
			add_source(x, d, decl, NULL, NULL);
			continue;
		}
		ok &= up_def_resolve(x, base, decl->probe.targets->span);
		for (size_t k = 0; ok && k < base->sources.nr && !x->is_stopped; k++) {
			add_source(x, d, decl, base, &base->sources.v[k]);
			if (!x->left)
				up_too_large(x, decl->probe.targets->span);
		}
	}
	for (size_t i = 1; ok && i < d->sources.nr; i++)
		ok = same_exports(x, d, &d->sources.v[0], &d->sources.v[i]);
	return ok && !x->is_stopped;
}

/* ---- places that this machine does not have ---- */

/* Can the target be found? Else *why says why not. False also for what is wrong in itself. */
static bool is_present(struct up_expand *x, const struct up_node *target, const char **why)
{
	struct up_diags ds = { .arena = x->arena, .sources = x->sources };
	struct up_target t = { 0 };

	if (up_target_resolve(&ds, x->env, target, &t))
		return true;
	for (size_t i = 0; i < ds.list.nr; i++) {
		if (ds.list.v[i].severity != UP_SEV_ERROR)
			continue;
		*why = ds.list.v[i].msg;
		if (ds.list.v[i].tag != E_OBJECT && ds.list.v[i].tag != E_SYMBOL)
			return true;
	}
	return false;
}

static void warn_absent(struct up_expand *x, const struct up_def *d, struct up_span use,
			const char *text, unsigned nr)
{
	up_error(x->ds, use, W_SKIPPED, "%s leaves out %u of its %zu places: %s", d->name, nr,
		 d->sources.nr, text);
}

/*
 * Which places of a point can be probed here: those whose program or function is on this machine.
 * When none is, all stay, and what is missing is an error.
 */
static void find_absent(struct up_expand *x, struct up_def *d, struct up_span use)
{
	const char *text = NULL, *why = "";
	unsigned nr = 0;

	if (d->absent.nr || !x->env->resolver)
		return;
	for (size_t i = 0; i < d->sources.nr; i++) {
		bool absent = d->sources.nr > 1 && !is_present(x, d->sources.v[i].target, &why);

		up_vec_push(x->arena, &d->absent, absent);
		nr += absent;
		if (absent)
			text = up_arena_printf(x->arena, "%s%s%s", text ? text : "",
					       text ? "; " : "", why);
	}
	if (nr && nr < d->sources.nr)
		warn_absent(x, d, use, text, nr);
	for (size_t i = 0; nr == d->sources.nr && i < nr; i++)
		d->absent.v[i] = false;
}

/* ---- probes ---- */

static void walk_block(struct up_walk *w, struct up_node *block, struct up_point_source *out)
{
	(void)out;
	up_walk(w, block);
}

struct result {
	struct up_node *first, *last;
};

static void add(struct result *r, struct up_node *n)
{
	n->next = NULL;
	if (r->last)
		r->last->next = n;
	else
		r->first = n;
	r->last = n;
}

/* The probe for one place of a point. */
static void add_probe(struct up_walk *w, struct result *r, const struct up_node *n,
		      struct up_span use)
{
	struct up_node *c = up_copy(w->x, n);

	if (c->kind == ND_BAD || !compose(w, c, use, walk_block, NULL))
		return;
	c->probe.point = w->point->name;
	add(r, c);
	if (!up_node_measure(c) || !w->x->left)
		up_too_large(w->x, use);
}

static void add_point(struct up_walk *w, struct result *r, const struct up_node *n,
		      struct up_node *target, struct up_def *d)
{
	struct up_expand *x = w->x;

	if (!up_def_resolve(x, d, target->span))
		return;
	find_absent(x, d, target->span);
	w->point = d;
	for (size_t i = 0; i < d->sources.nr && !x->is_stopped; i++) {
		if (i < d->absent.nr && d->absent.v[i])
			continue;
		w->source = &d->sources.v[i];
		add_probe(w, r, n, target->span);
	}
}

/* Finds and resolves the points among the targets. False when there is none. */
static bool find_places(struct up_expand *x, struct up_file *f, struct up_node *targets,
			struct up_places *places)
{
	bool any = false;

	for (struct up_node *t = targets; t; t = t->next) {
		struct up_place_named p = { .target = t };

		p.point = find_point(x, f, t, &p.is_bad);
		if (p.point)
			up_def_resolve(x, p.point, t->span);
		if (p.point && !up_nametab_add(x->arena, &places->seen, p.point->name, p.point))
			up_vec_push(x->arena, &places->points, p.point);
		up_vec_push(x->arena, &places->list, p);
		any |= p.point || p.is_bad;
	}
	return any;
}

/* Copies of the targets that are no points. */
static struct up_node *plain_targets(struct up_expand *x, const struct up_places *places)
{
	struct up_node *plain = NULL, **end = &plain;

	for (size_t i = 0; i < places->list.nr; i++) {
		if (places->list.v[i].point || places->list.v[i].is_bad)
			continue;
		*end = up_copy(x, places->list.v[i].target);
		end = &(*end)->next;
	}
	return plain;
}

struct up_node *up_expand_probe(struct up_expand *x, struct up_file *f, struct up_node *n)
{
	struct up_places places = { 0 };
	struct up_walk w = { .x = x, .file = f };
	struct result r = { 0 };

	if (find_places(x, f, n->probe.targets, &places)) {
		w.places = &places;
		for (size_t i = 0; i < places.list.nr; i++)
			if (places.list.v[i].point)
				add_point(&w, &r, n, places.list.v[i].target,
					  places.list.v[i].point);
		w.source = NULL;
		w.point = NULL;
		n->probe.targets = plain_targets(x, &places);
	}
	if (n->probe.targets && compose(&w, n, n->span, walk_block, NULL))
		add(&r, n);
	return r.first;
}

/* ---- checking a module ---- */

/* Is the value known in the first block of a probe, whatever place it is for? */
static bool is_known_first(const struct up_def *d, const char *name)
{
	for (size_t i = 0; i < d->sources.nr; i++) {
		const struct up_point_source *s = &d->sources.v[i];

		for (size_t k = 0; !s->at_return && k < s->exports.nr; k++)
			if (s->exports.v[k].at_return && !strcmp(s->exports.v[k].name, name))
				return false;
	}
	return true;
}

/* A block that prints all values, or those that are known in the first block. */
static struct up_node *print_exports(struct up_expand *x, const struct up_def *d, bool all)
{
	struct up_node *block = up_node_make(x->arena, ND_BLOCK, d->span);
	struct up_node *call = up_node_make(x->arena, ND_CALL, d->span);
	struct up_node **end = &call->call.args;

	call->call.name = "print";
	call->call.name_span = d->span;
	for (size_t i = 0; i < d->sources.v[0].exports.nr; i++) {
		const struct up_export *e = &d->sources.v[0].exports.v[i];

		if (!all && !is_known_first(d, e->name))
			continue;
		*end = up_node_make(x->arena, ND_NAME, e->span);
		(*end)->name.s = e->name;
		end = &(*end)->next;
	}
	block->block.stmts = up_node_make(x->arena, ND_DO, d->span);
	block->block.stmts->act.op = OPR_SET;
	block->block.stmts->act.rhs = call;
	return block;
}

struct up_node *up_point_probe(struct up_expand *x, struct up_def *d)
{
	struct up_node *n = up_node_make(x->arena, ND_PROBE, d->span);
	bool has_late = false, is_late = false;

	if (d->state != DEF_DONE || !d->sources.nr)
		return NULL;
	for (size_t i = 0; i < d->sources.nr; i++)
		is_late |= d->sources.v[i].at_return;
	for (size_t i = 0; i < d->sources.v[0].exports.nr; i++)
		has_late |= !is_known_first(d, d->sources.v[0].exports.v[i].name);
	n->probe.targets = up_node_make(x->arena, ND_TARGET, d->span);
	n->probe.targets->target.raw = d->name;
	n->probe.targets->target.len = strlen(d->name);
	n->probe.entry = print_exports(x, d, false);
	if (has_late && !is_late)
		n->probe.ret = print_exports(x, d, true);
	return n;
}
