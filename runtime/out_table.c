/* Aggregations for people as one value or as tables. Histograms are in out_bars.c. */
#include <string.h>

#include "lang/base/text.h"
#include "lang/number.h"
#include "runtime/out_agg.h"
#include "runtime/units.h"

#define MAX_COLUMNS 32   /* columns that are aligned */
#define WIDEST_COLUMN 60 /* where nothing is cut, a wider cell moves what follows in its row */
#define LEAST_COLUMN 12  /* so much is left of a column that is cut */

/* A table being written: its cells are made in `cell`, measured, then put in their columns. */
struct table {
	struct up_out *out;
	const struct up_out_agg *agg;
	size_t nr_columns;         /* the keys, then the results */
	size_t width[MAX_COLUMNS]; /* of each that is aligned */
	bool has_header;
	struct up_buf cell;
};

/* ---- pieces ---- */

/* Its name, with its place if it has no name of its own, and its keys. */
static void put_title(struct up_out *o, const struct up_plan_agg *a)
{
	struct up_buf *b = &o->buf;

	up_buf_puts(b, o->colour ? UP_BOLD : "");
	if (!a->is_named && a->where) {
		up_put_escaped(b, a->where);
		up_buf_puts(b, ": ");
	}
	up_put_escaped(b, a->name);
	for (uint32_t i = 0; i < a->nr_keys; i++) {
		up_buf_puts(b, i ? ", " : " by ");
		up_put_escaped(b, a->key_labels[i]);
	}
	up_buf_puts(b, o->colour ? UP_PLAIN : "");
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

void up_out_key(struct up_buf *b, struct up_type t, const struct up_value *v)
{
	if (t.ty == TY_STR && is_clear(v))
		up_text_escape(b, v->p, v->len, 0);
	else
		up_out_value(b, t, v);
}

void up_out_result(struct up_buf *b, const struct up_out_agg *a, const void *cell, unsigned field)
{
	const struct up_agg_row *row = a->plan->row;
	struct up_type t = row->field_type(field, &a->cx);
	struct up_value v = row->field(cell, &a->cx, field);
	bool is_number = t.ty == TY_INT || t.ty == TY_FLOAT;

	if (is_number && t.show == UP_SHOW_NS)
		up_put_duration(b, up_value_double(t, &v), t.ty == TY_INT, " ");
	else if (t.ty == TY_FLOAT)
		up_put_float_short(b, v.f);
	else
		up_out_value(b, t, &v);
	up_buf_puts(b, row->unit ? row->unit : "");
}

/* ---- cutting ---- */

/* Bytes of the character at s + at; a byte that is none counts as one. */
static size_t char_len(const char *s, size_t len, size_t at)
{
	uint32_t cp;
	size_t n = up_utf8_decode(s + at, len - at, &cp);

	return n + !n;
}

/* Bytes of the longest start of s that takes `width` columns at most. */
static size_t head_of(const char *s, size_t len, size_t width)
{
	size_t at = 0, columns = 0;

	while (at < len) {
		size_t n = char_len(s, len, at);

		columns += up_text_columns(s + at, n);
		if (columns > width)
			break;
		at += n;
	}
	return at;
}

/* Where the longest end of s starts that takes `width` columns at most. */
static size_t tail_of(const char *s, size_t len, size_t width)
{
	size_t columns = up_text_columns(s, len), at = 0;

	while (at < len && columns > width) {
		size_t n = char_len(s, len, at);

		columns -= up_text_columns(s + at, n);
		at += n;
	}
	while (at < len && !up_text_columns(s + at, char_len(s, len, at)))
		at += char_len(s, len, at); /* no mark without the letter it stands on */
	return at;
}

void up_out_shorten(struct up_buf *text, size_t width, bool unicode)
{
	const char *mark = unicode ? "\xe2\x80\xa6" : "...";
	size_t mark_width = unicode ? 1 : 3;

	if (!text->len || width <= mark_width || up_text_columns(text->s, text->len) <= width)
		return;
	size_t rest = width - mark_width, head = head_of(text->s, text->len, (rest + 1) / 2);
	size_t tail = tail_of(text->s, text->len, rest / 2);
	struct up_buf b = { 0 };
	up_buf_add(&b, text->s, head);
	up_buf_puts(&b, mark);
	up_buf_add(&b, text->s + tail, text->len - tail);
	b.failed |= text->failed;
	up_buf_fini(text);
	*text = b;
}

/* ---- the table ---- */

static bool is_key(const struct table *t, size_t column)
{
	return column < t->agg->plan->nr_keys;
}

static bool is_text(const struct table *t, size_t column)
{
	const struct up_plan_agg *p = t->agg->plan;
	struct up_type type;

	if (is_key(t, column))
		type = p->key_types[column];
	else
		type = p->row->field_type((unsigned)(column - p->nr_keys), &t->agg->cx);
	return up_ty_has_bytes(type.ty);
}

static void make_header(struct table *t, size_t column)
{
	const struct up_plan_agg *p = t->agg->plan;

	up_buf_reset(&t->cell);
	if (is_key(t, column)) {
		up_put_escaped(&t->cell, p->key_labels[column]);
	} else {
		const struct up_agg_field *f = &p->row->fields[column - p->nr_keys];

		up_buf_puts(&t->cell, f->label ? f->label : f->name);
	}
}

static void make_cell(struct table *t, const struct up_out_row *row, size_t column)
{
	const struct up_plan_agg *p = t->agg->plan;

	up_buf_reset(&t->cell);
	if (is_key(t, column))
		up_out_key(&t->cell, p->key_types[column], &row->keys[column]);
	else
		up_out_result(&t->cell, t->agg, row->cell, (unsigned)(column - p->nr_keys));
}

static void measure_cell(struct table *t, size_t column)
{
	size_t w = t->cell.len ? up_text_columns(t->cell.s, t->cell.len) : 0;

	if (w > t->width[column] && (w <= WIDEST_COLUMN || t->out->columns))
		t->width[column] = w;
}

/* Takes from the widest text keys until the table fits the terminal. */
static void fit(struct table *t)
{
	size_t total = 0, nr = t->nr_columns < MAX_COLUMNS ? t->nr_columns : MAX_COLUMNS;

	for (size_t i = 0; i < nr; i++)
		total += 2 + t->width[i];
	while (t->out->columns && total > t->out->columns) {
		size_t widest = MAX_COLUMNS;

		for (size_t i = 0; i < nr; i++)
			if (is_key(t, i) && is_text(t, i) && t->width[i] > LEAST_COLUMN &&
			    (widest == MAX_COLUMNS || t->width[i] > t->width[widest]))
				widest = i;
		if (widest == MAX_COLUMNS)
			return;
		t->width[widest]--;
		total--;
	}
}

static void measure(struct table *t)
{
	for (size_t i = 0; i < t->nr_columns && i < MAX_COLUMNS; i++) {
		if (t->has_header) {
			make_header(t, i);
			measure_cell(t, i);
		}
		for (size_t r = 0; r < t->agg->nr_rows; r++) {
			make_cell(t, &t->agg->rows[r], i);
			measure_cell(t, i);
		}
	}
	fit(t);
}

static void put_cell(struct table *t, size_t column)
{
	size_t width = column < MAX_COLUMNS ? t->width[column] : 0;
	bool is_last = column + 1 == t->nr_columns, to_left = is_text(t, column);

	if (t->out->columns && to_left && is_key(t, column) && column < MAX_COLUMNS)
		up_out_shorten(&t->cell, width, t->out->unicode);
	up_buf_puts(&t->out->buf, "  ");
	up_put_padded(&t->out->buf, &t->cell, is_last && to_left ? 0 : width, !to_left);
}

static void put_table(struct table *t)
{
	struct up_buf *b = &t->out->buf;

	measure(t);
	if (t->has_header) {
		up_buf_puts(b, t->out->colour ? UP_DIM : "");
		for (size_t i = 0; i < t->nr_columns; i++) {
			make_header(t, i);
			put_cell(t, i);
		}
		up_buf_puts(b, t->out->colour ? UP_PLAIN "\n" : "\n");
	}
	for (size_t r = 0; r < t->agg->nr_rows; r++) {
		for (size_t i = 0; i < t->nr_columns; i++) {
			make_cell(t, &t->agg->rows[r], i);
			put_cell(t, i);
		}
		up_buf_putc(b, '\n');
	}
}

/* ---- the whole ---- */

static void put_body(struct up_out *o, const struct up_out_agg *a)
{
	const struct up_plan_agg *p = a->plan;
	struct table t = { .out = o,
			   .agg = a,
			   .nr_columns = p->nr_keys + p->row->nr_fields,
			   .has_header = p->row->nr_fields > 1 };
	struct up_buf *b = &o->buf;

	if (!a->nr_rows) {
		up_buf_puts(b, ": nothing\n");
	} else if (p->row->bucket) {
		up_buf_putc(b, '\n');
		up_out_bars(o, a);
	} else if (t.nr_columns == 1) {
		up_buf_puts(b, " = ");
		up_out_result(b, a, a->rows[0].cell, 0);
		up_buf_putc(b, '\n');
	} else {
		up_buf_putc(b, '\n');
		put_table(&t);
	}
	b->failed |= t.cell.failed;
	up_buf_fini(&t.cell);
}

void up_out_table(struct up_out *o, const struct up_out_agg *a)
{
	bool is_block = a->nr_rows && (a->plan->row->nr_fields > 1 || a->plan->row->bucket);

	up_buf_puts(&o->buf, a->plan->nr_keys || is_block ? "\n" : "");
	put_title(o, a->plan);
	put_body(o, a);
	if (a->total_rows > a->nr_rows)
		up_buf_printf(&o->buf, "  and %zu more\n", a->total_rows - a->nr_rows);
}
