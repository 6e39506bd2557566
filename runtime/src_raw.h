/*
 * The binary source: per_cpu/cpuN/trace_pipe_raw of one tracing instance, for every CPU that has
 * one. Reads whole sub-buffers into the queues of a page set, which a merge puts in order. Knows
 * nothing of events, and changes nothing in the instance.
 *
 * A round of its user, after epoll_wait on `epfd`:
 *     limit = up_src_raw_watermark(s);
 *     do {
 *             up_src_raw_drain(s);
 *             while (up_merge_next(&m, limit, &ev)) ...
 *     } while (up_merge_waiting(&m));
 * While up_merge_pending(&m), which is so when the latest events are later than the limit, the next
 * round must come without epoll_wait. At the end, with the events disabled, one round has a limit
 * of UINT64_MAX. Unordered there is no watermark, and the loop goes on while s->held_back (at the
 * end: while drain() reads something).
 *
 * Open it after the last fork of a child: when a child closes its copy of such a descriptor, read()
 * gives 0 for ever instead of EAGAIN (which drain takes for the same).
 */
#ifndef UP_SRC_RAW_H
#define UP_SRC_RAW_H

#include "runtime/pageset.h"
#include "runtime/quiesce.h"

/* The file of one CPU; its index is that of its queue in `pages`. */
struct up_raw_cpu {
	int fd;            /* trace_pipe_raw, not blocking */
	uint64_t lost;     /* events lost, as far as pages gave numbers */
	uint64_t dropped;  /* the same by the kernel's counters, when they were last read */
	bool lost_unknown; /* some were lost without a number */
	bool done;         /* of this drain: nothing left that must be read now */
	unsigned small;    /* of this drain: pages one after the other that are half full at most */
};

struct up_src_raw {
	struct up_pageset pages; /* what was read */
	struct up_raw_cpu *cpu;  /* pages.nr_q of them */
	int epfd;                /* epoll on all files; readable when there is something to drain */
	char *dir;               /* of the instance */
	unsigned commit_size;    /* of the kernel's pages: 4 or 8 */
	uint64_t watermark;      /* the latest one, 0 before the first */
	struct up_quiesce quiesce; /* how it is proven */
	bool unproven;             /* the latest watermark could not be proven */
	bool held_back;    /* the latest drain stopped because all page buffers were in use */
	uint64_t lost;     /* of all CPUs */
	bool lost_unknown; /* of any CPU */
	uint64_t nr_gaps;  /* pages that said that events were lost before them */
	uint64_t nr_pages; /* read so far */
	char *failed;      /* the file of the latest error, or NULL */
};

/*
 * subbuf_size: bytes of the instance's sub-buffers; commit_size: see up_ringpage_layout();
 * max_bytes bounds the pages held at a time. Returns 0 or -errno; after an error only s->failed is
 * of use, and up_src_raw_close() is needed all the same.
 */
int up_src_raw_open(struct up_src_raw *s, const char *instance_dir, size_t subbuf_size,
		    unsigned commit_size, size_t max_bytes);
void up_src_raw_close(struct up_src_raw *s);

/*
 * A time on CLOCK_MONOTONIC such that every event stamped (by the clock `mono`) up to it can be
 * read by a drain that starts now. Takes 0.2 ms on two CPUs; see quiesce.c. Where that cannot be
 * proven, it is some time back and s->unproven is set.
 */
uint64_t up_src_raw_watermark(struct up_src_raw *s);

/*
 * Reads what there is, a page of each CPU in turn, until a CPU is empty, or is past the watermark
 * and down to the page being written, or there is no page buffer left. Returns the number of pages,
 * or -errno when nothing could be read because of an error (s->failed names the file).
 */
int up_src_raw_drain(struct up_src_raw *s);

/* The kernel's own counts, summed over the CPUs. */
struct up_src_raw_stats {
	uint64_t entries;        /* still in the buffers */
	uint64_t overrun;        /* overwritten before they were read */
	uint64_t commit_overrun; /* dropped: an interrupt filled the buffer during a write */
	uint64_t dropped;        /* dropped: the buffer was full and is not overwritten */
	uint64_t read;           /* handed to us */
};

/* Also sets what each CPU has dropped. 0 or -errno (s->failed names the file). */
int up_src_raw_stats(struct up_src_raw *s, struct up_src_raw_stats *sum);

/*
 * Events lost on the CPU of queue i: what pages said, or what the kernel's counters did, which know
 * of those on which no page follows.
 */
static inline uint64_t up_src_raw_lost(const struct up_src_raw *s, unsigned i)
{
	return s->cpu[i].lost > s->cpu[i].dropped ? s->cpu[i].lost : s->cpu[i].dropped;
}

#endif
