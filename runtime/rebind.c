/* From recorded hits to the sites of another plan. */
#include "runtime/rebind.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/check.h"
#include "lang/types.h"

struct binder {
	struct up_rebind *b;
	const struct up_recording *r;
	const struct up_tracedat *d;
	const struct up_plan *plan;
	struct up_plan was; /* the plan that was recorded, as far as records tell */
	struct up_diags *ds;
	struct up_buf *why;
	struct up_field **of; /* for each recorded event its fields, as `was` has the arguments */
	UP_VEC(struct up_span) told; /* pieces of the script that were reported */
	int err;
};

/* ---- the recorded plan ---- */

static bool set_arg(struct up_plan_arg *to, const struct up_rec_arg *from)
{
	struct up_type t = UP_TYPE_NONE;

	to->name = from->name;
	to->fetch = from->fetch;
	to->type = from->type;
	if (!up_type_of_kernel(from->type, &t, &to->size))
		return false;
	to->is_signed = t.ty == TY_INT && t.is_signed;
	return true;
}

static void make_was(struct binder *x)
{
	struct up_arena *a = x->b->arena;
	struct up_plan *was = &x->was;

	was->nr_events = (uint32_t)x->r->events.nr;
	was->events = up_newn(a, struct up_plan_event, was->nr_events + 1);
	for (uint32_t i = 0; i < was->nr_events && !x->err; i++) {
		const struct up_rec_event *e = &x->r->events.v[i];
		struct up_plan_event *to = &was->events[i];

		to->name = "";
		to->is_return = e->is_return;
		to->is_exit = e->is_exit;
		to->nr_args = (uint32_t)e->args.nr;
		to->args = up_newn(a, struct up_plan_arg, e->args.nr + 1);
		for (uint32_t k = 0; k < to->nr_args && !x->err; k++)
			if (!set_arg(&to->args[k], &e->args.v[k])) {
				up_buf_printf(x->why, "it has values of an unknown type");
				x->err = -EPROTO;
			}
	}
}

/* ---- how its records look ---- */

/* Does the description begin with "name: NAME"? */
static bool is_named(const struct up_tracedat_text *t, const char *name)
{
	size_t len = strlen(name);

	return t->len > 6 + len && !memcmp(t->s, "name: ", 6) && !memcmp(t->s + 6, name, len) &&
	       t->s[6 + len] == '\n';
}

static bool is_kernels(const char *system)
{
	return !strcmp(system, "task") || !strcmp(system, "sched");
}

static const struct up_tracedat_format *find_format(const struct binder *x, const char *system,
						    const char *name)
{
	for (size_t i = 0; i < x->d->formats.nr; i++) {
		const struct up_tracedat_format *f = &x->d->formats.v[i];
		bool fits = system ? !strcmp(f->system, system) : !is_kernels(f->system);

		if (fits && is_named(&f->text, name))
			return f;
	}
	return NULL;
}

/*
 * Notes where the arguments of a recorded event stand, which is the same in all kernel's events
 * that it became. False when it is not: what is read of one would lie beyond the end of another.
 */
static bool note_fields(struct binder *x, const struct up_record_event *e)
{
	struct up_field **known = &x->of[e->event];
	size_t nr = x->was.events[e->event].nr_args;

	if (*known)
		return !memcmp(*known, e->args, nr * sizeof(**known));
	*known = e->args;
	return true;
}

static void add_record(struct binder *x, struct up_record_event model,
		       const struct up_tracedat_format *f)
{
	struct up_status st = { 0 };
	int err = up_records_describe(&model, &x->was, f->text.s, f->text.len, &st);

	if (!err && model.kind == UP_EVENT_PROBE && !note_fields(x, &model))
		err = -EPROTO;
	if (err)
		free(model.args);
	else
		err = up_records_add(&x->b->records, &model);
	x->err = err;
	if (err && err != -ENOMEM) {
		up_buf_puts(x->why, "its events are not as they are described");
		x->err = -EPROTO;
	}
}

static void add_records(struct binder *x)
{
	static const struct {
		const char *system, *name;
		enum up_record_kind kind;
	} tasks[] = { { "task", "task_newtask", UP_EVENT_NEWTASK },
		      { "sched", "sched_process_exit", UP_EVENT_EXIT } };
	const struct up_tracedat_format *f;

	for (size_t i = 0; i < x->r->kernel.nr && !x->err; i++) {
		const struct up_rec_kernel *k = &x->r->kernel.v[i];

		f = find_format(x, NULL, k->name);
		if (f) {
			add_record(x,
				   (struct up_record_event){ .kind = UP_EVENT_PROBE,
							     .event = k->event,
							     .site = k->site },
				   f);
		} else {
			up_buf_puts(x->why, "an event that it names is not described");
			x->err = -EPROTO;
		}
	}
	for (size_t i = 0; i < 2 && !x->err; i++) {
		f = find_format(x, tasks[i].system, tasks[i].name);
		if (f)
			add_record(x,
				   (struct up_record_event){ .kind = tasks[i].kind,
							     .event = UP_NONE,
							     .site = UP_NONE },
				   f);
	}
}

/* ---- where a value stands ---- */

/* Takes "+8(%di)" apart: what is added, and what in brackets. */
static bool split_memory(const char *fetch, int64_t *off, const char **base)
{
	char *end;

	if (*fetch != '+' && *fetch != '-')
		return false;
	errno = 0;
	*off = strtoll(fetch, &end, 10);
	*base = end;
	return !errno && *end == '(';
}

/* How many bytes into recorded memory the wanted memory begins; negative: it is no part of it. */
static int64_t part_of(const struct up_plan_arg *have, const struct up_plan_arg *want)
{
	const char *a, *b;
	int64_t from, to, at;

	if (!strcmp(have->fetch, want->fetch))
		return 0;
	if (!split_memory(have->fetch, &from, &a) || !split_memory(want->fetch, &to, &b) ||
	    strcmp(a, b) != 0 || __builtin_sub_overflow(to, from, &at))
		return -1;
	return at;
}

/* A number at the start of a wider register, or a piece of memory in a longer one. */
static bool narrow(const struct up_plan_arg *have, const struct up_field *f,
		   const struct up_plan_arg *want, struct up_field *out)
{
	int64_t at = part_of(have, want);
	bool is_memory = strchr("+-@", *want->fetch);

	if (!have->size || !want->size || at < 0 || at + want->size > have->size)
		return false;
	/* The low end of a register comes first in the byte order of x86 and of arm64. */
	if (!is_memory && (strchr(have->type, '[') || strchr(want->type, '[')))
		return false;
	*out = (struct up_field){ .off = (uint16_t)(f->off + at),
				  .size = want->size,
				  .is_signed = want->is_signed };
	return true;
}

static bool is_bit_field(const char *type)
{
	return type[0] == 'b' && type[1] >= '0' && type[1] <= '9';
}

static bool find_value(const struct up_plan_event *e, const struct up_field *fields,
		       const struct up_plan_arg *want, struct up_field *out)
{
	for (uint32_t i = 0; i < e->nr_args; i++) {
		const struct up_plan_arg *have = &e->args[i];

		if (strcmp(have->fetch, want->fetch) != 0 || strcmp(have->type, want->type) != 0)
			continue;
		*out = fields[i];
		return true;
	}
	for (uint32_t i = 0; i < e->nr_args; i++)
		if (!is_bit_field(e->args[i].type) && !is_bit_field(want->type) &&
		    narrow(&e->args[i], &fields[i], want, out))
			return true;
	return false;
}

/* The fields of a plan's event in the records of a recorded one; NULL when some are missing. */
static struct up_field *find_fields(struct binder *x, uint32_t recorded, uint32_t event,
				    const struct up_plan_arg **missing)
{
	const struct up_plan_event *e = &x->plan->events[event];
	struct up_field *fields = up_newn(x->b->arena, struct up_field, e->nr_args + 1);

	for (uint32_t i = 0; i < e->nr_args; i++)
		if (!find_value(&x->was.events[recorded], x->of[recorded], &e->args[i],
				&fields[i])) {
			*missing = &e->args[i];
			return NULL;
		}
	return fields;
}

/* ---- which hits ---- */

/* Fields that were found, or not, for a pair of events. */
struct pair {
	struct up_field *fields; /* or NULL */
	const struct up_plan_arg *missing;
};

static const struct pair *find_pair(struct binder *x, uint32_t recorded, uint32_t event)
{
	uint64_t key = (uint64_t)recorded << 32 | event;
	struct pair **known = up_table_at(&x->b->pairs, &key, sizeof(key));

	if (!known || !*known) {
		struct pair *new = up_new(x->b->arena, struct pair);

		new->fields = find_fields(x, recorded, event, &new->missing);
		if (!known)
			return new;
		*known = new;
	}
	return *known;
}

static int by_place(const void *va, const void *vb, void *arg)
{
	const struct up_recording *r = arg;
	uint32_t i = *(const uint32_t *)va, k = *(const uint32_t *)vb;
	const struct up_rec_site *a = &r->sites.v[i], *b = &r->sites.v[k];

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (i > k) - (i < k);
}

/* The first of the recorded sites, ordered by address, at or above one. */
static size_t first_at(const struct up_recording *r, const uint32_t *order, uint64_t addr)
{
	size_t low = 0, high = r->sites.nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->sites.v[order[middle]].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Were all hits recorded that this condition of the kernel's lets pass? */
static bool holds_all(const struct up_rec_site *s, const char *filter)
{
	return !s->filter || (filter && !strcmp(s->filter, filter));
}

/* The span, and the type that stands behind it. */
static struct up_span with_type(const struct binder *x, struct up_span span)
{
	const struct up_source *src = &x->ds->sources->list.v[span.src];
	size_t at = (size_t)span.off + span.len;

	if (at >= src->len || src->text[at] != ':')
		return span;
	for (at++; at < src->len && (isalnum((unsigned char)src->text[at]) ||
				     (src->text[at] && strchr("[]@/_", src->text[at])));)
		at++;
	span.len = (uint32_t)(at - span.off);
	return span;
}

/* What stands in the script where a value is fetched, to be written into a command. */
static void put_source(const struct binder *x, struct up_span span, struct up_buf *b)
{
	up_buf_puts(b, up_source_label(x->ds, x->b->arena, with_type(x, span)));
}

static bool was_told(struct binder *x, struct up_span span)
{
	for (size_t i = 0; i < x->told.nr; i++)
		if (x->told.v[i].src == span.src && x->told.v[i].off == span.off &&
		    x->told.v[i].len == span.len)
			return true;
	up_vec_push(x->b->arena, &x->told, span);
	return false;
}

static bool is_at_return(const struct binder *x, const struct up_plan_site *s)
{
	return x->plan->progs[s->prog].is_return;
}

/* A value that no record of the place has. */
static void tell_missing(struct binder *x, const struct up_plan_site *s,
			 const struct up_plan_arg *arg)
{
	struct up_buf what = { 0 };

	x->err = -ENOENT;
	if (was_told(x, arg->span))
		return;
	put_source(x, arg->span, &what);
	up_error(x->ds, arg->span, E_NOT_RECORDED,
		 "the recording lacks `%s` of %s: nothing in it was fetched as %s:%s",
		 what.s ? what.s : "", s->func, arg->fetch, arg->type);
	up_diag_hint(x->ds, "record it: uptick record -o FILE -e 'probe %s%s < print(%s) >'",
		     s->probe, is_at_return(x, s) ? " on return" : "", what.s ? what.s : "");
	up_buf_fini(&what);
}

static void tell_no_site(struct binder *x, const struct up_plan_site *s)
{
	bool is_return = is_at_return(x, s);

	x->err = -ENOENT;
	if (was_told(x, s->span))
		return;
	up_error(x->ds, s->span, E_NOT_RECORDED, "the recording has no %s of %s",
		 is_return ? "returns" : "calls", s->func);
	up_diag_hint(x->ds, "record them: uptick record -o FILE -e 'probe %s%s < count() >'",
		     s->probe, is_return ? " on return" : "");
}

static void tell_filtered(struct binder *x, const struct up_plan_site *s,
			  const struct up_rec_site *was)
{
	if (was_told(x, s->span))
		return;
	up_error(x->ds, s->span, W_PARTLY_RECORDED,
		 "the recording has only those hits of %s for which %s", s->func, was->filter);
	up_diag_hint(x->ds, "--no-kernel-filter records all");
}

static bool is_alike(const struct up_plan_event *a, const struct up_plan_event *b)
{
	return a->is_return == b->is_return && a->is_exit == b->is_exit;
}

/* The recorded site whose hits a site of the plan gets; UP_NONE after a diagnostic. */
static uint32_t choose(struct binder *x, const uint32_t *order, uint32_t site,
		       struct up_field **fields)
{
	const struct up_plan_site *s = &x->plan->sites[site];
	const char *filter = x->plan->progs[s->prog].filter;
	const struct up_plan_arg *missing = NULL;
	uint32_t best = UP_NONE;
	bool is_whole = false;

	for (size_t i = first_at(x->r, order, s->addr); i < x->r->sites.nr; i++) {
		const struct up_rec_site *was = &x->r->sites.v[order[i]];

		if (was->addr != s->addr)
			break;
		if (strcmp(was->path, s->path) != 0 || !x->of[was->event] ||
		    !is_alike(&x->was.events[was->event], &x->plan->events[s->event]))
			continue;
		const struct pair *pair = find_pair(x, was->event, s->event);
		if (!pair->fields) {
			missing = pair->missing;
			continue;
		}
		if (best != UP_NONE && (is_whole || !holds_all(was, filter)))
			continue;
		best = order[i];
		is_whole = holds_all(was, filter);
		*fields = pair->fields;
	}
	if (best != UP_NONE && !is_whole)
		tell_filtered(x, s, &x->r->sites.v[best]);
	else if (best == UP_NONE && missing)
		tell_missing(x, s, missing);
	else if (best == UP_NONE)
		tell_no_site(x, s);
	return best;
}

/* Routes are put in front of each other, so sites are gone through from the last to the first. */
static void add_routes(struct binder *x)
{
	struct up_routes *to = &x->b->routes;
	uint32_t nr = (uint32_t)x->r->sites.nr;
	uint32_t *order = up_newn(x->b->arena, uint32_t, nr + 1);

	for (uint32_t i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), by_place, (void *)x->r);
	uint32_t *first = up_newn(x->b->arena, uint32_t, nr + 1);
	uint32_t *event_of = up_newn(x->b->arena, uint32_t, nr + 1);
	*to = (struct up_routes){ .first = first, .event_of = event_of, .nr = nr };
	to->list = up_newn(x->b->arena, struct up_route, x->plan->nr_sites + 1);
	for (uint32_t i = 0; i < nr; i++)
		event_of[i] = x->r->sites.v[i].event;
	for (uint32_t i = x->plan->nr_sites; i-- > 0;) {
		struct up_field *fields = NULL;
		uint32_t was = choose(x, order, i, &fields);

		if (was == UP_NONE)
			continue;
		to->list[i] = (struct up_route){ i, fields, first[was] };
		first[was] = i + 1;
	}
	x->b->records.routes = to;
}

static void bind(struct binder *x)
{
	make_was(x);
	if (!x->err)
		x->of = up_newn(x->b->arena, struct up_field *, x->was.nr_events + 1);
	if (!x->err)
		x->err = up_records_init(&x->b->records, x->r->kernel.nr + 2);
	if (!x->err)
		add_records(x);
	if (!x->err)
		add_routes(x);
}

int up_rebind_init(struct up_rebind *b, const struct up_recording *r, const struct up_tracedat *d,
		   const struct up_plan *plan, struct up_diags *ds, struct up_buf *why)
{
	struct binder x = { .b = b, .r = r, .d = d, .plan = plan, .ds = ds, .why = why };
	jmp_buf oom;

	*b = (struct up_rebind){ .arena = up_arena_new() };
	up_table_init(&b->pairs, sizeof(struct pair *), 0);
	if (!b->arena)
		return -ENOMEM;
	up_arena_on_oom(b->arena, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(b->arena, NULL);
		return -ENOMEM;
	}
	bind(&x);
	up_arena_on_oom(b->arena, NULL);
	return x.err;
}

void up_rebind_fini(struct up_rebind *b)
{
	up_records_fini(&b->records);
	up_table_fini(&b->pairs);
	up_arena_free(b->arena);
	*b = (struct up_rebind){ 0 };
}
