/* Writing the head of a trace.dat of version 6. */
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/tracedat_int.h"

static void put_number(struct up_buf *b, uint64_t v, unsigned bytes)
{
	up_buf_add(b, (const char *)&v + (BYTE_ORDER == LITTLE_ENDIAN ? 0 : 8 - bytes), bytes);
}

static void put_sized(struct up_buf *b, const struct up_tracedat_text *t)
{
	put_number(b, t->len, 8);
	up_buf_add(b, t->s, t->len);
}

/* The events of one system stand together. */
static size_t count_system(const struct up_tracedat *d, size_t first)
{
	size_t i = first;

	while (i < d->formats.nr && !strcmp(d->formats.v[i].system, d->formats.v[first].system))
		i++;
	return i - first;
}

static void put_formats(const struct up_tracedat *d, struct up_buf *b)
{
	uint64_t nr_systems = 0;
	size_t n;

	for (size_t i = 0; i < d->formats.nr; i += count_system(d, i))
		nr_systems++;
	put_number(b, nr_systems, 4);
	for (size_t i = 0; i < d->formats.nr; i += n) {
		n = count_system(d, i);
		up_buf_add(b, d->formats.v[i].system, strlen(d->formats.v[i].system) + 1);
		put_number(b, n, 4);
		for (size_t k = 0; k < n; k++)
			put_sized(b, &d->formats.v[i + k].text);
	}
}

static void put_option(struct up_buf *b, unsigned id, const void *data, size_t len)
{
	put_number(b, id, 2);
	put_number(b, len, 4);
	up_buf_add(b, data, len);
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Every number up to the highest has a row in the table. */
static unsigned table_rows(const struct up_tracedat *d)
{
	return d->cpus.nr ? d->cpus.v[d->cpus.nr - 1].cpu + 1 : 0;
}

static void place_pages(struct up_tracedat *d, uint64_t first)
{
	uint64_t off = round_up(first, d->page_size);

	for (size_t i = 0; i < d->cpus.nr; i++) {
		d->cpus.v[i].off = off;
		off = round_up(off + d->cpus.v[i].size, d->page_size);
	}
}

static void put_table(const struct up_tracedat *d, struct up_buf *b)
{
	size_t next = 0;

	for (unsigned cpu = 0; cpu < table_rows(d); cpu++) {
		bool has = d->cpus.v[next].cpu == cpu;

		put_number(b, has ? d->cpus.v[next].off : 0, 8);
		put_number(b, has ? d->cpus.v[next].size : 0, 8);
		next += has;
	}
}

static void put_first(const struct up_tracedat *d, struct up_buf *b)
{
	up_buf_add(b, UP_TRACEDAT_MAGIC, sizeof(UP_TRACEDAT_MAGIC) - 1);
	up_buf_add(b, "6", 2);
	put_number(b, BYTE_ORDER == BIG_ENDIAN, 1);
	put_number(b, sizeof(long), 1);
	put_number(b, d->page_size, 4);
	up_buf_add(b, "header_page", 12);
	put_sized(b, &d->header_page);
	up_buf_add(b, "header_event", 13);
	put_sized(b, &d->header_event);
	put_number(b, 0, 4); /* the kernel's own events: none */
	put_formats(d, b);
	put_number(b, 0, 4); /* the kernel's symbols: none */
	put_number(b, 0, 4); /* and messages */
	put_sized(b, &d->cmdlines);
}

static void put_options(const struct up_tracedat *d, uint32_t nr_cpus, struct up_buf *b)
{
	up_buf_add(b, "options  ", 10);
	put_option(b, UP_TRACEDAT_CPUCOUNT, &nr_cpus, sizeof(nr_cpus));
	if (d->clock)
		put_option(b, UP_TRACEDAT_CLOCK, d->clock, strlen(d->clock) + 1);
	for (size_t i = 0; i < d->options.nr; i++)
		put_option(b, d->options.v[i].id, d->options.v[i].data.s, d->options.v[i].data.len);
	put_number(b, UP_TRACEDAT_DONE, 2);
}

void up_tracedat_put(struct up_tracedat *d, uint64_t reserve, struct up_buf *out)
{
	uint32_t rows = table_rows(d);
	struct up_tracedat_text clock = { d->clock, d->clock ? strlen(d->clock) : 0 };

	put_first(d, out);
	put_number(out, rows, 4);
	put_options(d, rows, out);
	up_buf_add(out, "flyrecord", 10);
	uint64_t size = out->len + (uint64_t)rows * 16 + (clock.s ? 8 + clock.len : 0);
	place_pages(d, size > reserve ? size : reserve);
	put_table(d, out);
	/* A reader that has met the option takes the clock from here. */
	if (clock.s)
		put_sized(out, &clock);
	d->head_size = size;
}

void up_tracedat_header_page(unsigned commit_size, size_t page_size, struct up_buf *out)
{
	unsigned data = 8 + commit_size;

	up_buf_printf(out, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	up_buf_printf(out, "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n",
		      commit_size);
	up_buf_printf(out, "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n");
	up_buf_printf(out, "\tfield: char data;\toffset:%u;\tsize:%zu;\tsigned:1;\n", data,
		      page_size - data);
}
