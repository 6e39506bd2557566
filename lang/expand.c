/* The order of the expansion: modules, definitions, then the script's blocks. */
#include "lang/expand_int.h"

/* Writes out what every file declares, used or not: a mistake is one anyway. */
static void resolve_all(struct up_expand *x)
{
	for (size_t i = 0; i < x->files.nr; i++)
		for (size_t k = 0; k < x->files.v[i]->defs.nr && !x->is_stopped; k++) {
			struct up_def *d = x->files.v[i]->defs.v[k];

			up_def_resolve(x, d, d->span);
		}
}

/* Does the script declare what a module may, and nothing else? */
static bool declares_module(const struct up_node *script)
{
	for (const struct up_node *n = script->script.decls; n; n = n->next)
		if (n->kind != ND_CONST && n->kind != ND_FN && n->kind != ND_POINT &&
		    n->kind != ND_USE)
			return false;
	return script->script.decls != NULL;
}

static void expand_on(struct up_expand *x, struct up_file *f, struct up_node *n)
{
	struct up_walk w = { .x = x, .file = f };

	if (n->on.every)
		up_walk(&w, n->on.every);
	up_walk(&w, n->on.block);
}

/* Puts a list of declarations where `end` points; returns its new end. */
static struct up_node **append(struct up_node **end, struct up_node *list)
{
	*end = list;
	while (*end)
		end = &(*end)->next;
	return end;
}

/* The script's blocks, in the order of the script. */
static struct up_node *expand_blocks(struct up_expand *x, struct up_file *f)
{
	struct up_node *list = NULL, **end = &list, *next;

	for (struct up_node *n = f->script->script.decls; n && !x->is_stopped; n = next) {
		next = n->next;
		n->next = NULL;
		up_arena_check(x->arena);
		if (n->kind == ND_ON)
			expand_on(x, f, n);
		if (n->kind == ND_PROBE)
			end = append(end, up_expand_probe(x, f, n));
		else if (n->kind == ND_ON)
			end = append(end, n);
	}
	return list;
}

/* A module's points, as probes. */
static struct up_node *expand_points(struct up_expand *x, struct up_file *f)
{
	struct up_node *list = NULL, **end = &list;

	for (size_t i = 0; i < f->defs.nr && !x->is_stopped; i++) {
		struct up_def *d = f->defs.v[i];
		struct up_node *n = d->kind == ND_POINT ? up_point_probe(x, d) : NULL;

		if (n)
			end = append(end, up_expand_probe(x, f, n));
	}
	return list;
}

/* One name cannot be a point's value in one probe and a variable in another. */
static void check_variables(struct up_expand *x)
{
	for (size_t i = 0; i < x->exported.cap; i++) {
		const struct up_span *use = x->exported.v[i].thing;
		const struct up_node *var =
			use ? up_nametab_find(&x->variables, x->exported.v[i].name) : NULL;

		if (!var)
			continue;
		up_error(x->ds, var->span, E_CLASH,
			 "`%s` is a variable here, and a point's value elsewhere",
			 x->exported.v[i].name);
		up_diag_note(x->ds, *use, "here it is a point's value");
		up_diag_hint(x->ds, "take another name, as in my_%s", x->exported.v[i].name);
	}
}

bool up_expand(struct up_diags *ds, struct up_sources *ss, const struct up_env *env,
	       struct up_node *script, bool *is_module)
{
	struct up_expand x = {
		.ds = ds, .sources = ss, .arena = ds->arena, .env = env, .left = UP_EXPAND_MAX
	};
	unsigned errors = ds->nr_errors;
	struct up_file *f =
		up_file_new(&x, env->script_id, ss->list.v[script->span.src].name, script);

	*is_module = !env->is_session && declares_module(script);
	for (struct up_node *n = script->script.decls; n; n = n->next)
		if (n->kind == ND_PROBE || n->kind == ND_ON)
			up_gather_variables(&x, n);
	up_declare(&x, f);
	up_check_params(&x, f);
	resolve_all(&x);
	script->script.decls = *is_module ? expand_points(&x, f) : expand_blocks(&x, f);
	check_variables(&x);
	return ds->nr_errors == errors;
}
