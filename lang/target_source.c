/* C++, Rust and Go names in targets: which functions are meant, and what to say of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/target_int.h"

#define SHOWN_NAMES 4    /* names that one message lists */
#define SHOWN_BYTES 160u /* of each */

static const char *source_of(struct up_arena *a, const char *symbol, enum up_demangle_form form)
{
	struct up_buf b = { 0 };
	const char *name = symbol;

	if (up_demangle(symbol, form, &b))
		name = up_arena_memdup(a, b.s, b.len);
	up_buf_fini(&b);
	return name;
}

/* The full form is the stricter one: what is not mangled as a whole keeps its symbol. */
const char *up_source_bare(struct up_arena *a, const char *symbol)
{
	const char *full = up_source_full(a, symbol);

	return full == symbol ? symbol : source_of(a, symbol, UP_NAME_BARE);
}

const char *up_source_full(struct up_arena *a, const char *symbol)
{
	return source_of(a, symbol, UP_NAME_FULL);
}

/* ---- finding ---- */

/* Symbols that are meant, in the order of how well they fit. */
struct chosen {
	struct up_source_name *name;
	struct up_go_name *go; /* or NULL: in a program in Go */
	struct walk *walk;
	enum up_match best; /* of those in walk->found: only the best are kept */
};

static bool choose(void *arg, const struct up_symbol *s)
{
	struct chosen *c = arg;
	enum up_match m = UP_MATCH_NOT;

	if (s->kind != UP_SYM_DATA)
		m = c->go ? up_go_name_match(c->go, s->name)
			  : up_source_name_match(c->name, s->name);
	if (m == UP_MATCH_NOT || m < c->best)
		return true;
	if (m > c->best)
		c->walk->found.nr = 0;
	c->best = c->walk->match = m;
	up_vec_push(c->walk->arena, &c->walk->found, *s);
	return true;
}

/* Asks for all symbols that fit `glob`; what is wrong with the file was said before. */
static void each_symbol(const struct up_env *env, const struct up_target *t, const char *glob,
			const char *version, up_symbol_fn *fn, void *arg)
{
	const struct up_resolver *r = env->resolver;
	struct up_query q = { UP_QUERY_GLOB, glob, version };
	struct up_why why = { 0 };

	r->find(r->ctx, t->object, &q, fn, arg, &why);
	up_why_fini(&why);
}

static void find_named(struct up_diags *ds, const struct up_env *env, const struct up_target *t,
		       const char *text, size_t len, const char *version, struct walk *w)
{
	struct up_source_name name;
	struct chosen c = { .name = &name, .walk = w };

	w->arena = ds->arena;
	up_source_name_init(&name, text, len);
	if (name.name.len && !name.glob.failed)
		each_symbol(env, t, name.glob.s, version, choose, &c);
	up_source_name_fini(&name);
	if (w->found.nr)
		qsort(w->found.v, w->found.nr, sizeof(w->found.v[0]), up_symbol_order);
}

static void find_go(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
		    const struct up_target *t, struct walk *w)
{
	struct up_go_name name;
	struct chosen c = { .go = &name, .walk = w };

	w->arena = ds->arena;
	up_go_name_init(&name, l->m.s, l->m.len);
	each_symbol(env, t, "*", NULL, choose, &c);
	up_go_name_fini(&name);
	if (w->found.nr)
		qsort(w->found.v, w->found.nr, sizeof(w->found.v[0]), up_symbol_order);
}

void up_target_find_source(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			   const struct up_target *t, const char *version, struct walk *w)
{
	if (t->object->is_go && !version)
		find_go(ds, env, l, t, w);
	if (w->found.nr)
		return;
	find_named(ds, env, t, l->m.s, l->m.len, version, w);
}

/* ---- what is said of it ---- */

void up_target_put_places(struct up_buf *b, const struct up_target *t)
{
	for (size_t i = 0; i < t->places.nr && i < SHOWN_NAMES * 2; i++) {
		const struct up_place_at *p = &t->places.v[i];

		up_buf_puts(b, i ? ", " : "");
		if (up_is_mangled(p->symbol) || t->object->is_go)
			up_buf_printf(b, "%.*s%s", (int)SHOWN_BYTES, p->shown,
				      strlen(p->shown) > SHOWN_BYTES ? "..." : "");
		else
			up_buf_printf(b, "0x%" PRIx64, p->addr);
	}
	if (t->places.nr > SHOWN_NAMES * 2)
		up_buf_puts(b, ", ...");
}

void up_target_warn_source(struct up_diags *ds, const struct up_loc *l, const struct up_target *t)
{
	struct up_buf b = { 0 };

	if (t->places.nr == 1)
		up_buf_puts(&b, up_source_full(ds->arena, t->places.v[0].symbol));
	else
		up_target_put_places(&b, t);
	up_error(ds, l->span, W_SOURCE_NAME, "no symbol of %s is named %s; probed %s %.*s%s",
		 t->object->name, l->m.s, t->places.nr == 1 ? "is" : "are",
		 (int)(SHOWN_NAMES * SHOWN_BYTES), b.s ? b.s : "",
		 b.len > SHOWN_NAMES * SHOWN_BYTES ? "..." : "");
	up_buf_fini(&b);
}

/* ---- hints for a name that is not there ---- */

/* The functions of that name whose parameters are others. */
static bool hint_overloads(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			   const struct up_target *t)
{
	size_t nr = up_source_params(l->m.s, l->m.len);
	struct walk w = { 0 };
	struct up_buf b = { 0 };

	if (nr == l->m.len)
		return false;
	find_named(ds, env, t, l->m.s, nr, NULL, &w);
	for (size_t i = 0, shown = 0; i < w.found.nr; i++) {
		const char *name = up_source_full(ds->arena, w.found.v[i].name);

		if (i && w.found.v[i].addr == w.found.v[i - 1].addr)
			continue;
		if (shown++ == SHOWN_NAMES)
			up_buf_puts(&b, ", ...");
		if (shown > SHOWN_NAMES)
			break;
		up_buf_puts(&b, b.len ? ", `" : "`");
		up_target_put_name(&b, name);
		up_buf_putc(&b, '`');
	}
	if (b.len)
		up_diag_hint(ds, "it has %s", b.s);
	up_buf_fini(&b);
	return w.found.nr > 0;
}

/* Functions whose names end in what was written. */
struct endings {
	const char *part;          /* what was written */
	struct up_buf list;        /* the names */
	unsigned nr;               /* how many */
	const char *last;          /* the latest of them */
	struct up_arena *arena;    /* for `last` */
	struct up_buf name, plain; /* scratch */
};

/* Is `part` all of the name behind its last "::"? */
static bool ends_in(const struct up_buf *name, const char *part)
{
	size_t len = strlen(part);

	return name->len > len + 2 && !memcmp(name->s + name->len - len, part, len) &&
	       !memcmp(name->s + name->len - len - 2, "::", 2);
}

static bool list_ending(void *arg, const struct up_symbol *s)
{
	struct endings *e = arg;

	up_buf_reset(&e->name);
	up_buf_reset(&e->plain);
	if (s->kind == UP_SYM_DATA || up_is_piece(s->name) ||
	    !up_demangle(s->name, UP_NAME_BARE, &e->name))
		return true;
	up_source_plain(e->name.s, e->name.len, &e->plain);
	if (!ends_in(&e->plain, e->part) || (e->last && !strcmp(e->last, e->plain.s)))
		return true;
	e->last = up_arena_strdup(e->arena, e->plain.s);
	if (e->nr++ == SHOWN_NAMES) {
		up_buf_puts(&e->list, ", ...");
		return false;
	}
	up_buf_puts(&e->list, e->list.len ? ", `" : "`");
	up_target_put_name(&e->list, e->plain.s);
	up_buf_putc(&e->list, '`');
	return true;
}

/* area is written, and geo::Shape::area is there. */
static bool hint_ending(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			const struct up_target *t)
{
	struct endings e = { .part = l->m.s, .arena = ds->arena };
	struct up_source_name name;

	up_source_name_init(&name, l->m.s, l->m.len);
	if (name.name.len && !name.glob.failed)
		each_symbol(env, t, name.glob.s, NULL, list_ending, &e);
	up_source_name_fini(&name);
	if (e.list.len)
		up_diag_hint(ds, "did you mean %s?", e.list.s);
	bool is_hinted = e.list.len > 0;
	up_buf_fini(&e.list);
	up_buf_fini(&e.name);
	up_buf_fini(&e.plain);
	return is_hinted;
}

bool up_target_hint_source(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			   const struct up_target *t, struct up_nearest *near)
{
	if (hint_overloads(ds, env, l, t) || (!strstr(l->m.s, "::") && hint_ending(ds, env, l, t)))
		return true;
	up_near_source_names(env->resolver, t->object, near);
	return false;
}
