/*
 * A session: a plan that runs on this machine. Owns the attachment, the reader, the merge and the
 * engine; offers descriptors to poll and a call that does one round, not a loop of its own.
 */
#ifndef UP_SESSION_H
#define UP_SESSION_H

#include "runtime/account.h"
#include "runtime/attach.h"
#include "runtime/engine.h"
#include "runtime/losses.h"
#include "runtime/merge.h"
#include "runtime/recorder.h"
#include "runtime/src_raw.h"
#include "runtime/src_text.h"
#include "runtime/tasks.h"

struct up_session_opts {
	struct up_attach_opts attach; /* `follow` and `lifecycle` are set by the session */
	pid_t child;          /* a child that is held back, to be traced with its children; or 0 */
	pid_t pid;            /* a running process to be traced; or 0 */
	bool children;        /* with pid: also the processes it starts */
	bool is_lasting;      /* other plans will follow this one: be ready for all that may come */
	uint64_t max_handled; /* see struct up_engine_opts */
	unsigned (*urgency)(void);
	/*
	 * Where events are written to, instead of being handled; or NULL. Its text says already
	 * what is known of the program.
	 */
	struct up_recorder *recorder;
	bool from_text; /* read the kernel's text instead of its binary buffers */
};

struct up_session {
	const struct up_plan *plan;
	struct up_session_opts opts;
	struct up_attach *attach;
	struct up_src_raw src;
	struct up_merge merge;
	struct up_src_text *text; /* with opts.from_text, instead of the merge; else NULL */
	uint32_t nr_named;        /* how many of the records it knows by name */
	struct up_engine engine;
	bool has_src, has_merge;
	struct up_tasks tasks;       /* before arming, when records of threads come too */
	struct up_account account;   /* what became of the hits; at the end */
	struct up_losses losses;     /* what was told of them */
	struct up_out_loss *lost_on; /* room for a row of each CPU */
	uint64_t grown;              /* hits that came meanwhile, at most */
	uint64_t grown_at;           /* when the buffers had been made larger; 0: they were not */
	uint64_t nr_recorded;        /* events that were written to a recording */
	uint64_t look_at;            /* when to look for more of them unasked, ns; 0: no need to */
};

/*
 * Puts the plan into the kernel, without arming it. On failure everything is undone. Plan and
 * output must outlive the session.
 */
int up_session_open(const struct up_plan *plan, const struct up_session_opts *opts,
		    struct up_out *out, struct up_session **s, struct up_status *st);
/* Arms the probes. */
int up_session_arm(struct up_session *s, struct up_status *st);

/* As up_attach_grow(): the plan has gained sites, from number `first` on. */
int up_session_grow(struct up_session *s, uint32_t first, bool *has_begun, struct up_status *st);

/*
 * Another plan, which up_plan_succeed() has made fit, goes on where this one is, with all that has
 * gathered. Records of what is gone are handled before, then `retired` is called; those of what
 * goes on are not lost. After a failure all is as it was. The old plan can be freed then.
 */
struct up_succession;
int up_session_succeed(struct up_session *s, const struct up_plan *plan,
		       const struct up_succession *by, void (*retired)(void *arg), void *arg,
		       struct up_status *st);

/* Readable when there are events; when the keeper has died. */
int up_session_events_fd(const struct up_session *s);
int up_session_keeper_fd(const struct up_session *s);

/*
 * One round: handles everything that happened up to now, in order. *handled says whether there was
 * anything; when recording, only where more is to gather unwatched. Returns 0 or -errno. Does
 * nothing more once up_session_is_over().
 */
int up_session_round(struct up_session *s, bool *handled, struct up_status *st);
/*
 * Events that came too late for the latest round are here already: there must be another round
 * soon, for the descriptor will not become readable on their account.
 */
bool up_session_is_pending(const struct up_session *s);
/* stop() was called, or max_handled is reached. */
bool up_session_is_over(const struct up_session *s);

/* When the next timed block, or look at the buffers, is due, ns of CLOCK_MONOTONIC; 0: none is. */
uint64_t up_session_due(const struct up_session *s);
/* Runs the timed blocks that are due, after a round. Those that were late run once. */
void up_session_timers(struct up_session *s);

/*
 * Records have been lost, or more than when this last said so; not more often than every few
 * seconds. *l, borrowed from the session, says where. The first time the buffers are made larger,
 * unless their size was asked for.
 */
bool up_session_lost(struct up_session *s, struct up_out_losses *l);

/* How many of an event's hits were lost. */
struct up_event_loss {
	uint64_t nr;   /* of an exact one, those before the count at least */
	bool is_exact; /* else at most so many: the kernel counts hits that it was to drop, too */
};

/* What was counted of each of the plan's events, from up_session_losses_begin() to _end(). */
struct up_loss_count {
	uint64_t *before; /* records received before the kernel was asked */
	uint64_t *hits;   /* what the kernel had counted */
	bool *counted;    /* is that what it was to record? */
};

/*
 * Which events' hits were lost: between the two there must be a round. False when the kernel does
 * not tell, or memory is out. The second frees the count; its losses, one for each event, are the
 * caller's to free: NULL when memory is out. Only where up_session_opts.is_lasting.
 */
bool up_session_losses_begin(struct up_session *s, struct up_loss_count *c);
struct up_event_loss *up_session_losses_end(struct up_session *s, struct up_loss_count *c);

/* Stops recording and handles what is left. The sums are final then. */
int up_session_stop(struct up_session *s, struct up_status *st);
void up_session_totals(struct up_session *s, struct up_out_totals *t);

/* Takes everything out of the kernel and frees the session; see up_attach_close(). */
int up_session_close(struct up_session *s, struct up_buf *left, struct up_status *st);

#endif
