/*
 * Text, bytes and arrays of traced programs. Text is fetched as arrays of 8-byte words, not as the
 * kernel's strings: a string near 4096 bytes makes the kernel drop the whole hit without a count,
 * and a longer one takes the place of the strings behind it.
 *
 * The kernel reads element by element, and an element that cannot be read is 0. Two cases need a
 * second look, at the program's memory itself: what is empty or all zero may lie where nothing is
 * mapped, and the word that lies across the end of a mapping may hold the last bytes before it. A
 * text that ends where its mapping ends is cut.
 */
#include <errno.h>
#include <string.h>

#include "runtime/vm.h"

#define PAGE 4096u
#define WORD 8u

struct up_value up_vm_string(const struct up_hit *h, const struct up_field *f)
{
	struct up_value v = { .flags = UP_VALUE_FAULT };
	uint32_t loc;

	memcpy(&loc, h->rec + f->off, 4);
	uint32_t off = loc & 0xffff, len = loc >> 16;
	if (!len || off > h->len || len > h->len - off)
		return v;
	v.p = (const char *)h->rec + off;
	v.len = (uint32_t)strnlen(v.p, len);
	v.flags = 0;
	return v;
}

static bool is_unmapped(const struct up_vm *vm, pid_t tid, uint64_t addr)
{
	char byte;

	return up_memory_peek(&vm->memory, tid, addr, &byte, 1) == -EFAULT;
}

/* The first byte of the word that lies across the end of a page, or `len` when none does. */
static size_t find_straddling(const char *text, size_t len, uint64_t addr)
{
	for (size_t end = PAGE - addr % PAGE; end + WORD <= len; end += PAGE) {
		size_t word = end / WORD * WORD;

		if (word != end && text[word] == 0 &&
		    !memcmp(text + word, text + word + 1, WORD - 1))
			return word;
	}
	return len;
}

/* Completes a text whose word at `word` was not read though part of it is there. */
static struct up_value mend(struct up_vm *vm, const struct up_hit *hit, struct up_value v,
			    size_t word, uint64_t addr)
{
	size_t part = PAGE - (addr + word) % PAGE;
	char *copy = vm->mended + vm->nr_mended;

	v.len = (uint32_t)word;
	if (vm->mended_size - vm->nr_mended < word + part) {
		v.flags |= UP_VALUE_CUT;
		return v;
	}
	int err = up_memory_peek(&vm->memory, hit->tid, addr + word, copy + word, part);
	if (err) {
		/* Gone, or not ours to read: then whether there was more cannot be told. */
		v.flags |= !word ? UP_VALUE_FAULT : err == -EFAULT ? 0 : UP_VALUE_CUT;
		return v;
	}
	memcpy(copy, v.p, word);
	vm->nr_mended += word + part;
	v.p = copy;
	v.len = (uint32_t)strnlen(copy, word + part);
	/* The memory ends before the text does. */
	if (v.len == word + part)
		v.flags |= UP_VALUE_CUT;
	return v;
}

/* Text that fills all its bytes is cut when it is a string, and whole when it is an array of
 * characters. */
struct up_value up_vm_text(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			   uint64_t addr)
{
	struct up_value v = { .p = (const char *)hit->rec + hit->fields[insn->b].off };
	bool has_nul = insn->op == OP_TEXT;
	size_t len = insn->d + (has_nul ? 1u : 0u), end, word;

	end = strnlen(v.p, len);
	word = find_straddling(v.p, len, addr);
	v.len = (uint32_t)end;
	if (end == word && word < len)
		return mend(vm, hit, v, word, addr);
	if (end == len && has_nul) {
		v.len = insn->d;
		v.flags = UP_VALUE_CUT;
	}
	if ((addr + end) % PAGE == 0 && end < len && is_unmapped(vm, hit->tid, addr + end))
		v.flags = end ? UP_VALUE_CUT : UP_VALUE_FAULT;
	else if (!end && is_unmapped(vm, hit->tid, addr))
		v.flags = UP_VALUE_FAULT;
	return v;
}

static bool is_zero(const char *s, size_t len)
{
	return !len || (!*s && !memcmp(s, s + 1, len - 1));
}

/*
 * Nothing is mapped behind the first `end` bytes. Of those the first `whole` were read; the word
 * across the end was read in part or not at all, depending on the kernel.
 */
static struct up_value cut_bytes(struct up_vm *vm, const struct up_hit *hit, struct up_value v,
				 size_t whole, size_t end, uint64_t addr)
{
	char *copy = vm->mended + vm->nr_mended;

	v.flags = UP_VALUE_CUT;
	v.len = (uint32_t)end;
	if (!is_zero(v.p + whole, end - whole))
		return v;
	if (vm->mended_size - vm->nr_mended < end ||
	    up_memory_peek(&vm->memory, hit->tid, addr + whole, copy + whole, end - whole)) {
		v.len = (uint32_t)whole;
		return v;
	}
	memcpy(copy, v.p, whole);
	vm->nr_mended += end;
	v.p = copy;
	return v;
}

struct up_value up_vm_bytes(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			    uint64_t addr)
{
	struct up_value v = { .p = (const char *)hit->rec + hit->fields[insn->b].off,
			      .len = insn->d };
	bool is_array = insn->op == OP_ARRAY;
	size_t unit = is_array ? insn->c : WORD, end = PAGE - addr % PAGE;

	/* Not longer than a page: so there is one end of a page in it, or none. */
	if (is_zero(v.p, end < v.len ? end : v.len) && addr && is_unmapped(vm, hit->tid, addr)) {
		v.flags = UP_VALUE_FAULT;
		return v;
	}
	if (end >= v.len || !is_zero(v.p + end, v.len - end) ||
	    !is_unmapped(vm, hit->tid, addr + end))
		return v;
	if (!is_array)
		return cut_bytes(vm, hit, v, end / unit * unit, end, addr);
	v.len = (uint32_t)(end / unit * unit);
	v.flags = v.len ? UP_VALUE_CUT : UP_VALUE_FAULT;
	return v;
}
