/* The page walk against libtraceevent's kbuffer, on made pages, recorded pages and broken ones. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <traceevent/kbuffer.h>

#include "runtime/ringpage.h"
#include "tests/unit/ringbuild.h"
#include "tests/unit/unit.h"

#define LOST UP_RINGPAGE_LOST
#define COUNTED UP_RINGPAGE_LOST_COUNT

struct event {
	uint32_t at;  /* offset of the payload in the page */
	uint32_t len; /* its bytes */
	uint64_t ts;
};

struct walk {
	struct event *ev; /* room for one event every 4 bytes of the largest page */
	unsigned nr;
	int64_t lost; /* -1 unknown */
	bool corrupt;
};

static struct walk want, ours, theirs;

static void add(struct walk *w, size_t at, uint32_t len, uint64_t ts)
{
	w->ev[w->nr++] = (struct event){ (uint32_t)at, len, ts };
}

/* Walks with our code; checks that it stays in the page and ends for good. */
static void walk_ours(const unsigned char *page, size_t size, unsigned commit_size)
{
	struct up_ringpage p;
	const void *payload;
	uint32_t len;
	uint64_t ts;
	bool inside = true;

	ours.nr = 0;
	up_ringpage_init(&p, page, size, commit_size);
	ours.lost = p.lost_unknown ? -1 : (int64_t)p.lost;
	while (ours.nr <= size / 4 && up_ringpage_next(&p, &payload, &len, &ts)) {
		size_t at = (size_t)((const unsigned char *)payload - page);

		inside &= at >= 8 + commit_size && at <= size && len <= size - at && len % 4 == 0;
		add(&ours, at, len, ts);
	}
	CHECK(inside);
	CHECK(ours.nr <= size / 4);
	CHECK(!up_ringpage_next(&p, &payload, &len, &ts));
	ours.corrupt = p.corrupt;
}

static void walk_theirs(unsigned char *page, unsigned commit_size)
{
	struct kbuffer *kb = kbuffer_alloc(commit_size == 4 ? KBUFFER_LSIZE_4 : KBUFFER_LSIZE_8,
					   KBUFFER_ENDIAN_SAME_AS_HOST);
	unsigned long long ts;

	theirs.nr = 0;
	kbuffer_load_subbuffer(kb, page);
	theirs.lost = kbuffer_missed_events(kb);
	/* Some versions forget the lost events of a page that begins with a time or with padding.
	 */
	if (kbuffer_curr_index(kb))
		theirs.lost = ours.lost;
	for (void *at = kbuffer_read_event(kb, &ts); at; at = kbuffer_next_event(kb, &ts))
		add(&theirs, (size_t)((unsigned char *)at - page), (uint32_t)kbuffer_event_size(kb),
		    ts);
	kbuffer_free(kb);
}

static bool same(const struct walk *a, const struct walk *b)
{
	if (a->nr != b->nr || a->lost != b->lost)
		return false;
	for (unsigned i = 0; i < a->nr; i++)
		if (a->ev[i].at != b->ev[i].at || a->ev[i].len != b->ev[i].len ||
		    a->ev[i].ts != b->ev[i].ts)
			return false;
	return true;
}

/* One random element of a page: data of any size, time, or a discarded event. */
static bool add_random(struct ringbuild *b, uint64_t *rng)
{
	uint64_t r = ring_random(rng);
	uint32_t delta = (uint32_t)(r >> 32) & ((1u << (r >> 8 & 31) % 28) - 1);
	uint32_t len = 4 * (1 + (uint32_t)(r >> 16) % 28);
	unsigned kind = r % 16;

	if (kind == 0 || kind == 1) {
		if (ringbuild_room(b) < 8)
			return false;
		b->ts = kind ? b->ts + (r >> 24) : b->ts + (r >> 40);
		ringbuild_time(b, kind ? 30 : 31, kind ? r >> 24 : b->ts);
		return true;
	}
	if (kind == 2 || kind == 3) /* large: also smaller ones than need be */
		len = 4 * ((uint32_t)(r >> 16) % (kind == 2 ? 10 : 600));
	if (ringbuild_room(b) < 8 + len)
		return false;
	if (kind == 4) {
		ringbuild_header(b, 29, delta + 1);
		ringbuild_word(b, len);
		b->used += len - 4;
		b->ts += delta + 1;
		return true;
	}
	ringbuild_header(b, kind < 4 ? 0 : len / 4, delta);
	if (kind < 4)
		ringbuild_word(b, len + 4);
	b->ts += delta;
	add(&want, 8 + b->commit_size + b->used, len, b->ts);
	b->used += len;
	return true;
}

/* Ends a page as the kernel may: with lost events, numbered or not. */
static void end_random(struct ringbuild *b, uint64_t *rng)
{
	uint64_t r = ring_random(rng), lost = r >> 40;
	uint32_t lost4 = (uint32_t)lost;
	unsigned char *behind = b->page + 8 + b->commit_size + b->used;

	want.lost = 0;
	if (r % 4 == 0) {
		ringbuild_end(b, LOST);
		want.lost = -1;
	} else if (r % 4 == 1 && ringbuild_room(b) >= b->commit_size) {
		ringbuild_end(b, LOST | COUNTED);
		want.lost = (int64_t)lost;
		memcpy(behind, b->commit_size == 4 ? (void *)&lost4 : (void *)&lost,
		       b->commit_size);
	} else {
		ringbuild_end(b, 0);
	}
}

static void make_page(struct ringbuild *b, unsigned char *page, size_t size, unsigned commit_size,
		      uint64_t *rng)
{
	uint64_t r = ring_random(rng);
	/* Times of any size, the top ones left out: there absolute times wrap. */
	uint64_t ts = ring_random(rng) >> (5 + r % 40);
	size_t stop = r >> 40 & 1 ? 0 : (r >> 8) % size;

	if (r >> 41 & 1)
		ts |= UINT64_C(3) << 60; /* an absolute time lacks these */
	want.nr = 0;
	want.corrupt = false;
	ringbuild_begin(b, page, size, commit_size, ts);
	while (ringbuild_room(b) > stop && add_random(b, rng))
		;
	end_random(b, rng);
}

static void test_random_pages(void)
{
	unsigned char *page = malloc(65536);
	uint64_t rng = 42;

	for (unsigned i = 0; i < 4000; i++) {
		size_t size = (size_t)4096 << (i % 8 ? 0 : i / 8 % 5);
		unsigned commit_size = i & 1 ? 4 : 8;
		struct ringbuild b;

		make_page(&b, page, size, commit_size, &rng);
		walk_ours(page, size, commit_size);
		walk_theirs(page, commit_size);
		CHECK(!ours.corrupt);
		CHECK(same(&ours, &want));
		CHECK(same(&ours, &theirs));
	}
	free(page);
}

/* Nothing after a padding event without a delta counts. */
static void test_empty_rest(void)
{
	unsigned char page[4096];
	struct ringbuild b;

	ringbuild_begin(&b, page, sizeof(page), 8, 1000);
	ringbuild_event(&b, 1005, 8);
	ringbuild_header(&b, 29, 0);
	ringbuild_event(&b, 1007, 8);
	ringbuild_end(&b, 0);
	walk_ours(page, sizeof(page), 8);
	CHECK(ours.nr == 1 && !ours.corrupt);
	CHECK(ours.ev[0].ts == 1005 && ours.ev[0].len == 8);

	ringbuild_begin(&b, page, sizeof(page), 8, 1000);
	ringbuild_end(&b, 0);
	walk_ours(page, sizeof(page), 8);
	CHECK(ours.nr == 0 && !ours.corrupt);
}

/* An absolute time has 59 bits; the rest comes from the time before, which may have passed a wrap.
 */
static void test_stamp_wrap(void)
{
	static const struct {
		uint64_t before, stamp, want;
	} row[] = {
		{ 1000, 2000, 2000 },
		{ 2000, 1000, 1000 },
		{ (UINT64_C(1) << 59) + 5, 7, (UINT64_C(1) << 59) + 7 },
		{ (UINT64_C(1) << 59) + 5, 3, (UINT64_C(2) << 59) + 3 },
		{ (UINT64_C(4) << 59) - 1, 9, (UINT64_C(4) << 59) + 9 },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		unsigned char page[4096];
		struct ringbuild b;

		ringbuild_begin(&b, page, sizeof(page), 8, row[i].before);
		ringbuild_time(&b, 31, row[i].stamp);
		ringbuild_header(&b, 1, 0);
		ringbuild_word(&b, 0);
		ringbuild_end(&b, 0);
		walk_ours(page, sizeof(page), 8);
		CHECK(ours.nr == 1 && ours.ev[0].ts == row[i].want);
	}
}

/* One event with this header and second word, as the only one of `used` bytes of data. */
static bool is_corrupt(uint32_t type, uint32_t delta, uint32_t second, size_t used)
{
	unsigned char page[4096];
	struct ringbuild b;

	ringbuild_begin(&b, page, sizeof(page), 8, 1);
	ringbuild_header(&b, type, delta);
	ringbuild_word(&b, second);
	b.used = used;
	ringbuild_end(&b, 0);
	walk_ours(page, sizeof(page), 8);
	return ours.corrupt;
}

static void test_broken_events(void)
{
	CHECK(is_corrupt(28, 0, 0, 4)); /* longer than the data */
	CHECK(is_corrupt(28, 0, 0, 112));
	CHECK(!is_corrupt(28, 0, 0, 116));
	CHECK(is_corrupt(1, 0, 0, 4));
	CHECK(is_corrupt(0, 0, 0, 4)); /* a second word that is not there */
	CHECK(is_corrupt(29, 1, 0, 4));
	CHECK(is_corrupt(30, 1, 0, 4));
	CHECK(is_corrupt(31, 1, 0, 4));
	CHECK(!is_corrupt(29, 0, 0, 4));
	CHECK(!is_corrupt(30, 1, 0, 8));
	CHECK(is_corrupt(0, 0, 0, 400)); /* a length without its own word */
	CHECK(is_corrupt(0, 0, 3, 400));
	CHECK(is_corrupt(0, 0, 10, 400)); /* no multiple of 4 */
	CHECK(is_corrupt(0, 0, 400, 400));
	CHECK(!is_corrupt(0, 0, 396, 400));
	CHECK(is_corrupt(0, 0, UINT32_MAX - 3, 400));
	CHECK(is_corrupt(29, 1, 400, 400));
	CHECK(is_corrupt(29, 1, 6, 400));
	CHECK(!is_corrupt(29, 1, 396, 400));
	CHECK(is_corrupt(29, 1, UINT32_MAX - 3, 400));
}

static void test_broken_headers(void)
{
	unsigned char page[4096] = { 0 };
	struct up_ringpage p;
	struct ringbuild b;

	for (size_t size = 0; size < 16; size++)
		CHECK(!up_ringpage_init(&p, page, size, 8) && p.corrupt);
	CHECK(up_ringpage_init(&p, page, 16, 8) && !p.corrupt);
	CHECK(up_ringpage_init(&p, page, 12, 4) && !p.corrupt);
	ringbuild_begin(&b, page, sizeof(page), 8, 1);
	b.used = sizeof(page) - 16 + 4;
	ringbuild_end(&b, 0);
	CHECK(!up_ringpage_init(&p, page, sizeof(page), 8) && p.corrupt);
	CHECK(p.pos == p.end);
	b.used = 17;
	ringbuild_end(&b, 0);
	CHECK(!up_ringpage_init(&p, page, sizeof(page), 8) && p.corrupt);
	/* A count that would lie behind the page is no count. */
	b.used = sizeof(page) - 16;
	ringbuild_end(&b, LOST | COUNTED);
	CHECK(up_ringpage_init(&p, page, sizeof(page), 8));
	CHECK(p.lost_unknown && !p.lost);
	b.used -= 4;
	ringbuild_end(&b, LOST | COUNTED);
	CHECK(up_ringpage_init(&p, page, sizeof(page), 8) && p.lost_unknown);
}

/* Good pages with a few bytes changed, right before memory that must not be touched. */
static void test_random_damage(void)
{
	unsigned char *map =
		mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t rng = 7;
	unsigned nr_corrupt = 0;

	CHECK(map != MAP_FAILED && !mprotect(map + 4096, 4096, PROT_NONE));
	for (unsigned i = 0; i < 20000; i++) {
		unsigned commit_size = i & 1 ? 4 : 8;
		struct ringbuild b;

		make_page(&b, map, 4096, commit_size, &rng);
		for (unsigned k = 0; k < 1 + i % 5; k++) {
			uint64_t r = ring_random(&rng);

			map[8 + (r >> 8) % (i % 3 ? 4088 : 64)] = (unsigned char)r;
		}
		walk_ours(map, 4096, commit_size);
		nr_corrupt += ours.corrupt;
	}
	CHECK(nr_corrupt > 1000 && nr_corrupt < 19000);
	munmap(map, 2 * 4096);
}

static size_t read_file(const char *path, unsigned char *to, size_t cap)
{
	FILE *f = fopen(path, "r");
	size_t len = f ? fread(to, 1, cap, f) : 0;

	if (f)
		fclose(f);
	return len;
}

/* Pages that kernels wrote; NAME.SIZE.page holds whole sub-buffers of SIZE bytes. */
static void test_recorded_pages(void)
{
	static unsigned char buf[1 << 20] __attribute__((aligned(8)));
	unsigned nr_events = 0, nr_lost = 0, nr_large = 0;
	glob_t g;

	CHECK(!glob("../replay/*.page", 0, NULL, &g));
	for (size_t i = 0; i < g.gl_pathc; i++) {
		size_t len = read_file(g.gl_pathv[i], buf, sizeof(buf)), size = 0;

		sscanf(g.gl_pathv[i], "../replay/%*[^.].%zu.page", &size);
		CHECK(size >= 4096 && len >= size && len % size == 0);
		for (size_t at = 0; size && at < len; at += size) {
			walk_ours(buf + at, size, 8);
			walk_theirs(buf + at, 8);
			CHECK(ours.nr > 0 && !ours.corrupt);
			CHECK(same(&ours, &theirs));
			nr_events += ours.nr;
			nr_lost += ours.lost > 0;
			for (unsigned k = 0; k < ours.nr; k++)
				nr_large += ours.ev[k].len > 112;
		}
	}
	globfree(&g);
	CHECK(nr_events > 100 && nr_lost > 0 && nr_large > 0);
}

static void test_layout(void)
{
	static const char wide[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
	static const char narrow[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				     "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				     "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
	static const char odd[] = "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: char data;\toffset:24;\tsize:4072;\tsigned:0;\n";
	unsigned commit_size = 0;
	size_t size = 0;

	CHECK(!up_ringpage_layout(wide, sizeof(wide) - 1, &commit_size, &size));
	CHECK(commit_size == 8 && size == 4096);
	CHECK(!up_ringpage_layout(narrow, sizeof(narrow) - 1, &commit_size, &size));
	CHECK(commit_size == 4 && size == 4096);
	CHECK(up_ringpage_layout(odd, sizeof(odd) - 1, &commit_size, &size) == -EPROTO);
	for (size_t len = 0; len < sizeof(wide) - 20; len++)
		CHECK(up_ringpage_layout(wide, len, &commit_size, &size) == -EPROTO);
}

int main(void)
{
	want.ev = calloc(3 * 65536, sizeof(*want.ev));
	if (!want.ev)
		return 1;
	ours.ev = want.ev + 65536;
	theirs.ev = want.ev + 2 * 65536;
	test_random_pages();
	test_empty_rest();
	test_stamp_wrap();
	test_broken_events();
	test_broken_headers();
	test_random_damage();
	test_recorded_pages();
	test_layout();
	free(want.ev);
	return unit_report("ringpage");
}
