/* Instructions for variables, tables, results of aggregations, and loops. */
#include "lang/codegen.h"

#include <string.h>

/* A variable's place among what is kept with the call. */
static unsigned call_slot(struct up_gen *g, const char *name)
{
	struct up_kept k = { NULL, name };
	size_t i = 0;

	while (i < g->kept->list.nr &&
	       (g->kept->list.v[i].expr || strcmp(g->kept->list.v[i].text, name)))
		i++;
	if (i == g->kept->list.nr)
		up_vec_push(g->ds->arena, &g->kept->list, k);
	return (unsigned)i;
}

void up_gen_var(struct up_gen *g, const struct up_node *n, unsigned r)
{
	g->b->needs_order = true;
	if (n->sem == SEM_CALL_VAR) {
		up_emit(g, OP_SAVED, r, call_slot(g, n->member.name), up_ty_has_bytes(n->type.ty));
	} else if (n->kind == ND_NAME) {
		up_emit(g, OP_VAR, r, n->ref, 0);
	} else if (n->kind == ND_MEMBER) {
		up_emit(g, OP_TVAR, r, n->ref, 0);
	} else {
		up_gen_list(g, n->index.idx, r);
		up_emit(g, OP_ROW, r, n->ref, r);
	}
}

/* The keys of NAME[KEYS] and NAME[KEYS].FIELD; NULL of NAME and NAME.FIELD. */
static const struct up_node *keys_of(const struct up_node *n)
{
	if (n->kind == ND_MEMBER)
		n = n->member.obj;
	return n->kind == ND_INDEX ? n->index.idx : NULL;
}

void up_gen_result(struct up_gen *g, const struct up_node *n, unsigned r)
{
	g->b->needs_order = true;
	up_gen_list(g, keys_of(n), r);
	uint32_t at = up_emit(g, OP_RESULT, r, up_result_agg(n->ref), r);
	g->code.v[at].d = (uint16_t)up_result_field(n->ref);
}

void up_gen_len(struct up_gen *g, const struct up_node *n, unsigned r)
{
	g->b->needs_order = true;
	up_emit(g, OP_LEN, r, n->ref, 0);
}

/* The value of an assignment, as the variable holds it. */
static void gen_assigned(struct up_gen *g, const struct up_node *lhs, const struct up_node *rhs,
			 unsigned r)
{
	if (lhs->type.ty == TY_FLOAT)
		up_gen_float(g, rhs, r);
	else
		up_gen_expr(g, rhs, r);
}

void up_gen_assign(struct up_gen *g, const struct up_node *act)
{
	const struct up_node *lhs = act->act.lhs;
	unsigned r = g->base, keys;

	g->b->needs_order = true;
	gen_assigned(g, lhs, act->act.rhs, r);
	if (lhs->sem == SEM_CALL_VAR) {
		up_emit(g, OP_SAVE, r, call_slot(g, lhs->member.name),
			up_ty_has_bytes(lhs->type.ty));
	} else if (lhs->kind == ND_NAME) {
		up_emit(g, OP_SETVAR, r, lhs->ref, 0);
	} else if (lhs->kind == ND_MEMBER) {
		up_emit(g, OP_SETTVAR, r, lhs->ref, 0);
	} else {
		keys = r + 1;
		up_gen_list(g, lhs->index.idx, keys);
		up_emit(g, OP_SETROW, r, lhs->ref, keys);
	}
}

void up_gen_delete(struct up_gen *g, const struct up_node *n)
{
	const struct up_node *what = n->del.what;

	g->b->needs_order = true;
	up_gen_list(g, what->index.idx, g->base);
	if (what->sem == SEM_RESULT)
		up_emit(g, OP_DELGROUP, 0, up_result_agg(what->ref), g->base);
	else
		up_emit(g, OP_DELROW, 0, what->ref, g->base);
}

void up_gen_store_call(struct up_gen *g, const struct up_node *call)
{
	const struct up_node *arg = call->call.args;
	unsigned ref = arg->sem == SEM_STORE ? arg->ref : up_store_ref(false, arg->ref);

	g->b->needs_order = true;
	up_emit(g, call->sem == SEM_SHOW ? OP_SHOW : OP_CLEAR, 0, ref, 0);
}

/*
 *	loop  iterator, store
 *   top:	next  first key's register, -> end
 *	...
 *	jump  top
 *   end:
 */
void up_gen_for(struct up_gen *g, const struct up_node *n)
{
	unsigned nr = up_count_nodes(n->loop.names), first = g->base;

	g->b->needs_order = true;
	if (first + nr + 2 >= UP_MAX_REGS) {
		g->failed = true;
		up_error(g->ds, n->span, E_TOO_LARGE, "these loops need more than %d registers",
			 UP_MAX_REGS);
		return;
	}
	up_emit(g, OP_LOOP, g->loops, n->loop.table->ref, 0);
	uint32_t top = up_emit_jump(g, OP_NEXT, first);
	g->code.v[top].d = (uint16_t)g->loops;
	g->loops++;
	g->base += nr;
	if (g->base > g->nr_regs)
		g->nr_regs = g->base;
	up_gen_block(g, n->loop.block);
	g->base -= nr;
	g->loops--;
	up_emit_to(g, OP_JUMP, top);
	up_patch(g, top);
}
