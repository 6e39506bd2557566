/* What the program's declarations, and the modules that it uses, give to other declarations. */
#include "lang/prompt.h"
#include "runtime/cli/modules.h"
#include "runtime/cli/repl_int.h"

static bool no_function(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return false;
}

static void read_given(struct up_arena *a, const char *text, size_t len, struct up_typed *typed)
{
	up_prompt_read(a, text, len, no_function, NULL, typed);
	if (typed->kind != UP_TYPED_DECLS)
		typed->nr = 0;
}

/* The names that a module has from others are not visible. */
static void each_of_module(struct up_repl *r, struct up_arena *a, const struct up_given *use,
			   up_given_fn *fn, void *arg)
{
	const struct up_modules *m = up_module_finder_iface(r->o->modules);
	struct up_module_text text;
	struct up_typed typed;
	struct up_why why = { 0 };

	if (m->load(m->ctx, NULL, use->module, use->is_path, &text, &why)) {
		read_given(a, text.text, text.len, &typed);
		for (size_t i = 0; i < typed.nr; i++)
			fn(arg, &typed.gives[i]);
	}
	up_why_fini(&why);
}

void up_given_each(struct up_repl *r, struct up_arena *a, up_given_fn *fn, void *arg)
{
	struct up_typed typed;

	for (size_t i = 0; i < r->program.nr; i++) {
		const struct up_decl *d = r->program.v[i].decl;

		if (d->hidden)
			continue;
		read_given(a, d->text.s, d->text.len, &typed);
		for (size_t k = 0; k < typed.nr; k++) {
			fn(arg, &typed.gives[k]);
			if (typed.gives[k].module)
				each_of_module(r, a, &typed.gives[k], fn, arg);
		}
	}
}
