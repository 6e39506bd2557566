/*
 * The end-to-end try: probes on two tiny functions of this program, called a known number of times,
 * and their records read back. Private to doctor.c.
 */
#ifndef UP_DOCTOR_TRY_H
#define UP_DOCTOR_TRY_H

#include "runtime/doctor.h"
#include "runtime/keeper.h"

/* File offset of an address in this program; 0 when it is in no part of its file. */
uint64_t up_doctor_offset(uint64_t addr);

/*
 * Defines and arms the probes in the session that the keeper has begun, and reads what comes.
 * 0 when it could be tried, or -errno of the step that failed; the finding is there either way.
 */
int up_doctor_try(struct up_doctor *d, const struct up_tracefs *fs, struct up_keeper *k);

#endif
