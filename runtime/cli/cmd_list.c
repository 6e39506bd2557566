/* The places that can be probed. */
#include "runtime/cli/cmd_list.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/text.h"
#include "runtime/cli/demangle.h"
#include "runtime/cli/print.h"
#include "runtime/cli/run.h"
#include "runtime/resolver.h"

/* One argument, taken apart. */
struct wanted {
	const struct up_resolver *r;
	const struct up_object *object;
	char *object_name;
	char *pattern;       /* "*" when none was given */
	char *version;       /* "@VERSION" behind a name, or NULL */
	bool is_regex;       /* /.../: `regex` is set */
	bool is_source_name; /* holds "::" or "(": compared with what C++ and Rust call it */
	regex_t regex;
};

struct place {
	struct up_symbol sym;
	uint64_t offset; /* in the file */
};

struct places {
	const struct wanted *w;
	struct place *v;
	size_t nr, cap;
	size_t nr_data; /* matching symbols that are no code */
	bool failed;    /* no memory */
};

/* ---- taking the argument apart ---- */

/* Copies a word, which ends at `stop` unless that stands in quotes; *s is left behind it. */
static char *copy_part(const char **s, char stop)
{
	char *copy = malloc(strlen(*s) + 1), *to = copy;
	bool quoted = false;

	for (; copy && **s && (quoted || **s != stop); ++*s) {
		if (**s == '"')
			quoted = !quoted;
		else if (quoted && **s == '\\' && (*s)[1])
			*to++ = *++*s;
		else
			*to++ = **s;
	}
	if (copy)
		*to = 0;
	return copy;
}

static bool compile_regex(struct wanted *w)
{
	size_t len = strlen(w->pattern);
	char text[128];

	w->is_regex = len > 2 && w->pattern[0] == '/' && w->pattern[len - 1] == '/';
	if (!w->is_regex)
		return true;
	w->pattern[len - 1] = 0;
	if (up_regex_compile(&w->regex, w->pattern + 1, len - 2, text))
		return true;
	w->is_regex = false;
	up_complain("bad regular expression %s: %s", w->pattern + 1, text);
	return false;
}

static bool take_apart(struct wanted *w, const char *arg)
{
	w->object_name = copy_part(&arg, ':');
	w->pattern = *arg == ':' && arg[1] ? (arg++, copy_part(&arg, 0)) : strdup("*");
	if (!w->object_name || !w->pattern) {
		up_complain("out of memory");
		return false;
	}
	if (!compile_regex(w))
		return false;
	char *at = w->is_regex ? NULL : strchr(w->pattern + !!*w->pattern, '@');
	if (at) {
		*at = 0;
		w->version = at + 1 + (at[1] == '@');
	}
	w->is_source_name = !w->is_regex && (strstr(w->pattern, "::") || strchr(w->pattern, '('));
	return true;
}

static void wanted_fini(struct wanted *w)
{
	if (w->is_regex)
		regfree(&w->regex);
	free(w->object_name);
	free(w->pattern);
}

/* ---- finding ---- */

static bool matches(const char *pattern, const char *s, size_t len)
{
	return up_glob_match(pattern, strlen(pattern), s, len);
}

/* The whole source name, or what stands before its parameter list. */
static bool matches_source_name(const struct wanted *w, const char *name)
{
	char *s = up_demangle(name);

	if (!s)
		return false;
	size_t len = strlen(s), before = strcspn(s, "(");
	bool is = matches(w->pattern, s, len) || (before && matches(w->pattern, s, before));
	free(s);
	return is;
}

static bool is_wanted(const struct wanted *w, const struct up_symbol *s)
{
	if (w->version && (!s->version || strcmp(s->version, w->version)))
		return false;
	if (w->is_regex)
		return !regexec(&w->regex, s->name, 0, NULL, 0);
	return !w->is_source_name || matches_source_name(w, s->name);
}

static bool keep(void *arg, const struct up_symbol *s)
{
	struct places *p = arg;
	const struct up_resolver *r = p->w->r;
	struct place new = { .sym = *s };

	if (!is_wanted(p->w, s))
		return true;
	if (s->kind == UP_SYM_DATA ||
	    r->to_offset(r->ctx, p->w->object, s->addr, &new.offset) != UP_PLACE_CODE) {
		p->nr_data++;
		return true;
	}
	if (p->nr == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 1024;
		struct place *v = reallocarray(p->v, cap, sizeof(*v));

		p->failed |= !v;
		if (!v)
			return false;
		p->v = v;
		p->cap = cap;
	}
	p->v[p->nr++] = new;
	return true;
}

/* Names of one address in the order they are shown in, versions of a name by letters. */
static int by_address(const void *va, const void *vb)
{
	const struct up_symbol *a = &((const struct place *)va)->sym;
	const struct up_symbol *b = &((const struct place *)vb)->sym;
	int order = up_symbol_order(a, b);

	if (order || !a->version || !b->version)
		return order ? order : !a->version - !b->version;
	return strcmp(a->version, b->version);
}

static int say_why(struct up_why *why)
{
	up_complain("%s", why->msg.s ? why->msg.s : "out of memory");
	if (why->hint.len)
		fprintf(stderr, "  hint: %s\n", why->hint.s);
	up_buf_fini(&why->msg);
	up_buf_fini(&why->hint);
	return 1;
}

static int find(struct places *p)
{
	const struct wanted *w = p->w;
	bool all = w->is_regex || w->is_source_name;
	struct up_query q = { .kind = all || up_is_glob(w->pattern, strlen(w->pattern))
					      ? UP_QUERY_GLOB
					      : UP_QUERY_EXACT,
			      .pattern = all ? "*" : w->pattern,
			      .version = w->version };
	struct up_why why = { 0 };

	if (w->r->find(w->r->ctx, w->object, &q, keep, p, &why))
		return say_why(&why);
	if (p->failed) {
		up_complain("out of memory");
		return 1;
	}
	if (p->nr)
		qsort(p->v, p->nr, sizeof(*p->v), by_address);
	return 0;
}

static int say_none(const struct places *p)
{
	const struct wanted *w = p->w;
	const char *lib = NULL;
	struct up_nearest near;
	struct up_buf b = { 0 };

	if (p->nr_data)
		up_complain("what matches %s in %s is data, and a probe can only stand on code",
			    w->pattern, w->object->name);
	else if (w->r->imports(w->r->ctx, w->object, w->pattern, &lib))
		up_complain("%s does not define %s, it takes it from %s", w->object->name,
			    w->pattern, lib ? lib : "another library");
	else if (w->is_source_name && !up_can_demangle())
		up_complain("C++ and Rust names need the C++ library (libstdc++.so.6), which is "
			    "not here");
	else
		up_complain("nothing in %s matches %s", w->object->name, w->pattern);
	up_nearest_init(&near, w->pattern, strlen(w->pattern));
	if (!p->nr_data && !lib)
		w->r->near_symbols(w->r->ctx, w->object, &near);
	if (up_nearest_list(&near, &b))
		fprintf(stderr, "  hint: did you mean %s?\n", b.s);
	up_buf_fini(&b);
	return 1;
}

/* ---- showing ---- */

/* All names of one address, v[0..nr). */
struct spot {
	const struct place *v;
	size_t nr;
	uint64_t size; /* the largest that a name tells */
	enum up_symkind kind;
	bool is_local; /* all its names are */
};

static struct spot spot_at(const struct places *p, size_t i)
{
	struct spot s = { .v = &p->v[i], .kind = UP_SYM_NOTYPE, .is_local = true };

	for (; i < p->nr && p->v[i].sym.addr == s.v->sym.addr; i++) {
		const struct up_symbol *sym = &p->v[i].sym;

		s.nr++;
		s.size = sym->size > s.size ? sym->size : s.size;
		s.is_local &= sym->is_local;
		if (sym->kind == UP_SYM_IFUNC ||
		    (sym->kind == UP_SYM_FUNC && s.kind != UP_SYM_IFUNC))
			s.kind = sym->kind;
	}
	return s;
}

/*
 * The same name again, or without the version that the one before it tells. by_address() puts
 * those with a version first.
 */
static bool is_repeated(const struct spot *s, size_t i)
{
	const struct up_symbol *a, *b = &s->v[i].sym;

	if (!i)
		return false;
	a = &s->v[i - 1].sym;
	return !strcmp(a->name, b->name) &&
	       (!b->version || (a->version && !strcmp(a->version, b->version)));
}

static const char *kind_name(enum up_symkind kind)
{
	return kind == UP_SYM_IFUNC ? "ifunc" : kind == UP_SYM_FUNC ? "function" : "untyped";
}

static void put_text(struct up_buf *b, const struct wanted *w, const struct spot *s)
{
	char kind[32];

	(void)w;
	snprintf(kind, sizeof(kind), "%s%s", kind_name(s->kind), s->is_local ? " local" : "");
	up_buf_printf(b, "0x%-10" PRIx64 " %7" PRIu64 "  %-14s  ", s->v->sym.addr, s->size, kind);
	for (size_t i = 0; i < s->nr; i++) {
		const struct up_symbol *sym = &s->v[i].sym;

		if (is_repeated(s, i))
			continue;
		up_buf_puts(b, i ? ", " : "");
		up_text_escape(b, sym->name, strlen(sym->name), 0);
		if (sym->version)
			up_buf_printf(b, "@%s", sym->version);
		char *source_name = up_demangle(sym->name);
		if (source_name) {
			up_buf_puts(b, " = ");
			up_text_escape(b, source_name, strlen(source_name), 0);
		}
		free(source_name);
	}
	up_buf_putc(b, '\n');
}

static void put_json_names(struct up_buf *b, const struct spot *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct up_symbol *sym = &s->v[i].sym;

		if (is_repeated(s, i))
			continue;
		up_buf_puts(b, i ? ",{\"name\":" : "{\"name\":");
		up_json_string(b, sym->name);
		if (sym->version) {
			up_buf_puts(b, ",\"version\":");
			up_json_string(b, sym->version);
		}
		char *source_name = up_demangle(sym->name);
		if (source_name) {
			up_buf_puts(b, ",\"demangled\":");
			up_json_string(b, source_name);
		}
		free(source_name);
		up_buf_putc(b, '}');
	}
}

static void put_json(struct up_buf *b, const struct wanted *w, const struct spot *s)
{
	up_buf_puts(b, "{\"type\":\"place\",\"object\":");
	up_json_string(b, w->object->path);
	up_buf_printf(b,
		      ",\"address\":\"0x%" PRIx64 "\",\"offset\":\"0x%" PRIx64
		      "\",\"size\":%" PRIu64 ",\"kind\":\"%s\",\"local\":%s,\"names\":[",
		      s->v->sym.addr, s->v->offset, s->size, kind_name(s->kind),
		      s->is_local ? "true" : "false");
	put_json_names(b, s);
	up_buf_puts(b, "]}\n");
}

/* Prints what was found and adds to the counts. */
static int print(const struct places *p, bool json, size_t *nr_shown, size_t *nr_refused)
{
	const struct wanted *w = p->w;
	struct up_buf b = { 0 };
	bool ok = true;

	for (size_t i = 0, next; i < p->nr && ok; i = next) {
		struct spot s = spot_at(p, i);

		next = i + s.nr;
		if (s.kind != UP_SYM_IFUNC &&
		    !w->r->can_probe(w->r->ctx, w->object, s.v->sym.addr, NULL)) {
			++*nr_refused;
			continue;
		}
		(json ? put_json : put_text)(&b, w, &s);
		++*nr_shown;
		if (b.len > 1 << 18)
			ok = up_print(&b);
	}
	ok = ok && up_print(&b);
	up_buf_fini(&b);
	return ok ? 0 : 1;
}

/* ---- the command ---- */

static int list_one(const struct up_resolver *r, const char *arg, bool json, size_t *nr_shown,
		    size_t *nr_refused)
{
	struct wanted w = { .r = r };
	struct places p = { .w = &w };
	struct up_why why = { 0 };
	int status = 2;

	if (take_apart(&w, arg)) {
		w.object = r->open(r->ctx, w.object_name, &why);
		status = w.object ? find(&p) : say_why(&why);
		if (!status)
			status = p.nr ? print(&p, json, nr_shown, nr_refused) : say_none(&p);
	}
	free(p.v);
	wanted_fini(&w);
	return status;
}

static void say_count(size_t nr_shown, size_t nr_refused)
{
	fprintf(stderr, "%zu %s", nr_shown, nr_shown == 1 ? "place" : "places");
	if (nr_refused)
		fprintf(stderr, "; %zu more where no probe can stand", nr_refused);
	fputc('\n', stderr);
}

/* A pattern of objects: no colon, so no place in one. */
static bool names_objects(const char *arg)
{
	return !strchr(arg, ':') && !strchr(arg, '/') && up_is_glob(arg, strlen(arg));
}

static int list_all(const struct up_opts *o, const struct up_resolver *r, bool json)
{
	size_t nr_shown = 0, nr_refused = 0;
	bool has_places = false;
	int worst = 0;

	for (int i = -1; i < o->nr_args; i++) {
		const char *arg = i < 0 ? o->script : o->args[i];
		bool is_place = !names_objects(arg);
		int status = is_place ? list_one(r, arg, json, &nr_shown, &nr_refused)
				      : up_list_named(arg, json);

		has_places |= is_place;
		worst = status > worst ? status : worst;
	}
	if (has_places && (nr_shown || nr_refused))
		say_count(nr_shown, nr_refused);
	return worst;
}

int up_cmd_list(const struct up_opts *o)
{
	struct up_elf_options eo = { .pid = o->pid };
	bool json;

	if (!up_want_json(o, &json))
		return 2;
	if (!o->script && o->pid)
		return up_list_mapped(o->pid, json);
	if (!o->script) {
		up_complain("list what? OBJECT:PATTERN, as in uptick list 'libc:mem*'");
		return 2;
	}
	struct up_elf_resolver *elf = up_elf_resolver_new(&eo);
	if (!elf) {
		up_complain("out of memory");
		return 1;
	}
	int status = list_all(o, up_elf_resolver_iface(elf), json);
	up_elf_resolver_free(elf);
	return status;
}
