/*
 * Layout: which kernel event each site becomes. Sites whose handlers fetch the same things share
 * one event, because taking an event off costs the kernel tens of milliseconds, and a site nothing.
 */
#ifndef UP_LAYOUT_H
#define UP_LAYOUT_H

#include "lang/codegen.h"
#include "lang/target.h"

/*
 * Adds the places of a target that have such a side as sites of the event of this shape: entries,
 * or returns as they are seen. False after a diagnostic.
 */
bool up_layout_target(struct up_diags *ds, const struct up_env *env, struct up_build *b,
		      const struct up_node *probe, const struct up_target *t,
		      struct up_shape *shape, uint32_t prog);

/* Gives each event the list of its sites, when all have been added. */
void up_layout_events(struct up_build *b);

#endif
