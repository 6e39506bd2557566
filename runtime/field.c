/* Numbers in records: packed and unaligned, in the byte order of the machine. */
#include "runtime/field.h"

#include <string.h>

uint64_t up_field_number(const unsigned char *rec, const struct up_field *f)
{
	const unsigned char *p = rec + f->off;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (f->size) {
	case 1:
		return f->is_signed ? (uint64_t)(int8_t)*p : *p;
	case 2:
		memcpy(&u16, p, 2);
		return f->is_signed ? (uint64_t)(int16_t)u16 : u16;
	case 4:
		memcpy(&u32, p, 4);
		return f->is_signed ? (uint64_t)(int32_t)u32 : u32;
	case 8:
		memcpy(&u64, p, 8);
		return u64;
	default:
		return 0;
	}
}
