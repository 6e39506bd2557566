/*
 * Growing text buffer on the heap, for output of any length. An allocation failure is
 * remembered in `failed` and later writes do nothing, so callers check once at the end.
 */
#ifndef UP_BASE_BUF_H
#define UP_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct up_buf {
	char *s;     /* the bytes, NUL-terminated whenever non-NULL */
	size_t len;  /* bytes used, the NUL not counted */
	size_t cap;  /* bytes allocated */
	bool failed; /* an allocation failed: the text is incomplete */
};

void up_buf_fini(struct up_buf *b);
/* Empties it and keeps the memory. */
void up_buf_reset(struct up_buf *b);
/* Makes room for `more` bytes and returns where they go, or NULL; the caller then adds to len. */
char *up_buf_room(struct up_buf *b, size_t more);
void up_buf_add(struct up_buf *b, const void *s, size_t len);
void up_buf_puts(struct up_buf *b, const char *s);
void up_buf_putc(struct up_buf *b, char c);
void up_buf_printf(struct up_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void up_buf_vprintf(struct up_buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* `n` copies of `c`. */
void up_buf_fill(struct up_buf *b, char c, size_t n);

#endif
