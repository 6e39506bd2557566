/*
 * Output for programs: one JSON object a line. `type` says which: "print", "printf", "aggregation"
 * or "end". Objects that come from a hit say when and where: `time` (ns since boot, as in the
 * language), `wall` (UTC), `comm`, `tid`, `probe`, `return`.
 */
#include <math.h>
#include <string.h>

#include "lang/base/text.h"
#include "runtime/element.h"
#include "runtime/out_forms.h"
#include "runtime/out_put.h"

static void put_string(struct up_buf *b, const char *s, size_t len)
{
	up_buf_putc(b, '"');
	up_text_json(b, s, len);
	up_buf_putc(b, '"');
}

static void put_int(struct up_buf *b, struct up_type t, uint64_t u)
{
	char c = (char)u;

	switch (t.show) {
	case UP_SHOW_HEX:
		up_buf_putc(b, '"');
		up_put_hex(b, t, u);
		up_buf_putc(b, '"');
		break;
	case UP_SHOW_CHAR:
		put_string(b, &c, 1);
		break;
	case UP_SHOW_BOOL:
		up_buf_puts(b, u ? "true" : "false");
		break;
	default:
		up_put_dec(b, u, t.is_signed);
		break;
	}
}

/* JSON has no infinities and no NaN: they are strings, since null is a fault. */
static void put_float(struct up_buf *b, double f, unsigned bits)
{
	const char *quote = isfinite(f) ? "" : "\"";

	up_buf_puts(b, quote);
	up_put_float(b, f, bits);
	up_buf_puts(b, quote);
}

void up_out_json_value(struct up_buf *b, struct up_type t, const struct up_value *v)
{
	if (v->flags & UP_VALUE_WIDE) {
		up_put_wide(b, v->wide);
		return;
	}
	switch (v->flags & UP_VALUE_FAULT ? TY_NONE : t.ty) {
	case TY_INT:
		put_int(b, t, v->u);
		break;
	case TY_FLOAT:
		put_float(b, v->f, t.bits);
		break;
	case TY_STR:
		put_string(b, v->p, v->len);
		break;
	case TY_BYTES:
		up_buf_putc(b, '"');
		up_put_bytes(b, v->p, v->len);
		up_buf_putc(b, '"');
		break;
	case TY_ARRAY:
		up_buf_putc(b, '[');
		up_element_list(b, t, v, up_out_json_value);
		up_buf_putc(b, ']');
		break;
	default:
		up_buf_puts(b, "null");
	}
}

/* Starts the next member of an object, after another one. */
static void put_name(struct up_buf *b, const char *name)
{
	up_buf_add(b, ",\"", 2);
	up_buf_puts(b, name);
	up_buf_add(b, "\":", 2);
}

static void put_number(struct up_buf *b, const char *name, uint64_t u)
{
	put_name(b, name);
	up_put_dec(b, u, false);
}

static void put_text(struct up_buf *b, const char *name, const char *s)
{
	put_name(b, name);
	put_string(b, s, strlen(s));
}

/*
 * An object of values under their labels. An object must not have two members of one name, so the
 * second x is "x#2".
 */
static void put_values(struct up_buf *b, uint32_t nr, const char *const *labels,
		       const struct up_type *types, const struct up_value *v)
{
	up_buf_putc(b, '{');
	for (uint32_t i = 0; i < nr; i++) {
		unsigned same = 1;

		for (uint32_t j = 0; j < i; j++)
			same += !strcmp(labels[i], labels[j]);
		up_buf_puts(b, i ? ",\"" : "\"");
		up_text_json(b, labels[i], strlen(labels[i]));
		if (same > 1)
			up_buf_printf(b, "#%u", same);
		up_buf_add(b, "\":", 2);
		up_out_json_value(b, types[i], &v[i]);
	}
	up_buf_putc(b, '}');
}

/* The labels of strings that were longer than what could be read; nothing when there are none. */
static void put_cut(struct up_buf *b, uint32_t nr, const char *const *labels,
		    const struct up_value *v)
{
	bool any = false;

	for (uint32_t i = 0; i < nr; i++) {
		if (!(v[i].flags & UP_VALUE_CUT))
			continue;
		up_buf_puts(b, any ? "," : ",\"cut\":[");
		put_string(b, labels[i], strlen(labels[i]));
		any = true;
	}
	up_buf_puts(b, any ? "]" : "");
}

static void put_times(struct up_buf *b, const struct up_out *o, uint64_t time)
{
	put_number(b, "time", time);
	if (!o->wall_offset)
		return;
	put_name(b, "wall");
	up_buf_putc(b, '"');
	up_put_utc(b, o, time);
	up_buf_putc(b, '"');
}

static void start_hit(struct up_out *o, const struct up_out_hit *h, const char *type)
{
	struct up_buf *b = &o->buf;

	up_buf_puts(b, "{\"type\":\"");
	up_buf_puts(b, type);
	up_buf_putc(b, '"');
	put_times(b, o, h->time);
	put_name(b, "comm");
	put_string(b, h->comm, h->comm_len);
	put_name(b, "tid");
	up_put_dec(b, (uint64_t)h->tid, true);
	put_text(b, "probe", h->probe);
	put_name(b, "return");
	up_buf_puts(b, h->is_return ? "true" : "false");
}

static void print_json(struct up_out *o, const struct up_out_hit *h, const struct up_plan_print *p,
		       const struct up_value *v)
{
	struct up_buf *b = &o->buf;

	start_hit(o, h, "print");
	put_name(b, "values");
	put_values(b, p->nr, p->labels, p->types, v);
	put_cut(b, p->nr, p->labels, v);
	up_buf_puts(b, "}\n");
}

static void text_json(struct up_out *o, const struct up_out_hit *h, const char *s, size_t len)
{
	start_hit(o, h, "printf");
	put_name(&o->buf, "text");
	put_string(&o->buf, s, len);
	up_buf_puts(&o->buf, "}\n");
}

/* ---- aggregations ---- */

/* Returns the value's flags. */
static uint32_t put_field(struct up_buf *b, const struct up_out_agg *a, const void *cell,
			  unsigned f)
{
	const struct up_agg_row *row = a->plan->row;
	struct up_value v = row->field(cell, &a->cx, f);

	up_out_json_value(b, row->field_type(f, &a->cx), &v);
	return v.flags;
}

/* A bound that is open is left out. */
static void put_bucket(struct up_buf *b, const struct up_agg_bucket *u)
{
	const char *comma = "";

	up_buf_putc(b, '{');
	if (u->has_lo) {
		up_buf_puts(b, "\"lo\":");
		up_out_json_value(b, u->type, &u->lo);
		comma = ",";
	}
	if (u->has_hi) {
		up_buf_puts(b, comma);
		up_buf_puts(b, "\"hi\":");
		up_out_json_value(b, u->type, &u->hi);
		comma = ",";
	}
	up_buf_puts(b, comma);
	up_buf_puts(b, "\"count\":");
	up_put_dec(b, u->count, false);
	up_buf_putc(b, '}');
}

static void put_buckets(struct up_buf *b, const struct up_out_agg *a, const void *cell)
{
	struct up_agg_bucket u;

	put_name(b, "buckets");
	up_buf_putc(b, '[');
	for (unsigned i = 0; a->plan->row->bucket(cell, &a->cx, i, &u); i++) {
		up_buf_puts(b, i ? "," : "");
		put_bucket(b, &u);
	}
	up_buf_putc(b, ']');
}

/* One result is "value"; several are an object of that name. */
static void put_result(struct up_buf *b, const struct up_out_agg *a, const void *cell)
{
	const struct up_agg_row *row = a->plan->row;

	put_name(b, "value");
	if (row->nr_fields == 1) {
		if (put_field(b, a, cell, 0) & UP_VALUE_CUT)
			up_buf_puts(b, ",\"value_cut\":true");
	} else {
		for (unsigned f = 0; f < row->nr_fields; f++) {
			up_buf_puts(b, f ? ",\"" : "{\"");
			up_buf_puts(b, row->fields[f].name);
			up_buf_puts(b, "\":");
			put_field(b, a, cell, f);
		}
		up_buf_putc(b, '}');
	}
	if (row->bucket)
		put_buckets(b, a, cell);
}

static void put_rows(struct up_buf *b, const struct up_out_agg *a)
{
	const struct up_plan_agg *p = a->plan;

	put_name(b, "rows");
	up_buf_putc(b, '[');
	for (size_t i = 0; i < a->nr_rows; i++) {
		up_buf_puts(b, i ? ",{\"key\":" : "{\"key\":");
		put_values(b, p->nr_keys, p->key_labels, p->key_types, a->rows[i].keys);
		put_cut(b, p->nr_keys, p->key_labels, a->rows[i].keys);
		put_result(b, a, a->rows[i].cell);
		up_buf_putc(b, '}');
	}
	up_buf_putc(b, ']');
}

/* Without keys there is one value (null when nothing was hit) instead of rows. */
static void agg_json(struct up_out *o, const struct up_out_agg *a)
{
	const struct up_plan_agg *p = a->plan;
	struct up_buf *b = &o->buf;

	up_buf_puts(b, "{\"type\":\"aggregation\"");
	put_text(b, "name", p->name);
	if (!p->is_named && p->where)
		put_text(b, "where", p->where);
	put_text(b, "aggregate", p->row->name);
	if (p->nr_keys) {
		put_rows(b, a);
		put_number(b, "total_rows", a->total_rows);
	} else if (a->nr_rows) {
		put_result(b, a, a->rows[0].cell);
	} else {
		up_buf_puts(b, ",\"value\":null");
	}
	up_buf_puts(b, "}\n");
}

static void put_truth(struct up_buf *b, const char *name, bool truth)
{
	put_name(b, name);
	up_buf_puts(b, truth ? "true" : "false");
}

static void put_number_or_null(struct up_buf *b, const char *name, uint64_t n, bool is_known)
{
	if (is_known) {
		put_number(b, name, n);
		return;
	}
	put_name(b, name);
	up_buf_puts(b, "null");
}

/* "lost_on": what each CPU has lost. */
static void put_losses(struct up_buf *b, const struct up_out_losses *l)
{
	put_name(b, "lost_on");
	up_buf_putc(b, '[');
	for (unsigned i = 0; i < l->nr; i++)
		up_buf_printf(b, "%s{\"cpu\":%u,\"records\":%llu}", i ? "," : "", l->on[i].cpu,
			      (unsigned long long)l->on[i].lost);
	up_buf_putc(b, ']');
}

static void lost_json(struct up_out *o, uint64_t time, const struct up_out_losses *l)
{
	struct up_buf *b = &o->buf;

	up_buf_puts(b, "{\"type\":\"lost\"");
	put_times(b, o, time);
	put_number(b, "lost", l->lost);
	put_losses(b, l);
	put_number(b, "buffer_kib", l->buffer_kb);
	up_buf_puts(b, "}\n");
}

static void end_json(struct up_out *o, const struct up_out_totals *t)
{
	struct up_buf *b = &o->buf;

	up_buf_puts(b, "{\"type\":\"end\"");
	put_number(b, "handled", t->handled);
	put_number(b, "filtered", t->filtered);
	put_number_or_null(b, "rejected", t->rejected, !t->rejected_unknown);
	put_number(b, "lost", t->lost);
	put_number(b, "unpaired", t->unpaired + t->doubtful);
	put_number(b, "outside", t->outside);
	put_number(b, "left_out", t->left_out);
	put_number(b, "missing", t->missing);
	put_number_or_null(b, "hits", t->hits, !t->rejected_unknown);
	put_truth(b, "exact", t->is_exact);
	put_number(b, "foreign", t->foreign);
	put_losses(b, &t->losses);
	put_truth(b, "lost_unknown", t->lost_unknown);
	put_number(b, "lost_not_hits", t->lost_not_hits);
	put_number(b, "lost_growing", t->lost_growing);
	put_number(b, "lost_threads", t->lost_threads);
	put_number(b, "doubtful", t->doubtful);
	put_number(b, "no_return", t->no_return);
	put_number(b, "too_deep", t->too_deep);
	put_number(b, "by_zero", t->by_zero);
	put_number(b, "corrupt", t->corrupt);
	put_number(b, "faults", t->faults);
	put_number(b, "late", t->late);
	put_number(b, "dropped_rows", t->dropped_rows);
	put_number(b, "dropped_vars", t->dropped_vars);
	put_number(b, "cut_off", t->cut_off);
	put_number(b, "no_room", t->no_room);
	put_number(b, "unreadable", t->unreadable);
	put_number(b, "others", t->others);
	put_number(b, "misplaced", t->misplaced);
	put_number(b, "changed_files", t->changed_files);
	put_name(b, "seconds");
	put_float(b, t->seconds, 64);
	up_buf_puts(b, "}\n");
}

const struct up_out_form up_out_json = {
	.name = "json",
	.help = "one JSON object a line, for programs",
	.print = print_json,
	.text = text_json,
	.agg = agg_json,
	.lost = lost_json,
	.end = end_json,
};
