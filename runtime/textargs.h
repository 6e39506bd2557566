/*
 * What a probe's event says in trace text, behind its name: "(0x401136) site=3 di=5 comm="cat"
 * m0_si={0x68,0x0}" becomes a record of the same layout as the kernel's own.
 *
 * The kernel prints strings as they are, without escapes. A string can hold what looks like its end
 * and the arguments behind it; so every way to read the text is tried, and text that can be read in
 * two ways is not read at all.
 */
#ifndef UP_TEXTARGS_H
#define UP_TEXTARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/field.h"

#define UP_TEXTARGS_RECORD 16384u /* bytes of the longest record */

/* One argument. */
struct up_textarg {
	const char *name;
	uint8_t name_len;
	uint8_t count;         /* elements of an array; 0: it is none */
	uint16_t max_len;      /* of a string: bytes that the kernel gives at most */
	struct up_field field; /* where it goes; dynamic: a string */
};

/* One event. */
struct up_textshape {
	struct up_field ip;     /* where the probe sits; of a return the function */
	struct up_field ret_ip; /* of a return, where it goes to; size 0: it is no return */
	const struct up_textarg *args;
	uint32_t nr_args;
	uint16_t fixed_size; /* of the record, without the strings' text */
};

enum up_textargs_result {
	UP_TEXTARGS_OK,
	UP_TEXTARGS_OTHER,  /* it is no text of this event: another one has the same name */
	UP_TEXTARGS_BROKEN, /* it is, but cannot be read, or can be read in two ways */
	UP_TEXTARGS_OPEN    /* it ends inside a string: perhaps that has a newline */
};

/* Stores a number of `size` bytes as element i of a field. */
void up_textargs_store(unsigned char *rec, const struct up_field *f, unsigned size, unsigned i,
		       uint64_t v);

/*
 * Reads the text into rec[0..UP_TEXTARGS_RECORD), whose first bytes, up to the shape's first field,
 * are the caller's. *len is the length of the record, a multiple of 4.
 */
enum up_textargs_result up_textargs_parse(const struct up_textshape *shape, const char *s,
					  size_t len, unsigned char *rec, uint32_t *rec_len);

#endif
