/* Instructions for statements. */
#include "lang/codegen.h"

unsigned up_gen_list(struct up_gen *g, const struct up_node *list, unsigned r)
{
	for (; list; list = list->next)
		up_gen_expr(g, list, r++);
	return r;
}

static void gen_stop(struct up_gen *g, const struct up_node *call)
{
	static const struct up_node zero = { .kind = ND_INT };

	up_gen_expr(g, call->call.args ? call->call.args : &zero, g->base);
	up_emit(g, OP_STOP, g->base, 0, 0);
	g->b->needs_order = true;
}

static void gen_agg(struct up_gen *g, const struct up_node *act, const struct up_node *call)
{
	unsigned r = up_gen_list(g, act->act.by, g->base);

	up_gen_list(g, call->call.args, r);
	up_emit(g, OP_AGG, g->base, call->ref, 0);
}

static void gen_do(struct up_gen *g, const struct up_node *act)
{
	const struct up_node *call = act->act.rhs;

	switch (call->sem) {
	case SEM_PRINT:
		up_gen_list(g, call->call.args, g->base);
		up_emit(g, OP_PRINT, g->base, call->ref, 0);
		g->prints = g->b->needs_order = true;
		break;
	case SEM_PRINTF:
		up_gen_list(g, call->call.args->next, g->base);
		up_emit(g, OP_PRINTF, g->base, call->ref, 0);
		g->prints = g->b->needs_order = true;
		break;
	case SEM_SHOW:
	case SEM_CLEAR:
		up_gen_store_call(g, call);
		break;
	case SEM_STOP:
		gen_stop(g, call);
		break;
	case SEM_AGG:
		gen_agg(g, act, call);
		break;
	default:
		break;
	}
}

static void gen_stmt(struct up_gen *g, const struct up_node *n);

static void gen_if(struct up_gen *g, const struct up_node *n)
{
	up_gen_cond(g, n->cond.cond, g->base);
	uint32_t to_else = up_emit_jump(g, OP_JUMPZ, g->base);
	up_gen_block(g, n->cond.then);
	if (!n->cond.els) {
		up_patch(g, to_else);
		return;
	}
	uint32_t to_end = up_emit_jump(g, OP_JUMP, 0);
	up_patch(g, to_else);
	if (n->cond.els->kind == ND_IF)
		gen_stmt(g, n->cond.els);
	else
		up_gen_block(g, n->cond.els);
	up_patch(g, to_end);
}

static void gen_stmt(struct up_gen *g, const struct up_node *n)
{
	switch (n->kind) {
	case ND_IF:
		gen_if(g, n);
		break;
	case ND_FOR:
		up_gen_for(g, n);
		break;
	case ND_DELETE:
		up_gen_delete(g, n);
		break;
	case ND_ASSIGN:
		if (n->act.lhs->sem == SEM_VAR || n->act.lhs->sem == SEM_CALL_VAR)
			up_gen_assign(g, n);
		else
			gen_do(g, n);
		break;
	default:
		gen_do(g, n);
	}
}

void up_gen_block(struct up_gen *g, const struct up_node *block)
{
	for (const struct up_node *n = block->block.stmts; n; n = n->next)
		gen_stmt(g, n);
}

void up_gen_when(struct up_gen *g, const struct up_node *cond)
{
	up_gen_cond(g, cond, 0);
	uint32_t jump = up_emit_jump(g, OP_JUMPNZ, 0);
	up_emit(g, OP_REJECT, 0, 0, 0);
	up_patch(g, jump);
	up_filter_make(g, cond, &g->filter);
}

void up_gen_enter(struct up_gen *g)
{
	up_emit(g, OP_ENTER, 0, 0, 0);
	for (size_t i = 0; i < g->kept->list.nr; i++) {
		const struct up_node *n = g->kept->list.v[i].expr;

		if (!n)
			continue; /* a variable of the call begins as 0 or "" */
		up_gen_expr(g, n, 0);
		up_emit(g, OP_SAVE, 0, (unsigned)i, up_ty_has_bytes(n->type.ty));
	}
}
