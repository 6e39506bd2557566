/* Elements of arrays: unaligned, in the byte order of the machine. */
#include "runtime/element.h"

#include <string.h>

#include "runtime/field.h"

double up_float_of_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

struct up_value up_element(struct up_type array, const struct up_value *v, uint32_t i)
{
	struct up_field f = { .size = array.bits / 8, .is_signed = array.is_signed };
	uint64_t u = up_field_number((const unsigned char *)v->p + (size_t)i * f.size, &f);

	if (array.show == UP_SHOW_BOOL)
		u = u != 0;
	if (array.show == UP_SHOW_FLOAT && array.bits == 32)
		return (struct up_value){ .f = up_float_of_bits((uint32_t)u) };
	return (struct up_value){ .u = u };
}

void up_element_list(struct up_buf *b, struct up_type array, const struct up_value *v,
		     void (*put)(struct up_buf *b, struct up_type t, const struct up_value *v))
{
	uint32_t nr = up_element_count(array, v);

	for (uint32_t i = 0; i < nr; i++) {
		struct up_value e = up_element(array, v, i);

		if (i)
			up_buf_putc(b, ',');
		put(b, up_element_type(array), &e);
	}
}
