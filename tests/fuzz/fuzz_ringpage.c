/*
 * The page walk on any bytes: it must end, stay inside, and agree with libtraceevent's kbuffer on
 * pages that are well-formed. The first byte chooses the layout, the rest is the page.
 */
#include <stdlib.h>
#include <string.h>
#include <traceevent/kbuffer.h>

#include "runtime/ringpage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct event {
	const void *payload;
	uint32_t len;
	uint64_t ts;
};

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* Walks; returns how many events there were. *corrupt as in struct up_ringpage. */
static size_t walk(const unsigned char *page, size_t size, unsigned commit_size, struct event *ev,
		   struct up_ringpage *p)
{
	const unsigned char *end = page + size;
	size_t nr = 0;

	up_ringpage_init(p, page, size, commit_size);
	for (struct event e; up_ringpage_next(p, &e.payload, &e.len, &e.ts); nr++) {
		const unsigned char *at = e.payload;

		require(nr < size / 4);
		require(at >= page + 8 + commit_size && at <= end && e.len <= (size_t)(end - at));
		ev[nr] = e;
	}
	require(!up_ringpage_next(p, &ev[nr].payload, &ev[nr].len, &ev[nr].ts));
	return nr;
}

/* Has the page something that kbuffer reads otherwise: an empty rest, a time in the top five bits?
 */
static bool is_odd(const unsigned char *page, unsigned commit_size)
{
	const unsigned char *at = page + 8 + commit_size;
	uint32_t len;

	if (page[7] & 0xf8)
		return true;
	memcpy(&len, page + 8, 4);
	len &= UP_RINGPAGE_LEN_MASK;
	for (const unsigned char *end = at + len; at < end;) {
		uint32_t word = up_ringpage_load(at), type = up_ringpage_type(word);

		if (type == 29 && !up_ringpage_delta(word))
			return true;
		if (type == 31 && up_ringpage_load(at + 4) >> 31)
			return true;
		if (type == 30 && up_ringpage_load(at + 4) >> 28)
			return true;
		if (type >= 30)
			at += 8;
		else
			at += 4 + (type && type < 29 ? 4 * type : up_ringpage_load(at + 4));
	}
	return false;
}

static void compare(unsigned char *page, unsigned commit_size, const struct event *ev, size_t nr)
{
	struct kbuffer *kb = kbuffer_alloc(commit_size == 4 ? KBUFFER_LSIZE_4 : KBUFFER_LSIZE_8,
					   KBUFFER_ENDIAN_SAME_AS_HOST);
	unsigned long long ts;
	size_t i = 0;

	kbuffer_load_subbuffer(kb, page);
	for (void *at = kbuffer_read_event(kb, &ts); at; at = kbuffer_next_event(kb, &ts), i++) {
		require(i < nr);
		require(ev[i].payload == at && ev[i].ts == ts);
		require((int)ev[i].len == kbuffer_event_size(kb));
	}
	require(i == nr);
	kbuffer_free(kb);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned commit_size;
	struct up_ringpage p;
	struct event *ev;
	unsigned char *page;
	size_t nr;

	if (!size--)
		return 0;
	commit_size = *data++ & 1 ? 4 : 8;
	page = malloc(size ? size : 1); /* exact, so that the sanitizer sees a step outside */
	ev = calloc(size / 4 + 2, sizeof(*ev));
	require(page && ev);
	memcpy(page, data, size);
	nr = walk(page, size, commit_size, ev, &p);
	/* kbuffer reads a lost count even where there is no room for one. */
	if (!p.corrupt && !p.lost_unknown && size >= 8 + commit_size && !is_odd(page, commit_size))
		compare(page, commit_size, ev, nr);
	free(ev);
	free(page);
	return 0;
}
