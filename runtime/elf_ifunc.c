/*
 * No disassembler: every byte may begin an instruction that loads an address. What it would load
 * counts only if it is the very start of a function, so a wrong guess hardly ever does.
 */
#include "runtime/elf_ifunc.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/elf_frames.h"
#include "runtime/elf_reloc.h"

#define MAX_CODE 2048 /* bytes of a resolver that are looked at */
#define MAX_FOUND 64  /* implementations */

struct found {
	const struct up_elf *e;
	struct up_elf_symbols *s;
	uint64_t resolver; /* whose code it is */
	struct up_symbol v[MAX_FOUND];
	size_t nr;
};

static uint64_t get32(const unsigned char *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return (uint64_t)(int64_t)v;
}

/* Keeps the address when it is the start of a function. */
static void keep(struct found *f, uint64_t addr)
{
	struct up_symbol sym = { .addr = addr, .kind = UP_SYM_FUNC };
	uint64_t start;

	if (addr == f->resolver || f->nr == MAX_FOUND || !up_elf_is_code(f->e, addr))
		return;
	for (size_t i = 0; i < f->nr; i++)
		if (f->v[i].addr == addr)
			return;
	if (!up_elf_symbols_at(f->s, addr, &sym) || sym.addr != addr) {
		sym = (struct up_symbol){ .addr = addr, .kind = UP_SYM_FUNC };
		if (!up_elf_frame_start(f->e, addr, &start) || start != addr)
			return;
	}
	if (sym.kind == UP_SYM_FUNC || sym.kind == UP_SYM_NOTYPE)
		f->v[f->nr++] = sym;
}

static void keep_slot(struct found *f, uint64_t slot)
{
	uint64_t value;
	bool is_import;

	if (up_elf_reloc_value(f->e, slot, &value, &is_import))
		keep(f, value);
}

/* Takes what the instruction at p, of the address `at`, would load. `len` bytes are there. */
static void look_at(struct found *f, const unsigned char *p, uint64_t len, uint64_t at)
{
	bool has_rex = len >= 7 && (p[0] & 0xf8) == 0x48;

	if (has_rex && (p[2] & 0xc7) == 0x05) {
		uint64_t target = at + 7 + get32(p + 3);

		if (p[1] == 0x8d) /* lea rel(%rip), reg */
			keep(f, target);
		else if (p[1] == 0x8b) /* mov rel(%rip), reg */
			keep_slot(f, target);
	} else if (has_rex && p[1] == 0xc7 && (p[2] & 0xf8) == 0xc0) { /* mov imm32, reg */
		keep(f, get32(p + 3));
	} else if (len >= 5 && (p[0] & 0xf8) == 0xb8) { /* mov imm32, reg of 32 bits */
		keep(f, (uint32_t)get32(p + 1));
	}
}

static int by_address(const void *a, const void *b)
{
	const struct up_symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

void up_elf_ifunc_each(const struct up_elf *e, struct up_elf_symbols *s, uint64_t resolver,
		       up_symbol_fn *fn, void *arg)
{
	struct up_elf_span code = up_elf_at_addr(e, resolver);
	struct found *f = calloc(1, sizeof(*f));
	struct up_symbol own;

	if (f && e->machine == UP_M_X86_64 && up_elf_symbols_at(s, resolver, &own)) {
		uint64_t len = own.size && own.size < MAX_CODE ? own.size : MAX_CODE;

		len = code.len < len ? code.len : len;
		*f = (struct found){ .e = e, .s = s, .resolver = resolver };
		for (uint64_t i = 0; code.s && i < len; i++)
			look_at(f, code.s + i, len - i, resolver + i);
		qsort(f->v, f->nr, sizeof(f->v[0]), by_address);
		for (size_t i = 0; i < f->nr && fn(arg, &f->v[i]); i++)
			;
	}
	free(f);
}
