/* A resolver that knows only what it was told. */
#include "runtime/recorded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/arena.h"

/* A place that was probed. */
struct place {
	uint64_t addr, off; /* virtual address, offset in the file */
	enum up_calling calling;
};

/* Where a probe on a function's entry stood. */
struct entry {
	uint64_t addr, at;
};

/* Where a function was left. */
struct way_out {
	uint64_t addr; /* of the function */
	bool is_none;  /* only says that it is so that its returns were seen */
	struct up_exit e;
};

struct up_recorded_object {
	struct up_object o; /* first: the compiler's pointer is ours */
	struct up_recorded *owner;
	UP_VEC(struct up_symbol) symbols;
	/* By address when is_sorted. */
	UP_VEC(struct place) places;
	UP_VEC(struct entry) entries;
	UP_VEC(struct way_out) exits;
	bool is_sorted;
};

struct up_recorded {
	struct up_resolver iface;
	struct up_arena *arena;
	UP_VEC(struct up_recorded_object *) objects;
	enum up_machine loose; /* not UP_M_OTHER: whatever is named is there, for this machine */
	uint64_t nr_made;      /* functions that were made so */
};

#define LOOSE_STEP 0x1000000u /* bytes between functions that nobody knows */

/* ---- noting ---- */

struct up_recorded_object *up_recorded_object(struct up_recorded *r, const struct up_object *o)
{
	jmp_buf oom;

	up_arena_on_oom(r->arena, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(r->arena, NULL);
		return NULL;
	}
	struct up_recorded_object *own = up_new(r->arena, struct up_recorded_object);
	own->o = *o;
	own->o.path = up_arena_strdup(r->arena, o->path);
	own->o.name = up_arena_strdup(r->arena, o->name);
	own->owner = r;
	up_vec_push(r->arena, &r->objects, own);
	up_arena_on_oom(r->arena, NULL);
	return own;
}

bool up_recorded_symbol(struct up_recorded_object *o, const struct up_symbol *s)
{
	struct up_arena *a = o->owner->arena;
	struct up_symbol own = *s;
	jmp_buf oom;

	up_arena_on_oom(a, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(a, NULL);
		return false;
	}
	own.name = up_arena_strdup(a, s->name);
	own.version = s->version ? up_arena_strdup(a, s->version) : NULL;
	up_vec_push(a, &o->symbols, own);
	up_arena_on_oom(a, NULL);
	return true;
}

bool up_recorded_place(struct up_recorded_object *o, uint64_t addr, uint64_t off,
		       enum up_calling calling)
{
	struct up_arena *a = o->owner->arena;
	struct place p = { addr, off, calling };
	jmp_buf oom;

	up_arena_on_oom(a, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(a, NULL);
		return false;
	}
	up_vec_push(a, &o->places, p);
	o->is_sorted = false;
	up_arena_on_oom(a, NULL);
	return true;
}

bool up_recorded_entry(struct up_recorded_object *o, uint64_t addr, uint64_t at)
{
	struct up_arena *a = o->owner->arena;
	struct entry e = { addr, at };
	jmp_buf oom;

	up_arena_on_oom(a, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(a, NULL);
		return false;
	}
	up_vec_push(a, &o->entries, e);
	o->is_sorted = false;
	up_arena_on_oom(a, NULL);
	return true;
}

bool up_recorded_exit(struct up_recorded_object *o, uint64_t addr, const struct up_exit *exit)
{
	struct up_arena *a = o->owner->arena;
	struct way_out w = { .addr = addr, .is_none = !exit };
	jmp_buf oom;

	if (exit)
		w.e = *exit;
	up_arena_on_oom(a, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(a, NULL);
		return false;
	}
	up_vec_push(a, &o->exits, w);
	o->is_sorted = false;
	up_arena_on_oom(a, NULL);
	return true;
}

/* ---- answering ---- */

static struct up_recorded_object *own_object(const struct up_object *o)
{
	return (struct up_recorded_object *)o;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is it the file `libNAME.so...`, or `NAME.so...`, that a short name stands for? */
static bool is_library(const char *file, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(file, name, len) && !strncmp(file + len, ".so", 3);
}

/*
 * How well a recorded object fits what a script says: its path or the name it was recorded under,
 * the name of its file, a library's short name. 0: not at all.
 */
static unsigned fits_name(const struct up_object *o, const char *name)
{
	const char *base = last_part(name);

	if (!strcmp(o->path, name))
		return 4;
	if (!strcmp(o->name, base))
		return 3;
	if (!strcmp(last_part(o->path), base))
		return 2;
	return is_library(last_part(o->path), base);
}

static void list_objects(const struct up_recorded *r, struct up_buf *b)
{
	for (size_t i = 0; i < r->objects.nr && i < 8; i++)
		up_buf_printf(b, "%s%s", i ? ", " : "", r->objects.v[i]->o.name);
	if (r->objects.nr > 8)
		up_buf_puts(b, ", ...");
}

static const struct up_object *make_object(struct up_recorded *r, const char *name)
{
	struct up_object o = { .path = name, .name = last_part(name), .machine = r->loose };
	char *path = NULL;

	if (name[0] != '/' && asprintf(&path, "/%s", name) < 0)
		return NULL;
	if (path)
		o.path = path;
	struct up_recorded_object *own = up_recorded_object(r, &o);
	free(path);
	return own ? &own->o : NULL;
}

static const struct up_object *open_object(void *ctx, const char *name, struct up_why *why)
{
	struct up_recorded *r = ctx;
	const struct up_object *best = NULL;
	unsigned fit = 0;

	for (size_t i = 0; i < r->objects.nr; i++) {
		unsigned f = fits_name(&r->objects.v[i]->o, name);

		if (f > fit) {
			fit = f;
			best = &r->objects.v[i]->o;
		}
	}
	if (!best && r->loose != UP_M_OTHER)
		best = make_object(r, name);
	if (!best) {
		up_buf_puts(&why->msg, "the recording has no hits in ");
		up_text_escape(&why->msg, name, strlen(name), 0);
		up_buf_puts(&why->hint, "it has those in ");
		list_objects(r, &why->hint);
	}
	return best;
}

static bool matches(const struct up_query *q, const struct up_symbol *s)
{
	if (q->version && (!s->version || strcmp(q->version, s->version)))
		return false;
	if (q->kind == UP_QUERY_EXACT)
		return !strcmp(q->pattern, s->name);
	return up_glob_match(q->pattern, strlen(q->pattern), s->name, strlen(s->name));
}

static int make_symbol(struct up_recorded *r, struct up_recorded_object *o,
		       const struct up_query *q, up_symbol_fn *fn, void *arg)
{
	struct up_symbol s = { .name = q->pattern, .version = q->version, .kind = UP_SYM_FUNC };

	s.addr = ++r->nr_made * LOOSE_STEP;
	if (!up_recorded_symbol(o, &s))
		return -ENOMEM;
	fn(arg, &o->symbols.v[o->symbols.nr - 1]);
	return 0;
}

static int find_symbols(void *ctx, const struct up_object *o, const struct up_query *q,
			up_symbol_fn *fn, void *arg, struct up_why *why)
{
	struct up_recorded_object *own = own_object(o);
	struct up_recorded *r = ctx;
	size_t nr_found = 0;

	if (r->loose != UP_M_OTHER && q->kind == UP_QUERY_GLOB) {
		up_buf_puts(&why->msg, "the text does not say which functions there were");
		up_buf_puts(&why->hint, "name each function");
		return -ENOENT;
	}
	for (size_t i = 0; i < own->symbols.nr; i++) {
		if (!matches(q, &own->symbols.v[i]))
			continue;
		nr_found++;
		if (!fn(arg, &own->symbols.v[i]))
			break;
	}
	return r->loose != UP_M_OTHER && !nr_found ? make_symbol(r, own, q, fn, arg) : 0;
}

static bool is_loose(const void *ctx)
{
	return ((const struct up_recorded *)ctx)->loose != UP_M_OTHER;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_places(const void *a, const void *b)
{
	return compare_numbers(((const struct place *)a)->addr, ((const struct place *)b)->addr);
}

static int compare_entries(const void *a, const void *b)
{
	return compare_numbers(((const struct entry *)a)->addr, ((const struct entry *)b)->addr);
}

static int compare_exits(const void *va, const void *vb)
{
	const struct way_out *a = va, *b = vb;
	int order = compare_numbers(a->addr, b->addr);

	return order ? order : compare_numbers(a->e.addr, b->e.addr);
}

/* Nothing more is noted: puts all in order. */
static struct up_recorded_object *settle(const struct up_object *o)
{
	struct up_recorded_object *own = own_object(o);

	if (own->is_sorted)
		return own;
	if (own->places.nr)
		qsort(own->places.v, own->places.nr, sizeof(*own->places.v), compare_places);
	if (own->entries.nr)
		qsort(own->entries.v, own->entries.nr, sizeof(*own->entries.v), compare_entries);
	if (own->exits.nr)
		qsort(own->exits.v, own->exits.nr, sizeof(*own->exits.v), compare_exits);
	own->is_sorted = true;
	return own;
}

static const struct place *find_place(const struct up_object *o, uint64_t addr)
{
	const struct up_recorded_object *own = settle(o);
	struct place key = { .addr = addr };

	return own->places.nr
		       ? bsearch(&key, own->places.v, own->places.nr, sizeof(key), compare_places)
		       : NULL;
}

/* The first exit of the function at addr, or where it would stand. */
static size_t first_exit(const struct up_recorded_object *o, uint64_t addr)
{
	size_t low = 0, high = o->exits.nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (o->exits.v[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_exits(const struct up_recorded_object *o, uint64_t addr)
{
	size_t i = first_exit(o, addr);

	return i < o->exits.nr && o->exits.v[i].addr == addr;
}

static enum up_place to_offset(void *ctx, const struct up_object *o, uint64_t addr, uint64_t *out)
{
	const struct place *p = find_place(o, addr);

	*out = p ? p->off : addr;
	return p || is_loose(ctx) ? UP_PLACE_CODE : UP_PLACE_NOWHERE;
}

static enum up_calling calling(void *ctx, const struct up_object *o, uint64_t addr)
{
	const struct place *p = find_place(o, addr);

	(void)ctx;
	return p ? p->calling : UP_CALLING_C;
}

static enum up_place to_addr(void *ctx, const struct up_object *o, uint64_t off, uint64_t *out)
{
	const struct up_recorded_object *own = own_object(o);

	*out = off;
	if (is_loose(ctx))
		return UP_PLACE_CODE;
	for (size_t i = 0; i < own->places.nr; i++)
		if (own->places.v[i].off == off) {
			*out = own->places.v[i].addr;
			return UP_PLACE_CODE;
		}
	return UP_PLACE_NOWHERE;
}

static bool func_at(void *ctx, const struct up_object *o, uint64_t addr, struct up_symbol *out)
{
	const struct up_recorded_object *own = own_object(o);
	const struct up_symbol *best = NULL;

	(void)ctx;
	for (size_t i = 0; i < own->symbols.nr; i++) {
		const struct up_symbol *s = &own->symbols.v[i];

		if (s->addr > addr || (addr != s->addr && addr - s->addr >= s->size))
			continue;
		if (!best || s->addr > best->addr ||
		    (s->addr == best->addr && up_symbol_order(s, best) < 0))
			best = s;
	}
	if (best)
		*out = *best;
	return best;
}

static bool can_probe(void *ctx, const struct up_object *o, uint64_t addr, struct up_why *why)
{
	uint64_t off;

	if (to_offset(ctx, o, addr, &off) == UP_PLACE_CODE)
		return true;
	up_buf_printf(&why->msg, "the recording has no hits of 0x%" PRIx64 " in %s", addr, o->name);
	return false;
}

/* A plan that is made anew probes what was probed, and nothing else: so all of this is as it was.
 */
static bool exits(void *ctx, const struct up_object *o, uint64_t addr, up_exit_fn *fn, void *arg,
		  struct up_why *why)
{
	const struct up_recorded_object *own = settle(o);
	const struct way_out *last = NULL;

	(void)ctx;
	if (!has_exits(own, addr)) {
		up_buf_printf(&why->msg, "the recording does not say how 0x%" PRIx64 " is left",
			      addr);
		return false;
	}
	for (size_t i = first_exit(own, addr); i < own->exits.nr; i++) {
		const struct way_out *w = &own->exits.v[i];

		if (w->addr != addr)
			break;
		/* Several probes were there. */
		if (w->is_none || (last && last->e.addr == w->e.addr))
			continue;
		last = w;
		if (!fn(arg, &w->e))
			break;
	}
	return true;
}

static unsigned entries(void *ctx, const struct up_object *o, uint64_t addr,
			struct up_entry_at *out, unsigned max)
{
	const struct up_recorded_object *own = settle(o);
	const struct entry key = { .addr = addr }, *e = NULL;

	(void)ctx;
	out[0] = (struct up_entry_at){ .addr = addr, .cost = 1, .insn = "" };
	if (own->entries.nr && max > 1)
		e = bsearch(&key, own->entries.v, own->entries.nr, sizeof(key), compare_entries);
	if (!e)
		return 1;
	out[1] = (struct up_entry_at){ .addr = e->at, .insn = "place that was probed" };
	return 2;
}

static enum up_return_risk return_risk(void *ctx, const struct up_object *o, uint64_t addr,
				       struct up_buf *why)
{
	(void)ctx;
	if (!has_exits(settle(o), addr))
		return UP_RETURN_SAFE;
	up_buf_puts(why, "its exits were recorded");
	return UP_RETURN_EXCEPTIONS;
}

static bool imports(void *ctx, const struct up_object *o, const char *name, const char **lib)
{
	(void)ctx;
	(void)o;
	(void)name;
	(void)lib;
	return false;
}

static void picks(void *ctx, const struct up_object *o, uint64_t addr, up_symbol_fn *fn, void *arg)
{
	(void)ctx;
	(void)o;
	(void)addr;
	(void)fn;
	(void)arg;
}

static enum up_named names(void *ctx, const struct up_object *o, struct up_buf *hint)
{
	(void)ctx;
	(void)o;
	(void)hint;
	return UP_NAMES_ALL;
}

static void near_symbols(void *ctx, const struct up_object *o, struct up_nearest *n)
{
	const struct up_recorded_object *own = own_object(o);

	(void)ctx;
	for (size_t i = 0; i < own->symbols.nr; i++)
		up_nearest_offer(n, own->symbols.v[i].name, strlen(own->symbols.v[i].name));
}

static void near_objects(void *ctx, struct up_nearest *n)
{
	const struct up_recorded *r = ctx;

	for (size_t i = 0; i < r->objects.nr; i++)
		up_nearest_offer(n, r->objects.v[i]->o.name, strlen(r->objects.v[i]->o.name));
}

/* ---- the resolver ---- */

struct up_recorded *up_recorded_new(void)
{
	struct up_recorded *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->arena = up_arena_new();
	if (!r->arena) {
		free(r);
		return NULL;
	}
	r->iface = (struct up_resolver){ .ctx = r,
					 .is_recorded = true,
					 .open = open_object,
					 .find = find_symbols,
					 .to_offset = to_offset,
					 .to_addr = to_addr,
					 .func_at = func_at,
					 .can_probe = can_probe,
					 .calling = calling,
					 .exits = exits,
					 .entries = entries,
					 .return_risk = return_risk,
					 .imports = imports,
					 .picks = picks,
					 .names = names,
					 .near_symbols = near_symbols,
					 .near_objects = near_objects };
	return r;
}

void up_recorded_free(struct up_recorded *r)
{
	if (!r)
		return;
	up_arena_free(r->arena);
	free(r);
}

struct up_recorded *up_recorded_new_loose(enum up_machine machine)
{
	struct up_recorded *r = up_recorded_new();

	if (r)
		r->loose = machine;
	return r;
}

const struct up_resolver *up_recorded_iface(const struct up_recorded *r)
{
	return &r->iface;
}
