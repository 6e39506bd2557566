/* printf(...) of the language: the pieces of a format with their values. */
#include <string.h>

#include "lang/base/text.h"
#include "lang/number.h"
#include "runtime/out_put.h"

/* A number taken apart, before padding. */
struct number {
	bool negative;      /* has a minus */
	const char *prefix; /* "0x" or "" */
	const char *digits;
	size_t nr_digits;
	size_t zeros; /* to put before the digits */
};

static uint64_t cut_to_type(struct up_type t, uint64_t u)
{
	return t.bits && t.bits < 64 ? u & (((uint64_t)1 << t.bits) - 1) : u;
}

/*
 * Zeros that the precision, or else the width with 0, asks for; a # under %o wants at least one
 * zero in front.
 */
static size_t count_zeros(const struct up_plan_piece *p, const struct number *n, bool has_sign)
{
	size_t used = n->nr_digits + strlen(n->prefix) + has_sign, zeros = 0;

	if (p->precision >= 0 && (size_t)p->precision > n->nr_digits)
		zeros = (size_t)p->precision - n->nr_digits;
	else if (p->precision < 0 && p->zero && !p->minus && p->width > used)
		zeros = p->width - used;
	if (p->conv == 'o' && p->alt && !zeros && (!n->nr_digits || n->digits[0] != '0'))
		zeros = 1;
	return zeros;
}

static void put_number(struct up_buf *b, const struct up_plan_piece *p, struct number n)
{
	char sign = n.negative ? '-' : p->conv != 'd' ? 0 : p->plus ? '+' : p->space ? ' ' : 0;

	n.zeros = count_zeros(p, &n, sign != 0);
	size_t used = n.nr_digits + strlen(n.prefix) + n.zeros + (sign != 0);
	size_t pad = p->width > used ? p->width - used : 0;

	up_buf_fill(b, ' ', p->minus ? 0 : pad);
	if (sign)
		up_buf_putc(b, sign);
	up_buf_puts(b, n.prefix);
	up_buf_fill(b, '0', n.zeros);
	up_buf_add(b, n.digits, n.nr_digits);
	up_buf_fill(b, ' ', p->minus ? pad : 0);
}

static void format_int(struct up_buf *b, const struct up_plan_piece *p, uint64_t u)
{
	char digits[UP_PUT_DIGITS];
	struct number n = { .prefix = "" };
	bool is_hex = p->conv == 'x' || p->conv == 'X' || p->conv == 'p';

	if (p->conv == 'd') {
		n.negative = p->type.is_signed && (int64_t)u < 0;
		u = n.negative ? 0 - u : u;
	} else {
		u = cut_to_type(p->type, u);
	}
	if (p->conv == 'p' || (is_hex && p->alt && u))
		n.prefix = p->conv == 'X' ? "0X" : "0x";
	n.digits = up_put_digits(digits, u, is_hex ? 16 : p->conv == 'o' ? 8 : 10, p->conv == 'X');
	n.nr_digits = u || p->precision ? strlen(n.digits) : 0;
	put_number(b, p, n);
}

/* Bytes of the first `max` characters of a string. */
static size_t cut_chars(const char *s, size_t len, size_t max)
{
	size_t at = 0;

	for (uint32_t cp; max && at < len; max--) {
		size_t n = up_utf8_decode(s + at, len - at, &cp);

		at += n + !n;
	}
	return at;
}

/* Escapes s in a field of the piece's width; `mark` says that it was cut. */
static void put_field(struct up_buf *b, const struct up_plan_piece *p, const char *s, size_t len,
		      const char *mark)
{
	size_t start = b->len;

	up_text_escape(b, s, len, 0);
	up_buf_puts(b, mark);
	if (b->failed || !p->width)
		return;
	size_t columns = up_text_columns(b->s + start, b->len - start);
	if (columns >= p->width)
		return;
	size_t pad = p->width - columns, text = b->len - start;
	up_buf_fill(b, ' ', pad);
	if (!b->failed && !p->minus) {
		memmove(b->s + start + pad, b->s + start, text);
		memset(b->s + start, ' ', pad);
	}
}

/*
 * C's own formatting: the compiler has checked the parts of the format.
 */
static void format_float(struct up_buf *b, const struct up_plan_piece *p, double f)
{
	char fmt[16], *to = fmt;

	*to++ = '%';
	for (const char *c = "-0+ #"; *c; c++)
		if (*c == '-'   ? p->minus
		    : *c == '0' ? p->zero
		    : *c == '+' ? p->plus
		    : *c == ' ' ? p->space
				: p->alt)
			*to++ = *c;
	strcpy(to, "*.*");
	to[3] = p->conv;
	to[4] = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	up_buf_printf(b, fmt, p->width, p->precision, f); /* a negative precision is none */
#pragma GCC diagnostic pop
}

/* %s of what is no string shows it as print() would. */
static void format_string(struct up_buf *b, const struct up_plan_piece *p, const struct up_value *v)
{
	struct up_buf text = { 0 };
	const char *s = v->p;
	size_t len = v->len;

	if (p->type.ty != TY_STR) {
		up_out_value(&text, p->type, v);
		s = text.s;
		len = text.len;
	}
	const char *mark = p->type.ty == TY_STR && v->flags & UP_VALUE_CUT ? "..." : "";
	if (p->precision >= 0) {
		size_t cut = cut_chars(s, len, (size_t)p->precision);

		mark = cut < len ? "" : mark;
		len = cut;
	}
	put_field(b, p, s, len, mark);
	b->failed |= text.failed;
	up_buf_fini(&text);
}

static void format_one(struct up_buf *b, const struct up_plan_piece *p, const struct up_value *v)
{
	char c = (char)v->u;

	if (v->flags & UP_VALUE_FAULT)
		put_field(b, p, "(fault)", 7, "");
	else if (p->conv == 's')
		format_string(b, p, v);
	else if (p->conv == 'c')
		put_field(b, p, &c, 1, "");
	else if (strchr("fFeEgGaA", p->conv))
		format_float(b, p, up_value_double(p->type, v));
	else
		format_int(b, p, v->u);
}

void up_out_printf(struct up_buf *b, const struct up_plan_printf *f, const struct up_value *v)
{
	for (uint32_t i = 0; i < f->nr_pieces; i++) {
		const struct up_plan_piece *p = &f->pieces[i];

		if (p->conv)
			format_one(b, p, v++);
		else
			up_buf_add(b, p->text, p->text_len);
	}
}
