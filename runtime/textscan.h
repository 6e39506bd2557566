/* A cursor over text of known length, and the little that lines of trace text are made of. */
#ifndef UP_TEXTSCAN_H
#define UP_TEXTSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lang/base/text.h"

struct up_textscan {
	const char *p;   /* what comes next */
	const char *end; /* behind the last byte */
};

static inline bool up_textscan_char(struct up_textscan *c, char want)
{
	if (c->p == c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

static inline bool up_textscan_word(struct up_textscan *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, word, len) != 0)
		return false;
	c->p += len;
	return true;
}

/* Always true, for the sake of conditions. */
static inline bool up_textscan_blanks(struct up_textscan *c)
{
	while (c->p < c->end && *c->p == ' ')
		c->p++;
	return true;
}

/* Digits, at least one; false when they say more than max. */
static inline bool up_textscan_decimal(struct up_textscan *c, uint64_t max, uint64_t *v)
{
	const char *from = c->p;
	uint64_t n = 0;

	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
		uint64_t digit = (uint64_t)(*c->p - '0');

		if (n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*v = n;
	return c->p > from;
}

static inline bool up_textscan_hex(struct up_textscan *c, uint64_t max, uint64_t *v)
{
	const char *from = c->p;
	uint64_t n = 0;
	unsigned digit;

	for (; c->p < c->end && (digit = up_digit_value(*c->p)) < 16; c->p++) {
		if (n >> 60)
			return false;
		n = n << 4 | digit;
	}
	*v = n;
	return c->p > from && n <= max;
}

/* May it stand in the name of an event or an argument? */
static inline bool up_textscan_is_name(char ch)
{
	char lower = (char)(ch | 32);

	return (lower >= 'a' && lower <= 'z') || (ch >= '0' && ch <= '9') || ch == '_';
}

#endif
