/* Status of a system operation. */
#include "runtime/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/base/text.h"

int up_status_set(struct up_status *st, int err, const char *path, const char *fmt, ...)
{
	va_list ap;

	if (!st || st->err)
		return err;
	st->err = err;
	va_start(ap, fmt);
	vsnprintf(st->what, sizeof(st->what), fmt, ap);
	va_end(ap);
	snprintf(st->path, sizeof(st->path), "%s", path ? path : "");
	return err;
}

void up_status_clear(struct up_status *st)
{
	if (st)
		*st = (struct up_status){ 0 };
}

void up_status_wrap(struct up_status *st, const char *fmt, ...)
{
	char inner[sizeof(st->what)];
	va_list ap;

	if (!st || !st->err)
		return;
	memcpy(inner, st->what, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(st->what, sizeof(st->what), fmt, ap);
	va_end(ap);
	size_t len = strlen(st->what);
	snprintf(st->what + len, sizeof(st->what) - len, ": %s", inner);
}

void up_status_reason(struct up_status *st, const char *fmt, ...)
{
	va_list ap;

	if (!st)
		return;
	va_start(ap, fmt);
	vsnprintf(st->reason, sizeof(st->reason), fmt, ap);
	va_end(ap);
}

void up_status_hint(struct up_status *st, const char *fmt, ...)
{
	va_list ap;

	if (!st)
		return;
	va_start(ap, fmt);
	vsnprintf(st->hint, sizeof(st->hint), fmt, ap);
	va_end(ap);
}

void up_status_span(struct up_status *st, struct up_span span)
{
	if (!st || st->has_span)
		return;
	st->has_span = true;
	st->span = span;
}

const char *up_status_strerror(int err)
{
	if (err == -UP_KERNEL_ENOTSUPP)
		return "the kernel cannot probe an instruction there";
	return strerrordesc_np(-err) ? strerrordesc_np(-err) : "unknown error";
}

static void add_escaped(struct up_buf *b, const char *s)
{
	up_text_escape(b, s, strlen(s), 0);
}

void up_status_render(const struct up_status *st, struct up_buf *b)
{
	if (!st || !st->err)
		return;
	add_escaped(b, st->what);
	if (st->path[0]) {
		up_buf_putc(b, ' ');
		add_escaped(b, st->path);
	}
	up_buf_puts(b, ": ");
	add_escaped(b, st->reason[0] ? st->reason : up_status_strerror(st->err));
	if (st->hint[0]) {
		up_buf_puts(b, "; ");
		add_escaped(b, st->hint);
	}
	up_buf_putc(b, '.');
}
