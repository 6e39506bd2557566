/* Small pieces of output. */
#include "runtime/out_put.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/base/text.h"
#include "lang/number.h"

#define NS_PER_S 1000000000

const char *up_put_digits(char buf[UP_PUT_DIGITS], uint64_t u, unsigned base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char *at = buf + UP_PUT_DIGITS - 1;

	*at = 0;
	do
		*--at = digits[u % base];
	while (u /= base);
	return at;
}

void up_put_dec(struct up_buf *b, uint64_t u, bool is_signed)
{
	char digits[UP_PUT_DIGITS];

	if (is_signed && (int64_t)u < 0) {
		up_buf_putc(b, '-');
		u = 0 - u;
	}
	up_buf_puts(b, up_put_digits(digits, u, 10, false));
}

void up_put_wide(struct up_buf *b, const struct up_wide *w)
{
	__extension__ typedef unsigned __int128 wide;
	wide u = (wide)up_wide_number(*w);
	char text[48], *at = text + sizeof(text) - 1;

	u = w->hi < 0 ? 0 - u : u;
	*at = 0;
	do
		*--at = (char)('0' + (char)(u % 10));
	while (u /= 10);
	if (w->hi < 0)
		*--at = '-';
	up_buf_puts(b, at);
}

void up_put_hex(struct up_buf *b, struct up_type t, uint64_t u)
{
	char digits[UP_PUT_DIGITS];

	if (t.bits && t.bits < 64)
		u &= ((uint64_t)1 << t.bits) - 1;
	up_buf_add(b, "0x", 2);
	up_buf_puts(b, up_put_digits(digits, u, 16, false));
}

static bool put_unusual(struct up_buf *b, double f)
{
	if (isfinite(f))
		return false;
	up_buf_puts(b, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
	return true;
}

void up_put_float(struct up_buf *b, double f, unsigned bits)
{
	bool is_single = bits == 32;
	/* So many digits always come back; only the tiniest numbers need fewer. */
	int digits = is_single ? 6 : 15, most = is_single ? 9 : 17;
	char text[32];

	if (put_unusual(b, f))
		return;
	if (fabs(f) < (is_single ? (double)FLT_MIN : DBL_MIN))
		digits = 1;
	for (; digits <= most; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, f);
		if (is_single ? strtof(text, NULL) == (float)f : strtod(text, NULL) == f)
			break;
	}
	up_buf_puts(b, text);
}

void up_put_bytes(struct up_buf *b, const char *s, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *to = len ? up_buf_room(b, 2 * len) : NULL;

	if (!to)
		return;
	for (size_t i = 0; i < len; i++) {
		*to++ = digits[(unsigned char)s[i] >> 4];
		*to++ = digits[(unsigned char)s[i] & 15];
	}
	b->len += 2 * len;
	*to = 0;
}

void up_put_float_short(struct up_buf *b, double f)
{
	int digits = 6;

	if (put_unusual(b, f))
		return;
	for (double limit = 1e6; fabs(f) >= limit && digits < 16; limit *= 10)
		digits++;
	up_buf_printf(b, "%.*g", digits, f);
}

/* The low `nr` decimal digits of u, with leading zeros. */
static void put_fixed(struct up_buf *b, uint64_t u, size_t nr)
{
	char text[20];

	for (size_t i = nr; i--; u /= 10)
		text[i] = (char)('0' + u % 10);
	up_buf_add(b, text, nr);
}

void up_put_clock(struct up_buf *b, const struct up_out *o, uint64_t time)
{
	uint64_t wall = time + (uint64_t)o->wall_offset;
	time_t s = (time_t)(wall / NS_PER_S);
	struct tm tm;

	if (!o->wall_offset || !localtime_r(&s, &tm)) {
		up_put_dec(b, time / NS_PER_S, false);
		wall = time;
	} else {
		put_fixed(b, (uint64_t)tm.tm_hour, 2);
		up_buf_putc(b, ':');
		put_fixed(b, (uint64_t)tm.tm_min, 2);
		up_buf_putc(b, ':');
		put_fixed(b, (uint64_t)tm.tm_sec, 2);
	}
	up_buf_putc(b, '.');
	put_fixed(b, wall % NS_PER_S / 1000, 6);
}

void up_put_utc(struct up_buf *b, const struct up_out *o, uint64_t time)
{
	uint64_t wall = time + (uint64_t)o->wall_offset;
	time_t s = (time_t)(wall / NS_PER_S);
	struct tm tm = { 0 };

	gmtime_r(&s, &tm);
	const struct {
		int n;     /* the number */
		char stop; /* what follows it */
	} parts[] = { { tm.tm_mon + 1, '-' },
		      { tm.tm_mday, 'T' },
		      { tm.tm_hour, ':' },
		      { tm.tm_min, ':' },
		      { tm.tm_sec, '.' } };
	put_fixed(b, (uint64_t)tm.tm_year + 1900, 4);
	up_buf_putc(b, '-');
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		put_fixed(b, (uint64_t)parts[i].n, 2);
		up_buf_putc(b, parts[i].stop);
	}
	put_fixed(b, wall % NS_PER_S, 9);
	up_buf_putc(b, 'Z');
}

void up_put_escaped(struct up_buf *b, const char *s)
{
	up_text_escape(b, s, strlen(s), 0);
}

void up_put_padded(struct up_buf *b, const struct up_buf *text, size_t width, bool to_right)
{
	size_t columns = text->len ? up_text_columns(text->s, text->len) : 0;
	size_t pad = columns < width ? width - columns : 0;

	if (to_right)
		up_buf_fill(b, ' ', pad);
	up_buf_add(b, text->s, text->len);
	if (!to_right)
		up_buf_fill(b, ' ', pad);
	b->failed |= text->failed;
}
