/*
 * Where something stands in a record of the ring buffer.
 */
#ifndef UP_FIELD_H
#define UP_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Size 0: not there. */
struct up_field {
	uint16_t off;  /* from the start of the record */
	uint16_t size; /* bytes; of a dynamic string 4: length << 16 | offset from the record's
			  start */
	bool is_signed;
	bool is_dynamic; /* __data_loc */
};

/* What up_field_number() does for fewer than four bytes. */
uint64_t up_field_small(const unsigned char *rec, const struct up_field *f);

/*
 * A number of 1, 2, 4 or 8 bytes, packed and unaligned, in the byte order of the machine, widened
 * by its sign. The record must hold the field.
 */
static inline uint64_t up_field_number(const unsigned char *rec, const struct up_field *f)
{
	uint64_t u64;
	uint32_t u32;

	if (f->size == sizeof(u64)) {
		memcpy(&u64, rec + f->off, sizeof(u64));
		return u64;
	}
	if (f->size != sizeof(u32))
		return up_field_small(rec, f);
	memcpy(&u32, rec + f->off, sizeof(u32));
	return f->is_signed ? (uint64_t)(int32_t)u32 : u32;
}

#endif
