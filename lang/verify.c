/*
 * The verifier. It goes through a handler once, from the first instruction to the last: since jumps
 * go forward, the state before an instruction is known when it is reached. A jump back to the head
 * of a loop can only add registers that were written, and so changes nothing there.
 */
#include "lang/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"
#include "lang/opcodes.h"

#define WORDS ((UP_MAX_REGS + 2 + 63) / 64)
#define MAX_LOOPS 8

/* What is known before an instruction. */
struct state {
	uint64_t written[WORDS]; /* registers, a bit each */
	uint8_t loops;           /* iterators in use, a bit each */
	bool is_reached;
};

struct verify {
	const struct up_plan *p;
	const struct up_plan_prog *prog;
	const struct up_plan_event
		*event;       /* whose arguments it reads; NULL: a block without a hit */
	struct state *states; /* one before each instruction */
	uint32_t at;
	struct up_buf *why;
};

static const char *const kinds_of[] = {
#define UP_OPCODE(op, name, operands) operands,
#include "lang/opcodes.def"
#undef UP_OPCODE
};

static const char *const names_of[] = {
#define UP_OPCODE(op, name, operands) name,
#include "lang/opcodes.def"
#undef UP_OPCODE
};

static bool bad(struct verify *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool bad(struct verify *v, const char *fmt, ...)
{
	const struct up_insn *i = &v->prog->code[v->at];
	va_list ap;

	up_buf_printf(v->why, "instruction %" PRIu32 " (%s): ", v->at,
		      i->op < OP_COUNT ? names_of[i->op] : "unknown");
	va_start(ap, fmt);
	up_buf_vprintf(v->why, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- registers ---- */

static bool is_written(const struct state *s, unsigned r)
{
	return s->written[r / 64] >> (r % 64) & 1;
}

static void write(struct state *s, unsigned r)
{
	s->written[r / 64] |= (uint64_t)1 << (r % 64);
}

static bool reads(struct verify *v, const struct state *s, unsigned first, unsigned nr)
{
	for (unsigned r = first; r < first + nr; r++) {
		if (r >= v->prog->nr_regs)
			return bad(v, "register %u of %u is read", r, v->prog->nr_regs);
		if (!is_written(s, r))
			return bad(v, "register %u is read before it is written", r);
	}
	return true;
}

static bool writes(struct verify *v, struct state *s, unsigned first, unsigned nr)
{
	for (unsigned r = first; r < first + nr; r++) {
		if (r >= v->prog->nr_regs)
			return bad(v, "register %u of %u is written", r, v->prog->nr_regs);
		write(s, r);
	}
	return true;
}

/* ---- operands ---- */

static bool below(struct verify *v, const char *what, uint64_t n, uint64_t nr)
{
	if (n < nr)
		return true;
	return bad(v, "%s %" PRIu64 " of %" PRIu64, what, n, nr);
}

static bool check_arg(struct verify *v, unsigned i)
{
	if (!v->event)
		return bad(v, "a block without a hit has no event");
	return below(v, "event argument", i, v->event->nr_args);
}

static bool check_store(struct verify *v, unsigned store)
{
	if (store & 1)
		return below(v, "aggregation", store >> 1, v->p->nr_aggs);
	return below(v, "variable", store >> 1, v->p->nr_vars);
}

/* An operand that is neither a register nor a jump's target. */
static bool check_operand(struct verify *v, char kind, const struct up_insn *i, unsigned n)
{
	switch (kind) {
	case 'k':
	case 'q':
	case 'z':
		return below(v, "constant", up_insn_wide(i), v->p->nr_consts);
	case 'f':
		return check_arg(v, n);
	case 's':
		return below(v, "text of a place", n, UP_SITE_OFFSET + 1u) &&
		       (v->event || bad(v, "a block without a hit has no place"));
	case 'x':
		return below(v, "value of a hit", n, UP_CX_DEPTH + 1u);
	case 't':
		return below(v, "width", n & 0xff, 65);
	case 'P':
		return below(v, "print", n, v->p->nr_prints);
	case 'F':
		return below(v, "printf", n, v->p->nr_printfs);
	case 'G':
		return below(v, "aggregation", n, v->p->nr_aggs);
	case 'V':
		return below(v, "variable", n, v->p->nr_vars);
	case 'S':
		return check_store(v, n);
	case 'C':
		return below(v, "function", n, FN_COUNT);
	case 'i':
		return below(v, "loop", n, MAX_LOOPS);
	default:
		return true;
	}
}

static bool check_operands(struct verify *v, const struct up_insn *i)
{
	const unsigned n[] = { i->a, i->b, i->c };
	const char *kinds = kinds_of[i->op];

	for (unsigned k = 0; k < 3 && kinds[k]; k++)
		if (!check_operand(v, kinds[k], i, n[k]))
			return false;
	return true;
}

/* ---- what an instruction does beyond its operands ---- */

static bool check_pieces(struct verify *v, const struct up_insn *i)
{
	uint32_t bytes = 0, arg = i->b;
	bool counted = i->op == OP_TEXT || i->op == OP_CHARS || i->op == OP_BYTES;

	for (unsigned k = 0; counted ? k < i->c : bytes < i->d; k++, arg++) {
		if (!check_arg(v, arg))
			return false;
		if (!v->event->args[arg].size)
			return bad(v, "event argument %u is no number", arg);
		bytes += v->event->args[arg].size;
	}
	return bytes >= i->d || bad(v, "%u bytes are read of %u", i->d, bytes);
}

static bool check_number_arg(struct verify *v, const struct up_insn *i)
{
	unsigned size = v->event->args[i->b].size;

	return size == 1 || size == 2 || size == 4 || size == 8 ||
	       bad(v, "event argument %u is no number", i->b);
}

static bool check_string_arg(struct verify *v, const struct up_insn *i)
{
	return !v->event->args[i->b].size || bad(v, "event argument %u is no string", i->b);
}

static bool check_scope(struct verify *v, const struct up_insn *i)
{
	enum up_var_scope scope = v->p->vars[i->b].scope;
	bool is_thread = i->op == OP_TVAR || i->op == OP_SETTVAR;
	bool is_row = i->op == OP_ROW || i->op == OP_SETROW || i->op == OP_DELROW;
	enum up_var_scope want = is_thread ? UP_VAR_THREAD : is_row ? UP_VAR_TABLE : UP_VAR_GLOBAL;

	if (is_thread && !v->event)
		return bad(v, "a block without a hit has no thread");
	return scope == want ||
	       bad(v, "the variable `%s` is of another scope", v->p->vars[i->b].name);
}

static bool check_slot(struct verify *v, unsigned slot)
{
	if (v->prog->calls == UP_CALLS_NONE)
		return bad(v, "there is no call");
	return v->prog->calls != UP_CALLS_ENTER || below(v, "slot", slot, v->prog->nr_saved);
}

static bool check_result(struct verify *v, const struct up_insn *i)
{
	return below(v, "result", i->d, v->p->aggs[i->b].row->nr_fields);
}

static bool check_call(struct verify *v, const struct up_insn *i)
{
	const struct up_fn_row *f = &up_fn_rows[i->b];

	if (i->b == FN_SYM)
		return bad(v, "this function has an instruction of its own");
	return (i->c >= f->min_args && i->c <= f->max_args) || bad(v, "%u arguments", i->c);
}

static bool check_more(struct verify *v, const struct up_insn *i)
{
	switch (i->op) {
	case OP_ARG:
		return check_number_arg(v, i);
	case OP_ARGSTR:
		return check_string_arg(v, i);
	case OP_TEXT:
	case OP_CHARS:
	case OP_BYTES:
	case OP_ARRAY:
		return check_pieces(v, i);
	case OP_VAR:
	case OP_SETVAR:
	case OP_TVAR:
	case OP_SETTVAR:
	case OP_ROW:
	case OP_SETROW:
	case OP_DELROW:
		return check_scope(v, i);
	case OP_SAVE:
	case OP_SAVED:
		return check_slot(v, i->b);
	case OP_RESULT:
		return check_result(v, i);
	case OP_NEXT:
		return below(v, "loop", i->d, MAX_LOOPS);
	case OP_CALL:
		return check_call(v, i);
	default:
		return true;
	}
}

/* ---- what is read and written ---- */

static uint32_t nr_keys_of(const struct up_plan *p, unsigned store)
{
	return store & 1 ? p->aggs[store >> 1].nr_keys : p->vars[store >> 1].nr_keys;
}

/* Instructions whose values stand in a row of registers. False after a complaint. */
static bool reads_lists(struct verify *v, struct state *s, const struct up_insn *i)
{
	const struct up_plan *p = v->p;

	switch (i->op) {
	case OP_PRINT:
		return reads(v, s, i->a, p->prints[i->b].nr);
	case OP_PRINTF:
		return reads(v, s, i->a, p->printfs[i->b].nr);
	case OP_AGG:
		return reads(v, s, i->a, p->aggs[i->b].nr_keys + p->aggs[i->b].nr_args);
	case OP_ROW:
	case OP_DELROW:
		return reads(v, s, i->c, p->vars[i->b].nr_keys);
	case OP_SETROW:
		return reads(v, s, i->a, 1) && reads(v, s, i->c, p->vars[i->b].nr_keys);
	case OP_CALL:
		return reads(v, s, i->a, i->c);
	case OP_RESULT:
	case OP_DELGROUP:
		return reads(v, s, i->c, p->aggs[i->b].nr_keys);
	default:
		return true;
	}
}

/* Instructions whose first register is read, not written. */
static bool reads_first(unsigned op)
{
	return op == OP_JUMPZ || op == OP_JUMPNZ || op == OP_SAVE || op == OP_STOP ||
	       op == OP_SETVAR || op == OP_SETTVAR || op == OP_SETROW || op == OP_GUARD;
}

static bool is_list(unsigned op)
{
	return op == OP_PRINT || op == OP_PRINTF || op == OP_AGG || op == OP_ROW ||
	       op == OP_DELROW || op == OP_SETROW || op == OP_RESULT || op == OP_DELGROUP ||
	       op == OP_CALL;
}

static bool check_registers(struct verify *v, struct state *s, const struct up_insn *i)
{
	const char *kinds = kinds_of[i->op];
	bool list = is_list(i->op);

	if (list && !reads_lists(v, s, i))
		return false;
	if (!list && kinds[1] == 'r' && !reads(v, s, i->b, 1))
		return false;
	if (!list && kinds[1] && kinds[2] == 'r' && !reads(v, s, i->c, 1))
		return false;
	if (kinds[0] != 'r' || i->op == OP_NEXT)
		return true;
	if (reads_first(i->op) && !reads(v, s, i->a, 1))
		return false;
	if (i->op == OP_TEXT || i->op == OP_CHARS || i->op == OP_BYTES || i->op == OP_ARRAY)
		if (!reads(v, s, i->a + 1u, 1))
			return false;
	if (reads_first(i->op) || i->op == OP_PRINT || i->op == OP_PRINTF || i->op == OP_AGG)
		return true;
	return writes(v, s, i->a, 1);
}

/* ---- the way through ---- */

static bool flow(struct verify *v, const struct state *s, uint32_t to)
{
	struct state *there = &v->states[to];

	if (!there->is_reached) {
		*there = *s;
		there->is_reached = true;
		return true;
	}
	for (unsigned w = 0; w < WORDS; w++)
		there->written[w] &= s->written[w];
	there->loops &= s->loops;
	return true;
}

static bool jump(struct verify *v, const struct state *s, uint32_t to)
{
	if (to >= v->prog->nr_code)
		return bad(v, "a jump out of the handler, to %" PRIu32, to);
	if (to > v->at)
		return flow(v, s, to);
	if (v->prog->code[to].op == OP_NEXT && v->states[to].is_reached)
		return true;
	return bad(v, "a jump back to %" PRIu32 ", where no loop begins", to);
}

/* The head of a loop: its rows' keys are written on the way into it. */
static bool step_next(struct verify *v, struct state *s, const struct up_insn *i)
{
	const struct up_insn *loop = v->at ? &v->prog->code[v->at - 1] : NULL;

	if (!loop || loop->op != OP_LOOP || loop->a != i->d)
		return bad(v, "no loop was begun before it");
	if (up_insn_wide(i) <= v->at)
		return bad(v, "a loop that ends before it begins");
	if (!jump(v, s, up_insn_wide(i)))
		return false;
	return writes(v, s, i->a, nr_keys_of(v->p, loop->b)) && flow(v, s, v->at + 1);
}

static bool step(struct verify *v, const struct up_insn *i)
{
	struct state s = v->states[v->at];

	if (i->op >= OP_COUNT)
		return bad(v, "no such instruction");
	if (!check_operands(v, i) || !check_more(v, i) || !check_registers(v, &s, i))
		return false;
	if (i->op == OP_END || i->op == OP_REJECT)
		return true;
	if (v->at + 1 == v->prog->nr_code)
		return bad(v, "the handler runs over its end");
	if (i->op == OP_NEXT)
		return step_next(v, &s, i);
	if (i->op == OP_JUMP)
		return jump(v, &s, up_insn_wide(i));
	if ((i->op == OP_JUMPZ || i->op == OP_JUMPNZ) && !jump(v, &s, up_insn_wide(i)))
		return false;
	return flow(v, &s, v->at + 1);
}

static bool verify_prog(struct verify *v)
{
	bool ok = true;

	if (!v->prog->nr_code || v->prog->nr_regs > UP_MAX_REGS)
		return bad(v, "an empty handler, or one with too many registers");
	v->states = calloc(v->prog->nr_code, sizeof(*v->states));
	if (!v->states)
		return bad(v, "memory is out");
	v->states[0].is_reached = true;
	for (v->at = 0; ok && v->at < v->prog->nr_code; v->at++)
		if (v->states[v->at].is_reached)
			ok = step(v, &v->prog->code[v->at]);
	free(v->states);
	return ok;
}

bool up_plan_verify(const struct up_plan *p, struct up_buf *why)
{
	struct verify v = { .p = p, .why = why };

	for (uint32_t s = 0; s < p->nr_sites; s++) {
		if (p->sites[s].prog >= p->nr_progs || p->sites[s].event >= p->nr_events) {
			up_buf_printf(why, "site %" PRIu32 " has no handler or no event", s);
			return false;
		}
		v.prog = &p->progs[p->sites[s].prog];
		v.event = &p->events[p->sites[s].event];
		if (s && p->sites[s - 1].prog == p->sites[s].prog &&
		    p->sites[s - 1].event == p->sites[s].event)
			continue; /* the same again */
		if (!verify_prog(&v))
			return false;
	}
	v.event = NULL;
	for (uint32_t b = 0; b < p->nr_blocks; b++) {
		if (p->blocks[b].prog >= p->nr_progs) {
			up_buf_printf(why, "block %" PRIu32 " has no handler", b);
			return false;
		}
		v.prog = &p->progs[p->blocks[b].prog];
		if (!verify_prog(&v))
			return false;
	}
	return true;
}
