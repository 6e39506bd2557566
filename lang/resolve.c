/* What all who list symbols share. */
#include "lang/resolve.h"

#include <string.h>

int up_symbol_order(const struct up_symbol *a, const struct up_symbol *b)
{
	size_t la = strlen(a->name), lb = strlen(b->name);

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? 1 : -1;
	if (la != lb)
		return la < lb ? -1 : 1;
	return strcmp(a->name, b->name);
}
