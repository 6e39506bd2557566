/*
 * What a recording says of itself: the program that was run, the places it probed, how their
 * records look, which threads there were. A text, one thing a line, that stands in the trace.dat as
 * an option; other readers pass over it.
 *
 *     WORD FIELD ... with numbers, "texts" (escapes as in C), and - for what is not there
 *
 * Reading trusts nothing: the text comes from a file.
 */
#ifndef UP_RECORDING_H
#define UP_RECORDING_H

#include <stdint.h>
#include <sys/types.h>

#include "lang/base/arena.h"
#include "lang/modules.h"
#include "lang/plan.h"
#include "lang/up.h"
#include "runtime/recorded.h"

#define UP_RECORDING_OPTION 0x5550 /* its number among the options of a trace.dat: "UP" */

/* A site that was probed. */
struct up_rec_site {
	uint32_t event;     /* index in events */
	const char *path;   /* of the object */
	uint64_t addr;      /* virtual address */
	const char *func;   /* as shown */
	uint64_t func_off;  /* bytes from its start */
	const char *filter; /* what the kernel judged of its condition, or NULL */
};

/* A fetch argument. */
struct up_rec_arg {
	const char *name, *fetch, *type;
};

struct up_rec_event {
	bool is_return, is_exit; /* as in the plan */
	UP_VEC(struct up_rec_arg) args;
};

/* An event as the kernel called it. */
struct up_rec_kernel {
	const char *name;
	uint32_t event; /* index in events */
	uint32_t site;  /* its only site; UP_NONE: the records say */
};

/* A module that the program used. */
struct up_rec_module {
	const char *from; /* as up_modules.load() is asked; NULL: a program that is no file */
	const char *name;
	bool is_path;
	struct up_module_text text;
};

struct up_rec_thread {
	pid_t tid, pid;
};

struct up_recording {
	struct up_arena *arena;
	struct up_recorded *places; /* answers for the programs that were probed */
	const char *name;           /* of the script, as shown */
	const char *id;             /* its file, or NULL */
	const char *text;           /* the script */
	size_t text_len;
	UP_VEC(const char *) args;
	UP_VEC(struct up_param_arg) params;
	UP_VEC(struct up_rec_module) modules;
	UP_VEC(struct up_rec_event) events;
	UP_VEC(struct up_rec_site) sites;
	UP_VEC(struct up_rec_kernel) kernel;
	UP_VEC(struct up_rec_thread) threads;
	UP_VEC(pid_t) tracers; /* threads of the tracer itself: not traced */
	bool unsafe;           /* was --unsafe given? */
	pid_t process;         /* the process that was asked for; 0: none */
	int64_t wall_offset;   /* ns from the events' clock to the time of day */
	uint64_t begun_at;     /* when recording began, ns of the events' clock */
	uint64_t ended_at;     /* when it ended; 0: it was cut off */
	uint64_t lost;         /* events that the kernel lost, as it counted them */
};

/*
 * Reads the text. 0, -ENOMEM, or -EPROTO with *why: "line 3 ...". up_recording_fini() is needed in
 * any case.
 */
int up_recording_read(struct up_recording *r, const char *text, size_t len, struct up_buf *why);
void up_recording_fini(struct up_recording *r);

/* The modules that the program used, and no others. Lives as long as the recording. */
struct up_modules up_recording_modules(const struct up_recording *r);

/* ---- writing; a failure is in the buffer ---- */

void up_recording_put_begin(struct up_buf *b);
void up_recording_put_script(struct up_buf *b, const char *name, const char *id, const char *text,
			     size_t len);
void up_recording_put_arg(struct up_buf *b, const char *arg);
void up_recording_put_param(struct up_buf *b, const struct up_param_arg *p);
void up_recording_put_module(struct up_buf *b, const struct up_rec_module *m);
/* The objects of a plan with the symbols around its places, as the resolver knows them. */
void up_recording_put_places(struct up_buf *b, const struct up_plan *plan,
			     const struct up_resolver *r);
/* Its events and sites; `places` must have come before. */
void up_recording_put_plan(struct up_buf *b, const struct up_plan *plan);
void up_recording_put_kernel(struct up_buf *b, const char *name, uint32_t event, uint32_t site);
void up_recording_put_thread(struct up_buf *b, pid_t tid, pid_t pid);
void up_recording_put_tracer(struct up_buf *b, pid_t tid);
void up_recording_put_unsafe(struct up_buf *b);
void up_recording_put_process(struct up_buf *b, pid_t pid);
void up_recording_put_clock(struct up_buf *b, int64_t wall_offset, uint64_t begun_at);
void up_recording_put_end(struct up_buf *b, uint64_t ended_at, uint64_t lost);

#endif
