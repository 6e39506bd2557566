/*
 * What the kernel does to the memory of a program in which a five-byte nop is probed: asked, and
 * tried on a function of this program. Private to doctor.c; see nop5.h.
 */
#ifndef UP_DOCTOR_NOP5_H
#define UP_DOCTOR_NOP5_H

#include "runtime/doctor.h"
#include "runtime/keeper.h"

/*
 * Adds a finding. Returns 0, or -errno of a step of the session that failed; a kernel that does not
 * take the probe is no failure.
 */
int up_doctor_nop5(struct up_doctor *d, struct up_keeper *k);

#endif
