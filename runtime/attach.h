/*
 * A plan put into the kernel: the tracing instance, the events, their layout, arming and undoing.
 * Reads no events: it tells the reader where they come and how they look.
 *
 * All changes are made and undone by the keeper; see keeper.h for the rules that follow for the
 * caller. One process may have several attachments, but see there about ring buffers and forking.
 */
#ifndef UP_ATTACH_H
#define UP_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lang/plan.h"
#include "runtime/keeper.h"
#include "runtime/records.h"

struct up_attach_opts {
	const char *tracefs;     /* root of tracefs; NULL: find it, mount it if need be */
	uint64_t buffer_size;    /* ring buffer per CPU, bytes; 0: chosen by the number of CPUs */
	unsigned buffer_percent; /* how full the buffer must be before the reader is woken */
	bool keep_oldest;        /* a full buffer drops new events instead of old ones */
	bool one_event_per_site; /* do not ask whether the kernel can have many sites in one event
				  */
	bool local_clock;        /* nobody asks for times: each CPU's own clock will do */
	bool lifecycle;          /* also task_newtask and sched_process_exit */
	bool follow;       /* threads and processes started by a traced thread are traced too */
	bool as_text;      /* events will be read as text: it is to look as usual */
	bool skip_self;    /* events of this process and the keeper are dropped */
	int stop_fd;       /* readable: give up setting up, -EINTR; -1 for none */
	unsigned limit_ms; /* longest wait for one step of the kernel's; 0: 15 s */
	const struct up_tracefs_ops *ops; /* how tracefs is reached; NULL: as it is. For tests. */
};

/* How often places were hit. */
struct up_hit_count {
	uint64_t entries; /* those of entry probes */
	uint64_t calls;   /* of return probes that have a condition: how often the call began */
};

struct up_attach {
	const struct up_plan *plan;
	struct up_tracefs fs;
	struct up_keeper *keeper;
	const char *session;  /* name of group and instance */
	char *instance_path;  /* absolute; per_cpu/cpuN/trace_pipe_raw is below it */
	uint32_t subbuf_size; /* bytes that one read of trace_pipe_raw gives */
	unsigned commit_size; /* of the kernel's pages, see up_ringpage_layout() */
	uint64_t buffer_kb;   /* per CPU, as asked for */
	int *cpus;            /* numbers of the per_cpu folders, ascending */
	unsigned nr_cpus;
	bool one_event_per_site;   /* is it so? */
	bool lifecycle;            /* are the two life-cycle events among `records`? */
	struct up_records records; /* the events, and how their records look */
	unsigned nr_grown;         /* how often up_attach_grow() was called */
	pid_t *tids;               /* written to set_event_pid, ascending */
	size_t nr_tids;
	bool has_left_out; /* were there any, so that hits of others are not recorded? */
	bool is_armed;
	unsigned nr_filters; /* events of which the kernel judges a condition */
	unsigned nr_refused; /* filters that it did not take */
	struct {
		bool is_known; /* could they be counted each time? */
		bool is_racy;  /* the kernel's counter misses some that come at one time */
		struct up_hit_count before[2]; /* right before recording began, and right after */
		struct up_hit_count after[2];  /* right before it ended, and right after */
	} hits;                                /* by the kernel */
};

/*
 * Makes the instance and defines the events; nothing is armed. On failure everything is undone.
 * The plan must outlive the attachment.
 */
int up_attach_open(const struct up_plan *plan, const struct up_attach_opts *opts,
		   struct up_attach **out, struct up_status *st);

/*
 * Only events of these threads are recorded from now on. With up_attach_opts.follow their children
 * are added by the kernel. add_process() takes all threads of a process; -ESRCH: there is none.
 */
int up_attach_add_thread(struct up_attach *a, pid_t tid, struct up_status *st);
int up_attach_add_process(struct up_attach *a, pid_t pid, struct up_status *st);

/* Events of all threads are recorded again. */
int up_attach_free_threads(struct up_attach *a, struct up_status *st);

/* As up_attach_opts.follow, while all is armed: from now on, or no more. */
int up_attach_follow(struct up_attach *a, bool on, struct up_status *st);

/*
 * Arms all probes; recording starts when the last one is armed. A site that the kernel refuses is
 * named by the status. A filter that it refuses is counted only: handlers judge conditions anyway.
 */
int up_attach_arm(struct up_attach *a, struct up_status *st);

/*
 * Arms sites that were added to the plan, from number `first` on, beside those that are armed.
 * *has_begun: their records can come, also after a failure. -ESTALE: a file has changed since.
 */
int up_attach_grow(struct up_attach *a, uint32_t first, bool *has_begun, struct up_status *st);

struct up_succession;

/*
 * Another plan goes on where this one is, while all is armed: up_attach_retire() disarms the events
 * that are gone, whose records can still be read then; up_attach_extend() defines and arms those
 * that are new, and takes the plan. When it fails it arms again what was retired, and leaves of the
 * new ones disabled definitions at most. up_attach_forget() ends retiring: records are passed over.
 */
int up_attach_retire(struct up_attach *a, const struct up_succession *s, struct up_status *st);
int up_attach_extend(struct up_attach *a, const struct up_plan *plan, const struct up_succession *s,
		     struct up_status *st);
void up_attach_forget(struct up_attach *a, const struct up_succession *s);
/* Disarms an event of the plan, or arms it again. */
int up_attach_switch(struct up_attach *a, uint32_t event, bool on, struct up_status *st);

/* Stops recording at once; what is in the buffers can still be read. The probes stay armed. */
int up_attach_stop(struct up_attach *a, struct up_status *st);

/* What the kernel has counted by now; false when that cannot be told. */
bool up_attach_count(struct up_attach *a, struct up_hit_count *n);
/* The same of each of the plan's events: its entries, or for one of returns its calls. */
bool up_attach_count_events(struct up_attach *a, uint64_t *hits);

/*
 * After the end of recording: what the kernel has counted meanwhile, hits of all processes,
 * recorded or not. At most *slack entries came before or after it. False when that cannot be told.
 */
bool up_attach_hits(const struct up_attach *a, struct up_hit_count *n, uint64_t *slack);

/*
 * Makes the ring buffers larger while events are recorded: each to `kb` KiB. What they hold stays;
 * some kernels record nothing meanwhile.
 */
int up_attach_grow_buffer(struct up_attach *a, uint64_t kb, struct up_status *st);

/* Appends a file of the instance, "per_cpu/cpu0/stats". */
int up_attach_read(struct up_attach *a, const char *file, struct up_buf *out, struct up_status *st);

/* Becomes readable when the keeper has died: time to close. */
int up_attach_fd(const struct up_attach *a);

/*
 * Undoes everything and frees it; ring buffers must be closed. *left gets a line for each thing
 * that had to be left in the kernel (then the result is -EBUSY). NULL is allowed for all.
 */
int up_attach_close(struct up_attach *a, struct up_buf *left, struct up_status *st);

#endif
