/*
 * The verifier: whether the handlers of a plan keep to what the machine relies on. The machine
 * itself checks nothing while it runs.
 */
#ifndef UP_VERIFY_H
#define UP_VERIFY_H

#include "lang/base/buf.h"
#include "lang/plan.h"

/*
 * Every operand is in its range: registers, constants, event arguments and their sizes, call slots,
 * prints, aggregations, variables, loops. Every register is written before it is read, whatever way
 * the handler takes; a number is never taken for bytes; and bytes are not used after what they were
 * borrowed from may have changed. Jumps go forward, but for those back to the head of a loop, which
 * ends with its table: so every handler ends. False, with what is wrong in `why`.
 */
bool up_plan_verify(const struct up_plan *p, struct up_buf *why);

#endif
