/*
 * Can this machine trace, and if not, what is missing? Tries what a run would need, each step
 * through a keeper with its time limit, ends with a probe on a function of this program itself, and
 * takes everything away again. Says what it found; what is printed of it is the caller's business.
 */
#ifndef UP_DOCTOR_H
#define UP_DOCTOR_H

#include "runtime/tracefs.h"

enum up_verdict {
	UP_VERDICT_OK,
	UP_VERDICT_WARN,    /* tracing works without it, at a price */
	UP_VERDICT_MISSING, /* tracing, or a part of it, cannot work without it */
	UP_VERDICT_UNTRIED  /* could not be looked at */
};

struct up_finding {
	const char *what; /* "trace clock" */
	enum up_verdict verdict;
	char *text; /* what was found, what that costs, what to do; no full stop */
};

#define UP_DOCTOR_MAX 32

struct up_doctor {
	struct up_finding v[UP_DOCTOR_MAX]; /* in the order tried */
	unsigned nr;                        /* how many */
	bool works;                         /* a probe was hit and its records were read */
	double us_per_hit;                  /* what a hit cost; 0 when it was not measured */
};

struct up_doctor_opts {
	const char *tracefs;              /* its root; NULL: find it, mount it if need be */
	const struct up_tracefs_ops *ops; /* NULL: as it is. For tests. */
	const char *proc_sys_kernel;      /* NULL: /proc/sys/kernel. For tests. */
	const char *lockdown;             /* NULL: /sys/kernel/security/lockdown. For tests. */
	unsigned limit_ms;                /* longest wait for one step; 0: 3 s */
	int stop_fd;                      /* readable: give up; -1 for none */
};

void up_doctor_run(const struct up_doctor_opts *o, struct up_doctor *d);
void up_doctor_fini(struct up_doctor *d);

/* Adds a finding. When there is no memory for the text, it has none. */
void up_doctor_add(struct up_doctor *d, const char *what, enum up_verdict v, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* "ok", "warn", "missing", "untried". */
const char *up_verdict_name(enum up_verdict v);
/* A line for each finding: "ok       trace clock: ...". */
void up_doctor_text(const struct up_doctor *d, struct up_buf *out);
/* An object for each finding and one for the whole, a line each. */
void up_doctor_json(const struct up_doctor *d, struct up_buf *out);

#endif
