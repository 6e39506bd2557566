/*
 * Addresses of traced programs as text: `zfree+0x12`. Owns the ELF files that it opens for that,
 * what is known of the processes' mappings, and the names found; all of it is bounded, and
 * forgotten when it grows too large. Knows nothing of handlers.
 *
 * An address in the probed object itself needs no process: where the object lies follows from the
 * hit. It is shown without the object's name. One elsewhere is looked for in /proc/PID/maps.
 */
#ifndef UP_SYMBOLIZE_H
#define UP_SYMBOLIZE_H

#include <sys/types.h>

#include "lang/value.h"

struct up_symbolize;

/* An address, and the hit that it comes from. */
struct up_symbol_at {
	uint64_t addr;    /* to be shown */
	const char *path; /* the probed object's */
	uint64_t ino;     /* its inode number, 0 when that is not known: another may be there now */
	uint64_t site;    /* virtual address of the probe in that object */
	uint64_t site_off; /* and its file offset */
	uint64_t place;    /* address of the probe in this process; 0 when it is not known */
	uint64_t time;     /* of the hit, CLOCK_MONOTONIC, ns */
};

/* NULL without memory. Opens nothing yet. */
struct up_symbolize *up_symbolize_new(void);
void up_symbolize_free(struct up_symbolize *s);

/* A new hit begins: texts that were handed out may go. */
void up_symbolize_begin(struct up_symbolize *s);

/* The address in the probed object. False when it lies elsewhere. The text is borrowed for the hit.
 */
bool up_symbolize_here(struct up_symbolize *s, const struct up_symbol_at *at, struct up_value *out);
/*
 * The address in whatever process `pid`, of which `tid` is a thread, has mapped there:
 * `libc.so.6:malloc+0x4`, `libc.so.6:0x1234` where no function is, and the address as it is where
 * no file is mapped, or the process is gone (pid 0).
 */
struct up_value up_symbolize_mapped(struct up_symbolize *s, const struct up_symbol_at *at,
				    pid_t pid, pid_t tid);

/* The process has ended. */
void up_symbolize_forget(struct up_symbolize *s, pid_t pid);

#endif
