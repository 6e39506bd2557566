/*
 * A function run by a helper process, with a time limit: for looking at what may hang in the
 * kernel. A helper that does not come back is left behind; it holds nothing of ours.
 */
#ifndef UP_TIMED_H
#define UP_TIMED_H

#include "lang/base/buf.h"

/* Appends its answer to `out`; returns 0 or -errno. Runs in the helper: its other effects are lost.
 */
typedef int up_timed_fn(void *arg, struct up_buf *out);

/*
 * Runs fn(arg) in a helper and appends its answer to *out. Returns what fn returned, -ETIMEDOUT
 * when it took longer than limit_ms, or another -errno when there could be no helper.
 */
int up_timed_call(up_timed_fn *fn, void *arg, unsigned limit_ms, struct up_buf *out);

#endif
