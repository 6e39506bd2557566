/*
 * Makes nodes for the grammar. Keeps the depth of the tree below its cap and says what only the
 * shape of a node can tell: what cannot be assigned to, a probe without a block.
 */
#include "lang/parse_int.h"
#include "up.tab.h"

#define POOL_CHUNK 256 /* nodes allocated at once */

static struct up_node *take_node(struct up_parser *p)
{
	size_t chunk = p->nr_nodes / POOL_CHUNK;

	if (chunk == p->pool.nr)
		up_vec_push(p->arena, &p->pool, up_newn(p->arena, struct up_node, POOL_CHUNK));
	struct up_node *n = &p->pool.v[chunk][p->nr_nodes++ % POOL_CHUNK];
	memset(n, 0, sizeof(*n));
	return n;
}

struct up_node *up_node_new(struct up_parser *p, enum up_nd kind, struct up_span sp)
{
	struct up_node *n = take_node(p);

	n->kind = kind;
	n->span = sp;
	n->depth = 1;
	return n;
}

/* Makes n at least one level deeper than child (or the deepest of a list). */
static void adopt(struct up_node *n, const struct up_node *child)
{
	for (; child; child = child->next)
		if (n->depth <= child->depth)
			n->depth = child->depth + 1;
}

/* Ends the parse when the tree has become too deep: what reads it recurses. */
static struct up_node *check_depth(struct up_parser *p, struct up_node *n)
{
	if (n->depth <= UP_DEPTH_MAX)
		return n;
	if (!p->stop)
		up_error(p->ds, n->span, E_TOO_LARGE, "this is nested more than %d deep",
			 UP_DEPTH_MAX);
	p->stop = true;
	return up_node_new(p, ND_BAD, n->span);
}

void up_list_add(struct up_list *l, struct up_node *n)
{
	if (l->last)
		l->last->next = n;
	else
		l->first = n;
	l->last = n;
}

/* ---- expressions ---- */

struct up_node *up_node_int(struct up_parser *p, struct up_span sp, const struct up_tok *t)
{
	struct up_node *n = up_node_new(p, ND_INT, sp);

	n->num.v = t->num;
	return n;
}

struct up_node *up_node_float(struct up_parser *p, struct up_span sp, const struct up_tok *t)
{
	struct up_node *n = up_node_new(p, ND_FLOAT, sp);

	n->flt.v = t->flt;
	return n;
}

struct up_node *up_node_str(struct up_parser *p, struct up_span sp, const struct up_tok *t)
{
	struct up_node *n = up_node_new(p, ND_STR, sp);

	n->str = *t->text;
	return n;
}

struct up_node *up_node_name(struct up_parser *p, enum up_nd kind, struct up_span sp,
			     const struct up_tok *t)
{
	struct up_node *n = up_node_new(p, kind, sp);

	n->name.s = t->name;
	return n;
}

struct up_node *up_node_member(struct up_parser *p, enum up_nd kind, struct up_span sp,
			       struct up_node *obj, const struct up_tok *name)
{
	struct up_node *n = up_node_new(p, kind, sp);

	n->member.obj = obj;
	n->member.name = name->name;
	n->member.name_span = up_tok_span(p, name);
	adopt(n, obj);
	return check_depth(p, n);
}

struct up_node *up_node_index(struct up_parser *p, struct up_span sp, struct up_node *obj,
			      struct up_list idx)
{
	struct up_node *n = up_node_new(p, ND_INDEX, sp);

	n->index.obj = obj;
	n->index.idx = idx.first;
	adopt(n, obj);
	adopt(n, idx.first);
	return check_depth(p, n);
}

struct up_node *up_node_call(struct up_parser *p, struct up_span sp, const struct up_tok *name,
			     struct up_list args)
{
	struct up_node *n = up_node_new(p, ND_CALL, sp);

	n->call.name = name->name;
	n->call.name_span = up_tok_span(p, name);
	n->call.args = args.first;
	adopt(n, args.first);
	return check_depth(p, n);
}

struct up_node *up_node_sub(struct up_parser *p, enum up_nd kind, struct up_span sp,
			    struct up_node *e)
{
	struct up_node *n = up_node_new(p, kind, sp);

	n->sub.e = e;
	adopt(n, e);
	return check_depth(p, n);
}

struct up_node *up_node_typed(struct up_parser *p, struct up_span sp, struct up_node *e,
			      const struct up_typeref *type)
{
	struct up_node *n = up_node_new(p, ND_TYPED, sp);

	n->typed.e = e;
	n->typed.type = *type;
	adopt(n, e);
	adopt(n, type->len);
	return check_depth(p, n);
}

struct up_node *up_node_unary(struct up_parser *p, struct up_span sp, enum up_op op,
			      struct up_node *a)
{
	struct up_node *n = up_node_new(p, ND_UNARY, sp);

	n->op.op = op;
	n->op.a = a;
	adopt(n, a);
	return check_depth(p, n);
}

struct up_node *up_node_binary(struct up_parser *p, struct up_span sp, enum up_op op,
			       const struct up_tok *t, struct up_node *a, struct up_node *b)
{
	struct up_node *n = up_node_new(p, ND_BINARY, sp);

	n->op.op = op;
	n->op.a = a;
	n->op.b = b;
	if (t && t->flags & UP_TOK_BARE)
		up_bare_comparison(p, t, sp);
	adopt(n, a);
	adopt(n, b);
	return check_depth(p, n);
}

struct up_node *up_node_cond(struct up_parser *p, enum up_nd kind, struct up_span sp,
			     struct up_node *c, struct up_node *a, struct up_node *b)
{
	struct up_node *n = up_node_new(p, kind, sp);

	n->cond.cond = c;
	n->cond.then = a;
	n->cond.els = b;
	adopt(n, c);
	adopt(n, a);
	adopt(n, b);
	return check_depth(p, n);
}

struct up_typeref *up_type_make(struct up_parser *p, struct up_span sp, const struct up_tok *name,
				struct up_node *len)
{
	struct up_typeref *t = up_new(p->arena, struct up_typeref);

	t->span = sp;
	t->name = name->name;
	t->len = len;
	return t;
}

/* Reads a number up to 255 at *s; false when it is larger. */
static bool read_byte(const char **s, uint8_t *v)
{
	unsigned n = 0;

	for (; **s >= '0' && **s <= '9'; ++*s)
		if (n < 1000)
			n = n * 10 + (unsigned)(**s - '0');
	*v = (uint8_t)n;
	return n < 256;
}

/* The token is `:bBITS@OFF/SIZE`; the text behind it is not read. */
struct up_typeref *up_type_bits(struct up_parser *p, const struct up_tok *t)
{
	struct up_typeref *r = up_new(p->arena, struct up_typeref);
	const char *s = p->scan.text + t->off + 2;

	r->span = up_parser_span(p, t->off + 1, t->len - 1);
	r->name = "b";
	bool ok = read_byte(&s, &r->bits);
	s++;
	ok &= read_byte(&s, &r->bit_off);
	s++;
	ok &= read_byte(&s, &r->bit_size);
	if (!ok)
		up_error(p->ds, r->span, E_NUMBER,
			 "a bit field's width, offset and size are at most 64 bits");
	return r;
}

/* ---- statements ---- */

/* Keys and limit of an aggregation. */
static struct up_node *finish_act(struct up_parser *p, struct up_node *n, struct up_list by,
				  struct up_node *top)
{
	n->act.by = by.first;
	n->act.top = top;
	adopt(n, n->act.lhs);
	adopt(n, n->act.rhs);
	adopt(n, by.first);
	adopt(n, top);
	return check_depth(p, n);
}

struct up_node *up_node_do(struct up_parser *p, struct up_span sp, struct up_node *e,
			   struct up_list by, struct up_node *top)
{
	struct up_node *n = up_node_new(p, ND_DO, sp);

	n->act.rhs = e;
	n->act.op = OPR_SET;
	up_check_statement(p, e);
	return finish_act(p, n, by, top);
}

static bool is_variable(const struct up_node *n)
{
	if (n->kind == ND_INDEX)
		n = n->index.obj;
	if (n->kind == ND_MEMBER)
		n = n->member.obj;
	return n->kind == ND_NAME || n->kind == ND_BAD;
}

struct up_node *up_node_assign(struct up_parser *p, struct up_span sp, struct up_node *lhs,
			       enum up_op op, struct up_node *rhs, struct up_list by,
			       struct up_node *top)
{
	struct up_node *n = up_node_new(p, ND_ASSIGN, sp);

	n->act.lhs = lhs;
	n->act.op = op;
	n->act.rhs = rhs;
	if (!is_variable(lhs)) {
		up_error(p->ds, lhs->span, E_SYNTAX, "this cannot be assigned to");
		up_diag_hint(p->ds, "a variable is `name`, `table[key, ...]`, `thread.name` or "
				    "`call.name`");
	}
	return finish_act(p, n, by, top);
}

struct up_node *up_node_delete(struct up_parser *p, struct up_span sp, struct up_node *what)
{
	struct up_node *n = up_node_new(p, ND_DELETE, sp);

	n->del.what = what;
	if (what->kind != ND_INDEX && what->kind != ND_BAD) {
		up_error(p->ds, what->span, E_SYNTAX, "`delete` needs one entry of a table");
		up_diag_hint(p->ds, "write `delete table[key]`; `clear(table)` empties a table");
	}
	adopt(n, what);
	return check_depth(p, n);
}

struct up_node *up_node_for(struct up_parser *p, struct up_span sp, struct up_list names,
			    struct up_node *table, struct up_node *block)
{
	struct up_node *n = up_node_new(p, ND_FOR, sp);

	n->loop.names = names.first;
	n->loop.table = table;
	n->loop.block = block;
	adopt(n, table);
	adopt(n, block);
	return check_depth(p, n);
}

struct up_node *up_node_block(struct up_parser *p, struct up_span sp, struct up_list stmts)
{
	struct up_node *n = up_node_new(p, ND_BLOCK, sp);

	p->depth--;
	n->block.stmts = stmts.first;
	adopt(n, stmts.first);
	return check_depth(p, n);
}

/* ---- declarations ---- */

struct up_node *up_node_target(struct up_parser *p, struct up_span sp)
{
	struct up_node *n = up_node_new(p, ND_TARGET, sp);

	n->target.raw = up_source_text(p->ds->sources, sp);
	n->target.len = sp.len;
	return n;
}

/* `what` is "probe" or "point"; its head ends where the first block would begin. */
static void check_blocks(struct up_parser *p, const struct up_node *n, const struct up_clauses *c,
			 const char *what)
{
	if (c->has_return && !c->ret) {
		up_error(p->ds, n->span, E_NO_BLOCK, "`on return` has no block");
		up_diag_hint(p->ds, "write what to do: `on return < print(retval) >`");
	} else if (!c->entry && !c->ret) {
		up_error(p->ds, n->span, E_NO_BLOCK, "this %s has no block", what);
		up_diag_hint(p->ds, "write what to do: `< print(arg0) >`, or `on return < ... >`");
	}
}

static struct up_node *finish_probe(struct up_parser *p, struct up_node *n,
				    const struct up_clauses *c)
{
	n->probe.when = c->when;
	n->probe.entry = c->entry;
	n->probe.ret_when = c->ret_when;
	n->probe.ret = c->ret;
	check_blocks(p, n, c, n->kind == ND_PROBE ? "probe" : "point");
	adopt(n, n->probe.targets);
	adopt(n, c->when);
	adopt(n, c->entry);
	adopt(n, c->ret_when);
	adopt(n, c->ret);
	return check_depth(p, n);
}

struct up_node *up_node_probe(struct up_parser *p, struct up_span sp, struct up_list targets,
			      const struct up_tok *name, const struct up_clauses *c)
{
	struct up_node *n = up_node_new(p, ND_PROBE, sp);

	n->probe.targets = targets.first;
	if (name) {
		n->probe.name = name->name;
		n->probe.name_span = up_tok_span(p, name);
	}
	return finish_probe(p, n, c);
}

struct up_node *up_node_point(struct up_parser *p, struct up_span sp, struct up_span name_span,
			      const char *name, struct up_node *target, const struct up_clauses *c)
{
	struct up_node *n = up_node_new(p, ND_POINT, sp);

	n->probe.targets = target;
	n->probe.name = name;
	n->probe.name_span = name_span;
	return finish_probe(p, n, c);
}

struct up_node *up_node_on(struct up_parser *p, struct up_span sp, enum up_on which,
			   struct up_node *every, struct up_node *block)
{
	struct up_node *n = up_node_new(p, ND_ON, sp);

	n->on.which = (int)which;
	n->on.every = every;
	n->on.block = block;
	if (!block) {
		up_error(p->ds, sp, E_NO_BLOCK, "this `on` has no block");
		up_diag_hint(p->ds, "write what to do: `< print(\"hello\") >`");
		n->on.block = up_node_new(p, ND_BLOCK, sp);
	}
	adopt(n, every);
	adopt(n, n->on.block);
	return check_depth(p, n);
}

struct up_node *up_node_use(struct up_parser *p, struct up_span sp, const struct up_tok *t)
{
	struct up_node *n = up_node_new(p, ND_USE, sp);

	n->use.is_path = t->kind == TK_STR;
	if (n->use.is_path)
		n->use.name = *t->text;
	else
		n->use.name = (struct up_text){ t->name, t->len };
	return n;
}

struct up_node *up_node_def(struct up_parser *p, enum up_nd kind, struct up_span sp,
			    const struct up_tok *name, struct up_list params, struct up_node *e)
{
	struct up_node *n = up_node_new(p, kind, sp);

	n->def.name = name->name;
	n->def.name_span = up_tok_span(p, name);
	n->def.params = params.first;
	n->def.expr = e;
	adopt(n, e);
	return check_depth(p, n);
}
