/* The session: set-up, rounds, end. */
#include "runtime/session.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lang/verify.h"
#include "runtime/clock.h"
#include "runtime/leftovers.h"
#include "runtime/selfmap.h"

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
	bool ordered = s->plan->needs_order || a->lifecycle;
	err = up_merge_init(&s->merge, &s->src.pages, a->commit_size, !ordered);
	if (err)
		return up_status_set(st, err, NULL, "cannot set up the merge");
	s->has_merge = true;
	s->vm.calls.gaps = &s->merge.gaps;
	return 0;
}

static int restrict_to_process(struct up_session *s, struct up_status *st)
{
	int err = 0;

	if (s->opts.child) {
		up_procs_know(&s->vm.procs, s->opts.child, s->opts.child);
		return up_attach_add_thread(s->attach, s->opts.child, st);
	}
	if (s->opts.pid)
		err = up_attach_add_process(s->attach, s->opts.pid, st);
	for (size_t i = 0; i < s->attach->nr_tids && !err; i++)
		up_procs_know(&s->vm.procs, s->attach->tids[i], s->opts.pid);
	return err;
}

static int set_up(struct up_session *s, struct up_out *out, struct up_status *st)
{
	struct up_buf why = { 0 };
	int err;

	if (!up_plan_verify(s->plan, &why)) {
		up_status_set(st, -EINVAL, NULL, "a handler does not verify");
		up_status_reason(st, "%s", why.s ? why.s : "");
		up_buf_fini(&why);
		return -EINVAL;
	}
	err = up_vm_init(&s->vm, s->plan, out);
	s->due = calloc(s->plan->nr_blocks + 1, sizeof(*s->due));
	if (!s->due)
		err = -ENOMEM;
	s->has_vm = true;
	s->vm.urgency = s->opts.urgency;
	if (err)
		return up_status_set(st, err, NULL, "cannot set up the handlers");
	err = up_attach_open(s->plan, &s->opts.attach, &s->attach, st);
	if (err)
		return err;
	s->keeper_pid = up_keeper_pid(s->attach->keeper);
	up_memory_open(&s->vm.memory, s->plan);
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
	s->own_pid = getpid();
	s->opts.attach.follow = opts->child || opts->pid;
	s->opts.attach.lifecycle =
		plan->needs_pid || plan->needs_threads || must_filter_process(s) || has_calls(plan);
	s->opts.attach.skip_self = !s->opts.attach.follow && up_selfmap_hits(plan);
	int err = set_up(s, out, st);
	if (err) {
		up_session_close(s, NULL, NULL);
		return err;
	}
	*session = s;
	return 0;
}

static void run_blocks(struct up_session *s, enum up_on which, uint64_t now)
{
	for (uint32_t i = 0; i < s->plan->nr_blocks; i++)
		if (s->plan->blocks[i].which == which)
			up_vm_block(&s->vm, i, now);
}

uint64_t up_session_due(const struct up_session *s)
{
	uint64_t due = 0;

	for (uint32_t i = 0; i < s->plan->nr_blocks; i++)
		if (s->due[i] && (!due || s->due[i] < due))
			due = s->due[i];
	return due;
}

void up_session_timers(struct up_session *s)
{
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < s->plan->nr_blocks && !up_session_is_over(s); i++) {
		uint64_t every = s->plan->blocks[i].every;

		if (!s->due[i] || s->due[i] > now)
			continue;
		up_vm_block(&s->vm, i, now);
		s->due[i] += ((now - s->due[i]) / every + 1) * every;
	}
}

int up_session_arm(struct up_session *s, struct up_status *st)
{
	int err;

	if (s->attach->lifecycle)
		up_tasks_read(&s->tasks);
	err = up_attach_arm(s->attach, st);
	s->armed_at = up_clock_ns(CLOCK_MONOTONIC);
	up_vm_begin(&s->vm, s->armed_at);
	for (uint32_t i = 0; i < s->plan->nr_blocks; i++)
		if (s->plan->blocks[i].which == UP_ON_EVERY)
			s->due[i] = s->armed_at + s->plan->blocks[i].every;
	if (!err)
		run_blocks(s, UP_ON_START, s->armed_at);
	return err;
}

int up_session_grow(struct up_session *s, uint32_t first, bool *has_begun, struct up_status *st)
{
	int err = up_attach_grow(s->attach, first, has_begun, st);

	if (*has_begun)
		up_memory_open(&s->vm.memory, s->plan);
	return err;
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
	return up_merge_pending(&s->merge);
}

bool up_session_is_over(const struct up_session *s)
{
	return s->vm.stopped ||
	       (s->opts.max_handled && s->vm.counts.handled >= s->opts.max_handled);
}

/* ---- events ---- */

static pid_t thread_of(const struct up_attach_event *e, const unsigned char *rec)
{
	return (pid_t)up_field_number(rec, &e->tid);
}

static unsigned urgency(const struct up_session *s)
{
	return s->opts.urgency ? s->opts.urgency() : 0;
}

static bool is_recording(const struct up_session *s)
{
	return !s->ended_at;
}

/* Is it a hit of somebody who is not to be traced: ourselves, or a child of the process asked for?
 */
static bool is_foreign(struct up_session *s, pid_t tid)
{
	if (tid == s->own_pid || tid == s->keeper_pid)
		return true;
	return must_filter_process(s) && up_procs_of(&s->vm.procs, tid) != s->opts.pid;
}

static void handle_probe(struct up_session *s, const struct up_attach_event *e,
			 const struct up_event *ev)
{
	const unsigned char *rec = ev->payload;
	uint32_t site =
		e->site == UP_NONE ? (uint32_t)up_field_number(rec, &e->site_field) : e->site;
	struct up_hit hit = { .rec = rec,
			      .len = ev->len,
			      .site = site,
			      .fields = e->args,
			      .time = ev->ts,
			      .cpu = ev->cpu };

	if (site >= s->plan->nr_sites || s->plan->sites[site].event != e->event) {
		s->corrupt++;
		return;
	}
	s->nr_filtered_events += e->is_filtered;
	hit.tid = thread_of(e, rec);
	if (is_foreign(s, hit.tid)) {
		s->foreign++;
		return;
	}
	if (!is_recording(s) && urgency(s) > 1) {
		s->left_out++;
		return;
	}
	hit.place = up_field_number(rec, &e->ip);
	hit.ip = e->ret_ip.size ? up_field_number(rec, &e->ret_ip) : hit.place;
	up_vm_hit(&s->vm, &hit);
}

static void handle_birth(struct up_session *s, pid_t parent, pid_t child, uint64_t flags)
{
	up_procs_born(&s->vm.procs, parent, child, flags);
	/* With its own copy of the stack, or its parent waiting, the child returns from what its
	 * parent is in. */
	if (!(flags & CLONE_VM) || (flags & CLONE_VFORK))
		up_calls_fork(&s->vm.calls, parent, child);
}

static void handle_event(struct up_session *s, const struct up_event *ev)
{
	const unsigned char *rec = ev->payload;
	uint16_t id;

	if (ev->len < sizeof(id)) {
		s->corrupt++;
		return;
	}
	memcpy(&id, rec, sizeof(id));
	const struct up_attach_event *e = up_attach_find(s->attach, id);
	if (!e)
		return; /* the kernel's own records, of tracing_mark_write and the like */
	if (ev->len < e->fixed_size) {
		s->corrupt++;
		return;
	}
	switch (e->kind) {
	case UP_EVENT_PROBE:
		handle_probe(s, e, ev);
		break;
	case UP_EVENT_NEWTASK:
		s->nr_task_records++;
		handle_birth(s, thread_of(e, rec), (pid_t)up_field_number(rec, &e->task),
			     up_field_number(rec, &e->flags));
		break;
	case UP_EVENT_EXIT:
		s->nr_task_records++;
		up_vm_died(&s->vm, (pid_t)up_field_number(rec, &e->task));
		break;
	}
}

/* Is nothing more to be handled for now? */
static bool is_cut_short(const struct up_session *s)
{
	return up_session_is_over(s) || (is_recording(s) && urgency(s));
}

/* Handles everything up to `limit`, reading more as the merge needs it. */
static int handle_up_to(struct up_session *s, uint64_t limit, bool *handled, struct up_status *st)
{
	struct up_event ev;

	do {
		int pages = up_src_raw_drain(&s->src);

		if (pages < 0)
			return up_status_set(st, pages, s->src.failed,
					     "cannot read the ring buffer");
		while (!is_cut_short(s) && up_merge_next(&s->merge, limit, &ev)) {
			*handled = true;
			handle_event(s, &ev);
		}
	} while (!is_cut_short(s) && (up_merge_waiting(&s->merge) || s->src.held_back));
	return 0;
}

int up_session_round(struct up_session *s, bool *handled, struct up_status *st)
{
	*handled = false;
	if (up_session_is_over(s))
		return 0;
	uint64_t limit = s->merge.unordered ? UINT64_MAX : up_src_raw_watermark(&s->src);
	return handle_up_to(s, limit, handled, st);
}

/* What the kernel counted as lost, whether or not a page said so. */
static uint64_t kernel_lost(struct up_session *s)
{
	struct up_src_raw_stats stats;

	if (up_src_raw_stats(&s->src, &stats))
		return 0;
	return stats.overrun + stats.commit_overrun + stats.dropped;
}

static uint64_t nr_lost(const struct up_session *s)
{
	return s->src.lost > s->lost_in_kernel ? s->src.lost : s->lost_in_kernel;
}

/* How many of the lost can have been records of threads that began or ended. */
static uint64_t find_lost_not_hits(const struct up_session *s)
{
	uint64_t lost = nr_lost(s), most;

	if (!lost || !s->attach->lifecycle)
		return 0;
	most = up_tasks_since(&s->tasks);
	most = most > s->nr_task_records ? most - s->nr_task_records : 0;
	return most < lost ? most : lost;
}

/*
 * The kernel does not count what its filters reject: it is what was neither recorded nor lost of
 * the `hits` of these events. After -n or stop() records were left unread.
 */
static void find_rejected(struct up_session *s, uint64_t hits)
{
	uint64_t seen = s->nr_filtered_events + nr_lost(s);

	s->rejected = hits > seen ? hits - seen : 0;
	s->rejected_unknown |= s->attach->nr_filters && up_session_is_over(s);
}

int up_session_stop(struct up_session *s, struct up_status *st)
{
	bool handled;
	uint64_t hits = 0;
	int err = up_attach_stop(s->attach, st);

	s->ended_at = up_clock_ns(CLOCK_MONOTONIC);
	s->rejected_unknown = s->attach->nr_filters && !up_attach_hits(s->attach, &hits);
	if (!err && !up_session_is_over(s))
		err = handle_up_to(s, UINT64_MAX, &handled, st);
	s->vm.now = s->ended_at;
	run_blocks(s, UP_ON_END, s->ended_at);
	s->lost_in_kernel = kernel_lost(s);
	find_rejected(s, hits);
	s->lost_not_hits = find_lost_not_hits(s);
	return err;
}

void up_session_totals(const struct up_session *s, struct up_out_totals *t)
{
	const struct up_counts *c = &s->vm.counts;

	*t = (struct up_out_totals){ .handled = c->handled,
				     .filtered = c->filtered,
				     .unpaired = c->unpaired,
				     .faults = c->faults,
				     .by_zero = c->by_zero,
				     .corrupt = s->corrupt + s->merge.corrupt_pages,
				     .no_return = s->vm.calls.abandoned,
				     .too_deep = s->vm.calls.too_deep + s->vm.calls.not_kept,
				     .doubtful = s->vm.calls.doubtful,
				     .lost = nr_lost(s),
				     .lost_not_hits = s->lost_not_hits };
	t->lost_unknown = s->src.lost_unknown && !t->lost;
	t->rejected = s->rejected;
	t->rejected_unknown = s->rejected_unknown;
	t->rejected_foreign = s->opts.attach.follow || s->opts.attach.skip_self;
	t->late = s->merge.late;
	t->left_out = s->left_out;
	for (uint32_t i = 0; i < s->plan->nr_aggs; i++)
		t->dropped_rows += s->vm.aggs[i].overflow;
	t->dropped_vars = up_vars_dropped(&s->vm.vars);
	t->cut_off = c->cut_off;
	t->no_room = c->no_room;
	if (s->armed_at)
		t->seconds = (double)((s->ended_at ? s->ended_at : up_clock_ns(CLOCK_MONOTONIC)) -
				      s->armed_at) /
			     1e9;
}

int up_session_close(struct up_session *s, struct up_buf *left, struct up_status *st)
{
	int err;

	if (!s)
		return 0;
	if (s->has_merge)
		up_merge_fini(&s->merge);
	if (s->has_src)
		up_src_raw_close(&s->src);
	err = up_attach_close(s->attach, left, st);
	if (s->has_vm)
		up_vm_fini(&s->vm);
	free(s->due);
	free(s);
	return err;
}
