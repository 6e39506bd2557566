/*
 * Output forms: what a run prints, as text for people, JSON or CSV for programs. A form is one row
 * of functions beside its code; up_out_forms[] lists them.
 *
 * Everything is gathered in `buf` and written to `fd` by up_out_flush(), once per round.
 */
#ifndef UP_OUT_H
#define UP_OUT_H

#include <sys/types.h>

#include "lang/base/buf.h"
#include "lang/plan.h"

/* Where and when, for a line of output. */
struct up_out_hit {
	uint64_t time;    /* CLOCK_MONOTONIC, ns */
	const char *comm; /* not NUL-terminated; may hold any bytes */
	uint32_t comm_len;
	pid_t tid;
	const char *probe; /* struct up_plan_site.probe */
	bool is_return;
};

/* One row of an aggregation: its keys, and the cell that its results are asked of. */
struct up_out_row {
	const struct up_value *keys; /* plan->nr_keys of them */
	const void *cell;
};

/* An aggregation to show. */
struct up_out_agg {
	const struct up_plan_agg *plan;
	struct up_agg_cx cx;
	const struct up_out_row *rows; /* sorted, and cut to `top` */
	size_t nr_rows;
	size_t total_rows; /* before the cut */
};

#define UP_OUT_PATIENCE 100 /* ms */

/* Records that one CPU's buffer has lost. */
struct up_out_loss {
	unsigned cpu;
	uint64_t lost;
};

/* What the buffers have lost. */
struct up_out_losses {
	const struct up_out_loss *on; /* the CPUs that have lost some, ascending */
	unsigned nr;                  /* how many */
	uint64_t lost;                /* together */
	uint64_t buffer_kb;           /* of each CPU's buffer */
	bool has_grown;               /* were they made larger because of that? */
};

/*
 * The sums of a run. Each hit is in one of: handled, filtered, rejected, lost, unpaired, doubtful,
 * outside, missing, left_out.
 */
struct up_out_totals {
	uint64_t hits;          /* all of them */
	bool is_exact;          /* are the terms of the sum exact? */
	uint64_t handled;       /* hits whose handler ran */
	uint64_t filtered;      /* hits that a `when` rejected */
	uint64_t lost;          /* hits whose records the kernel dropped before they were read */
	uint64_t lost_not_hits; /* at most so many of them may be threads' beginnings and ends */
	uint64_t lost_threads;  /* records of threads that were dropped, not among `lost` */
	bool lost_unknown;      /* some were lost without a count */
	uint64_t rejected;      /* hits that it rejected; not among `filtered` */
	bool rejected_unknown;  /* it cannot be told how many */
	bool rejected_foreign;  /* hits of processes that were not to be traced are among them */
	uint64_t foreign;       /* hits of such processes that are not; no hits of the sum */
	uint64_t outside;       /* hits before recording began or after it, or the run, ended */
	uint64_t missing;       /* hits that the kernel counted, and did not record */
	uint64_t lost_growing;  /* how many of `lost` came while the buffer was made larger */
	struct up_out_losses losses;
	uint64_t unpaired;  /* returns whose entry was not seen */
	uint64_t no_return; /* calls that were left without a return: longjmp, an exception, a
			       thread's end */
	uint64_t too_deep;  /* calls whose return the kernel does not tell, or that found no room */
	uint64_t doubtful;  /* returns that were not paired because hits were lost meanwhile */
	uint64_t by_zero;   /* divisions by zero */
	uint64_t corrupt;   /* records and pages that made no sense */
	uint64_t faults;    /* values that could not be read */
	uint64_t late;      /* events that came out of time order */
	uint64_t dropped_rows;     /* aggregation updates dropped because a table was full */
	uint64_t dropped_vars;     /* assignments dropped because a table was full */
	uint64_t cut_off;          /* handlers ended because they ran too long */
	uint64_t no_room;          /* texts made by handlers that found no room */
	uint64_t left_out;         /* hits not handled, because the run was to end at once */
	uint64_t unreadable;       /* lines of trace text that made no sense */
	uint64_t first_unreadable; /* number of the first of them */
	uint64_t others;           /* events in trace text that no probe is for */
	uint64_t misplaced;     /* events in trace text that are at another place than the probes */
	uint64_t changed_files; /* probed files that were replaced, removed or written to */
	double seconds;         /* how long the probes were armed */
};

struct up_out {
	const struct up_out_form *form;
	int fd;              /* where it goes */
	bool may_block;      /* a write can wait for a reader: a pipe, a socket, a terminal */
	int stop_fd;         /* with may_block: readable when the run is to end, -1 for never */
	bool colour;         /* may escape sequences be used? */
	bool unicode;        /* may more than ASCII be used? */
	unsigned columns;    /* width of the terminal, 0 when it is none */
	int64_t wall_offset; /* CLOCK_REALTIME minus CLOCK_MONOTONIC, ns */
	const void *block;   /* CSV: whose rows were written last */
	struct up_buf buf;   /* not yet written */
	struct up_buf field, escaped; /* CSV: scratch */
	int error; /* -errno of the first write that failed; later ones are not tried */
};

struct up_out_form {
	const char *name; /* "text", "json", "csv": the argument of -f */
	const char *help; /* one sentence */
	/* One print(): v[0..p->nr). */
	void (*print)(struct up_out *o, const struct up_out_hit *h, const struct up_plan_print *p,
		      const struct up_value *v);
	/* One printf(), formatted. JSON wraps it: {"type":"printf","text":...} with time, comm,
	 * tid, probe. */
	void (*text)(struct up_out *o, const struct up_out_hit *h, const char *s, size_t len);
	void (*agg)(struct up_out *o, const struct up_out_agg *a);
	/* While running, records were lost at `time`, or since they last were (JSON); may be NULL.
	 */
	void (*lost)(struct up_out *o, uint64_t time, const struct up_out_losses *l);
	/* The sums, as the last thing of a run, where they belong into the output (JSON); may be
	 * NULL. */
	void (*end)(struct up_out *o, const struct up_out_totals *t);
};

/* Ends with NULL. */
extern const struct up_out_form *const up_out_forms[];
/* By name; NULL when there is none. */
const struct up_out_form *up_out_form_find(const char *name);

/*
 * Writes what is gathered. Retries short writes and EINTR, waits (poll) when fd is non-blocking, or
 * o->may_block. Once the run is to end it waits no longer than UP_OUT_PATIENCE for a reader that
 * takes nothing: -ETIMEDOUT. Returns 0 or -errno, also kept in o->error.
 */
int up_out_flush(struct up_out *o);
void up_out_fini(struct up_out *o);

/* Appends one value of a type as text shows it: 42, -3, 0x2a, 'a', true, "text\n" (quoted),
 * (fault). */
void up_out_value(struct up_buf *b, struct up_type t, const struct up_value *v);
/* Appends one value as a JSON value: decimal numbers as numbers, hexadecimal ones as "0x2a", fault
 * as null. */
void up_out_json_value(struct up_buf *b, struct up_type t, const struct up_value *v);
/* Appends what printf(...) makes of its values; strings are escaped for the terminal, a fault is
 * "(fault)". */
void up_out_printf(struct up_buf *b, const struct up_plan_printf *f, const struct up_value *v);

/*
 * The last lines on standard error:
 *   3 hits handled, 1 filtered, 2 lost in 1.2 s
 *   6 hits = 3 handled + 1 filtered + 2 lost
 * and a line each for unpaired returns, faults, ... when there were any.
 */
void up_out_summary(struct up_buf *b, const struct up_out_totals *t);
/* Adds the terms of the sum up, where nobody has counted the hits but those who received them. */
void up_out_add_up(struct up_out_totals *t);
/* "lost 2 on CPU 0, 3 on CPU 1", and what helps. */
void up_out_losses(struct up_buf *b, const struct up_out_losses *l);

#endif
