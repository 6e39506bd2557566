/*
 * From text to tokens: drives flex over the whole buffer and decides what depends on the place:
 * whether `<` and `>` are brackets or operators, which words are keywords, where a target begins,
 * and what repairs change. Knows nothing of the grammar's rules.
 */
#include <stdarg.h>

#include "lang/keywords.h"
#include "lang/parse_int.h"
#include "up.lex.h"
#include "up.tab.h"

static const struct sign {
	const char *text; /* its spelling */
	int kind;         /* its token */
} signs[] = {
	{ "<", TK_OPEN },   { ">", TK_CLOSE },  { "(", TK_LPAREN }, { ")", TK_RPAREN },
	{ "[", TK_LBRACK }, { "]", TK_RBRACK }, { ",", TK_COMMA },  { ".", TK_DOT },
	{ "->", TK_ARROW }, { ":", TK_COLON },  { "=", TK_ASSIGN }, { "@", TK_AT },
	{ "!", TK_NOT },    { "~", TK_TILDE },  { "in", TK_IN },    { "on return", TK_ON_RETURN },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

const char *up_tok_text(int kind)
{
	for (const struct up_keyword_row *row = up_keyword_rows; row->text; row++)
		if (row->kind == kind)
			return row->text;
	for (size_t i = 0; i < NR(signs); i++)
		if (signs[i].kind == kind)
			return signs[i].text;
	return NULL;
}

bool up_tok_ends_operand(int kind)
{
	switch (kind) {
	case TK_NAME:
	case TK_DOLLAR:
	case TK_POS:
	case TK_INT:
	case TK_FLOAT:
	case TK_STR:
	case TK_TARGET:
	case TK_BITS:
	case TK_CLOSE:
	case TK_RPAREN:
	case TK_RBRACK:
		return true;
	default:
		return false;
	}
}

bool up_tok_begins_operand(int kind)
{
	switch (kind) {
	case TK_NAME:
	case TK_DOLLAR:
	case TK_POS:
	case TK_INT:
	case TK_FLOAT:
	case TK_STR:
	case TK_LPAREN:
	case TK_MINUS:
	case TK_NOT:
	case TK_TILDE:
	case TK_AT:
	case TK_ENTRY:
		return true;
	default:
		return false;
	}
}

bool up_tok_is_decl(int kind)
{
	return kind >= TK_PROBE && kind <= TK_PARAM;
}

bool up_tok_nest(int kind, unsigned *blocks, unsigned *parens)
{
	if (kind == TK_OPEN)
		++*blocks;
	else if (kind == TK_CLOSE)
		*blocks -= *blocks > 0;
	else if (kind == TK_LPAREN || kind == TK_LBRACK)
		++*parens;
	else if (kind == TK_RPAREN || kind == TK_RBRACK)
		*parens -= *parens > 0;
	else
		return false;
	return true;
}

/* ---- errors, newlines, comments ---- */

void up_scan_error(struct up_scan *sc, uint32_t off, uint32_t len, enum up_diag_tag tag,
		   const char *hint, const char *fmt, ...)
{
	struct up_scan_err e = { .span = { off, len, sc->src }, .tag = tag, .hint = hint };
	va_list ap;

	if (sc->errs.nr > UP_DIAG_MAX) /* more than the parser will ever queue */
		return;
	va_start(ap, fmt);
	e.msg = up_arena_vprintf(sc->arena, fmt, ap);
	va_end(ap);
	up_vec_push(sc->arena, &sc->errs, e);
}

void up_scan_newline(struct up_scan *sc)
{
	sc->newline = true;
	sc->bad_line = false;
}

void up_scan_comment(struct up_scan *sc, const char *text, int len)
{
	struct up_comment c;

	while (len && text[len - 1] == '\r')
		len--;
	c.span = (struct up_span){ (uint32_t)(text - sc->copy), (uint32_t)len, sc->src };
	up_vec_push(sc->arena, &sc->comments, c);
}

/* ---- what stands ahead, seen as bytes ---- */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* The offset of the next byte on this line that is no blank. */
static uint32_t skip_blanks(const struct up_scan *sc, uint32_t off)
{
	while (off < sc->len && is_blank(sc->text[off]))
		off++;
	return off;
}

static bool is_word_at(const struct up_scan *sc, uint32_t off, const char *word)
{
	size_t len = strlen(word);

	return sc->len - off >= len && !memcmp(sc->text + off, word, len) &&
	       (off + len == sc->len || !is_name_char(sc->text[off + len]));
}

static bool starts_name(const struct up_scan *sc, uint32_t off)
{
	char c = off < sc->len ? sc->text[off] : 0;

	return is_name_char(c) && (c < '0' || c > '9');
}

/* Does a run of target characters with a `:` inside stand there? */
static bool starts_target(const struct up_scan *sc, uint32_t off)
{
	bool colon = false;

	if (sc->text[off] == ':')
		return false;
	for (; off < sc->len && !strchr(" \t\r\f\v\n,<", sc->text[off]); off++)
		colon |= sc->text[off] == ':';
	return colon;
}

/* Is the word the first of a declaration although something before it is not at its end? */
static bool starts_decl(const struct up_scan *sc, int kind, uint32_t end)
{
	bool first = sc->newline || sc->prev == TK_CLOSE;
	uint32_t next = skip_blanks(sc, end);
	bool named = starts_name(sc, next) && !is_word_at(sc, next, "by") &&
		     !is_word_at(sc, next, "top") && !is_word_at(sc, next, "in");

	switch (kind) {
	case TK_PROBE:
		return next > end && (starts_target(sc, next) || (first && named));
	case TK_ON:
		return is_word_at(sc, next, "return") || is_word_at(sc, next, "start") ||
		       is_word_at(sc, next, "end") || is_word_at(sc, next, "every");
	case TK_USE:
		return first && (named || (next < sc->len && sc->text[next] == '"'));
	default:
		return first && named;
	}
}

/* Is what follows `const NAME` and the like what must follow there? */
static bool looks_like_decl(const struct up_scan *sc, int kind, uint32_t end)
{
	uint32_t i = skip_blanks(sc, end);

	while (i < sc->len && is_name_char(sc->text[i]))
		i++;
	char c = sc->text[skip_blanks(sc, i)]; /* the text ends in a NUL */
	switch (kind) {
	case TK_POINT:
		return c == '.' || c == '=';
	case TK_CONST:
	case TK_PARAM:
		return c == '=';
	case TK_FN:
		return c == '(';
	default:
		return true;
	}
}

/* Is the word at the beginning of a line assigned to, so that `by` or `top` is a variable? */
static bool is_assigned(const struct up_scan *sc, uint32_t end)
{
	const char *s = sc->text + skip_blanks(sc, end); /* the text ends in a NUL */

	if (*s == '[' || *s == '.')
		return true;
	if (*s == '=')
		return s[1] != '=';
	if ((*s == '<' || *s == '>') && s[1] == *s)
		return s[2] == '=';
	return *s && strchr("+-*/%&|^", *s) && s[1] == '=';
}

/* ---- words ---- */

/* Is a value complete before this place? Behind `if (...)` one is only about to come. */
static bool is_behind_value(const struct up_scan *sc)
{
	return up_tok_ends_operand(sc->prev) &&
	       !(sc->prev == TK_RPAREN && sc->toks.v[sc->toks.nr - 1].flags & UP_TOK_IF);
}

static int find_keyword(const char *s, uint32_t len)
{
	for (const struct up_keyword_row *row = up_keyword_rows; row->text; row++)
		if (strlen(row->text) == len && !memcmp(row->text, s, len))
			return row->kind;
	return TK_NAME;
}

/*
 * Outside blocks a word is a keyword where no value can go on, and at the beginning of a line that
 * cannot be anything but a declaration.
 */
static int word_outside(const struct up_scan *sc, int kind, uint32_t end)
{
	bool fresh = !sc->prev || sc->prev == TK_TERM || is_behind_value(sc);

	if (up_tok_is_decl(kind))
		return fresh || (sc->newline && starts_decl(sc, kind, end) &&
				 looks_like_decl(sc, kind, end))
			       ? kind
			       : TK_NAME;
	if (sc->prev == TK_ON)
		return kind >= TK_START && kind <= TK_RETURN ? kind : TK_NAME;
	if (kind == TK_AS || kind == TK_WHEN)
		return fresh || sc->prev == TK_RETURN ? kind : TK_NAME;
	return TK_NAME;
}

static int word_in_block(const struct up_scan *sc, int kind, uint32_t end)
{
	uint32_t next = skip_blanks(sc, end);

	if (up_tok_is_decl(kind))
		return starts_decl(sc, kind, end) ? kind : TK_NAME;
	if (kind >= TK_START && kind <= TK_RETURN)
		return sc->prev == TK_ON ? kind : TK_NAME;
	if (kind == TK_IN)
		return sc->prev == TK_NAME && !sc->newline ? kind : TK_NAME;
	if (kind == TK_BY || kind == TK_TOP)
		return is_behind_value(sc) && sc->prev != TK_CLOSE &&
				       !(sc->newline && is_assigned(sc, end))
			       ? kind
			       : TK_NAME;
	if (kind == TK_WHEN)
		return next < sc->len && sc->text[next] == '(' ? kind : TK_NAME;
	return TK_NAME;
}

int up_scan_word(const struct up_scan *sc, uint32_t off, uint32_t len)
{
	int kind = find_keyword(sc->text + off, len);
	uint32_t next = skip_blanks(sc, off + len);

	if (kind == TK_NAME || sc->prev == TK_DOT || sc->prev == TK_ARROW)
		return TK_NAME;
	if (kind == TK_IF || kind == TK_ELSE || kind == TK_FOR || kind == TK_DELETE)
		return kind;
	if (kind == TK_ENTRY)
		return next < sc->len && sc->text[next] == '.' ? kind : TK_NAME;
	if (sc->nr_parens)
		return TK_NAME;
	if (sc->nr_blocks)
		return word_in_block(sc, kind, off + len);
	return word_outside(sc, kind, off + len);
}

/* ---- brackets ---- */

static void push_open(struct up_scan *sc, char c, uint32_t off)
{
	struct up_open o = { .c = c, .off = off, .is_if = sc->prev == TK_IF };

	if (sc->open.nr >= UP_DEPTH_MAX) {
		up_scan_error(sc, off, 1, E_TOO_LARGE, NULL,
			      "brackets are nested more than %d deep", UP_DEPTH_MAX);
		sc->is_cut = true;
		return;
	}
	up_vec_push(sc->arena, &sc->open, o);
	if (c == '<' || c == '{')
		sc->nr_blocks++;
	else
		sc->nr_parens++;
}

/* Closes the innermost bracket when it is of that sort. Was it the parenthesis of an `if`? */
static bool pop_open(struct up_scan *sc, bool block)
{
	struct up_open *top = sc->open.nr ? &sc->open.v[sc->open.nr - 1] : NULL;

	if (!top || (top->c == '<' || top->c == '{') != block)
		return false;
	sc->open.nr--;
	if (block)
		sc->nr_blocks--;
	else
		sc->nr_parens--;
	return top->is_if;
}

static void check_brace(struct up_scan *sc, const struct up_tok *t)
{
	char c = sc->text[t->off];

	if (c == '}' && sc->open.nr && sc->open.v[sc->open.nr - 1].c == '{')
		return;
	up_scan_error(sc, t->off, 1, E_CHARACTER, "blocks are written `< ... >`",
		      "`%c` is not part of the language", c);
}

/* ---- one token ---- */

/* Keeps the brackets that are open, and remembers what closes an `if (`. */
static void track_brackets(struct up_scan *sc, struct up_tok *t)
{
	bool brace = t->len && (sc->text[t->off] == '{' || sc->text[t->off] == '}');

	if (brace)
		check_brace(sc, t);
	if (t->kind == TK_OPEN)
		push_open(sc, brace ? '{' : '<', t->off);
	else if (t->kind == TK_LPAREN || t->kind == TK_LBRACK)
		push_open(sc, t->kind == TK_LPAREN ? '(' : '[', t->off);
	else if (t->kind == TK_CLOSE)
		pop_open(sc, true);
	else if (pop_open(sc, false))
		t->flags |= UP_TOK_IF;
}

/* Is a target to be read next? */
static void track_targets(struct up_scan *sc, int kind)
{
	bool next_in_list = kind == TK_COMMA && sc->in_targets && sc->prev == TK_TARGET;

	sc->want_target = kind == TK_PROBE || next_in_list || (kind == TK_ASSIGN && sc->in_point);
	sc->in_targets = kind == TK_PROBE || next_in_list || (kind == TK_TARGET && sc->in_targets);
	sc->in_point = kind == TK_POINT || (sc->in_point && (kind == TK_NAME || kind == TK_DOT));
}

/*
 * What the grammar wants otherwise than it is written: a token where a newline ends a statement,
 * `on return` as one. True when t went into the token before it.
 */
static bool lay_out(struct up_scan *sc, const struct up_tok *t)
{
	struct up_tok *last = sc->toks.nr ? &sc->toks.v[sc->toks.nr - 1] : NULL;

	if (!last || !sc->for_parser)
		return false;
	if (t->kind == TK_RETURN && last->kind == TK_ON) {
		last->kind = TK_ON_RETURN;
		last->len = t->off + t->len - last->off;
		sc->prev = TK_RETURN;
		return true;
	}
	if (t->flags & UP_TOK_NEWLINE && sc->nr_blocks && !sc->nr_parens &&
	    up_line_ends(last, t->kind)) {
		struct up_tok term = { .kind = TK_TERM, .off = last->off + last->len };

		up_vec_push(sc->arena, &sc->toks, term);
	}
	return false;
}

static void push_tok(struct up_scan *sc, struct up_tok t)
{
	if (sc->newline && !(t.flags & UP_TOK_MADE)) {
		t.flags |= UP_TOK_NEWLINE;
		sc->newline = false;
	}
	if (lay_out(sc, &t))
		return;
	if (t.kind >= TK_OPEN && t.kind <= TK_RBRACK)
		track_brackets(sc, &t);
	track_targets(sc, t.kind);
	sc->prev = t.kind;
	up_vec_push(sc->arena, &sc->toks, t);
}

static void push_made(struct up_scan *sc, int kind, uint32_t off, unsigned flags)
{
	push_tok(sc, (struct up_tok){ .kind = (uint16_t)kind,
				      .flags = (uint16_t)(UP_TOK_MADE | flags),
				      .off = off });
}

/*
 * After an unclosed quote the rest of the line is lost. Closes all brackets, so that nothing more
 * is said about them, and goes on at the next line that begins with a declaration's keyword.
 */
static uint32_t give_up_decl(struct up_scan *sc, uint32_t off)
{
	while (sc->open.nr) {
		char c = sc->open.v[sc->open.nr - 1].c;

		push_made(sc,
			  c == '('   ? TK_RPAREN
			  : c == '[' ? TK_RBRACK
				     : TK_CLOSE,
			  off, UP_TOK_QUIET);
	}
	while (off < sc->len) {
		const char *nl = memchr(sc->text + off, '\n', sc->len - off);
		uint32_t start = nl ? skip_blanks(sc, (uint32_t)(nl - sc->text) + 1) : sc->len;
		uint32_t end = start;

		if (!nl)
			return sc->len;
		while (end < sc->len && is_name_char(sc->text[end]))
			end++;
		if (up_tok_is_decl(find_keyword(sc->text + start, end - start)))
			return (uint32_t)(nl - sc->text);
		off = (uint32_t)(nl - sc->text) + 1;
		if (start > off)
			off = start;
	}
	return sc->len;
}

/* An unclosed string or target: one diagnostic, then the rest of the declaration is skipped. */
static void scan_unclosed(struct up_scan *sc, struct up_tok t, bool target)
{
	while (t.len > 1 && sc->text[t.off + t.len - 1] == '\r')
		t.len--;
	if (target) {
		up_scan_error(sc, t.off, t.len, E_STRING, NULL,
			      "the quote in this target is not closed on its line");
		t.kind = TK_TARGET;
		push_tok(sc, t);
		push_made(sc, TK_OPEN, t.off + t.len, UP_TOK_QUIET);
	} else {
		up_lit_string(sc, &t, false);
		push_tok(sc, t);
	}
	uint32_t off = give_up_decl(sc, t.off + t.len);
	up_flex__scan_buffer(sc->copy + off, sc->len - off + 2, sc->flex);
}

static const char *character_hint(const char *s)
{
	if (*s == '?')
		return "the conditional expression is `if (c) a else b`";
	if (*s == '\'' || !strncmp(s, "\xe2\x80\x9c", 3) || !strncmp(s, "\xe2\x80\x9d", 3))
		return "strings are written in plain double quotes: \"...\"";
	return NULL;
}

/* Says that something is no part of the language; once a line, the rest are echoes. */
static void report_character(struct up_scan *sc, uint32_t off, uint32_t len, size_t shown)
{
	const char *s = sc->text + off;

	if (!sc->bad_line)
		up_scan_error(sc, off, len, E_CHARACTER, character_hint(s),
			      "`%.*s` is not part of the language", (int)shown, s);
	sc->bad_line = true;
}

/* 'abc': taken for the string that it means. */
static void scan_single(struct up_scan *sc, struct up_tok t)
{
	report_character(sc, t.off, t.len, 1);
	up_lit_string(sc, &t, true);
	push_tok(sc, t);
}

static void scan_bad(struct up_scan *sc, struct up_tok t)
{
	uint32_t cp;
	size_t len = up_utf8_decode(sc->text + t.off, t.len, &cp);

	report_character(sc, t.off, (uint32_t)len, len);
	t.kind = TK_BAD;
	push_tok(sc, t);
}

/* The repair for this very place, or NULL; it is used up. */
static const struct up_fix *take_fix(struct up_scan *sc, uint32_t off)
{
	while (sc->next_fix < sc->nr_fixes && sc->fixes[sc->next_fix].off < off)
		sc->next_fix++;
	if (sc->next_fix == sc->nr_fixes || sc->fixes[sc->next_fix].off != off)
		return NULL;
	return &sc->fixes[sc->next_fix++];
}

/* Puts in the tokens that are missing before `off`. */
static void insert_missing(struct up_scan *sc, uint32_t off)
{
	for (; sc->next_fix < sc->nr_fixes; sc->next_fix++) {
		const struct up_fix *f = &sc->fixes[sc->next_fix];

		if (f->off > off || f->kind != UP_FIX_INSERT)
			return;
		push_made(sc, f->tok, f->off, 0);
	}
}

static bool is_fix(const struct up_fix *fix, enum up_fix_kind kind)
{
	return fix && fix->kind == kind;
}

/* One `<` or `>` outside parentheses. */
static void scan_bracket(struct up_scan *sc, struct up_tok t, const struct up_fix *fix)
{
	if (is_fix(fix, UP_FIX_DROP))
		return;
	if (is_fix(fix, UP_FIX_OPERATOR))
		t.flags |= UP_TOK_BARE;
	else
		t.kind = t.kind == TK_LT ? TK_OPEN : TK_CLOSE;
	push_tok(sc, t);
}

/* What begins with `<` or `>`: operators in parentheses, brackets outside. */
static void scan_angle(struct up_scan *sc, struct up_tok t, const struct up_fix *fix)
{
	struct up_tok second = { .kind = TK_GT, .off = t.off + 1, .len = 1 };

	if (sc->nr_parens) {
		push_tok(sc, t);
	} else if (t.len == 1) {
		scan_bracket(sc, t, fix);
	} else if (t.kind != TK_SHR || is_fix(fix, UP_FIX_OPERATOR)) {
		t.flags |= UP_TOK_BARE;
		push_tok(sc, t);
	} else {
		t.kind = TK_GT;
		t.len = 1;
		scan_bracket(sc, t, fix);
		insert_missing(sc, second.off);
		scan_bracket(sc, second, take_fix(sc, second.off));
	}
}

/* A copy of the text in which each name is ended by a NUL: what follows one is never part of one.
 */
static const char *end_name(struct up_scan *sc, const struct up_tok *t)
{
	uint32_t skip = t->kind != TK_NAME;

	sc->names[t->off + t->len] = 0;
	return sc->names + t->off + skip;
}

static void scan_word(struct up_scan *sc, struct up_tok t, const struct up_fix *fix)
{
	t.name = end_name(sc, &t);
	if (is_fix(fix, UP_FIX_KIND))
		t.kind = (uint16_t)fix->tok;
	else if (t.kind == TK_NAME)
		t.kind = (uint16_t)up_scan_word(sc, t.off, t.len);
	push_tok(sc, t);
}

/* A target; but the keyword of the next declaration is none. */
static void scan_target(struct up_scan *sc, struct up_tok t)
{
	int kind = find_keyword(sc->text + t.off, t.len);

	if (sc->newline && up_tok_is_decl(kind))
		t.kind = (uint16_t)kind;
	push_tok(sc, t);
}

static enum up_op assign_op(char c)
{
	static const char chars[] = "+-*/%&|^<>";
	static const enum up_op ops[] = { OPR_ADD, OPR_SUB, OPR_MUL, OPR_DIV, OPR_MOD,
					  OPR_AND, OPR_OR,  OPR_XOR, OPR_SHL, OPR_SHR };

	return ops[strchr(chars, c) - chars];
}

static void scan_plain(struct up_scan *sc, struct up_tok t, const struct up_fix *fix)
{
	if (t.kind == TK_INT)
		up_lit_number(sc, &t);
	else if (t.kind == TK_STR)
		up_lit_string(sc, &t, true);
	else if (t.kind == TK_OP_ASSIGN)
		t.op = assign_op(sc->text[t.off]);
	if (is_fix(fix, UP_FIX_KIND))
		t.kind = (uint16_t)fix->tok;
	push_tok(sc, t);
}

static void scan_one(struct up_scan *sc, int raw)
{
	const char *text = up_flex_get_text(sc->flex);
	struct up_tok t = { .kind = (uint16_t)raw,
			    .off = (uint32_t)(text - sc->copy),
			    .len = (uint32_t)up_flex_get_leng(sc->flex) };

	insert_missing(sc, t.off);
	const struct up_fix *fix = take_fix(sc, t.off);
	if (is_fix(fix, UP_FIX_DROP) && raw != TK_SHR)
		return;
	switch (raw) {
	case UP_RAW_OPEN_STR:
	case UP_RAW_OPEN_TARGET:
		scan_unclosed(sc, t, raw == UP_RAW_OPEN_TARGET);
		break;
	case UP_RAW_SINGLE:
		scan_single(sc, t);
		break;
	case UP_RAW_BAD:
		scan_bad(sc, t);
		break;
	case TK_TARGET:
		scan_target(sc, t);
		break;
	case TK_NAME:
	case TK_DOLLAR:
	case TK_POS:
		scan_word(sc, t, fix);
		break;
	case TK_LT:
	case TK_GT:
	case TK_LE:
	case TK_GE:
	case TK_SHL:
	case TK_SHR:
		scan_angle(sc, t, fix);
		break;
	default:
		scan_plain(sc, t, fix);
	}
}

void up_scan_init(struct up_scan *sc, struct up_arena *a, const struct up_source *s, uint32_t src)
{
	memset(sc, 0, sizeof(*sc));
	sc->arena = a;
	sc->src = src;
	sc->text = s->text;
	sc->len = s->len;
	sc->copy = up_newn(a, char, (size_t)s->len + 2);
	sc->toks.cap = s->len / 2 + 16;
	sc->toks.v = up_newn(a, struct up_tok, sc->toks.cap);
	sc->names = up_arena_memdup(a, s->text, s->len);
}

/* Empties what a scan produces; keeps the repairs. */
static void reset(struct up_scan *sc)
{
	memcpy(sc->copy, sc->text, sc->len);
	sc->copy[sc->len] = sc->copy[sc->len + 1] = 0;
	sc->toks.nr = sc->comments.nr = sc->errs.nr = sc->open.nr = 0;
	sc->nr_blocks = sc->nr_parens = sc->next_fix = 0;
	sc->prev = 0;
	sc->in_targets = sc->in_point = sc->want_target = sc->newline = sc->is_cut = sc->bad_line =
		false;
}

void up_scan_all(struct up_scan *sc)
{
	static const char bom[] = "\xef\xbb\xbf";
	uint32_t off = sc->len >= 3 && !memcmp(sc->text, bom, 3) ? 3 : 0;

	reset(sc);
	if (up_flex_lex_init_extra(sc, &sc->flex))
		return;
	up_flex__scan_buffer(sc->copy + off, sc->len - off + 2, sc->flex);
	for (int raw; !sc->is_cut && (raw = up_flex_lex(sc->flex));)
		scan_one(sc, raw);
	if (!sc->is_cut)
		insert_missing(sc, UINT32_MAX);
	const struct up_tok *last = sc->toks.nr ? &sc->toks.v[sc->toks.nr - 1] : NULL;
	struct up_tok end = { .kind = TK_EOT, .off = last ? last->off + last->len : 0 };
	sc->newline = true;
	push_tok(sc, end);
	up_flex_lex_destroy(sc->flex);
}
