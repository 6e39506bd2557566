/* Reading trace.dat: what its two versions share. */
#ifndef UP_TRACEDAT_INT_H
#define UP_TRACEDAT_INT_H

#include "runtime/tracedat.h"

#define UP_TRACEDAT_MAGIC "\x17\x08\x44tracing"
#define UP_TRACEDAT_MAX_TEXT (32u << 20)  /* bytes of one piece */
#define UP_TRACEDAT_MAX_HEAD (128u << 20) /* and of all that are kept */
#define UP_TRACEDAT_MAX_PARTS 65536u      /* formats, options */

enum {
	UP_TRACEDAT_DONE = 0,
	UP_TRACEDAT_BUFFER = 3,
	UP_TRACEDAT_CLOCK = 4,
	UP_TRACEDAT_CPUCOUNT = 8,
	UP_TRACEDAT_HEADER_INFO = 16,
	UP_TRACEDAT_FORMATS = 18,
	UP_TRACEDAT_CMDLINES = 21
};

/*
 * Reads numbers and texts one after the other. After the first failure everything reads as 0, so
 * that who reads asks once, where it matters: `err`.
 */
struct up_tracedat_cursor {
	struct up_tracedat *d;
	const struct up_tracedat_io *io;
	const unsigned char *mem; /* what is read lies in memory: at `mem`, not in the file */
	uint64_t at, end;         /* the next byte; where it ends */
	const char *part;         /* what is being read, for a message */
	struct up_buf *why;
	uint64_t kept; /* bytes taken from memory so far */
	int err;
};

/* Fails, unless it has before. */
void up_tracedat_fail(struct up_tracedat_cursor *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A number of 1, 2, 4 or 8 bytes. */
uint64_t up_tracedat_number(struct up_tracedat_cursor *c, unsigned bytes);
/* `len` bytes, kept as long as the head. */
struct up_tracedat_text up_tracedat_bytes(struct up_tracedat_cursor *c, uint64_t len);
/* Bytes up to a NUL, at most 255. */
const char *up_tracedat_string(struct up_tracedat_cursor *c);
void up_tracedat_skip(struct up_tracedat_cursor *c, uint64_t len);
/* These very bytes. */
void up_tracedat_expect(struct up_tracedat_cursor *c, const char *bytes, size_t len);

/* Parts that are alike in both versions. */
void up_tracedat_take_headers(struct up_tracedat_cursor *c);
void up_tracedat_take_formats(struct up_tracedat_cursor *c);
void up_tracedat_add_cpu(struct up_tracedat_cursor *c, uint64_t cpu, uint64_t off, uint64_t size);

/* The rest of a file of version 7, behind the page size. */
void up_tracedat_take_v7(struct up_tracedat_cursor *c);

#endif
