/* Walking over tokens up to the cursor. */
#include "lang/cursor.h"

#include <string.h>

#include "lang/parse_int.h"
#include "up.tab.h"

/* Where the walk is. */
struct walk {
	const struct up_scan *sc;
	size_t nr;       /* tokens before the word at the cursor */
	int decl;        /* the declaration's keyword, or TK_EOT */
	unsigned blocks; /* that are open */
	unsigned parens; /* likewise */
	bool in_return;  /* behind `on return` of a probe */
	bool has_assign; /* behind the `=` of a definition */
	struct up_arena *arena;
	UP_VEC(const char *) targets, names; /* struct up_cursor */
	struct up_cursor *out;
};

static int kind_at(const struct walk *w, size_t from_end)
{
	return from_end < w->nr ? w->sc->toks.v[w->nr - 1 - from_end].kind : TK_EOT;
}

/* Keeps what a target or a value's name says for later. */
static void keep_word(struct walk *w, size_t i)
{
	const struct up_tok *t = &w->sc->toks.v[i];
	int next = i + 1 < w->sc->toks.nr ? t[1].kind : TK_EOT;

	if (t->kind == TK_TARGET)
		up_vec_push(w->arena, &w->targets,
			    up_arena_memdup(w->arena, w->sc->text + t->off, t->len));
	else if (t->kind == TK_NAME && w->blocks && !w->parens && next == TK_ASSIGN)
		up_vec_push(w->arena, &w->names, t->name);
}

static void step(struct walk *w, size_t i)
{
	int kind = w->sc->toks.v[i].kind;

	keep_word(w, i);
	if (up_tok_nest(kind, &w->blocks, &w->parens))
		return;
	if (kind == TK_RETURN && i && w->sc->toks.v[i - 1].kind == TK_ON)
		w->in_return = true;
	else if (kind == TK_ASSIGN && !w->blocks && !w->parens)
		w->has_assign = true;
	else if (up_tok_is_decl(kind) && !w->blocks) {
		bool is_return = kind == TK_ON && i + 1 < w->sc->toks.nr &&
				 w->sc->toks.v[i + 1].kind == TK_RETURN;

		if (!is_return) {
			w->decl = kind;
			w->in_return = w->has_assign = false;
			w->targets.nr = w->names.nr = 0;
		}
	}
}

static bool has_target(int decl)
{
	return decl == TK_PROBE || decl == TK_POINT;
}

/* Can a target begin at the cursor, where nothing stands of it yet? */
static bool wants_target(const struct walk *w)
{
	int last = kind_at(w, 0);

	if (w->blocks || w->parens)
		return false;
	return (last == TK_PROBE && w->decl == TK_PROBE) ||
	       (last == TK_COMMA && w->decl == TK_PROBE) ||
	       (last == TK_ASSIGN && w->decl == TK_POINT);
}

/* A target that ends at the cursor. */
static void find_in_target(struct walk *w, struct up_arena *a, const struct up_tok *t)
{
	const char *s = w->sc->text + t->off;
	bool quoted = false;

	w->out->kind = UP_CURSOR_OBJECT;
	w->out->from = t->off;
	for (uint32_t i = 0; i < t->len; i++) {
		quoted ^= s[i] == '"';
		if (s[i] != ':' || quoted || w->out->kind == UP_CURSOR_LOCATION)
			continue;
		w->out->kind = UP_CURSOR_LOCATION;
		w->out->from = t->off + i + 1;
		w->out->of = up_arena_memdup(a, s, i);
	}
}

/* The name before a dot: that of a row stands before its bracket. */
static const char *name_before(const struct walk *w)
{
	size_t i = w->nr - 1, depth = 0;

	while (i-- > 0) {
		const struct up_tok *t = &w->sc->toks.v[i];

		depth += t->kind == TK_RBRACK;
		if (!depth)
			return t->kind == TK_NAME ? t->name : NULL;
		if (t->kind == TK_LBRACK && !--depth && i && w->sc->toks.v[i - 1].kind == TK_NAME)
			return w->sc->toks.v[i - 1].name;
	}
	return NULL;
}

static void find_value(struct walk *w)
{
	int last = kind_at(w, 0);

	w->out->kind = UP_CURSOR_VALUE;
	w->out->where = !has_target(w->decl) ? UP_CURSOR_BLOCK
			: w->in_return       ? UP_CURSOR_RETURN
					     : UP_CURSOR_ENTRY;
	if (last == TK_DOT && kind_at(w, 1) == TK_ENTRY)
		w->out->where = UP_CURSOR_ENTRY;
	w->out->is_statement = w->blocks && !w->parens &&
			       (last == TK_OPEN || last == TK_TERM || up_tok_ends_operand(last));
}

/* Outside of blocks and parentheses. */
static void find_outside(struct walk *w)
{
	if (!w->nr)
		w->out->kind = UP_CURSOR_FIRST;
	else if (kind_at(w, 0) == TK_ON && w->decl == TK_ON)
		w->out->kind = UP_CURSOR_ON;
	else if (kind_at(w, 0) == TK_ON && has_target(w->decl))
		w->out->kind = UP_CURSOR_ON;
	else if (has_target(w->decl))
		w->out->kind = UP_CURSOR_CLAUSE;
	else if (w->decl == TK_ON)
		w->out->kind = kind_at(w, 0) == TK_EVERY ? UP_CURSOR_VALUE : UP_CURSOR_NOTHING;
	else if (w->decl == TK_EOT || w->has_assign)
		find_value(w);
}

static void find(struct walk *w)
{
	int last = kind_at(w, 0);

	if (wants_target(w))
		w->out->kind = UP_CURSOR_OBJECT;
	else if (last == TK_USE && w->decl == TK_USE)
		w->out->kind = UP_CURSOR_MODULE;
	else if (last == TK_COLON)
		w->out->kind = UP_CURSOR_TYPE;
	else if (last == TK_DOT && kind_at(w, 1) != TK_ENTRY) {
		w->out->of = name_before(w);
		w->out->kind = w->out->of ? UP_CURSOR_MEMBER : UP_CURSOR_NOTHING;
	} else if (w->blocks || w->parens)
		find_value(w);
	else
		find_outside(w);
}

/* Does a string or a comment reach to the cursor? */
static bool is_closed_off(const struct up_scan *sc, size_t len)
{
	size_t nr = sc->comments.nr;

	if (nr && sc->comments.v[nr - 1].span.off + sc->comments.v[nr - 1].span.len == len)
		return true;
	return sc->is_cut || sc->errs.nr;
}

static bool is_word(int kind)
{
	return kind == TK_NAME || kind == TK_TARGET || (kind >= TK_PROBE && kind <= TK_ENTRY);
}

void up_cursor_find(struct up_arena *a, const char *text, size_t len, struct up_cursor *out)
{
	struct up_sources *sources = up_new(a, struct up_sources);
	struct up_scan *sc = up_new(a, struct up_scan);
	struct walk w = { .sc = sc, .decl = TK_EOT, .arena = a, .out = out };
	const struct up_tok *word = NULL;

	*out = (struct up_cursor){ .from = len };
	sources->arena = a;
	if (up_source_add(sources, "", text, len) < 0 || memchr(text, 0, len))
		return;
	up_scan_init(sc, a, &sources->list.v[0], 0);
	up_scan_all(sc);
	if (is_closed_off(sc, len))
		return;
	w.nr = sc->toks.nr - 1; /* without the end of the text */
	if (w.nr && is_word(sc->toks.v[w.nr - 1].kind) &&
	    sc->toks.v[w.nr - 1].off + sc->toks.v[w.nr - 1].len == len)
		word = &sc->toks.v[--w.nr];
	for (size_t i = 0; i < w.nr; i++)
		step(&w, i);
	out->targets = w.targets.v;
	out->nr_targets = w.targets.nr;
	out->names = w.names.v;
	out->nr_names = w.names.nr;
	if (word)
		out->from = word->off;
	if (word && word->kind == TK_TARGET)
		find_in_target(&w, a, word);
	else
		find(&w);
}
