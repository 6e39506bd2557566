/*
 * Where the probe of a function's entry stands: on the cheapest instruction of the function's first
 * straight run at which everything that is fetched is as it was at the entry.
 */
#ifndef UP_ENTRY_PLACE_H
#define UP_ENTRY_PLACE_H

#include "lang/codegen.h"

/*
 * Moves the sites of entries and of kernel return probes. All probes of one function stand at one
 * place, so that a call traps once and handlers run in the order of the script; in a session (see
 * up_env) those of one probe do, so that no declaration moves another one's probes.
 */
void up_move_entries(const struct up_env *env, struct up_build *b);

#endif
