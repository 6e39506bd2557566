/*
 * The compiler's public call: parses, resolves targets, checks, generates handlers, and lays the
 * sites out into kernel events.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "lang/codegen.h"
#include "lang/entry_place.h"
#include "lang/expand.h"
#include "lang/layout.h"
#include "lang/returns.h"
#include "lang/target.h"

/* One probe clause on its way into the plan. */
struct clause {
	struct up_node *n;               /* ND_PROBE, or ND_ON */
	const char *name;                /* as shown */
	const char *where, *ret_where;   /* of its unnamed aggregations: up_plan_agg.where */
	uint32_t probe;                  /* its index in the plan */
	uint32_t block;                  /* of ND_ON: likewise */
	bool ok;                         /* it got no error */
	const struct up_node *first_arg; /* an argN that is fetched at the entry, or NULL */
	UP_VEC(struct up_target) targets;
	bool uses_call; /* the return needs its entry */
};

/* How functions are called: those that differ have handlers of their own. */
struct callee {
	const struct up_abi *abi;
	uint16_t goid_off; /* as struct up_object has it; 0 where the ABI has no goroutines */
};

/* A compilation of one script. */
struct cx {
	struct up_diags *ds;
	const struct up_env *env;
	struct up_build b;
	struct up_check check;
	struct callee callee; /* for whom handlers are made */
	UP_VEC(struct clause) clauses;
	UP_VEC(struct up_plan_block) blocks;
};

static bool report_too_many(struct cx *cx, struct up_span span)
{
	return up_error(cx->ds, span, E_LIMIT, "one program probes at most %u places",
			cx->env->max_sites);
}

/* Only Go has several ways to call a function. */
static void find_callings(struct cx *cx, struct up_target *t)
{
	const struct up_resolver *r = cx->env->resolver;

	for (size_t i = 0; t->object->is_go && i < t->places.nr; i++)
		t->places.v[i].calling = r->calling(r->ctx, t->object, t->places.v[i].addr);
}

static bool resolve_targets(struct cx *cx, struct clause *cl)
{
	size_t nr_places = cx->b.sites.nr;
	bool ok = true;

	for (const struct up_node *t = cl->n->probe.targets; t; t = t->next) {
		struct up_target target = { 0 };

		if (up_target_resolve(cx->ds, cx->env, t, &target)) {
			find_callings(cx, &target);
			up_vec_push(cx->ds->arena, &cl->targets, target);
		} else {
			ok = false;
		}
		nr_places += target.places.nr;
		if (nr_places > cx->env->max_sites)
			return report_too_many(cx, t->span);
	}
	up_targets_tell_apart(cx->ds->arena, cl->targets.v, cl->targets.nr);
	return ok;
}

#define NAMED_TARGETS 8 /* of a clause that are named; the others are counted */

/* The name of a clause: what `as` says, or its targets as they were understood. */
static const char *clause_name(struct cx *cx, const struct clause *cl)
{
	const struct up_node *n = cl->n;
	const char *name = "";

	if (n->probe.name || n->probe.point)
		return up_arena_strdup(cx->b.arena, n->probe.name ? n->probe.name : n->probe.point);
	for (size_t i = 0; i < cl->targets.nr && i < NAMED_TARGETS; i++)
		name = up_arena_printf(cx->b.arena, "%s%s%s:%s", name, i ? ", " : "",
				       cl->targets.v[i].object_name, cl->targets.v[i].location);
	if (cl->targets.nr > NAMED_TARGETS)
		name = up_arena_printf(cx->b.arena, "%s and %zu more", name,
				       cl->targets.nr - NAMED_TARGETS);
	return name;
}

static void check_part(struct cx *cx, enum up_where where, struct up_node *when,
		       struct up_node *block)
{
	cx->check.where = where;
	if (when)
		up_check_cond(&cx->check, when);
	if (block)
		up_check_block(&cx->check, block);
}

static void check_clause(struct cx *cx, struct clause *cl)
{
	struct up_node *n = cl->n;

	cx->check.uses_call = false;
	cx->check.first_arg = cx->check.call_var = NULL;
	cx->check.where_text = cl->where;
	check_part(cx, UP_AT_ENTRY, n->probe.when, n->probe.entry);
	cx->check.where_text = cl->ret_where;
	check_part(cx, UP_AT_RETURN, n->probe.ret_when, n->probe.ret);
	cl->uses_call = n->probe.ret && (n->probe.when || cx->check.uses_call);
	cl->first_arg = cx->check.first_arg;
	if (cx->check.call_var && !n->probe.ret) {
		up_error(cx->ds, cx->check.call_var->span, E_ENTRY,
			 "a variable of a call is for its return, and this probe has no `on "
			 "return`");
		up_diag_hint(cx->ds, "thread.%s is seen by all probes of the thread",
			     cx->check.call_var->member.name);
	}
}

static void check_block(struct cx *cx, struct clause *cl)
{
	cx->check.where_text = cl->where;
	cx->check.where = UP_AT_BLOCK;
	up_check_block(&cx->check, cl->n->on.block);
}

/* A place inside a function has no return, and arguments may be gone. */
static bool check_places(struct cx *cx, const struct clause *cl)
{
	const struct up_node *arg = cl->first_arg;

	for (size_t i = 0; i < cl->targets.nr; i++) {
		const struct up_target *t = &cl->targets.v[i];
		const struct up_place_at *p = &t->places.v[0];

		if (!p->func_off)
			continue;
		if (cl->n->probe.ret) {
			up_error(cx->ds, t->span, E_RETURN_PLACE,
				 "`on return` needs a function's entry; this is 0x%llx bytes into "
				 "%s",
				 (unsigned long long)p->func_off, p->func);
			up_diag_hint(cx->ds, "probe %s:%s for its returns", t->object_name,
				     p->func);
			return false;
		}
		if (arg)
			up_error(cx->ds, arg->span, W_ARG_MIDDLE,
				 "`%s` is read 0x%llx bytes into %s, where its register may hold "
				 "something else",
				 arg->name.s, (unsigned long long)p->func_off, p->func);
	}
	return true;
}

/* ---- handlers ---- */

static struct up_gen start_gen(struct cx *cx, const struct up_abi *abi, struct up_shape *shape,
			       struct up_kept_list *kept)
{
	struct up_gen g = { .ds = cx->ds, .b = &cx->b, .shape = shape, .kept = kept, .nr_regs = 1 };

	g.fetch = (struct up_fetch_cx){ cx->ds, cx->env, abi, shape->side };
	return g;
}

/* Calls in Go are the goroutine's: see runtime/calls.h. */
static void fetch_goroutine(struct cx *cx, struct up_gen *g, const struct clause *cl,
			    struct up_plan_prog *p)
{
	const struct up_abi *abi = g->fetch.abi;
	struct up_span span = cl->n->span;

	if (!abi->goroutine)
		return;
	p->g_arg = up_shape_add(&g->fetch, g->shape, abi->goroutine, "x64", span);
	p->top_arg = up_shape_add(&g->fetch, g->shape, abi->stack_top, "x64", span);
	if (cx->callee.goid_off)
		p->goid_arg = up_shape_add(&g->fetch, g->shape,
					   up_arena_printf(cx->ds->arena, "+%u(%s)",
							   cx->callee.goid_off, abi->goroutine),
					   "u64", span);
	cx->b.needs_pid = true;
}

static void fetch_word(struct up_gen *g, const char *text, const char *type, struct up_span span)
{
	up_shape_add(&g->fetch, g->shape, text, up_abi_word_type(g->fetch.abi, type), span);
}

/*
 * What handlers that are written later will want of a recording: who it was, arguments and result,
 * and what pairs entries with returns.
 */
static void fetch_usual(struct cx *cx, struct up_gen *g, const struct clause *cl)
{
	const struct up_abi *abi = g->fetch.abi;
	struct up_span span = cl->n->span;
	struct up_plan_prog unused;

	up_shape_add(&g->fetch, g->shape, "$comm", "string", span);
	up_shape_add(&g->fetch, g->shape, "%sp", "x64", span);
	fetch_goroutine(cx, g, cl, &unused);
	if (g->shape->side != UP_SIDE_RETURN)
		fetch_word(g, abi->return_address, "x64", span);
	if (g->shape->side != UP_SIDE_ENTRY) {
		if (abi->result && g->shape->side != UP_SIDE_JUMP)
			fetch_word(g, "$retval", "s64", span);
		return;
	}
	for (const char *const *r = abi->arg_regs; *r; r++)
		fetch_word(g, up_arena_printf(cx->ds->arena, "%%%s", *r), "s64", span);
}

/* Closes a handler and makes it a program of the plan. False when it had errors. */
static bool finish_gen(struct cx *cx, struct up_gen *g, const struct clause *cl,
		       enum up_pairing calls, uint32_t *index)
{
	struct up_span span = cl->n->span;
	struct up_plan_prog p = up_plan_prog_of(cl->probe, g->shape->side != UP_SIDE_ENTRY);

	p.is_jump = g->shape->side == UP_SIDE_JUMP;
	p.calls = calls;
	up_emit(g, OP_END, 0, 0, 0);
	g->shape->reads_sp = up_shape_reads_sp(g->shape);
	if (calls != UP_CALLS_NONE) {
		p.sp_arg = up_shape_add(&g->fetch, g->shape, "%sp", "x64", span);
		fetch_goroutine(cx, g, cl, &p);
	}
	if (calls == UP_CALLS_ENTER)
		p.ra_arg = up_shape_add(&g->fetch, g->shape, g->fetch.abi->return_address,
					up_abi_word_type(g->fetch.abi, "x64"), span);
	if (cx->env->for_recording && cl->n->kind == ND_PROBE)
		fetch_usual(cx, g, cl);
	if (g->prints && cl->n->kind == ND_PROBE)
		p.comm_arg = up_shape_add(&g->fetch, g->shape, "$comm", "string", span);
	p.code = g->code.v;
	p.nr_code = (uint32_t)g->code.nr;
	p.nr_regs = (uint16_t)g->nr_regs;
	p.nr_saved = (uint16_t)g->kept->list.nr;
	p.return_sp = (uint8_t)g->fetch.abi->return_sp;
	/* At an exit the return address is still on the stack, and so are the arguments. */
	if (g->shape->side < UP_SIDE_EXIT)
		p.pops = (uint16_t)g->fetch.abi->pops;
	p.when = g->filter.whole;
	/* The entry of a pair is wanted even when it is rejected: see docs/design/decisions.md. */
	if (calls == UP_CALLS_NONE) {
		p.filter = g->filter.text;
		p.rest = g->filter.rest;
	}
	*index = (uint32_t)cx->b.progs.nr;
	up_vec_push(cx->b.arena, &cx->b.progs, p);
	return !g->failed;
}

/* A function of the clause that is left by a jump to another one. */
static const char *find_jumper(const struct clause *cl, const struct up_abi *abi)
{
	for (size_t i = 0; i < cl->targets.nr; i++)
		for (size_t k = 0; k < cl->targets.v[i].places.nr; k++) {
			const struct up_place_at *p = &cl->targets.v[i].places.v[k];

			for (size_t e = 0; e < p->exits.nr; e++)
				if (p->exits.v[e].is_tail &&
				    cl->targets.v[i].object->machine == abi->machine)
					return p->shown;
		}
	return "";
}

static bool gen_return(struct cx *cx, const struct clause *cl, const struct up_abi *abi,
		       struct up_shape *shape, struct up_kept_list *kept, uint32_t *prog)
{
	struct up_gen g = start_gen(cx, abi, shape, kept);

	if (shape->side == UP_SIDE_JUMP)
		g.jumper = find_jumper(cl, abi);
	if (cl->n->probe.ret_when)
		up_gen_when(&g, cl->n->probe.ret_when);
	up_gen_block(&g, cl->n->probe.ret);
	if (cl->uses_call)
		cx->b.needs_order = true;
	return finish_gen(cx, &g, cl, cl->uses_call ? UP_CALLS_LEAVE : UP_CALLS_NONE, prog);
}

static bool gen_entry(struct cx *cx, const struct clause *cl, const struct up_abi *abi,
		      struct up_shape *shape, struct up_kept_list *kept, uint32_t *prog)
{
	struct up_gen g = start_gen(cx, abi, shape, kept);

	if (cl->n->probe.when)
		up_gen_when(&g, cl->n->probe.when);
	if (cl->uses_call)
		up_gen_enter(&g);
	if (cl->n->probe.entry)
		up_gen_block(&g, cl->n->probe.entry);
	return finish_gen(cx, &g, cl, cl->uses_call ? UP_CALLS_ENTER : UP_CALLS_NONE, prog);
}

static struct callee callee_of(const struct up_target *t, const struct up_place_at *p)
{
	struct callee c = { up_abi_find(t->object->machine, p->calling), 0 };

	/* A recording may say what no program is. */
	if (!c.abi)
		c.abi = up_abi_find(t->object->machine, UP_CALLING_C);
	if (c.abi->goroutine)
		c.goid_off = t->object->goid_off;
	return c;
}

static bool is_same_callee(struct callee a, struct callee b)
{
	return a.abi == b.abi && a.goid_off == b.goid_off;
}

/* The target with those of its places that are called so. */
static struct up_target part_of(struct cx *cx, const struct up_target *t, struct callee c)
{
	struct up_target part = *t;

	memset(&part.places, 0, sizeof(part.places));
	for (size_t i = 0; i < t->places.nr; i++)
		if (is_same_callee(callee_of(t, &t->places.v[i]), c))
			up_vec_push(cx->ds->arena, &part.places, t->places.v[i]);
	return part;
}

#define NR_SIDES (UP_SIDE_JUMP + 1)

/* Is one of the returns of this target seen so? */
static bool has_side(const struct up_target *t, enum up_side side)
{
	for (size_t i = 0; i < t->places.nr; i++) {
		const struct up_place_at *p = &t->places.v[i];

		if (side == UP_SIDE_RETURN && p->returns == UP_RETURNS_KERNEL)
			return true;
		for (size_t e = 0; e < p->exits.nr && side >= UP_SIDE_EXIT; e++)
			if (p->exits.v[e].is_tail == (side == UP_SIDE_JUMP))
				return true;
	}
	return false;
}

/* What a clause probes of functions that are called in one way. */
struct parts {
	UP_VEC(struct up_target) targets;
};

/* Which sides it has: bits 1 << side. */
static unsigned sides_of(const struct clause *cl, const struct parts *parts)
{
	unsigned sides = 0;

	for (unsigned side = UP_SIDE_RETURN; cl->n->probe.ret && side < NR_SIDES; side++)
		for (size_t i = 0; i < parts->targets.nr; i++)
			if (has_side(&parts->targets.v[i], (enum up_side)side))
				sides |= 1u << side;
	/* Functions that never return have none: the block is looked at all the same. */
	if (cl->n->probe.ret && !sides)
		sides |= 1u << UP_SIDE_RETURN;
	if (cl->n->probe.entry || cl->uses_call)
		sides |= 1u << UP_SIDE_ENTRY;
	return sides;
}

static bool add_sites(struct cx *cx, const struct clause *cl, const struct up_target *t,
		      unsigned sides, struct up_shape *shapes, const uint32_t *progs)
{
	for (unsigned side = 0; side < NR_SIDES; side++) {
		if (!(sides & 1u << side))
			continue;
		/* One instruction can be entry and exit; then the entry comes first. */
		if (side >= UP_SIDE_EXIT)
			shapes[side].after = shapes[UP_SIDE_ENTRY].event;
		if (!up_layout_target(cx->ds, cx->env, &cx->b, cl->n, t, &shapes[side],
				      progs[side]))
			return false;
	}
	return true;
}

/* The handlers of a clause for functions that are called so, and their sites. */
static void gen_clause(struct cx *cx, const struct clause *cl, struct callee callee)
{
	const struct up_abi *abi = callee.abi;
	struct up_shape shapes[NR_SIDES];
	uint32_t progs[NR_SIDES];
	struct parts parts = { 0 };
	struct up_kept_list kept = { 0 };
	bool ok = true;

	cx->callee = callee;
	for (size_t i = 0; i < cl->targets.nr; i++) {
		struct up_target part = part_of(cx, &cl->targets.v[i], callee);

		if (part.places.nr)
			up_vec_push(cx->ds->arena, &parts.targets, part);
	}
	unsigned sides = sides_of(cl, &parts);
	/* The entry last: the returns say what it must keep. */
	for (unsigned side = NR_SIDES; side-- > 0;) {
		shapes[side] = (struct up_shape){ .arena = cx->b.arena,
						  .side = (enum up_side)side,
						  .event = UP_NONE,
						  .after = UP_NONE };
		if (!(sides & 1u << side))
			continue;
		ok &= side == UP_SIDE_ENTRY
			      ? gen_entry(cx, cl, abi, &shapes[side], &kept, &progs[side])
			      : gen_return(cx, cl, abi, &shapes[side], &kept, &progs[side]);
	}
	for (size_t i = 0; ok && i < parts.targets.nr; i++)
		ok = add_sites(cx, cl, &parts.targets.v[i], sides, shapes, progs);
}

/* A block without a hit fetches nothing. */
static void gen_block(struct cx *cx, const struct clause *cl)
{
	static const struct up_abi none = { .machine = UP_M_OTHER };
	struct up_shape shape = { .arena = cx->b.arena };
	struct up_kept_list kept = { 0 };
	struct up_gen g = start_gen(cx, &none, &shape, &kept);

	up_gen_block(&g, cl->n->on.block);
	finish_gen(cx, &g, cl, UP_CALLS_NONE, &cx->blocks.v[cl->block].prog);
}

/* Each way in which its functions are called, once. */
static void gen_all_callees(struct cx *cx, const struct clause *cl)
{
	UP_VEC(struct callee) done = { 0 };

	for (size_t i = 0; i < cl->targets.nr; i++) {
		const struct up_target *t = &cl->targets.v[i];

		for (size_t j = 0; j < t->places.nr; j++) {
			struct callee c = callee_of(t, &t->places.v[j]);
			size_t k = 0;

			while (k < done.nr && !is_same_callee(done.v[k], c))
				k++;
			if (k < done.nr)
				continue;
			up_vec_push(cx->ds->arena, &done, c);
			gen_clause(cx, cl, c);
		}
	}
}

static uint32_t line_of(const struct cx *cx, const struct up_node *n)
{
	unsigned line, col;

	up_source_where(&cx->ds->sources->list.v[n->span.src], n->span.off, &line, &col);
	return line;
}

/* The text that a declaration stands in; where it comes from a point, its use. */
static uint32_t text_of(const struct cx *cx, const struct up_node *n)
{
	struct up_span use;

	up_source_use(cx->ds->sources, n->span, &use);
	return use.src;
}

/* A probe's targets become places. */
static void add_probe(struct cx *cx, struct up_node *n)
{
	struct clause cl = { .n = n, .probe = (uint32_t)cx->b.probes.nr };
	struct up_plan_probe p = { .line = line_of(cx, n), .part = text_of(cx, n) };
	unsigned errors = cx->ds->nr_errors;

	if (!n->probe.targets)
		return;
	cl.ok = resolve_targets(cx, &cl) && cx->ds->nr_errors == errors;
	cl.name = cl.where = p.name = clause_name(cx, &cl);
	cl.ret_where = up_arena_printf(cx->b.arena, "%s return", cl.name);
	up_vec_push(cx->b.arena, &cx->b.probes, p);
	up_vec_push(cx->ds->arena, &cx->clauses, cl);
}

#define MIN_INTERVAL 1000000 /* ns between two runs of a timed block */

static bool read_interval(struct cx *cx, const struct up_node *every, uint64_t *ns)
{
	if (!up_const_int(every, ns)) {
		up_error(cx->ds, every->span, E_NOT_CONSTANT, "an interval is a constant");
		up_diag_hint(cx->ds, "as in: on every 1s < ... >");
		return false;
	}
	if (*ns >= MIN_INTERVAL && *ns <= INT64_MAX)
		return true;
	up_error(cx->ds, every->span, E_LIMIT,
		 "an interval is 1ms or longer; a bare number is in ns");
	up_diag_hint(cx->ds, "write the unit: 10ms, 1s, 5min");
	return false;
}

static void add_block(struct cx *cx, struct up_node *n)
{
	static const char *const names[] = { "start", "end", "every" };
	struct clause cl = { .n = n, .probe = UP_NONE, .ok = true };
	struct up_plan_block b = { .which = (enum up_on)n->on.which,
				   .name = names[n->on.which],
				   .part = text_of(cx, n) };

	if (!n->on.block)
		return;
	if (b.which == UP_ON_EVERY) {
		cl.ok = read_interval(cx, n->on.every, &b.every);
		b.name = up_arena_printf(cx->b.arena, "every %s",
					 up_source_label(cx->ds, cx->ds->arena, n->on.every->span));
	}
	cl.name = b.name;
	cl.where = up_arena_printf(cx->b.arena, "on %s", b.name);
	cl.block = (uint32_t)cx->blocks.nr;
	up_vec_push(cx->b.arena, &cx->blocks, b);
	up_vec_push(cx->ds->arena, &cx->clauses, cl);
}

/* ---- checking ---- */

static void check_all(struct cx *cx)
{
	up_check_begin(&cx->check);
	for (size_t i = 0; i < cx->clauses.nr; i++) {
		struct clause *cl = &cx->clauses.v[i];
		unsigned errors = cx->ds->nr_errors;

		up_arena_check(cx->ds->arena);
		cx->check.clause = (uint32_t)i;
		if (cl->n->kind == ND_PROBE)
			check_clause(cx, cl);
		else
			check_block(cx, cl);
		cl->ok &= cx->ds->nr_errors == errors;
	}
}

#define MAX_PASSES 100 /* types of variables settle in a few */

/* Checks until a pass learns nothing new. */
static void check_until_known(struct cx *cx, unsigned *passes)
{
	do
		check_all(cx);
	while (cx->check.changed && !cx->check.is_full && ++*passes < MAX_PASSES);
}

/* Types of variables come from what is assigned to them, wherever that stands. */
static void settle_types(struct cx *cx)
{
	unsigned passes = 0;

	cx->ds->muted = true;
	check_until_known(cx, &passes);
	if (cx->check.vars.nr && !cx->check.is_full) {
		cx->check.guess = true;
		do
			check_until_known(cx, &passes);
		while (up_check_settle(&cx->check) && passes < MAX_PASSES);
	}
	cx->ds->muted = false;
}

/* ---- the whole ---- */

static bool decide_returns(struct cx *cx, struct clause *cl)
{
	bool ok = true;

	for (size_t i = 0; cl->n->probe.ret && i < cl->targets.nr; i++)
		ok &= up_returns_decide(cx->ds, cx->env, &cl->targets.v[i]);
	return ok;
}

static void gen_clauses(struct cx *cx)
{
	for (size_t i = 0; i < cx->clauses.nr; i++) {
		struct clause *cl = &cx->clauses.v[i];

		up_arena_check(cx->ds->arena);
		if (!cl->ok)
			continue;
		if (cl->n->kind == ND_ON)
			gen_block(cx, cl);
		else if (check_places(cx, cl) && decide_returns(cx, cl))
			gen_all_callees(cx, cl);
	}
}

static void compile_script(struct cx *cx, struct up_node *script)
{
	for (struct up_node *n = script->script.decls; n; n = n->next) {
		up_arena_check(cx->ds->arena);
		if (n->kind == ND_PROBE)
			add_probe(cx, n);
		else
			add_block(cx, n);
	}
	if (!script->script.decls && !cx->env->is_session) {
		up_error(cx->ds, script->span, E_NO_BLOCK, "this script has no probe");
		up_diag_hint(cx->ds, "as in: probe zsh:zfree < print(ip) >");
		return;
	}
	settle_types(cx);
	if (!cx->check.is_full) {
		check_all(cx);
		up_check_aggs_known(&cx->check);
	}
	if (cx->check.is_full)
		up_error(cx->ds, cx->check.full_span, E_LIMIT,
			 "a script has at most %d variables and aggregations", UP_STORES_MAX);
	else
		gen_clauses(cx);
}

/* Has some aggregation a result that depends on the order of hits? */
static bool aggs_need_order(const struct up_check *cx)
{
	for (size_t i = 0; i < cx->aggs.nr; i++)
		if (cx->aggs.v[i].row->needs_order)
			return true;
	return false;
}

static struct up_plan *finish(struct cx *cx)
{
	struct up_plan *p = up_new(cx->b.arena, struct up_plan);

	if (!cx->env->exact_entry)
		up_move_entries(cx->env, &cx->b);
	up_layout_events(&cx->b);
	*p = (struct up_plan){
		.arena = cx->b.arena,
		.events = cx->b.events.v,
		.nr_events = (uint32_t)cx->b.events.nr,
		.sites = cx->b.sites.v,
		.nr_sites = (uint32_t)cx->b.sites.nr,
		.progs = cx->b.progs.v,
		.nr_progs = (uint32_t)cx->b.progs.nr,
		.probes = cx->b.probes.v,
		.nr_probes = (uint32_t)cx->b.probes.nr,
		.prints = cx->check.prints.v,
		.nr_prints = (uint32_t)cx->check.prints.nr,
		.printfs = cx->check.printfs.v,
		.nr_printfs = (uint32_t)cx->check.printfs.nr,
		.aggs = cx->check.aggs.v,
		.nr_aggs = (uint32_t)cx->check.aggs.nr,
		.blocks = cx->blocks.v,
		.nr_blocks = (uint32_t)cx->blocks.nr,
		.consts = cx->b.consts.v,
		.nr_consts = (uint32_t)cx->b.consts.nr,
		.needs_pid = cx->b.needs_pid,
		.needs_order = cx->b.needs_order || aggs_need_order(&cx->check),
		.reads_late = cx->b.reads_late,
	};
	up_check_plan_vars(&cx->check, p);
	return p;
}

/* Adds the texts as sources 0 to nr - 1. False after a diagnostic. */
static bool add_parts(struct up_compile *c, const struct up_part *parts, size_t nr)
{
	bool ok = true;

	for (size_t i = 0; i < nr; i++) {
		bool fits = parts[i].len <= UP_SOURCE_MAX;
		int src = up_source_add(&c->sources, parts[i].name, fits ? parts[i].text : "",
					fits ? parts[i].len : 0);

		c->sources.list.v[src].hidden = fits ? parts[i].hidden : 0;
		if (!fits)
			ok = up_error(&c->diags, (struct up_span){ 0, 0, (uint32_t)src },
				      E_TOO_LARGE,
				      "a script has at most %u bytes, this one has %zu",
				      UP_SOURCE_MAX, parts[i].len);
	}
	return ok;
}

/* The declarations of all parts as one script. */
static struct up_node *parse_parts(struct up_compile *c, size_t nr)
{
	struct up_node *script = NULL, **end = NULL;

	for (size_t i = 0; i < nr; i++) {
		up_arena_check(c->arena);
		struct up_node *one = up_parse(&c->diags, (uint32_t)i)->script;

		if (!script) {
			script = one;
			end = &script->script.decls;
		} else {
			*end = one->script.decls;
		}
		while (*end)
			end = &(*end)->next;
	}
	return script;
}

/* Everything that may run out of memory, and then leaves by longjmp. */
static struct up_plan *compile_in(struct up_compile *c, const struct up_env *env,
				  struct up_arena *plan_arena, const struct up_part *parts,
				  size_t nr)
{
	struct cx cx = { .ds = &c->diags, .env = env };

	if (!add_parts(c, parts, nr))
		return NULL;
	cx.b.arena = plan_arena;
	cx.check.ds = &c->diags;
	cx.check.env = env;
	cx.check.plan_arena = plan_arena;
	struct up_node *script = parse_parts(c, nr);
	if (!c->diags.nr_errors && up_expand(&c->diags, &c->sources, env, script, &c->is_module) &&
	    !(c->is_module && !script->script.decls))
		compile_script(&cx, script);
	return c->diags.nr_errors ? NULL : finish(&cx);
}

struct up_compile *up_compile_new(void)
{
	struct up_arena *a = up_arena_new();
	struct up_compile *c = a ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		up_arena_free(a);
		return NULL;
	}
	c->arena = c->sources.arena = c->diags.arena = a;
	c->diags.sources = &c->sources;
	return c;
}

void up_compile_free(struct up_compile *c)
{
	if (!c)
		return;
	up_arena_free(c->arena);
	free(c);
}

struct up_plan *up_compile_parts(struct up_compile *c, const struct up_env *env,
				 const struct up_part *parts, size_t nr)
{
	struct up_arena *plan_arena = up_arena_new();
	struct up_plan *volatile plan = NULL;
	jmp_buf oom;

	if (!plan_arena)
		return NULL;
	if (!setjmp(oom)) {
		up_arena_on_oom(c->arena, &oom);
		up_arena_on_oom(plan_arena, &oom);
		plan = compile_in(c, env, plan_arena, parts, nr);
	}
	up_arena_on_oom(c->arena, NULL);
	up_arena_on_oom(plan_arena, NULL);
	if (!plan)
		up_arena_free(plan_arena);
	return plan;
}

struct up_plan *up_compile(struct up_compile *c, const struct up_env *env, const char *name,
			   const char *text, size_t len)
{
	struct up_part part = { .name = name, .text = text, .len = len };

	return up_compile_parts(c, env, &part, 1);
}

void up_plan_free(struct up_plan *p)
{
	if (p)
		up_arena_free(p->arena);
}
