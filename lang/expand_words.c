/* Which names are taken by the language, and which one was meant. */
#include "lang/builtin.h"
#include "lang/check.h"
#include "lang/expand_int.h"
#include "lang/functions.h"
#include "lang/values.h"

static const char *const prefixes[] = { "reg", "entry", "thread", "call", NULL };

static bool is_one_of(const char *const *list, const char *name)
{
	while (*list && strcmp(*list, name))
		list++;
	return *list;
}

const char *up_word_kind(const char *name)
{
	unsigned arg;

	if (up_val_find(name) || up_val_arg(name, &arg))
		return "a value";
	if (is_one_of(prefixes, name))
		return "a word of the language";
	return NULL;
}

const char *up_call_kind(const struct up_env *env, const char *name)
{
	for (const struct up_action_row *r = up_action_rows; r->name; r++)
		if (!strcmp(r->name, name))
			return "an action";
	if (up_fn_find(name) || !strcmp(name, "fetch"))
		return "a function";
	for (const struct up_agg_row *const *r = env->aggs; r && *r; r++)
		if (!strcmp((*r)->name, name))
			return "an aggregation";
	return NULL;
}

static void offer_defs(struct up_nearest *near, const struct up_file *f, bool is_call)
{
	for (size_t i = 0; i < f->names.cap; i++) {
		const struct up_def *d = f->names.v[i].thing;

		if (d && (d->kind == ND_FN) == is_call)
			up_nearest_offer(near, d->name, strlen(d->name));
	}
}

bool up_has_near(const struct up_file *f, bool is_call, const char *name)
{
	struct up_nearest near;

	up_nearest_init(&near, name, strlen(name));
	offer_defs(&near, f, is_call);
	return near.nr;
}

bool up_unknown(struct up_expand *x, const struct up_file *f, struct up_span span,
		enum up_diag_tag tag, bool is_call, const char *name)
{
	struct up_nearest near;

	if (x->is_partial)
		return false;
	up_error(x->ds, span, tag, is_call ? "there is no function `%s`" : "nothing is named `%s`",
		 name);
	up_nearest_init(&near, name, strlen(name));
	offer_defs(&near, f, is_call);
	for (unsigned i = 0; !is_call && i < VAL_COUNT; i++)
		up_nearest_offer(&near, up_val_rows[i].name, strlen(up_val_rows[i].name));
	for (unsigned i = 0; is_call && i < FN_COUNT; i++)
		if (up_fn_rows[i].name)
			up_nearest_offer(&near, up_fn_rows[i].name, strlen(up_fn_rows[i].name));
	for (size_t i = 0; !is_call && !f->is_module && i < x->variables.cap; i++)
		if (x->variables.v[i].name)
			up_nearest_offer(&near, x->variables.v[i].name,
					 strlen(x->variables.v[i].name));
	up_diag_nearest(x->ds, &near);
	return false;
}
