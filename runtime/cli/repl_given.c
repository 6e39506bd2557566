/* What the program's declarations, and the modules that it uses, give to other declarations. */
#include <stdlib.h>
#include <string.h>

#include "lang/prompt.h"
#include "runtime/cli/modules.h"
#include "runtime/cli/repl_int.h"

/* The names that a module has from others are not visible. */
static void each_of_module(struct up_repl *r, struct up_arena *a, const struct up_given *use,
			   up_given_fn *fn, void *arg)
{
	const struct up_modules *m = up_module_finder_iface(r->o->modules);
	struct up_module_text text;
	struct up_typed typed;
	struct up_why why = { 0 };

	if (m->load(m->ctx, NULL, use->module, use->is_path, &text, &why)) {
		up_prompt_read(a, text.text, text.len, NULL, NULL, &typed);
		for (size_t i = 0; typed.kind == UP_TYPED_DECLS && i < typed.nr; i++)
			fn(arg, &typed.gives[i]);
	}
	up_why_fini(&why);
}

void up_given_each(struct up_repl *r, struct up_arena *a, up_given_fn *fn, void *arg)
{
	for (size_t i = 0; i < r->program.nr; i++) {
		const struct up_given *g = r->program.v[i].decl->gives;

		if (!g)
			continue;
		fn(arg, g);
		if (g->module)
			each_of_module(r, a, g, fn, arg);
	}
}

/* ---- keeping ---- */

static size_t size_of(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

/* Copies a text to *at, and moves that behind it. */
static const char *put(char **at, const char *s)
{
	size_t size = size_of(s);
	char *copy = *at;

	*at += size;
	return s ? memcpy(copy, s, size) : NULL;
}

struct up_given *up_given_copy(const struct up_given *g)
{
	size_t size = sizeof(*g) + g->nr_values * sizeof(*g->values) + size_of(g->name) +
		      size_of(g->module);

	for (size_t i = 0; i < g->nr_values; i++)
		size += size_of(g->values[i]);
	struct up_given *copy = malloc(size);
	if (!copy)
		return NULL;
	*copy = *g;
	copy->values = (const char **)(copy + 1);
	char *at = (char *)(copy->values + g->nr_values);
	copy->name = put(&at, g->name);
	copy->module = put(&at, g->module);
	for (size_t i = 0; i < g->nr_values; i++)
		copy->values[i] = put(&at, g->values[i]);
	return copy;
}
