/* What all who list symbols share. */
#include "lang/resolve.h"

#include <string.h>

#include "lang/demangle.h"

int up_symbol_order(const void *va, const void *vb)
{
	const struct up_symbol *a = va, *b = vb;
	size_t la = strlen(a->name), lb = strlen(b->name);

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? 1 : -1;
	if (la != lb)
		return la < lb ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Names that are offered. */
struct offer {
	struct up_nearest *near;
	struct up_buf name; /* scratch */
};

static bool offer(void *arg, const struct up_symbol *s)
{
	struct offer *o = arg;

	up_buf_reset(&o->name);
	if (s->kind != UP_SYM_DATA && !up_is_piece(s->name) &&
	    up_demangle(s->name, UP_NAME_BARE, &o->name))
		up_nearest_offer(o->near, o->name.s, o->name.len);
	return true;
}

void up_near_source_names(const struct up_resolver *r, const struct up_object *o,
			  struct up_nearest *n)
{
	/* Without "::" it is a function of no namespace: _Z, a length, a name. */
	struct up_query q = { UP_QUERY_GLOB, strstr(n->want, "::") ? "_[ZR]*" : "_Z[0-9L]*", NULL };
	struct offer to = { .near = n };
	struct up_why why = { 0 };

	r->find(r->ctx, o, &q, offer, &to, &why);
	up_buf_fini(&to.name);
	up_why_fini(&why);
}
