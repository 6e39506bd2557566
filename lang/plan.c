/* Comparing parts of plans. */
#include "lang/plan.h"

#include <string.h>

static bool is_same_arg(const struct up_plan_arg *a, const struct up_plan_arg *b)
{
	return !strcmp(a->fetch, b->fetch) && !strcmp(a->type, b->type) &&
	       !strcmp(a->name, b->name) && a->size == b->size && a->is_signed == b->is_signed;
}

bool up_plan_same_shape(const struct up_plan_event *a, const struct up_plan_event *b)
{
	if (a->is_return != b->is_return || a->is_exit != b->is_exit || a->nr_args != b->nr_args)
		return false;
	for (uint32_t i = 0; i < a->nr_args; i++)
		if (!is_same_arg(&a->args[i], &b->args[i]))
			return false;
	return true;
}
