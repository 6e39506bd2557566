/*
 * Source texts and places in them. Owns copies of the texts; never opens a file.
 */
#ifndef UP_SOURCE_H
#define UP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/base/arena.h"

#define UP_SOURCE_MAX (16u << 20) /* bytes in one script */

/* A range of bytes in one source. */
struct up_span {
	uint32_t off; /* first byte */
	uint32_t len; /* bytes; 0 is a place between bytes */
	uint32_t src; /* index in struct up_sources */
};

struct up_source {
	const char *name;   /* as shown: a path, "-e", "stdin" */
	const char *text;   /* the bytes, NUL-terminated; NULs inside are possible */
	uint32_t len;       /* bytes */
	uint32_t *line_off; /* offset of each line's first byte */
	uint32_t nr_lines;  /* at least 1 */
	uint32_t hidden; /* how many of them, at the start, nobody wrote: lines count from there */
	uint32_t origin; /* index of the source that this one repeats; its own when it is one */
	bool is_used;    /* it is a module, or something defined elsewhere and used at `used_at` */
	struct up_span used_at;
};

struct up_sources {
	struct up_arena *arena;        /* owner of everything here */
	UP_VEC(struct up_source) list; /* in the order added */
};

/* Adds a copy of text (len <= UP_SOURCE_MAX, or nothing is added and -1 is returned); returns its
 * index. */
int up_source_add(struct up_sources *ss, const char *name, const char *text, size_t len);

/*
 * The same text once more, as it is used at a place: what is copied from a definition to its use
 * has its spans here, so that a diagnostic can tell both. Returns the index of the new source.
 */
uint32_t up_source_derive(struct up_sources *ss, uint32_t src, struct up_span used_at);
/* Where what stands at a span is used in the end; false when it is not in something used. */
bool up_source_use(const struct up_sources *ss, struct up_span sp, struct up_span *used_at);

/*
 * Line and column of an offset, both from 1; the column counts characters (UTF-8), not bytes. What
 * stands in a hidden line is shown at the start of the first that is not.
 */
void up_source_where(const struct up_source *s, uint32_t off, unsigned *line, unsigned *col);
/* The text of a line (from 1) without its newline. */
const char *up_source_line(const struct up_source *s, unsigned line, size_t *len);
/* The text of a span (not NUL-terminated at its end). */
const char *up_source_text(const struct up_sources *ss, struct up_span sp);

/* The span from the start of a to the end of b; a when they are of different sources. */
struct up_span up_span_join(struct up_span a, struct up_span b);

#endif
