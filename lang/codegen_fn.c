/* Instructions for calls of built-in functions. */
#include "lang/codegen.h"
#include "lang/fold.h"
#include "lang/functions.h"

/* How the function is to take its numbers. */
static enum up_fn_kind kind_of(const struct up_node *n)
{
	const struct up_fn_row *row = &up_fn_rows[n->ref];
	struct up_type t = row->result == 's' || row->result == 'i' ? n->call.args->type : n->type;

	if (t.ty == TY_FLOAT)
		return UP_FN_FLOAT;
	return up_is_wide_unsigned(t) ? UP_FN_UNSIGNED : UP_FN_SIGNED;
}

static void emit_call(struct up_gen *g, enum up_fn fn, enum up_fn_kind kind, unsigned nr,
		      unsigned r)
{
	uint32_t at = up_emit(g, OP_CALL, r, fn, nr);

	g->code.v[at].d = (uint16_t)kind;
}

void up_gen_fn(struct up_gen *g, const struct up_node *n, unsigned r)
{
	enum up_fn_kind kind = kind_of(n);
	unsigned nr = 0;

	for (const struct up_node *a = n->call.args; a; a = a->next, nr++) {
		if (kind == UP_FN_FLOAT && a->type.ty == TY_INT)
			up_gen_float(g, a, r + nr);
		else
			up_gen_expr(g, a, r + nr);
	}
	if (n->ref == FN_SYM) {
		up_emit(g, OP_SYM, r, r, 0);
		g->b->needs_pid = true;
	} else {
		emit_call(g, (enum up_fn)n->ref, kind, nr, r);
	}
}

void up_gen_join(struct up_gen *g, const struct up_node *n, unsigned r)
{
	up_gen_expr(g, n->op.a, r);
	up_gen_expr(g, n->op.b, r + 1);
	emit_call(g, FN_JOIN, UP_FN_SIGNED, 2, r);
}
