/* Output for people: lines. Aggregations are in out_table.c. */
#include <string.h>

#include "lang/base/text.h"
#include "runtime/element.h"
#include "runtime/out_agg.h"
#include "runtime/out_forms.h"

#define WHO_COLUMNS 20 /* room for comm[tid] before the probe's name */

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

	if (v->flags & UP_VALUE_WIDE) {
		up_put_wide(b, v->wide);
		return;
	}
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

	up_buf_puts(b, o->colour ? UP_DIM : "");
	up_put_clock(b, o, h->time);
	up_buf_puts(b, o->colour ? UP_PLAIN " " : " ");
	put_who(b, h);
	up_buf_puts(b, o->colour ? " " UP_BOLD : " ");
	up_put_escaped(b, h->probe);
	up_buf_puts(b, h->is_return ? " return" : "");
	up_buf_puts(b, o->colour ? UP_PLAIN : "");
	for (uint32_t i = 0; i < p->nr; i++) {
		up_buf_putc(b, ' ');
		up_put_escaped(b, p->labels[i]);
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

const struct up_out_form up_out_text = {
	.name = "text",
	.help = "lines and tables for people",
	.print = print_text,
	.text = text_text,
	.agg = up_out_table,
};
