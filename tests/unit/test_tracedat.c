/* Heads of trace.dat files: written, read back, cut at every byte, damaged; both versions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/src_file.h"
#include "runtime/tracedat.h"
#include "tests/unit/ringbuild.h"
#include "tests/unit/unit.h"

#define PAGE 4096u

/* A file in memory. */
struct memory {
	const unsigned char *s;
	size_t len;
	int fails; /* reads that go well before one fails; -1: all do */
};

static ssize_t read_memory(void *ctx, void *to, size_t len, uint64_t off)
{
	struct memory *m = ctx;

	if (m->fails == 0)
		return -EIO;
	m->fails -= m->fails > 0;
	if (off >= m->len)
		return 0;
	/* Short reads happen. */
	size_t n = m->len - off < len ? m->len - off : len;
	n = n > 1 ? (n + 1) / 2 : n;
	memcpy(to, m->s + off, n);
	return (ssize_t)n;
}

static struct up_tracedat_text text(const char *s)
{
	return (struct up_tracedat_text){ s, strlen(s) };
}

/* A head with three events of two systems, an option, and pages of CPUs 0 and 3. */
static void make_file(struct up_buf *out)
{
	static struct up_tracedat_format formats[3];
	static struct up_tracedat_option option;
	static struct up_tracedat_cpu cpus[2];
	struct up_buf page = { 0 };
	unsigned char pages[PAGE];
	struct ringbuild b;

	up_tracedat_header_page(8, PAGE, &page);
	formats[0] = (struct up_tracedat_format){ "one", text("name: a\nID: 1\n") };
	formats[1] = (struct up_tracedat_format){ "one", text("name: b\nID: 2\n") };
	formats[2] = (struct up_tracedat_format){ "two", text("name: c\nID: 3\n") };
	option = (struct up_tracedat_option){ 4711, text("an option") };
	cpus[0] = (struct up_tracedat_cpu){ 0, 0, 2 * PAGE };
	cpus[1] = (struct up_tracedat_cpu){ 3, 0, PAGE };
	struct up_tracedat d = { .page_size = PAGE,
				 .header_page = { page.s, page.len },
				 .header_event = text("an event's head"),
				 .cmdlines = text("1 init\n"),
				 .clock = "local [mono]" };
	d.formats.v = formats;
	d.formats.nr = 3;
	d.options.v = &option;
	d.options.nr = 1;
	d.cpus.v = cpus;
	d.cpus.nr = 2;
	up_tracedat_put(&d, 0, out);
	up_buf_fill(out, 0, d.cpus.v[0].off - out->len);
	for (unsigned i = 0; i < 3; i++) {
		ringbuild_begin(&b, pages, PAGE, 8, 1000 + i);
		memset(ringbuild_event(&b, 1000 + i, 8), (int)i + 1, 8);
		ringbuild_end(&b, 0);
		up_buf_add(out, pages, PAGE);
	}
	up_buf_fini(&page);
}

static int read_head(struct up_tracedat *d, struct up_tracedat_io *io, struct memory *m,
		     struct up_buf *why)
{
	*io = (struct up_tracedat_io){ m, read_memory, m->len };
	return up_tracedat_read(d, io, why);
}

static void test_round_trip(const struct up_buf *file)
{
	struct memory m = { (unsigned char *)file->s, file->len, -1 };
	struct up_tracedat_io io;
	struct up_buf why = { 0 };
	struct up_tracedat d;

	CHECK(!read_head(&d, &io, &m, &why));
	CHECK(d.version == 6 && d.page_size == PAGE && !d.cut);
	CHECK(strstr(d.header_page.s, "field: local_t commit;\toffset:8;\tsize:8;"));
	CHECK(!strcmp(d.header_event.s, "an event's head"));
	CHECK(!strcmp(d.cmdlines.s, "1 init\n") && !strcmp(d.clock, "local [mono]"));
	CHECK(d.formats.nr == 3 && !strcmp(d.formats.v[1].system, "one") &&
	      !strcmp(d.formats.v[2].system, "two") &&
	      !strcmp(d.formats.v[2].text.s, "name: c\nID: 3\n"));
	const struct up_tracedat_option *o = up_tracedat_find(&d, 4711);
	CHECK(o && !strcmp(o->data.s, "an option"));
	CHECK(!up_tracedat_find(&d, 4712));
	CHECK(d.cpus.nr == 4 && d.cpus.v[0].size == 2 * PAGE && !d.cpus.v[1].size &&
	      d.cpus.v[3].cpu == 3 && d.cpus.v[3].size == PAGE);
	CHECK(d.cpus.v[0].off % PAGE == 0 && d.cpus.v[0].off >= d.head_size &&
	      d.cpus.v[3].off == d.cpus.v[0].off + 2 * PAGE);
	up_tracedat_fini(&d);
}

/* Cut off anywhere it is an error or a file with fewer pages, and what is missing is counted. */
static void test_cut(const struct up_buf *file)
{
	struct memory m = { (unsigned char *)file->s, file->len, -1 };
	size_t head = file->len - 3 * PAGE;

	for (size_t len = 0; len < file->len; len += len < head ? 1 : 997) {
		struct up_tracedat_io io;
		struct up_buf why = { 0 };
		struct up_tracedat d;

		m.len = len;
		int err = read_head(&d, &io, &m, &why);
		CHECK(err == 0 || err == -EPROTO);
		CHECK(err ? why.len > 0 : d.cut == file->len - (len < head ? head : len));
		CHECK(len < head || !err);
		up_tracedat_fini(&d);
		up_buf_fini(&why);
	}
}

static void test_reads_fail(const struct up_buf *file)
{
	struct memory m = { (unsigned char *)file->s, file->len, -1 };

	for (int i = 0; i < 60; i++) {
		struct up_tracedat_io io;
		struct up_buf why = { 0 };
		struct up_tracedat d;

		m.fails = i;
		CHECK(read_head(&d, &io, &m, &why) == -EIO);
		up_tracedat_fini(&d);
		up_buf_fini(&why);
	}
}

/* Any bytes, and the file with some bytes changed: an error, or a head whose parts lie inside. */
static void test_damaged(const struct up_buf *file)
{
	unsigned char *copy = malloc(file->len);
	uint64_t seed = 7;

	for (unsigned round = 0; round < 20000; round++) {
		struct memory m = { copy, file->len, -1 };
		struct up_tracedat_io io;
		struct up_buf why = { 0 };
		struct up_tracedat d;

		memcpy(copy, file->s, file->len);
		for (unsigned k = 0; k <= round % 4; k++)
			copy[ring_random(&seed) % (file->len - 3 * PAGE)] =
				(unsigned char)ring_random(&seed);
		int err = read_head(&d, &io, &m, &why);
		CHECK(err == 0 || err == -EPROTO);
		for (size_t i = 0; !err && i < d.cpus.nr; i++)
			CHECK(!d.cpus.v[i].size || d.cpus.v[i].off + d.cpus.v[i].size <= file->len);
		up_tracedat_fini(&d);
		up_buf_fini(&why);
	}
	free(copy);
}

static void check_refused(const char *bytes, size_t len, const char *why_not)
{
	struct memory m = { (const unsigned char *)bytes, len, -1 };
	struct up_tracedat_io io;
	struct up_buf why = { 0 };
	struct up_tracedat d;

	CHECK(read_head(&d, &io, &m, &why) == -EPROTO);
	CHECK(why.s && strstr(why.s, why_not));
	up_tracedat_fini(&d);
	up_buf_fini(&why);
}

static void test_refused(void)
{
	check_refused("", 0, "is no trace.dat file");
	check_refused("\x7f"
		      "ELF and more",
		      14, "is no trace.dat file");
	check_refused("\x17\x08\x44tracing5\0\0\x08\0\x10\0\0", 18, "another one than 6 and 7");
	check_refused("\x17\x08\x44tracing6\0\1\x08\0\0\x10\0", 18, "the other byte order");
	check_refused("\x17\x08\x44tracing6\0\0\x08\1\0\0\0", 18, "its pages have 1 bytes");
	check_refused("\x17\x08\x44tracing6\0\0\x08\0\x10\0\0", 18, "in the middle of the desc");
}

/* The same pages for several processors would be read as often as a file likes. */
static void test_shared_pages(const struct up_buf *file)
{
	char *copy = malloc(file->len);

	memcpy(copy, file->s, file->len);
	char *table = (char *)memmem(copy, file->len, "flyrecord", 10) + 10;
	memcpy(table + 16, table, 16);
	check_refused(copy, file->len, "more pages than it has");
	free(copy);
}

/* ---- version 7 ---- */

static void put(struct up_buf *b, uint64_t v, unsigned bytes)
{
	up_buf_add(b, &v, bytes); /* little-endian: the test is for such machines */
}

static void put_section(struct up_buf *b, unsigned id, unsigned flags)
{
	put(b, id, 2);
	put(b, flags, 2);
	put(b, 0, 4);
	put(b, 0, 8);
}

static void patch(struct up_buf *b, size_t at, uint64_t v)
{
	memcpy(b->s + at, &v, 8);
}

/* Two lists of options, of which the second is where `loop` says. */
static void make_v7(struct up_buf *b, bool loop, unsigned flags)
{
	up_buf_add(b, "\x17\x08\x44tracing7\0\0\x08\0\x10\0\0none\0\0", 24);
	size_t first = b->len, at;
	put(b, 0, 8);
	at = b->len;
	put_section(b, 16, 0);
	up_buf_add(b, "header_page\0", 12);
	put(b, 2, 8);
	up_buf_add(b, "pg", 2);
	up_buf_add(b, "header_event\0", 13);
	put(b, 2, 8);
	up_buf_add(b, "ev", 2);
	size_t formats = b->len;
	put_section(b, 18, flags);
	put(b, 1, 4);
	up_buf_add(b, "sys", 4);
	put(b, 1, 4);
	put(b, 8, 8);
	up_buf_add(b, "name: x\n", 8);
	patch(b, first, b->len);
	size_t options = b->len;
	put_section(b, 0, 0);
	put(b, 16, 2);
	put(b, 8, 4);
	put(b, at, 8);
	put(b, 0, 2);
	put(b, 8, 4);
	size_t next = b->len;
	put(b, 0, 8);
	patch(b, next, loop ? options : b->len);
	put_section(b, 0, 0);
	put(b, 18, 2);
	put(b, 8, 4);
	put(b, formats, 8);
	put(b, 3, 2);
	put(b, 8 + 1 + 5 + 4 + 4 + 20, 4);
	put(b, 0, 8);
	up_buf_add(b, "\0mono", 6);
	put(b, PAGE, 4);
	put(b, 1, 4);
	put(b, 5, 4);
	put(b, 8, 8);
	put(b, 16, 8);
	put(b, 0, 2);
	put(b, 8, 4);
	put(b, 0, 8);
}

static void test_v7(void)
{
	struct up_buf b = { 0 }, why = { 0 };
	struct up_tracedat_io io;
	struct up_tracedat d;

	make_v7(&b, false, 0);
	struct memory m = { (unsigned char *)b.s, b.len, -1 };
	CHECK(!read_head(&d, &io, &m, &why));
	CHECK(d.version == 7 && !strcmp(d.header_page.s, "pg") && !strcmp(d.header_event.s, "ev"));
	CHECK(d.formats.nr == 1 && !strcmp(d.formats.v[0].system, "sys"));
	CHECK(d.cpus.nr == 1 && d.cpus.v[0].cpu == 5 && d.cpus.v[0].size == 16);
	CHECK(!strcmp(d.clock, "[mono]"));
	up_tracedat_fini(&d);
	for (size_t len = 0; len < b.len; len++) {
		m.len = len;
		CHECK(read_head(&d, &io, &m, &why) == -EPROTO);
		up_tracedat_fini(&d);
		up_buf_reset(&why);
	}
	up_buf_fini(&why);
	up_buf_reset(&b);
	make_v7(&b, true, 0);
	check_refused(b.s, b.len, "do not end");
	up_buf_reset(&b);
	make_v7(&b, false, 1);
	check_refused(b.s, b.len, "compressed");
	up_buf_fini(&b);
}

/* ---- pages ---- */

static void test_pages(const struct up_buf *file)
{
	struct memory m = { (unsigned char *)file->s, file->len - 10, -1 };
	struct up_tracedat_io io = { &m, read_memory, m.len };
	size_t first = file->len - 3 * PAGE;
	struct up_src_file_part parts[] = { { 0, &io, first, 2 * PAGE },
					    { 1, &io, 0, 0 },
					    { 3, &io, first + 2 * PAGE, PAGE } };
	struct up_src_file s;

	CHECK(!up_src_file_open(&s, parts, 3, PAGE, 8, 16 * PAGE));
	CHECK(up_src_file_drain(&s) == 2);
	CHECK(s.nr_pages == 2 && s.cut == PAGE - 10);
	CHECK(s.pages.q[0].nr == 2 && !s.pages.q[0].more && !s.pages.q[1].more && !s.pages.q[2].nr);
	CHECK(!memcmp(s.pages.q[0].tail->data, file->s + first + PAGE, PAGE));
	CHECK(up_src_file_drain(&s) == 0);
	up_src_file_close(&s);
	CHECK(up_src_file_open(&s, parts, 0, PAGE, 8, 16 * PAGE) == -ENODATA);
	up_src_file_close(&s);
	m.fails = 1;
	CHECK(!up_src_file_open(&s, parts, 1, PAGE, 8, 16 * PAGE));
	CHECK(up_src_file_drain(&s) == -EIO);
	up_src_file_close(&s);
}

int main(void)
{
	struct up_buf file = { 0 };

	make_file(&file);
	test_round_trip(&file);
	test_cut(&file);
	test_reads_fail(&file);
	test_damaged(&file);
	test_refused();
	test_shared_pages(&file);
	test_v7();
	test_pages(&file);
	up_buf_fini(&file);
	return unit_report("tracedat");
}
