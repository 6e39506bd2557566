/* Histograms for people: a row for each bucket, with a bar. */
#include <math.h>
#include <string.h>

#include "lang/base/text.h"
#include "lang/number.h"
#include "runtime/out_agg.h"
#include "runtime/units.h"

#define USUAL_WIDTH 80 /* columns, where there is no terminal */
#define LONGEST_BAR 60
#define SHORTEST_BAR 10

/* One histogram being written. */
struct hist {
	struct up_out *out;
	const struct up_out_agg *agg;
	const void *cell;
	size_t label_width, count_width, bar;
	uint64_t most; /* the largest count */
	struct up_buf text;
};

static void put_bound(struct up_buf *b, const struct up_agg_bucket *u, const struct up_value *v)
{
	struct up_type t = u->type;

	if (t.show == UP_SHOW_NS)
		up_put_duration(b, up_value_double(t, v), t.ty == TY_INT, "");
	else if (t.ty == TY_FLOAT)
		up_put_float_short(b, v->f);
	else if (u->is_power)
		up_put_binary(b, t, v);
	else
		up_out_value(b, t, v);
}

static bool is_infinite(const struct up_agg_bucket *u)
{
	return u->type.ty == TY_FLOAT &&
	       ((u->has_lo && isinf(u->lo.f)) || (u->has_hi && !u->has_lo && isinf(u->hi.f)));
}

/* Does it hold one whole number? */
static bool is_single(const struct up_agg_bucket *u)
{
	return u->type.ty == TY_INT && u->has_lo && u->has_hi &&
	       !((u->lo.flags | u->hi.flags) & UP_VALUE_WIDE) && u->hi.u - u->lo.u == 1;
}

static void make_label(struct hist *h, const struct up_agg_bucket *u)
{
	struct up_buf *b = &h->text;

	up_buf_reset(b);
	if (!u->has_lo && !u->has_hi) {
		up_buf_puts(b, "nan");
	} else if (is_infinite(u)) {
		up_put_float_short(b, u->has_lo ? u->lo.f : u->hi.f);
	} else if (is_single(u)) {
		up_buf_putc(b, '[');
		put_bound(b, u, &u->lo);
		up_buf_putc(b, ']');
	} else {
		up_buf_puts(b, u->has_lo ? "[" : "(...");
		if (u->has_lo)
			put_bound(b, u, &u->lo);
		up_buf_puts(b, ", ");
		if (u->has_hi)
			put_bound(b, u, &u->hi);
		up_buf_puts(b, u->has_hi ? ")" : "...)");
	}
}

static size_t digits(uint64_t u)
{
	char text[UP_PUT_DIGITS];

	return strlen(up_put_digits(text, u, 10, false));
}

static void measure(struct hist *h)
{
	size_t columns = h->out->columns ? h->out->columns : USUAL_WIDTH;
	struct up_agg_bucket u;

	for (unsigned i = 0; h->agg->plan->row->bucket(h->cell, &h->agg->cx, i, &u); i++) {
		make_label(h, &u);
		if (h->text.len > h->label_width)
			h->label_width = h->text.len;
		h->most = u.count > h->most ? u.count : h->most;
	}
	h->count_width = digits(h->most);
	size_t used = 2 + h->label_width + 2 + h->count_width + 2;
	h->bar = columns > used + SHORTEST_BAR ? columns - used : SHORTEST_BAR;
	if (h->bar > LONGEST_BAR)
		h->bar = LONGEST_BAR;
}

/* What is there has a bar, however short. */
static void put_bar(struct hist *h, uint64_t count)
{
	struct up_buf *b = &h->out->buf;
	size_t steps = h->out->unicode ? 8 : 1;
	size_t n = (size_t)((double)count / (double)h->most * (double)(h->bar * steps) + 0.5);

	n = count && !n ? 1 : n;
	if (!h->out->unicode) {
		up_buf_fill(b, '#', n);
		return;
	}
	for (; n >= 8; n -= 8)
		up_buf_puts(b, "\xe2\x96\x88");
	if (n) { /* from seven eighths, U+2589, to one, U+258F */
		const char part[] = { '\xe2', '\x96', (char)(0x90 - (int)n), 0 };

		up_buf_puts(b, part);
	}
}

static void put_hist(struct hist *h)
{
	struct up_buf *b = &h->out->buf;
	struct up_agg_bucket u;
	char text[UP_PUT_DIGITS];

	measure(h);
	for (unsigned i = 0; h->agg->plan->row->bucket(h->cell, &h->agg->cx, i, &u); i++) {
		make_label(h, &u);
		up_buf_puts(b, "  ");
		up_put_padded(b, &h->text, h->label_width, false);
		up_buf_puts(b, "  ");
		const char *n = up_put_digits(text, u.count, 10, false);
		up_buf_fill(b, ' ', h->count_width - strlen(n));
		up_buf_puts(b, n);
		up_buf_puts(b, u.count ? "  " : "");
		put_bar(h, u.count);
		up_buf_putc(b, '\n');
	}
}

/* "zsh, 17 (1234)": whose histogram follows, and how many values it has. */
static void put_keys(struct hist *h, const struct up_out_row *row)
{
	const struct up_plan_agg *p = h->agg->plan;
	struct up_buf *b = &h->out->buf;

	up_buf_reset(&h->text);
	for (uint32_t k = 0; k < p->nr_keys; k++) {
		up_buf_puts(&h->text, k ? ", " : "");
		up_out_key(&h->text, p->key_types[k], &row->keys[k]);
	}
	if (h->out->columns > 30)
		up_out_shorten(&h->text, h->out->columns - 25, h->out->unicode);
	up_buf_add(b, h->text.s, h->text.len);
	up_buf_puts(b, " (");
	up_out_result(b, h->agg, row->cell, 0);
	up_buf_puts(b, ")\n");
}

void up_out_bars(struct up_out *o, const struct up_out_agg *a)
{
	for (size_t i = 0; i < a->nr_rows; i++) {
		struct hist h = { .out = o, .agg = a, .cell = a->rows[i].cell };

		up_buf_puts(&o->buf, i ? "\n" : "");
		if (a->plan->nr_keys)
			put_keys(&h, &a->rows[i]);
		put_hist(&h);
		o->buf.failed |= h.text.failed;
		up_buf_fini(&h.text);
	}
}
