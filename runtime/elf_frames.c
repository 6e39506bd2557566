/*
 * Binary search in .eh_frame_hdr (Linux Standard Base, "Exception Frame Header"), in the one
 * encoding that linkers write.
 */
#include "runtime/elf_frames.h"

#include <string.h>

#define UDATA4 0x03         /* DW_EH_PE_udata4 */
#define DATAREL_SDATA4 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

/* Bytes of a pointer in this encoding; 0 when it is none that linkers use here. */
static uint64_t pointer_size(unsigned encoding)
{
	switch (encoding & 0x0f) {
	case 0x03: /* udata4 */
	case 0x0b: /* sdata4 */
		return 4;
	case 0x04: /* udata8 */
	case 0x0c: /* sdata8 */
		return 8;
	default:
		return 0;
	}
}

/* Finds the sorted pairs (start, description), 4 bytes each, relative to the header. */
static bool find_pairs(const struct up_elf *e, const unsigned char **pairs, uint64_t *nr)
{
	uint64_t size = e->eh_frame.filesz;
	const unsigned char *p = up_elf_at(e, e->eh_frame.offset, size);
	uint32_t count;

	if (!p || size < 4 || p[0] != 1 || p[2] != UDATA4 || p[3] != DATAREL_SDATA4)
		return false;
	uint64_t at = 4 + pointer_size(p[1]);
	if (at == 4 || size < at + sizeof(count))
		return false;
	memcpy(&count, p + at, sizeof(count));
	at += sizeof(count);
	*pairs = p + at;
	*nr = count < (size - at) / 8 ? count : (size - at) / 8;
	return true;
}

/* The i-th of all numbers: a start, a description, a start... */
static uint64_t number_at(const struct up_elf *e, const unsigned char *pairs, uint64_t i)
{
	int32_t rel;

	memcpy(&rel, pairs + i * 4, sizeof(rel));
	uint64_t addr = e->eh_frame.vaddr + (uint64_t)(int64_t)rel;
	return e->is64 ? addr : (uint32_t)addr;
}

bool up_elf_frame_find(const struct up_elf *e, uint64_t addr, uint64_t *start, uint64_t *entry)
{
	const unsigned char *pairs;
	uint64_t lo = 0, hi;

	if (!find_pairs(e, &pairs, &hi))
		return false;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (number_at(e, pairs, 2 * mid) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*start = number_at(e, pairs, 2 * lo - 2);
	*entry = number_at(e, pairs, 2 * lo - 1);
	return *start <= addr && up_elf_is_code(e, *start);
}

bool up_elf_frame_start(const struct up_elf *e, uint64_t addr, uint64_t *start)
{
	uint64_t entry;

	return up_elf_frame_find(e, addr, start, &entry);
}
