/* Functions of one file, sorted by address. Knows nothing of how a symbol is stored. */
#include <stdlib.h>

#include "runtime/elf_symtab.h"

#define MAX_BACK 256 /* symbols looked at before the nearest one, for one that reaches to addr */

struct up_elf_index {
	struct up_elf_place *v; /* sorted by address, rank, table, entry */
	size_t nr;              /* how many */
	size_t cap;             /* how many fit */
};

struct up_elf_index *up_elf_index_new(void)
{
	return calloc(1, sizeof(struct up_elf_index));
}

void up_elf_index_free(struct up_elf_index *x)
{
	if (x)
		free(x->v);
	free(x);
}

bool up_elf_index_add(struct up_elf_index *x, const struct up_elf_place *p)
{
	if (x->nr == x->cap) {
		size_t cap = x->cap ? x->cap * 2 : 256;
		struct up_elf_place *v = reallocarray(x->v, cap, sizeof(*v));

		if (!v)
			return false;
		x->v = v;
		x->cap = cap;
	}
	x->v[x->nr++] = *p;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct up_elf_place *p = a, *q = b;

	if (p->addr != q->addr)
		return p->addr < q->addr ? -1 : 1;
	if (p->rank != q->rank)
		return p->rank < q->rank ? -1 : 1;
	if (p->table != q->table)
		return p->table < q->table ? -1 : 1;
	return p->entry < q->entry ? -1 : p->entry > q->entry;
}

void up_elf_index_sort(struct up_elf_index *x)
{
	size_t to = 0;

	if (!x->nr)
		return;
	qsort(x->v, x->nr, sizeof(*x->v), compare);
	for (size_t i = 1; i < x->nr; i++)
		if (x->v[i].addr != x->v[to].addr)
			x->v[++to] = x->v[i];
	x->nr = to + 1;
	struct up_elf_place *v = reallocarray(x->v, x->nr, sizeof(*v));
	if (v) {
		x->v = v;
		x->cap = x->nr;
	}
}

/* How many start at or before addr. */
static size_t count_before(const struct up_elf_index *x, uint64_t addr)
{
	size_t lo = 0, hi = x->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (x->v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The nearest before x->v[nr] that tells its size and reaches to addr. */
static const struct up_elf_place *find_sized(const struct up_elf_index *x, size_t nr, uint64_t addr)
{
	for (size_t i = nr; i-- > 0 && nr - i <= MAX_BACK;)
		if (addr - x->v[i].addr < x->v[i].size)
			return &x->v[i];
	return NULL;
}

const struct up_elf_place *up_elf_index_find(const struct up_elf_index *x, uint64_t addr)
{
	size_t nr = count_before(x, addr);
	const struct up_elf_place *sized = find_sized(x, nr, addr);

	if (sized || !nr || x->v[nr - 1].size)
		return sized;
	/* A label inside a function ends with it. */
	return find_sized(x, nr - 1, x->v[nr - 1].addr) ? NULL : &x->v[nr - 1];
}
