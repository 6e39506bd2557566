/*
 * trace.dat, the file of trace-cmd(1): its head, read and written. The formats are those of
 * trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5). Knows nothing of what is in pages or in options.
 *
 * Reading trusts no byte: every size is checked before memory is taken for it.
 */
#ifndef UP_TRACEDAT_H
#define UP_TRACEDAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lang/base/arena.h"
#include "lang/base/buf.h"

#define UP_TRACEDAT_CPUS 8192u     /* processors, at most */
#define UP_TRACEDAT_MAX_CPUSTAT 2u /* the option of a CPU's statistics */

/* A file, or what stands for one. */
struct up_tracedat_io {
	void *ctx;
	/* Reads at most len bytes at `off`. How many; 0 behind the end; -errno. */
	ssize_t (*read_at)(void *ctx, void *to, size_t len, uint64_t off);
	uint64_t size; /* of the file */
};

/* Bytes, with a NUL behind them. */
struct up_tracedat_text {
	const char *s;
	size_t len;
};

/* The description of an event: events/SYSTEM/EVENT/format. */
struct up_tracedat_format {
	const char *system;
	struct up_tracedat_text text;
};

struct up_tracedat_option {
	unsigned id;
	struct up_tracedat_text data;
};

/* Where the pages of one CPU are. */
struct up_tracedat_cpu {
	unsigned cpu;  /* its number */
	uint64_t off;  /* in the file */
	uint64_t size; /* bytes that are there */
};

/* What stands in front of the pages. */
struct up_tracedat {
	unsigned version;                    /* 6 or 7 */
	uint32_t page_size;                  /* bytes of a page, a sub-buffer */
	struct up_tracedat_text header_page; /* events/header_page: how a page begins */
	struct up_tracedat_text header_event;
	UP_VEC(struct up_tracedat_format) formats;
	struct up_tracedat_text cmdlines; /* saved_cmdlines: names of threads */
	UP_VEC(struct up_tracedat_option) options;
	UP_VEC(struct up_tracedat_cpu) cpus; /* by number, each once */
	const char *clock;                   /* trace_clock, with brackets; NULL: not said */
	uint64_t head_size;                  /* bytes in front of the first page, or a few less */
	uint64_t cut;           /* bytes of pages that the file should have and lacks */
	struct up_arena *arena; /* of all that was read */
};

/*
 * Reads the head. The io must stay for reading pages. 0, -errno of reading, -ENOMEM, or -EPROTO
 * with *why: "it is no trace.dat file". up_tracedat_fini() is needed in any case.
 */
int up_tracedat_read(struct up_tracedat *d, const struct up_tracedat_io *io, struct up_buf *why);
void up_tracedat_fini(struct up_tracedat *d);

/* The option of that id, or NULL. */
const struct up_tracedat_option *up_tracedat_find(const struct up_tracedat *d, unsigned id);

/*
 * Appends the head of a file of version 6, and sets where the pages of each CPU go (cpus[].off), in
 * this order, so that none comes before `reserve`. cpus[].size says how many bytes there are.
 */
void up_tracedat_put(struct up_tracedat *d, uint64_t reserve, struct up_buf *out);

/* The text of events/header_page for such pages. */
void up_tracedat_header_page(unsigned commit_size, size_t page_size, struct up_buf *out);

#endif
