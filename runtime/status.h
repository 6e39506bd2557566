/*
 * Status of a system operation: what was being done, to which file, why it failed, what to do.
 * Filled in below, rendered once at the edge. Owns no memory, prints nothing.
 */
#ifndef UP_STATUS_H
#define UP_STATUS_H

#include <stdbool.h>

#include "lang/base/buf.h"
#include "lang/source.h"

/* The kernel's ENOTSUPP (include/linux/errno.h), which libc does not know. */
#define UP_KERNEL_ENOTSUPP 524

struct up_status {
	int err;             /* -errno of the failure; 0 while there is none */
	char what[320];      /* what failed, no full stop: "cannot create the tracing instance" */
	char path[320];      /* the file concerned, "" when there is none */
	char reason[256];    /* shown instead of the text of err, when not "" */
	char hint[320];      /* what to do, a sentence without full stop; "" for none */
	bool has_span;       /* did a piece of the script cause it? */
	struct up_span span; /* that piece */
};

/*
 * All of these accept a NULL status and then do nothing. Texts too long for their field are cut.
 */

/*
 * Records a failure, unless one is recorded already: the first one is the cause. `path` may be
 * NULL. Returns err, so that a caller can say `return up_status_set(...)`.
 */
int up_status_set(struct up_status *st, int err, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Forgets the failure, before another try. */
void up_status_clear(struct up_status *st);

/* Puts "FMT: " before what failed: the wider task it was part of. */
void up_status_wrap(struct up_status *st, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Replaces the text of the error number, or the hint. */
void up_status_reason(struct up_status *st, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void up_status_hint(struct up_status *st, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Names the piece of the script that caused it. */
void up_status_span(struct up_status *st, struct up_span span);

/* Text of -errno, also of numbers that only the kernel knows. */
const char *up_status_strerror(int err);

/* Appends "WHAT PATH: REASON. HINT." without a newline; nothing when there is no failure. */
void up_status_render(const struct up_status *st, struct up_buf *b);

#endif
