/* Saved trace text as a source of events. */
#include "runtime/cli/run_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cli/run_saved.h"
#include "runtime/src_text.h"

struct text {
	const char *path;
	struct up_records records;
	struct up_src_text src;
	struct up_engine *engine;
};

static void begin(void *ctx, struct up_engine *e)
{
	struct text *t = ctx;

	t->engine = e;
}

static int next(void *ctx, struct up_event *ev, struct up_status *st)
{
	struct text *t = ctx;
	pid_t tid, pid;

	while (!up_src_text_next(&t->src, UINT64_MAX, ev, &tid, &pid)) {
		int got = up_src_text_fill(&t->src, UINT64_MAX);

		if (got > 0 || up_src_text_pending(&t->src))
			continue;
		return !got || got == -EAGAIN
			       ? got
			       : up_status_set(st, got, t->path, "cannot read the trace text");
	}
	if (pid)
		up_procs_know(&t->engine->vm.procs, tid, pid, 0);
	return 1;
}

static void totals(void *ctx, struct up_out_totals *sum)
{
	const struct text *t = ctx;

	up_src_text_totals(&t->src, sum);
	sum->lost += t->src.lost;
	sum->lost_unknown |= t->src.lost_unknown;
}

static int add_names(struct text *t, const struct up_plan *plan)
{
	int err = 0;

	for (uint32_t i = 0; i < t->records.nr && !err; i++) {
		const struct up_record_event *e = &t->records.events[i];
		const char *name = e->kind == UP_EVENT_PROBE     ? plan->events[e->event].name
				   : e->kind == UP_EVENT_NEWTASK ? "task_newtask"
								 : "sched_process_exit";

		err = up_src_text_add(&t->src, name, i);
	}
	return err;
}

static int open_text(struct text *t, const struct up_plan *plan, struct up_status *st)
{
	bool is_stdin = !strcmp(t->path, "-");
	int fd = is_stdin ? STDIN_FILENO : open(t->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return up_status_set(st, -errno, t->path, "cannot read the trace text");
	int err = up_records_make(&t->records, plan);
	int failed = up_src_text_open(&t->src, fd, false, plan, &t->records);
	if (!err && !failed)
		err = add_names(t, plan);
	return err || failed
		       ? up_status_set(st, err ? err : failed, NULL, "cannot read the trace text")
		       : 0;
}

int up_run_text(const struct up_opts *o, const struct up_plan *plan, const struct up_signals *sig)
{
	struct text t = { .path = o->source, .src = { .fd = -1 } };
	struct up_status st = { 0 };
	int status = 1;

	if (open_text(&t, plan, &st)) {
		up_report(&st);
	} else {
		struct up_saved saved = { .ctx = &t,
					  .records = &t.records,
					  .gaps = &t.src.gaps,
					  .begin = begin,
					  .next = next,
					  .fd = t.src.fd,
					  .totals = totals };

		status = up_run_saved(o, plan, sig, &saved);
	}
	up_src_text_close(&t.src);
	up_records_fini(&t.records);
	return status;
}
