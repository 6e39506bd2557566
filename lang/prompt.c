/* Telling apart what was typed. */
#include "lang/prompt.h"

#include <string.h>

#include "lang/check.h"
#include "lang/functions.h"
#include "lang/parse_int.h"
#include "up.tab.h"

/* A text being looked at. */
struct reading {
	struct up_arena *arena;
	const char *text;
	size_t len;
	up_typed_is_fn *is_fn;
	void *arg;
	struct up_typed *out;
};

static bool is_action(const char *name)
{
	for (const struct up_action_row *r = up_action_rows; r->name; r++)
		if (!strcmp(r->name, name))
			return true;
	return false;
}

/* Parses a text by itself. NULL when it has mistakes. */
static const struct up_node *parse(struct up_arena *a, const char *text, size_t len,
				   struct up_parse **all)
{
	struct up_sources *sources = up_new(a, struct up_sources);
	struct up_diags *ds = up_new(a, struct up_diags);

	sources->arena = ds->arena = a;
	ds->sources = sources;
	up_source_add(sources, "", text, len);
	struct up_parse *p = up_parse(ds, 0);
	if (all)
		*all = p;
	return ds->nr_errors ? NULL : p->script;
}

static struct up_scan *scan(struct up_arena *a, const char *text, size_t len)
{
	struct up_sources *sources = up_new(a, struct up_sources);
	struct up_scan *sc = up_new(a, struct up_scan);

	sources->arena = a;
	up_source_add(sources, "", text, len);
	up_scan_init(sc, a, &sources->list.v[0], 0);
	up_scan_all(sc);
	return sc;
}

size_t up_prompt_count(struct up_arena *a, const struct up_text *text, const char *word)
{
	const struct up_scan *sc = scan(a, text->s, text->len);
	size_t len = strlen(word), nr = 0;

	for (size_t i = 0; i < sc->toks.nr; i++)
		nr += sc->toks.v[i].len == len && !memcmp(text->s + sc->toks.v[i].off, word, len);
	return nr;
}

/* ---- statements and values ---- */

static struct up_text wrap(const struct reading *r, const char *before, const char *behind)
{
	size_t nr_before = strlen(before), nr_behind = strlen(behind);
	char *s = up_newn(r->arena, char, nr_before + r->len + nr_behind + 1);

	memcpy(s, before, nr_before);
	memcpy(s + nr_before, r->text, r->len);
	memcpy(s + nr_before + r->len, behind, nr_behind);
	return (struct up_text){ s, nr_before + r->len + nr_behind };
}

/* The statements of `on start < ... >`, or NULL when the text is anything else. */
static const struct up_node *statements(const struct up_node *script)
{
	const struct up_node *on = script ? script->script.decls : NULL;

	if (!on || on->next || on->kind != ND_ON || !on->on.block)
		return NULL;
	return on->on.block->block.stmts;
}

/* Does one of the statements set something, here or in a block of theirs? */
static bool is_setting(const struct up_node *list)
{
	for (const struct up_node *n = list; n; n = n->next) {
		const struct up_node *last = n;

		for (; last && last->kind == ND_IF; last = last->cond.els)
			if (is_setting(last->cond.then))
				return true;
		if (n->kind == ND_ASSIGN ||
		    (last && last->kind == ND_BLOCK && is_setting(last->block.stmts)) ||
		    (n->kind == ND_FOR && is_setting(n->loop.block)))
			return true;
	}
	return false;
}

/* Is a call one that has a value? Those of actions and aggregates are statements. */
static bool is_value_call(const struct reading *r, const struct up_node *call)
{
	const struct up_fn_row *fn = up_fn_find(call->call.name);
	unsigned nr = 0;

	for (const struct up_node *n = call->call.args; n; n = n->next)
		nr++;
	if (fn) /* min(x) is an aggregate */
		return nr >= fn->min_args;
	return !is_action(call->call.name) && r->is_fn && r->is_fn(r->arg, call->call.name);
}

/* The variable that one statement sets, or NULL. */
static const char *what_is_set(const struct reading *r, const struct up_node *n)
{
	bool is_one = n && !n->next && n->kind == ND_ASSIGN && n->act.lhs->kind == ND_NAME;

	if (!is_one || (n->act.rhs->kind == ND_CALL && !is_value_call(r, n->act.rhs)))
		return NULL;
	return n->act.lhs->name.s;
}

/* Is it one expression? Then it is printed. */
static bool read_value(struct reading *r)
{
	struct up_text text = wrap(r, "on start < print(\n", "\n) >");
	const struct up_node *print = statements(parse(r->arena, text.s, text.len, NULL));
	const struct up_node *e = print && print->kind == ND_DO && print->act.rhs->kind == ND_CALL
					  ? print->act.rhs->call.args
					  : NULL;

	if (!e || e->next || print->next || strcmp(print->act.rhs->call.name, "print") != 0)
		return false;
	if (e->kind == ND_CALL && !is_value_call(r, e))
		return false;
	r->out->kind = UP_TYPED_VALUE;
	r->out->name = e->kind == ND_NAME ? e->name.s : NULL;
	r->out->text = text;
	return true;
}

static void read_statement(struct reading *r)
{
	struct up_text text = wrap(r, "on start <\n", "\n>");
	const struct up_node *first = statements(parse(r->arena, text.s, text.len, NULL));

	r->out->kind = UP_TYPED_STATEMENT;
	r->out->text = text;
	r->out->is_lasting = is_setting(first);
	r->out->name = what_is_set(r, first);
	if (r->out->name)
		r->out->reads_name = first->act.op != OPR_SET ||
				     up_prompt_count(r->arena, &text, r->out->name) > 1;
}

/* ---- is it whole? ---- */

static bool is_binary(int kind)
{
	return (kind >= TK_LOR && kind <= TK_PERCENT) || kind == TK_COMMA || kind == TK_ASSIGN ||
	       kind == TK_OP_ASSIGN || kind == TK_DOT || kind == TK_ARROW || kind == TK_COLON;
}

/* The last declaration that needs a block: does one stand behind its head? */
static bool lacks_block(const struct up_toks *toks)
{
	bool needs = false;

	for (size_t i = 0; i < toks->nr; i++) {
		int kind = toks->v[i].kind;

		if (kind == TK_RETURN && i && toks->v[i - 1].kind == TK_ON)
			needs = true;
		else if (kind == TK_OPEN)
			needs = false;
		else if (up_tok_is_decl(kind))
			needs = kind == TK_PROBE || kind == TK_ON;
	}
	return needs;
}

/* toks->nr counts the end of the text, too. */
static bool is_unfinished(const struct up_scan *sc)
{
	size_t nr = sc->toks.nr;

	if (sc->is_cut || sc->errs.nr)
		return false;
	return sc->open.nr || (nr > 1 && is_binary(sc->toks.v[nr - 2].kind)) ||
	       lacks_block(&sc->toks);
}

/* ---- declarations ---- */

/* The names that a block gives to values. */
static void add_values(const struct reading *r, const struct up_node *block, struct up_given *g)
{
	const struct up_node *first = block ? block->block.stmts : NULL;
	size_t more = 0;

	for (const struct up_node *n = first; n; n = n->next)
		more++;
	const char **values = up_newn(r->arena, const char *, g->nr_values + more + 1);
	for (size_t i = 0; i < g->nr_values; i++)
		values[i] = g->values[i];
	g->values = values;
	for (const struct up_node *n = first; n; n = n->next)
		if (n->kind == ND_ASSIGN && n->act.lhs && n->act.lhs->kind == ND_NAME)
			values[g->nr_values++] = n->act.lhs->name.s;
}

static const char *defined_name(const struct reading *r, const struct up_node *n)
{
	switch (n->kind) {
	case ND_CONST:
	case ND_PARAM:
		return n->def.name;
	case ND_FN:
		return up_arena_printf(r->arena, "%s(", n->def.name);
	case ND_POINT:
		return n->probe.name;
	default:
		return NULL;
	}
}

static struct up_given what_is_given(const struct reading *r, const struct up_node *n)
{
	struct up_given g = { .name = defined_name(r, n) };

	if (n->kind == ND_USE) {
		g.module = n->use.name.s;
		g.is_path = n->use.is_path;
	} else if (n->kind == ND_POINT) {
		g.is_point = true;
		add_values(r, n->probe.entry, &g);
		add_values(r, n->probe.ret, &g);
	}
	return g;
}

/* Cuts the text behind each declaration but the last. */
static void cut_decls(struct reading *r)
{
	struct up_parse *p;
	uint32_t from = 0;
	size_t nr = 0;

	parse(r->arena, r->text, r->len, &p);
	for (const struct up_node *n = p->script->script.decls; n; n = n->next)
		nr++;
	r->out->v = up_newn(r->arena, struct up_span, nr + 1);
	r->out->gives = up_newn(r->arena, struct up_given, nr + 1);
	for (const struct up_node *n = p->script->script.decls; n; n = n->next) {
		uint32_t end = n->next ? n->span.off + n->span.len : (uint32_t)r->len;

		r->out->gives[r->out->nr] = what_is_given(r, n);
		r->out->v[r->out->nr++] = (struct up_span){ from, end - from, 0 };
		from = end;
	}
}

/* Does the text begin with a declaration? A variable can be called like its keyword. */
static bool begins_decl(const struct up_toks *toks)
{
	int next = toks->nr > 1 ? toks->v[1].kind : TK_EOT;

	return up_tok_is_decl(toks->v[0].kind) && next != TK_ASSIGN && next != TK_OP_ASSIGN &&
	       next != TK_DOT && next != TK_LBRACK;
}

static bool is_text(const struct reading *r)
{
	uint32_t cp;

	for (size_t i = 0, n; i < r->len; i += n) {
		n = r->text[i] ? up_utf8_decode(r->text + i, r->len - i, &cp) : 0;
		if (!n)
			return false;
	}
	return r->len <= UP_SOURCE_MAX;
}

void up_prompt_read(struct up_arena *a, const char *text, size_t len, up_typed_is_fn *is_fn,
		    void *arg, struct up_typed *out)
{
	struct reading r = { a, text, len, is_fn, arg, out };

	*out = (struct up_typed){ .kind = UP_TYPED_STATEMENT };
	if (!is_text(&r)) {
		r.len = 0; /* the wrapped text is small; what was typed is refused by the caller */
		read_statement(&r);
		return;
	}
	const struct up_scan *sc = scan(a, text, len);
	if (sc->toks.nr < 2 && !sc->errs.nr) {
		out->kind = UP_TYPED_NOTHING;
	} else if (begins_decl(&sc->toks)) {
		out->kind = is_unfinished(sc) ? UP_TYPED_MORE : UP_TYPED_DECLS;
		if (out->kind == UP_TYPED_DECLS)
			cut_decls(&r);
	} else if (!read_value(&r)) {
		read_statement(&r);
		if (is_unfinished(sc))
			out->kind = UP_TYPED_MORE;
	}
}
