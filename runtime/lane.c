/* From a handler's instructions to a lane, and running it. */
#include "runtime/lane.h"

#include <stdlib.h>
#include <string.h>

#include "lang/arith.h"
#include "lang/opcodes.h"

/*
 * What a lane has instead of the instructions that look something up. Values have no flags here:
 * none of them can be a fault.
 */
enum lane_op {
	LANE_LOAD = OP_COUNT, /* a number from the record */
	LANE_TIME,            /* of the record */
	LANE_CPU              /* likewise */
};

struct up_lane_insn {
	uint16_t op;           /* enum up_opcode, or enum lane_op */
	uint8_t a;             /* as the handler's instruction has them */
	uint8_t b;             /* of OP_AGG not used */
	uint8_t c;             /* likewise */
	struct up_field field; /* of a load */
	uint64_t u; /* a constant; of OP_CAST the type; of jumps the target; of OP_AGG which */
	uint64_t joining; /* while the lane runs: hits that have jumped to here, a bit each */
};

/* ---- making one ---- */

static bool lower_load(struct up_lane_insn *to, const struct up_field *f)
{
	to->op = LANE_LOAD;
	to->field = *f;
	return f->size && !f->is_dynamic;
}

static bool lower_context(struct up_lane_insn *to, unsigned which,
			  const struct up_record_event *kind)
{
	switch (which) {
	case UP_CX_TIME:
		to->op = LANE_TIME;
		return true;
	case UP_CX_CPU:
		to->op = LANE_CPU;
		return true;
	case UP_CX_TID:
		return lower_load(to, &kind->tid);
	default:
		return false;
	}
}

/* Does it compute, from numbers, numbers that are no faults; or end the handler? */
static bool is_plain(unsigned op)
{
	switch (op) {
	case OP_END:
	case OP_REJECT:
	case OP_MOVE:
	case OP_NEG:
	case OP_NOT:
	case OP_BNOT:
	case OP_TRUTH:
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIVS:
	case OP_DIVU:
	case OP_MODS:
	case OP_MODU:
	case OP_AND:
	case OP_OR:
	case OP_XOR:
	case OP_SHL:
	case OP_SHRS:
	case OP_SHRU:
	case OP_EQ:
	case OP_NE:
	case OP_LTS:
	case OP_LTU:
	case OP_LES:
	case OP_LEU:
		return true;
	default:
		return false;
	}
}

static bool lower(struct up_lane *lane, const struct up_vm *vm, const struct up_insn *from,
		  uint32_t at, const struct up_record_event *kind)
{
	struct up_lane_insn *to = &lane->code[at];

	*to = (struct up_lane_insn){
		.op = from->op, .a = from->a, .b = (uint8_t)from->b, .c = (uint8_t)from->c
	};
	switch (from->op) {
	case OP_ARG:
		return lower_load(to, &lane->args[from->b]);
	case OP_CONTEXT:
		return lower_context(to, from->b, kind);
	case OP_CONST:
		to->u = vm->plan->consts[up_insn_wide(from)].u;
		return !vm->plan->consts[up_insn_wide(from)].flags;
	case OP_CAST:
		to->u = from->c;
		return true;
	case OP_JUMP:
	case OP_JUMPZ:
	case OP_JUMPNZ:
		to->u = up_insn_wide(from);
		return to->u > at; /* no loops */
	case OP_AGG:
		to->u = from->b;
		return up_vm_may_add_many(vm, from->b);
	default:
		return is_plain(from->op);
	}
}

/*
 * A return's handler belongs to a call and to the way in which its function is left; it goes the
 * usual way, as does an entry that its return will ask for.
 */
static bool may_have_lane(const struct up_plan_prog *p)
{
	return p->calls == UP_CALLS_NONE && !p->is_return;
}

struct up_lane *up_lane_new(struct up_vm *vm, uint32_t prog, const struct up_record_event *kind,
			    const struct up_field *args)
{
	const struct up_plan_prog *p = &vm->plan->progs[prog];
	struct up_lane *lane = may_have_lane(p) ? calloc(1, sizeof(*lane)) : NULL;
	bool ok;

	if (!lane)
		return NULL;
	lane->id = kind->id;
	lane->prog = prog;
	lane->args = args;
	lane->nr_code = p->nr_code;
	lane->code = calloc(p->nr_code, sizeof(*lane->code));
	lane->regs = calloc(p->nr_regs + 1u, sizeof(*lane->regs));
	ok = lane->code && lane->regs;
	for (uint32_t i = 0; ok && i < p->nr_code; i++)
		ok = lower(lane, vm, &p->code[i], i, kind);
	if (ok)
		return lane;
	up_lane_free(lane);
	return NULL;
}

void up_lane_free(struct up_lane *lane)
{
	if (!lane)
		return;
	free(lane->code);
	free(lane->regs);
	free(lane);
}

/* ---- running it ---- */

static void load(const struct up_lane *lane, const struct up_field *f, uint64_t *to)
{
	unsigned off = f->off;
	uint32_t u32;

	if (f->size == sizeof(*to)) {
		for (unsigned k = 0; k < lane->nr; k++)
			memcpy(&to[k], lane->rec[k] + off, sizeof(*to));
	} else if (f->size == sizeof(u32) && !f->is_signed) {
		for (unsigned k = 0; k < lane->nr; k++) {
			memcpy(&u32, lane->rec[k] + off, sizeof(u32));
			to[k] = u32;
		}
	} else {
		for (unsigned k = 0; k < lane->nr; k++)
			to[k] = up_field_number(lane->rec[k], f);
	}
}

/* Division; those by zero count where the handler has got there. */
static void divide(struct up_vm *vm, unsigned op, uint64_t active, unsigned nr, uint64_t *to,
		   const uint64_t *x, const uint64_t *y)
{
	bool is_signed = op == OP_DIVS || op == OP_MODS;
	bool rest = op == OP_MODS || op == OP_MODU;

	for (unsigned k = 0; k < nr; k++) {
		if (!y[k]) {
			vm->counts.by_zero += active >> k & 1;
			to[k] = 0;
			continue;
		}
		to[k] = rest ? up_remainder(x[k], y[k], is_signed)
			     : up_divide(x[k], y[k], is_signed);
	}
}

/* The hits of which a register is not 0, a bit each. */
static uint64_t find_true(const uint64_t *reg, unsigned nr)
{
	uint64_t set = 0;

	for (unsigned k = 0; k < nr; k++)
		set |= (uint64_t)(reg[k] != 0) << k;
	return set;
}

/* Gives an aggregation what stands in the registers from `a` on, of the active hits. */
static void add(struct up_lane *lane, struct up_vm *vm, const struct up_lane_insn *i,
		uint64_t active)
{
	const struct up_plan_agg *agg = &vm->plan->aggs[i->u];
	uint64_t some[1 + UP_MANY_ARGS][UP_LANE_HITS];
	unsigned nr = 0;

	if (active == UINT64_MAX >> (UP_LANE_HITS - lane->nr)) {
		up_vm_add_many(vm, (uint32_t)i->u, &lane->regs[i->a], lane->nr);
		return;
	}
	for (uint64_t left = active; left; left &= left - 1, nr++)
		for (unsigned r = 0; r < agg->nr_keys + agg->nr_args; r++)
			some[r][nr] = lane->regs[i->a + r][__builtin_ctzll(left)];
	up_vm_add_many(vm, (uint32_t)i->u, some, nr);
}

/* Computes for all hits, also those that have jumped over the instruction. */
static void compute(struct up_lane *lane, struct up_vm *vm, const struct up_lane_insn *i,
		    uint64_t active)
{
	const uint64_t *x = lane->regs[i->b], *y = lane->regs[i->c];
	uint64_t *to = lane->regs[i->a];
	unsigned nr = lane->nr;

#define EACH(e)                           \
	for (unsigned k = 0; k < nr; k++) \
		to[k] = (e);              \
	break
	switch (i->op) {
	case LANE_LOAD:
		load(lane, &i->field, to);
		break;
	case LANE_TIME:
		EACH(lane->time[k]);
	case LANE_CPU:
		EACH(lane->cpu[k]);
	case OP_CONST:
		EACH(i->u);
	case OP_MOVE:
		EACH(x[k]);
	case OP_CAST:
		EACH(up_cast(x[k], i->u & 0xff, i->u >> 8));
	case OP_NEG:
		EACH(0 - x[k]);
	case OP_NOT:
		EACH(!x[k]);
	case OP_BNOT:
		EACH(~x[k]);
	case OP_TRUTH:
		EACH(x[k] != 0);
	case OP_ADD:
		EACH(x[k] + y[k]);
	case OP_SUB:
		EACH(x[k] - y[k]);
	case OP_MUL:
		EACH(x[k] * y[k]);
	case OP_DIVS:
	case OP_DIVU:
	case OP_MODS:
	case OP_MODU:
		divide(vm, i->op, active, nr, to, x, y);
		break;
	case OP_AND:
		EACH(x[k] & y[k]);
	case OP_OR:
		EACH(x[k] | y[k]);
	case OP_XOR:
		EACH(x[k] ^ y[k]);
	case OP_SHL:
		EACH(up_shift_left(x[k], y[k]));
	case OP_SHRS:
		EACH(up_shift_right(x[k], y[k], true));
	case OP_SHRU:
		EACH(up_shift_right(x[k], y[k], false));
	case OP_EQ:
		EACH(x[k] == y[k]);
	case OP_NE:
		EACH(x[k] != y[k]);
	case OP_LTS:
		EACH((int64_t)x[k] < (int64_t)y[k]);
	case OP_LTU:
		EACH(x[k] < y[k]);
	case OP_LES:
		EACH((int64_t)x[k] <= (int64_t)y[k]);
	case OP_LEU:
		EACH(x[k] <= y[k]);
	}
#undef EACH
}

/* The same, and the hits that have jumped over it keep what is in their register. */
static void compute_some(struct up_lane *lane, struct up_vm *vm, const struct up_lane_insn *i,
			 uint64_t active, uint64_t waiting)
{
	uint64_t *to = lane->regs[i->a], before[UP_LANE_HITS];

	memcpy(before, to, lane->nr * sizeof(*to));
	compute(lane, vm, i, active);
	for (; waiting; waiting &= waiting - 1)
		to[__builtin_ctzll(waiting)] = before[__builtin_ctzll(waiting)];
}

/* Which hits of `active` jump; they go on at the target. */
static uint64_t jump(struct up_lane *lane, const struct up_lane_insn *i, uint64_t active)
{
	uint64_t goes = active;

	if (i->op == OP_JUMPZ)
		goes = active & ~find_true(lane->regs[i->a], lane->nr);
	else if (i->op == OP_JUMPNZ)
		goes = active & find_true(lane->regs[i->a], lane->nr);
	lane->code[i->u].joining |= goes;
	return goes;
}

void up_lane_run(struct up_lane *lane, struct up_vm *vm)
{
	uint64_t active = lane->nr ? UINT64_MAX >> (UP_LANE_HITS - lane->nr) : 0;
	uint64_t waiting = 0, goes; /* hits that have jumped ahead, and that do now */

	for (struct up_lane_insn *i = lane->code; i < lane->code + lane->nr_code; i++) {
		active |= i->joining;
		waiting &= ~i->joining;
		i->joining = 0;
		if (!active)
			continue;
		switch (i->op) {
		case OP_END:
			vm->counts.handled += (unsigned)__builtin_popcountll(active);
			active = 0;
			break;
		case OP_REJECT:
			vm->counts.filtered += (unsigned)__builtin_popcountll(active);
			active = 0;
			break;
		case OP_JUMP:
		case OP_JUMPZ:
		case OP_JUMPNZ:
			goes = jump(lane, i, active);
			active &= ~goes;
			waiting |= goes;
			break;
		case OP_AGG:
			add(lane, vm, i, active);
			break;
		default:
			if (waiting)
				compute_some(lane, vm, i, active, waiting);
			else
				compute(lane, vm, i, active);
		}
	}
	lane->nr = 0;
}
