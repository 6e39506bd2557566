/*
 * Text of traced programs. It is fetched as arrays of 8-byte words, not as the kernel's strings: a
 * string near 4096 bytes makes the kernel drop the whole hit without a count, and a longer one
 * takes the place of the strings behind it.
 *
 * The kernel reads word by word, and a word that cannot be read is 0. Two cases need a second look,
 * at the program's memory itself: text that looks empty may lie where nothing is mapped, and the
 * word that lies across the end of a mapping may hold the last bytes of a text.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "runtime/vm.h"

#define PAGE 4096u
#define WORD 8u

/* Bytes of the program's memory as it is now; -errno when they cannot be read. */
static int peek(pid_t tid, uint64_t addr, void *to, size_t len)
{
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)addr, len };
	ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EFAULT;
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
	if (UP_VM_MENDED - vm->nr_mended < word + part) {
		v.flags |= UP_VALUE_CUT;
		return v;
	}
	int err = peek(hit->tid, addr + word, copy + word, part);
	if (err) {
		/* Gone, or not ours to read: then whether there was more cannot be told. */
		v.flags |= err == -EFAULT ? 0 : UP_VALUE_CUT;
		return v;
	}
	memcpy(copy, v.p, word);
	vm->nr_mended += word + part;
	v.p = copy;
	v.len = (uint32_t)strnlen(copy, word + part);
	return v;
}

struct up_value up_vm_text(struct up_vm *vm, const struct up_hit *hit, const struct up_insn *insn,
			   uint64_t addr)
{
	struct up_value v = { .p = (const char *)hit->rec + hit->fields[insn->b].off };
	size_t len = insn->d, end, word;
	char byte;

	end = strnlen(v.p, len);
	word = find_straddling(v.p, len, addr);
	v.len = (uint32_t)end;
	if (end == word && word < len)
		return mend(vm, hit, v, word, addr);
	if (end == len)
		v.flags = UP_VALUE_CUT;
	if (!end && peek(hit->tid, addr, &byte, 1) == -EFAULT)
		v.flags = UP_VALUE_FAULT;
	return v;
}
