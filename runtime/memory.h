/*
 * The memory of traced programs, read when a hit is handled: a moment after it happened. What a
 * program cannot have changed is read from its file when the program is gone.
 */
#ifndef UP_MEMORY_H
#define UP_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lang/plan.h"
#include "runtime/table.h"

struct up_memory {
	bool is_offline;       /* the programs are not here: nothing is read */
	struct up_table files; /* which file -> struct up_elf *, NULL when it cannot be used */
};

/* Where to read, and of whom. */
struct up_memory_at {
	pid_t tid;                       /* the thread that made the hit */
	pid_t pid;                       /* its process; 0 when it is not known */
	const struct up_plan_site *site; /* which place it was */
	uint64_t place; /* where that lies in the process; 0 when it is not known */
	uint64_t addr;  /* what to read */
};

void up_memory_init(struct up_memory *m);
void up_memory_fini(struct up_memory *m);

/*
 * Opens the files of a plan whose handlers will read, while they still are what is to be probed;
 * again when the plan has gained sites. A file that cannot be opened is done without.
 */
void up_memory_open(struct up_memory *m, const struct up_plan *plan);

/*
 * Reads up to `len` bytes, at most 64 KiB, and returns how many there are before the first that
 * cannot be read. Nothing is read of a process that has started another program since the hit.
 */
size_t up_memory_read(const struct up_memory *m, const struct up_memory_at *at, void *to,
		      size_t len);

/* Exactly `len` bytes of a thread's memory as it is now; -errno when they cannot be read. */
int up_memory_peek(const struct up_memory *m, pid_t tid, uint64_t addr, void *to, size_t len);

#endif
