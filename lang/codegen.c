/* Instructions for expressions. Statements are in codegen_act.c. */
#include "lang/codegen.h"

#include <stdlib.h>
#include <string.h>

#include "lang/fold.h"
#include "lang/types.h"
#include "lang/values.h"

uint32_t up_emit(struct up_gen *g, enum up_opcode op, unsigned a, unsigned b, unsigned c)
{
	struct up_insn i = { (uint8_t)op, (uint8_t)a, (uint16_t)b, (uint16_t)c, 0 };

	up_vec_push(g->b->arena, &g->code, i);
	return (uint32_t)g->code.nr - 1;
}

static uint32_t emit_wide(struct up_gen *g, enum up_opcode op, unsigned a, uint32_t wide)
{
	return up_emit(g, op, a, wide & 0xffff, wide >> 16);
}

uint32_t up_emit_jump(struct up_gen *g, enum up_opcode op, unsigned a)
{
	return emit_wide(g, op, a, 0);
}

void up_emit_to(struct up_gen *g, enum up_opcode op, uint32_t to)
{
	emit_wide(g, op, 0, to);
}

void up_patch(struct up_gen *g, uint32_t jump)
{
	g->code.v[jump].b = (uint16_t)(g->code.nr & 0xffff);
	g->code.v[jump].c = (uint16_t)(g->code.nr >> 16);
}

static void emit_const(struct up_gen *g, unsigned r, struct up_value v)
{
	up_vec_push(g->b->arena, &g->b->consts, v);
	emit_wide(g, OP_CONST, r, (uint32_t)g->b->consts.nr - 1);
}

static void emit_float(struct up_gen *g, unsigned r, double f)
{
	up_vec_push(g->b->arena, &g->b->consts, (struct up_value){ .f = f });
	emit_wide(g, OP_FCONST, r, (uint32_t)g->b->consts.nr - 1);
}

static void emit_string(struct up_gen *g, unsigned r, const struct up_text *t)
{
	struct up_value v = { .p = t->len ? up_arena_memdup(g->b->arena, t->s, t->len) : "",
			      .len = (uint32_t)t->len };

	up_vec_push(g->b->arena, &g->b->consts, v);
	emit_wide(g, OP_SCONST, r, (uint32_t)g->b->consts.nr - 1);
}

static void emit_cast(struct up_gen *g, unsigned r, struct up_type t)
{
	up_emit(g, OP_CAST, r, r, t.bits | (unsigned)t.is_signed << 8);
}

/* The kernel's type of a word: of a register, an argument, memory without a type. */
static const char *word_type(const struct up_gen *g, const char *type)
{
	return up_abi_word_type(g->fetch.abi, type);
}

static bool has_register(struct up_gen *g, const struct up_node *n, unsigned r)
{
	if (r + 2 >= UP_MAX_REGS) {
		g->failed = true;
		return up_error(g->ds, n->span, E_TOO_LARGE,
				"this expression needs more than %d registers", UP_MAX_REGS);
	}
	if (r + 1 > g->nr_regs)
		g->nr_regs = r + 1;
	return true;
}

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
	if (!has_register(g, n, r + 1))
		return;
	if (is_bytes)
		emit_string(g, r, &none);
	else
		emit_const(g, r, (struct up_value){ .u = 0 });
	emit_const(g, r + 1, (struct up_value){ .u = 0 });
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
	if (!c || !has_register(g, n, r + 1))
		return;
	emit_const(g, r + 1, (struct up_value){ .u = c });
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

/* Makes of a whole word what the kernel would have fetched of it as this type. */
static void narrow(struct up_gen *g, const char *type, unsigned r)
{
	const char *at = *type == 'b' ? strchr(type, '@') : NULL;
	uint64_t off = at ? strtoul(at + 1, NULL, 10) : 0;
	struct up_type t = UP_TYPE_X64;
	uint16_t size;

	up_type_of_kernel(type, &t, &size);
	if (off) {
		emit_const(g, r + 1, (struct up_value){ .u = off });
		up_emit(g, OP_SHRU, r, r, r + 1);
	}
	if (t.bits < 64)
		emit_cast(g, r, t);
}

/* Loads a number; of a stack pointer what it will be. */
static void load_number(struct up_gen *g, const struct up_node *n, const char *text,
			const char *type, unsigned r)
{
	unsigned lower = sp_lower(g, text);

	if (!lower) {
		load(g, n, text, type, r);
	} else if (has_register(g, n, r + 1)) {
		load(g, n, text, word_type(g, "x64"), r);
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
	if (first == UP_NONE || (f->base && base == UP_NONE) || !has_register(g, n, r + 2)) {
		g->failed = true;
		return;
	}
	emit_const(g, r + 1, (struct up_value){ .u = f->off + sp_lower(g, f->base) });
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

static void load_value(struct up_gen *g, const struct up_node *n, const char *type, unsigned r);

/* Reads memory itself, `len` bytes at the pointer of f. Addresses wrap around at 32 bits. */
static void gen_peek(struct up_gen *g, const struct up_node *n, const struct up_fetch *f,
		     unsigned what, uint64_t len, unsigned r)
{
	bool is_signed = f->late->type.ty == TY_INT && f->late->type.is_signed;

	if (!has_register(g, n, r + 1)) {
		g->failed = true;
		return;
	}
	warn_late(g, n);
	load_value(g, f->late, word_type(g, is_signed ? "s64" : "x64"), r);
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
static void load_value(struct up_gen *g, const struct up_node *n, const char *type, unsigned r)
{
	struct up_fetch f = { 0 };

	if (!up_fetch_value(&g->fetch, n, &f) || !has_register(g, n, r + 1)) {
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

static void gen_fetch_call(struct up_gen *g, const struct up_node *n, unsigned r)
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
	if (n->type.ty == TY_ARRAY && has_register(g, n, r + 1))
		emit_const(g, r + 1, (struct up_value){ 0 });
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

/* Keeps a value at the entry for the return block; the same expression is kept once. */
static void gen_kept(struct up_gen *g, const struct up_node *n, unsigned r)
{
	struct up_kept k = { n, NULL };
	size_t i = 0;

	while (i < g->kept->list.nr &&
	       !(g->kept->list.v[i].expr && up_same_expr(g->kept->list.v[i].expr, n)))
		i++;
	if (i == g->kept->list.nr)
		up_vec_push(g->ds->arena, &g->kept->list, k);
	if (i == UP_KEPT_MAX) {
		g->failed = true;
		up_error(g->ds, n->span, E_LIMIT, "a return keeps at most %d values of its entry",
			 UP_KEPT_MAX);
	}
	up_emit(g, OP_SAVED, r, (unsigned)i, up_ty_has_bytes(n->type.ty));
}

/* ---- named values ---- */

static void gen_named(struct up_gen *g, const struct up_node *n, unsigned r)
{
	switch (n->ref) {
	case VAL_IP:
		if (g->shape->side >= UP_SIDE_EXIT)
			load_value(g, n, word_type(g, "x64"), r);
		else
			up_emit(g, OP_CONTEXT, r, UP_CX_IP, 0);
		break;
	case VAL_PID:
		up_emit(g, OP_CONTEXT, r, UP_CX_PID, 0);
		g->b->needs_pid = true;
		break;
	case VAL_TID:
		up_emit(g, OP_CONTEXT, r, UP_CX_TID, 0);
		break;
	case VAL_CPU:
		up_emit(g, OP_CONTEXT, r, UP_CX_CPU, 0);
		break;
	case VAL_TIME:
		up_emit(g, OP_CONTEXT, r, UP_CX_TIME, 0);
		break;
	case VAL_ELAPSED:
		up_emit(g, OP_CONTEXT, r, UP_CX_ELAPSED, 0);
		break;
	case VAL_DEPTH:
		up_emit(g, OP_CONTEXT, r, UP_CX_DEPTH, 0);
		break;
	case VAL_PROBE:
		up_emit(g, OP_SITE, r, UP_SITE_PROBE, 0);
		break;
	case VAL_FUNC:
		up_emit(g, OP_SITE, r, UP_SITE_FUNC, 0);
		break;
	case VAL_OBJECT:
		up_emit(g, OP_SITE, r, UP_SITE_OBJECT, 0);
		break;
	case VAL_OFFSET:
		up_emit(g, OP_SITE, r, UP_SITE_OFFSET, 0);
		break;
	case VAL_COMM:
		load(g, n, "$comm", "string", r);
		break;
	case VAL_RETVAL:
		load_value(g, n, word_type(g, "s64"), r);
		break;
	default:
		load_value(g, n, word_type(g, "x64"), r);
		break;
	}
}

static void gen_arg(struct up_gen *g, const struct up_node *n, unsigned r)
{
	if (g->shape->side != UP_SIDE_ENTRY)
		gen_kept(g, n, r);
	else
		load_value(g, n, word_type(g, "s64"), r);
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
		gen_peek_number(g, n, &f, word_type(g, "x64"), r);
	} else {
		load(g, n, f.text, word_type(g, "x64"), r);
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
	if (!has_register(g, n, r + 2) || !up_fetch_memory(&g->fetch, e, &f)) {
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
	emit_string(g, r + 1, &none);
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
		load_value(g, e,
			   up_arena_printf(g->ds->arena, "b%u@%u/%u", ref->bits, ref->bit_off,
					   ref->bit_size),
			   r);
		return;
	}
	if (e->kind == ND_AT)
		load_value(g, e, up_arena_printf(g->ds->arena, "u%u", ref->bit_size), r);
	else
		up_gen_expr(g, e, r);
	if (!has_register(g, n, r + 1))
		return;
	if (ref->bit_off) {
		emit_const(g, r + 1, (struct up_value){ .u = ref->bit_off });
		up_emit(g, OP_SHRU, r, r, r + 1);
	}
	emit_cast(g, r, n->type);
}

/* A number type behind a value that is computed. */
static void gen_cast(struct up_gen *g, const struct up_node *n, const struct up_node *e, unsigned r)
{
	up_gen_expr(g, e, r);
	if (e->type.ty != TY_FLOAT)
		emit_cast(g, r, n->type);
	else if (n->type.show == UP_SHOW_BOOL)
		up_emit(g, OP_FTRUTH, r, r, 0);
	else
		up_emit(g, OP_TRUNC, r, r, n->type.bits | (unsigned)n->type.is_signed << 8);
}

static void gen_typed(struct up_gen *g, const struct up_node *n, unsigned r)
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
		load_value(g, e, e->kind == ND_AT ? row->kernel : word_type(g, row->kernel), r);
		if (row->type.ty == TY_FLOAT && row->size == 4)
			up_emit(g, OP_SINGLE, r, r, 0);
	} else {
		gen_cast(g, n, e, r);
	}
	if (row && row->type.show == UP_SHOW_BOOL && n->type.ty == TY_INT)
		up_emit(g, OP_TRUTH, r, r, 0);
}

/* ---- operators ---- */

void up_gen_cond(struct up_gen *g, const struct up_node *n, unsigned r)
{
	up_gen_expr(g, n, r);
	if (n->type.ty == TY_STR)
		up_emit(g, OP_STRTRUTH, r, r, 0);
	else if (n->type.ty == TY_FLOAT)
		up_emit(g, OP_FTRUTH, r, r, 0);
	else if (n->type.show != UP_SHOW_BOOL || n->type.bits != 64)
		up_emit(g, OP_TRUTH, r, r, 0);
}

static void gen_logic(struct up_gen *g, const struct up_node *n, unsigned r)
{
	up_gen_cond(g, n->op.a, r);
	uint32_t jump = up_emit_jump(g, n->op.op == OPR_LAND ? OP_JUMPZ : OP_JUMPNZ, r);
	up_gen_cond(g, n->op.b, r);
	up_patch(g, jump);
}

/* The instruction of an operator; `swap` for > and >=. */
static enum up_opcode opcode_of(enum up_op op, bool text, bool is_unsigned, bool *swap)
{
	*swap = op == OPR_GT || op == OPR_GE;
	switch (op) {
	case OPR_ADD:
		return OP_ADD;
	case OPR_SUB:
		return OP_SUB;
	case OPR_MUL:
		return OP_MUL;
	case OPR_DIV:
		return is_unsigned ? OP_DIVU : OP_DIVS;
	case OPR_MOD:
		return is_unsigned ? OP_MODU : OP_MODS;
	case OPR_AND:
		return OP_AND;
	case OPR_OR:
		return OP_OR;
	case OPR_XOR:
		return OP_XOR;
	case OPR_SHL:
		return OP_SHL;
	case OPR_SHR:
		return is_unsigned ? OP_SHRU : OP_SHRS;
	case OPR_EQ:
		return text ? OP_STREQ : OP_EQ;
	case OPR_NE:
		return text ? OP_STRNE : OP_NE;
	case OPR_MATCH:
		return OP_STRMATCH;
	case OPR_LT:
	case OPR_GT:
		return is_unsigned ? OP_LTU : OP_LTS;
	default:
		return is_unsigned ? OP_LEU : OP_LES;
	}
}

void up_gen_float(struct up_gen *g, const struct up_node *n, unsigned r)
{
	up_gen_expr(g, n, r);
	if (n->type.ty == TY_INT)
		up_emit(g, up_is_wide_unsigned(n->type) ? OP_FLOATU : OP_FLOATS, r, r, 0);
}

static void gen_float_op(struct up_gen *g, const struct up_node *n, unsigned r)
{
	bool swap = n->op.op == OPR_GT || n->op.op == OPR_GE;
	enum up_opcode op;

	switch (n->op.op) {
	case OPR_ADD:
		op = OP_FADD;
		break;
	case OPR_SUB:
		op = OP_FSUB;
		break;
	case OPR_MUL:
		op = OP_FMUL;
		break;
	case OPR_DIV:
		op = OP_FDIV;
		break;
	case OPR_EQ:
		op = OP_FEQ;
		break;
	case OPR_NE:
		op = OP_FNE;
		break;
	case OPR_LT:
	case OPR_GT:
		op = OP_FLT;
		break;
	default:
		op = OP_FLE;
		break;
	}
	up_gen_float(g, n->op.a, r);
	up_gen_float(g, n->op.b, r + 1);
	up_emit(g, op, r, swap ? r + 1 : r, swap ? r : r + 1);
}

static void gen_binary(struct up_gen *g, const struct up_node *n, unsigned r)
{
	bool shift = n->op.op == OPR_SHR || n->op.op == OPR_SHL, swap;
	bool is_unsigned = up_is_wide_unsigned(n->op.a->type) ||
			   (!shift && up_is_wide_unsigned(n->op.b->type));
	enum up_opcode op =
		opcode_of(n->op.op, up_ty_has_bytes(n->op.a->type.ty), is_unsigned, &swap);

	if (n->op.op == OPR_LAND || n->op.op == OPR_LOR) {
		gen_logic(g, n, r);
		return;
	}
	if (n->op.a->type.ty == TY_FLOAT || n->op.b->type.ty == TY_FLOAT) {
		gen_float_op(g, n, r);
		return;
	}
	if (n->type.ty == TY_STR) {
		up_gen_join(g, n, r);
		return;
	}
	up_gen_expr(g, n->op.a, r);
	up_gen_expr(g, n->op.b, r + 1);
	up_emit(g, op, r, swap ? r + 1 : r, swap ? r : r + 1);
}

static void gen_unary(struct up_gen *g, const struct up_node *n, unsigned r)
{
	if (n->op.op == OPR_NOT) {
		up_gen_cond(g, n->op.a, r);
		up_emit(g, OP_NOT, r, r, 0);
		return;
	}
	up_gen_expr(g, n->op.a, r);
	if (n->type.ty == TY_FLOAT)
		up_emit(g, OP_FNEG, r, r, 0);
	else
		up_emit(g, n->op.op == OPR_NEG ? OP_NEG : OP_BNOT, r, r, 0);
}

static void gen_choice(struct up_gen *g, const struct up_node *n, unsigned r)
{
	void (*gen)(struct up_gen *, const struct up_node *, unsigned) =
		n->type.ty == TY_FLOAT ? up_gen_float : up_gen_expr;

	up_gen_cond(g, n->cond.cond, r);
	uint32_t to_else = up_emit_jump(g, OP_JUMPZ, r);
	gen(g, n->cond.then, r);
	uint32_t to_end = up_emit_jump(g, OP_JUMP, 0);
	up_patch(g, to_else);
	gen(g, n->cond.els, r);
	up_patch(g, to_end);
}

/* False when it is none. */
static bool gen_constant(struct up_gen *g, const struct up_node *n, unsigned r)
{
	struct up_const c;
	struct up_text text;

	if (n->type.ty == TY_STR) {
		if (!up_const_text(n, g->ds->arena, &text))
			return false;
		emit_string(g, r, &text);
		return true;
	}
	if (!up_const_number(n, &c))
		return false;
	if (c.type.ty == TY_FLOAT)
		emit_float(g, r, c.v.f);
	else
		emit_const(g, r, c.v);
	return true;
}

/* A name, a call and the like: as the checker took it. */
static void gen_by_sem(struct up_gen *g, const struct up_node *n, unsigned r)
{
	switch (n->sem) {
	case SEM_FN:
		up_gen_fn(g, n, r);
		break;
	case SEM_LEN:
		up_gen_len(g, n, r);
		break;
	case SEM_FETCH:
		gen_fetch_call(g, n, r);
		break;
	case SEM_VAR:
	case SEM_CALL_VAR:
		up_gen_var(g, n, r);
		break;
	case SEM_LOCAL:
		up_emit(g, OP_MOVE, r, n->ref, 0);
		break;
	case SEM_RESULT:
		up_gen_result(g, n, r);
		break;
	case SEM_VALUE:
		gen_named(g, n, r);
		break;
	case SEM_ARG:
		gen_arg(g, n, r);
		break;
	default:
		load_value(g, n, word_type(g, "x64"), r);
	}
}

void up_gen_expr(struct up_gen *g, const struct up_node *n, unsigned r)
{
	if (!has_register(g, n, r) || gen_constant(g, n, r))
		return;
	switch (n->kind) {
	case ND_PAREN:
		up_gen_expr(g, n->sub.e, r);
		break;
	case ND_ENTRY:
		gen_kept(g, n->sub.e, r);
		break;
	case ND_AT:
		load_value(g, n, word_type(g, "x64"), r);
		break;
	case ND_TYPED:
		gen_typed(g, n, r);
		break;
	case ND_UNARY:
		gen_unary(g, n, r);
		break;
	case ND_BINARY:
		gen_binary(g, n, r);
		break;
	case ND_COND:
		gen_choice(g, n, r);
		break;
	default:
		gen_by_sem(g, n, r);
	}
}
