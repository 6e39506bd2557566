/* Text helpers: UTF-8, escaping, columns, glob match, nearest names. */
#include "lang/base/text.h"

#include <limits.h>
#include <string.h>

#define MESSAGE_WORD 200  /* bytes of a message's word that are shown */
#define MESSAGE_TEXT 2000 /* bytes of a message */

struct range {
	uint32_t lo; /* first code point */
	uint32_t hi; /* last code point */
};

/* Code points that take no column: combining marks, variation selectors, format characters. */
static const struct range zero_width[] = {
	{ 0x300, 0x36f },     { 0x483, 0x489 },     { 0x591, 0x5bd },     { 0x5bf, 0x5bf },
	{ 0x5c1, 0x5c2 },     { 0x5c4, 0x5c5 },     { 0x5c7, 0x5c7 },     { 0x610, 0x61a },
	{ 0x61c, 0x61c },     { 0x64b, 0x65f },     { 0x670, 0x670 },     { 0x6d6, 0x6dc },
	{ 0x6df, 0x6e4 },     { 0x6e7, 0x6e8 },     { 0x6ea, 0x6ed },     { 0x93a, 0x93a },
	{ 0x93c, 0x93c },     { 0x941, 0x948 },     { 0x94d, 0x94d },     { 0x951, 0x957 },
	{ 0xe31, 0xe31 },     { 0xe34, 0xe3a },     { 0xe47, 0xe4e },     { 0x1160, 0x11ff },
	{ 0x180b, 0x180f },   { 0x1ab0, 0x1aff },   { 0x1dc0, 0x1dff },   { 0x200b, 0x200f },
	{ 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0x20d0, 0x20f0 },   { 0x302a, 0x302d },
	{ 0x3099, 0x309a },   { 0xfe00, 0xfe0f },   { 0xfe20, 0xfe2f },   { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb },   { 0x1d167, 0x1d169 }, { 0x1d173, 0x1d182 }, { 0xe0001, 0xe007f },
	{ 0xe0100, 0xe01ef },
};

/* Code points that take two columns: East Asian, emoji (Unicode 14, unassigned gaps joined). */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 },   { 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 },   { 0x267f, 0x267f },   { 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab },   { 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },
	{ 0x26d4, 0x26d4 },   { 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },   { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa },   { 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },
	{ 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x274e, 0x274e },   { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },
	{ 0x2b1b, 0x2b1c },   { 0x2b50, 0x2b50 },   { 0x2b55, 0x2b55 },   { 0x2e80, 0x303e },
	{ 0x3041, 0x3247 },   { 0x3250, 0x4dbf },   { 0x4e00, 0xa4c6 },   { 0xa960, 0xa97c },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfad9 },   { 0xfe10, 0xfe19 },   { 0xfe30, 0xfe6b },
	{ 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x16fe0, 0x1b2fb }, { 0x1f004, 0x1f004 },
	{ 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 },
	{ 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca },
	{ 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e },
	{ 0x1f440, 0x1f440 }, { 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e },
	{ 0x1f550, 0x1f567 }, { 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 },
	{ 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 },
	{ 0x1f6d5, 0x1f6df }, { 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6fc }, { 0x1f7e0, 0x1f7f0 },
	{ 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

/* Code points that a terminal obeys, or that hide or reorder the text around them. */
static const struct range steering[] = {
	{ 0x0, 0x1f },      { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x61c, 0x61c },
	{ 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e },   { 0x2060, 0x206f },
	{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static bool is_in(const struct range *r, size_t nr, uint32_t cp)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (cp > r[mid].hi)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && cp >= r[lo].lo;
}

/* Length that the first byte of a multi-byte character announces, or 0. */
static size_t sequence_len(unsigned char first)
{
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

size_t up_utf8_decode(const char *s, size_t len, uint32_t *cp)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;

	if (u[0] < 0x80) {
		*cp = u[0];
		return 1;
	}
	size_t n = sequence_len(u[0]);
	if (!n || n > len)
		return 0;
	uint32_t c = u[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*cp = c;
	return n;
}

size_t up_utf8_encode(uint32_t cp, char out[4])
{
	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
	for (size_t i = n; --i; cp >>= 6)
		out[i] = (char)(0x80 | (cp & 0x3f));
	out[0] = (char)(0xf00u >> n | cp);
	return n;
}

size_t up_text_columns(const char *s, size_t len)
{
	size_t cols = 0;

	for (size_t i = 0, n; i < len; i += n) {
		uint32_t cp;

		n = up_utf8_decode(s + i, len - i, &cp);
		if (n > 1 && is_in(zero_width, NR(zero_width), cp))
			continue;
		cols += n > 1 && is_in(wide, NR(wide), cp) ? 2 : 1;
		n += !n;
	}
	return cols;
}

/* How many bytes at s are printable ASCII other than `quote` and `also`. */
static size_t plain_run(const char *s, size_t len, char quote, char also)
{
	size_t i = 0;

	while (i < len && s[i] >= ' ' && s[i] < 0x7f && s[i] != quote && s[i] != also)
		i++;
	return i;
}

static void escape_one(struct up_buf *b, uint32_t cp)
{
	if (cp == '\n')
		up_buf_add(b, "\\n", 2);
	else if (cp == '\t')
		up_buf_add(b, "\\t", 2);
	else if (cp == 0x1b)
		up_buf_add(b, "\\e", 2);
	else if (cp < 0x80)
		up_buf_printf(b, "\\x%02x", (unsigned)cp);
	else
		up_buf_printf(b, "\\u{%04x}", (unsigned)cp);
}

void up_text_escape(struct up_buf *b, const char *s, size_t len, char quote)
{
	for (size_t i = 0; i < len;) {
		size_t run = plain_run(s + i, len - i, quote ? quote : '\n', quote ? '\\' : '\n');
		uint32_t cp;

		up_buf_add(b, s + i, run);
		i += run;
		if (i == len)
			break;
		size_t n = up_utf8_decode(s + i, len - i, &cp);
		if (!n)
			up_buf_printf(b, "\\x%02x", (unsigned char)s[i]);
		else if (is_in(steering, NR(steering), cp))
			escape_one(b, cp);
		else if (n == 1)
			up_buf_printf(b, "\\%c", s[i]);
		else
			up_buf_add(b, s + i, n);
		i += n + !n;
	}
}

/* Which bytes of a text are shown when it is longer than `most`: [0, head) and [tail, len). */
struct cut {
	size_t head, tail;
};

/* Moves to where a character begins, at most three bytes on. */
static size_t next_character(const char *s, size_t len, size_t at)
{
	for (int i = 0; i < 3 && at < len && ((unsigned char)s[at] & 0xc0) == 0x80; i++)
		at++;
	return at;
}

static struct cut find_cut(const char *s, size_t len, size_t most)
{
	size_t tail = most / 3;

	if (len <= most)
		return (struct cut){ len, len };
	return (struct cut){ next_character(s, len, most - tail),
			     next_character(s, len, len - tail) };
}

static void add_word(struct up_buf *b, const char *s, size_t len)
{
	struct cut c = find_cut(s, len, MESSAGE_WORD);

	up_text_escape(b, s, c.head, 0);
	if (c.head < c.tail)
		up_buf_puts(b, "...");
	up_text_escape(b, s + c.tail, len - c.tail, 0);
}

static void add_words(struct up_buf *b, const char *s, size_t len)
{
	while (len) {
		const char *blank = memchr(s, ' ', len);
		size_t word = blank ? (size_t)(blank - s) : len;

		add_word(b, s, word);
		if (blank)
			up_buf_putc(b, ' ');
		word += blank != NULL;
		s += word;
		len -= word;
	}
}

void up_text_message(struct up_buf *b, const char *s, size_t len)
{
	struct cut c = find_cut(s, len, MESSAGE_TEXT);

	add_words(b, s, c.head);
	if (c.head < c.tail)
		up_buf_puts(b, " ... ");
	add_words(b, s + c.tail, len - c.tail);
}

/* Up to `most` digits at s; returns how many there are. */
static size_t read_digits(const char *s, size_t len, unsigned base, size_t most, uint32_t *v)
{
	size_t nr = 0;

	for (*v = 0; nr < most && nr < len && up_digit_value(s[nr]) < base; nr++)
		*v = *v * base + up_digit_value(s[nr]);
	return nr;
}

/* {1f600} behind the u; returns how many bytes were read, good or not. */
static size_t unescape_unicode(const char *s, size_t len, char out[4], size_t *nr)
{
	uint32_t cp;

	if (!len || *s != '{')
		return 0;
	size_t digits = read_digits(s + 1, len - 1, 16, 6, &cp);
	if (!digits || digits + 1 == len || s[digits + 1] != '}')
		return digits + 1;
	*nr = up_utf8_encode(cp, out);
	return digits + 2;
}

size_t up_text_unescape(const char *s, size_t len, char out[4], size_t *nr, const char **wrong)
{
	static const char from[] = "ntre\\\"'?abfv", to[] = "\n\t\r\033\\\"'?\a\b\f\v";
	const char *at = *s ? strchr(from, *s) : NULL;
	uint32_t v = 0;
	size_t used = 1;

	*nr = 1;
	*wrong = NULL;
	if (at) {
		out[0] = to[at - from];
	} else if (*s == 'x') {
		used += read_digits(s + 1, len - 1, 16, 2, &v);
		if (used == 1)
			*wrong = "needs two hexadecimal digits";
		out[0] = (char)v;
	} else if (*s == 'u') {
		*nr = 0;
		used += unescape_unicode(s + 1, len - 1, out, nr);
		if (!*nr)
			*wrong = "is not a character; write \\u{...} with its hexadecimal number";
	} else if (*s >= '0' && *s <= '7') {
		used = read_digits(s, len, 8, 3, &v);
		if (v > 255)
			*wrong = "is not a byte";
		out[0] = (char)v;
	} else {
		*wrong = "is not an escape";
		while (used < len && ((unsigned char)s[used] & 0xc0) == 0x80)
			used++;
	}
	if (*wrong)
		*nr = 0;
	return used;
}

static void json_one(struct up_buf *b, uint32_t cp)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *at = cp && cp < 0x80 ? strchr(from, (int)cp) : NULL;

	if (at) {
		char pair[2] = { '\\', to[at - from] };
		up_buf_add(b, pair, 2);
	} else if (cp < 0x10000) {
		up_buf_printf(b, "\\u%04x", (unsigned)cp);
	} else {
		unsigned v = (unsigned)cp - 0x10000;
		up_buf_printf(b, "\\u%04x\\u%04x", 0xd800 + (v >> 10), 0xdc00 + (v & 0x3ff));
	}
}

void up_text_json(struct up_buf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t run = plain_run(s + i, len - i, '"', '\\');
		uint32_t cp;

		up_buf_add(b, s + i, run);
		i += run;
		if (i == len)
			break;
		size_t n = up_utf8_decode(s + i, len - i, &cp);
		if (!n)
			up_buf_add(b, "\xef\xbf\xbd", 3);
		else if (n == 1 || is_in(steering, NR(steering), cp))
			json_one(b, cp);
		else
			up_buf_add(b, s + i, n);
		i += n + !n;
	}
}

/* ---- glob ---- */

struct glob {
	const char *p;   /* the pattern */
	size_t len;      /* its bytes */
	size_t unclosed; /* a '[' at or after this offset is never closed, so it is a plain one */
};

/*
 * The character at s[i]; advances i. A byte that is not UTF-8 becomes a value outside Unicode, so
 * that it matches itself and nothing else.
 */
static uint32_t next_char(const char *s, size_t len, size_t *i)
{
	uint32_t cp;
	size_t n = up_utf8_decode(s + *i, len - *i, &cp);

	if (!n) {
		cp = 0x80000000u | (unsigned char)s[*i];
		n = 1;
	}
	*i += n;
	return cp;
}

/* One pattern character, with its backslash taken off; a lone backslash at the end is itself. */
static uint32_t literal_char(const struct glob *g, size_t *i)
{
	if (g->p[*i] == '\\' && *i + 1 < g->len)
		++*i;
	return next_char(g->p, g->len, i);
}

/*
 * Judges c by the class whose '[' is at *i: 1 or 0, and *i goes behind its ']'. Returns -1 when
 * the class is never closed; then no later '[' is either, which is remembered.
 */
static int match_class(struct glob *g, size_t *i, uint32_t c)
{
	size_t at = *i + 1;
	bool in = false;

	if (*i >= g->unclosed)
		return -1;
	bool negate = at < g->len && (g->p[at] == '!' || g->p[at] == '^');
	at += negate;
	for (size_t first = at; at < g->len;) {
		if (g->p[at] == ']' && at > first) {
			*i = at + 1;
			return in != negate;
		}
		uint32_t lo = literal_char(g, &at), hi = lo;
		if (at + 1 < g->len && g->p[at] == '-' && g->p[at + 1] != ']') {
			at++;
			hi = literal_char(g, &at);
		}
		in |= c >= lo && c <= hi;
	}
	g->unclosed = *i;
	return -1;
}

/* Does the pattern element at *i (not a star) match c? Advances *i behind it. */
static bool match_one(struct glob *g, size_t *i, uint32_t c)
{
	if (g->p[*i] == '?') {
		++*i;
		return true;
	}
	if (g->p[*i] == '[') {
		int judged = match_class(g, i, c);

		if (judged >= 0)
			return judged;
	}
	return literal_char(g, i) == c;
}

/* Going back to the latest star suffices: an earlier one cannot match more. */
bool up_glob_match(const char *pat, size_t pat_len, const char *s, size_t s_len)
{
	struct glob g = { pat, pat_len, pat_len };
	size_t i = 0, j = 0, star = SIZE_MAX, resume = 0;

	while (j < s_len) {
		if (i < pat_len && pat[i] == '*') {
			star = ++i;
			resume = j;
			continue;
		}
		size_t next = j;
		uint32_t c = next_char(s, s_len, &next);
		if (i < pat_len && match_one(&g, &i, c)) {
			j = next;
		} else if (star != SIZE_MAX) {
			next_char(s, s_len, &resume);
			j = resume;
			i = star;
		} else {
			return false;
		}
	}
	while (i < pat_len && pat[i] == '*')
		i++;
	return i == pat_len;
}

bool up_is_glob(const char *s, size_t len)
{
	struct glob g = { s, len, len };

	for (size_t i = 0; i < len;) {
		size_t at = i;

		if (s[i] == '*' || s[i] == '?' || (s[i] == '[' && match_class(&g, &at, 0) >= 0))
			return true;
		literal_char(&g, &i);
	}
	return false;
}

/* ---- nearest names ---- */

#define NAME_CAP sizeof(((struct up_nearest *)0)->best[0].name)
#define TOO_FAR UINT_MAX

/* What one inserted, left out, wrong or swapped character costs; a difference in case costs 1. */
#define EDIT 4

void up_nearest_init(struct up_nearest *n, const char *want, size_t len)
{
	*n = (struct up_nearest){ .want = want, .want_len = len };
}

/* The largest score that is still near: one edit in short names, more in longer ones. */
static unsigned near_enough(const struct up_nearest *n)
{
	size_t edits = n->want_len < 2 ? 0 : n->want_len < 6 ? 1 : n->want_len / 3;
	unsigned limit = edits ? EDIT * (unsigned)(edits > 4 ? 4 : edits) : 1;

	if (n->nr == NR(n->best) && n->best[n->nr - 1].score < limit)
		limit = n->best[n->nr - 1].score + 1;
	return limit;
}

/* A name in lower case, with the set of its characters folded to 64 bits. */
struct folded {
	const char *raw;  /* the name as it is */
	char s[NAME_CAP]; /* its bytes in lower case */
	size_t len;       /* how many */
	uint64_t set;     /* bit (byte & 63) for each */
};

static void fold(struct folded *f, const char *s, size_t len)
{
	f->raw = s;
	f->len = len;
	f->set = 0;
	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		c += c >= 'A' && c <= 'Z' ? 'a' - 'A' : 0;
		f->s[i] = c;
		f->set |= (uint64_t)1 << (c & 63);
	}
}

/* A lower bound of the edits between two names, from their lengths and characters alone. */
static size_t fewest_edits(const struct folded *a, const struct folded *b)
{
	size_t by_len = a->len > b->len ? a->len - b->len : b->len - a->len;
	size_t only_a = (size_t)__builtin_popcountll(a->set & ~b->set);
	size_t only_b = (size_t)__builtin_popcountll(b->set & ~a->set);
	size_t by_set = only_a > only_b ? only_a : only_b;

	return by_len > by_set ? by_len : by_set;
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Fills d[j] for one row of the table; d1 and d2 are the rows above. Returns the smallest. */
static unsigned fill_row(unsigned *d, const unsigned *d1, const unsigned *d2,
			 const struct folded *a, const struct folded *b, size_t i, size_t lo,
			 size_t hi)
{
	unsigned least = UINT_MAX;

	for (size_t j = lo; j <= hi; j++) {
		bool same = a->s[i - 1] == b->s[j - 1];
		unsigned cost = d1[j - 1] + (!same ? EDIT : a->raw[i - 1] != b->raw[j - 1]);

		cost = smaller(cost, smaller(d1[j], d[j - 1]) + EDIT);
		if (i > 1 && j > 1 && a->s[i - 1] == b->s[j - 2] && a->s[i - 2] == b->s[j - 1])
			cost = smaller(cost, d2[j - 2] + EDIT);
		d[j] = cost;
		least = smaller(least, cost);
	}
	return least;
}

/*
 * The Damerau-Levenshtein distance (no part edited twice) in units of EDIT, or something above
 * `limit`. Only the band around the diagonal that can stay within the limit is computed.
 */
static unsigned distance(const struct folded *a, const struct folded *b, unsigned limit)
{
	const unsigned far = limit + EDIT;
	const size_t band = limit / EDIT;
	unsigned rows[3][NAME_CAP + 1], *d2 = rows[0], *d1 = rows[1], *d = rows[2];
	unsigned least1 = 0;

	for (size_t j = 0; j <= b->len; j++) {
		d1[j] = j <= band ? EDIT * (unsigned)j : far;
		d2[j] = d[j] = far;
	}
	for (size_t i = 1; i <= a->len; i++) {
		size_t lo = i > band ? i - band : 1;
		size_t hi = i + band < b->len ? i + band : b->len;

		d[lo - 1] = lo == 1 && i <= band ? EDIT * (unsigned)i : far;
		unsigned least = smaller(d[lo - 1], fill_row(d, d1, d2, a, b, i, lo, hi));
		if (hi < b->len)
			d[hi + 1] = far;
		if (least > limit && least1 > limit)
			return far;
		least1 = least;
		unsigned *reuse = d2;
		d2 = d1;
		d1 = d;
		d = reuse;
	}
	return d1[b->len];
}

static bool starts_with(const struct folded *a, const struct folded *start)
{
	return a->len >= start->len && !memcmp(a->s, start->s, start->len);
}

static bool contains(const struct folded *a, const struct folded *part)
{
	const char *at = a->s, *last = a->s + a->len - part->len;

	while (at <= last && (at = memchr(at, part->s[0], (size_t)(last - at) + 1))) {
		if (!memcmp(at, part->s, part->len))
			return true;
		at++;
	}
	return false;
}

/* The score of a name that contains what is wanted or is most of it; TOO_FAR when neither. */
static unsigned containment(const struct folded *want, const struct folded *name)
{
	bool longer = name->len > want->len;
	const struct folded *outer = longer ? name : want, *inner = longer ? want : name;

	if (inner->len < 3 || outer->len > inner->len * (longer ? 4 : 2))
		return TOO_FAR;
	unsigned score = 2 + (unsigned)(outer->len - inner->len) / 2;
	if (starts_with(outer, inner))
		return score;
	return contains(outer, inner) ? score + 2 : TOO_FAR;
}

/* Order of candidates: by score, then by name, so that the order of offering does not matter. */
static bool is_before(unsigned score, const char *name, unsigned score2, const char *name2)
{
	return score != score2 ? score < score2 : strcmp(name, name2) < 0;
}

static void keep(struct up_nearest *n, const char *name, size_t len, unsigned score)
{
	char copy[NAME_CAP] = { 0 };
	size_t at = n->nr;

	memcpy(copy, name, len);
	for (size_t i = 0; i < n->nr; i++)
		if (!strcmp(n->best[i].name, copy))
			return;
	while (at && is_before(score, copy, n->best[at - 1].score, n->best[at - 1].name))
		at--;
	if (at == NR(n->best))
		return;
	n->nr += n->nr < NR(n->best);
	for (size_t i = n->nr - 1; i > at; i--)
		n->best[i] = n->best[i - 1];
	memcpy(n->best[at].name, copy, sizeof(copy));
	n->best[at].score = score;
}

void up_nearest_offer(struct up_nearest *n, const char *name, size_t len)
{
	struct folded want, cand;
	unsigned score = TOO_FAR;

	if (!n->want_len || n->want_len >= NAME_CAP || !len || len >= NAME_CAP ||
	    memchr(name, 0, len))
		return;
	if (len == n->want_len && !memcmp(name, n->want, len))
		return;
	fold(&want, n->want, n->want_len);
	fold(&cand, name, len);
	unsigned limit = near_enough(n);
	if (fewest_edits(&want, &cand) * EDIT <= limit) {
		unsigned d = distance(&want, &cand, limit);

		if (d <= limit)
			score = d - (want.s[0] == cand.s[0]);
	}
	score = smaller(score, containment(&want, &cand));
	if (score != TOO_FAR)
		keep(n, name, len, score);
}

/* Shows only what is nearly as near as the best. */
bool up_nearest_list(const struct up_nearest *n, struct up_buf *b)
{
	unsigned nr = n->nr;

	while (nr && n->best[nr - 1].score > n->best[0].score + EDIT)
		nr--;
	for (unsigned i = 0; i < nr; i++) {
		const char *name = n->best[i].name;

		up_buf_puts(b, i == 0 ? "`" : i + 1 == nr ? " or `" : ", `");
		up_text_escape(b, name, strlen(name), 0);
		up_buf_putc(b, '`');
	}
	return nr > 0;
}
