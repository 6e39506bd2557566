/*
 * Output as comma-separated values (RFC 4180, lines ending as on Unix). Each print and each
 * aggregation makes a block: a line of names, then rows. A block that follows other rows begins
 * with an empty line.
 *
 * Numbers are exact and without units, a fault is an empty field, control characters are escaped as
 * in text. printf() writes what it says.
 */
#include <string.h>

#include "lang/base/text.h"
#include "runtime/out_forms.h"
#include "runtime/out_put.h"

/* A field, in quotes where it needs them; control characters become \n, \xNN. */
static void put_text(struct up_out *o, const char *s, size_t len)
{
	struct up_buf *b = &o->buf, *text = &o->escaped;
	bool quote;

	up_buf_reset(text);
	up_text_escape(text, s, len, 0);
	quote = !text->len || text->s[0] == ' ' || text->s[text->len - 1] == ' ' ||
		memchr(text->s, '"', text->len) || memchr(text->s, ',', text->len);
	up_buf_puts(b, quote ? "\"" : "");
	for (size_t i = 0; i < text->len; i++) {
		if (text->s[i] == '"')
			up_buf_putc(b, '"');
		up_buf_putc(b, text->s[i]);
	}
	up_buf_puts(b, quote ? "\"" : "");
	b->failed |= text->failed;
}

/* What was put together in o->field. */
static void put_field(struct up_out *o)
{
	put_text(o, o->field.len ? o->field.s : "", o->field.len);
	o->buf.failed |= o->field.failed;
}

static void put_char(struct up_out *o, struct up_type t, uint64_t u)
{
	char c = (char)u;

	if (u > 0xff && t.bits != 8)
		up_put_dec(&o->buf, u, true);
	else
		put_text(o, &c, 1);
}

static void put_array(struct up_out *o, struct up_type t, const struct up_value *v)
{
	up_buf_reset(&o->field);
	up_out_value(&o->field, t, v);
	put_field(o);
}

/* Text of which only the first part could be read ends with three dots. */
static void put_string(struct up_out *o, const struct up_value *v)
{
	if (!(v->flags & UP_VALUE_CUT)) {
		put_text(o, v->p, v->len);
		return;
	}
	up_buf_reset(&o->field);
	up_buf_add(&o->field, v->p, v->len);
	up_buf_puts(&o->field, "...");
	put_field(o);
}

static void put_value(struct up_out *o, struct up_type t, const struct up_value *v)
{
	if (v->flags & UP_VALUE_FAULT)
		return;
	if (t.ty == TY_STR)
		put_string(o, v);
	else if (t.ty == TY_ARRAY)
		put_array(o, t, v);
	else if (t.ty == TY_INT && t.show == UP_SHOW_CHAR)
		put_char(o, t, v->u);
	else
		up_out_value(&o->buf, t, v);
}

/* Begins the block of `what`, unless it goes on: true when a line of names is to follow. */
static bool start_block(struct up_out *o, const void *what)
{
	if (o->block == what)
		return false;
	if (o->block)
		up_buf_putc(&o->buf, '\n');
	o->block = what;
	return true;
}

/* ---- hits ---- */

static void print_csv(struct up_out *o, const struct up_out_hit *h, const struct up_plan_print *p,
		      const struct up_value *v)
{
	struct up_buf *b = &o->buf;

	if (start_block(o, p)) {
		up_buf_puts(b, "time,wall,comm,tid,probe,return");
		for (uint32_t i = 0; i < p->nr; i++) {
			up_buf_putc(b, ',');
			put_text(o, p->labels[i], strlen(p->labels[i]));
		}
		up_buf_putc(b, '\n');
	}
	up_put_dec(b, h->time, false);
	up_buf_putc(b, ',');
	if (o->wall_offset)
		up_put_utc(b, o, h->time);
	up_buf_putc(b, ',');
	put_text(o, h->comm, h->comm_len);
	up_buf_putc(b, ',');
	up_put_dec(b, (uint64_t)h->tid, true);
	up_buf_putc(b, ',');
	put_text(o, h->probe, strlen(h->probe));
	up_buf_puts(b, h->is_return ? ",true" : ",false");
	for (uint32_t i = 0; i < p->nr; i++) {
		up_buf_putc(b, ',');
		put_value(o, p->types[i], &v[i]);
	}
	up_buf_putc(b, '\n');
}

static void text_csv(struct up_out *o, const struct up_out_hit *h, const char *s, size_t len)
{
	(void)h;
	up_buf_add(&o->buf, s, len);
}

/* ---- aggregations ---- */

/* "sizes", "sizes.p50", "zsh:zfree: count()" */
static void put_field_name(struct up_out *o, const struct up_plan_agg *p, const char *field)
{
	struct up_buf *text = &o->field;

	up_buf_reset(text);
	if (!p->is_named && p->where)
		up_buf_printf(text, "%s: ", p->where);
	up_buf_puts(text, p->name);
	if (field)
		up_buf_printf(text, ".%s", field);
	put_field(o);
}

static void put_names(struct up_out *o, const struct up_plan_agg *p)
{
	static const char *const bucket[] = { "lo", "hi", "count" };
	unsigned nr = p->row->bucket ? 3 : p->row->nr_fields;
	struct up_buf *b = &o->buf;

	for (uint32_t k = 0; k < p->nr_keys; k++) {
		put_text(o, p->key_labels[k], strlen(p->key_labels[k]));
		up_buf_putc(b, ',');
	}
	for (unsigned f = 0; f < nr; f++) {
		up_buf_puts(b, f ? "," : "");
		put_field_name(o, p,
			       p->row->bucket ? bucket[f]
			       : nr > 1       ? p->row->fields[f].name
					      : NULL);
	}
	up_buf_putc(b, '\n');
}

static void put_keys(struct up_out *o, const struct up_plan_agg *p, const struct up_out_row *row)
{
	for (uint32_t k = 0; k < p->nr_keys; k++) {
		put_value(o, p->key_types[k], &row->keys[k]);
		up_buf_putc(&o->buf, ',');
	}
}

static void put_fields(struct up_out *o, const struct up_out_agg *a, const struct up_out_row *row)
{
	const struct up_agg_row *r = a->plan->row;
	struct up_buf *b = &o->buf;

	put_keys(o, a->plan, row);
	for (unsigned f = 0; f < r->nr_fields; f++) {
		struct up_value v = r->field(row->cell, &a->cx, f);

		up_buf_puts(b, f ? "," : "");
		put_value(o, r->field_type(f, &a->cx), &v);
	}
	up_buf_putc(b, '\n');
}

/* A line for each bucket; a bound that is open is empty. */
static void put_buckets(struct up_out *o, const struct up_out_agg *a, const struct up_out_row *row)
{
	struct up_buf *b = &o->buf;
	struct up_agg_bucket u;

	for (unsigned i = 0; a->plan->row->bucket(row->cell, &a->cx, i, &u); i++) {
		put_keys(o, a->plan, row);
		if (u.has_lo)
			put_value(o, u.type, &u.lo);
		up_buf_putc(b, ',');
		if (u.has_hi)
			put_value(o, u.type, &u.hi);
		up_buf_putc(b, ',');
		up_put_dec(b, u.count, false);
		up_buf_putc(b, '\n');
	}
}

static void agg_csv(struct up_out *o, const struct up_out_agg *a)
{
	o->block = o->block ? a : NULL; /* each time it is shown is a block of its own */
	start_block(o, a->plan);
	put_names(o, a->plan);
	for (size_t i = 0; i < a->nr_rows; i++) {
		if (a->plan->row->bucket)
			put_buckets(o, a, &a->rows[i]);
		else
			put_fields(o, a, &a->rows[i]);
	}
}

const struct up_out_form up_out_csv = {
	.name = "csv",
	.help = "comma-separated values, for spreadsheets and databases",
	.print = print_csv,
	.text = text_csv,
	.agg = agg_csv,
};
