/* Loops: rows by index, keys copied, because the table may change under the loop. */
#include "runtime/loops.h"

#include <string.h>

void up_loop_begin(struct up_loop *l, const struct up_table *t)
{
	l->t = t;
	l->at = 0;
	l->end = up_table_end(t);
}

bool up_loop_next(struct up_loop *l, struct up_value *keys, uint32_t nr_keys)
{
	const void *key;
	size_t len, pos = 0;
	enum up_ty ty;

	if (l->end > up_table_end(l->t)) /* it was cleared */
		l->end = up_table_end(l->t);
	while (l->at < l->end && !up_table_row(l->t, l->at, &key, &len))
		l->at++;
	if (l->at >= l->end)
		return false;
	l->at++;
	up_buf_reset(&l->keys);
	up_buf_add(&l->keys, key, len);
	if (l->keys.len != len)
		return false;
	for (uint32_t k = 0; k < nr_keys; k++)
		if (!up_key_next(l->keys.s, len, &pos, &ty, &keys[k]))
			keys[k] = (struct up_value){ .flags = UP_VALUE_FAULT };
	return true;
}
