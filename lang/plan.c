/* Comparing parts of plans. */
#include "lang/plan.h"

#include <string.h>

static bool is_same_arg(const struct up_plan_arg *a, const struct up_plan_arg *b)
{
	return !strcmp(a->fetch, b->fetch) && !strcmp(a->type, b->type) &&
	       !strcmp(a->name, b->name) && a->size == b->size && a->is_signed == b->is_signed;
}

uint32_t up_plan_probe_of(const struct up_plan *p, uint32_t event)
{
	const struct up_plan_event *e = &p->events[event];

	return e->nr_sites ? p->progs[p->sites[e->sites[0]].prog].probe : UP_NONE;
}

bool up_plan_probes_file(const struct up_plan *p, const struct up_file_id *id)
{
	for (uint32_t i = 0; i < p->nr_events; i++)
		for (uint32_t k = 0; k < p->events[i].nr_sites; k++)
			if (up_file_id_is_same(&p->sites[p->events[i].sites[k]].id, id))
				return true;
	return false;
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
