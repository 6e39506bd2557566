/*
 * Notices when a probed file is replaced, removed or written to while it is probed. Costs nothing
 * while nothing of that happens: the kernel is asked (inotify) to tell of each file, and of the
 * folders on the way to it. Says what happened; what is to be done about it is the caller's
 * business.
 */
#ifndef UP_FILEWATCH_H
#define UP_FILEWATCH_H

#include "lang/plan.h"
#include "runtime/fileid.h"

struct up_watched {
	char *path;                /* as the plan has it */
	struct up_file_id id;      /* the file that was probed there last */
	enum up_file_change state; /* what has become of it */
	bool is_told;              /* was that told? */
	int wd;                    /* its watch; -1: it has none */
	uint32_t events;           /* what that has told since the last look */
};

struct up_filewatch {
	int fd;               /* inotify; -1 where there is none: look now and then */
	struct up_watched *v; /* each path once */
	size_t nr;            /* how many */
	bool has_gaps;        /* something cannot be watched: look now and then as well */
};

#define UP_FILEWATCH_LOOK_MS 1000 /* how often, then */

/* Watches the files of all sites. Never fails; what cannot be watched is looked at. */
void up_filewatch_init(struct up_filewatch *w, const struct up_plan *plan);
void up_filewatch_fini(struct up_filewatch *w);

/*
 * The plan has gained sites, from number `first` on: their files are watched instead of those that
 * were replaced or removed.
 */
void up_filewatch_add(struct up_filewatch *w, const struct up_plan *plan, uint32_t first);

/* The plan is another one: its files are watched. Of those that stay it is known what was told. */
void up_filewatch_replan(struct up_filewatch *w, const struct up_plan *plan);

/* Must the files be looked at without being told to? */
bool up_filewatch_must_look(const struct up_filewatch *w);

/*
 * Looks at all files: call it when fd is readable, or time is up. Calls fn for each file whose
 * state is another one than at the last look. True when there was such a one.
 */
typedef void up_filewatch_fn(void *arg, const struct up_watched *f);
bool up_filewatch_look(struct up_filewatch *w, up_filewatch_fn *fn, void *arg);

#endif
