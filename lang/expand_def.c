/* Constants, functions, parameters: written out once each, and checked as far as that needs no
 * types. */
#include "lang/expand_int.h"
#include "lang/fold.h"

#define MAX_RESTING 100 /* definitions of which each needs the next one */

/* ---- literals ---- */

enum up_nd up_literal_kind(const struct up_node *n)
{
	if (n->kind == ND_UNARY && n->op.op == OPR_NEG)
		n = n->op.a;
	return n->kind == ND_INT || n->kind == ND_FLOAT || n->kind == ND_STR ? n->kind : ND_BAD;
}

static struct up_node *new_text(struct up_expand *x, uint32_t src, const char *text)
{
	struct up_span span = { 0, (uint32_t)strlen(text), src };
	struct up_node *n = up_node_make(x->arena, ND_STR, span);

	n->str = (struct up_text){ up_arena_strdup(x->arena, text), strlen(text) };
	return n;
}

struct up_node *up_argument(struct up_expand *x, const char *name, const char *text)
{
	int src = up_source_add(x->sources, name, text, strlen(text));
	struct up_node *n;

	if (src < 0) {
		src = up_source_add(x->sources, name, "", 0);
		return new_text(x, (uint32_t)src, "");
	}
	n = up_parse_literal(x->ds, (uint32_t)src);
	return n ? n : new_text(x, (uint32_t)src, text);
}

/* An integer as a literal, with a minus sign where it is signed and below 0. */
static struct up_node *new_int(struct up_expand *x, struct up_span span, uint64_t v, bool is_signed)
{
	bool minus = is_signed && (int64_t)v < 0;
	struct up_node *n = up_node_make(x->arena, ND_INT, span), *neg;

	n->num.v = minus ? -v : v;
	n->num.is_named = true;
	if (!minus)
		return n;
	neg = up_node_make(x->arena, ND_UNARY, span);
	neg->depth = 2;
	neg->op.op = OPR_NEG;
	neg->op.a = n;
	return neg;
}

/* ---- constants ---- */

static void check_constant(void *arg, struct up_node **link);

/* What may stand in a constant: literals and what computes with them. */
static bool is_constant_kind(const struct up_node *n)
{
	switch (n->kind) {
	case ND_INT:
	case ND_FLOAT:
	case ND_STR:
	case ND_PAREN:
	case ND_UNARY:
	case ND_BINARY:
	case ND_COND:
	case ND_TYPED:
	case ND_BAD:
		return true;
	case ND_CALL:
		return strcmp(n->call.name, "fetch") != 0;
	default:
		return false;
	}
}

struct constant {
	struct up_expand *x;
	const struct up_def *def;
	bool ok;
};

static void check_constant(void *arg, struct up_node **link)
{
	struct constant *c = arg;
	struct up_node *n = *link;

	if (is_constant_kind(n)) {
		up_node_children(n, check_constant, c);
		return;
	}
	c->ok = false;
	up_error(c->x->ds, n->span, E_NOT_CONSTANT,
		 "a %s is known before there is any hit; this is not",
		 c->def->kind == ND_CONST ? "constant" : "parameter's default");
	if (c->def->kind == ND_CONST)
		up_diag_hint(c->x->ds, "a function is computed at each hit: fn %s() = ...",
			     c->def->name);
}

/* Is there a literal that means the same, sign included? Truths stay as they are written. */
static bool is_literal(const struct up_const *c)
{
	return c->type.ty == TY_INT && c->type.bits == 64 && c->type.show == UP_SHOW_DEC &&
	       (c->type.is_signed || c->v.u > INT64_MAX);
}

static bool finish_constant(struct up_expand *x, struct up_def *d)
{
	struct constant c = { x, d, true };
	struct up_const v;

	check_constant(&c, &d->expr);
	if (!c.ok)
		return false;
	if (up_const_number(d->expr, &v) && is_literal(&v))
		d->expr = new_int(x, d->expr->span, v.v.u, v.type.is_signed);
	return true;
}

/* ---- parameters ---- */

/* The value given on the command line; the last one counts. */
static const struct up_param_arg *find_argument(const struct up_expand *x, const char *name)
{
	const struct up_param_arg *found = NULL;

	for (unsigned i = 0; i < x->env->nr_params; i++)
		if (!strcmp(x->env->params[i].name, name))
			found = &x->env->params[i];
	return found;
}

static const char *source_text(struct up_expand *x, struct up_span sp)
{
	return up_arena_memdup(x->arena, up_source_text(x->sources, sp), sp.len);
}

/* A float, where a whole number was given for one. */
static void make_float(struct up_node *n)
{
	struct up_node *a = n->kind == ND_UNARY ? n->op.a : n;

	if (a->kind != ND_INT)
		return;
	a->kind = ND_FLOAT;
	a->flt.v = (double)a->num.v;
}

/* The value as the kind of thing that the default is; NULL after a diagnostic. */
static struct up_node *take_value(struct up_expand *x, const struct up_def *d,
				  const struct up_param_arg *arg, enum up_nd want)
{
	const char *name = up_arena_printf(x->arena, "--%s", arg->name);
	struct up_node *n = up_argument(x, name, arg->value);
	enum up_nd got = up_literal_kind(n);

	if (want == ND_STR && got != ND_STR)
		return new_text(x, n->span.src, arg->value);
	if (want == ND_FLOAT && got == ND_INT) {
		make_float(n);
		return n;
	}
	if (want == got)
		return n;
	up_error(x->ds, n->span, E_PARAM, "%s takes %s, and this is none", name,
		 want == ND_INT ? "a whole number" : "a number");
	up_diag_note(x->ds, d->span, "declared here");
	up_diag_hint(x->ds, "as in %s=%s", name, source_text(x, d->expr->span));
	return NULL;
}

static bool finish_parameter(struct up_expand *x, struct up_def *d)
{
	const struct up_param_arg *arg = find_argument(x, d->name);
	struct up_span span = d->expr->span;

	if (!finish_constant(x, d))
		return false;
	enum up_nd kind = up_literal_kind(d->expr);
	if (kind == ND_BAD) {
		up_error(x->ds, span, E_NOT_CONSTANT,
			 "a parameter's default is a number or a string");
		return false;
	}
	if (!arg || !arg->value)
		return true;
	struct up_node *value = take_value(x, d, arg, kind);
	if (!value)
		return false;
	d->expr = value;
	return true;
}

/* "--min=4KiB, --name="x"" of a script. */
static const char *list_params(struct up_expand *x, const struct up_file *script)
{
	const char *text = NULL;

	for (size_t i = 0; i < script->defs.nr; i++) {
		const struct up_def *d = script->defs.v[i];

		if (d->kind == ND_PARAM)
			text = up_arena_printf(x->arena, "%s%s--%s", text ? text : "",
					       text ? ", " : "", d->name);
	}
	return text;
}

/* A name on the command line, where nobody can see which dash is an underscore. */
static const char *plain_name(struct up_expand *x, const char *name)
{
	char *s = up_arena_strdup(x->arena, name);

	for (char *c = s; *c; c++)
		if (*c == '-')
			*c = '_';
	return s;
}

static void report_unknown_param(struct up_expand *x, const struct up_file *script,
				 const struct up_param_arg *arg)
{
	const char *list = list_params(x, script);
	const char *word = up_arena_printf(x->arena, "--%s%s%s", arg->name, arg->value ? "=" : "",
					   arg->value ? arg->value : "");
	int src = up_source_add(x->sources, "argument", word, strlen(word));

	up_error(x->ds,
		 (struct up_span){ 0, (uint32_t)strlen(arg->name) + 2,
				   (uint32_t)(src < 0 ? 0 : src) },
		 E_PARAM, "the script has no parameter `%s`", arg->name);
	if (list)
		up_diag_hint(x->ds, "it has %s; options of uptick stand before the script", list);
	else
		up_diag_hint(x->ds, "it has none; options of uptick stand before the script, and "
				    "behind -- nothing is taken for a parameter");
}

static void report_no_value(struct up_expand *x, const struct up_def *d)
{
	const char *word = up_arena_printf(x->arena, "--%s", d->name);
	int src = up_source_add(x->sources, "argument", word, strlen(word));

	up_error(x->ds, (struct up_span){ 0, (uint32_t)strlen(word), (uint32_t)src }, E_PARAM,
		 "%s has no value", word);
	up_diag_note(x->ds, d->span, "declared here");
	up_diag_hint(x->ds, "as in %s=%s", word, source_text(x, d->expr->span));
}

void up_check_params(struct up_expand *x, const struct up_file *script)
{
	struct up_param_arg *args = up_newn(x->arena, struct up_param_arg, x->env->nr_params + 1);
	struct up_env *env = up_new(x->arena, struct up_env);

	for (unsigned i = 0; i < x->env->nr_params; i++) {
		args[i] = x->env->params[i];
		const char *plain = plain_name(x, args[i].name);
		const struct up_def *d = up_nametab_find(&script->names, plain);

		if (!d || d->kind != ND_PARAM) {
			report_unknown_param(x, script, &args[i]);
			continue;
		}
		args[i].name = d->name;
		if (!args[i].value)
			report_no_value(x, d);
	}
	*env = *x->env;
	env->params = args;
	x->env = env;
}

/* ---- all definitions ---- */

static bool report_resting(struct up_expand *x, const struct up_def *d, struct up_span use)
{
	size_t first = 0;
	const char *text = "";

	while (x->busy.v[first] != d)
		first++;
	for (size_t i = first; i < x->busy.nr; i++)
		text = up_arena_printf(x->arena, "%s%s -> ", text, x->busy.v[i]->name);
	if (first + 1 == x->busy.nr)
		up_error(x->ds, use, E_CYCLE, "`%s` rests on itself", d->name);
	else
		up_error(x->ds, use, E_CYCLE, "`%s` rests on itself: %s%s", d->name, text, d->name);
	up_diag_note(x->ds, d->span, "declared here");
	if (d->kind == ND_FN)
		up_diag_hint(x->ds, "a function is one expression that is written out where it is "
				    "called; it cannot call itself");
	return false;
}

static bool resolve_expr(struct up_expand *x, struct up_def *d)
{
	struct up_walk w = { .x = x, .file = d->file, .def = d };

	up_walk(&w, d->expr);
	if (x->is_stopped)
		return false;
	return d->kind == ND_CONST   ? finish_constant(x, d)
	       : d->kind == ND_PARAM ? finish_parameter(x, d)
				     : true;
}

bool up_def_resolve(struct up_expand *x, struct up_def *d, struct up_span use)
{
	unsigned errors = x->ds->nr_errors;

	if (d->state == DEF_BUSY)
		return report_resting(x, d, use);
	if (d->state != DEF_NEW)
		return d->state == DEF_DONE;
	if (x->busy.nr >= MAX_RESTING) {
		x->is_stopped = true;
		return up_error(x->ds, use, E_TOO_LARGE,
				"more than %d definitions rest on each other here", MAX_RESTING);
	}
	d->state = DEF_BUSY;
	up_vec_push(x->arena, &x->busy, d);
	bool ok = d->kind == ND_POINT ? up_point_resolve(x, d) : resolve_expr(x, d);
	x->busy.nr--;
	ok &= x->ds->nr_errors == errors;
	d->state = ok ? DEF_DONE : DEF_BAD;
	return ok;
}
