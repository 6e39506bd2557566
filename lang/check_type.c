/* The checker's types: what may stand behind `:`, and before it. */
#include <stdarg.h>
#include <string.h>

#include "lang/check.h"
#include "lang/fetch.h"
#include "lang/types.h"

const char *up_kind_name(struct up_type t)
{
	switch (t.ty) {
	case TY_FLOAT:
		return "a floating-point number";
	case TY_STR:
		return "a string";
	case TY_BYTES:
		return "a run of bytes";
	case TY_ARRAY:
		return "an array";
	default:
		return "a number";
	}
}

/* Does it rest on an argument as it was at the entry, without saying `entry.`? */
static const struct up_node *find_arg(const struct up_node *n)
{
	const struct up_node *a;

	if (!n)
		return NULL;
	switch (n->kind) {
	case ND_NAME:
		return n->sem == SEM_ARG ? n : NULL;
	case ND_AT:
	case ND_PAREN:
		return find_arg(n->sub.e);
	case ND_TYPED:
		return find_arg(n->typed.e);
	case ND_UNARY:
	case ND_BINARY:
		a = find_arg(n->op.a);
		return a ? a : find_arg(n->op.b);
	default:
		return NULL;
	}
}

bool up_check_stale(struct up_check *cx, const struct up_node *n, const struct up_node *address)
{
	const struct up_node *arg = cx->where == UP_AT_RETURN ? find_arg(address) : NULL;

	if (!arg)
		return true;
	/* What is to be written instead needs the type, too. */
	const struct up_node *whole =
		cx->typed && up_unparen(cx->typed->typed.e) == n ? cx->typed : n;
	up_error(cx->ds, n->span, E_STALE_READ,
		 "in `on return` the memory behind `%s` may have changed since the entry",
		 arg->name.s);
	up_diag_hint(cx->ds, "write entry.%s for what stood there at the entry",
		     up_source_label(cx->ds, cx->ds->arena, whole->span));
	return false;
}

/* Types of C, and ours of that size. */
static const char *type_of_c(const char *name)
{
	static const char *const types[][2] = {
		{ "int", "s32" },      { "unsigned", "u32" }, { "uint", "u32" },
		{ "long", "s64" },     { "ulong", "u64" },    { "short", "s16" },
		{ "ushort", "u16" },   { "uchar", "u8" },     { "size_t", "u64" },
		{ "ssize_t", "s64" },  { "ptr", "x64" },      { "pointer", "x64" },
		{ "hex", "x64" },      { "str", "string" },   { "float", "f32" },
		{ "double", "f64" },   { "uint8_t", "u8" },   { "uint16_t", "u16" },
		{ "uint32_t", "u32" }, { "uint64_t", "u64" }, { "int8_t", "s8" },
		{ "int16_t", "s16" },  { "int32_t", "s32" },  { "int64_t", "s64" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i][0], name))
			return types[i][1];
	return NULL;
}

static struct up_type unknown_type(struct up_check *cx, struct up_node *n)
{
	struct up_nearest near;
	const char *name = n->typed.type.name;

	up_error(cx->ds, n->typed.type.span, E_UNKNOWN_TYPE, "there is no type `%s`", name);
	if (type_of_c(name)) {
		up_diag_hint(cx->ds, "write :%s", type_of_c(name));
		return up_poison(n);
	}
	up_nearest_init(&near, name, strlen(name));
	for (const struct up_type_row *r = up_type_rows; r->name; r++)
		up_nearest_offer(&near, r->name, strlen(r->name));
	up_diag_nearest(cx->ds, &near);
	return up_poison(n);
}

static struct up_type refuse_type(struct up_check *cx, struct up_node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static struct up_type refuse_type(struct up_check *cx, struct up_node *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	up_error(cx->ds, n->span, E_TYPE, "%s", up_arena_vprintf(cx->ds->arena, fmt, ap));
	va_end(ap);
	return up_poison(n);
}

/* N of `TYPE[N]`, which reads `size` bytes each. False after a diagnostic. */
static bool read_count(struct up_check *cx, const struct up_node *n, unsigned size,
		       const char *what, uint64_t *count)
{
	const struct up_node *len = n->typed.type.len;
	unsigned max = UP_BLOCK_MAX / size;

	if (up_const_int(len, count) && *count > 0 && *count <= max)
		return true;
	return up_error(cx->ds, len->span, E_NOT_CONSTANT, "%s is a constant from 1 to %u", what,
			max);
}

/* A text whose length stands behind its address needs a place that there is a behind of. */
static bool check_counted(struct up_check *cx, struct up_node *n, const struct up_type_row *row)
{
	if (strcmp(row->name, UP_TYPE_COUNTED) != 0 || up_has_behind(n->typed.e))
		return true;
	up_error(cx->ds, n->span, E_TYPE,
		 "`%s` takes its length from the word behind the address, and nothing is behind %s",
		 row->name, up_source_label(cx->ds, cx->ds->arena, n->typed.e->span));
	up_diag_hint(cx->ds, "it stands behind argN, stack[N], retval or @ADDRESS; otherwise "
			     "substr(ADDRESS:string, 0, LENGTH) does it");
	return false;
}

/* `:string`, `:string[N]`, `:bytes[N]`: what lies at the address. */
static struct up_type check_address_type(struct up_check *cx, struct up_node *n,
					 const struct up_type_row *row, struct up_type t)
{
	const struct up_typeref *ref = &n->typed.type;
	bool is_text = row->type.ty == TY_STR;
	uint64_t len;

	if (!ref->len && !is_text) {
		up_error(cx->ds, ref->span, E_TYPE, "`%s` must say how many bytes", ref->name);
		up_diag_hint(cx->ds, "as in :%s[16]", ref->name);
		return up_poison(n);
	}
	if (ref->len &&
	    !read_count(cx, n, 1, is_text ? "a text's length" : "a number of bytes", &len))
		return up_poison(n);
	if (up_is_poison(t))
		return up_poison(n);
	if (!check_counted(cx, n, row))
		return up_poison(n);
	if (t.ty == TY_STR && is_text && !ref->len)
		return n->type = t;
	if (t.ty != TY_INT)
		return refuse_type(cx, n, "an address is a number, this is %s", up_kind_name(t));
	return up_check_stale(cx, n, n->typed.e) ? (n->type = row->type) : up_poison(n);
}

/* Types that describe what lies in memory need `@ADDRESS` before them. */
static bool check_has_at(struct up_check *cx, struct up_node *n)
{
	const struct up_node *e = up_unparen(n->typed.e);
	const char *type = up_source_label(cx->ds, cx->ds->arena, n->typed.type.span);

	if (e->kind == ND_AT)
		return true;
	up_poison(n);
	up_error(cx->ds, n->span, E_TYPE,
		 "`%s` says what lies in memory, and needs an address behind `@`", type);
	if (n->typed.type.len)
		up_diag_hint(cx->ds, "as in @(%s):%s",
			     up_source_label(cx->ds, cx->ds->arena, e->span), type);
	else
		up_diag_hint(cx->ds,
			     "as in @(arg0 + 8):%s; the kernel's probes cannot read floating-point "
			     "registers",
			     type);
	return false;
}

/* `@ADDRESS:u32[8]`; `char[N]` is text. */
static struct up_type check_array(struct up_check *cx, struct up_node *n,
				  const struct up_type_row *row)
{
	struct up_type t = row->type;
	uint64_t count;

	if (!row->size)
		return refuse_type(cx, n, "there are no arrays of `%s`", row->name);
	if (!read_count(cx, n, row->size, "a number of elements", &count) || !check_has_at(cx, n))
		return up_poison(n);
	if (up_is_poison(n->typed.e->type))
		return up_poison(n);
	if (t.show == UP_SHOW_CHAR)
		return n->type = UP_TYPE_STR;
	if (t.ty == TY_FLOAT)
		t.show = UP_SHOW_FLOAT;
	t.ty = TY_ARRAY;
	t.count = (uint16_t)count;
	return n->type = t;
}

/* `:bWIDTH@OFFSET/SIZE` */
static struct up_type check_bits(struct up_check *cx, struct up_node *n, struct up_type t)
{
	const struct up_typeref *ref = &n->typed.type;
	struct up_type bits = { .ty = TY_INT, .bits = ref->bits };

	if (ref->bit_size != 8 && ref->bit_size != 16 && ref->bit_size != 32 &&
	    ref->bit_size != 64) {
		up_error(cx->ds, ref->span, E_TYPE,
			 "a bit field lies in a number of 8, 16, 32 or 64 bits, not of %u",
			 ref->bit_size);
		up_diag_hint(cx->ds, "bWIDTH@OFFSET/SIZE: b4@3/32 is bits 3 to 6 of a u32");
		return up_poison(n);
	}
	if (!ref->bits || ref->bits + ref->bit_off > ref->bit_size) {
		up_error(cx->ds, ref->span, E_TYPE,
			 "%u bits from bit %u on do not lie in a number of %u bits", ref->bits,
			 ref->bit_off, ref->bit_size);
		up_diag_hint(cx->ds, "bWIDTH@OFFSET/SIZE: b4@3/32 is bits 3 to 6 of a u32");
		return up_poison(n);
	}
	if (up_is_poison(t))
		return up_poison(n);
	if (t.ty != TY_INT)
		return refuse_type(cx, n, "%s has no bit fields", up_kind_name(t));
	return n->type = bits;
}

struct up_type up_check_typed(struct up_check *cx, struct up_node *n)
{
	const struct up_typeref *ref = &n->typed.type;
	const struct up_type_row *row = up_type_find(ref->name);
	const struct up_node *around = cx->typed;

	cx->typed = n;
	struct up_type t = up_check_expr(cx, n->typed.e);
	cx->typed = around;
	if (ref->bit_size || ref->bits)
		return check_bits(cx, n, t);
	if (!row)
		return unknown_type(cx, n);
	if (row->is_address)
		return check_address_type(cx, n, row, t);
	if (ref->len)
		return check_array(cx, n, row);
	if (up_is_poison(t) || (row->needs_at && !check_has_at(cx, n)))
		return up_poison(n);
	if (t.ty == TY_FLOAT && row->type.ty == TY_INT)
		return n->type = row->type;
	if (t.ty != TY_INT)
		return refuse_type(cx, n, "%s cannot be taken as `%s`", up_kind_name(t), ref->name);
	return n->type = row->type;
}
