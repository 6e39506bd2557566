/*
 * The verifier. It goes through a handler once, from the first instruction to the last: since jumps
 * go forward, the state before an instruction is known when it is reached. A jump back goes to the
 * head of a loop that is in use, which takes nothing over but the keys of the loops around it; so
 * it changes nothing there.
 *
 * The machine borrows bytes: a register can hold text that lies in a variable, in an aggregation,
 * or in memory that each turn of a loop uses anew. So what changes one of these makes all registers
 * unwritten but the keys of loops, which have bytes of their own until their loop's next turn.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/verify_int.h"

/* ---- the way through ---- */

/* Where two ways meet, what both know is known. */
static void flow(struct up_verify *v, const struct up_verify_state *s, uint32_t to)
{
	struct up_verify_state *there = &v->states[to];

	if (!there->is_reached) {
		*there = *s;
		there->is_reached = true;
		return;
	}
	for (unsigned w = 0; w < UP_VERIFY_WORDS; w++) {
		uint64_t same_kind = ~(there->bytes[w] ^ s->bytes[w]);

		there->written[w] &= s->written[w] & same_kind;
		there->keys[w] &= s->keys[w] & there->written[w];
	}
	for (unsigned l = 0; l < UP_LOOPS_MAX; l++)
		if (there->heads[l] != s->heads[l])
			there->heads[l] = 0;
	there->is_opened |= s->is_opened;
}

/* Back to a loop's head, all loops around it, and only these, are in use. */
static bool jump_back(struct up_verify *v, const struct up_verify_state *s, uint32_t to)
{
	const struct up_insn *head = &v->prog->code[to];
	const struct up_verify_state *there = &v->states[to];

	if (head->op != OP_NEXT || !there->is_reached)
		return up_verify_bad(v, "a jump back to %" PRIu32 ", where no loop begins", to);
	return !memcmp(s->heads, there->heads, sizeof(s->heads)) ||
	       up_verify_bad(v, "a jump back to %" PRIu32 " from outside of its loop", to);
}

static bool jump(struct up_verify *v, const struct up_verify_state *s, uint32_t to)
{
	if (to >= v->prog->nr_code)
		return up_verify_bad(v, "a jump out of the handler, to %" PRIu32, to);
	if (to <= v->at)
		return jump_back(v, s, to);
	if (v->prog->code[to].op == OP_NEXT)
		return up_verify_bad(v, "a jump into a loop, to %" PRIu32, to);
	flow(v, s, to);
	return true;
}

static bool step_loop(struct up_verify *v, struct up_verify_state *s, const struct up_insn *i)
{
	const struct up_insn *next = i + 1;

	if (next->op != OP_NEXT || next->d != i->a)
		return up_verify_bad(v, "no loop follows");
	if (s->heads[i->a])
		return up_verify_bad(v, "iterator %u is in use", i->a);
	s->heads[i->a] = v->at + 1;
	flow(v, s, v->at + 1);
	return true;
}

static const struct up_type *keys_of(const struct up_plan *p, unsigned store, uint32_t *nr)
{
	unsigned i = up_store_index(store);
	bool is_agg = up_store_is_agg(store);

	*nr = is_agg ? p->aggs[i].nr_keys : p->vars[i].nr_keys;
	return is_agg ? p->aggs[i].key_types : p->vars[i].key_types;
}

/* The head of a loop: nothing is taken into a turn, or behind the loop, but the keys around it. */
static bool step_next(struct up_verify *v, struct up_verify_state *s, const struct up_insn *i)
{
	uint32_t end = up_insn_wide(i), nr;
	struct up_verify_state out;

	if (!v->at || s->heads[i->d] != v->at)
		return up_verify_bad(v, "no loop was begun before it");
	if (end <= v->at)
		return up_verify_bad(v, "a loop that ends before it begins");
	const struct up_type *types = keys_of(v->p, v->prog->code[v->at - 1].b, &nr);
	up_verify_forget(s);
	out = *s;
	out.heads[i->d] = 0;
	if (!jump(v, &out, end))
		return false;
	for (uint32_t k = 0; k < nr; k++)
		if (!up_verify_write(v, s, i->a + k, up_ty_has_bytes(types[k].ty)))
			return false;
	for (uint32_t k = 0; k < nr; k++)
		s->keys[(i->a + k) / 64] |= (uint64_t)1 << ((i->a + k) % 64);
	flow(v, s, v->at + 1);
	return true;
}

static bool check_opening(struct up_verify *v, struct up_verify_state *s, const struct up_insn *i)
{
	if (i->op == OP_ENTER && v->prog->calls != UP_CALLS_ENTER)
		return up_verify_bad(v, "this handler opens no call");
	if (s->is_opened)
		return up_verify_bad(v, "the call was opened before");
	s->is_opened = true;
	return true;
}

static bool step(struct up_verify *v, const struct up_insn *i)
{
	struct up_verify_state s = v->states[v->at];

	if (i->op >= OP_COUNT)
		return up_verify_bad(v, "no such instruction");
	if (!up_verify_operands(v, i) || !up_verify_registers(v, &s, i))
		return false;
	if ((i->op == OP_ENTER || (i->op == OP_REJECT && v->prog->calls == UP_CALLS_ENTER)) &&
	    !check_opening(v, &s, i))
		return false;
	if (i->op == OP_END || i->op == OP_REJECT)
		return true;
	if (v->at + 1 == v->prog->nr_code)
		return up_verify_bad(v, "the handler runs over its end");
	if (i->op == OP_LOOP)
		return step_loop(v, &s, i);
	if (i->op == OP_NEXT)
		return step_next(v, &s, i);
	if (i->op == OP_JUMP)
		return jump(v, &s, up_insn_wide(i));
	if ((i->op == OP_JUMPZ || i->op == OP_JUMPNZ) && !jump(v, &s, up_insn_wide(i)))
		return false;
	flow(v, &s, v->at + 1);
	return true;
}

/* ---- handlers ---- */

static bool bad_prog(struct up_verify *v, const char *what)
{
	up_buf_puts(v->why, what);
	return false;
}

static bool is_number_arg(const struct up_verify *v, uint32_t arg)
{
	return v->event && arg < v->event->nr_args && up_verify_is_width(v->event->args[arg].size);
}

/* A goroutine has a stack; its number need not be known. */
static bool check_goroutine(const struct up_verify *v)
{
	const struct up_plan_prog *g = v->prog;

	if (g->calls == UP_CALLS_NONE || g->g_arg == UP_NONE)
		return true;
	return is_number_arg(v, g->g_arg) && is_number_arg(v, g->top_arg) &&
	       (g->goid_arg == UP_NONE || is_number_arg(v, g->goid_arg));
}

/* What the machine reads besides the instructions. */
static bool check_prog(struct up_verify *v)
{
	const struct up_plan_prog *g = v->prog;

	if (!g->nr_code || g->nr_regs > UP_MAX_REGS)
		return bad_prog(v, "an empty handler, or one with too many registers");
	if (v->event && (g->probe >= v->p->nr_probes ||
			 g->is_return != (v->event->is_return || v->event->is_exit)))
		return bad_prog(v, "a handler that does not belong to its event");
	if (g->calls != UP_CALLS_NONE && !is_number_arg(v, g->sp_arg))
		return bad_prog(v, "a handler of calls without a stack pointer");
	if (g->calls == UP_CALLS_ENTER && !is_number_arg(v, g->ra_arg))
		return bad_prog(v, "a handler of entries without a return address");
	if (!check_goroutine(v))
		return bad_prog(v, "a handler of calls of goroutines that cannot tell them apart");
	if (g->comm_arg != UP_NONE &&
	    (!v->event || g->comm_arg >= v->event->nr_args || v->event->args[g->comm_arg].size))
		return bad_prog(v, "a handler whose comm is no string");
	return true;
}

static bool verify_prog(struct up_verify *v)
{
	bool ok = true;

	if (!check_prog(v))
		return false;
	v->states = calloc(v->prog->nr_code, sizeof(*v->states));
	if (!v->states)
		return bad_prog(v, "memory is out");
	v->states[0].is_reached = true;
	for (v->at = 0; ok && v->at < v->prog->nr_code; v->at++)
		if (v->states[v->at].is_reached)
			ok = step(v, &v->prog->code[v->at]);
	free(v->states);
	return ok;
}

/* ---- what is kept with calls ---- */

/* A place where a slot is used: of which probe, and for bytes? */
struct use {
	uint32_t probe;
	uint16_t slot;
	bool bytes;
};

static int compare_uses(const void *x, const void *y)
{
	const struct use *a = x, *b = y;

	if (a->probe != b->probe)
		return a->probe < b->probe ? -1 : 1;
	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return (int)a->bytes - (int)b->bytes;
}

/* All uses of slots, into `to` unless that is NULL; how many there are. */
static size_t find_uses(const struct up_plan *p, struct use *to)
{
	size_t nr = 0;

	for (uint32_t g = 0; g < p->nr_progs; g++)
		for (uint32_t at = 0; at < p->progs[g].nr_code; at++) {
			const struct up_insn *i = &p->progs[g].code[at];

			if (i->op != OP_SAVE && i->op != OP_SAVED)
				continue;
			if (to)
				to[nr] = (struct use){ p->progs[g].probe, i->b, i->c };
			nr++;
		}
	return nr;
}

/* The entry and the return of a probe agree on what is in a slot: a number must not become text. */
static bool verify_slots(struct up_verify *v)
{
	size_t nr = find_uses(v->p, NULL);
	struct use *uses = calloc(nr + 1, sizeof(*uses));
	bool ok = true;

	if (!uses)
		return bad_prog(v, "memory is out");
	find_uses(v->p, uses);
	qsort(uses, nr, sizeof(*uses), compare_uses);
	for (size_t i = 1; i < nr; i++)
		ok &= uses[i].probe != uses[i - 1].probe || uses[i].slot != uses[i - 1].slot ||
		      uses[i].bytes == uses[i - 1].bytes;
	free(uses);
	return ok || bad_prog(v, "an entry keeps a number where its return wants bytes");
}

/* ---- the plan ---- */

/* `done`: of each handler, the event that it was verified for last, plus one. */
static bool verify_sites(struct up_verify *v, uint32_t *done)
{
	const struct up_plan *p = v->p;

	for (uint32_t s = 0; s < p->nr_sites; s++) {
		if (p->sites[s].prog >= p->nr_progs || p->sites[s].event >= p->nr_events) {
			up_buf_printf(v->why, "site %" PRIu32 " has no handler or no event", s);
			return false;
		}
		v->prog = &p->progs[p->sites[s].prog];
		v->event = &p->events[p->sites[s].event];
		if (done[p->sites[s].prog] == p->sites[s].event + 1)
			continue; /* the same again */
		if (!verify_prog(v))
			return false;
		done[p->sites[s].prog] = p->sites[s].event + 1;
	}
	return true;
}

static bool verify_blocks(struct up_verify *v)
{
	const struct up_plan *p = v->p;

	v->event = NULL;
	for (uint32_t b = 0; b < p->nr_blocks; b++) {
		if (p->blocks[b].prog >= p->nr_progs) {
			up_buf_printf(v->why, "block %" PRIu32 " has no handler", b);
			return false;
		}
		v->prog = &p->progs[p->blocks[b].prog];
		if (!verify_prog(v))
			return false;
	}
	return true;
}

bool up_plan_verify(const struct up_plan *p, struct up_buf *why)
{
	struct up_verify v = { .p = p, .why = why };
	uint32_t *done = calloc((size_t)p->nr_progs + 1, sizeof(*done));
	bool ok = done ? verify_sites(&v, done) : bad_prog(&v, "memory is out");

	free(done);
	return ok && verify_blocks(&v) && verify_slots(&v);
}
