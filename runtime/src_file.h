/*
 * The source of a recording: the pages of each CPU, from a file, into the queues of a page set,
 * which a merge puts in order. Knows nothing of events, nor of what else is in the file.
 *
 * Its user hands out events with a limit of UINT64_MAX, and drains while up_merge_waiting().
 */
#ifndef UP_SRC_FILE_H
#define UP_SRC_FILE_H

#include "runtime/pageset.h"
#include "runtime/tracedat.h"

/* The pages of one CPU; its index is that of its queue in `pages`. */
struct up_src_file_cpu {
	const struct up_tracedat_io *io; /* where they are */
	uint64_t at, end;                /* what has not been read of it */
	uint64_t lost;                   /* events lost, as far as the pages give numbers */
	bool lost_unknown;               /* some were lost without a number */
};

struct up_src_file {
	struct up_pageset pages; /* what was read */
	struct up_src_file_cpu *cpu;
	unsigned commit_size; /* of the pages: 4 or 8 */
	uint64_t lost;        /* of all CPUs */
	bool lost_unknown;    /* of any */
	uint64_t cut;         /* bytes behind the last whole page of a CPU */
	uint64_t nr_pages;    /* read so far */
};

/*
 * `parts` has a row for each CPU, by number: where its pages are. max_bytes bounds the pages held
 * at a time. 0 or -errno; up_src_file_close() is needed in any case. Files must stay open.
 */
struct up_src_file_part {
	unsigned cpu;
	const struct up_tracedat_io *io;
	uint64_t off, size;
};
int up_src_file_open(struct up_src_file *s, const struct up_src_file_part *parts, unsigned nr,
		     size_t page_size, unsigned commit_size, size_t max_bytes);
void up_src_file_close(struct up_src_file *s);

/* Reads, a page of each CPU in turn, until no page buffer is left. How many pages, or -errno. */
int up_src_file_drain(struct up_src_file *s);

/* An io of a descriptor, which `fd` points to. */
ssize_t up_src_file_read_at(void *fd, void *to, size_t len, uint64_t off);

#endif
