/*
 * Does this program itself run code of the files that are probed? Only then can tracing trace the
 * tracer, and only then is keeping it out worth its price: tens of milliseconds at start and end.
 */
#ifndef UP_SELFMAP_H
#define UP_SELFMAP_H

#include "lang/plan.h"

/* True also when it cannot be told. */
bool up_selfmap_hits(const struct up_plan *plan);

#endif
