/* One source name, or a pattern of them, and the symbols that are meant. */
#include "lang/source_name.h"

#include <ctype.h>
#include <string.h>

#include "lang/base/text.h"

/* ---- what is spelled out in symbols ---- */

/* Words of source names that symbols have signs for. */
static const char *const hidden[] = {
	"std",           "allocator", "basic_string",   "string",   "basic_istream", "istream",
	"basic_ostream", "ostream",   "basic_iostream", "iostream", "char_traits",   "operator",
	"anonymous",     "namespace", "lambda",         "closure",  "unnamed"
};

/* Words that the C++ library's own names are long for. */
static const struct {
	const char *full;
	const char *brief;
} library_names[] = {
	{ "std::__cxx11::", "std::" },
	{ "std::basic_string<char,std::char_traits<char>,std::allocator<char>>", "std::string" },
	{ "std::basic_string_view<char,std::char_traits<char>>", "std::string_view" },
	{ "std::basic_istream<char,std::char_traits<char>>", "std::istream" },
	{ "std::basic_ostream<char,std::char_traits<char>>", "std::ostream" },
	{ "std::basic_iostream<char,std::char_traits<char>>", "std::iostream" },
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t letters(const char *s)
{
	size_t n = 0;

	while (is_letter(s[n]))
		n++;
	return n;
}

/* Is the word, which may be a part of one, in no symbol though it is in the source name? */
static bool may_be_hidden(const char *word, size_t len, bool is_part)
{
	for (size_t i = 0; i < NR(hidden); i++) {
		size_t n = strlen(hidden[i]);

		if (is_part ? memmem(hidden[i], n, word, len) != NULL
			    : n == len && !memcmp(hidden[i], word, n))
			return true;
	}
	return false;
}

/* ---- one name ---- */

/* The last of a plain name's parts that is a word: where it begins, and its length; 0: none. */
static size_t find_last_word(const char *s, size_t len, size_t *word_len)
{
	size_t end = len;

	while (end) {
		size_t from = end;

		while (from && !(s[from - 1] == ':' && (from < 2 || s[from - 2] == ':')))
			from--;
		size_t at = from + (s[from] == '~');
		size_t n = letters(s + at);
		if (n > end - at)
			n = end - at;
		if (n && at + n == end && !may_be_hidden(s + at, n, false)) {
			*word_len = n;
			return at;
		}
		end = from > 2 ? from - 2 : 0;
	}
	*word_len = 0;
	return 0;
}

/*
 * Both schemes spell a function as its length and its name; in front of some of Rust's stands a
 * `_`. Names of types can be parts of a longer identifier in Rust's older scheme.
 */
static void make_glob(struct up_source_name *n)
{
	struct up_buf plain = { 0 };
	size_t len, at;

	up_source_plain(n->name.s ? n->name.s : "", n->name.len, &plain);
	at = find_last_word(plain.s ? plain.s : "", plain.len, &len);
	if (!len)
		up_buf_puts(&n->glob, "_[ZR]*");
	else if (at + len < plain.len || plain.s[at] == '_' || isdigit((unsigned char)plain.s[at]))
		up_buf_printf(&n->glob, "_*%.*s*", (int)len, plain.s + at);
	else
		up_buf_printf(&n->glob, "_*%zu%.*s*", len, (int)len, plain.s + at);
	up_buf_fini(&plain);
}

void up_source_name_init(struct up_source_name *n, const char *text, size_t len)
{
	*n = (struct up_source_name){ 0 };
	up_source_canon(text, len, &n->whole);
	size_t at = up_source_params(n->whole.s ? n->whole.s : "", n->whole.len);
	up_buf_add(&n->name, n->whole.s, at);
	up_buf_add(&n->params, n->whole.s ? n->whole.s + at : "", n->whole.len - at);
	make_glob(n);
}

static void fini_scratch(struct up_buf *text)
{
	for (unsigned i = 0; i < 3; i++)
		up_buf_fini(&text[i]);
}

void up_source_name_fini(struct up_source_name *n)
{
	up_buf_fini(&n->name);
	up_buf_fini(&n->params);
	up_buf_fini(&n->whole);
	up_buf_fini(&n->glob);
	fini_scratch(n->text);
}

static bool is_text(const struct up_buf *b, const char *s, size_t len)
{
	return b->len == len && (!len || !memcmp(b->s, s, len));
}

static bool same(const struct up_buf *a, const struct up_buf *b)
{
	return is_text(a, b->s, b->len);
}

/* Appends a canonical text with the library's long names put briefly. */
static void put_brief(struct up_buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t from = i;

		for (size_t k = 0; k < NR(library_names) && s[i] == 's'; k++) {
			size_t n = strlen(library_names[k].full);

			if (len - i < n || memcmp(s + i, library_names[k].full, n))
				continue;
			up_buf_puts(out, library_names[k].brief);
			i += n;
			if (i < len && is_letter(s[i]) && s[i - 1] == '>')
				up_buf_putc(out, ' ');
			break;
		}
		if (i == from)
			up_buf_putc(out, s[i++]);
	}
}

/* The same, twice: one long name is a part of another. */
static void make_brief(struct up_buf *out, const char *s, size_t len)
{
	struct up_buf once = { 0 };

	up_buf_reset(out);
	if (!memmem(s, len, "std::", 5)) {
		up_buf_add(out, s, len);
		return;
	}
	put_brief(&once, s, len);
	put_brief(out, once.s, once.len);
	up_buf_fini(&once);
}

/* The symbol's name in a form, canonical, in text[1]. */
static bool read_symbol(struct up_buf *text, const char *symbol, enum up_demangle_form form)
{
	up_buf_reset(&text[0]);
	up_buf_reset(&text[1]);
	if (!up_demangle(symbol, form, &text[0]))
		return false;
	up_source_canon(text[0].s, text[0].len, &text[1]);
	return text[1].len && !text[1].failed;
}

/*
 * Is the name in text[1] meant, parameters aside? Both of the C++ library's strings are
 * std::string: which of them a program uses is not seen in its source.
 */
static enum up_match match_name(struct up_source_name *n)
{
	const struct up_buf *have = &n->text[1];
	struct up_buf *less = &n->text[2];

	if (same(&n->name, have))
		return UP_MATCH_EXACT;
	make_brief(less, have->s, have->len);
	if (same(&n->name, less))
		return UP_MATCH_EXACT;
	if (less->len && up_source_abbreviates(n->name.s, less->s))
		return UP_MATCH_LOOSE;
	up_buf_reset(less);
	up_source_plain(have->s, have->len, less);
	return same(&n->name, less) || up_source_abbreviates(n->name.s, have->s) ? UP_MATCH_LOOSE
										 : UP_MATCH_NOT;
}

/* The parameters and what stands behind them. */
static bool is_same_params(const struct up_buf *want, const char *s, size_t len)
{
	const char *clone = memmem(s, len, "[clone", 6);

	return is_text(want, s, len) || (clone && is_text(want, s, (size_t)(clone - s)));
}

/* Are the parameters those of the full name in text[1], in which they begin at `at`? */
static enum up_match match_params(struct up_source_name *n, size_t at)
{
	const char *s = n->text[1].s + at;
	size_t len = n->text[1].len - at;
	const struct up_buf *brief = &n->text[2];

	if (!n->params.len || is_same_params(&n->params, s, len))
		return UP_MATCH_EXACT;
	make_brief(&n->text[2], s, len);
	if (brief->failed || !brief->len)
		return UP_MATCH_NOT;
	if (is_same_params(&n->params, brief->s, brief->len))
		return UP_MATCH_EXACT;
	/* Left out may be what stands behind the list. */
	bool is_start = brief->len > n->params.len && n->params.s[n->params.len - 1] == ')' &&
			!memcmp(brief->s, n->params.s, n->params.len);
	return is_start && !strchr(brief->s + n->params.len, '(') ? UP_MATCH_LOOSE : UP_MATCH_NOT;
}

enum up_match up_source_name_match(struct up_source_name *n, const char *symbol)
{
	if (!n->name.len || n->glob.failed || !up_is_mangled(symbol) || up_is_piece(symbol) ||
	    !read_symbol(n->text, symbol, UP_NAME_BARE))
		return UP_MATCH_NOT;
	enum up_match name = match_name(n);
	size_t at = n->text[1].len;
	if (!read_symbol(n->text, symbol, UP_NAME_FULL) || n->text[1].len < at)
		return UP_MATCH_NOT;
	if (name) {
		enum up_match params = match_params(n, at);

		if (params)
			return params < name ? params : name;
	}
	/* As other tools write an instance of a template. */
	return n->params.len && read_symbol(n->text, symbol, UP_NAME_RETURN) &&
			       same(&n->whole, &n->text[1])
		       ? UP_MATCH_EXACT
		       : UP_MATCH_NOT;
}

/* ---- patterns ---- */

bool up_is_source_pattern(const char *pattern)
{
	return strstr(pattern, "::") != NULL;
}

/* The longest word of a glob that any symbol that matches has in it; 0 when there is none. */
static size_t find_fixed(const char *glob, size_t *at)
{
	size_t best = 0;

	for (size_t i = 0; glob[i] && !strchr("[\\(<{", glob[i]);) {
		size_t n = letters(glob + i);

		if (n > best && !may_be_hidden(glob + i, n, true)) {
			best = n;
			*at = i;
		}
		i += n ? n : 1;
	}
	return best;
}

void up_source_pattern_init(struct up_source_pattern *p, const char *glob, const regex_t *regex)
{
	size_t at = 0, len = glob ? find_fixed(glob, &at) : 0;

	*p = (struct up_source_pattern){ .glob = glob, .regex = regex };
	if (len)
		up_buf_printf(&p->prefilter, "*%.*s*", (int)len, glob + at);
	else
		up_buf_puts(&p->prefilter, "*");
}

void up_source_pattern_fini(struct up_source_pattern *p)
{
	up_buf_fini(&p->prefilter);
	fini_scratch(p->text);
}

static bool fits(const struct up_source_pattern *p, const char *s, size_t len)
{
	if (p->regex)
		return !regexec(p->regex, s, 0, NULL, 0);
	return up_glob_match(p->glob, strlen(p->glob), s, len);
}

/* Does the name in text[0] fit without what may be left out? */
static bool fits_plain(struct up_source_pattern *p)
{
	struct up_buf *text = p->text;

	if (!strpbrk(text[0].s, "<([") || text[0].failed)
		return false;
	up_buf_reset(&text[1]);
	up_buf_reset(&text[2]);
	up_source_canon(text[0].s, text[0].len, &text[1]);
	up_source_plain(text[1].s ? text[1].s : "", text[1].len, &text[2]);
	return text[2].len && !text[2].failed && fits(p, text[2].s, text[2].len);
}

bool up_source_pattern_match(struct up_source_pattern *p, const char *symbol)
{
	struct up_buf *text = p->text;
	bool wants_params = p->glob && strchr(p->glob, '(');

	if (!up_is_mangled(symbol))
		return fits(p, symbol, strlen(symbol));
	up_buf_reset(&text[0]);
	if (up_is_piece(symbol) || !up_demangle(symbol, UP_NAME_BARE, &text[0]))
		return false;
	bool is = fits(p, text[0].s, text[0].len) || fits_plain(p);
	if (!is && !wants_params)
		return false;
	up_buf_reset(&text[0]);
	return up_demangle(symbol, UP_NAME_FULL, &text[0]) &&
	       (is || fits(p, text[0].s, text[0].len));
}
