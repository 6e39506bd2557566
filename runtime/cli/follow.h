/*
 * Probed files that are replaced while a run goes on: tells the user, and with --follow-files puts
 * the probes on the new file too. Those on the old file stay, for the processes that run it.
 */
#ifndef UP_CLI_FOLLOW_H
#define UP_CLI_FOLLOW_H

#include "runtime/cli/build.h"
#include "runtime/filewatch.h"
#include "runtime/session.h"

struct up_follow {
	const struct up_opts *o;
	const struct up_compile *c; /* holds the program's text */
	struct up_plan *plan;       /* gains sites */
	struct up_filewatch watch;
	unsigned nr_changed; /* how many files were replaced, removed or written to */
	uint64_t looked_at;  /* when the files were last looked at, ns of CLOCK_MONOTONIC */
	uint64_t try_at;     /* when to try to follow, ns of CLOCK_MONOTONIC; 0: there is no need */
	uint64_t give_up_at; /* when to say that it cannot be done */
	char *why;           /* it could not be done at the last try */
};

/* Before the probes are defined, so that nothing is missed. */
void up_follow_init(struct up_follow *f, const struct up_opts *o, const struct up_compile *c,
		    struct up_plan *plan);
void up_follow_fini(struct up_follow *f);

/* Readable when something has happened; -1 for none. */
int up_follow_fd(const struct up_follow *f);
/* After so many ms up_follow_serve() wants to be called all the same; -1 for never. */
int up_follow_wait_ms(const struct up_follow *f);

/* Looks, and does what is to be done. `is_told` says that the descriptor was readable. */
void up_follow_serve(struct up_follow *f, struct up_session *s, bool is_told);

#endif
