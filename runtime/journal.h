/*
 * Journal of the changes that a session makes in the kernel's tracing: recorded before they are
 * made, confirmed afterwards, undone in reverse. Pure bookkeeping: touches no file.
 */
#ifndef UP_JOURNAL_H
#define UP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum up_change_kind {
	UP_CHANGE_INSTANCE, /* a directory in instances/ was made; name: its name */
	UP_CHANGE_EVENT,    /* a uprobe event was defined; name: "GROUP/EVENT" */
	UP_CHANGE_ENABLE    /* an event was enabled in our instance; name: "SYSTEM/EVENT" */
};

enum up_change_state {
	UP_CHANGE_PLANNED, /* recorded; it may or may not have happened */
	UP_CHANGE_DONE,    /* it has happened */
	UP_CHANGE_UNDONE,  /* it is no more */
	UP_CHANGE_LEFT     /* it cannot be undone safely; stays for a later try */
};

struct up_change {
	enum up_change_kind kind;
	enum up_change_state state;
	char *name;        /* what was changed */
	uint32_t hash;     /* of name, so that searching is quick */
	unsigned nr_sites; /* of an event: probe points asked for */
	bool was_armed;    /* of an event: we have enabled it, and not disabled it before undoing */
};

struct up_journal {
	struct up_change *v; /* in the order recorded */
	size_t nr;           /* used */
	size_t cap;          /* allocated */
};

void up_journal_fini(struct up_journal *j);

/*
 * Records a change that is about to be made. A further probe point of a live event counts into its
 * nr_sites. Returns the index, or -ENOMEM: then the change must not be made.
 */
int up_journal_plan(struct up_journal *j, enum up_change_kind kind, const char *name, size_t len);

/* The change has happened. An ENABLE also marks its event, if that is ours, as armed. */
void up_journal_confirm(struct up_journal *j, int index);

/*
 * The change certainly did not happen, and what is there is not ours; or it was taken back. An
 * ENABLE also marks its event as not armed.
 */
void up_journal_withdraw(struct up_journal *j, int index);

/* The latest live change (PLANNED, DONE or LEFT) of that kind and name, or -ENOENT. */
int up_journal_find(const struct up_journal *j, enum up_change_kind kind, const char *name);

/*
 * Walks live changes of one kind from the last to the first: start with j->nr, go on with the
 * value returned; -1 is the end.
 */
int up_journal_prev(const struct up_journal *j, enum up_change_kind kind, int before);

/* How many changes are live. */
size_t up_journal_nr_live(const struct up_journal *j);

#endif
