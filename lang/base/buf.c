/* Growing text buffer. */
#include "lang/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void up_buf_fini(struct up_buf *b)
{
	free(b->s);
	*b = (struct up_buf){ 0 };
}

void up_buf_reset(struct up_buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->s)
		b->s[0] = 0;
}

char *up_buf_room(struct up_buf *b, size_t more)
{
	if (b->failed)
		return NULL;
	if (b->cap - b->len <= more) {
		size_t cap = b->cap ? b->cap : 256;

		while (cap - b->len <= more && cap < (size_t)1 << 40)
			cap *= 2;
		char *s = cap - b->len > more ? realloc(b->s, cap) : NULL;
		if (!s) {
			b->failed = true;
			return NULL;
		}
		b->s = s;
		b->cap = cap;
	}
	return b->s + b->len;
}

void up_buf_add(struct up_buf *b, const void *s, size_t len)
{
	char *to = up_buf_room(b, len);

	if (!to)
		return;
	if (len)
		memcpy(to, s, len);
	b->len += len;
	b->s[b->len] = 0;
}

void up_buf_puts(struct up_buf *b, const char *s)
{
	up_buf_add(b, s, strlen(s));
}

void up_buf_putc(struct up_buf *b, char c)
{
	up_buf_add(b, &c, 1);
}

void up_buf_fill(struct up_buf *b, char c, size_t n)
{
	char *to = up_buf_room(b, n);

	if (!to)
		return;
	memset(to, c, n);
	b->len += n;
	b->s[b->len] = 0;
}

void up_buf_vprintf(struct up_buf *b, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	char *to = len < 0 ? NULL : up_buf_room(b, (size_t)len);
	if (!to) {
		b->failed = true;
		return;
	}
	vsnprintf(to, (size_t)len + 1, fmt, ap);
	b->len += (size_t)len;
}

void up_buf_printf(struct up_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	up_buf_vprintf(b, fmt, ap);
	va_end(ap);
}
