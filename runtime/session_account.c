/* What a session has lost and rejected, while it runs and at its end. */
#include "runtime/session_int.h"

#include <errno.h>
#include <stdlib.h>

#include "runtime/clock.h"
#include "runtime/selfmap.h"

/* ---- losses ---- */

/* What each CPU has lost by now. The kernel's counters know more than pages do. */
static struct up_out_losses list_losses(struct up_session *s)
{
	struct up_src_raw_stats sum = { 0 };
	struct up_out_losses l = { .on = s->lost_on,
				   .buffer_kb = s->attach->buffer_kb,
				   .has_grown = s->grown_at };

	up_src_raw_stats(&s->src, &sum);
	s->nr_recorded = sum.read;
	for (unsigned i = 0; i < s->src.pages.nr_q; i++) {
		uint64_t lost = up_src_raw_lost(&s->src, i);

		if (!lost)
			continue;
		s->lost_on[l.nr++] = (struct up_out_loss){ s->src.pages.q[i].cpu, lost };
		l.lost += lost;
	}
	return l;
}

/*
 * Memory is given once: who loses hits for good needs another script, or knows --buffer. Some
 * kernels record nothing meanwhile, and count the hits all the same.
 */
static void grow(struct up_session *s)
{
	struct up_attach *a = s->attach;
	uint64_t kb = up_losses_larger(a->buffer_kb, a->nr_cpus, up_losses_free_kb());
	struct up_hit_count before, after;

	s->losses.may_grow = false;
	if (!kb)
		return;
	bool is_counted = up_attach_count(a, &before);
	if (up_attach_grow_buffer(a, kb, NULL))
		return;
	if (is_counted && up_attach_count(a, &after) && after.entries > before.entries)
		s->grown = after.entries - before.entries;
	s->grown_at = up_clock_ns(CLOCK_MONOTONIC);
	s->engine.gap_at = s->grown_at;
}

bool up_session_lost(struct up_session *s, struct up_out_losses *l)
{
	uint64_t nr = s->text ? s->text->lost : s->src.nr_gaps;

	if (!up_losses_tell(&s->losses, nr, up_clock_ns(CLOCK_MONOTONIC)))
		return false;
	if (s->losses.may_grow)
		grow(s);
	*l = list_losses(s);
	return true;
}

/* ---- of each event ---- */

/* Are the hits that the kernel counts there those that it is to record? Of returns it counts calls.
 */
static bool is_counted(const struct up_session *s, const struct up_record_event *e)
{
	return !e->ret_ip.size && !e->is_filtered && !s->attach->hits.is_racy &&
	       !s->attach->has_left_out;
}

/* How many records of each event have been received by now; is the kernel's count theirs? */
static void take_received(const struct up_session *s, uint64_t *received, bool *counted)
{
	const struct up_records *r = &s->attach->records;

	for (uint32_t i = 0; i < s->plan->nr_events; i++) {
		received[i] = 0;
		counted[i] = true;
	}
	for (uint32_t i = 0; i < r->nr; i++) {
		const struct up_record_event *e = &r->events[i];

		if (e->kind != UP_EVENT_PROBE)
			continue;
		received[e->event] += s->engine.received[e->id];
		counted[e->event] &= is_counted(s, e);
	}
}

static struct up_event_loss loss_of(uint64_t hits, uint64_t received, uint64_t most, bool is_exact)
{
	uint64_t nr = hits > received ? hits - received : 0;

	return (struct up_event_loss){ nr < most ? nr : most, is_exact || !nr || !most };
}

static void loss_count_fini(struct up_loss_count *c)
{
	free(c->before);
	free(c->hits);
	free(c->counted);
	*c = (struct up_loss_count){ 0 };
}

bool up_session_losses_begin(struct up_session *s, struct up_loss_count *c)
{
	size_t nr = (size_t)s->plan->nr_events + 1;

	*c = (struct up_loss_count){ .before = calloc(nr, sizeof(*c->before)),
				     .hits = calloc(nr, sizeof(*c->hits)),
				     .counted = calloc(nr, sizeof(*c->counted)) };
	bool ok = c->before && c->hits && c->counted && s->engine.received;
	if (ok) {
		take_received(s, c->before, c->counted);
		ok = up_attach_count_events(s->attach, c->hits);
	}
	if (!ok)
		loss_count_fini(c);
	return ok;
}

struct up_event_loss *up_session_losses_end(struct up_session *s, struct up_loss_count *c)
{
	uint32_t nr = s->plan->nr_events;
	uint64_t most = list_losses(s).lost + s->grown;
	struct up_event_loss *losses = calloc((size_t)nr + 1, sizeof(*losses));
	uint64_t *after = calloc((size_t)nr + 1, sizeof(*after));
	bool is_hit_by_us = up_selfmap_hits(s->plan);

	if (losses && after)
		take_received(s, after, c->counted);
	for (uint32_t i = 0; losses && after && i < nr; i++) {
		bool is_exact = c->counted[i] && !is_hit_by_us;

		losses[i] = loss_of(c->hits[i], is_exact ? after[i] : c->before[i], most, is_exact);
	}
	free(after);
	loss_count_fini(c);
	return losses;
}

/* ---- the account ---- */

/* How many of the lost can have been records of threads that began or ended. */
static uint64_t lost_not_hits(const struct up_session *s, uint64_t lost)
{
	uint64_t most;

	if (!lost || !s->attach->lifecycle)
		return 0;
	most = up_tasks_since(&s->tasks);
	return most > s->engine.nr_task_records ? most - s->engine.nr_task_records : 0;
}

static void take_conditions(const struct up_session *s, struct up_account_in *in)
{
	const struct up_records *r = &s->attach->records;

	for (uint32_t i = 0; i < r->nr; i++) {
		const struct up_record_event *e = &r->events[i];

		if (e->kind != UP_EVENT_PROBE)
			continue;
		in->has_returns |= e->ret_ip.size > 0;
		in->rejects_returns |= e->is_filtered && e->ret_ip.size;
		in->rejects_entries |= e->is_filtered && !e->ret_ip.size;
	}
}

static void close_account(struct up_session *s)
{
	const struct up_engine *e = &s->engine;
	struct up_hit_count n = { 0 };
	struct up_account_in in = { .entries = e->entries,
				    .returns = e->returns[0] + e->returns[1],
				    .filtered = e->returns[1],
				    .foreign = e->foreign,
				    .rejects_processes =
					    s->opts.attach.follow || s->opts.attach.skip_self,
				    .grown = s->grown,
				    .is_racy = s->attach->hits.is_racy || s->opts.is_lasting };

	in.lost = list_losses(s).lost;
	in.lost_unknown = s->src.lost_unknown && !in.lost;
	in.not_hits = lost_not_hits(s, in.lost);
	in.is_counted = up_attach_hits(s->attach, &n, &in.slack);
	in.counted = n.entries;
	in.calls = n.calls;
	take_conditions(s, &in);
	s->account = up_account_close(&in);
}

void up_session_account(struct up_session *s)
{
	if (s->opts.recorder) {
		s->account.lost = list_losses(s).lost; /* what hits were is not looked at */
		return;
	}
	close_account(s);
}

/* What the text itself says of losses the kernel's counters have said already. */
static void add_text(const struct up_session *s, struct up_out_totals *t)
{
	struct up_out_totals of_text = *t;

	if (!s->text)
		return;
	up_src_text_totals(s->text, &of_text);
	of_text.lost = t->lost;
	of_text.lost_unknown = t->lost_unknown;
	*t = of_text;
}

void up_session_totals(struct up_session *s, struct up_out_totals *t)
{
	const struct up_engine *e = &s->engine;
	const struct up_account *a = &s->account;

	if (!e->ended_at) /* after a failure */
		up_session_account(s);
	up_engine_totals(e, t);
	t->corrupt += s->merge.corrupt_pages;
	t->hits = a->hits;
	t->is_exact = a->is_exact;
	t->lost = a->is_exact ? a->lost - a->not_hits : a->lost;
	t->lost_threads = a->is_exact ? a->not_hits : 0;
	t->lost_not_hits = a->is_exact ? 0 : a->not_hits;
	t->lost_unknown = s->src.lost_unknown && !t->lost;
	t->lost_growing = a->grown;
	t->losses = list_losses(s);
	t->rejected = a->rejected;
	t->rejected_unknown = !a->rejected_known;
	t->rejected_foreign = s->opts.attach.follow || s->opts.attach.skip_self;
	t->foreign = a->foreign;
	t->outside += a->outside;
	t->missing = a->missing;
	t->late = s->merge.late;
	add_text(s, t);
	uint64_t end = e->ended_at ? e->ended_at : up_clock_ns(CLOCK_MONOTONIC);
	if (e->begun_at)
		t->seconds = (double)(end - e->begun_at) / 1e9;
}
