/* Do two checked expressions compute the same? */
#include <string.h>

#include "lang/check.h"

static bool same_lists(const struct up_node *a, const struct up_node *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (!up_same_expr(a, b))
			return false;
	return !a && !b;
}

static bool same_typerefs(const struct up_typeref *a, const struct up_typeref *b)
{
	return !strcmp(a->name, b->name) && a->bits == b->bits && a->bit_off == b->bit_off &&
	       a->bit_size == b->bit_size && !a->len == !b->len &&
	       (!a->len || up_same_expr(a->len, b->len));
}

static bool same_names(const struct up_node *a, const struct up_node *b)
{
	return a->sem == b->sem && a->ref == b->ref && !strcmp(a->name.s, b->name.s);
}

bool up_same_expr(const struct up_node *a, const struct up_node *b)
{
	while (a->kind == ND_PAREN)
		a = a->sub.e;
	while (b->kind == ND_PAREN)
		b = b->sub.e;
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ND_INT:
		return a->num.v == b->num.v;
	case ND_FLOAT:
		return !memcmp(&a->flt.v, &b->flt.v, sizeof(a->flt.v));
	case ND_STR:
		return a->str.len == b->str.len && !memcmp(a->str.s, b->str.s, a->str.len);
	case ND_NAME:
	case ND_DOLLAR:
	case ND_POS:
		return same_names(a, b);
	case ND_MEMBER:
	case ND_ARROW:
		return !strcmp(a->member.name, b->member.name) &&
		       up_same_expr(a->member.obj, b->member.obj);
	case ND_INDEX:
		return up_same_expr(a->index.obj, b->index.obj) &&
		       same_lists(a->index.idx, b->index.idx);
	case ND_CALL:
		return !strcmp(a->call.name, b->call.name) &&
		       same_lists(a->call.args, b->call.args);
	case ND_AT:
	case ND_ENTRY:
		return up_same_expr(a->sub.e, b->sub.e);
	case ND_TYPED:
		return same_typerefs(&a->typed.type, &b->typed.type) &&
		       up_same_expr(a->typed.e, b->typed.e);
	case ND_UNARY:
		return a->op.op == b->op.op && up_same_expr(a->op.a, b->op.a);
	case ND_BINARY:
		return a->op.op == b->op.op && up_same_expr(a->op.a, b->op.a) &&
		       up_same_expr(a->op.b, b->op.b);
	case ND_COND:
		return up_same_expr(a->cond.cond, b->cond.cond) &&
		       up_same_expr(a->cond.then, b->cond.then) &&
		       up_same_expr(a->cond.els, b->cond.els);
	default:
		return false;
	}
}
