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
	if (opts->counts_probes) {
		e->hits = calloc(plan->nr_probes + 1, sizeof(*e->hits));
		e->received = calloc(UINT16_MAX + 1, sizeof(*e->received));
	}
	if (err || !e->due || (opts->counts_probes && (!e->hits || !e->received)))
		return up_status_set(st, err ? err : -ENOMEM, NULL, "cannot set up the handlers");
	return 0;
}

static void free_lanes(struct up_engine *e)
{
	struct up_lane *next;

	for (struct up_lane *lane = e->made; lane; lane = next) {
		next = lane->next;
		up_lane_free(lane);
	}
	free(e->lanes);
	e->made = e->last_lane = NULL;
	e->lanes = NULL;
	e->nr_lanes = 0;
}

void up_engine_fini(struct up_engine *e)
{
	if (e->vm.plan)
		up_vm_fini(&e->vm);
	free(e->due);
	free(e->hits);
	free(e->received);
	e->due = NULL;
	e->hits = e->received = NULL;
	free_lanes(e);
}

void up_engine_set_gaps(struct up_engine *e, struct up_gaps *gaps)
{
	e->gaps = gaps;
	e->vm.calls.gaps = gaps;
	e->vm.procs.gaps = gaps;
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

/* The next of the times `due`, due + every ... behind `now`; 0 when there is none. */
static uint64_t find_next(uint64_t due, uint64_t every, uint64_t now)
{
	uint64_t left = every - (now - due) % every;

	return now <= UINT64_MAX - left ? now + left : 0;
}

void up_engine_timers(struct up_engine *e, uint64_t now)
{
	for (uint32_t i = 0; i < e->plan->nr_blocks && !up_engine_is_over(e); i++) {
		uint64_t every = e->plan->blocks[i].every;

		if (!e->due[i] || e->due[i] > now)
			continue;
		up_vm_block(&e->vm, i, now);
		e->due[i] = find_next(e->due[i], every, now);
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
	return !e->counts_only && (up_engine_is_over(e) || (e->is_recording && urgency(e)));
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
	if (e->hits && !e->records->routes)
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
	if (e->hits && !e->records->routes)
		memcpy(next->hits, e->hits, s->nr_probes * sizeof(*e->hits));
	free(e->due);
	free(e->hits);
	e->due = next->due;
	e->hits = next->hits;
	up_vm_succeed(&e->vm, &next->vm, s, now);
	e->plan = plan;
	free_lanes(e); /* they are of the old plan */
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
static bool is_foreign(struct up_engine *e, pid_t tid, uint64_t time)
{
	if (tid && (tid == e->own[0] || tid == e->own[1]))
		return true;
	return e->opts.only && up_procs_of(&e->vm.procs, tid, time) != e->opts.only;
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

/* How many numbers of sites records can have. */
static uint32_t count_sites(const struct up_engine *e)
{
	return e->records->routes ? e->records->routes->nr : e->plan->nr_sites;
}

/* Makes room for the sites that there are by now. */
static bool has_lane_room(struct up_engine *e, uint32_t site)
{
	struct up_lane **lanes;
	uint32_t nr = count_sites(e);

	if (site < e->nr_lanes)
		return true;
	lanes = reallocarray(e->lanes, nr, sizeof(*lanes));
	if (!lanes)
		return false;
	memset(lanes + e->nr_lanes, 0, (nr - e->nr_lanes) * sizeof(*lanes));
	e->lanes = lanes;
	e->nr_lanes = nr;
	return true;
}

/* The handler of a recorded site and what it reads; false when it has none, or several. */
static bool has_one_prog(const struct up_engine *e, const struct up_record_event *kind,
			 uint32_t site, uint32_t *prog, const struct up_field **args)
{
	const struct up_routes *routes = e->records->routes;
	const struct up_route *r;

	if (!routes) {
		*prog = e->plan->sites[site].prog;
		*args = kind->args;
		return true;
	}
	r = routes->first[site] ? &routes->list[routes->first[site] - 1] : NULL;
	if (!r || r->next)
		return false;
	*prog = e->plan->sites[r->site].prog;
	*args = r->args;
	return true;
}

/* After the first hit of a site: the next ones can go in a lane, that of the site before it. */
static void find_lane(struct up_engine *e, const struct up_record_event *kind, uint32_t site)
{
	struct up_lane *lane = e->made;
	const struct up_field *args;
	uint32_t prog;

	if (!has_lane_room(e, site) || e->lanes[site])
		return;
	e->lanes[site] = &e->no_lane;
	if (!has_one_prog(e, kind, site, &prog, &args))
		return;
	if (!lane || lane->id != kind->id || lane->prog != prog || lane->args != args) {
		lane = up_lane_new(&e->vm, prog, kind, args);
		if (!lane)
			return;
		lane->next = e->made;
		e->made = lane;
	}
	e->lanes[site] = lane;
}

/* Where hits of a kind are counted. */
static uint64_t *count_of(struct up_engine *e, const struct up_record_event *kind)
{
	return kind->ret_ip.size ? &e->returns[kind->is_filtered] : &e->entries;
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
	++*count_of(e, kind);
	if (e->received)
		e->received[kind->id]++;
	hit.tid = thread_of(kind, rec);
	if (is_foreign(e, hit.tid, ev->ts)) {
		e->foreign++;
		return;
	}
	if (e->counts_only) {
		e->outside++;
		return;
	}
	if (!e->is_recording && urgency(e) > 1) {
		e->left_out++;
		return;
	}
	if (e->hits && !e->records->routes)
		e->hits[e->plan->progs[e->plan->sites[site].prog].probe]++;
	hit.place = up_field_number(rec, &kind->ip);
	hit.ip = kind->ret_ip.size ? up_field_number(rec, &kind->ret_ip) : hit.place;
	if (e->records->routes)
		hit_routed(e, site, &hit);
	else
		up_vm_hit(&e->vm, &hit);
	find_lane(e, kind, site);
}

static void handle_birth(struct up_engine *e, pid_t parent, pid_t child, uint64_t flags,
			 uint64_t time)
{
	up_vm_born(&e->vm, child);
	up_procs_born(&e->vm.procs, parent, child, flags, time);
	/* With its own copy of the stack, or its parent waiting, the child returns from what its
	 * parent is in. */
	if (!(flags & CLONE_VM) || (flags & CLONE_VFORK))
		up_calls_fork(&e->vm.calls, parent, child);
}

/* Only pairs and processes ask where events were lost, and those are in no lane. */
static void note_gap(struct up_engine *e, uint64_t ts)
{
	if (!e->gap_at || ts < e->gap_at)
		return;
	up_gaps_note_all(e->gaps, ts);
	e->gap_at = 0;
}

void up_engine_event(struct up_engine *e, const struct up_event *ev)
{
	const unsigned char *rec = ev->payload;
	uint16_t id;

	note_gap(e, ev->ts);
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
			     up_field_number(rec, &kind->flags), ev->ts);
		break;
	case UP_EVENT_EXIT:
		e->nr_task_records++;
		up_vm_died(&e->vm, (pid_t)up_field_number(rec, &kind->task));
		break;
	}
}

/* ---- many records ---- */

/* Hits in lanes are handled so quickly that so many may come between two looks. */
#define LOOK_EVERY 256

/* Records of one kind, as far as lanes need to know them. */
struct view {
	uint32_t id;          /* NO_ID: there is none such */
	uint32_t size;        /* what a record has at least */
	uint32_t site_at;     /* where the number of the site stands, 4 bytes */
	uint32_t tid_at;      /* likewise */
	uint64_t *seen;       /* counts such records */
	uint32_t site;        /* the site that was hit last, UP_NONE: none */
	struct up_lane *lane; /* its lane */
	uint64_t *hits;       /* counts those of its probe, where that is asked for; or NULL */
};

#define NO_ID UINT32_MAX

static struct view view_of(struct up_engine *e, uint16_t id)
{
	const struct up_record_event *kind = up_records_find(e->records, id);

	if (!kind || kind->kind != UP_EVENT_PROBE || kind->site_field.size != sizeof(uint32_t) ||
	    kind->tid.size != sizeof(uint32_t))
		return (struct view){ .id = NO_ID, .site = UP_NONE };
	return (struct view){ .id = id,
			      .size = kind->fixed_size,
			      .site_at = kind->site_field.off,
			      .tid_at = kind->tid.off,
			      .seen = count_of(e, kind),
			      .site = UP_NONE };
}

static uint32_t load4(const unsigned char *p)
{
	uint32_t u32;

	memcpy(&u32, p, sizeof(u32));
	return u32;
}

/* What was gathered before goes first, where order matters. */
static inline void keep_order(struct up_engine *e, struct up_lane *next)
{
	if (e->last_lane != next) {
		if (e->plan->needs_order && e->last_lane)
			up_lane_run(e->last_lane, &e->vm);
		e->last_lane = next;
	}
}

/* The lane of a site, after what was gathered before is settled as far as order demands it. */
static struct up_lane *enter_lane(struct up_engine *e, struct view *v, uint32_t site)
{
	struct up_lane *lane = site < e->nr_lanes ? e->lanes[site] : NULL;

	if (!lane || lane->id != v->id)
		return NULL;
	keep_order(e, lane);
	v->site = site;
	v->lane = lane;
	v->hits = e->hits ? &e->hits[e->plan->progs[lane->prog].probe] : NULL;
	return lane;
}

/* Gathers a hit in its lane. False when it has none, or is not to be handled. */
static inline __attribute__((always_inline)) bool take_in_lane(struct up_engine *e, struct view *v,
							       const struct up_event *ev)
{
	const unsigned char *rec = ev->payload;
	uint16_t id;

	memcpy(&id, rec, sizeof(id)); /* an event has at least 4 bytes */
	if (id != v->id)
		*v = view_of(e, id);
	if (id != v->id || ev->len < v->size)
		return false;
	uint32_t site = load4(rec + v->site_at);
	pid_t tid = (pid_t)load4(rec + v->tid_at);
	struct up_lane *lane = site == v->site ? v->lane : enter_lane(e, v, site);
	if (!lane || tid == e->own[0] || tid == e->own[1])
		return false;
	++*v->seen;
	if (v->hits) {
		++*v->hits;
		++e->received[id];
	}
	up_lane_add(lane, &e->vm, ev);
	return true;
}

/* May hits be taken in lanes at all? Not where each one must be looked at for something else. */
static bool may_use_lanes(const struct up_engine *e)
{
	return !e->opts.only && !e->opts.max_handled && !e->counts_only &&
	       (e->is_recording || urgency(e) < 2);
}

/* Gathers, of the events that come next, those up to the first that has no lane. */
static void take_in_lanes(struct up_engine *e, struct view *v, struct up_merge *m, uint64_t limit)
{
	struct up_merge_run run;
	struct up_event ev;

	if (!up_merge_begin_run(m, limit, &run))
		return;
	for (unsigned i = 0; i < LOOK_EVERY && up_merge_peek(&run, &ev); i++) {
		if (!take_in_lane(e, v, &ev))
			break;
		up_merge_step(&run, &ev);
	}
	up_merge_end_run(m, &run);
}

/* Nothing stays gathered: records are borrowed, and whoever asks for results gets all of them. */
static void run_lanes(struct up_engine *e)
{
	for (struct up_lane *lane = e->made; lane; lane = lane->next)
		if (lane->nr)
			up_lane_run(lane, &e->vm);
	e->last_lane = NULL;
}

bool up_engine_take(struct up_engine *e, struct up_merge *m, uint64_t limit)
{
	struct view v = { .id = NO_ID, .site = UP_NONE };
	struct up_event ev;
	bool any = false;

	while (!up_engine_is_cut_short(e) && up_merge_next(m, limit, &ev)) {
		any = true;
		if (!may_use_lanes(e) || ev.len < sizeof(uint16_t) || !take_in_lane(e, &v, &ev)) {
			keep_order(e, NULL);
			v.site = UP_NONE;
			up_engine_event(e, &ev);
		} else {
			take_in_lanes(e, &v, m, limit);
		}
	}
	run_lanes(e);
	return any;
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
				     .outside = e->outside,
				     .left_out = e->left_out,
				     .dropped_vars = up_vars_dropped(&e->vm.vars),
				     .cut_off = c->cut_off,
				     .no_room = c->no_room };
	for (uint32_t i = 0; i < e->plan->nr_aggs; i++)
		t->dropped_rows += e->vm.aggs[i].overflow;
}
