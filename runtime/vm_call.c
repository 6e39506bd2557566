/*
 * Built-in functions. Texts that are parts of others are borrowed from them; those that are made
 * stand in the machine's scratch memory.
 */
#include "runtime/vm_call.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/out_put.h"

#define NS 1000000000u

typedef struct up_value function(struct up_vm *vm, const struct up_insn *i,
				 const struct up_value *v);

static struct up_value fault(void)
{
	return (struct up_value){ .flags = UP_VALUE_FAULT };
}

static struct up_value number(int64_t s)
{
	return (struct up_value){ .s = s };
}

static struct up_value no_room(struct up_vm *vm)
{
	vm->counts.no_room++;
	return fault();
}

/* ASCII's, whatever the locale. */
static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A part of a text; `to_end`: what a longer text had behind it would be the part's, too. */
static struct up_value part(const struct up_value *of, const char *p, size_t len, bool to_end)
{
	struct up_value v = { .p = len ? p : "", .len = (uint32_t)len };

	if (to_end)
		v.flags = of->flags & UP_VALUE_CUT;
	return v;
}

/* Copies a text that was put together; a fault when there is no room. */
static struct up_value keep(struct up_vm *vm, const char *s, size_t len)
{
	char *to = len ? up_vm_scratch(vm, len) : NULL;

	if (!len)
		return (struct up_value){ .p = "" };
	if (!to)
		return fault();
	memcpy(to, s, len);
	return (struct up_value){ .p = to, .len = (uint32_t)len };
}

/* ---- numbers ---- */

static bool is_less(unsigned kind, const struct up_value *a, const struct up_value *b)
{
	return kind == UP_FN_FLOAT      ? a->f < b->f
	       : kind == UP_FN_UNSIGNED ? a->u < b->u
					: a->s < b->s;
}

static struct up_value fn_min(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	const struct up_value *best = v;

	(void)vm;
	for (unsigned k = 1; k < i->c; k++)
		if (is_less(i->d, &v[k], best))
			best = &v[k];
	return *best;
}

static struct up_value fn_max(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	const struct up_value *best = v;

	(void)vm;
	for (unsigned k = 1; k < i->c; k++)
		if (is_less(i->d, best, &v[k]))
			best = &v[k];
	return *best;
}

static struct up_value fn_abs(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	(void)vm;
	if (i->d == UP_FN_FLOAT)
		return (struct up_value){ .f = v->f < 0 ? -v->f : v->f };
	return i->d == UP_FN_SIGNED && v->s < 0 ? (struct up_value){ .u = 0 - v->u } : *v;
}

static struct up_value fn_bucket(struct up_vm *vm, const struct up_insn *i,
				 const struct up_value *v)
{
	uint64_t n = v[1].u, rest;

	if (!n) {
		vm->counts.by_zero++;
		return number(0);
	}
	if (i->d == UP_FN_UNSIGNED)
		return (struct up_value){ .u = v->u - v->u % n };
	if (v[1].s < 0)
		n = 0 - n;
	if (v->s >= 0)
		return (struct up_value){ .u = v->u - v->u % n };
	rest = (0 - v->u) % n;
	return (struct up_value){ .u = v->u - (rest ? n - rest : 0) };
}

/* ---- parts of texts ---- */

static struct up_value fn_len(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	(void)vm;
	(void)i;
	return number(v->len);
}

static struct up_value fn_substr(struct up_vm *vm, const struct up_insn *i,
				 const struct up_value *v)
{
	int64_t from = v[1].s < 0 ? 0 : v[1].s, len = v->len, n;

	(void)vm;
	if (from > len)
		from = len;
	n = i->c < 3 || v[2].s > len - from ? len - from : v[2].s < 0 ? 0 : v[2].s;
	return part(v, v->p + from, (size_t)n, from + n == len);
}

/* Where t stands in s from `from` on; s.len when it does not. An empty t stands nowhere. */
static size_t find(const struct up_value *s, const struct up_value *t, size_t from)
{
	const char *at = NULL;

	if (t->len && from < s->len)
		at = memmem(s->p + from, s->len - from, t->p, t->len);
	return at ? (size_t)(at - s->p) : s->len;
}

static struct up_value fn_index(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	size_t at = find(&v[0], &v[1], 0);

	(void)vm;
	(void)i;
	return number(!v[1].len ? 0 : at == v->len ? -1 : (int64_t)at);
}

static struct up_value fn_split(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	size_t from = 0, end = find(&v[0], &v[1], 0);
	int64_t n = v[2].s;

	(void)vm;
	(void)i;
	for (; n > 0 && end < v->len; n--) {
		from = end + v[1].len;
		end = find(&v[0], &v[1], from);
	}
	if (n)
		return (struct up_value){ .p = "" };
	return part(v, v->p + from, end - from, end == v->len);
}

static struct up_value fn_trim(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	size_t from = 0, end = v->len;

	(void)vm;
	(void)i;
	while (from < end && is_blank(v->p[from]))
		from++;
	if (!(v->flags & UP_VALUE_CUT))
		while (end > from && is_blank(v->p[end - 1]))
			end--;
	return part(v, v->p + from, end - from, true);
}

static struct up_value fn_basename(struct up_vm *vm, const struct up_insn *i,
				   const struct up_value *v)
{
	const char *slash = v->len ? memrchr(v->p, '/', v->len) : NULL;
	size_t from = slash ? (size_t)(slash - v->p) + 1 : 0;

	(void)vm;
	(void)i;
	return part(v, v->p + from, v->len - from, true);
}

static struct up_value fn_dirname(struct up_vm *vm, const struct up_insn *i,
				  const struct up_value *v)
{
	const char *slash = v->len ? memrchr(v->p, '/', v->len) : NULL;

	(void)vm;
	(void)i;
	if (!slash)
		return (struct up_value){ .p = ".", .len = 1 };
	return part(v, v->p, slash == v->p ? 1 : (size_t)(slash - v->p), false);
}

/* ---- texts that are made ---- */

static struct up_value change_case(struct up_vm *vm, const struct up_value *v, int (*change)(int))
{
	struct up_value out = keep(vm, v->p, v->len);

	if (out.flags & UP_VALUE_FAULT)
		return out;
	for (uint32_t k = 0; k < out.len; k++) {
		char c = v->p[k];

		/* ASCII only, whatever the locale. */
		((char *)(uintptr_t)out.p)[k] = (unsigned char)c < 128 ? (char)change(c) : c;
	}
	out.flags = v->flags;
	return out;
}

static int ascii_lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

static int ascii_upper(int c)
{
	return c >= 'a' && c <= 'z' ? c + 'A' - 'a' : c;
}

static struct up_value fn_lower(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	(void)i;
	return change_case(vm, v, ascii_lower);
}

static struct up_value fn_upper(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	(void)i;
	return change_case(vm, v, ascii_upper);
}

static struct up_value fn_join(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	size_t len = (size_t)v[0].len + v[1].len;
	char *to = len ? up_vm_scratch(vm, len) : NULL;

	(void)i;
	if (!len)
		return (struct up_value){ .p = "" };
	if (!to)
		return fault();
	if (v[0].len)
		memcpy(to, v[0].p, v[0].len);
	if (v[1].len)
		memcpy(to + v[0].len, v[1].p, v[1].len);
	return (struct up_value){ .p = to,
				  .len = (uint32_t)len,
				  .flags = (v[0].flags | v[1].flags) & UP_VALUE_CUT };
}

static struct up_value fn_repeat(struct up_vm *vm, const struct up_insn *i,
				 const struct up_value *v)
{
	uint64_t n = v[1].s < 0 ? 0 : v[1].u, len = v->len;
	char *to;

	(void)i;
	if (!n || !len)
		return (struct up_value){ .p = "" };
	if (v->flags & UP_VALUE_CUT) /* nobody knows what stands between */
		n = 1;
	if (n > UP_VM_SCRATCH / len)
		return no_room(vm);
	to = up_vm_scratch(vm, n * len);
	if (!to)
		return fault();
	for (uint64_t k = 0; k < n; k++)
		memcpy(to + k * len, v->p, len);
	return (struct up_value){ .p = to, .len = (uint32_t)(n * len), .flags = v->flags };
}

static struct up_value fn_dec(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	struct up_buf *b = &vm->text;

	up_buf_reset(b);
	if (i->d == UP_FN_FLOAT)
		up_put_float(b, v->f, 64);
	else if (i->d == UP_FN_UNSIGNED)
		up_buf_printf(b, "%" PRIu64, v->u);
	else
		up_buf_printf(b, "%" PRId64, v->s);
	return b->failed ? no_room(vm) : keep(vm, b->s, b->len);
}

static struct up_value fn_hex(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	char s[24];

	(void)i;
	return keep(vm, s, (size_t)snprintf(s, sizeof(s), "0x%" PRIx64, v->u));
}

static struct up_value fn_int(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	char s[72];
	size_t at = 0, skip = 0, len;

	(void)vm;
	(void)i;
	while (skip < v->len && is_blank(v->p[skip]))
		skip++;
	len = v->len - skip < sizeof(s) - 1 ? v->len - skip : sizeof(s) - 1;
	if (len)
		memcpy(s, v->p + skip, len);
	s[len] = 0;
	size_t digits = at + (s[at] == '-' || s[at] == '+');
	bool is_hex = s[digits] == '0' && (s[digits + 1] | 32) == 'x';
	/* Above the largest signed number the same 64 bits are meant. */
	if (s[at] == '-')
		return number(strtoll(s + at, NULL, is_hex ? 16 : 10));
	return (struct up_value){ .u = strtoull(s + at, NULL, is_hex ? 16 : 10) };
}

/* ---- networks ---- */

static struct up_value fn_ntohs(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	(void)vm;
	(void)i;
	return number(ntohs((uint16_t)v->u));
}

static struct up_value fn_ntohl(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	(void)vm;
	(void)i;
	return number(ntohl((uint32_t)v->u));
}

static struct up_value fn_ntop(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	char text[INET6_ADDRSTRLEN];
	unsigned char addr[16];

	(void)i;
	if ((v->len != 4 && v->len != 16) || v->flags & UP_VALUE_CUT)
		return (struct up_value){ .p = "" };
	memcpy(addr, v->p, v->len);
	inet_ntop(v->len == 4 ? AF_INET : AF_INET6, addr, text, sizeof(text));
	return keep(vm, text, strlen(text));
}

/* ---- time ---- */

/* The format with the nanoseconds for %N; false when it is too long. */
static bool put_nanoseconds(const struct up_value *format, unsigned ns, char *to, size_t size)
{
	size_t at = 0;

	for (uint32_t k = 0; k < format->len; k++) {
		bool is_ns = format->p[k] == '%' && k + 1 < format->len && format->p[k + 1] == 'N';
		bool is_pair = format->p[k] == '%' && k + 1 < format->len;

		if (at + 10 >= size || !format->p[k])
			return false;
		if (is_ns)
			at += (size_t)snprintf(to + at, size - at, "%09u", ns);
		else
			to[at++] = format->p[k];
		if (is_pair && !is_ns)
			to[at++] = format->p[k + 1];
		k += is_pair;
	}
	to[at] = 0;
	return true;
}

static struct up_value fn_strftime(struct up_vm *vm, const struct up_insn *i,
				   const struct up_value *v)
{
	int64_t wall = (int64_t)(v[1].u + (uint64_t)vm->out->wall_offset);
	int64_t seconds = wall / NS - (wall % NS < 0);
	char format[512], text[1024];
	time_t t = (time_t)seconds;
	struct tm tm;

	(void)i;
	if (!put_nanoseconds(&v[0], (unsigned)(wall - seconds * NS), format, sizeof(format)) ||
	    !localtime_r(&t, &tm))
		return no_room(vm);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the format is the script's */
	return keep(vm, text, strftime(text, sizeof(text), format, &tm));
#pragma GCC diagnostic pop
}

/* ---- the table ---- */

static function *const functions[FN_COUNT] = {
	[FN_MIN] = fn_min,         [FN_MAX] = fn_max,           [FN_ABS] = fn_abs,
	[FN_BUCKET] = fn_bucket,   [FN_LEN] = fn_len,           [FN_SUBSTR] = fn_substr,
	[FN_INDEX] = fn_index,     [FN_SPLIT] = fn_split,       [FN_LOWER] = fn_lower,
	[FN_UPPER] = fn_upper,     [FN_TRIM] = fn_trim,         [FN_BASENAME] = fn_basename,
	[FN_DIRNAME] = fn_dirname, [FN_DEC] = fn_dec,           [FN_INT] = fn_int,
	[FN_HEX] = fn_hex,         [FN_STRFTIME] = fn_strftime, [FN_JOIN] = fn_join,
	[FN_REPEAT] = fn_repeat,   [FN_NTOHS] = fn_ntohs,       [FN_NTOHL] = fn_ntohl,
	[FN_NTOP] = fn_ntop,
};

struct up_value up_vm_call(struct up_vm *vm, const struct up_insn *i, const struct up_value *v)
{
	for (unsigned k = 0; k < i->c; k++)
		if (v[k].flags & UP_VALUE_FAULT)
			return fault();
	return functions[i->b](vm, i, v);
}
