/* Numbers in records that are rarely so small. */
#include "runtime/field.h"

uint64_t up_field_small(const unsigned char *rec, const struct up_field *f)
{
	const unsigned char *p = rec + f->off;
	uint16_t u16;

	switch (f->size) {
	case 1:
		return f->is_signed ? (uint64_t)(int8_t)*p : *p;
	case 2:
		memcpy(&u16, p, 2);
		return f->is_signed ? (uint64_t)(int16_t)u16 : u16;
	default:
		return 0;
	}
}
