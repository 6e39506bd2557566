/* The handler machine: one function with computed goto, and its helpers. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/arith.h"
#include "lang/base/text.h"
#include "runtime/element.h"
#include "runtime/vm_call.h"
#include "runtime/vm_run.h"

int up_vm_init(struct up_vm *vm, const struct up_plan *plan, struct up_out *out)
{
	*vm = (struct up_vm){ .plan = plan, .out = out };
	vm->regs = calloc(UP_MAX_REGS + 2, sizeof(*vm->regs));
	vm->mended_size = UP_VM_MENDED + (plan->reads_late ? up_vm_peek_room(plan) : 0);
	vm->mended = malloc(vm->mended_size);
	up_memory_init(&vm->memory);
	up_calls_init(&vm->calls);
	up_procs_init(&vm->procs);
	if (!vm->regs || !vm->mended || up_vars_init(&vm->vars, plan, &vm->agg_left))
		return -ENOMEM;
	return up_vm_aggs_init(vm);
}

void up_vm_set_offline(struct up_vm *vm)
{
	vm->is_offline = vm->memory.is_offline = vm->procs.is_offline = true;
}

void up_vm_fini(struct up_vm *vm)
{
	up_vm_aggs_fini(vm);
	free(vm->regs);
	free(vm->scratch);
	for (unsigned i = 0; i < UP_LOOPS_MAX; i++)
		up_buf_fini(&vm->loops[i].keys);
	up_vars_fini(&vm->vars);
	free(vm->mended);
	up_memory_fini(&vm->memory);
	up_key_fini(&vm->key);
	up_buf_fini(&vm->text);
	up_calls_fini(&vm->calls);
	up_procs_fini(&vm->procs);
	up_symbolize_free(vm->symbols);
	*vm = (struct up_vm){ 0 };
}

/* ---- loading ---- */

/* Can a pointer be followed? */
static bool is_pointer(const struct up_value *v)
{
	return !(v->flags & UP_VALUE_FAULT) && v->u >= UP_POINTER_MIN && v->u < UP_POINTER_END;
}

static struct up_value text_value(const char *s)
{
	return (struct up_value){ .p = s, .len = (uint32_t)strlen(s) };
}

static struct up_value site_text(struct up_run *r, unsigned which)
{
	switch (which) {
	case UP_SITE_FUNC:
		return text_value(r->site->func);
	case UP_SITE_OBJECT:
		return text_value(r->site->object);
	case UP_SITE_PROBE:
		return text_value(r->site->probe);
	default:
		snprintf(r->offset, sizeof(r->offset), "+0x%" PRIx64, r->site->func_off);
		return text_value(r->offset);
	}
}

static struct up_value process_of(struct up_run *r)
{
	pid_t pid = up_procs_of(&r->vm->procs, r->hit->tid, r->hit->time);

	if (pid)
		return (struct up_value){ .s = pid };
	r->vm->counts.faults++;
	return (struct up_value){ .flags = UP_VALUE_FAULT };
}

/* Of an entry the address that is meant, though the probe may stand elsewhere. */
static uint64_t meant_ip(const struct up_run *r)
{
	return r->hit->ip - (r->prog->is_return ? 0 : (uint64_t)r->site->moved);
}

static struct up_value context(struct up_run *r, unsigned which)
{
	const struct up_hit *h = r->hit;

	switch (which) {
	case UP_CX_IP:
		return (struct up_value){ .u = meant_ip(r) };
	case UP_CX_TIME:
		return (struct up_value){ .u = h->time };
	case UP_CX_TID:
		return (struct up_value){ .s = h->tid };
	case UP_CX_PID:
		return process_of(r);
	case UP_CX_CPU:
		return (struct up_value){ .u = h->cpu };
	case UP_CX_ELAPSED:
		return (struct up_value){ .s = r->call ? (int64_t)(h->time - r->call->time) : 0 };
	default:
		return (struct up_value){ .u = r->call ? r->call->depth : 0 };
	}
}

/* The address as function+offset; a fault only when there is no memory. */
static struct up_value symbol_of(struct up_run *r, const struct up_value *addr)
{
	struct up_vm *vm = r->vm;
	const struct up_hit *h = r->hit;
	struct up_symbol_at at = { .addr = addr->u,
				   .path = r->site->path,
				   .ino = r->site->id.ino,
				   .site = r->site->addr,
				   .site_off = r->site->offset,
				   .place = h->place,
				   .time = h->time };
	struct up_value v;

	if (addr->flags & UP_VALUE_FAULT)
		return *addr;
	if (!vm->symbols)
		vm->symbols = up_symbolize_new();
	if (!vm->symbols)
		return (struct up_value){ .flags = UP_VALUE_FAULT };
	if ((at.ino || !vm->is_offline) && up_symbolize_here(vm->symbols, &at, &v))
		return v;
	pid_t pid = vm->is_offline ? 0 : up_procs_of(&vm->procs, h->tid, h->time);
	return up_symbolize_mapped(vm->symbols, &at, pid, h->tid);
}

/* ---- actions ---- */

static uint32_t store_keys(const struct up_vm *vm, unsigned store)
{
	unsigned i = up_store_index(store);

	return up_store_is_agg(store) ? vm->plan->aggs[i].nr_keys : vm->plan->vars[i].nr_keys;
}

static void act_clear(struct up_vm *vm, unsigned store)
{
	if (up_store_is_agg(store))
		up_vm_clear_agg(vm, up_store_index(store));
	else
		up_vars_clear(&vm->vars, up_store_index(store));
}

/* False at the end of the loop. */
static bool loop_next(struct up_vm *vm, const struct up_insn *i, struct up_value *keys)
{
	struct up_loop *l = &vm->loops[i->d];
	size_t before = l->at;
	bool is_turn;

	vm->nr_scratch = l->scratch; /* what the last turn made is not needed any more */
	is_turn = up_loop_next(l, keys, l->nr_keys);
	vm->budget -= (int64_t)(l->at - before); /* deleted rows, too */
	return is_turn;
}

/* Has the handler run too long, or is the run to end? */
static bool must_end(struct up_vm *vm)
{
	if (vm->budget >= 0 && (!vm->urgency || vm->urgency() == vm->urgency_before))
		return false;
	vm->counts.cut_off++;
	return true;
}

static void loop_begin(struct up_vm *vm, const struct up_insn *i)
{
	struct up_loop *l = &vm->loops[i->a];

	if (vm->urgency && !i->a) /* the outermost loop: nothing is asked where there is none */
		vm->urgency_before = vm->urgency();
	up_loop_begin(l, up_vm_table(vm, i->b));
	l->nr_keys = store_keys(vm, i->b);
	l->scratch = vm->nr_scratch;
}

char *up_vm_scratch(struct up_vm *vm, size_t n)
{
	if (!vm->scratch)
		vm->scratch = malloc(UP_VM_SCRATCH);
	if (!vm->scratch || n > UP_VM_SCRATCH - vm->nr_scratch) {
		vm->counts.no_room++;
		return NULL;
	}
	vm->nr_scratch += n;
	return vm->scratch + vm->nr_scratch - n;
}

static void act_stop(struct up_run *r, const struct up_value *v)
{
	if (r->vm->stopped)
		return;
	r->vm->stopped = true;
	/* What does not fit must not become 0, which is success. */
	r->vm->stop_status = v->flags & UP_VALUE_FAULT ? 1 : v->u > 255 ? 255 : (int)v->u;
}

static uint64_t number_at(const struct up_run *r, uint32_t arg)
{
	return up_field_number(r->hit->rec, &r->hit->fields[arg]);
}

/* Whose call it is; *sp becomes the stack pointer as calls.h wants it. */
static struct up_strand strand_of(struct up_run *r, uint64_t *sp)
{
	struct up_strand s = { .tid = r->hit->tid };

	if (r->prog->g_arg == UP_NONE)
		return s;
	s.g = number_at(r, r->prog->g_arg);
	s.process = up_procs_of(&r->vm->procs, r->hit->tid, r->hit->time);
	if (r->prog->goid_arg != UP_NONE)
		s.goid = number_at(r, r->prog->goid_arg);
	*sp -= number_at(r, r->prog->top_arg);
	return s;
}

static void act_enter(struct up_run *r, bool rejected)
{
	const struct up_hit *h = r->hit;
	struct up_call call = { .probe = r->prog->probe,
				.place = h->place - (uint64_t)r->site->moved,
				.time = h->time,
				.cpu = h->cpu,
				.by_kernel = r->site->is_kernel_return,
				.rejected = rejected };

	call.sp = number_at(r, r->prog->sp_arg) + r->site->sp_lower;
	call.ra = number_at(r, r->prog->ra_arg);
	call.nr_vals = rejected ? 0 : r->prog->nr_saved;
	struct up_strand strand = strand_of(r, &call.sp);
	r->call = up_calls_enter(&r->vm->calls, &strand, &call, &r->thread);
}

/* ---- arithmetic ---- */

static uint64_t divide(struct up_vm *vm, uint64_t a, uint64_t b, bool is_signed)
{
	vm->counts.by_zero += !b;
	return b ? up_divide(a, b, is_signed) : 0;
}

static uint64_t remainder_of(struct up_vm *vm, uint64_t a, uint64_t b, bool is_signed)
{
	vm->counts.by_zero += !b;
	return b ? up_remainder(a, b, is_signed) : 0;
}

static double divide_float(struct up_vm *vm, double a, double b)
{
	if (b != 0)
		return a / b;
	vm->counts.by_zero++;
	return 0;
}

static bool same_text(const struct up_value *a, const struct up_value *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->p, b->p, a->len));
}

static bool is_fault(const struct up_value *a)
{
	return a->flags & UP_VALUE_FAULT;
}

/* The first bytes of a text, as many as `len` says; what is missing is cut off. */
static struct up_value head_of(const struct up_value *text, const struct up_value *len)
{
	struct up_value v = *text;

	if (is_fault(text) || is_fault(len))
		return (struct up_value){ .flags = UP_VALUE_FAULT };
	v.flags = len->u > v.len ? UP_VALUE_CUT : 0;
	v.len = len->u < v.len ? (uint32_t)len->u : v.len;
	return v;
}

static bool is_true(const struct up_value *v)
{
	return v->u && !is_fault(v);
}

/* Runs to OP_END (true) or OP_REJECT (false). */
static bool execute(struct up_run *r)
{
	static const void *const labels[] = {
#define UP_OPCODE(op, name, operands) &&L_##op,
#include "lang/opcodes.def"
#undef UP_OPCODE
	};
	struct up_vm *vm = r->vm;
	struct up_value *regs = vm->regs;
	const struct up_insn *code = r->prog->code, *i = code;

#define NEXT                         \
	do {                         \
		i++;                 \
		goto *labels[i->op]; \
	} while (0)
#define DST regs[i->a]
#define B regs[i->b]
#define C regs[i->c]
/* Long texts take longer than an instruction; a number has no length. */
#define CHARGE_TEXT(v) (vm->budget -= (v).len / UP_RUN_BYTES)
/* A number from two: a fault when one of them is. */
#define NUMBER(e)                                                          \
	do {                                                               \
		uint64_t x = B.u, y = C.u;                                 \
		uint32_t fl = (B.flags | C.flags) & UP_VALUE_FAULT;        \
		(void)y;                                                   \
		DST = (struct up_value){ .u = fl ? 0 : (e), .flags = fl }; \
		NEXT;                                                      \
	} while (0)
/* A truth from two: false when one of them is a fault. */
#define TRUTH(e)                                                \
	do {                                                    \
		uint64_t x = B.u, y = C.u;                      \
		bool t = !is_fault(&B) && !is_fault(&C) && (e); \
		DST = (struct up_value){ .u = t };              \
		NEXT;                                           \
	} while (0)
/* The same for floats. */
#define FLOAT(e)                                                           \
	do {                                                               \
		double x = B.f, y = C.f;                                   \
		uint32_t fl = (B.flags | C.flags) & UP_VALUE_FAULT;        \
		DST = (struct up_value){ .f = fl ? 0 : (e), .flags = fl }; \
		NEXT;                                                      \
	} while (0)
#define FLOAT_TRUTH(e)                                          \
	do {                                                    \
		double x = B.f, y = C.f;                        \
		bool t = !is_fault(&B) && !is_fault(&C) && (e); \
		DST = (struct up_value){ .u = t };              \
		NEXT;                                           \
	} while (0)
#define TEXT_TRUTH(e)                                           \
	do {                                                    \
		bool t = !is_fault(&B) && !is_fault(&C) && (e); \
		DST = (struct up_value){ .u = t };              \
		NEXT;                                           \
	} while (0)

	goto *labels[i->op];
L_OP_END:
	return true;
L_OP_REJECT:
	if (r->prog->calls == UP_CALLS_ENTER)
		act_enter(r, true);
	return false;
L_OP_CONST:
L_OP_SCONST:
L_OP_FCONST:
	DST = vm->plan->consts[up_insn_wide(i)];
	NEXT;
L_OP_MOVE:
	DST = B;
	NEXT;
L_OP_ARG:
	DST = (struct up_value){ .u = up_field_number(r->hit->rec, &r->hit->fields[i->b]) };
	NEXT;
L_OP_ARGSTR:
	DST = up_vm_string(r->hit, &r->hit->fields[i->b]);
	vm->counts.faults += is_fault(&DST);
	NEXT;
L_OP_TEXT:
L_OP_CHARS:
	DST = up_vm_text(vm, r->hit, i, regs[i->a + 1].u);
	vm->counts.faults += is_fault(&DST);
	NEXT;
L_OP_BYTES:
L_OP_ARRAY:
	DST = up_vm_bytes(vm, r->hit, i, regs[i->a + 1].u);
	vm->counts.faults += is_fault(&DST);
	NEXT;
L_OP_PEEK:
	if (is_fault(&B)) {
		DST = B;
		NEXT;
	}
	DST = up_vm_peek(vm, r->hit, i, B.u);
	vm->counts.faults += is_fault(&DST);
	NEXT;
L_OP_SYM:
	DST = symbol_of(r, &B);
	NEXT;
L_OP_SITE:
	DST = site_text(r, i->b);
	NEXT;
L_OP_CONTEXT:
	DST = context(r, i->b);
	NEXT;
L_OP_SAVED:
	DST = r->call ? up_calls_kept(r->thread, r->call, i->b, i->c)
		      : (struct up_value){ .flags = UP_VALUE_FAULT };
	NEXT;
L_OP_GUARD:
	if (!is_pointer(&B) && !is_fault(&DST)) {
		DST.flags |= UP_VALUE_FAULT;
		vm->counts.faults++;
	}
	NEXT;
L_OP_CAST:
	DST = (struct up_value){ .u = up_cast(B.u, i->c & 0xff, i->c >> 8), .flags = B.flags };
	NEXT;
L_OP_NEG:
	DST = (struct up_value){ .u = 0 - B.u, .flags = B.flags };
	NEXT;
L_OP_NOT:
	DST = (struct up_value){ .u = !is_true(&B) };
	NEXT;
L_OP_BNOT:
	DST = (struct up_value){ .u = ~B.u, .flags = B.flags };
	NEXT;
L_OP_TRUTH:
	DST = (struct up_value){ .u = is_true(&B) };
	NEXT;
L_OP_STRTRUTH:
	DST = (struct up_value){ .u = B.len && !is_fault(&B) };
	NEXT;
L_OP_ADD:
	NUMBER(x + y);
L_OP_SUB:
	NUMBER(x - y);
L_OP_MUL:
	NUMBER(x * y);
L_OP_DIVS:
	NUMBER(divide(vm, x, y, true));
L_OP_DIVU:
	NUMBER(divide(vm, x, y, false));
L_OP_MODS:
	NUMBER(remainder_of(vm, x, y, true));
L_OP_MODU:
	NUMBER(remainder_of(vm, x, y, false));
L_OP_AND:
	NUMBER(x & y);
L_OP_OR:
	NUMBER(x | y);
L_OP_XOR:
	NUMBER(x ^ y);
L_OP_SHL:
	NUMBER(up_shift_left(x, y));
L_OP_SHRS:
	NUMBER(up_shift_right(x, y, true));
L_OP_SHRU:
	NUMBER(up_shift_right(x, y, false));
L_OP_EQ:
	TRUTH(x == y);
L_OP_NE:
	DST = (struct up_value){ .u = is_fault(&B) || is_fault(&C) || B.u != C.u };
	NEXT;
L_OP_LTS:
	TRUTH((int64_t)x < (int64_t)y);
L_OP_LTU:
	TRUTH(x < y);
L_OP_LES:
	TRUTH((int64_t)x <= (int64_t)y);
L_OP_LEU:
	TRUTH(x <= y);
L_OP_SINGLE:
	DST = (struct up_value){ .f = up_float_of_bits((uint32_t)B.u), .flags = B.flags };
	NEXT;
L_OP_FLOATS:
	DST = (struct up_value){ .f = (double)B.s, .flags = B.flags };
	NEXT;
L_OP_FLOATU:
	DST = (struct up_value){ .f = (double)B.u, .flags = B.flags };
	NEXT;
L_OP_TRUNC:
	DST = (struct up_value){ .u = up_truncate(B.f, i->c & 0xff, i->c >> 8), .flags = B.flags };
	NEXT;
L_OP_FTRUTH:
	DST = (struct up_value){ .u = B.f != 0 && !is_fault(&B) };
	NEXT;
L_OP_FNEG:
	DST = (struct up_value){ .f = -B.f, .flags = B.flags };
	NEXT;
L_OP_FADD:
	FLOAT(x + y);
L_OP_FSUB:
	FLOAT(x - y);
L_OP_FMUL:
	FLOAT(x * y);
L_OP_FDIV:
	FLOAT(divide_float(vm, x, y));
L_OP_FEQ:
	FLOAT_TRUTH(x == y);
L_OP_FNE:
	DST = (struct up_value){ .u = is_fault(&B) || is_fault(&C) || B.f != C.f };
	NEXT;
L_OP_FLT:
	FLOAT_TRUTH(x < y);
L_OP_FLE:
	FLOAT_TRUTH(x <= y);
L_OP_HEAD:
	DST = head_of(&B, &C);
	NEXT;
L_OP_STREQ:
	TEXT_TRUTH(same_text(&B, &C));
L_OP_STRNE:
	DST = (struct up_value){ .u = is_fault(&B) || is_fault(&C) || !same_text(&B, &C) };
	NEXT;
L_OP_STRMATCH:
	CHARGE_TEXT(B);
	TEXT_TRUTH(up_glob_match(C.p, C.len, B.p, B.len));
L_OP_CALL:
	CHARGE_TEXT(DST);
	DST = up_vm_call(vm, i, &DST);
	NEXT;
L_OP_JUMP:
	i = code + up_insn_wide(i);
	goto *labels[i->op];
L_OP_JUMPZ:
	if (is_true(&DST))
		NEXT;
	i = code + up_insn_wide(i);
	goto *labels[i->op];
L_OP_JUMPNZ:
	if (!is_true(&DST))
		NEXT;
	i = code + up_insn_wide(i);
	goto *labels[i->op];
L_OP_ENTER:
	act_enter(r, false);
	NEXT;
L_OP_SAVE:
	if (r->call)
		up_calls_keep(r->thread, r->call, i->b, &DST, i->c);
	NEXT;
L_OP_VAR:
	DST = up_vars_get(&vm->vars, i->b);
	NEXT;
L_OP_SETVAR:
	CHARGE_TEXT(DST);
	up_vars_set(&vm->vars, i->b, &DST);
	NEXT;
L_OP_TVAR:
	DST = up_vars_get_thread(&vm->vars, r->hit->tid, i->b);
	NEXT;
L_OP_SETTVAR:
	CHARGE_TEXT(DST);
	up_vars_set_thread(&vm->vars, r->hit->tid, i->b, &DST);
	NEXT;
L_OP_ROW:
	vm->budget -= UP_RUN_ROW;
	DST = up_vars_get_row(&vm->vars, i->b, &C);
	NEXT;
L_OP_SETROW:
	vm->budget -= UP_RUN_ROW;
	CHARGE_TEXT(DST);
	up_vars_set_row(&vm->vars, i->b, &C, &DST);
	NEXT;
L_OP_DELROW:
	vm->budget -= UP_RUN_ROW;
	up_vars_delete_row(&vm->vars, i->b, &C);
	NEXT;
L_OP_RESULT:
	vm->budget -= UP_RUN_ROW;
	DST = up_vm_agg_field(vm, i->b, &C, i->d);
	NEXT;
L_OP_DELGROUP:
	vm->budget -= UP_RUN_ROW;
	up_vm_delete_agg(vm, i->b, &C);
	NEXT;
L_OP_LEN:
	DST = (struct up_value){ .u = up_table_count(up_vm_table(vm, i->b)) };
	NEXT;
L_OP_LOOP:
	loop_begin(vm, i);
	NEXT;
L_OP_NEXT:
	vm->budget -= (int64_t)up_insn_wide(i) - (i - code);
	if (must_end(vm))
		return true;
	if (loop_next(vm, i, &DST))
		NEXT;
	i = code + up_insn_wide(i);
	goto *labels[i->op];
L_OP_SHOW:
	up_run_show(vm, i->b);
	NEXT;
L_OP_CLEAR:
	act_clear(vm, i->b);
	NEXT;
L_OP_PRINT:
	up_run_print(r, i->b, &DST);
	NEXT;
L_OP_PRINTF:
	up_run_printf(r, i->b, &DST);
	NEXT;
L_OP_AGG:
	vm->budget -= UP_RUN_ROW;
	up_vm_add(vm, i->b, &DST);
	NEXT;
L_OP_STOP:
	act_stop(r, &DST);
	NEXT;
#undef NEXT
#undef DST
#undef B
#undef C
#undef NUMBER
#undef TRUTH
#undef FLOAT
#undef FLOAT_TRUTH
#undef TEXT_TRUTH
#undef CHARGE_TEXT
}

/* Finds the call that returns. False when the handler does not run; counted then. */
static bool find_call(struct up_run *r)
{
	struct up_counts *counts = &r->vm->counts;
	uint64_t sp = number_at(r, r->prog->sp_arg) + r->site->sp_lower - r->prog->return_sp;
	struct up_strand strand = strand_of(r, &sp);

	if (r->prog->pops)
		sp = up_calls_entry_sp(&r->vm->calls, &strand, r->prog->probe, sp, r->hit->ip,
				       r->prog->pops);
	r->call = up_calls_leave(&r->vm->calls, &strand, r->prog->probe, sp, &r->thread);
	if (r->call && up_calls_is_doubtful(&r->vm->calls, r->call, r->hit->cpu, r->hit->time)) {
		r->vm->calls.doubtful++;
		return false;
	}
	if (!r->call)
		counts->unpaired++;
	else if (r->call->rejected)
		counts->filtered++;
	return r->call && !r->call->rejected;
}

/* Nothing of the handler that ran before is kept. */
static void begin(struct up_vm *vm, uint64_t now, int64_t budget)
{
	vm->nr_mended = vm->nr_peeked = 0;
	vm->nr_scratch = 0;
	vm->now = now;
	vm->budget = budget;
}

void up_vm_hit(struct up_vm *vm, const struct up_hit *hit)
{
	struct up_run r = { .vm = vm, .hit = hit, .site = &vm->plan->sites[hit->site] };

	r.prog = &vm->plan->progs[r.site->prog];
	begin(vm, hit->time, UP_VM_BUDGET);
	if (vm->symbols)
		up_symbolize_begin(vm->symbols);
	if (r.prog->calls == UP_CALLS_LEAVE && !find_call(&r))
		return;
	if (execute(&r))
		vm->counts.handled++;
	else
		vm->counts.filtered++;
}

void up_vm_block(struct up_vm *vm, uint32_t i, uint64_t now)
{
	struct up_hit hit = { .time = now, .tid = getpid() };
	struct up_run r = { .vm = vm, .hit = &hit, .block = &vm->plan->blocks[i] };

	r.prog = &vm->plan->progs[r.block->prog];
	begin(vm, now, UP_VM_BUDGET_BLOCK);
	execute(&r);
}

void up_vm_born(struct up_vm *vm, pid_t tid)
{
	up_vars_died(&vm->vars, tid);
	up_calls_exit(&vm->calls, tid);
	if (vm->symbols)
		up_symbolize_forget(vm->symbols, tid);
}

void up_vm_died(struct up_vm *vm, pid_t tid)
{
	/* The main thread of a Go program ends with its process. */
	if (up_table_count(&vm->calls.goroutines) &&
	    up_procs_of(&vm->procs, tid, UINT64_MAX) == tid)
		up_calls_end_process(&vm->calls, tid);
	up_procs_died(&vm->procs, tid);
	up_vm_born(vm, tid);
}
