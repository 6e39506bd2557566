/* The run on saved events. */
#include "runtime/cli/run_saved.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define FLUSH_BYTES (64u << 10) /* of output that gather, while there are more events */
#define MAX_PERIODS 100000      /* runs of a timed block between two events */

struct run {
	const struct up_opts *o;
	const struct up_signals *sig;
	struct up_saved *src;
	struct up_engine engine;
	struct up_out out;
	struct up_status st;
	bool has_begun;
	uint64_t last; /* time of the latest event, or of the beginning */
};

static int set_up(struct run *r, const struct up_plan *plan)
{
	struct up_engine_opts eo = { .is_offline = true,
				     .only = r->o->pid,
				     .max_handled = r->o->max_handled,
				     .urgency = up_signals_urgency };
	int err = up_output_open(r->o, r->sig->stop_fd, &r->out, &r->st);

	if (err)
		return err;
	r->out.wall_offset = r->src->wall_offset;
	err = up_engine_init(&r->engine, plan, r->src->records, &eo, &r->out, &r->st);
	if (err)
		return err;
	up_engine_set_gaps(&r->engine, r->src->gaps);
	/* The thread that a process began with has its number. */
	if (r->o->pid)
		up_procs_know(&r->engine.vm.procs, r->o->pid, r->o->pid, 0);
	if (r->src->begin)
		r->src->begin(r->src->ctx, &r->engine);
	return 0;
}

static void begin(struct run *r, uint64_t time)
{
	r->has_begun = true;
	r->last = r->src->begun_at ? r->src->begun_at : time;
	up_engine_begin(&r->engine, r->last);
	up_engine_start(&r->engine);
}

/* Runs the timed blocks that were due before `time`, as often as they would have run. */
static void pass_time(struct run *r, uint64_t time)
{
	uint64_t due = up_engine_due(&r->engine);

	for (unsigned i = 0; due && due <= time && !up_engine_is_cut_short(&r->engine); i++) {
		up_engine_timers(&r->engine, i < MAX_PERIODS ? due : time);
		due = up_engine_due(&r->engine);
	}
}

/* Has the time of -d passed? */
static bool is_after(const struct run *r, uint64_t time)
{
	uint64_t from = r->engine.begun_at;

	return r->o->duration && time > from && time - from > r->o->duration;
}

/* Up to where events are to be handled before anything else is. */
static uint64_t find_limit(const struct run *r)
{
	uint64_t due = up_engine_due(&r->engine), end = UINT64_MAX;

	if (r->o->duration && r->o->duration < UINT64_MAX - r->engine.begun_at)
		end = r->engine.begun_at + r->o->duration;
	return due && due <= end ? due - 1 : end;
}

/* Handles an event, and those behind it that can be taken at once. */
static void handle(struct run *r, const struct up_event *ev)
{
	struct up_merge *m = r->src->merge;

	up_engine_event(&r->engine, ev);
	if (m)
		up_engine_take(&r->engine, m, find_limit(r));
	uint64_t last = m && m->last > ev->ts ? m->last : ev->ts;
	r->last = last > r->last ? last : r->last;
}

/* False when no more is to be handled. */
static bool take(struct run *r, const struct up_event *ev)
{
	if (!r->has_begun)
		begin(r, ev->ts);
	if (is_after(r, ev->ts)) {
		pass_time(r, r->engine.begun_at + r->o->duration);
		r->last = r->engine.begun_at + r->o->duration;
		return false;
	}
	pass_time(r, ev->ts);
	if (up_engine_is_over(&r->engine))
		return false;
	handle(r, ev);
	if (r->out.buf.len > FLUSH_BYTES && up_out_flush(&r->out))
		return false;
	return !up_engine_is_cut_short(&r->engine);
}

/* Nothing is there now: shows what there is and waits. False when the run is to end. */
static bool wait_for_more(struct run *r)
{
	struct pollfd fds[2] = { { r->sig->stop_fd, POLLIN, 0 }, { r->src->fd, POLLIN, 0 } };

	if (up_out_flush(&r->out))
		return false;
	poll(fds, 2, -1);
	return !up_signals_stopped();
}

/* There are no more events, but time went on until the recording was ended. */
static void reach_end(struct run *r)
{
	uint64_t end = r->src->ended_at;

	if (!r->has_begun)
		begin(r, end);
	if (r->o->duration && end > r->engine.begun_at && end - r->engine.begun_at > r->o->duration)
		end = r->engine.begun_at + r->o->duration;
	if (end <= r->last)
		return;
	pass_time(r, end);
	r->last = end;
}

/* 0, or -errno after a failure of the source. */
static int loop(struct run *r)
{
	struct up_event ev;
	int got;

	for (;;) {
		got = r->src->next(r->src->ctx, &ev, &r->st);
		if (got == -EAGAIN ? !wait_for_more(r) : got <= 0 || !take(r, &ev))
			break;
	}
	if (!got)
		reach_end(r);
	return got < 0 && got != -EAGAIN ? got : 0;
}

static void show_totals(struct run *r)
{
	struct up_out_totals t;

	up_engine_totals(&r->engine, &t);
	t.seconds = (double)(r->engine.ended_at - r->engine.begun_at) / 1e9;
	r->src->totals(r->src->ctx, &t);
	up_out_add_up(&t);
	up_output_end(r->o, &r->out, &t);
}

static int finish(struct run *r, int err)
{
	if (!r->has_begun)
		begin(r, 0);
	r->engine.is_recording = false;
	up_engine_end(&r->engine, r->last);
	if (up_vm_show(&r->engine.vm) && !err)
		err = up_status_set(&r->st, -ENOMEM, NULL, "cannot show the aggregations");
	show_totals(r);
	if (err)
		up_report(&r->st);
	up_output_complain(r->o, &r->out);
	if (err || (r->out.error && r->out.error != -EPIPE))
		return 1;
	return r->engine.vm.stopped ? r->engine.vm.stop_status : 0;
}

int up_run_saved(const struct up_opts *o, const struct up_plan *plan, const struct up_signals *sig,
		 struct up_saved *src)
{
	struct run r = { .o = o, .sig = sig, .src = src };
	int status = 1;

	up_signals_defer();
	if (set_up(&r, plan))
		up_report(&r.st);
	else
		status = finish(&r, loop(&r));
	up_engine_fini(&r.engine);
	if (!up_output_close(o, &r.out, status) && !status)
		status = 1;
	return status;
}
