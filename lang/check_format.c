/* printf formats, checked against their values when compiling. */
#include <string.h>

#include "lang/check.h"

#define MAX_WIDTH 4096

/* A format being taken apart. */
struct format {
	struct up_check *cx;
	const struct up_node *fmt; /* the string in the script */
	const char *s, *end;       /* what is left of it */
	struct up_node *value;     /* the next value */
	UP_VEC(struct up_plan_piece) pieces;
	uint32_t nr; /* values taken */
	bool bad;    /* a diagnostic was queued */
};

static void add_text(struct format *f, const char *s, size_t len)
{
	struct up_plan_piece p = { 0 };

	if (!len)
		return;
	p.text = up_arena_memdup(f->cx->plan_arena, s, len);
	p.text_len = len;
	up_vec_push(f->cx->plan_arena, &f->pieces, p);
}

static bool read_flag(struct up_plan_piece *p, char c)
{
	switch (c) {
	case '-':
		return p->minus = true;
	case '0':
		return p->zero = true;
	case '+':
		return p->plus = true;
	case ' ':
		return p->space = true;
	case '#':
		return p->alt = true;
	default:
		return false;
	}
}

static unsigned read_digits(struct format *f)
{
	unsigned v = 0;

	for (; f->s < f->end && *f->s >= '0' && *f->s <= '9'; f->s++)
		if (v <= MAX_WIDTH)
			v = v * 10 + (unsigned)(*f->s - '0');
	return v;
}

static void complain(struct format *f, struct up_span span, const char *what, const char *hint)
{
	f->bad = true;
	up_error(f->cx->ds, span, E_FORMAT, "%s", what);
	if (hint)
		up_diag_hint(f->cx->ds, "%s", hint);
}

#define INT_CONVERSIONS "duxXocp"
#define FLOAT_CONVERSIONS "fFeEgGaA"

static bool fits_type(char conv, struct up_type t)
{
	if (conv == 's')
		return up_ty_has_bytes(t.ty);
	return t.ty == TY_INT || (t.ty == TY_FLOAT && strchr(FLOAT_CONVERSIONS, conv));
}

/* Does the value fit the conversion? */
static bool fits(struct format *f, char conv, const struct up_node *value)
{
	struct up_arena *a = f->cx->ds->arena;
	struct up_type t = value->type;
	const char *hint = "%s takes strings, bytes and arrays; %d %u %x %o %c %p integers; %f %e "
			   "%g %a all numbers";

	if (t.ty == TY_POISON || fits_type(conv, t))
		return true;
	if (conv == 's' && t.ty == TY_INT && t.bits == 64)
		hint = up_arena_printf(a, "for the text at this address write %s:string",
				       up_source_label(f->cx->ds, a, value->span));
	else if (conv != 's' && t.ty == TY_FLOAT)
		hint = "%f %e %g and %a show it; :s64 behind it cuts it to an integer";
	complain(f, value->span,
		 up_arena_printf(a, "%%%c takes %s, this is %s", conv,
				 conv == 's'                       ? "a string"
				 : strchr(FLOAT_CONVERSIONS, conv) ? "a number"
								   : "an integer",
				 up_kind_name(t)),
		 hint);
	return false;
}

static void take_value(struct format *f, struct up_plan_piece *p)
{
	if (!f->value) {
		complain(f, f->fmt->span, "the format asks for more values than there are",
			 "%% prints one percent sign");
		f->s = f->end;
		return;
	}
	if (fits(f, p->conv, f->value)) {
		p->type = f->value->type;
		up_vec_push(f->cx->plan_arena, &f->pieces, *p);
	}
	f->nr++;
	f->value = f->value->next;
}

/* One conversion, from behind its percent sign. */
static void read_conversion(struct format *f)
{
	struct up_plan_piece p = { .precision = -1 };
	unsigned width;

	while (f->s < f->end && read_flag(&p, *f->s))
		f->s++;
	width = read_digits(f);
	p.width = (uint16_t)width;
	if (f->s < f->end && *f->s == '.') {
		f->s++;
		unsigned precision = read_digits(f);

		p.precision = (int16_t)precision;
		width = precision > width ? precision : width;
	}
	if (width > MAX_WIDTH)
		complain(f, f->fmt->span, "a width or precision in a format is at most 4096", NULL);
	while (f->s < f->end && strchr("hlqjzt", *f->s))
		f->s++; /* C's length modifiers: all numbers are 64 bits wide here */
	p.conv = f->s < f->end ? *f->s++ : 0;
	if (p.conv == 'i')
		p.conv = 'd';
	if (p.conv && strchr("s" INT_CONVERSIONS FLOAT_CONVERSIONS, p.conv))
		take_value(f, &p);
	else
		complain(f, f->fmt->span, "a % in this format is followed by no conversion",
			 "conversions are %d %u %x %X %o %c %s %p %f %e %g %a; %% prints a percent "
			 "sign");
}

bool up_check_format(struct up_check *cx, struct up_node *fmt, struct up_node *values,
		     struct up_plan_printf *out)
{
	struct format f = { .cx = cx, .fmt = fmt, .s = fmt->str.s, .value = values };

	f.end = f.s + fmt->str.len;
	while (f.s < f.end) {
		const char *percent = memchr(f.s, '%', (size_t)(f.end - f.s));
		const char *stop = percent ? percent : f.end;

		add_text(&f, f.s, (size_t)(stop - f.s));
		f.s = stop;
		if (!percent)
			break;
		f.s++;
		if (f.s < f.end && *f.s == '%') {
			add_text(&f, "%", 1);
			f.s++;
		} else {
			read_conversion(&f);
		}
	}
	if (f.value && !f.bad)
		complain(&f, f.value->span, "the format has no place for this value", NULL);
	out->pieces = f.pieces.v;
	out->nr_pieces = (uint32_t)f.pieces.nr;
	out->nr = f.nr;
	return !f.bad;
}
