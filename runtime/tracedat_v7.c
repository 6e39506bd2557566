/* Reading the head of a trace.dat of version 7: sections, and options that say where they are. */
#include <inttypes.h>
#include <string.h>

#include "runtime/tracedat_int.h"

#define MAX_SECTIONS 1024 /* lists of options that follow each other */

/* A cursor over the data of an option. */
static struct up_tracedat_cursor inside(const struct up_tracedat_cursor *c,
					const struct up_tracedat_option *o, const char *part)
{
	struct up_tracedat_cursor in = *c;

	in.mem = (const unsigned char *)o->data.s;
	in.at = 0;
	in.end = o->data.len;
	in.part = part;
	return in;
}

/* What reading inside of something came to. */
static void leave(struct up_tracedat_cursor *c, const struct up_tracedat_cursor *in)
{
	c->err = in->err;
	c->kept = in->kept;
}

/* Goes to a section and reads its head; what follows is its data. */
static void enter_section(struct up_tracedat_cursor *c, uint64_t off, unsigned id)
{
	if (c->err)
		return;
	c->part = "a section";
	if (off >= c->end) {
		up_tracedat_fail(c, "it ends before its section at byte %" PRIu64, off);
		return;
	}
	c->at = off;
	unsigned is = (unsigned)up_tracedat_number(c, 2);
	unsigned flags = (unsigned)up_tracedat_number(c, 2);

	up_tracedat_skip(c, 4 + 8); /* its description, its size */
	if (!c->err && is != id)
		up_tracedat_fail(c, "at byte %" PRIu64 " is section %u and not %u", off, is, id);
	if (!c->err && (flags & 1))
		up_tracedat_fail(c, "it is compressed");
}

/* The table of the pages of the main buffer; those of other instances are passed over. */
static void take_buffer(struct up_tracedat_cursor *c, const struct up_tracedat_option *o)
{
	struct up_tracedat_cursor in = inside(c, o, "the table of pages");

	up_tracedat_skip(&in, 8); /* where the section is */
	const char *name = up_tracedat_string(&in);
	if (in.err || *name) {
		leave(c, &in);
		return;
	}
	c->d->clock = up_arena_printf(c->d->arena, "[%s]", up_tracedat_string(&in));
	up_tracedat_number(&in, 4); /* the size of pages, once more */
	uint64_t nr = up_tracedat_number(&in, 4);
	for (uint64_t i = 0; i < nr && !in.err; i++) {
		uint64_t cpu = up_tracedat_number(&in, 4), off = up_tracedat_number(&in, 8);

		up_tracedat_add_cpu(&in, cpu, off, up_tracedat_number(&in, 8));
	}
	leave(c, &in);
}

/* One list of options; where the next one is, 0 for nowhere. */
static uint64_t take_options(struct up_tracedat_cursor *c, uint64_t off)
{
	enter_section(c, off, UP_TRACEDAT_DONE);
	c->part = "the options";
	while (!c->err) {
		struct up_tracedat_option o = { .id = (unsigned)up_tracedat_number(c, 2) };

		o.data = up_tracedat_bytes(c, up_tracedat_number(c, 4));
		if (!c->err && c->d->options.nr == UP_TRACEDAT_MAX_PARTS)
			up_tracedat_fail(c, "it has more than %u options", UP_TRACEDAT_MAX_PARTS);
		if (c->err)
			break;
		if (o.id == UP_TRACEDAT_DONE) {
			struct up_tracedat_cursor in = inside(c, &o, c->part);

			off = up_tracedat_number(&in, 8);
			leave(c, &in);
			return off;
		}
		up_vec_push(c->d->arena, &c->d->options, o);
		if (o.id == UP_TRACEDAT_BUFFER)
			take_buffer(c, &o);
	}
	return 0;
}

/* Goes to the section that an option points to. False when there is no such option. */
static bool enter_optional(struct up_tracedat_cursor *c, unsigned id)
{
	const struct up_tracedat_option *o = c->err ? NULL : up_tracedat_find(c->d, id);

	if (!o)
		return false;
	struct up_tracedat_cursor in = inside(c, o, "the list of sections");
	uint64_t off = up_tracedat_number(&in, 8);
	leave(c, &in);
	enter_section(c, off, id);
	return !c->err;
}

void up_tracedat_take_v7(struct up_tracedat_cursor *c)
{
	unsigned nr = 0;

	c->part = "its first bytes";
	up_tracedat_string(c); /* how it is compressed: each section says whether it is */
	up_tracedat_string(c);
	uint64_t off = up_tracedat_number(c, 8);
	for (; off && !c->err && nr < MAX_SECTIONS; nr++)
		off = take_options(c, off);
	if (nr == MAX_SECTIONS)
		up_tracedat_fail(c, "its lists of options do not end");
	if (enter_optional(c, UP_TRACEDAT_HEADER_INFO))
		up_tracedat_take_headers(c);
	if (enter_optional(c, UP_TRACEDAT_FORMATS))
		up_tracedat_take_formats(c);
	if (enter_optional(c, UP_TRACEDAT_CMDLINES)) {
		c->part = "the names of threads";
		c->d->cmdlines = up_tracedat_bytes(c, up_tracedat_number(c, 8));
	}
}
