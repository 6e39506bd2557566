/* Output for people: a line for a print, a table for an aggregation. */
#include <string.h>

#include "lang/base/text.h"
#include "runtime/element.h"
#include "runtime/out_forms.h"
#include "runtime/out_put.h"

#define WHO_COLUMNS 20   /* room for comm[tid] before the probe's name */
#define MAX_COLUMNS 16   /* columns of a table that are aligned, the value's included */
#define WIDEST_COLUMN 60 /* a wider cell moves what follows it, in its own row alone */

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static void escape(struct up_buf *b, const char *s)
{
	up_text_escape(b, s, strlen(s), 0);
}

static void put_char(struct up_buf *b, uint64_t u)
{
	char c = (char)u;

	if (u > 0xff) { /* no byte: its number says more */
		up_put_dec(b, u, true);
		return;
	}
	up_buf_putc(b, '\'');
	up_text_escape(b, &c, 1, '\'');
	up_buf_putc(b, '\'');
}

static void put_int(struct up_buf *b, struct up_type t, uint64_t u)
{
	switch (t.show) {
	case UP_SHOW_HEX:
		up_put_hex(b, t, u);
		break;
	case UP_SHOW_CHAR:
		put_char(b, t.bits == 8 ? u & 0xff : u);
		break;
	case UP_SHOW_BOOL:
		up_buf_puts(b, u ? "true" : "false");
		break;
	default:
		up_put_dec(b, u, t.is_signed);
		break;
	}
}

static void put_string(struct up_buf *b, const struct up_value *v)
{
	up_buf_putc(b, '"');
	up_text_escape(b, v->p, v->len, '"');
	up_buf_putc(b, '"');
}

void up_out_value(struct up_buf *b, struct up_type t, const struct up_value *v)
{
	enum up_ty ty = v->flags & UP_VALUE_FAULT ? TY_NONE : t.ty;

	switch (ty) {
	case TY_INT:
		put_int(b, t, v->u);
		break;
	case TY_FLOAT:
		up_put_float(b, v->f, t.bits);
		break;
	case TY_STR:
		put_string(b, v);
		break;
	case TY_BYTES:
		up_put_bytes(b, v->p, v->len);
		break;
	case TY_ARRAY:
		up_buf_putc(b, '{');
		up_element_list(b, t, v, up_out_value);
		up_buf_putc(b, '}');
		break;
	default:
		up_buf_puts(b, "(fault)");
		return;
	}
	if (up_ty_has_bytes(ty) && v->flags & UP_VALUE_CUT)
		up_buf_puts(b, "...");
}

/* ---- lines ---- */

static void put_who(struct up_buf *b, const struct up_out_hit *h)
{
	size_t start = b->len;

	up_text_escape(b, h->comm, h->comm_len, 0);
	up_buf_putc(b, '[');
	up_put_dec(b, (uint64_t)h->tid, true);
	up_buf_putc(b, ']');
	size_t columns = b->failed ? 0 : up_text_columns(b->s + start, b->len - start);
	if (columns < WHO_COLUMNS)
		up_buf_fill(b, ' ', WHO_COLUMNS - columns);
}

static void print_text(struct up_out *o, const struct up_out_hit *h, const struct up_plan_print *p,
		       const struct up_value *v)
{
	struct up_buf *b = &o->buf;

	up_buf_puts(b, o->colour ? DIM : "");
	up_put_clock(b, o, h->time);
	up_buf_puts(b, o->colour ? PLAIN " " : " ");
	put_who(b, h);
	up_buf_puts(b, o->colour ? " " BOLD : " ");
	escape(b, h->probe);
	up_buf_puts(b, h->is_return ? " return" : "");
	up_buf_puts(b, o->colour ? PLAIN : "");
	for (uint32_t i = 0; i < p->nr; i++) {
		up_buf_putc(b, ' ');
		escape(b, p->labels[i]);
		up_buf_putc(b, '=');
		up_out_value(b, p->types[i], &v[i]);
	}
	up_buf_putc(b, '\n');
}

static void text_text(struct up_out *o, const struct up_out_hit *h, const char *s, size_t len)
{
	(void)h;
	up_buf_add(&o->buf, s, len);
}

/* ---- aggregations ---- */

/* A table being written: its cells are made in `cell`, measured, then put in their columns. */
struct table {
	const struct up_plan_agg *agg;
	const struct up_out_row *rows;
	size_t nr_rows;
	size_t width[MAX_COLUMNS]; /* of each key, then of the value */
	struct up_buf cell;
};

static size_t nr_columns(const struct up_plan_agg *a)
{
	return a->nr_keys < MAX_COLUMNS ? a->nr_keys + 1 : MAX_COLUMNS;
}

static void put_result(struct up_buf *b, struct up_type t, const struct up_value *v)
{
	if (t.ty == TY_FLOAT && !(v->flags & UP_VALUE_FAULT))
		up_put_float_short(b, v->f);
	else
		up_out_value(b, t, v);
}

/* In a table most strings need no quotes; those that could be mistaken have them. */
static bool is_clear(const struct up_value *v)
{
	const char *s = v->p;

	if (!v->len || v->flags || s[0] == '(' || s[0] == ' ' || s[v->len - 1] == ' ')
		return false;
	for (uint32_t i = 0; i < v->len; i++)
		if (s[i] == '"' || (s[i] == ' ' && s[i + 1] == ' '))
			return false;
	return true;
}

/* Makes the text of column i of a row; the last one is the value. */
static void make_cell(struct table *t, const struct up_out_row *row, size_t i)
{
	const struct up_plan_agg *a = t->agg;

	up_buf_reset(&t->cell);
	if (i >= a->nr_keys)
		put_result(&t->cell, a->row->type, &row->value);
	else if (a->key_types[i].ty == TY_STR && is_clear(&row->keys[i]))
		up_text_escape(&t->cell, row->keys[i].p, row->keys[i].len, 0);
	else
		up_out_value(&t->cell, a->key_types[i], &row->keys[i]);
}

static void measure(struct table *t)
{
	size_t nr = nr_columns(t->agg);

	for (size_t r = 0; r < t->nr_rows; r++) {
		for (size_t i = 0; i < nr; i++) {
			make_cell(t, &t->rows[r], i);
			size_t w = t->cell.len ? up_text_columns(t->cell.s, t->cell.len) : 0;

			if (w > t->width[i] && w <= WIDEST_COLUMN)
				t->width[i] = w;
		}
	}
}

static void put_row(struct up_buf *b, struct table *t, const struct up_out_row *row)
{
	const struct up_plan_agg *a = t->agg;

	for (size_t i = 0; i <= a->nr_keys; i++) {
		bool is_text = i < a->nr_keys && up_ty_has_bytes(a->key_types[i].ty);

		make_cell(t, row, i);
		up_buf_puts(b, "  ");
		up_put_padded(b, &t->cell, i < MAX_COLUMNS ? t->width[i] : 0, !is_text);
	}
	up_buf_putc(b, '\n');
}

static void put_title(struct up_out *o, const struct up_plan_agg *a)
{
	struct up_buf *b = &o->buf;

	up_buf_puts(b, o->colour ? BOLD : "");
	if (!a->is_named && a->where) {
		escape(b, a->where);
		up_buf_puts(b, ": ");
	}
	escape(b, a->name);
	for (uint32_t i = 0; i < a->nr_keys; i++) {
		up_buf_puts(b, i ? ", " : " by ");
		escape(b, a->key_labels[i]);
	}
	up_buf_puts(b, o->colour ? PLAIN : "");
}

static void agg_text(struct up_out *o, const struct up_plan_agg *a, const struct up_out_row *rows,
		     size_t nr_rows, size_t total_rows)
{
	struct table t = { .agg = a, .rows = rows, .nr_rows = nr_rows };
	struct up_buf *b = &o->buf;

	up_buf_puts(b, a->nr_keys ? "\n" : "");
	put_title(o, a);
	if (!nr_rows) {
		up_buf_puts(b, ": nothing\n");
	} else if (!a->nr_keys) {
		up_buf_puts(b, " = ");
		put_result(b, a->row->type, &rows[0].value);
		up_buf_putc(b, '\n');
	} else {
		up_buf_putc(b, '\n');
		measure(&t);
		for (size_t i = 0; i < nr_rows; i++)
			put_row(b, &t, &rows[i]);
	}
	if (total_rows > nr_rows)
		up_buf_printf(b, "  and %zu more\n", total_rows - nr_rows);
	up_buf_fini(&t.cell);
}

const struct up_out_form up_out_text = {
	.name = "text",
	.help = "lines and tables for people",
	.print = print_text,
	.text = text_text,
	.agg = agg_text,
};
