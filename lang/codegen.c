/* Instructions for expressions. What reads the program is in codegen_load.c, statements in
 * codegen_act.c.
 */
#include "lang/codegen.h"

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

void up_emit_const(struct up_gen *g, unsigned r, struct up_value v)
{
	up_vec_push(g->b->arena, &g->b->consts, v);
	emit_wide(g, OP_CONST, r, (uint32_t)g->b->consts.nr - 1);
}

static void emit_float(struct up_gen *g, unsigned r, double f)
{
	up_vec_push(g->b->arena, &g->b->consts, (struct up_value){ .f = f });
	emit_wide(g, OP_FCONST, r, (uint32_t)g->b->consts.nr - 1);
}

void up_emit_text(struct up_gen *g, unsigned r, const struct up_text *t)
{
	struct up_value v = { .p = t->len ? up_arena_memdup(g->b->arena, t->s, t->len) : "",
			      .len = (uint32_t)t->len };

	up_vec_push(g->b->arena, &g->b->consts, v);
	emit_wide(g, OP_SCONST, r, (uint32_t)g->b->consts.nr - 1);
}

void up_emit_cast(struct up_gen *g, unsigned r, struct up_type t)
{
	up_emit(g, OP_CAST, r, r, t.bits | (unsigned)t.is_signed << 8);
}

bool up_has_register(struct up_gen *g, const struct up_node *n, unsigned r)
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

/* ---- named values ---- */

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

static void gen_named(struct up_gen *g, const struct up_node *n, unsigned r)
{
	switch (n->ref) {
	case VAL_IP:
		if (g->shape->side >= UP_SIDE_EXIT)
			up_gen_value(g, n, up_gen_word_type(g, "x64"), r);
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
		up_gen_comm(g, n, r);
		break;
	case VAL_RETVAL:
		up_gen_value(g, n, up_gen_word_type(g, "s64"), r);
		break;
	default:
		up_gen_value(g, n, up_gen_word_type(g, "x64"), r);
		break;
	}
}

static void gen_arg(struct up_gen *g, const struct up_node *n, unsigned r)
{
	if (g->shape->side != UP_SIDE_ENTRY)
		gen_kept(g, n, r);
	else
		up_gen_value(g, n, up_gen_word_type(g, "s64"), r);
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
		up_emit_text(g, r, &text);
		return true;
	}
	if (!up_const_number(n, &c))
		return false;
	if (c.type.ty == TY_FLOAT)
		emit_float(g, r, c.v.f);
	else
		up_emit_const(g, r, c.v);
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
		up_gen_fetch(g, n, r);
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
		up_gen_value(g, n, up_gen_word_type(g, "x64"), r);
	}
}

void up_gen_expr(struct up_gen *g, const struct up_node *n, unsigned r)
{
	if (!up_has_register(g, n, r) || gen_constant(g, n, r))
		return;
	switch (n->kind) {
	case ND_PAREN:
		up_gen_expr(g, n->sub.e, r);
		break;
	case ND_ENTRY:
		gen_kept(g, n->sub.e, r);
		break;
	case ND_AT:
		up_gen_value(g, n, up_gen_word_type(g, "x64"), r);
		break;
	case ND_TYPED:
		up_gen_typed(g, n, r);
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
