/* Page headers, and the kinds of event that are not a few words of data. */
#include "runtime/ringpage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	EVENT_LARGE = 0,        /* the next word is 4 + bytes of payload */
	EVENT_PADDING = 29,     /* a discarded event, or nothing up to the end of the page */
	EVENT_TIME_EXTEND = 30, /* a longer time since the event before */
	EVENT_TIME_STAMP = 31   /* an absolute time, its low 59 bits */
};

#define DELTA_BITS 27
#define STAMP_BITS 59

/* The header's commit field without the bits above 32, which mean nothing. */
static uint32_t load_commit(const unsigned char *at, unsigned commit_size)
{
	uint64_t wide;

	if (commit_size == 4)
		return up_ringpage_load(at);
	memcpy(&wide, at, sizeof(wide));
	return (uint32_t)wide;
}

/* How many events were lost stands behind the data, as a long, when the flag says so. */
static void read_lost(struct up_ringpage *p, uint32_t commit, size_t room, unsigned commit_size)
{
	uint64_t wide;

	if (!(commit & UP_RINGPAGE_LOST))
		return;
	if (!(commit & UP_RINGPAGE_LOST_COUNT) || room < commit_size) {
		p->lost_unknown = true;
		return;
	}
	if (commit_size == 4) {
		p->lost = up_ringpage_load(p->end);
		return;
	}
	memcpy(&wide, p->end, sizeof(wide));
	p->lost = wide;
}

bool up_ringpage_init(struct up_ringpage *p, const void *data, size_t size, unsigned commit_size)
{
	const unsigned char *page = data;
	size_t header = 8 + commit_size;
	uint32_t commit, len;

	*p = (struct up_ringpage){ .pos = page, .end = page };
	if (size < header) {
		p->corrupt = true;
		return false;
	}
	commit = load_commit(page + 8, commit_size);
	len = commit & UP_RINGPAGE_LEN_MASK;
	if (len > size - header || len % 4) {
		p->corrupt = true;
		return false;
	}
	memcpy(&p->ts, page, sizeof(p->ts));
	p->pos = page + header;
	p->end = p->pos + len;
	read_lost(p, commit, size - header - len, commit_size);
	return true;
}

static bool fail(struct up_ringpage *p)
{
	p->pos = p->end;
	p->corrupt = true;
	return false;
}

/*
 * The top 5 bits of an absolute time are those of the time before it; when that makes it earlier,
 * the 59 bits have wrapped since.
 */
static uint64_t extend_stamp(uint64_t stamp, uint64_t before)
{
	uint64_t high = before >> STAMP_BITS << STAMP_BITS;

	stamp = (stamp & ((UINT64_C(1) << STAMP_BITS) - 1)) | high;
	if (high && stamp < before)
		stamp += UINT64_C(1) << STAMP_BITS;
	return stamp;
}

/* Steps over one event that carries no payload; false at the end of the data. */
static bool skip(struct up_ringpage *p, uint32_t type, uint32_t delta, uint32_t extra)
{
	uint64_t time = ((uint64_t)extra << DELTA_BITS) + delta;

	if (type == EVENT_PADDING) {
		if (extra % 4 || extra > (size_t)(p->end - p->pos) - 4)
			return fail(p);
		p->ts += delta;
		p->pos += 4 + extra;
		return true;
	}
	p->ts = type == EVENT_TIME_EXTEND ? p->ts + time : extend_stamp(time, p->ts);
	p->pos += 8;
	return true;
}

bool up_ringpage_next_rare(struct up_ringpage *p, const void **payload, uint32_t *len, uint64_t *ts)
{
	while (p->pos < p->end) {
		size_t left = (size_t)(p->end - p->pos);
		uint32_t word = up_ringpage_load(p->pos);
		uint32_t type = up_ringpage_type(word), delta = up_ringpage_delta(word);
		uint32_t extra;

		if (type != EVENT_LARGE && type < EVENT_PADDING)
			return 4 + 4 * type <= left ? up_ringpage_next(p, payload, len, ts)
						    : fail(p);
		if (type == EVENT_PADDING && !delta) {
			p->pos = p->end;
			return false;
		}
		if (left < 8)
			return fail(p);
		extra = up_ringpage_load(p->pos + 4);
		if (type != EVENT_LARGE) {
			if (!skip(p, type, delta, extra))
				return false;
			continue;
		}
		if (extra < 4 || extra % 4 || extra > left - 4)
			return fail(p);
		*payload = p->pos + 8;
		*len = extra - 4;
		*ts = p->ts += delta;
		p->pos += 4 + extra;
		return true;
	}
	return false;
}

/* The offset and size that the line of one field gives. */
static bool find_field(const char *text, const char *field, unsigned *offset, unsigned *size)
{
	const char *line = strstr(text, field);

	if (!line)
		return false;
	return sscanf(line + strlen(field), " offset:%u; size:%u;", offset, size) == 2;
}

int up_ringpage_layout(const char *text, size_t len, unsigned *commit_size, size_t *page_size)
{
	unsigned commit_at, commit_len, data_at, data_len;
	char copy[1024];

	if (len >= sizeof(copy))
		return -EPROTO;
	memcpy(copy, text, len);
	copy[len] = 0;
	if (!find_field(copy, " commit;", &commit_at, &commit_len) ||
	    !find_field(copy, " data;", &data_at, &data_len))
		return -EPROTO;
	if (commit_at != 8 || (commit_len != 4 && commit_len != 8) || data_at != 8 + commit_len ||
	    data_len > UP_RINGPAGE_MAX - data_at)
		return -EPROTO;
	*commit_size = commit_len;
	*page_size = data_at + (size_t)data_len;
	return 0;
}
