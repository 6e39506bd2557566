/* Values of number and string literals. Works on one token at a time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lang/parse_int.h"
#include "up.tab.h"

/* ---- numbers ---- */

static const struct suffix {
	const char *text; /* as written */
	uint64_t unit;    /* what it stands for */
} suffixes[] = {
	{ "KiB", 1ull << 10 },
	{ "MiB", 1ull << 20 },
	{ "GiB", 1ull << 30 },
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000ull },
	{ "min", 60000000000ull },
	{ "h", 3600000000000ull },
};

/* A number taken apart. */
struct digits {
	const char *s;        /* where reading is */
	const char *end;      /* behind the literal */
	uint64_t whole;       /* the digits, dot and underscores left out */
	unsigned nr_fraction; /* digits behind the dot */
	bool has_dot, has_exp;
	bool is_big; /* more than 64 bits */
	bool is_bad; /* an underscore that is not between digits */
};

static bool bad_number(struct up_scan *sc, const struct up_tok *t, const char *hint,
		       const char *what)
{
	up_scan_error(sc, t->off, t->len, E_NUMBER, hint, "`%.*s` %s",
		      t->len > 60 ? 60 : (int)t->len, sc->text + t->off, what);
	return false;
}

/* Adds the digits at d->s to d->whole; returns how many there were. */
static unsigned read_digits(struct digits *d, unsigned base)
{
	unsigned nr = 0;
	char before = '_';

	for (; d->s < d->end && (*d->s == '_' || up_digit_value(*d->s) < base); d->s++) {
		if (*d->s == '_')
			d->is_bad |= before == '_';
		else if (__builtin_mul_overflow(d->whole, base, &d->whole) ||
			 __builtin_add_overflow(d->whole, up_digit_value(*d->s), &d->whole))
			d->is_big = true;
		nr += *d->s != '_';
		before = *d->s;
	}
	d->is_bad |= before == '_';
	return nr;
}

static bool read_based(struct up_scan *sc, struct up_tok *t, struct digits *d)
{
	char c = d->s[1] | 0x20;

	d->s += 2;
	unsigned nr = read_digits(d, c == 'x' ? 16 : c == 'o' ? 8 : 2);
	if (!nr || d->is_bad || d->s < d->end)
		return bad_number(sc, t, NULL, "is not a number");
	if (d->is_big)
		return bad_number(sc, t, NULL, "does not fit into 64 bits");
	t->num = d->whole;
	return true;
}

/*
 * The value of a decimal with dot or exponent. strtod() obeys the locale's decimal point, so it is
 * given none: 1.5e3 is read as 15e2.
 */
static bool read_float(struct up_scan *sc, struct up_tok *t, const struct digits *d)
{
	char *copy = up_arena_alloc(sc->arena, t->len + 32);
	char *to = copy;
	const char *s = sc->text + t->off, *end = s + t->len;
	long exp = 0;

	for (; s < end && (*s | 0x20) != 'e'; s++)
		if (*s != '_' && *s != '.')
			*to++ = *s;
	if (s < end)
		exp = strtol(s + 1, NULL, 10);
	if (exp > 1000000 || exp < -1000000)
		exp = exp > 0 ? 1000000 : -1000000;
	snprintf(to, 32, "e%ld", exp - (long)d->nr_fraction);
	t->kind = TK_FLOAT;
	t->flt = strtod(copy, NULL);
	return isfinite(t->flt) || bad_number(sc, t, NULL, "is too large for a float");
}

/* The number times the unit, which must be whole: 1.5s is 1500000000. */
static bool scale(struct up_scan *sc, struct up_tok *t, const struct digits *d, uint64_t unit)
{
	unsigned __int128 v = (unsigned __int128)d->whole * unit;

	for (unsigned i = 0; i < d->nr_fraction; i++) {
		if (v % 10)
			return bad_number(sc, t, NULL,
					  "is not a whole number of its smallest unit");
		v /= 10;
	}
	if (d->is_big || v > UINT64_MAX)
		return bad_number(sc, t, NULL, "does not fit into 64 bits");
	t->num = (uint64_t)v;
	return true;
}

static bool read_suffix(struct up_scan *sc, struct up_tok *t, const struct digits *d)
{
	size_t len = (size_t)(d->end - d->s);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strlen(suffixes[i].text) == len && !memcmp(suffixes[i].text, d->s, len))
			return scale(sc, t, d, suffixes[i].unit);
	return bad_number(sc, t,
			  "sizes end in KiB, MiB or GiB, durations in ns, us, ms, s, min or h",
			  "is neither a number nor a name");
}

static bool is_octal_habit(const char *s, uint32_t len)
{
	return len > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9';
}

/* An exponent is one only when digits follow: 5e is a number with a bad suffix. */
static bool at_exponent(const struct digits *d)
{
	const char *s = d->s;

	if (s == d->end || (*s | 0x20) != 'e')
		return false;
	s += s + 1 < d->end && (s[1] == '+' || s[1] == '-') ? 2 : 1;
	return s < d->end && *s >= '0' && *s <= '9';
}

static bool read_decimal(struct up_scan *sc, struct up_tok *t, struct digits *d)
{
	if (is_octal_habit(d->s, t->len))
		return bad_number(sc, t,
				  "octal numbers begin with 0o; a decimal one has no leading 0",
				  "begins with a 0");
	read_digits(d, 10);
	if (d->s < d->end && *d->s == '.') {
		d->has_dot = true;
		d->s++;
		d->nr_fraction = read_digits(d, 10);
	}
	if (at_exponent(d)) {
		d->has_exp = true;
		for (d->s += 2; d->s < d->end && *d->s >= '0' && *d->s <= '9';)
			d->s++;
	}
	if (d->is_bad)
		return bad_number(sc, t, NULL, "has a `_` that is not between two digits");
	if (d->s < d->end && !d->has_exp)
		return read_suffix(sc, t, d);
	if (d->s < d->end)
		return bad_number(sc, t, NULL, "is not a number");
	if (d->has_dot || d->has_exp)
		return read_float(sc, t, d);
	t->num = d->whole;
	return !d->is_big || bad_number(sc, t, NULL, "does not fit into 64 bits");
}

void up_lit_number(struct up_scan *sc, struct up_tok *t)
{
	struct digits d = { .s = sc->text + t->off, .end = sc->text + t->off + t->len };
	bool based = t->len > 1 && d.s[0] == '0' && strchr("xXoObB", d.s[1]);

	t->kind = TK_INT;
	if (based ? read_based(sc, t, &d) : read_decimal(sc, t, &d))
		return;
	t->kind = TK_INT;
	t->num = 0;
}

/* ---- strings ---- */

/* A string being decoded. */
struct decoder {
	struct up_scan *sc;
	const char *s, *end; /* what is left to read */
	char *to;            /* where the next byte goes */
};

static void bad_escape(struct decoder *d, const char *from, const char *what)
{
	const char *end = d->s;

	up_scan_error(d->sc, (uint32_t)(from - d->sc->text), (uint32_t)(end - from), E_STRING, NULL,
		      "`%.*s` %s", (int)(end - from), from, what);
}

/* d->s is behind the backslash, and something follows. */
static void decode_escape(struct decoder *d)
{
	const char *start = d->s - 1, *wrong;
	char bytes[4];
	size_t nr;

	d->s += up_text_unescape(d->s, (size_t)(d->end - d->s), bytes, &nr, &wrong);
	if (wrong)
		bad_escape(d, start, wrong);
	memcpy(d->to, bytes, nr);
	d->to += nr;
}

void up_lit_string(struct up_scan *sc, struct up_tok *t, bool is_closed)
{
	struct up_text *text = up_new(sc->arena, struct up_text);
	char *out = up_arena_alloc(sc->arena, (size_t)t->len + 1);
	struct decoder d = { .sc = sc, .s = sc->text + t->off + 1, .to = out };

	d.end = d.s + t->len - 1 - is_closed;
	while (is_closed && d.s < d.end)
		if (*d.s != '\\')
			*d.to++ = *d.s++;
		else if (++d.s < d.end)
			decode_escape(&d);
	if (!is_closed)
		up_scan_error(sc, t->off, t->len, E_STRING, NULL,
			      "this string is not closed on its line");
	*d.to = 0;
	*text = (struct up_text){ out, (size_t)(d.to - out) };
	t->kind = TK_STR;
	t->text = text;
}
