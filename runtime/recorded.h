/*
 * The compiler's view of programs and libraries (lang/resolve.h), answered from what was noted when
 * a recording was made, on a machine that need not be this one. Opens no file. What was not noted
 * is not there.
 */
#ifndef UP_RECORDED_H
#define UP_RECORDED_H

#include "lang/resolve.h"

struct up_recorded;
struct up_recorded_object;

/* NULL when there is no memory. */
struct up_recorded *up_recorded_new(void);
/*
 * One for data that do not say which functions there were: each object and each function that is
 * named is taken to be there, at an address of its own. Patterns are refused.
 */
struct up_recorded *up_recorded_new_loose(enum up_machine machine);
void up_recorded_free(struct up_recorded *r);

/* The interface, as long as it lives. */
const struct up_resolver *up_recorded_iface(const struct up_recorded *r);

/* Notes an object; the texts are copied. NULL when there is no memory. */
struct up_recorded_object *up_recorded_object(struct up_recorded *r, const struct up_object *o);
/* Notes a symbol of it; the texts are copied. False when there is no memory. */
bool up_recorded_symbol(struct up_recorded_object *o, const struct up_symbol *s);
/* Notes a place that was probed, and how its function is called: no other one can be. */
bool up_recorded_place(struct up_recorded_object *o, uint64_t addr, uint64_t off,
		       enum up_calling calling);

/* Notes that a probe on the entry of the function at `addr` stood at `at`. */
bool up_recorded_entry(struct up_recorded_object *o, uint64_t addr, uint64_t at);
/*
 * Notes that returns of the function at `addr` were seen where it is left, and of the places where
 * it is left one; NULL: there may be none.
 */
bool up_recorded_exit(struct up_recorded_object *o, uint64_t addr, const struct up_exit *e);

#endif
