/*
 * OP_PEEK: memory of the traced program that the kernel could not read at the hit, read now. The
 * same rules as for what the kernel reads: what lies behind the end of the mapped memory is left
 * out, and what cannot be read at all is a fault.
 */
#include <string.h>

#include "runtime/vm.h"

/* Bytes of scratch memory that a run of a program may need for it. */
static size_t room_of(const struct up_plan_prog *prog)
{
	size_t n = 0;

	for (uint32_t i = 0; i < prog->nr_code; i++)
		if (prog->code[i].op == OP_PEEK)
			n += prog->code[i].d + 1u;
	return n;
}

size_t up_vm_peek_room(const struct up_plan *plan)
{
	size_t most = 0;

	for (uint32_t i = 0; i < plan->nr_progs; i++) {
		size_t n = room_of(&plan->progs[i]);

		most = n > most ? n : most;
	}
	return most;
}

static size_t read_memory(struct up_vm *vm, const struct up_hit *hit, uint64_t addr, void *to,
			  size_t len)
{
	struct up_memory_at at = { .tid = hit->tid,
				   .pid = up_procs_of(&vm->procs, hit->tid, hit->time),
				   .site = &vm->plan->sites[hit->site],
				   .place = hit->place,
				   .addr = addr };

	return up_memory_read(&vm->memory, &at, to, len);
}

/* Was it read for this hit already? A second read might see something else. */
static const struct up_vm_peeked *find_peeked(const struct up_vm *vm, uint64_t addr, size_t want)
{
	for (unsigned i = 0; i < vm->nr_peeked; i++)
		if (vm->peeked[i].addr == addr && vm->peeked[i].want >= want)
			return &vm->peeked[i];
	return NULL;
}

/* Reads, and sets *s to the bytes; returns how many there are of those wanted. */
static size_t get_bytes(struct up_vm *vm, const struct up_hit *hit, uint64_t addr, size_t want,
			const char **s)
{
	const struct up_vm_peeked *old = find_peeked(vm, addr, want);
	char *to = vm->mended + vm->nr_mended;

	if (old) {
		*s = old->s;
		return old->got < want ? old->got : want;
	}
	*s = to;
	if (vm->mended_size - vm->nr_mended < want)
		return 0;
	size_t got = read_memory(vm, hit, addr, to, want);
	vm->nr_mended += got;
	if (vm->nr_peeked < UP_VM_PEEKED)
		vm->peeked[vm->nr_peeked++] = (struct up_vm_peeked){ addr, want, got, to };
	return got;
}

static struct up_value number_of(const char *s, size_t len)
{
	struct up_value v = { .u = 0 };

	for (size_t i = len; i-- > 0;)
		v.u = v.u << 8 | (unsigned char)s[i];
	return v;
}

/* `got` bytes at v->p, of which `want` were asked for. */
static void judge_block(struct up_value *v, unsigned unit, size_t got, size_t want)
{
	v->len = (uint32_t)(got / unit * unit);
	if (got < want)
		v->flags = v->len ? UP_VALUE_CUT : UP_VALUE_FAULT;
}

static void judge_text(struct up_value *v, bool has_nul, size_t got, size_t want)
{
	v->len = (uint32_t)strnlen(v->p, got);
	if (!got)
		v->flags = UP_VALUE_FAULT;
	else if (v->len == got && (has_nul || got < want))
		v->flags = UP_VALUE_CUT;
	if (v->len == want && has_nul)
		v->len--;
}

struct up_value up_vm_peek(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			   uint64_t addr)
{
	unsigned what = insn->c & 0xff, unit = insn->c >> 8;
	size_t want = insn->d + (what == UP_PEEK_TEXT ? 1u : 0u);
	struct up_value v = { .p = NULL };
	size_t got = get_bytes(vm, hit, addr, want, &v.p);

	if (what == UP_PEEK_NUMBER)
		return got == want ? number_of(v.p, got)
				   : (struct up_value){ .flags = UP_VALUE_FAULT };
	if (what == UP_PEEK_TEXT || what == UP_PEEK_CHARS)
		judge_text(&v, what == UP_PEEK_TEXT, got, want);
	else
		judge_block(&v, unit ? unit : 1, got, want);
	return v;
}
