/*
 * The account of hits: what became of every one. Pure arithmetic on counts that others have taken.
 *
 * The kernel counts the hits of entry probes at the trap, before anything can drop them. Of return
 * probes it counts the entries, so returns are known only by their records. It counts the records
 * that its buffer lost, hits and others together. It does not count what conditions and lists of
 * threads reject: that is what is left when everything else is taken off.
 */
#ifndef UP_ACCOUNT_H
#define UP_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* What was counted. */
struct up_account_in {
	uint64_t entries;       /* records of entry probes that were received */
	uint64_t returns;       /* records of return probes */
	uint64_t foreign;       /* how many of both were of processes that are not to be traced */
	bool has_returns;       /* are there return probes? */
	bool rejects_entries;   /* does the kernel judge conditions of entries? */
	bool rejects_returns;   /* of returns? */
	uint64_t filtered;      /* records of return probes of which it does */
	uint64_t calls;         /* and its count of the calls of their functions */
	bool rejects_processes; /* does it drop hits of processes that are not to be traced? */
	bool is_counted;        /* is `counted` known? */
	bool is_racy; /* it misses some that come at one time, or counts more than are recorded */
	uint64_t counted;  /* hits of entries by the kernel's count */
	uint64_t slack;    /* at most so many of them before or after recording */
	uint64_t lost;     /* records that the buffer lost */
	bool lost_unknown; /* and some more */
	uint64_t not_hits; /* at most so many of the lost were no hits */
	uint64_t grown;    /* at most so many hits came while the buffer grew, unrecorded */
};

/* What follows. */
struct up_account {
	uint64_t hits; /* of processes that are to be traced: received, lost, rejected, outside and
			  missing */
	uint64_t rejected;   /* because of a condition; hits of other processes included */
	uint64_t foreign;    /* hits of other processes that are not among `rejected` */
	uint64_t lost;       /* hits, and at most `not_hits` other records */
	uint64_t grown;      /* how many of them were not recorded because the buffer grew */
	uint64_t not_hits;   /* none of the hits above */
	uint64_t outside;    /* hits before recording began or after it ended */
	uint64_t missing;    /* neither recorded nor lost, and nothing tells why */
	bool rejected_known; /* is `rejected`, and with it `hits`, known? */
	bool is_exact;       /* are all but `foreign` exact? */
};

struct up_account up_account_close(const struct up_account_in *in);

#endif
