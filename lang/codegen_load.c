/* Instructions that read the program: what the kernel fetches, memory read later, and by which
 * types. */
#include "lang/codegen.h"

#include <stdlib.h>
#include <string.h>

#include "lang/fold.h"
#include "lang/types.h"

/* ---- a return value that is not there ---- */

/* A function that is left by a jump to another one has returned nothing yet. */
static bool is_missing(const struct up_gen *g, const char *fetch)
{
	return g->shape->side == UP_SIDE_JUMP && fetch && strstr(fetch, "$retval");
}

static void warn_missing(struct up_gen *g, const struct up_node *n)
{
	if (g->b->told_no_result)
		return;
	g->b->told_no_result = true;
	up_error(g->ds, n->span, W_NO_RETVAL,
		 "`retval` is a fault where a function is left by a jump to another one, which "
		 "returns in its stead, as %s is",
		 g->jumper);
	up_diag_hint(g->ds, "probe the return of that one, too");
}

/* A fault, counted as such, of a value that would have stood there. */
static void gen_missing(struct up_gen *g, const struct up_node *n, bool is_bytes, unsigned r)
{
	static const struct up_text none = { "", 0 };

	warn_missing(g, n);
	if (!up_has_register(g, n, r + 1))
		return;
	if (is_bytes)
		up_emit_text(g, r, &none);
	else
		up_emit_const(g, r, (struct up_value){ .u = 0 });
	up_emit_const(g, r + 1, (struct up_value){ .u = 0 });
	up_emit(g, OP_GUARD, r, r + 1, 0);
}

/* ---- what the kernel fetches ---- */

/* At an exit the stack pointer is not yet where it will be when the function has returned. */
static unsigned sp_lower(const struct up_gen *g, const char *fetch)
{
	bool is_sp = fetch && (!strcmp(fetch, "%sp") || !strcmp(fetch, "$stack"));

	return is_sp && g->shape->side >= UP_SIDE_EXIT ? g->fetch.abi->return_sp : 0;
}

static void add_const(struct up_gen *g, const struct up_node *n, uint64_t c, unsigned r)
{
	if (!c || !up_has_register(g, n, r + 1))
		return;
	up_emit_const(g, r + 1, (struct up_value){ .u = c });
	up_emit(g, OP_ADD, r, r, r + 1);
}

/* Loads a fetch argument. */
static void load(struct up_gen *g, const struct up_node *n, const char *text, const char *type,
		 unsigned r)
{
	uint32_t arg = up_shape_add(&g->fetch, g->shape, text, type, n->span);

	if (arg == UP_NONE)
		g->failed = true;
	else
		up_emit(g, g->shape->args.v[arg].size ? OP_ARG : OP_ARGSTR, r, arg, 0);
}

void up_gen_comm(struct up_gen *g, const struct up_node *n, unsigned r)
{
	load(g, n, "$comm", "string", r);
}

/* Takes a part out of the number in register r, from bit `off` on. */
static void take_part(struct up_gen *g, unsigned off, struct up_type part, unsigned r)
{
	if (off) {
		up_emit_const(g, r + 1, (struct up_value){ .u = off });
		up_emit(g, OP_SHRU, r, r, r + 1);
	}
	up_emit_cast(g, r, part);
}

/* Makes of a whole word what the kernel would have fetched of it as this type. */
static void narrow(struct up_gen *g, const char *type, unsigned r)
{
	const char *at = *type == 'b' ? strchr(type, '@') : NULL;
	unsigned off = at ? (unsigned)strtoul(at + 1, NULL, 10) : 0;
	struct up_type t = UP_TYPE_X64;
	uint16_t size;

	up_type_of_kernel(type, &t, &size);
	if (t.bits < 64)
		take_part(g, off, t, r);
}

/* Loads a number; of a stack pointer what it will be. */
static void load_number(struct up_gen *g, const struct up_node *n, const char *text,
			const char *type, unsigned r)
{
	unsigned lower = sp_lower(g, text);

	if (!lower) {
		load(g, n, text, type, r);
	} else if (up_has_register(g, n, r + 1)) {
		load(g, n, text, up_gen_word_type(g, "x64"), r);
		add_const(g, n, lower, r);
		narrow(g, type, r);
	}
}

/* Makes register r a fault when a pointer on the way to it was none. */
static void guard(struct up_gen *g, const struct up_node *n, const struct up_fetch *f, unsigned r)
{
	for (unsigned i = 0; i < f->nr_ptrs; i++) {
		uint32_t ptr = up_shape_add(&g->fetch, g->shape, f->ptrs[i], "x64", n->span);

		if (ptr == UP_NONE) {
			g->failed = true;
			return;
		}
		up_emit(g, OP_ARG, r + 1, ptr, 0);
		up_emit(g, OP_GUARD, r, r + 1, 0);
	}
}

/*
 * Loads what was read as arrays, with one of OP_TEXT, OP_CHARS, OP_BYTES, OP_ARRAY; the register
 * behind gets its address.
 */
static void load_run(struct up_gen *g, const struct up_node *n, const struct up_fetch *f,
		     const struct up_run *run, enum up_opcode op, uint64_t len, unsigned r)
{
	uint32_t pieces = 0, base = UP_NONE;

	if (is_missing(g, f->base)) {
		gen_missing(g, n, true, r);
		return;
	}
	uint32_t first = up_shape_add_run(&g->fetch, g->shape, f, run, &pieces, n->span);

	if (f->base)
		base = up_shape_add(&g->fetch, g->shape, f->base, "x64", n->span);
	if (first == UP_NONE || (f->base && base == UP_NONE) || !up_has_register(g, n, r + 2)) {
		g->failed = true;
		return;
	}
	up_emit_const(g, r + 1, (struct up_value){ .u = f->off + sp_lower(g, f->base) });
	if (f->base) {
		up_emit(g, OP_ARG, r + 2, base, 0);
		up_emit(g, OP_ADD, r + 1, r + 1, r + 2);
	}
	uint32_t at = up_emit(g, op, r, first, op == OP_ARRAY ? run->size : pieces);
	g->code.v[at].d = (uint16_t)len;
	guard(g, n, f, r);
}

static void load_text(struct up_gen *g, const struct up_node *n, const struct up_fetch *f,
		      enum up_opcode op, uint64_t len, unsigned r)
{
	/* One byte more than the text may have: its NUL tells that it is whole. */
	uint64_t bytes = op == OP_TEXT ? len + 1 : len;
	struct up_run run = { "x64", 8, (bytes + 7) / 8, 0 };

	load_run(g, n, f, &run, op, len, r);
}

/* Whole words first: fewer arguments, and the kernel reads them faster. */
static void load_bytes(struct up_gen *g, const struct up_node *n, const struct up_fetch *f,
		       uint64_t len, unsigned r)
{
	struct up_run run = { "x64", 8, len / 8, len % 8 };

	load_run(g, n, f, &run, OP_BYTES, len, r);
}

/* ---- what is read by the runtime ---- */

static void warn_late(struct up_gen *g, const struct up_node *n)
{
	if (!g->b->reads_late) {
		up_error(g->ds, n->span, W_READ_LATE,
			 "this is read a moment after the hit: in a 32-bit program the kernel "
			 "cannot follow a pointer that stands in memory");
		up_diag_hint(g->ds,
			     "it is a fault when the program has ended by then, and what the "
			     "program has written meanwhile is seen; behind a pointer in a "
			     "register memory is read at the hit");
	}
	g->b->reads_late = g->b->needs_pid = true;
}

/* Reads memory itself, `len` bytes at the pointer of f. Addresses wrap around at 32 bits. */
static void gen_peek(struct up_gen *g, const struct up_node *n, const struct up_fetch *f,
		     unsigned what, uint64_t len, unsigned r)
{
	bool is_signed = f->late->type.ty == TY_INT && f->late->type.is_signed;

	if (!up_has_register(g, n, r + 1)) {
		g->failed = true;
		return;
	}
	warn_late(g, n);
	up_gen_value(g, f->late, up_gen_word_type(g, is_signed ? "s64" : "x64"), r);
	add_const(g, n, f->off, r);
	up_emit(g, OP_CAST, r, r, 8 * g->fetch.abi->word);
	uint32_t at = up_emit(g, OP_PEEK, r, r, what);
	g->code.v[at].d = (uint16_t)len;
}

static void gen_peek_number(struct up_gen *g, const struct up_node *n, const struct up_fetch *f,
			    const char *type, unsigned r)
{
	struct up_type t = UP_TYPE_NONE;
	uint16_t size = 0;

	up_type_of_kernel(type, &t, &size);
	gen_peek(g, n, f, UP_PEEK_NUMBER, size, r);
	if (t.is_signed && size < 8)
		up_emit(g, OP_CAST, r, r, 8u * size | 1 << 8);
}

/* Loads a number. */
void up_gen_value(struct up_gen *g, const struct up_node *n, const char *type, unsigned r)
{
	struct up_fetch f = { 0 };

	if (!up_fetch_value(&g->fetch, n, &f) || !up_has_register(g, n, r + 1)) {
		g->failed = true;
	} else if (f.late) {
		gen_peek_number(g, n, &f, type, r);
	} else if (is_missing(g, f.text)) {
		gen_missing(g, n, false, r);
	} else {
		load_number(g, n, f.text, type, r);
		guard(g, n, &f, r);
	}
}

void up_gen_fetch(struct up_gen *g, const struct up_node *n, unsigned r)
{
	const struct up_node *arg = n->call.args;
	const char *type;
	size_t len = arg->str.len;

	if (is_missing(g, arg->str.s)) {
		gen_missing(g, arg, up_ty_has_bytes(n->type.ty), r);
		return;
	}
	up_fetch_text_ok(arg->str.s, len, &type);
	if (len > strlen(type) && arg->str.s[len - strlen(type) - 1] == ':' &&
	    !strcmp(arg->str.s + len - strlen(type), type))
		len -= strlen(type) + 1;
	/* Where an array lies cannot be told: it is taken as the kernel gives it. */
	if (n->type.ty == TY_ARRAY && up_has_register(g, n, r + 1))
		up_emit_const(g, r + 1, (struct up_value){ 0 });
	const char *text = up_arena_memdup(g->ds->arena, arg->str.s, len);
	if (n->type.ty == TY_INT)
		load_number(g, arg, text, type, r);
	else
		load(g, arg, text, type, r);
	if (n->type.ty == TY_ARRAY && g->code.nr) {
		struct up_insn *i = &g->code.v[g->code.nr - 1];

		*i = (struct up_insn){ OP_ARRAY, i->a, i->b, n->type.bits / 8,
				       (uint16_t)(n->type.bits / 8 * n->type.count) };
	}
}

/* ---- types ---- */

/* `ADDRESS:string`, `ADDRESS:bytes[N]` */
static void gen_address_type(struct up_gen *g, const struct up_node *n, unsigned r)
{
	const struct up_node *e = up_unparen(n->typed.e);
	struct up_fetch f = { 0 };
	uint64_t len = UP_TEXT_LEN;

	if (n->typed.type.len)
		up_const_int(n->typed.type.len, &len);
	if (!up_fetch_memory(&g->fetch, e, &f))
		g->failed = true;
	else if (f.late)
		gen_peek(g, n, &f, n->type.ty == TY_BYTES ? UP_PEEK_BYTES : UP_PEEK_TEXT, len, r);
	else if (n->type.ty == TY_BYTES)
		load_bytes(g, n, &f, len, r);
	else
		load_text(g, n, &f, OP_TEXT, len, r);
}

/* The length of a text, which stands behind its address. */
static void gen_length(struct up_gen *g, const struct up_node *n, const struct up_node *e,
		       unsigned r)
{
	struct up_fetch f = { 0 };

	if (!up_fetch_behind(&g->fetch, e, &f)) {
		g->failed = true;
	} else if (f.late) {
		gen_peek_number(g, n, &f, up_gen_word_type(g, "x64"), r);
	} else {
		load(g, n, f.text, up_gen_word_type(g, "x64"), r);
		guard(g, n, &f, r);
	}
}

/*
 * `VALUE:gostring`. An empty text may have any address. All bytes are taken, NULs among them, and
 * only as many as the length says.
 */
static void gen_counted(struct up_gen *g, const struct up_node *n, unsigned r)
{
	const struct up_text none = { "", 0 };
	const struct up_node *e = up_unparen(n->typed.e);
	struct up_fetch f = { 0 };
	uint64_t len = UP_TEXT_LEN;

	if (n->typed.type.len)
		up_const_int(n->typed.type.len, &len);
	if (!up_has_register(g, n, r + 2) || !up_fetch_memory(&g->fetch, e, &f)) {
		g->failed = true;
		return;
	}
	if (is_missing(g, f.base)) {
		gen_missing(g, n, true, r);
		return;
	}
	gen_length(g, n, e, r);
	uint32_t empty = up_emit_jump(g, OP_JUMPZ, r);
	if (f.late)
		gen_peek(g, n, &f, UP_PEEK_BYTES, len, r + 1);
	else
		load_run(g, n, &f, &(struct up_run){ "x64", 8, (len + 7) / 8, 0 }, OP_BYTES, len,
			 r + 1);
	uint32_t end = up_emit_jump(g, OP_JUMP, 0);
	up_patch(g, empty);
	up_emit_text(g, r + 1, &none);
	up_patch(g, end);
	up_emit(g, OP_HEAD, r, r + 1, r);
}

/* `@ADDRESS:TYPE[N]` */
static void gen_array(struct up_gen *g, const struct up_node *n, const struct up_type_row *row,
		      unsigned r)
{
	const struct up_node *at = up_unparen(n->typed.e);
	struct up_fetch f = { 0 };
	uint64_t count = 1;

	up_const_int(n->typed.type.len, &count);
	if (!up_fetch_memory(&g->fetch, at->sub.e, &f)) {
		g->failed = true;
	} else if (f.late) {
		gen_peek(g, n, &f,
			 n->type.ty == TY_STR ? UP_PEEK_CHARS : UP_PEEK_ARRAY | row->size << 8,
			 count * row->size, r);
	} else if (n->type.ty == TY_STR) {
		load_text(g, n, &f, OP_CHARS, count, r);
	} else {
		struct up_run run = { row->kernel, row->size, count, 0 };

		load_run(g, n, &f, &run, OP_ARRAY, count * row->size, r);
	}
}

/* Not of memory that it does not read, nor beyond the end of a word. */
static bool kernel_takes_bits(struct up_gen *g, const struct up_node *e, unsigned size)
{
	struct up_fetch f = { 0 };

	if (!up_is_fetchable(e, g->shape->side != UP_SIDE_ENTRY))
		return false;
	if (e->kind != ND_AT)
		return size <= 8 * g->fetch.abi->word;
	return !up_fetch_value(&g->fetch, e, &f) || !f.late;
}

/* `VALUE:bWIDTH@OFFSET/SIZE`: the kernel takes the bits out where it can. */
static void gen_bits(struct up_gen *g, const struct up_node *n, unsigned r)
{
	const struct up_typeref *ref = &n->typed.type;
	const struct up_node *e = up_unparen(n->typed.e);

	if (kernel_takes_bits(g, e, ref->bit_size)) {
		up_gen_value(g, e,
			     up_arena_printf(g->ds->arena, "b%u@%u/%u", ref->bits, ref->bit_off,
					     ref->bit_size),
			     r);
		return;
	}
	if (e->kind == ND_AT)
		up_gen_value(g, e, up_arena_printf(g->ds->arena, "u%u", ref->bit_size), r);
	else
		up_gen_expr(g, e, r);
	if (up_has_register(g, n, r + 1))
		take_part(g, ref->bit_off, n->type, r);
}

/* A number type behind a value that is computed. */
static void gen_cast(struct up_gen *g, const struct up_node *n, const struct up_node *e, unsigned r)
{
	up_gen_expr(g, e, r);
	if (e->type.ty != TY_FLOAT)
		up_emit_cast(g, r, n->type);
	else if (n->type.show == UP_SHOW_BOOL)
		up_emit(g, OP_FTRUTH, r, r, 0);
	else
		up_emit(g, OP_TRUNC, r, r, n->type.bits | (unsigned)n->type.is_signed << 8);
}

void up_gen_typed(struct up_gen *g, const struct up_node *n, unsigned r)
{
	const struct up_type_row *row = up_type_find(n->typed.type.name);
	const struct up_node *e = up_unparen(n->typed.e);

	if (n->typed.type.bits) {
		gen_bits(g, n, r);
	} else if (e->type.ty == TY_STR) {
		up_gen_expr(g, e, r);
	} else if (row->is_address && !strcmp(row->name, UP_TYPE_COUNTED)) {
		gen_counted(g, n, r);
	} else if (row->is_address) {
		gen_address_type(g, n, r);
	} else if (n->typed.type.len) {
		gen_array(g, n, row, r);
	} else if (row->type.ty == TY_STR) {
		up_gen_expr(g, e, r);
		if (g->fetch.abi->word < 8)
			up_emit(g, OP_CAST, r, r, 8 * g->fetch.abi->word);
		up_emit(g, OP_SYM, r, r, 0);
		g->b->needs_pid = true;
	} else if (up_is_fetchable(e, g->shape->side != UP_SIDE_ENTRY)) {
		up_gen_value(g, e,
			     e->kind == ND_AT ? row->kernel : up_gen_word_type(g, row->kernel), r);
		if (row->type.ty == TY_FLOAT && row->size == 4)
			up_emit(g, OP_SINGLE, r, r, 0);
	} else {
		gen_cast(g, n, e, r);
	}
	if (row && row->type.show == UP_SHOW_BOOL && n->type.ty == TY_INT)
		up_emit(g, OP_TRUTH, r, r, 0);
}
