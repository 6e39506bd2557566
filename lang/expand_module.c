/*
 * Files and their names. A name can be seen in the file that declares it, and in files that use
 * this one themselves; what a module uses is its own affair.
 */
#include "lang/expand_int.h"

/* ---- modules ---- */

struct up_file *up_file_new(struct up_expand *x, const char *id, const char *name,
			    struct up_node *script)
{
	struct up_file *f = up_new(x->arena, struct up_file);

	f->id = id ? up_arena_strdup(x->arena, id) : NULL;
	f->name = up_arena_strdup(x->arena, name);
	f->script = script;
	up_vec_push(x->arena, &x->files, f);
	return f;
}

static struct up_file *find_file(const struct up_expand *x, const char *id)
{
	for (size_t i = 0; i < x->files.nr; i++)
		if (x->files.v[i]->id && !strcmp(x->files.v[i]->id, id))
			return x->files.v[i];
	return NULL;
}

/* `from` uses `to`, which is still being read. */
static bool report_cycle(struct up_expand *x, const struct up_node *use, const struct up_file *from,
			 const struct up_file *to)
{
	const char *text = to->name;

	for (const struct up_file *f = from; f && f != to; f = f->used_by)
		text = up_arena_printf(x->arena, "%s -> %s", f->name, text);
	if (from == to)
		return up_error(x->ds, use->span, E_CYCLE, "%s uses itself", to->name);
	return up_error(x->ds, use->span, E_CYCLE, "modules use each other in a circle: %s -> %s",
			to->name, text);
}

static bool load_text(struct up_expand *x, const struct up_file *from, const struct up_node *use,
		      struct up_module_text *text)
{
	const struct up_modules *m = x->env->modules;
	struct up_why why = { 0 };

	if (!m)
		return up_error(x->ds, use->span, E_MODULE, "modules cannot be used here");
	if (!use->use.name.len || memchr(use->use.name.s, 0, use->use.name.len))
		return up_error(x->ds, use->span, E_MODULE, "this is no path of a file");
	if (m->load(m->ctx, from->id, use->use.name.s, use->use.is_path, text, &why))
		return true;
	return up_diag_why(x->ds, use->span, E_MODULE, &why);
}

/* The file that a `use` means; NULL after a diagnostic. */
static struct up_file *load_module(struct up_expand *x, struct up_file *from,
				   const struct up_node *use)
{
	struct up_module_text text;

	if (!load_text(x, from, use, &text)) {
		x->is_partial = true;
		return NULL;
	}
	struct up_file *f = find_file(x, text.id);
	if (f && f->is_open) {
		report_cycle(x, use, from, f);
		return NULL;
	}
	if (f)
		return f;
	if (x->files.nr > UP_MODULES_MAX || text.len > UP_MODULE_MAX) {
		up_error(x->ds, use->span, E_TOO_LARGE,
			 "a program has at most %d modules of at most %u bytes", UP_MODULES_MAX,
			 UP_MODULE_MAX);
		return NULL;
	}
	int src = up_source_add(x->sources, text.name, text.text, text.len);
	x->sources->list.v[src].is_used = true;
	x->sources->list.v[src].used_at = use->span;
	f = up_file_new(x, text.id, text.name, up_parse(x->ds, (uint32_t)src)->script);
	f->is_module = true;
	f->used_by = from;
	up_declare(x, f);
	return f;
}

static void use_module(struct up_expand *x, struct up_file *f, const struct up_node *use)
{
	struct up_file *m = load_module(x, f, use);

	for (size_t i = 0; m && i < f->uses.nr; i++)
		if (f->uses.v[i] == m)
			return;
	if (m)
		up_vec_push(x->arena, &f->uses, m);
}

/* ---- names ---- */

const char *up_def_kind(const struct up_def *d)
{
	return d->kind == ND_CONST   ? "constant"
	       : d->kind == ND_FN    ? "function"
	       : d->kind == ND_PARAM ? "parameter"
				     : "point";
}

/* Two definitions of one name, in one file or in two. */
static bool report_clash(struct up_expand *x, const struct up_file *f, const struct up_def *first,
			 const struct up_def *second)
{
	if (first->file == second->file)
		up_error(x->ds, second->span, E_CLASH, "`%s` is defined twice", second->name);
	else if (first->file == f)
		up_error(x->ds, second->span, E_CLASH,
			 "`%s` is defined in %s, and in %s, which uses it", second->name,
			 second->file->name, first->file->name);
	else
		up_error(x->ds, second->span, E_CLASH,
			 "`%s` is defined in %s and in %s, and %s uses both", second->name,
			 first->file->name, second->file->name, f->name);
	up_diag_note(x->ds, first->span, "the %s of that name", up_def_kind(first));
	return false;
}

/* Makes a name visible in a file. */
static void show_name(struct up_expand *x, struct up_file *f, struct up_def *d)
{
	struct up_nametab *t = d->kind == ND_POINT ? &f->points : &f->names;
	struct up_def *first = up_nametab_add(x->arena, t, d->name, d);

	if (first && first != d)
		report_clash(x, f, first, d);
}

/* A name that the language has taken can be nobody else's. */
static bool check_free(struct up_expand *x, struct up_span span, const char *name, bool is_call)
{
	const char *what = up_word_kind(name);

	if (!what && is_call)
		what = up_call_kind(x->env, name);
	if (!what)
		return true;
	up_error(x->ds, span, E_CLASH, "`%s` is %s already", name, what);
	up_diag_hint(x->ds, "take another name, as in my_%s", name);
	return false;
}

#define MAX_PARAMS 64 /* of a function: they are looked for one after the other */

/* False when there are too many, which was said. */
static bool check_params(struct up_expand *x, const struct up_def *d)
{
	const struct up_node *params = d->params;

	if (up_count_nodes(params) > MAX_PARAMS)
		return up_error(x->ds, d->span, E_LIMIT,
				"a function has at most %d parameters, and `%s` has %u", MAX_PARAMS,
				d->name, up_count_nodes(params));
	for (const struct up_node *p = params; p; p = p->next) {
		check_free(x, p->span, p->name.s, false);
		for (const struct up_node *o = params; o != p; o = o->next)
			if (!strcmp(o->name.s, p->name.s)) {
				up_error(x->ds, p->span, E_CLASH, "`%s` stands here twice",
					 p->name.s);
				break;
			}
	}
	return true;
}

static struct up_def *new_def(struct up_expand *x, struct up_file *f, struct up_node *n,
			      const char *name, struct up_span span)
{
	struct up_def *d = up_new(x->arena, struct up_def);

	d->kind = n->kind;
	d->name = name;
	d->span = span;
	d->file = f;
	return d;
}

static void declare_def(struct up_expand *x, struct up_file *f, struct up_node *n)
{
	struct up_def *d = new_def(x, f, n, n->def.name, n->def.name_span);

	d->params = n->def.params;
	d->expr = n->def.expr;
	if (!check_params(x, d))
		d->state = DEF_BAD;
	if (!check_free(x, d->span, d->name, d->kind == ND_FN))
		return;
	up_vec_push(x->arena, &f->defs, d);
	show_name(x, f, d);
}

/* A point may be declared several times: each adds a place. */
static void declare_point(struct up_expand *x, struct up_file *f, struct up_node *n)
{
	struct up_def *d = up_nametab_find(&f->points, n->probe.name);

	if (!d) {
		d = new_def(x, f, n, n->probe.name, n->probe.name_span);
		up_vec_push(x->arena, &f->defs, d);
		show_name(x, f, d);
	}
	up_vec_push(x->arena, &d->decls, n);
}

static bool is_module_kind(enum up_nd kind)
{
	return kind == ND_CONST || kind == ND_FN || kind == ND_POINT || kind == ND_USE ||
	       kind == ND_BAD;
}

static void refuse_in_module(struct up_expand *x, const struct up_node *n)
{
	const char *what = n->kind == ND_PROBE ? "a probe"
			   : n->kind == ND_ON  ? "an `on` block"
					       : "a parameter";
	uint32_t len = n->kind == ND_ON ? 2 : 5;

	up_error(x->ds, (struct up_span){ n->span.off, len, n->span.src }, E_MODULE,
		 "a module declares names for others; %s stands in a script", what);
	up_diag_hint(x->ds, "a module holds const, fn, point and use");
}

void up_declare(struct up_expand *x, struct up_file *f)
{
	f->is_open = true;
	for (struct up_node *n = f->script->script.decls; n; n = n->next)
		if (n->kind == ND_USE)
			use_module(x, f, n);
	f->is_open = false;
	for (struct up_node *n = f->script->script.decls; n; n = n->next) {
		if (f->is_module && !is_module_kind(n->kind))
			refuse_in_module(x, n);
		else if (n->kind == ND_POINT)
			declare_point(x, f, n);
		else if (n->kind == ND_CONST || n->kind == ND_FN || n->kind == ND_PARAM)
			declare_def(x, f, n);
	}
	for (size_t i = 0; i < f->uses.nr; i++)
		for (size_t k = 0; k < f->uses.v[i]->defs.nr; k++)
			show_name(x, f, f->uses.v[i]->defs.v[k]);
}
