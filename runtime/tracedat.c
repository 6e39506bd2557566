/* Reading the head of a trace.dat: the cursor, what both versions share, version 6. */
#include "runtime/tracedat.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ringpage.h"
#include "runtime/tracedat_int.h"

/* ---- the cursor ---- */

void up_tracedat_fail(struct up_tracedat_cursor *c, const char *fmt, ...)
{
	va_list ap;

	if (c->err)
		return;
	c->err = -EPROTO;
	va_start(ap, fmt);
	up_buf_vprintf(c->why, fmt, ap);
	va_end(ap);
}

static void read_file(struct up_tracedat_cursor *c, unsigned char *to, size_t len)
{
	while (len) {
		ssize_t n = c->io->read_at(c->io->ctx, to, len, c->at);

		if (n < 0) {
			c->err = (int)n;
			return;
		}
		if (n == 0) {
			up_tracedat_fail(c, "it ends at byte %" PRIu64 ", in the middle of %s",
					 c->at, c->part);
			return;
		}
		to += n;
		len -= (size_t)n;
		c->at += (uint64_t)n;
	}
}

static void get(struct up_tracedat_cursor *c, void *to, size_t len)
{
	if (!c->err && len > c->end - c->at)
		up_tracedat_fail(c, "it ends at byte %" PRIu64 ", in the middle of %s", c->end,
				 c->part);
	if (c->err) {
		memset(to, 0, len);
	} else if (c->mem) {
		memcpy(to, c->mem + c->at, len);
		c->at += len;
	} else {
		read_file(c, to, len);
	}
}

uint64_t up_tracedat_number(struct up_tracedat_cursor *c, unsigned bytes)
{
	uint64_t v = 0;

	get(c, (char *)&v + (BYTE_ORDER == LITTLE_ENDIAN ? 0 : 8 - bytes), bytes);
	return c->err ? 0 : v;
}

struct up_tracedat_text up_tracedat_bytes(struct up_tracedat_cursor *c, uint64_t len)
{
	struct up_tracedat_text none = { "", 0 };

	if (!c->err && len > c->end - c->at)
		up_tracedat_fail(c, "it ends at byte %" PRIu64 ", in the middle of %s", c->end,
				 c->part);
	if (!c->err && (len > UP_TRACEDAT_MAX_TEXT || len > UP_TRACEDAT_MAX_HEAD - c->kept))
		up_tracedat_fail(c, "%s of %" PRIu64 " bytes are more than can be", c->part, len);
	if (c->err)
		return none;
	char *s = up_arena_alloc(c->d->arena, len + 1);
	c->kept += len;
	get(c, s, len);
	return c->err ? none : (struct up_tracedat_text){ s, len };
}

const char *up_tracedat_string(struct up_tracedat_cursor *c)
{
	char s[256];
	size_t len = 0;

	do
		s[len] = (char)up_tracedat_number(c, 1);
	while (s[len] && ++len < sizeof(s));
	if (len == sizeof(s))
		up_tracedat_fail(c, "a name among %s has no end", c->part);
	return c->err ? "" : up_arena_memdup(c->d->arena, s, len);
}

void up_tracedat_skip(struct up_tracedat_cursor *c, uint64_t len)
{
	if (!c->err && len > c->end - c->at)
		up_tracedat_fail(c, "it ends at byte %" PRIu64 ", in the middle of %s", c->end,
				 c->part);
	if (!c->err)
		c->at += len;
}

void up_tracedat_expect(struct up_tracedat_cursor *c, const char *bytes, size_t len)
{
	char got[16];

	get(c, got, len);
	if (!c->err && memcmp(got, bytes, len) != 0)
		up_tracedat_fail(c, "at byte %" PRIu64 " of it something else stands than %s",
				 c->at - len, c->part);
}

/* ---- what both versions share ---- */

void up_tracedat_take_headers(struct up_tracedat_cursor *c)
{
	c->part = "the description of pages";
	up_tracedat_expect(c, "header_page", 12);
	c->d->header_page = up_tracedat_bytes(c, up_tracedat_number(c, 8));
	c->part = "the description of events' heads";
	up_tracedat_expect(c, "header_event", 13);
	c->d->header_event = up_tracedat_bytes(c, up_tracedat_number(c, 8));
}

static void take_format(struct up_tracedat_cursor *c, const char *system)
{
	struct up_tracedat_format f = { system, up_tracedat_bytes(c, up_tracedat_number(c, 8)) };

	if (!c->err && c->d->formats.nr == UP_TRACEDAT_MAX_PARTS)
		up_tracedat_fail(c, "it describes more than %u events", UP_TRACEDAT_MAX_PARTS);
	if (!c->err)
		up_vec_push(c->d->arena, &c->d->formats, f);
}

void up_tracedat_take_formats(struct up_tracedat_cursor *c)
{
	c->part = "the descriptions of events";
	uint64_t nr_systems = up_tracedat_number(c, 4);

	for (uint64_t i = 0; i < nr_systems && !c->err; i++) {
		const char *system = up_tracedat_string(c);
		uint64_t nr = up_tracedat_number(c, 4);

		for (uint64_t k = 0; k < nr && !c->err; k++)
			take_format(c, system);
	}
}

/* What of the pages the file does not have is counted. */
void up_tracedat_add_cpu(struct up_tracedat_cursor *c, uint64_t cpu, uint64_t off, uint64_t size)
{
	struct up_tracedat *d = c->d;
	uint64_t there = off < c->io->size ? c->io->size - off : 0;
	struct up_tracedat_cpu row = { .cpu = (unsigned)cpu, .off = off, .size = size };

	if (!c->err &&
	    (cpu >= UP_TRACEDAT_CPUS || (d->cpus.nr && d->cpus.v[d->cpus.nr - 1].cpu >= cpu)))
		up_tracedat_fail(c, "its processors are numbered in a strange way");
	if (c->err)
		return;
	if (size > there) {
		row.size = there;
		/* A wrong number is not to be told as if so much had been there. */
		d->cut = size - there > UINT64_MAX - d->cut ? UINT64_MAX : d->cut + size - there;
	}
	up_vec_push(d->arena, &d->cpus, row);
}

/* ---- version 6 ---- */

static void skip_ftrace(struct up_tracedat_cursor *c)
{
	c->part = "the descriptions of the kernel's own events";
	uint64_t nr = up_tracedat_number(c, 4);

	for (uint64_t i = 0; i < nr && !c->err; i++)
		up_tracedat_skip(c, up_tracedat_number(c, 8));
}

static void take_option(struct up_tracedat_cursor *c, unsigned id, uint64_t *nr_cpus)
{
	struct up_tracedat_option o = { id, up_tracedat_bytes(c, up_tracedat_number(c, 4)) };
	uint32_t nr;

	if (!c->err && c->d->options.nr == UP_TRACEDAT_MAX_PARTS)
		up_tracedat_fail(c, "it has more than %u options", UP_TRACEDAT_MAX_PARTS);
	if (c->err)
		return;
	up_vec_push(c->d->arena, &c->d->options, o);
	if (id == UP_TRACEDAT_CPUCOUNT && o.data.len == sizeof(nr)) {
		memcpy(&nr, o.data.s, sizeof(nr));
		*nr_cpus = nr;
	}
	if (id == UP_TRACEDAT_CLOCK)
		c->d->clock = o.data.s;
}

static void take_options(struct up_tracedat_cursor *c, uint64_t *nr_cpus)
{
	unsigned id;

	c->part = "the options";
	while ((id = (unsigned)up_tracedat_number(c, 2)) != UP_TRACEDAT_DONE && !c->err)
		take_option(c, id, nr_cpus);
}

static void take_cpus(struct up_tracedat_cursor *c)
{
	char tag[10];

	c->part = "the number of processors";
	uint64_t nr = up_tracedat_number(c, 4);
	get(c, tag, sizeof(tag));
	if (!c->err && !memcmp(tag, "options  ", sizeof(tag))) {
		take_options(c, &nr);
		get(c, tag, sizeof(tag));
	}
	c->part = "the table of pages";
	if (!c->err && !memcmp(tag, "latency  ", sizeof(tag)))
		up_tracedat_fail(c, "it holds text, not pages");
	else if (!c->err && memcmp(tag, "flyrecord", sizeof(tag)) != 0)
		up_tracedat_fail(c, "it does not say where its pages are");
	if (!c->err && nr > UP_TRACEDAT_CPUS)
		up_tracedat_fail(c, "it has more than %u processors", UP_TRACEDAT_CPUS);
	for (uint64_t i = 0; i < nr && !c->err; i++) {
		uint64_t off = up_tracedat_number(c, 8);

		up_tracedat_add_cpu(c, i, off, up_tracedat_number(c, 8));
	}
}

static void take_v6(struct up_tracedat_cursor *c)
{
	up_tracedat_take_headers(c);
	skip_ftrace(c);
	up_tracedat_take_formats(c);
	c->part = "the kernel's symbols";
	up_tracedat_skip(c, up_tracedat_number(c, 4));
	c->part = "the kernel's messages";
	up_tracedat_skip(c, up_tracedat_number(c, 4));
	c->part = "the names of threads";
	c->d->cmdlines = up_tracedat_bytes(c, up_tracedat_number(c, 8));
	take_cpus(c);
}

/* ---- the head ---- */

/* No byte of the file belongs to two processors: else a small file could be one without end. */
static void check_pages(struct up_tracedat_cursor *c)
{
	const struct up_tracedat *d = c->d;
	uint64_t left = c->io->size;

	for (size_t i = 0; i < d->cpus.nr && !c->err; i++) {
		if (d->cpus.v[i].size > left)
			up_tracedat_fail(c, "its table speaks of more pages than it has");
		else
			left -= d->cpus.v[i].size;
	}
}

static void take_head(struct up_tracedat_cursor *c)
{
	struct up_tracedat *d = c->d;
	char magic[10];

	c->part = "its first bytes";
	get(c, magic, sizeof(magic));
	if (c->err != -EPROTO && memcmp(magic, UP_TRACEDAT_MAGIC, sizeof(magic)) == 0)
		d->version = (unsigned)strtoul(up_tracedat_string(c), NULL, 10);
	else if (!c->err || c->err == -EPROTO) {
		up_buf_reset(c->why);
		c->err = 0;
		up_tracedat_fail(c, "it is no trace.dat file");
	}
	if (!c->err && d->version != 6 && d->version != 7)
		up_tracedat_fail(c, "its format is another one than 6 and 7");
	if (up_tracedat_number(c, 1) != (BYTE_ORDER == BIG_ENDIAN) && !c->err)
		up_tracedat_fail(c, "it comes from a machine of the other byte order");
	up_tracedat_number(c, 1); /* the size of a `long`: header_page says it */
	d->page_size = (uint32_t)up_tracedat_number(c, 4);
	if (!c->err && (d->page_size < UP_RINGPAGE_MIN || d->page_size > UP_RINGPAGE_MAX ||
			(d->page_size & (d->page_size - 1))))
		up_tracedat_fail(c, "its pages have %" PRIu32 " bytes, which no kernel's have",
				 d->page_size);
	if (!c->err && d->version == 6)
		take_v6(c);
	else if (!c->err)
		up_tracedat_take_v7(c);
	check_pages(c);
	d->head_size = c->at;
}

int up_tracedat_read(struct up_tracedat *d, const struct up_tracedat_io *io, struct up_buf *why)
{
	struct up_tracedat_cursor c = { .d = d, .io = io, .end = io->size, .why = why };
	jmp_buf oom;

	*d = (struct up_tracedat){ .arena = up_arena_new() };
	if (!d->arena)
		return -ENOMEM;
	up_arena_on_oom(d->arena, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(d->arena, NULL);
		return -ENOMEM;
	}
	take_head(&c);
	up_arena_on_oom(d->arena, NULL);
	return c.err;
}

void up_tracedat_fini(struct up_tracedat *d)
{
	up_arena_free(d->arena);
	*d = (struct up_tracedat){ 0 };
}

const struct up_tracedat_option *up_tracedat_find(const struct up_tracedat *d, unsigned id)
{
	for (size_t i = 0; i < d->options.nr; i++)
		if (d->options.v[i].id == id)
			return &d->options.v[i];
	return NULL;
}
