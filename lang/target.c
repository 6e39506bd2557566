/*
 * Targets: takes OBJECT:LOCATION apart and asks the resolver for the places. Each form of
 * LOCATION is one row at the end of this file.
 */
#include "lang/target.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "lang/abi.h"
#include "lang/check.h"
#include "lang/target_int.h"

static struct marked part(const struct marked *m, size_t from, size_t to)
{
	return (struct marked){ m->s + from, m->quoted + from, to - from };
}

/* The first unquoted `c`, or SIZE_MAX. */
static size_t find_plain(const struct marked *m, char c)
{
	for (size_t i = 0; i < m->len; i++)
		if (m->s[i] == c && !m->quoted[i])
			return i;
	return SIZE_MAX;
}

static bool parse_number(const char *s, size_t len, uint64_t *out)
{
	char text[40], *end;

	if (len == 0 || len >= sizeof(text) || s[0] < '0' || s[0] > '9')
		return false;
	memcpy(text, s, len);
	text[len] = 0;
	errno = 0;
	*out = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	return !*end && !errno;
}

/* Takes "+0x12" off the end. */
static void split_offset(struct up_loc *l)
{
	for (size_t i = l->m.len; i-- > 1;) {
		if (!is_plain(&l->m, i, '+'))
			continue;
		if (parse_number(l->m.s + i + 1, l->m.len - i - 1, &l->off)) {
			l->has_off = true;
			l->m.len = i;
		}
		return;
	}
}

/* Takes "@VERSION" or "@@VERSION" off the end. */
static void split_version(struct up_diags *ds, struct up_loc *l)
{
	size_t at = find_plain(&l->m, '@');

	if (at == SIZE_MAX || at == 0)
		return;
	size_t from = at + (is_plain(&l->m, at + 1, '@') ? 2 : 1);
	l->version = up_arena_memdup(ds->arena, l->m.s + from, l->m.len - from);
	l->m.len = at;
}

static bool has_glob(const struct marked *m)
{
	for (size_t i = 0; i < m->len; i++)
		if (!m->quoted[i] && strchr("*?[", m->s[i]))
			return true;
	return false;
}

/* The pattern, with a backslash before what stood in quotes and would be special. */
static const char *glob_text(struct up_diags *ds, const struct marked *m)
{
	char *s = up_arena_alloc(ds->arena, 2 * m->len + 1), *to = s;

	for (size_t i = 0; i < m->len; i++) {
		if (m->quoted[i] && strchr("*?[\\", m->s[i]))
			*to++ = '\\';
		*to++ = m->s[i];
	}
	return s;
}

/* Would a name mean something else, or end too soon, without quotes? */
static bool needs_quotes(const char *name)
{
	const char *plus = strrchr(name, '+');

	for (const char *s = name; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 127 || strchr(",<>*?[@\"$\\", *s))
			return true;
	return strchr("%/0123456789", name[0]) ||
	       (plus && plus > name && plus[1] >= '0' && plus[1] <= '9');
}

const char *up_target_shown(struct up_diags *ds, const char *name)
{
	struct up_buf b = { 0 };

	up_text_escape(&b, name, strlen(name), 0);
	const char *s = up_arena_memdup(ds->arena, b.s ? b.s : "", b.len);
	up_buf_fini(&b);
	return s;
}

void up_target_put_name(struct up_buf *b, const char *name)
{
	bool quoted = needs_quotes(name);

	up_buf_puts(b, quoted ? "\"" : "");
	up_text_escape(b, name, strlen(name), quoted ? '"' : 0);
	up_buf_puts(b, quoted ? "\"" : "");
}

static void hint_nearest(struct up_diags *ds, const struct up_nearest *n)
{
	struct up_buf b = { 0 };

	for (unsigned i = 0; i < n->nr; i++) {
		up_buf_puts(&b, i == 0 ? "`" : i + 1 < n->nr ? ", `" : " or `");
		up_target_put_name(&b, n->best[i].name);
		up_buf_puts(&b, "`");
	}
	if (b.len)
		up_diag_hint(ds, "did you mean %s?", b.s);
	up_buf_fini(&b);
}

static bool keep_symbol(void *arg, const struct up_symbol *s)
{
	struct walk *w = arg;

	bool fits = w->pattern ? up_source_pattern_match(w->pattern, s->name)
			       : !w->regex || !regexec(w->regex, s->name, 0, NULL, 0);

	if (fits)
		up_vec_push(w->arena, &w->found, *s);
	return true;
}

void up_target_add_place(struct up_diags *ds, struct up_target *t, uint64_t addr, uint64_t off,
			 const char *func, uint64_t func_off)
{
	const char *bare = up_source_bare(ds->arena, func);
	struct up_place_at p = { .addr = addr,
				 .offset = off,
				 .symbol = func,
				 .func = bare,
				 .shown = bare,
				 .func_off = func_off };

	up_vec_push(ds->arena, &t->places, p);
}

bool up_target_gather(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
		      const struct up_query *q, struct up_target *t, struct walk *w)
{
	const struct up_resolver *r = env->resolver;
	struct up_why why = { 0 };

	w->arena = ds->arena;
	if (r->find(r->ctx, t->object, q, keep_symbol, w, &why) < 0)
		return up_diag_why(ds, l->span, E_OBJECT, &why);
	if (w->found.nr)
		qsort(w->found.v, w->found.nr, sizeof(w->found.v[0]), up_symbol_order);
	return true;
}

void up_target_hint_names(struct up_diags *ds, const struct up_env *env, const struct up_target *t)
{
	const struct up_resolver *r = env->resolver;
	struct up_buf how = { 0 };
	enum up_named names = r->names(r->ctx, t->object, &how);

	if (names == UP_NAMES_NONE)
		up_diag_hint(ds, "it is stripped: no function has a name; %s", how.s ? how.s : "");
	else if (names == UP_NAMES_EXPORTED)
		up_diag_hint(ds, "it is stripped: only functions for other programs have names; %s",
			     how.s ? how.s : "");
	up_buf_fini(&how);
}

/* Why nothing matched: the object imports it, or near names. */
static bool report_none(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			const struct up_target *t)
{
	const struct up_resolver *r = env->resolver;
	const char *lib = NULL;
	struct up_nearest near;

	if (r->imports(r->ctx, t->object, l->m.s, &lib)) {
		up_error(ds, l->span, E_SYMBOL, "%s does not define %s, it takes it from %s",
			 t->object->name, l->m.s, lib ? lib : "another library");
		if (lib)
			up_diag_hint(ds, "write %s:%s", lib, l->m.s);
		return false;
	}
	if (r->is_recorded)
		up_error(ds, l->span, E_SYMBOL, "the recording has no hits of %s in %s",
			 up_target_shown(ds, l->m.s), up_target_shown(ds, t->object->name));
	else
		up_error(ds, l->span, E_SYMBOL, "%s has no function named %s",
			 up_target_shown(ds, t->object->name), up_target_shown(ds, l->m.s));
	up_nearest_init(&near, l->m.s, l->m.len);
	r->near_symbols(r->ctx, t->object, &near);
	if (up_target_hint_source(ds, env, l, t, &near))
		return false;
	if (near.nr)
		hint_nearest(ds, &near);
	else
		up_target_hint_names(ds, env, t);
	return false;
}

static bool report_version(struct up_diags *ds, const struct up_loc *l, const struct walk *w,
			   const struct up_target *t)
{
	struct up_buf b = { 0 };

	if (*l->version)
		up_error(ds, l->span, E_SYMBOL, "%s has no %s of version %s", t->object->name,
			 l->m.s, l->version);
	else
		up_error(ds, l->span, E_SYMBOL, "a version is missing behind `%s@`", l->m.s);
	for (size_t i = 0; i < w->found.nr; i++)
		if (w->found.v[i].version)
			up_buf_printf(&b, "%s%s@%s", b.len ? ", " : "", l->m.s,
				      w->found.v[i].version);
	if (b.len)
		up_diag_hint(ds, "it has %s", b.s);
	up_buf_fini(&b);
	return false;
}

#define SHOWN_PICKS 12 /* implementations that a hint names */

/* What a hint says of an indirect function's implementations. */
struct picks {
	const struct up_target *t;
	const char *asked;  /* the indirect function */
	struct up_buf text; /* targets, as in a list of them */
	unsigned nr;        /* how many */
};

static bool show_pick(void *arg, const struct up_symbol *s)
{
	struct picks *p = arg;

	if (p->nr++ >= SHOWN_PICKS)
		return true;
	up_buf_printf(&p->text, "%s%s:", p->nr > 1 ? ", " : "", p->t->object_name);
	if (!s->name || !strcmp(s->name, p->asked))
		up_buf_printf(&p->text, "0x%" PRIx64, s->addr);
	else
		up_target_put_name(&p->text, s->name);
	return true;
}

/* Names the implementations, as far as the resolver's code tells. False when it does not. */
static bool hint_picks(struct up_diags *ds, const struct up_env *env, const struct up_target *t,
		       const struct up_symbol *s)
{
	const struct up_resolver *r = env->resolver;
	struct picks p = { .t = t, .asked = s->name };

	r->picks(r->ctx, t->object, s->addr, show_pick, &p);
	if (p.nr)
		up_diag_hint(ds, "probe what it picks from: %s%s", p.text.s ? p.text.s : "",
			     p.nr > SHOWN_PICKS ? ", ..." : "");
	up_buf_fini(&p.text);
	return p.nr > 0;
}

/* An indirect function's symbol is a resolver. The implementations are called `name_HOW`, if
 * anything. */
static bool refuse_indirect(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			    struct up_target *t, const struct up_symbol *s)
{
	struct up_query q = { UP_QUERY_GLOB, up_arena_printf(ds->arena, "*%s_*", s->name), NULL };
	struct walk w = { 0 };
	struct up_buf b = { 0 };

	if (!up_target_gather(ds, env, l, &q, t, &w))
		return false;
	up_error(ds, l->span, E_SYMBOL,
		 "%s is an indirect function: its symbol is the resolver that picks one of several "
		 "implementations, which runs once",
		 s->name);
	if (hint_picks(ds, env, t, s))
		return false;
	for (size_t i = 0, shown = 0; i < w.found.nr && shown < 3; i++)
		if (w.found.v[i].kind == UP_SYM_FUNC && !strstr(w.found.v[i].name, "ifunc"))
			up_buf_printf(&b, "%s%s", shown++ ? ", " : "", w.found.v[i].name);
	if (b.len)
		up_diag_hint(ds, "probe the implementations: %s ... (uptick list '%s:*%s_*')", b.s,
			     t->object_name, s->name);
	else
		up_diag_hint(ds, "its implementations have no symbols in this file; probe a "
				 "caller, or install its debug symbols");
	up_buf_fini(&b);
	return false;
}

/* A single name may not be data or an indirect function. */
static bool check_kind(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
		       struct up_target *t, const struct up_symbol *s)
{
	if (s->kind == UP_SYM_DATA) {
		up_error(ds, l->span, E_SYMBOL, "%s is data in %s, not a function", s->name,
			 t->object->name);
		up_diag_hint(ds, "a probe can only stand on code");
		return false;
	}
	if (s->kind == UP_SYM_IFUNC)
		return refuse_indirect(ds, env, l, t, s);
	return true;
}

/* What becomes of the program, for a warning. */
static const char *harm_text(enum up_harm harm)
{
	switch (harm) {
	case UP_HARM_INSIDE:
		return "the program does something else there when it is probed, or dies";
	case UP_HARM_UNKNOWN:
		return "if none does, the program does something else there, or dies";
	case UP_HARM_RED_ZONE:
		return "a function that keeps a value there goes on with a wrong one";
	case UP_HARM_NONE:
		break;
	}
	return "";
}

/* A refusal for the program's sake: an error, or with --unsafe a warning. */
static bool judge_harm(struct up_diags *ds, const struct up_env *env, struct up_span span,
		       struct up_why *why)
{
	if (why->harm == UP_HARM_NONE)
		return up_diag_why(ds, span, E_ADDRESS_RANGE, why);
	if (env->unsafe) {
		up_error(ds, span, W_UNSAFE, "%s: %s", why->msg.s ? why->msg.s : "",
			 harm_text(why->harm));
		if (why->hint.len)
			up_diag_hint(ds, "%s", why->hint.s);
		up_why_fini(why);
		return true;
	}
	up_buf_printf(&why->hint, "%s--unsafe allows it", why->hint.len ? "; " : "");
	return up_diag_why(ds, span, E_HARM, why);
}

/* Checks that a probe can stand at addr, and adds it. */
static bool add_checked(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			struct up_target *t, uint64_t addr, const char *func, uint64_t func_off)
{
	const struct up_resolver *r = env->resolver;
	struct up_why why = { 0 };
	uint64_t off = 0;
	enum up_place place = r->to_offset(r->ctx, t->object, addr, &off);

	if (place != UP_PLACE_CODE) {
		up_error(ds, l->span, E_ADDRESS_RANGE, "0x%" PRIx64 " is %s of %s", addr,
			 place == UP_PLACE_DATA ? "in the data" : "outside every segment",
			 t->object->name);
		up_diag_hint(ds,
			     "an address is the one that nm and objdump print; a file offset is "
			     "written @0x%" PRIx64,
			     addr);
		return false;
	}
	if (!r->can_probe(r->ctx, t->object, addr, &why) && !judge_harm(ds, env, l->span, &why))
		return false;
	up_target_add_place(ds, t, addr, off, func, func_off);
	return true;
}

static void warn_several(struct up_diags *ds, const struct up_loc *l, const struct up_target *t)
{
	struct up_buf b = { 0 };

	up_target_put_places(&b, t);
	up_error(ds, l->span, W_SEVERAL, "%s stands for %zu places in %s: %s; all are probed",
		 l->m.s, t->places.nr, t->object->name, b.s ? b.s : "");
	up_buf_fini(&b);
}

static bool resolve_symbol(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			   struct up_target *t)
{
	struct up_query q = { UP_QUERY_EXACT, l->m.s, l->version };
	struct up_query any = { UP_QUERY_EXACT, l->m.s, NULL };
	struct walk w = { 0 };

	if (!up_target_gather(ds, env, l, &q, t, &w))
		return false;
	bool is_own_name = w.found.nr > 0;
	if (!is_own_name)
		up_target_find_source(ds, env, l, t, l->version, &w);
	is_own_name |= t->object->is_go && w.match == UP_MATCH_EXACT;
	if (!w.found.nr && l->version) {
		if (!up_target_gather(ds, env, l, &any, t, &w))
			return false;
		if (!w.found.nr)
			up_target_find_source(ds, env, l, t, NULL, &w);
		if (w.found.nr)
			return report_version(ds, l, &w, t);
	}
	if (!w.found.nr)
		return report_none(ds, env, l, t);
	for (size_t i = 0; i < w.found.nr; i++) {
		const struct up_symbol *s = &w.found.v[i];

		if (i && s->addr == w.found.v[i - 1].addr)
			continue;
		if (l->off && s->size && l->off >= s->size) {
			up_error(ds, l->span, E_ADDRESS_RANGE, "%s has only 0x%" PRIx64 " bytes",
				 up_source_full(ds->arena, s->name), s->size);
			return false;
		}
		if (!check_kind(ds, env, l, t, s) ||
		    !add_checked(ds, env, l, t, s->addr + l->off, s->name, l->off))
			return false;
	}
	up_targets_tell_apart(ds->arena, t, 1);
	if (!is_own_name && !strpbrk(l->m.s, ":(<"))
		up_target_warn_source(ds, l, t);
	else if (t->places.nr > 1)
		warn_several(ds, l, t);
	return true;
}

static bool resolve_glob(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			 struct up_target *t)
{
	struct up_query q = { UP_QUERY_GLOB, glob_text(ds, &l->m), NULL };

	return up_target_add_pattern(ds, env, l, t, &q, NULL);
}

static bool resolve_regex(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			  struct up_target *t)
{
	struct up_query q = { UP_QUERY_GLOB, "*", NULL };
	regex_t re;
	char why[128];

	if (!up_regex_compile(&re, l->m.s + 1, l->m.len - 2, why))
		return up_error(ds, l->span, E_TARGET, "bad regular expression: %s", why);
	bool ok = up_target_add_pattern(ds, env, l, t, &q, &re);
	regfree(&re);
	return ok;
}

/* Names the place by the function around it, and adds it. */
static bool add_address(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			struct up_target *t, uint64_t addr)
{
	const struct up_resolver *r = env->resolver;
	struct up_symbol s;

	if (r->func_at(r->ctx, t->object, addr, &s))
		return add_checked(ds, env, l, t, addr, s.name, addr - s.addr);
	return add_checked(ds, env, l, t, addr, up_arena_printf(ds->arena, "0x%" PRIx64, addr), 0);
}

static bool resolve_address(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			    struct up_target *t)
{
	uint64_t addr;

	if (l->m.len < 3 || (l->m.s[1] | 32) != 'x') {
		up_error(ds, l->span, E_TARGET, "an address is written in hexadecimal, with 0x");
		up_diag_hint(ds, "write %s:0x%s", t->object_name, l->m.s);
		return false;
	}
	if (!parse_number(l->m.s, l->m.len, &addr))
		return up_error(ds, l->span, E_TARGET, "%s is no address", l->m.s);
	return add_address(ds, env, l, t, addr + l->off);
}

static bool resolve_file_offset(struct up_diags *ds, const struct up_env *env,
				const struct up_loc *l, struct up_target *t)
{
	const struct up_resolver *r = env->resolver;
	uint64_t off, addr;

	if (!parse_number(l->m.s + 1, l->m.len - 1, &off))
		return up_error(ds, l->span, E_TARGET, "%s is no file offset", l->m.s + 1);
	off += l->off;
	enum up_place place = r->to_addr(r->ctx, t->object, off, &addr);
	if (place != UP_PLACE_CODE) {
		up_error(ds, l->span, E_ADDRESS_RANGE, "file offset 0x%" PRIx64 " of %s is %s", off,
			 t->object->name,
			 place == UP_PLACE_DATA ? "data, not code"
						: "in no segment of the program");
		up_diag_hint(ds, "a virtual address, as nm prints it, is written without @");
		return false;
	}
	return add_address(ds, env, l, t, addr);
}

static bool resolve_later(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			  struct up_target *t)
{
	(void)env;
	(void)t;
	return up_error(ds, l->span, E_LATER,
			"%s needs debug information or markers, which this version does not read",
			up_source_label(ds, ds->arena, l->span));
}

static bool is_marker(const struct up_loc *l)
{
	return is_plain(&l->m, 0, '%');
}

static bool is_file_offset(const struct up_loc *l)
{
	return is_plain(&l->m, 0, '@');
}

static bool is_address(const struct up_loc *l)
{
	return l->m.len && !l->m.quoted[0] && l->m.s[0] >= '0' && l->m.s[0] <= '9';
}

static bool is_regex(const struct up_loc *l)
{
	return l->m.len > 2 && l->m.s[0] == '/' && l->m.s[l->m.len - 1] == '/';
}

/* `file.c:12` or `func:+3`: one colon, not two. */
static bool is_line(const struct up_loc *l)
{
	size_t i = l->m.len;

	while (i > 0 && l->m.s[i - 1] >= '0' && l->m.s[i - 1] <= '9')
		i--;
	if (i == l->m.len)
		return l->has_off && i > 1 && is_plain(&l->m, i - 1, ':');
	return i > 1 && is_plain(&l->m, i - 1, ':') && !is_plain(&l->m, i - 2, ':');
}

static bool is_glob(const struct up_loc *l)
{
	return has_glob(&l->m);
}

static bool is_symbol(const struct up_loc *l)
{
	return l->m.len > 0;
}

const struct up_loc_row up_loc_rows[] = {
	{ .form = "%PROVIDER:NAME",
	  .help = "a USDT marker",
	  .is = is_marker,
	  .resolve = resolve_later },
	{ .form = "@OFFSET",
	  .help = "a file offset, as uprobe_events takes it",
	  .takes_offset = true,
	  .is_address = true,
	  .is = is_file_offset,
	  .resolve = resolve_file_offset },
	{ .form = "ADDRESS",
	  .help = "a virtual address, as nm and objdump print it",
	  .takes_offset = true,
	  .is_address = true,
	  .is = is_address,
	  .resolve = resolve_address },
	{ .form = "/REGEX/",
	  .help = "every function whose name matches (POSIX extended)",
	  .is_pattern = true,
	  .is = is_regex,
	  .resolve = resolve_regex },
	{ .form = "FILE:LINE",
	  .help = "a source line",
	  .takes_offset = true,
	  .is_address = true,
	  .is = is_line,
	  .resolve = resolve_later },
	{ .form = "GLOB",
	  .help = "every function whose name matches: * ? [a-z]",
	  .is_pattern = true,
	  .is = is_glob,
	  .resolve = resolve_glob },
	{ .form = "SYMBOL",
	  .help = "a function; with +OFFSET a place inside it, with @VERSION one version",
	  .takes_offset = true,
	  .takes_version = true,
	  .is = is_symbol,
	  .resolve = resolve_symbol },
	{ 0 },
};

/* Finds the form and resolves it. */
static bool resolve_location(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			     struct up_target *t)
{
	const struct up_loc_row *row = up_loc_rows;

	while (row->is && !row->is(l))
		row++;
	if (!row->is)
		return up_error(ds, t->span, E_TARGET, "a target is OBJECT:LOCATION");
	if (l->has_off && !row->takes_offset)
		return up_error(ds, l->span, E_TARGET,
				"an offset needs one function, not a pattern or a marker");
	if (l->version && !row->takes_version)
		return up_error(ds, l->span, E_TARGET,
				"a symbol version needs a function's full name before the @");
	t->is_pattern = row->is_pattern;
	t->is_fixed = l->has_off || row->is_address;
	return row->resolve(ds, env, l, t);
}

static bool open_object(struct up_diags *ds, const struct up_env *env, struct up_span span,
			struct up_target *t)
{
	const struct up_resolver *r = env->resolver;
	struct up_why why = { 0 };

	t->object = r->open(r->ctx, t->object_name, &why);
	if (!t->object)
		return up_diag_why(ds, span, E_OBJECT, &why);
	if (!up_abi_find(t->object->machine, UP_CALLING_C))
		return up_error(ds, span, E_OBJECT,
				"%s is a program for a processor that cannot be probed here",
				t->object->name);
	return true;
}

/* The span of bytes [from, to) of the decoded text; the whole target when it had quotes. */
static struct up_span sub_span(const struct up_node *n, const struct marked *m, size_t from,
			       size_t to)
{
	struct up_span sp = n->span;

	if (m->len != n->target.len)
		return sp;
	sp.off += (uint32_t)from;
	sp.len = (uint32_t)(to - from);
	return sp;
}

static bool report_no_location(struct up_diags *ds, const struct up_node *n, const char *object)
{
	up_error(ds, n->span, E_TARGET, "a target is OBJECT:LOCATION, as in libc:malloc");
	if (*object)
		up_diag_hint(ds, "write %s:FUNCTION, or %s:* for every function", object, object);
	return false;
}

/* In names of Go the signs of a glob stand for themselves in some places. */
static void quote_go(struct marked *m)
{
	for (size_t i = 0; i < m->len; i++) {
		size_t len = up_go_literal_len(m->s, m->len, i);

		memset(m->quoted + i, 1, len);
		i += len ? len - 1 : 0;
	}
}

bool up_target_resolve(struct up_diags *ds, const struct up_env *env, const struct up_node *n,
		       struct up_target *t)
{
	struct marked all;
	struct up_loc l = { 0 };

	t->span = n->span;
	if (!up_target_decode(ds, env, n, &all))
		return false;
	if (memchr(all.s, 0, all.len))
		return up_error(ds, n->span, E_TARGET, "a target cannot hold a NUL byte");
	size_t colon = find_plain(&all, ':');
	if (colon == SIZE_MAX || colon == 0 || colon + 1 == all.len)
		return report_no_location(ds, n,
					  up_arena_memdup(ds->arena, all.s,
							  colon == SIZE_MAX ? all.len : colon));
	t->object_name = up_arena_memdup(ds->arena, all.s, colon);
	t->location = up_arena_memdup(ds->arena, all.s + colon + 1, all.len - colon - 1);
	l.m = part(&all, colon + 1, all.len);
	l.span = sub_span(n, &all, colon + 1, all.len);
	if (!open_object(ds, env, sub_span(n, &all, 0, colon), t))
		return false;
	if (t->object->is_go)
		quote_go(&l.m);
	if (!is_regex(&l)) {
		split_offset(&l);
		split_version(ds, &l);
	}
	/* From here on the text is read as a C string, so it must end where the location ends. */
	l.m.s = up_arena_memdup(ds->arena, l.m.s, l.m.len);
	return resolve_location(ds, env, &l, t);
}
