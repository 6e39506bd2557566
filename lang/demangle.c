/* Demangling by libiberty, within limits of time and space. */
#include "lang/demangle.h"

#include <ctype.h>
#include <demangle.h>
#include <setjmp.h>
#include <string.h>

/*
 * For each expansion of a parameter pack libiberty searches the whole type, and each reference back
 * to an earlier part can double what it has to search: with 20 it takes 10 ms, with 24 it takes
 * 130. Of 625,000 names of real libraries 46 have more than 20 and a pack; such names stay as they
 * are.
 */
#define MAX_PACK_REFERENCES 20

/* What a demangler writes into. */
struct sink {
	struct up_buf *out;
	size_t from;  /* where in `out` this name begins */
	jmp_buf full; /* where to go when it has become too long */
};

bool up_is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R') && symbol[2];
}

static bool is_ascii(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] & 0x80)
			return false;
	return true;
}

/*
 * Leaves the demangler when there is too much, since its time grows with its output. What it holds
 * is on the stack, but for an identifier that is not ASCII, which it frees after having written it.
 */
static void take(const char *s, size_t len, void *opaque)
{
	struct sink *k = opaque;

	if (k->out->len - k->from + len > UP_DEMANGLE_MAX || k->out->failed) {
		if (is_ascii(s, len))
			longjmp(k->full, 1);
		return;
	}
	up_buf_add(k->out, s, len);
}

/* Does it expand a pack, or fold one? An identifier may hold the letters by chance. */
static bool has_pack(const char *s)
{
	for (; (s = strpbrk(s, "Dsf")); s++)
		if (s[0] == 'f' ? strchr("lrLR", s[1]) && s[1] : s[1] == 'p')
			return true;
	return false;
}

static bool is_within_limits(const char *symbol)
{
	unsigned nr = 0;

	if (strnlen(symbol, UP_DEMANGLE_MAX) == UP_DEMANGLE_MAX)
		return false;
	for (const char *s = symbol; (s = strchr(s, 'S')); s++) {
		const char *end = s + 1;

		while (isdigit((unsigned char)*end) || isupper((unsigned char)*end))
			end++;
		nr += *end == '_';
	}
	return nr <= MAX_PACK_REFERENCES || !has_pack(symbol);
}

static bool demangle_into(struct sink *k, const char *symbol, int options)
{
	if (setjmp(k->full))
		return false;
	if (rust_demangle_callback(symbol, options, take, k) && k->out->len > k->from)
		return true;
	k->out->len = k->from;
	return symbol[1] == 'Z' && cplus_demangle_v3_callback(symbol, options, take, k) &&
	       k->out->len > k->from;
}

bool up_demangle(const char *symbol, enum up_demangle_form form, struct up_buf *out)
{
	static const int options[] = { [UP_NAME_BARE] = DMGL_ANSI,
				       [UP_NAME_FULL] = DMGL_ANSI | DMGL_PARAMS | DMGL_RET_DROP,
				       [UP_NAME_RETURN] = DMGL_ANSI | DMGL_PARAMS };
	struct sink k = { .out = out, .from = out->len };

	if (!up_is_mangled(symbol) || !is_within_limits(symbol))
		return false;
	if (demangle_into(&k, symbol, options[form]) && !out->failed)
		return true;
	out->len = k.from;
	if (out->s)
		out->s[out->len] = 0;
	return false;
}

bool up_is_piece(const char *symbol)
{
	const char *dot = strchr(symbol, '.');

	for (; dot; dot = strchr(dot + 1, '.'))
		if (!strncmp(dot, ".cold", 5) || !strncmp(dot, ".part.", 6))
			return true;
	return false;
}
