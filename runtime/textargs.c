/* Arguments of probe events in trace text: see kernel/trace/trace_uprobe.c, trace_probe.c. */
#include "runtime/textargs.h"

#include <string.h>

#include "runtime/textscan.h"

#define FAULT "(fault)"
#define MAX_TRIES 256 /* ends of strings that are looked at, before a text is given up */

/* One text being read. */
struct reader {
	const struct up_textshape *shape;
	unsigned char *rec;     /* the record */
	unsigned char *scratch; /* another one, for ways to read that are only counted */
	size_t used;            /* bytes of it */
	unsigned tries;         /* that are left */
	bool is_retold;         /* a tool has written the text, not the kernel */
	bool is_open;           /* the text ended inside a string */
};

void up_textargs_store(unsigned char *rec, const struct up_field *f, unsigned size, unsigned i,
		       uint64_t v)
{
	unsigned char *at = rec + f->off + (size_t)size * i;
	uint32_t v4 = (uint32_t)v;
	uint16_t v2 = (uint16_t)v;

	if (size == 8)
		memcpy(at, &v, 8);
	else if (size == 4)
		memcpy(at, &v4, 4);
	else if (size == 2)
		memcpy(at, &v2, 2);
	else
		*at = (unsigned char)v;
}

/* A number of `size` bytes: "12", "-12" where it is signed, "0x12", "'a'". */
static bool scan_number(struct up_textscan *c, unsigned size, bool is_signed, uint64_t *v)
{
	uint64_t max = size < 8 ? (1ull << 8 * size) - 1 : UINT64_MAX;

	if (c->p == c->end)
		return false;
	if (*c->p == '0' && c->end - c->p > 1 && c->p[1] == 'x') {
		c->p += 2;
		return up_textscan_hex(c, max, v);
	}
	if (*c->p == '\'' && size == 1 && c->end - c->p > 2 && c->p[2] == '\'') {
		*v = (unsigned char)c->p[1];
		c->p += 3;
		return true;
	}
	if (!is_signed)
		return up_textscan_decimal(c, max, v);
	bool minus = up_textscan_char(c, '-');
	if (!up_textscan_decimal(c, max / 2 + minus, v))
		return false;
	*v = minus ? -*v : *v;
	return true;
}

static bool scan_numbers(struct reader *r, struct up_textscan *c, const struct up_textarg *a)
{
	unsigned nr = a->count ? a->count : 1, size = a->field.size / nr;
	uint64_t v;

	/* The library of trace-cmd and perf shows each element of an array as 0 (1.7.1). */
	if (a->count && (r->is_retold || !up_textscan_char(c, '{')))
		return false;
	for (unsigned i = 0; i < nr; i++) {
		if (i && !up_textscan_char(c, ','))
			return false;
		if (!scan_number(c, size, a->field.is_signed, &v))
			return false;
		up_textargs_store(r->rec, &a->field, size, i, v);
	}
	return !a->count || up_textscan_char(c, '}');
}

/* " name=" */
static bool scan_label(struct up_textscan *c, const struct up_textarg *a)
{
	if ((size_t)(c->end - c->p) < a->name_len + 2u || *c->p != ' ' ||
	    memcmp(c->p + 1, a->name, a->name_len) != 0 || c->p[a->name_len + 1] != '=')
		return false;
	c->p += a->name_len + 2;
	return true;
}

/* Places a string's text into the record, with a NUL behind it. */
static bool place_string(struct reader *r, const struct up_field *f, const char *s, size_t len)
{
	if (len >= UP_TEXTARGS_RECORD - r->used)
		return false;
	memcpy(r->rec + r->used, s, len);
	r->rec[r->used + len] = 0;
	up_textargs_store(r->rec, f, 4, 0, (uint64_t)(len + 1) << 16 | r->used);
	r->used += len + 1;
	return true;
}

static unsigned scan_args(struct reader *r, struct up_textscan c, uint32_t i);

/*
 * The string of argument i at c, and all arguments behind it. Returns in how many ways they can be
 * read, counting up to two; the record has the first of them.
 */
static unsigned scan_string(struct reader *r, struct up_textscan c, uint32_t i)
{
	const struct up_field *f = &r->shape->args[i].field;
	unsigned char *rec = r->rec;
	size_t before = r->used, after = before;
	const char *from = c.p, *close;
	unsigned ways = 0;

	while (ways < 2 && (close = memchr(c.p, '"', (size_t)(c.end - c.p)))) {
		c.p = close + 1;
		if (close - from > r->shape->args[i].max_len)
			break;
		if (c.p < c.end && *c.p != ' ')
			continue;
		if (!r->tries--) {
			ways = 2;
			break;
		}
		if (ways)
			r->rec = r->scratch;
		r->used = before;
		if (place_string(r, f, from, (size_t)(close - from)))
			ways += scan_args(r, c, i + 1);
		if (ways && r->rec == rec)
			after = r->used;
	}
	r->rec = rec;
	r->used = after;
	r->is_open |= !ways && c.end - from <= r->shape->args[i].max_len;
	return ways > 1 ? 2 : ways;
}

/* Arguments from number i on, to the end of the text; as scan_string(). */
static unsigned scan_args(struct reader *r, struct up_textscan c, uint32_t i)
{
	for (; i < r->shape->nr_args; i++) {
		const struct up_textarg *a = &r->shape->args[i];

		if (!scan_label(&c, a))
			return 0;
		if (!a->field.is_dynamic) {
			if (!scan_numbers(r, &c, a))
				return 0;
			continue;
		}
		if (up_textscan_char(&c, '"'))
			return scan_string(r, c, i);
		if (!up_textscan_word(&c, FAULT))
			return 0;
		up_textargs_store(r->rec, &a->field, 4, 0, 0);
	}
	up_textscan_blanks(&c);
	return c.p == c.end;
}

/* "(0x401136)", of a return "(0x7f01 <- 0x401136)"; of trace-cmd and perf without 0x. */
static bool scan_place(struct reader *r, struct up_textscan *c)
{
	const struct up_textshape *shape = r->shape;
	uint64_t ip, ret_ip = 0;

	if (!up_textscan_char(c, '('))
		return false;
	r->is_retold = !up_textscan_word(c, "0x");
	if (!up_textscan_hex(c, UINT64_MAX, &ip))
		return false;
	if (shape->ret_ip.size) {
		ret_ip = ip;
		if (!up_textscan_word(c, " <- "))
			return false;
		up_textscan_word(c, "0x");
		if (!up_textscan_hex(c, UINT64_MAX, &ip))
			return false;
		up_textargs_store(r->rec, &shape->ret_ip, shape->ret_ip.size, 0, ret_ip);
	}
	up_textargs_store(r->rec, &shape->ip, shape->ip.size, 0, ip);
	return up_textscan_char(c, ')');
}

enum up_textargs_result up_textargs_parse(const struct up_textshape *shape, const char *s,
					  size_t len, unsigned char *rec, uint32_t *rec_len)
{
	unsigned char scratch[UP_TEXTARGS_RECORD];
	struct up_textscan c = { s, s + len };
	struct reader r = { .shape = shape,
			    .rec = rec,
			    .scratch = scratch,
			    .used = shape->fixed_size,
			    .tries = MAX_TRIES };
	struct up_textscan first;

	if (!scan_place(&r, &c))
		return UP_TEXTARGS_OTHER;
	first = c;
	if (shape->nr_args && !scan_label(&first, &shape->args[0]))
		return UP_TEXTARGS_OTHER;
	unsigned ways = scan_args(&r, c, 0);
	if (ways != 1)
		return !ways && r.is_open ? UP_TEXTARGS_OPEN : UP_TEXTARGS_BROKEN;
	while (r.used % 4)
		rec[r.used++] = 0;
	*rec_len = (uint32_t)r.used;
	return UP_TEXTARGS_OK;
}
