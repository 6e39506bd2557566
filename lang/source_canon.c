/* The forms of a C++ or Rust name. All of it in one pass, but for what is nested in brackets. */
#include <ctype.h>
#include <string.h>

#include "lang/source_name.h"

#define MAX_DEPTH 64 /* brackets within which `const T` is turned round */
#define MAX_BRIEF \
	4096        /* bytes; of longer names nothing may be left out: brackets take their square */
#define MAX_PATHS 8 /* <T as Trait> within another one that are taken apart */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Is the word at s[i]? */
static bool is_word_at(const char *s, size_t len, size_t i, const char *word)
{
	size_t n = strlen(word);

	return len - i >= n && !memcmp(s + i, word, n) && (i == 0 || !is_word(s[i - 1])) &&
	       (i + n == len || !is_word(s[i + n]));
}

static bool begins(const char *s, size_t len, size_t i, const char *with)
{
	size_t n = strlen(with);

	return len - i >= n && !memcmp(s + i, with, n);
}

/* ---- canonical form ---- */

/* What a writer of the canonical form keeps in mind. */
struct canon {
	struct up_buf *out;
	size_t from;               /* where the name begins in `out` */
	bool has_const[MAX_DEPTH]; /* by depth: `const` was read and is to be written behind the
				      type */
	unsigned depth;            /* of brackets */
};

static char last_of(const struct canon *c)
{
	return c->out->len > c->from ? c->out->s[c->out->len - 1] : 0;
}

static void put_const(struct canon *c)
{
	if (c->depth >= MAX_DEPTH || !c->has_const[c->depth])
		return;
	c->has_const[c->depth] = false;
	up_buf_puts(c->out, is_word(last_of(c)) ? " const" : "const");
}

static void put_sign(struct canon *c, char sign)
{
	if (strchr("*&,)>", sign))
		put_const(c);
	if (strchr(")>]}", sign) && c->depth)
		c->depth--;
	up_buf_putc(c->out, sign);
	if (strchr("(<[{", sign) && ++c->depth < MAX_DEPTH)
		c->has_const[c->depth] = false;
}

/* Must a blank stay between two characters? `operator< <int>` is no `operator<<`. */
static bool parts(char before, char after)
{
	return (is_word(before) && is_word(after)) || (before == '<' && after == '<');
}

void up_source_canon(const char *s, size_t len, struct up_buf *out)
{
	struct canon c = { .out = out, .from = out->len };

	for (size_t i = 0; i < len && !out->failed; i++) {
		size_t from = i;

		while (i < len && is_blank(s[i]))
			i++;
		if (i == len)
			break;
		char last = last_of(&c);
		if (strchr("(<,", last) && last && c.depth && c.depth < MAX_DEPTH &&
		    is_word_at(s, len, i, "const")) {
			c.has_const[c.depth] = true;
			i += 4;
			continue;
		}
		if (i > from && parts(last, s[i]))
			up_buf_putc(out, ' ');
		if (is_word(s[i]))
			up_buf_putc(out, s[i]);
		else
			put_sign(&c, s[i]);
	}
	put_const(&c);
}

/* ---- operators and brackets ---- */

/* The length of an operator's sign at s[i], which stands behind the word `operator`. */
static size_t operator_len(const char *s, size_t len, size_t i)
{
	static const char *const signs[] = { "<=>", "->*", "<<=", ">>=", "()",  "[]", "->",
					     "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&",
					     "||",  "++",  "--",  "+=",  "-=",  "*=", "/=",
					     "%=",  "^=",  "&=",  "|=",  "\"\"" };

	for (size_t k = 0; k < sizeof(signs) / sizeof(*signs); k++)
		if (begins(s, len, i, signs[k]))
			return strlen(signs[k]);
	return i < len && s[i] && strchr("+-*/%^&|~!=<>,", s[i]) ? 1 : 0;
}

/* Where an operator's name at s[i] ends, or i when there is none. */
static size_t behind_operator(const char *s, size_t len, size_t i)
{
	if (!is_word_at(s, len, i, "operator"))
		return i;
	return i + 8 + operator_len(s, len, i + 8);
}

/* Behind the bracket that closes the one at s[i]; i when none does. */
static size_t behind_bracket(const char *s, size_t len, size_t i)
{
	size_t depth = 0;

	for (size_t at = i; at < len;) {
		size_t next = behind_operator(s, len, at);

		if (next > at) {
			at = next;
			continue;
		}
		if (begins(s, len, at, "->")) {
			at += 2;
			continue;
		}
		if (strchr("(<[{", s[at]) && s[at])
			depth++;
		else if (strchr(")>]}", s[at]) && s[at] && !--depth)
			return at + 1;
		at++;
	}
	return i;
}

/* ---- what may be left out ---- */

/* The parameters of an enclosing function, with the `const` behind them: `f(int)const` of
 * `f(int)const::local::g`. 0 when these are something else. */
static size_t enclosing_len(const char *s, size_t len, size_t i)
{
	size_t end = behind_bracket(s, len, i);

	if (end > i && begins(s, len, end, "const"))
		end += 5;
	return end > i && begins(s, len, end, "::") ? end - i : 0;
}

/* How much at s[i] of a name may be left out; 0: nothing. */
static size_t optional_len(const char *s, size_t len, size_t i)
{
	static const char anonymous[] = "(anonymous namespace)::";

	if (s[i] == '(')
		return begins(s, len, i, anonymous) ? sizeof(anonymous) - 1
						    : enclosing_len(s, len, i);
	if (begins(s, len, i, "__cxx11::"))
		return 9; /* an inline namespace of the C++ library */
	if (begins(s, len, i, "::<")) {
		size_t end = behind_bracket(s, len, i + 2);

		return end > i + 2 ? end - i : 0;
	}
	if (begins(s, len, i, " <")) { /* behind `operator<` */
		size_t end = behind_bracket(s, len, i + 1);

		return end > i + 1 ? end - i : 0;
	}
	if ((s[i] == '<' && i && s[i - 1] != ':') || begins(s, len, i, "[abi:"))
		return behind_bracket(s, len, i) - i;
	return 0;
}

/* Where ` as Trait` begins in the inside of <T as Trait>, or len. */
static size_t find_trait(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr("(<[{", s[i]) && s[i]) {
			size_t end = behind_bracket(s, len, i);

			i = end > i ? end - 1 : i;
		} else if (s[i] == ' ' && begins(s, len, i, " as ")) {
			return i;
		} else if (is_word_at(s, len, i, "as") && i && !is_word(s[i - 1])) {
			return i; /* behind a bracket no blank is left */
		}
	}
	return len;
}

static void put_plain(const char *s, size_t len, struct up_buf *out, unsigned depth)
{
	size_t i = 0;

	if (len && s[0] == '<' && depth < MAX_PATHS) {
		i = behind_bracket(s, len, 0);
		if (i > 2)
			put_plain(s + 1, find_trait(s + 1, i - 2), out, depth + 1);
	}
	while (i < len) {
		size_t end = behind_operator(s, len, i), skip = 0;

		if (end == i)
			skip = optional_len(s, len, i);
		if (end == i && s[i] == '{')
			end = behind_bracket(s, len, i);
		if (end == i && !skip)
			end = i + 1;
		up_buf_add(out, s + i, end > i ? end - i : 0);
		i = end > i ? end : i + skip;
	}
}

void up_source_plain(const char *s, size_t len, struct up_buf *out)
{
	if (len <= MAX_BRIEF)
		put_plain(s, len, out, 0);
	else
		up_buf_add(out, s, len);
}

/* ---- parameters ---- */

/* Takes a word off the end of s[0..len), and what parts it from the rest. */
static size_t without_end(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word);

	if (len <= n || memcmp(s + len - n, word, n) != 0)
		return len;
	len -= n;
	return s[len - 1] == ' ' ? len - 1 : len;
}

/* Without `const`, `&` and the like, and without a clone's marks. */
static size_t without_qualifiers(const char *s, size_t len)
{
	static const char *const words[] = { "const", "volatile", "&&", "&", "noexcept" };
	const char *clone = memmem(s, len, "[clone", 6);

	if (clone)
		len = (size_t)(clone - s);
	for (size_t before = len + 1; len < before;) {
		before = len;
		for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
			len = without_end(s, len, words[k]);
	}
	return len;
}

size_t up_source_params(const char *s, size_t len)
{
	size_t end = without_qualifiers(s, len), depth = 0, i = end;

	if (!end || s[end - 1] != ')')
		return len;
	while (i > 0) {
		i--;
		if (s[i] == ')')
			depth++;
		else if (s[i] == '(' && !--depth)
			break;
	}
	if (depth || !i)
		return len;
	/* `operator()` has its parameters behind it; these are its name. */
	bool is_call = end - i == 2 && i >= 8 && is_word_at(s, i, i - 8, "operator");
	return is_call ? len : i;
}

/* ---- abbreviations ---- */

/* `<args>::` behind a `::` that both have: where the name goes on as the brief one does. */
static size_t arguments_len(const char *s, size_t len, size_t i)
{
	size_t end = i > 1 && s[i] == '<' && s[i - 1] == ':' ? behind_bracket(s, len, i) : i;

	return end > i && begins(s, len, end, "::") ? end + 2 - i : 0;
}

/* The end of the argument list that s[i], a comma, stands in; i when there is none. */
static size_t end_of_list(const char *s, size_t len, size_t i)
{
	for (size_t at = i; at < len; at++) {
		if (s[at] == '>')
			return at;
		if (strchr("(<[{", s[at])) {
			size_t end = behind_bracket(s, len, at);

			at = end > at ? end - 1 : at;
		}
	}
	return i;
}

bool up_source_abbreviates(const char *brief, const char *name)
{
	size_t len = strlen(name), i = 0, skip;

	if (len > MAX_BRIEF)
		return false;
	while (*brief) {
		if (i < len && *brief == name[i]) {
			brief++;
			i++;
			continue;
		}
		if (i == len)
			return false;
		skip = optional_len(name, len, i);
		if (!skip)
			skip = arguments_len(name, len, i);
		if (!skip && *brief == '>' && name[i] == ',')
			skip = end_of_list(name, len, i) - i;
		if (!skip)
			return false;
		i += skip;
	}
	while (i < len && (skip = optional_len(name, len, i)))
		i += skip;
	return i == len;
}
