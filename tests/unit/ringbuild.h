/*
 * Makes ring-buffer pages for tests and benchmarks, as the kernel would write them or, on purpose,
 * as it never would.
 */
#ifndef UP_TESTS_RINGBUILD_H
#define UP_TESTS_RINGBUILD_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ringbuild {
	unsigned char *page;  /* where it goes */
	size_t size;          /* of the page */
	unsigned commit_size; /* 4 or 8 */
	size_t used;          /* bytes of data so far */
	uint64_t ts;          /* time of the event written last */
};

/* xorshift64*: the same numbers on every machine. */
static inline uint64_t ring_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static inline void ringbuild_begin(struct ringbuild *b, unsigned char *page, size_t size,
				   unsigned commit_size, uint64_t ts)
{
	*b = (struct ringbuild){ page, size, commit_size, 0, ts };
	memset(page, 0, size);
	memcpy(page, &ts, sizeof(ts));
}

static inline size_t ringbuild_room(const struct ringbuild *b)
{
	return b->size - 8 - b->commit_size - b->used;
}

static inline void ringbuild_word(struct ringbuild *b, uint32_t word)
{
	memcpy(b->page + 8 + b->commit_size + b->used, &word, 4);
	b->used += 4;
}

static inline void ringbuild_header(struct ringbuild *b, uint32_t type, uint32_t delta)
{
	ringbuild_word(b, BYTE_ORDER == LITTLE_ENDIAN ? type | delta << 5 : type << 27 | delta);
}

/* Types 30 and 31: a time extend, an absolute time. */
static inline void ringbuild_time(struct ringbuild *b, uint32_t type, uint64_t value)
{
	ringbuild_header(b, type, value & ((1u << 27) - 1));
	ringbuild_word(b, (uint32_t)(value >> 27));
}

/*
 * An event of len bytes (a multiple of 4, above 0) at time ts, with a time extend before it when it
 * needs one. Returns where its payload goes, or NULL when the page is full.
 */
static inline void *ringbuild_event(struct ringbuild *b, uint64_t ts, uint32_t len)
{
	uint64_t delta = ts - b->ts;
	bool extend = delta >= 1u << 27, large = len > 112;
	unsigned char *payload;

	if (ringbuild_room(b) < 8u * extend + 4 + 4u * large + len)
		return NULL;
	if (extend)
		ringbuild_time(b, 30, delta);
	ringbuild_header(b, large ? 0 : len / 4, extend ? 0 : (uint32_t)delta);
	if (large)
		ringbuild_word(b, len + 4);
	payload = b->page + 8 + b->commit_size + b->used;
	b->used += len;
	b->ts = ts;
	return payload;
}

/* Writes the commit field; flags go into its upper bits. */
static inline void ringbuild_end(struct ringbuild *b, uint32_t flags)
{
	uint64_t wide = b->used | flags;
	uint32_t narrow = (uint32_t)wide;

	if (b->commit_size == 4)
		memcpy(b->page + 8, &narrow, 4);
	else
		memcpy(b->page + 8, &wide, 8);
}

#endif
