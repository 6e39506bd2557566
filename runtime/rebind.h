/*
 * A plan on a recording that another plan made: which recorded hits are those of which of its
 * sites, and where in them stands what its handlers fetch. Knows nothing of files or pages.
 */
#ifndef UP_REBIND_H
#define UP_REBIND_H

#include "lang/diag.h"
#include "runtime/recording.h"
#include "runtime/records.h"
#include "runtime/table.h"
#include "runtime/tracedat.h"

struct up_rebind {
	struct up_records records; /* of the recording, with routes to the plan's sites */
	struct up_routes routes;
	struct up_arena *arena; /* of the routes */
	struct up_table pairs;  /* recorded event and event of the plan -> struct pair * */
};

/*
 * `d` describes how the recording's events look. What the plan wants and the recording lacks is
 * reported to ds: each thing once, with how to record it; then -ENOENT. -EPROTO with *why when the
 * recording contradicts itself, or -ENOMEM. up_rebind_fini() is needed in any case.
 */
int up_rebind_init(struct up_rebind *b, const struct up_recording *r, const struct up_tracedat *d,
		   const struct up_plan *plan, struct up_diags *ds, struct up_buf *why);
void up_rebind_fini(struct up_rebind *b);

#endif
