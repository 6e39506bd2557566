/*
 * Text helpers without policy: escaping what a terminal would obey, UTF-8, glob match, nearest
 * names.
 */
#ifndef UP_BASE_TEXT_H
#define UP_BASE_TEXT_H

#include <limits.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/base/buf.h"

/*
 * Appends s[0..len) so that no byte of it can steer a terminal: control bytes, C1 controls,
 * bidirectional and zero-width controls and invalid UTF-8 become \n, \t, \e, \xNN or \u{NNNN}.
 * `quote` (0 or '"') is escaped too, and with a quote a backslash, so that what is shown has one
 * meaning.
 */
void up_text_escape(struct up_buf *b, const char *s, size_t len, char quote);

/*
 * The same for a message: of a word, or a message, that is too long to be read the middle is left
 * out, which "..." says.
 */
void up_text_message(struct up_buf *b, const char *s, size_t len);

/*
 * Reads the escape of C behind a backslash, at s (len >= 1): n t r e \\ \" ' ? a b f v, x41, 101,
 * u{1f600}. Returns how many bytes of s it takes; writes its *nr bytes to out, or sets *wrong to
 * what is wrong with it ("is not an escape"), and *nr to 0.
 */
size_t up_text_unescape(const char *s, size_t len, char out[4], size_t *nr, const char **wrong);

/* What a digit is worth, of any base up to 16; UINT_MAX of what is none. */
static inline unsigned up_digit_value(char c)
{
	char lower = (char)(c | 32);

	return c >= '0' && c <= '9'           ? (unsigned)(c - '0')
	       : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10)
					      : UINT_MAX;
}

/* Appends s as the inside of a JSON string (no quotes). Invalid UTF-8 becomes U+FFFD. */
void up_text_json(struct up_buf *b, const char *s, size_t len);

/*
 * Decodes one UTF-8 character at s (len >= 1). Returns its length and sets *cp, or 0 when the
 * bytes are not valid UTF-8 (RFC 3629).
 */
size_t up_utf8_decode(const char *s, size_t len, uint32_t *cp);
/* Encodes cp into out[4]; returns the length, 0 when cp is no scalar value. */
size_t up_utf8_encode(uint32_t cp, char out[4]);
/* Columns that s takes on a terminal (wcwidth, without locale; tab counts 1). */
size_t up_text_columns(const char *s, size_t len);

/* Shell glob (* ? [a-z] [!a-z], backslash escapes) over the whole string; linear memory, no
 * recursion blow-up. */
bool up_glob_match(const char *pat, size_t pat_len, const char *s, size_t s_len);
/* Has it any of the glob's special characters, unescaped? */
bool up_is_glob(const char *s, size_t len);

#define UP_REGEX_MAX 1024 /* bytes of a regular expression */

/*
 * Compiles a POSIX extended regular expression, unless it could take the compiler's stack, memory
 * or hours: it is not too long, groups and repeats are not nested too deeply, and there are no
 * back-references (which are not part of POSIX's extended ones). On failure `why` says why.
 */
bool up_regex_compile(regex_t *re, const char *pattern, size_t len, char why[128]);

/* The best few of the names offered, nearest first, for "did you mean". */
struct up_nearest {
	const char *want; /* what was asked for, NUL-terminated */
	size_t want_len;  /* its length */
	struct {
		char name[96];  /* a candidate, copied; longer names are not considered */
		unsigned score; /* distance; smaller is nearer */
	} best[3];
	unsigned nr; /* how many of best[] are set */
};

void up_nearest_init(struct up_nearest *n, const char *want, size_t len);
/* Offers a candidate; duplicates are ignored. Cheap for hopeless ones (length, first characters).
 */
void up_nearest_offer(struct up_nearest *n, const char *name, size_t len);
/* Appends "`a`, `b` or `c`"; appends nothing and returns false when there is none. */
bool up_nearest_list(const struct up_nearest *n, struct up_buf *b);

#endif
