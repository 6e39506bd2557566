/*
 * One sub-buffer page of the kernel's ring buffer, as read() of trace_pipe_raw gives it: its
 * header, and a walk over its events. Knows nothing of files, of CPUs or of what a payload means,
 * and trusts no byte: the walk ends after at most size/4 steps and never leaves the page.
 *
 * Layout (events/header_page, events/header_event; kernel/trace/ring_buffer.c): u64 time of the
 * first event; a `long` named commit: bytes of data, with two flags for lost events; the data.
 * Every event begins with a u32: 5 bits of type or length, 27 bits of time since the event before.
 */
#ifndef UP_RINGPAGE_H
#define UP_RINGPAGE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UP_RINGPAGE_MIN 4096u      /* bytes of the smallest sub-buffer */
#define UP_RINGPAGE_MAX (1u << 20) /* more than any kernel offers */
#define UP_RINGPAGE_LEN_MASK ((1u << 30) - 1)
#define UP_RINGPAGE_LOST (1u << 31)       /* events were lost before this page */
#define UP_RINGPAGE_LOST_COUNT (1u << 30) /* and how many stands behind the data */

struct up_ringpage {
	const unsigned char *pos; /* the next event */
	const unsigned char *end; /* where the data ends; pos is a multiple of 4 before it */
	uint64_t ts;              /* time of the event handed out last; at first the page's own */
	uint64_t lost;            /* events lost before this page, when the kernel knows */
	bool lost_unknown;        /* some were lost before this page, without a number */
	bool corrupt;             /* the walk ended early, at bytes that are no event */
};

/*
 * Begins a walk over the page data[0..size). commit_size is the size of the kernel's long: 4 or 8.
 * False, and an empty walk with `corrupt` set, when the header does not fit its page. The page
 * must stay as it is during the walk.
 */
bool up_ringpage_init(struct up_ringpage *p, const void *data, size_t size, unsigned commit_size);

/* The next event when it is not a small one: skips padding, obeys time stamps. */
bool up_ringpage_next_rare(struct up_ringpage *p, const void **payload, uint32_t *len,
			   uint64_t *ts);

/*
 * The two numbers of events/header_page: the size of `commit`, and that of a whole sub-buffer
 * (of the top-level buffer: an instance can have another one). 0, or -EPROTO when the text
 * describes something that this module cannot read.
 */
int up_ringpage_layout(const char *text, size_t len, unsigned *commit_size, size_t *page_size);

static inline uint32_t up_ringpage_load(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The two parts of an event's first word; they are bit fields in the kernel. */
static inline uint32_t up_ringpage_type(uint32_t word)
{
	return BYTE_ORDER == LITTLE_ENDIAN ? word & 31 : word >> 27;
}

static inline uint32_t up_ringpage_delta(uint32_t word)
{
	return BYTE_ORDER == LITTLE_ENDIAN ? word >> 5 : word & ((1u << 27) - 1);
}

/*
 * The next event in order: its payload, a pointer into the page with len bytes (a multiple of 4
 * that may be a little more than the record), and its time. False at the end; then `corrupt` says
 * whether it was a proper end.
 */
static inline bool up_ringpage_next(struct up_ringpage *p, const void **payload, uint32_t *len,
				    uint64_t *ts)
{
	const unsigned char *pos = p->pos;
	size_t left = (size_t)(p->end - pos);
	uint32_t word, type;

	if (!left)
		return false;
	word = up_ringpage_load(pos);
	type = up_ringpage_type(word);
	if (__builtin_expect(type - 1 >= 28 || 4 + 4 * (size_t)type > left, 0))
		return up_ringpage_next_rare(p, payload, len, ts);
	*payload = pos + 4;
	*len = 4 * type;
	*ts = p->ts += up_ringpage_delta(word);
	p->pos = pos + 4 + 4 * type;
	return true;
}

#endif
