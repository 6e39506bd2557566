/* Children and copies of nodes. */
#include "lang/clone.h"

struct up_node *up_node_make(struct up_arena *a, enum up_nd kind, struct up_span span)
{
	struct up_node *n = up_new(a, struct up_node);

	*n = (struct up_node){ .kind = kind, .span = span, .depth = 1 };
	return n;
}

/* ---- children ---- */

typedef void link_fn(void *arg, struct up_node **link);

static void visit(struct up_node **link, link_fn *fn, void *arg)
{
	if (*link)
		fn(arg, link);
}

static void visit_list(struct up_node **link, link_fn *fn, void *arg)
{
	for (; *link; link = &(*link)->next)
		fn(arg, link);
}

static void visit_act(struct up_node *n, link_fn *fn, void *arg)
{
	visit(&n->act.lhs, fn, arg);
	visit(&n->act.rhs, fn, arg);
	visit_list(&n->act.by, fn, arg);
	visit(&n->act.top, fn, arg);
}

static void visit_probe(struct up_node *n, link_fn *fn, void *arg)
{
	visit_list(&n->probe.targets, fn, arg);
	visit(&n->probe.when, fn, arg);
	visit(&n->probe.entry, fn, arg);
	visit(&n->probe.ret_when, fn, arg);
	visit(&n->probe.ret, fn, arg);
}

static void visit_choice(struct up_node *n, link_fn *fn, void *arg)
{
	visit(&n->cond.cond, fn, arg);
	visit(&n->cond.then, fn, arg);
	visit(&n->cond.els, fn, arg);
}

static void visit_expr(struct up_node *n, link_fn *fn, void *arg)
{
	switch (n->kind) {
	case ND_COND:
		visit_choice(n, fn, arg);
		break;
	case ND_MEMBER:
	case ND_ARROW:
		visit(&n->member.obj, fn, arg);
		break;
	case ND_INDEX:
		visit(&n->index.obj, fn, arg);
		visit_list(&n->index.idx, fn, arg);
		break;
	case ND_CALL:
		visit_list(&n->call.args, fn, arg);
		break;
	case ND_AT:
	case ND_ENTRY:
	case ND_PAREN:
		visit(&n->sub.e, fn, arg);
		break;
	case ND_TYPED:
		visit(&n->typed.e, fn, arg);
		visit(&n->typed.type.len, fn, arg);
		break;
	case ND_UNARY:
	case ND_BINARY:
		visit(&n->op.a, fn, arg);
		visit(&n->op.b, fn, arg);
		break;
	default:
		break; /* leaves */
	}
}

static void visit_stmt(struct up_node *n, link_fn *fn, void *arg)
{
	switch (n->kind) {
	case ND_BLOCK:
		visit_list(&n->block.stmts, fn, arg);
		break;
	case ND_ASSIGN:
	case ND_DO:
		visit_act(n, fn, arg);
		break;
	case ND_DELETE:
		visit(&n->del.what, fn, arg);
		break;
	case ND_IF:
		visit_choice(n, fn, arg);
		break;
	case ND_FOR:
		visit_list(&n->loop.names, fn, arg);
		visit(&n->loop.table, fn, arg);
		visit(&n->loop.block, fn, arg);
		break;
	default:
		visit_expr(n, fn, arg);
	}
}

void up_node_children(struct up_node *n, link_fn *fn, void *arg)
{
	switch (n->kind) {
	case ND_SCRIPT:
		visit_list(&n->script.decls, fn, arg);
		break;
	case ND_PROBE:
	case ND_POINT:
		visit_probe(n, fn, arg);
		break;
	case ND_ON:
		visit(&n->on.every, fn, arg);
		visit(&n->on.block, fn, arg);
		break;
	case ND_CONST:
	case ND_FN:
	case ND_PARAM:
		visit_list(&n->def.params, fn, arg);
		visit(&n->def.expr, fn, arg);
		break;
	default:
		visit_stmt(n, fn, arg);
	}
}

unsigned up_count_nodes(const struct up_node *list)
{
	unsigned nr = 0;

	for (; list; list = list->next)
		nr++;
	return nr;
}

static void deepen(void *arg, struct up_node **link)
{
	struct up_node *n = arg;

	if (n->depth <= (*link)->depth)
		n->depth = (*link)->depth + 1;
}

bool up_node_measure(struct up_node *n)
{
	n->depth = 1;
	up_node_children(n, deepen, n);
	return n->depth <= UP_DEPTH_MAX;
}

/* ---- copies ---- */

static void move_span(struct up_cloner *c, struct up_span *sp)
{
	if (!c->moves)
		return;
	for (size_t i = 0; i < c->moved.nr; i++)
		if (c->moved.v[i].from == sp->src) {
			sp->src = c->moved.v[i].to;
			return;
		}
	struct up_moved m = { sp->src, up_source_derive(c->sources, sp->src, c->use) };

	up_vec_push(c->arena, &c->moved, m);
	sp->src = m.to;
}

/* The spans that a node has besides its own. */
static void move_spans(struct up_cloner *c, struct up_node *n)
{
	move_span(c, &n->span);
	switch (n->kind) {
	case ND_MEMBER:
	case ND_ARROW:
		move_span(c, &n->member.name_span);
		break;
	case ND_CALL:
		move_span(c, &n->call.name_span);
		break;
	case ND_TYPED:
		move_span(c, &n->typed.type.span);
		break;
	default:
		break;
	}
}

static struct up_node *fill_hole(struct up_cloner *c, struct up_node *n)
{
	struct up_cloner plain = { .arena = c->arena, .sources = c->sources, .left = c->left };
	const struct up_node *arg = c->args;

	for (uint32_t i = 0; i < n->ref; i++)
		arg = arg->next;
	n->kind = ND_PAREN;
	n->sem = 0;
	n->ref = 0;
	n->sub.e = up_clone(&plain, arg);
	return n;
}

static void clone_child(void *arg, struct up_node **link)
{
	struct up_node *next = (*link)->next;

	*link = up_clone(arg, *link);
	(*link)->next = next;
}

struct up_node *up_clone(struct up_cloner *c, const struct up_node *n)
{
	struct up_node *copy;

	if (!*c->left)
		return up_node_make(c->arena, ND_BAD, n->span);
	--*c->left;
	copy = up_new(c->arena, struct up_node);
	*copy = *n;
	copy->next = NULL;
	move_spans(c, copy);
	if (n->kind == ND_NAME && n->sem == UP_SEM_HOLE && c->args)
		fill_hole(c, copy);
	else
		up_node_children(copy, clone_child, c);
	up_node_measure(copy);
	return copy;
}
