/*
 * The command of -c: a child process that is held back until the probes are armed.
 */
#ifndef UP_CLI_CHILD_H
#define UP_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/status.h"

/*
 * Where the child's input and outputs lead, when it is to have its own, and no terminal: the
 * descriptors are the caller's.
 */
struct up_child_stdio {
	int in, out;
};

struct up_child {
	pid_t pid;       /* 0 when there is none */
	int go;          /* write end: a byte lets it go; closed, it ends */
	int report;      /* read end: the errno of a failed exec */
	bool ended;      /* has it been waited for? */
	int wait_status; /* then this is what waitpid() said */
};

/*
 * Forks the child, which waits; with `io` (or NULL) it is cut off from our terminal. The program
 * must exist on $PATH: -ENOENT otherwise, before anything is forked.
 */
int up_child_hold(struct up_child *c, char *const argv[], const struct up_child_stdio *io,
		  struct up_status *st);
/* Lets it run the program. -errno when that cannot be started. */
int up_child_go(struct up_child *c, char *const argv[], struct up_status *st);
/* Has it ended? Does not wait. */
bool up_child_ended(struct up_child *c);
/* The exit status to pass on: its own, or 128 and the signal that killed it. */
int up_child_status(const struct up_child *c);
/* Ends what is still there: a child that was held back quietly, one that runs by SIGTERM. */
void up_child_end(struct up_child *c);

#endif
