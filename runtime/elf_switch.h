/*
 * Jumps to what a register or memory holds: one of a function's own places (a switch, a computed
 * goto), or another function? Told from the stack, from the instructions before, and from the table
 * that is jumped through.
 */
#ifndef UP_ELF_SWITCH_H
#define UP_ELF_SWITCH_H

#include "runtime/elf_body.h"

#define UP_SWITCH_RECENT 16 /* instructions that are looked back at; a power of two */

/* The latest instructions: [nr - 1] is the jump; indices modulo UP_SWITCH_RECENT. */
struct up_recent {
	struct up_native v[UP_SWITCH_RECENT];
	unsigned nr;
};

enum up_lead {
	UP_LEAD_INSIDE,  /* to the function's own places */
	UP_LEAD_OUTSIDE, /* to another function */
	UP_LEAD_LOADED, /* to what is in a register: outside, unless the function has such labels */
	UP_LEAD_UNKNOWN
};

enum up_lead up_elf_lead(struct up_elf_body *b, const struct up_recent *r, enum up_stack stack);

#endif
