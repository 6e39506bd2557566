/* The session: set-up, rounds, end. */
#include "runtime/session_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lang/opcodes.h"
#include "lang/plan_succeed.h"
#include "runtime/clock.h"
#include "runtime/leftovers.h"
#include "runtime/selfmap.h"
#include "runtime/session_text.h"

#define MIN_POOL (1u << 20)  /* bytes of page buffers, at least */
#define MAX_POOL (64u << 20) /* and at most */

/* Do records of other threads have to be told apart from those of the process asked for? */
static bool must_filter_process(const struct up_session *s)
{
	return s->opts.pid && !s->opts.children;
}

static bool has_calls(const struct up_plan *p)
{
	for (uint32_t i = 0; i < p->nr_progs; i++)
		if (p->progs[i].calls != UP_CALLS_NONE)
			return true;
	return false;
}

/* Does some handler ask when a hit was? */
static bool asks_for_time(const struct up_plan *p)
{
	for (uint32_t i = 0; i < p->nr_progs; i++)
		for (uint32_t k = 0; k < p->progs[i].nr_code; k++) {
			const struct up_insn *insn = &p->progs[i].code[k];

			if (insn->op == OP_CONTEXT &&
			    (insn->b == UP_CX_TIME || insn->b == UP_CX_ELAPSED))
				return true;
		}
	return false;
}

/* Must the events of all CPUs be handled in the order of time? */
static bool is_ordered(const struct up_session *s)
{
	return s->plan->needs_order || s->opts.attach.lifecycle;
}

static int open_reader(struct up_session *s, struct up_status *st)
{
	const struct up_attach *a = s->attach;
	uint64_t pool = a->buffer_kb * 1024 * a->nr_cpus;
	int err;

	pool = pool < MIN_POOL ? MIN_POOL : pool > MAX_POOL ? MAX_POOL : pool;
	err = up_src_raw_open(&s->src, a->instance_path, a->subbuf_size, a->commit_size, pool);
	s->has_src = true;
	if (err)
		return up_status_set(st, err, s->src.failed, "cannot open the ring buffer");
	err = up_merge_init(&s->merge, &s->src.pages, a->commit_size, !is_ordered(s));
	if (err)
		return up_status_set(st, err, NULL, "cannot set up the merge");
	s->has_merge = true;
	up_engine_set_gaps(&s->engine, &s->merge.gaps);
	s->losses.may_grow = !s->opts.attach.buffer_size && !s->opts.recorder;
	s->lost_on = calloc(s->src.pages.nr_q, sizeof(*s->lost_on));
	if (!s->lost_on)
		return up_status_set(st, -ENOMEM, NULL, "cannot set up the reader");
	return s->opts.from_text ? up_session_text_open(s, st) : 0;
}

static int restrict_to_process(struct up_session *s, struct up_status *st)
{
	int err = 0;

	if (s->opts.child) {
		up_procs_know(&s->engine.vm.procs, s->opts.child, s->opts.child, 0);
		return up_attach_add_thread(s->attach, s->opts.child, st);
	}
	if (s->opts.pid)
		err = up_attach_add_process(s->attach, s->opts.pid, st);
	for (size_t i = 0; i < s->attach->nr_tids && !err; i++)
		up_procs_know(&s->engine.vm.procs, s->attach->tids[i], s->opts.pid, 0);
	return err;
}

static int set_up(struct up_session *s, struct up_out *out, struct up_status *st)
{
	struct up_engine_opts eo = { .only = must_filter_process(s) ? s->opts.pid : 0,
				     .max_handled = s->opts.max_handled,
				     .counts_probes = s->opts.is_lasting,
				     .urgency = s->opts.urgency };
	int err = up_engine_init(&s->engine, s->plan, NULL, &eo, out, st);

	if (!err)
		err = up_attach_open(s->plan, &s->opts.attach, &s->attach, st);
	if (err)
		return err;
	s->engine.records = &s->attach->records;
	s->engine.own[0] = getpid();
	s->engine.own[1] = up_keeper_pid(s->attach->keeper);
	up_memory_open(&s->engine.vm.memory, s->plan);
	/* The kernel has answered, and no ring buffer is open yet: see keeper.h for both. */
	up_leftovers_sweep(&s->attach->fs, s->opts.attach.stop_fd);
	err = restrict_to_process(s, st);
	return err ? err : open_reader(s, st);
}

int up_session_open(const struct up_plan *plan, const struct up_session_opts *opts,
		    struct up_out *out, struct up_session **session, struct up_status *st)
{
	struct up_session *s = calloc(1, sizeof(*s));

	*session = NULL;
	if (!s)
		return up_status_set(st, -ENOMEM, NULL, "cannot start a session");
	s->plan = plan;
	s->opts = *opts;
	s->opts.attach.as_text = opts->from_text;
	s->opts.attach.follow = opts->child || opts->pid;
	s->opts.attach.lifecycle = opts->is_lasting || opts->recorder || plan->needs_pid ||
				   plan->needs_threads || must_filter_process(s) || has_calls(plan);
	if (opts->recorder)
		s->opts.attach.buffer_percent = up_session_record_percent();
	s->opts.attach.skip_self =
		opts->is_lasting || (!s->opts.attach.follow && up_selfmap_hits(plan));
	/* The kernel's text is in the order of time, and read up to a time. */
	s->opts.attach.local_clock = !is_ordered(s) && !asks_for_time(plan) && !opts->from_text;
	int err = set_up(s, out, st);
	if (err) {
		up_session_close(s, NULL, NULL);
		return err;
	}
	*session = s;
	return 0;
}

uint64_t up_session_due(const struct up_session *s)
{
	return s->opts.recorder ? s->look_at : up_engine_due(&s->engine);
}

void up_session_timers(struct up_session *s)
{
	up_engine_timers(&s->engine, up_clock_ns(CLOCK_MONOTONIC));
}

/* Notes whose each thread is that there is now. */
static void scan_threads(struct up_session *s)
{
	if (s->plan->needs_pid && !s->opts.attach.follow)
		up_procs_scan(&s->engine.vm.procs, up_clock_ns(CLOCK_MONOTONIC));
}

int up_session_arm(struct up_session *s, struct up_status *st)
{
	int err;

	if (s->attach->lifecycle)
		up_tasks_read(&s->tasks);
	if (!s->opts.recorder)
		scan_threads(s); /* one may be hit and gone before the next look */
	err = up_attach_arm(s->attach, st);
	if (s->opts.recorder) {
		s->engine.begun_at = up_clock_ns(CLOCK_MONOTONIC);
		return err ? err : up_session_record_begin(s, st);
	}
	up_engine_begin(&s->engine, up_clock_ns(CLOCK_MONOTONIC));
	/* Threads that began in between; those that begin from now on are told of. */
	if (!err)
		scan_threads(s);
	if (!err)
		up_engine_start(&s->engine);
	return err;
}

int up_session_grow(struct up_session *s, uint32_t first, bool *has_begun, struct up_status *st)
{
	int err = up_attach_grow(s->attach, first, has_begun, st);

	if (*has_begun)
		up_memory_open(&s->engine.vm.memory, s->plan);
	return err;
}

/* What happened at places that are gone is handled by the handlers that they had. */
static int retire(struct up_session *s, const struct up_succession *by, struct up_status *st)
{
	bool handled, any = false;

	for (uint32_t i = 0; i < by->first_event; i++)
		any |= by->is_gone[i];
	if (!any)
		return 0;
	int err = up_attach_retire(s->attach, by, st);
	return err ? err : up_session_round(s, &handled, st);
}

int up_session_succeed(struct up_session *s, const struct up_plan *plan,
		       const struct up_succession *by, void (*retired)(void *arg), void *arg,
		       struct up_status *st)
{
	struct up_engine_next next;
	int err = up_engine_prepare(&s->engine, plan, &next, st);

	if (!err)
		err = retire(s, by, st);
	if (!err) {
		retired(arg);
		err = up_attach_extend(s->attach, plan, by, st);
	}
	if (err) {
		up_engine_next_fini(&next);
		return err;
	}
	up_attach_forget(s->attach, by);
	up_engine_succeed(&s->engine, &next, by, up_clock_ns(CLOCK_MONOTONIC));
	s->plan = plan;
	up_memory_open(&s->engine.vm.memory, plan);
	return 0;
}

int up_session_events_fd(const struct up_session *s)
{
	return s->src.epfd;
}

int up_session_keeper_fd(const struct up_session *s)
{
	return up_attach_fd(s->attach);
}

bool up_session_is_pending(const struct up_session *s)
{
	if (s->text)
		return up_src_text_pending(s->text);
	return !s->opts.recorder && up_merge_pending(&s->merge);
}

bool up_session_is_over(const struct up_session *s)
{
	return up_engine_is_over(&s->engine);
}

/* ---- events ---- */

/* Handles everything up to `limit`, reading more as the merge needs it. */
static int handle_up_to(struct up_session *s, uint64_t limit, bool *handled, struct up_status *st)
{
	if (s->text)
		return up_session_text_handle(s, limit, handled, st);
	do {
		int pages = up_src_raw_drain(&s->src);

		if (pages < 0)
			return up_status_set(st, pages, s->src.failed,
					     "cannot read the ring buffer");
		*handled |= up_engine_take(&s->engine, &s->merge, limit);
	} while (!up_engine_is_cut_short(&s->engine) &&
		 (up_merge_waiting(&s->merge) || s->src.held_back));
	return 0;
}

int up_session_round(struct up_session *s, bool *handled, struct up_status *st)
{
	*handled = false;
	if (s->opts.recorder)
		return up_session_record_round(s, handled, st);
	if (up_session_is_over(s))
		return 0;
	uint64_t limit = s->merge.unordered ? UINT64_MAX : up_src_raw_watermark(&s->src);
	return handle_up_to(s, limit, handled, st);
}

static int stop_recording(struct up_session *s, struct up_status *st)
{
	int err = up_attach_stop(s->attach, st);

	s->engine.ended_at = up_clock_ns(CLOCK_MONOTONIC);
	if (!err)
		err = up_session_record_rest(s, st);
	up_session_account(s);
	return err ? err : up_session_record_end(s, s->account.lost, st);
}

int up_session_stop(struct up_session *s, struct up_status *st)
{
	bool handled = false;

	if (s->opts.recorder)
		return stop_recording(s, st);
	int err = up_attach_stop(s->attach, st);

	uint64_t ended_at = up_clock_ns(CLOCK_MONOTONIC);
	s->engine.is_recording = false;
	if (!err)
		err = handle_up_to(s, UINT64_MAX, &handled, st);
	/* What came after -n or stop() belongs to nobody, but it is no loss either. */
	s->engine.counts_only = up_session_is_over(s);
	if (!err && s->engine.counts_only)
		err = handle_up_to(s, UINT64_MAX, &handled, st);
	up_engine_end(&s->engine, ended_at);
	up_session_account(s);
	return err;
}

int up_session_close(struct up_session *s, struct up_buf *left, struct up_status *st)
{
	int err;

	if (!s)
		return 0;
	up_session_text_close(s);
	if (s->has_merge)
		up_merge_fini(&s->merge);
	if (s->has_src)
		up_src_raw_close(&s->src);
	err = up_attach_close(s->attach, left, st);
	up_engine_fini(&s->engine);
	free(s->lost_on);
	free(s);
	return err;
}
