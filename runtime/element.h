/*
 * Elements of arrays (TY_ARRAY): numbers that lie one behind the other as they do in memory.
 */
#ifndef UP_ELEMENT_H
#define UP_ELEMENT_H

#include "lang/base/buf.h"
#include "lang/value.h"

/* The type of one element. */
static inline struct up_type up_element_type(struct up_type array)
{
	if (array.show == UP_SHOW_FLOAT)
		return (struct up_type){ TY_FLOAT, UP_SHOW_DEC, array.bits, true, 0 };
	return (struct up_type){ TY_INT, array.show, array.bits, array.is_signed, 0 };
}

/* How many elements there are: fewer than the type says when some could not be read. */
static inline uint32_t up_element_count(struct up_type array, const struct up_value *v)
{
	return v->len / (array.bits / 8);
}

/* Element i, widened. */
struct up_value up_element(struct up_type array, const struct up_value *v, uint32_t i);

/* Appends all elements, each as `put` shows it, with commas between them. */
void up_element_list(struct up_buf *b, struct up_type array, const struct up_value *v,
		     void (*put)(struct up_buf *b, struct up_type t, const struct up_value *v));

/* The float whose 32 bits these are. */
double up_float_of_bits(uint32_t bits);

#endif
