/* The places that can be probed. */
#include "runtime/cli/cmd_list.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/text.h"
#include "lang/source_name.h"
#include "runtime/cli/print.h"
#include "runtime/cli/run.h"
#include "runtime/resolver.h"

/* One argument, taken apart. */
struct wanted {
	const struct up_resolver *r;
	const struct up_object *object;
	char *object_name;
	char *pattern; /* "*" when none was given */
	char *version; /* "@VERSION" behind a name, or NULL */
	bool is_regex; /* /.../: `regex` is set */
	bool is_glob;  /* has * ? [ out of quotes */
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
	size_t nr_data;                   /* matching symbols that are no code */
	struct up_source_name *name;      /* a name that is no symbol's; or NULL */
	enum up_match best;               /* of those found by it: only the best are kept */
	struct up_source_pattern *source; /* a pattern of source names; or NULL */
	bool failed;                      /* no memory */
};

/* ---- taking the argument apart ---- */

/* Takes a character in quotes, an escape perhaps; returns its bytes. */
static size_t copy_quoted(const char *s, char **to)
{
	const char *wrong = "";
	char bytes[4];
	size_t nr = 0, used = 1;

	if (*s == '\\' && s[1])
		used += up_text_unescape(s + 1, strlen(s + 1), bytes, &nr, &wrong);
	if (wrong)
		bytes[0] = s[0], nr = used = 1;
	for (size_t i = 0; i < nr; i++)
		*(*to)++ = bytes[i];
	return used;
}

/* Copies the object, which ends at a colon unless that stands in quotes; *s is left behind it. */
static char *copy_object(const char **s)
{
	char *copy = malloc(strlen(*s) + 1), *to = copy;
	bool quoted = false;

	while (copy && **s && (quoted || **s != ':')) {
		if (**s == '"') {
			quoted = !quoted;
			++*s;
		} else if (quoted) {
			*s += copy_quoted(*s, &to);
		} else {
			*to++ = *(*s)++;
		}
	}
	if (copy)
		*to = 0;
	return copy;
}

/* Copies a pattern; what would be special in a glob has a backslash where it stands in quotes. */
static char *copy_pattern(struct wanted *w, const char *s)
{
	bool quoted = false, is_regex = s[*s == '"'] == '/';
	char *copy = malloc(2 * strlen(s) + 1), *to = copy;

	while (copy && *s) {
		if (*s == '"') {
			quoted = !quoted;
			s++;
		} else if (!quoted || is_regex) {
			if (*s == '@' && !is_regex && !w->version && to > copy)
				w->version = to + 1;
			*to++ = *s++;
		} else {
			char *from = to++;

			s += copy_quoted(s, &to);
			*from = '\\';
			if (!strchr("*?[\\", from[1])) {
				memmove(from, from + 1, (size_t)(to - from - 1));
				to--;
			}
		}
	}
	if (copy)
		*to = 0;
	return copy;
}

/* A name that is no pattern: takes the backslashes away again. */
static void strip_backslashes(char *s)
{
	char *to = s;

	for (; *s; *to++ = *s++)
		s += *s == '\\' && s[1];
	*to = 0;
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
	w->object_name = copy_object(&arg);
	w->pattern = *arg == ':' && arg[1] ? copy_pattern(w, arg + 1) : strdup("*");
	if (!w->object_name || !w->pattern) {
		up_complain("out of memory");
		return false;
	}
	if (!compile_regex(w))
		return false;
	if (w->version) {
		w->version[-1] = 0;
		w->version += *w->version == '@';
	}
	w->is_glob = !w->is_regex && up_is_glob(w->pattern, strlen(w->pattern));
	if (!w->is_regex && !w->is_glob)
		strip_backslashes(w->pattern);
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

/*
 * As up_target_find_source(): what is exactly so named, else what something was left out of. Data
 * is counted, but takes no function's place.
 */
static bool is_better(struct places *p, const struct up_symbol *s)
{
	enum up_match m = up_source_name_match(p->name, s->name);

	if (s->kind == UP_SYM_DATA)
		return m != UP_MATCH_NOT;
	if (m == UP_MATCH_NOT || m < p->best)
		return false;
	if (m > p->best)
		p->nr = 0;
	p->best = m;
	return true;
}

static bool is_wanted(struct places *p, const struct up_symbol *s)
{
	const struct wanted *w = p->w;

	if (w->version && (!s->version || strcmp(s->version, w->version)))
		return false;
	if (p->name)
		return is_better(p, s);
	if (p->source)
		return up_source_pattern_match(p->source, s->name);
	return !w->is_regex || !regexec(&w->regex, s->name, 0, NULL, 0);
}

static bool keep(void *arg, const struct up_symbol *s)
{
	struct places *p = arg;
	const struct up_resolver *r = p->w->r;
	struct place new = { .sym = *s };

	if (!is_wanted(p, s))
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
		up_remark("  hint: %s", why->hint.s);
	up_why_fini(why);
	return 1;
}

static int ask(struct places *p, enum up_query_kind kind, const char *pattern)
{
	const struct wanted *w = p->w;
	struct up_query q = { kind, pattern, w->version };
	struct up_why why = { 0 };

	if (w->r->find(w->r->ctx, w->object, &q, keep, p, &why))
		return say_why(&why);
	if (!p->failed)
		return 0;
	up_complain("out of memory");
	return 1;
}

static int ask_pattern(struct places *p)
{
	const struct wanted *w = p->w;
	struct up_source_pattern source;

	if (!up_is_source_pattern(w->pattern))
		return ask(p, UP_QUERY_GLOB, w->is_regex ? "*" : w->pattern);
	up_source_pattern_init(&source, w->is_regex ? NULL : w->pattern,
			       w->is_regex ? &w->regex : NULL);
	p->source = &source;
	int status = ask(p, UP_QUERY_GLOB, source.prefilter.s ? source.prefilter.s : "*");
	p->source = NULL;
	up_source_pattern_fini(&source);
	return status;
}

static int ask_name(struct places *p)
{
	const struct wanted *w = p->w;
	struct up_source_name name;
	int status = ask(p, UP_QUERY_EXACT, w->pattern);

	if (status || p->nr || p->nr_data)
		return status;
	up_source_name_init(&name, w->pattern, strlen(w->pattern));
	p->name = &name;
	if (name.name.len && !name.glob.failed)
		status = ask(p, UP_QUERY_GLOB, name.glob.s);
	p->name = NULL;
	up_source_name_fini(&name);
	return status;
}

static int find(struct places *p)
{
	int status = p->w->is_regex || p->w->is_glob ? ask_pattern(p) : ask_name(p);

	if (!status && p->nr)
		qsort(p->v, p->nr, sizeof(*p->v), by_address);
	return status;
}

/* Says so when the object lacks that many names, and how to get them. */
static bool say_stripped(const struct wanted *w, enum up_named least)
{
	struct up_buf how = { 0 };
	enum up_named names = w->r->names(w->r->ctx, w->object, &how);
	bool is = names >= least;

	if (is && names == UP_NAMES_NONE)
		up_complain("%s is stripped: no function has a name", w->object->name);
	if (is)
		up_remark("  hint: %s%s",
			  names == UP_NAMES_NONE
				  ? ""
				  : "it is stripped: only functions for other programs have "
				    "names; ",
			  how.s ? how.s : "");
	up_buf_fini(&how);
	return is;
}

static int say_none(const struct places *p)
{
	const struct wanted *w = p->w;
	const char *lib = NULL;
	struct up_nearest near;
	struct up_buf b = { 0 };

	if (w->r->imports(w->r->ctx, w->object, w->pattern, &lib))
		up_complain("%s does not define %s, it takes it from %s", w->object->name,
			    w->pattern, lib ? lib : "another library");
	else if (say_stripped(w, UP_NAMES_NONE))
		return 1;
	else if (p->nr_data)
		up_complain("what matches %s in %s is data, and a probe can only stand on code",
			    w->pattern, w->object->name);
	else
		up_complain("nothing in %s matches %s", w->object->name, w->pattern);
	up_nearest_init(&near, w->pattern, strlen(w->pattern));
	if (!p->nr_data && !lib) {
		w->r->near_symbols(w->r->ctx, w->object, &near);
		up_near_source_names(w->r, w->object, &near);
	}
	if (up_nearest_list(&near, &b))
		up_remark("  hint: did you mean %s?", b.s);
	else if (!p->nr_data && !lib)
		say_stripped(w, UP_NAMES_EXPORTED);
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

#define SHOWN_PICKS 4 /* of an indirect function's implementations that text shows */

/* Implementations on their way to the output. */
struct picks {
	struct up_buf *b;
	unsigned nr; /* so far */
};

static bool put_pick(void *arg, const struct up_symbol *s)
{
	struct picks *p = arg;

	if (p->nr++ == SHOWN_PICKS)
		up_buf_puts(p->b, ", ...");
	if (p->nr > SHOWN_PICKS)
		return false;
	up_buf_puts(p->b, p->nr == 1 ? " -> " : ", ");
	if (s->name)
		up_text_escape(p->b, s->name, strlen(s->name), 0);
	else
		up_buf_printf(p->b, "0x%" PRIx64, s->addr);
	return true;
}

static bool put_pick_json(void *arg, const struct up_symbol *s)
{
	struct picks *p = arg;

	up_buf_printf(p->b, "%s{\"address\":\"0x%" PRIx64 "\"", p->nr++ ? "," : "", s->addr);
	if (s->name) {
		up_buf_puts(p->b, ",\"name\":");
		up_json_string(p->b, s->name);
	}
	up_buf_putc(p->b, '}');
	return true;
}

/* What an indirect function picks from. */
static void put_picks(struct up_buf *b, const struct wanted *w, const struct spot *s,
		      up_symbol_fn *put)
{
	struct picks p = { .b = b };

	if (s->kind == UP_SYM_IFUNC)
		w->r->picks(w->r->ctx, w->object, s->v->sym.addr, put, &p);
}

static void put_text(struct up_buf *b, const struct wanted *w, const struct spot *s)
{
	struct up_buf source = { 0 };
	char kind[32];

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
		if (up_demangle(sym->name, UP_NAME_FULL, &source)) {
			up_buf_puts(b, " = ");
			up_text_escape(b, source.s, source.len, 0);
		}
		up_buf_reset(&source);
	}
	put_picks(b, w, s, put_pick);
	up_buf_putc(b, '\n');
	up_buf_fini(&source);
}

static void put_json_names(struct up_buf *b, const struct spot *s)
{
	struct up_buf source = { 0 };

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
		if (up_demangle(sym->name, UP_NAME_FULL, &source)) {
			up_buf_puts(b, ",\"demangled\":");
			up_json_string(b, source.s);
		}
		up_buf_reset(&source);
		up_buf_putc(b, '}');
	}
	up_buf_fini(&source);
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
	if (s->kind == UP_SYM_IFUNC)
		up_buf_puts(b, "],\"picks\":[");
	put_picks(b, w, s, put_pick_json);
	up_buf_puts(b, "]}\n");
}

/* What a listing comes to. */
struct counts {
	size_t places;  /* shown, and can be probed */
	size_t ifuncs;  /* shown, and cannot */
	size_t refused; /* left out */
};

/* Prints what was found and adds to the counts. */
static int print(const struct places *p, bool json, struct counts *c)
{
	const struct wanted *w = p->w;
	struct up_buf b = { 0 };
	bool ok = true;

	for (size_t i = 0, next; i < p->nr && ok; i = next) {
		struct spot s = spot_at(p, i);

		next = i + s.nr;
		if (s.kind != UP_SYM_IFUNC &&
		    !w->r->can_probe(w->r->ctx, w->object, s.v->sym.addr, NULL)) {
			c->refused++;
			continue;
		}
		(json ? put_json : put_text)(&b, w, &s);
		++*(s.kind == UP_SYM_IFUNC ? &c->ifuncs : &c->places);
		if (b.len > 1 << 18)
			ok = up_print(&b);
	}
	ok = ok && up_print(&b);
	up_buf_fini(&b);
	return ok ? 0 : 1;
}

/* ---- the command ---- */

static int list_one(const struct up_resolver *r, const char *arg, bool json, struct counts *c)
{
	struct wanted w = { .r = r };
	struct places p = { .w = &w };
	struct up_why why = { 0 };
	int status = 2;

	if (take_apart(&w, arg)) {
		w.object = r->open(r->ctx, w.object_name, &why);
		status = w.object ? find(&p) : say_why(&why);
		if (!status)
			status = p.nr ? print(&p, json, c) : say_none(&p);
	}
	free(p.v);
	wanted_fini(&w);
	return status;
}

static void say_count(const struct counts *c)
{
	struct up_buf b = { 0 };

	up_buf_printf(&b, "%zu %s", c->places, c->places == 1 ? "place" : "places");
	if (c->refused)
		up_buf_printf(&b, "; %zu more where no probe can stand", c->refused);
	if (c->ifuncs)
		up_buf_printf(&b,
			      "; %zu indirect %s, of which only the implementations can be probed",
			      c->ifuncs, c->ifuncs == 1 ? "function" : "functions");
	up_remark("%s", b.s ? b.s : "out of memory");
	up_buf_fini(&b);
}

/* A pattern of objects: no colon, so no place in one. */
static bool names_objects(const char *arg)
{
	return !strchr(arg, ':') && !strchr(arg, '/') && up_is_glob(arg, strlen(arg));
}

static int list_all(const struct up_opts *o, const struct up_resolver *r, bool json)
{
	struct counts counts = { 0 };
	bool has_places = false;
	int worst = 0;

	for (int i = -1; i < o->nr_args; i++) {
		const char *arg = i < 0 ? o->script : o->args[i];
		bool is_place = !names_objects(arg);
		int status = is_place ? list_one(r, arg, json, &counts) : up_list_named(arg, json);

		has_places |= is_place;
		worst = status > worst ? status : worst;
	}
	if (has_places && (counts.places || counts.refused || counts.ifuncs))
		say_count(&counts);
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
