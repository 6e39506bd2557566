/*
 * Where something stands in a record of the ring buffer.
 */
#ifndef UP_FIELD_H
#define UP_FIELD_H

#include <stdbool.h>
#include <stdint.h>

/* Size 0: not there. */
struct up_field {
	uint16_t off;  /* from the start of the record */
	uint16_t size; /* bytes; of a dynamic string 4: length << 16 | offset from the record's
			  start */
	bool is_signed;
	bool is_dynamic; /* __data_loc */
};

/* A number of 1, 2, 4 or 8 bytes, widened by its sign. The record must hold the field. */
uint64_t up_field_number(const unsigned char *rec, const struct up_field *f);

#endif
