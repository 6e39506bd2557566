/* The engine: records in, handlers run. */
#include "runtime/engine.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lang/plan_succeed.h"
#include "lang/verify.h"

static int verify(const struct up_plan *plan, struct up_status *st)
{
	struct up_buf why = { 0 };

	if (up_plan_verify(plan, &why))
		return 0;
	up_status_set(st, -EINVAL, NULL, "a handler does not verify");
	up_status_reason(st, "%s", why.s ? why.s : "");
	up_buf_fini(&why);
	return -EINVAL;
}

int up_engine_init(struct up_engine *e, const struct up_plan *plan,
		   const struct up_records *records, const struct up_engine_opts *opts,
		   struct up_out *out, struct up_status *st)
{
	*e = (struct up_engine){ .plan = plan, .records = records, .opts = *opts };
	e->is_recording = true;
	int err = verify(plan, st);
	if (err)
		return err;
	err = up_vm_init(&e->vm, plan, out);
	e->vm.urgency = opts->urgency;
	if (opts->is_offline)
		up_vm_set_offline(&e->vm);
	e->due = calloc(plan->nr_blocks + 1, sizeof(*e->due));
	if (opts->counts_probes)
		e->hits = calloc(plan->nr_probes + 1, sizeof(*e->hits));
	if (err || !e->due || (opts->counts_probes && !e->hits))
		return up_status_set(st, err ? err : -ENOMEM, NULL, "cannot set up the handlers");
	return 0;
}

void up_engine_fini(struct up_engine *e)
{
	if (e->vm.plan)
		up_vm_fini(&e->vm);
	free(e->due);
	free(e->hits);
	e->due = NULL;
	e->hits = NULL;
}

static void run_blocks(struct up_engine *e, enum up_on which, uint64_t now)
{
	for (uint32_t i = 0; i < e->plan->nr_blocks; i++)
		if (e->plan->blocks[i].which == which)
			up_vm_block(&e->vm, i, now);
}

void up_engine_begin(struct up_engine *e, uint64_t now)
{
	e->begun_at = now;
	up_vm_begin(&e->vm, now);
	for (uint32_t i = 0; i < e->plan->nr_blocks; i++)
		if (e->plan->blocks[i].which == UP_ON_EVERY)
			e->due[i] = now + e->plan->blocks[i].every;
}

void up_engine_start(struct up_engine *e)
{
	run_blocks(e, UP_ON_START, e->begun_at);
}

void up_engine_end(struct up_engine *e, uint64_t now)
{
	e->ended_at = now;
	e->vm.now = now;
	run_blocks(e, UP_ON_END, now);
}

uint64_t up_engine_due(const struct up_engine *e)
{
	uint64_t due = 0;

	for (uint32_t i = 0; i < e->plan->nr_blocks; i++)
		if (e->due[i] && (!due || e->due[i] < due))
			due = e->due[i];
	return due;
}

void up_engine_timers(struct up_engine *e, uint64_t now)
{
	for (uint32_t i = 0; i < e->plan->nr_blocks && !up_engine_is_over(e); i++) {
		uint64_t every = e->plan->blocks[i].every;

		if (!e->due[i] || e->due[i] > now)
			continue;
		up_vm_block(&e->vm, i, now);
		e->due[i] += ((now - e->due[i]) / every + 1) * every;
	}
}

bool up_engine_is_over(const struct up_engine *e)
{
	return e->vm.stopped ||
	       (e->opts.max_handled && e->vm.counts.handled >= e->opts.max_handled);
}

static unsigned urgency(const struct up_engine *e)
{
	return e->opts.urgency ? e->opts.urgency() : 0;
}

bool up_engine_is_cut_short(const struct up_engine *e)
{
	return up_engine_is_over(e) || (e->is_recording && urgency(e));
}

void up_engine_switch(struct up_engine *e, uint32_t block, bool on, uint64_t now)
{
	if (!on)
		e->due[block] = 0;
	else if (!e->due[block])
		e->due[block] = now + e->plan->blocks[block].every;
}

/* ---- another plan ---- */

int up_engine_prepare(struct up_engine *e, const struct up_plan *plan, struct up_engine_next *next,
		      struct up_status *st)
{
	*next = (struct up_engine_next){ 0 };
	int err = verify(plan, st);
	if (err)
		return err;
	next->due = calloc(plan->nr_blocks + 1, sizeof(*next->due));
	if (e->hits)
		next->hits = calloc(plan->nr_probes + 1, sizeof(*next->hits));
	err = next->due && (next->hits || !e->hits) ? up_vm_prepare(&next->vm, &e->vm, plan)
						    : -ENOMEM;
	return err ? up_status_set(st, err, NULL, "cannot set up the handlers") : 0;
}

void up_engine_next_fini(struct up_engine_next *next)
{
	if (next->vm.plan)
		up_vm_fini(&next->vm);
	free(next->due);
	free(next->hits);
	*next = (struct up_engine_next){ 0 };
}

static void begin_block(struct up_engine *e, uint32_t i, uint64_t now)
{
	const struct up_plan_block *b = &e->plan->blocks[i];

	if (b->which == UP_ON_EVERY)
		e->due[i] = now + b->every;
	else if (b->which == UP_ON_START)
		up_vm_block(&e->vm, i, now);
}

void up_engine_succeed(struct up_engine *e, struct up_engine_next *next,
		       const struct up_succession *s, uint64_t now)
{
	const struct up_plan *plan = next->vm.plan;

	for (uint32_t i = 0; i < plan->nr_blocks; i++)
		if (s->blocks[i] != UP_NONE)
			next->due[i] = e->due[s->blocks[i]];
	if (e->hits)
		memcpy(next->hits, e->hits, s->nr_probes * sizeof(*e->hits));
	free(e->due);
	free(e->hits);
	e->due = next->due;
	e->hits = next->hits;
	up_vm_succeed(&e->vm, &next->vm, s, now);
	e->plan = plan;
	*next = (struct up_engine_next){ 0 };
	for (uint32_t i = 0; i < plan->nr_blocks; i++)
		if (s->blocks[i] == UP_NONE)
			begin_block(e, i, now);
}

/* ---- records ---- */

static pid_t thread_of(const struct up_record_event *kind, const unsigned char *rec)
{
	return (pid_t)up_field_number(rec, &kind->tid);
}

/* Is it a hit of somebody who is not to be traced: ourselves, or a child of the process asked for?
 */
static bool is_foreign(struct up_engine *e, pid_t tid)
{
	if (tid && (tid == e->own[0] || tid == e->own[1]))
		return true;
	return e->opts.only && up_procs_of(&e->vm.procs, tid) != e->opts.only;
}

/* Is it a site whose records look so? */
static bool is_site_of(const struct up_engine *e, uint32_t site, const struct up_record_event *kind)
{
	const struct up_routes *routes = e->records->routes;

	if (routes)
		return site < routes->nr && routes->event_of[site] == kind->event;
	return site < e->plan->nr_sites && e->plan->sites[site].event == kind->event;
}

/* The hit of a recorded site is that of several sites, or of none. */
static void hit_routed(struct up_engine *e, uint32_t recorded, struct up_hit *hit)
{
	const struct up_routes *routes = e->records->routes;

	for (uint32_t i = routes->first[recorded]; i && !up_engine_is_over(e);) {
		const struct up_route *r = &routes->list[i - 1];

		hit->site = r->site;
		hit->fields = r->args;
		up_vm_hit(&e->vm, hit);
		i = r->next;
	}
}

static void handle_probe(struct up_engine *e, const struct up_record_event *kind,
			 const struct up_event *ev)
{
	const unsigned char *rec = ev->payload;
	uint32_t site = kind->site == UP_NONE ? (uint32_t)up_field_number(rec, &kind->site_field)
					      : kind->site;
	struct up_hit hit = { .rec = rec,
			      .len = ev->len,
			      .site = site,
			      .fields = kind->args,
			      .time = ev->ts,
			      .cpu = ev->cpu };

	if (!is_site_of(e, site, kind)) {
		e->corrupt++;
		return;
	}
	e->nr_filtered_events += kind->is_filtered;
	hit.tid = thread_of(kind, rec);
	if (is_foreign(e, hit.tid)) {
		e->foreign++;
		return;
	}
	if (!e->is_recording && urgency(e) > 1) {
		e->left_out++;
		return;
	}
	if (e->hits)
		e->hits[e->plan->progs[e->plan->sites[site].prog].probe]++;
	hit.place = up_field_number(rec, &kind->ip);
	hit.ip = kind->ret_ip.size ? up_field_number(rec, &kind->ret_ip) : hit.place;
	if (e->records->routes)
		hit_routed(e, site, &hit);
	else
		up_vm_hit(&e->vm, &hit);
}

static void handle_birth(struct up_engine *e, pid_t parent, pid_t child, uint64_t flags)
{
	up_procs_born(&e->vm.procs, parent, child, flags);
	/* With its own copy of the stack, or its parent waiting, the child returns from what its
	 * parent is in. */
	if (!(flags & CLONE_VM) || (flags & CLONE_VFORK))
		up_calls_fork(&e->vm.calls, parent, child);
}

void up_engine_event(struct up_engine *e, const struct up_event *ev)
{
	const unsigned char *rec = ev->payload;
	uint16_t id;

	if (ev->len < sizeof(id)) {
		e->corrupt++;
		return;
	}
	memcpy(&id, rec, sizeof(id));
	const struct up_record_event *kind = up_records_find(e->records, id);
	if (!kind)
		return; /* the kernel's own records, of tracing_mark_write and the like */
	if (ev->len < kind->fixed_size) {
		e->corrupt++;
		return;
	}
	switch (kind->kind) {
	case UP_EVENT_PROBE:
		handle_probe(e, kind, ev);
		break;
	case UP_EVENT_NEWTASK:
		e->nr_task_records++;
		handle_birth(e, thread_of(kind, rec), (pid_t)up_field_number(rec, &kind->task),
			     up_field_number(rec, &kind->flags));
		break;
	case UP_EVENT_EXIT:
		e->nr_task_records++;
		up_vm_died(&e->vm, (pid_t)up_field_number(rec, &kind->task));
		break;
	}
}

void up_engine_totals(const struct up_engine *e, struct up_out_totals *t)
{
	const struct up_counts *c = &e->vm.counts;

	*t = (struct up_out_totals){ .handled = c->handled,
				     .filtered = c->filtered,
				     .unpaired = c->unpaired,
				     .faults = c->faults,
				     .by_zero = c->by_zero,
				     .corrupt = e->corrupt,
				     .no_return = e->vm.calls.abandoned,
				     .too_deep = e->vm.calls.too_deep + e->vm.calls.not_kept,
				     .doubtful = e->vm.calls.doubtful,
				     .left_out = e->left_out,
				     .dropped_vars = up_vars_dropped(&e->vm.vars),
				     .cut_off = c->cut_off,
				     .no_room = c->no_room };
	for (uint32_t i = 0; i < e->plan->nr_aggs; i++)
		t->dropped_rows += e->vm.aggs[i].overflow;
}
