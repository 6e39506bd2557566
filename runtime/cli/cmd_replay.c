/* Replaying: handlers on the events of a recording. */
#include <errno.h>
#include <inttypes.h>

#include "runtime/cli/cmd_replay.h"
#include "runtime/cli/modules.h"
#include "runtime/cli/run_saved.h"
#include "runtime/replay.h"

static int next_event(void *ctx, struct up_event *ev, struct up_status *st)
{
	return up_replay_next(ctx, ev, st);
}

static void add_totals(void *ctx, struct up_out_totals *t)
{
	const struct up_replay *r = ctx;

	/* The kernel's count at the end knows of losses that no page told. */
	t->lost += r->src.lost > r->says.lost ? r->src.lost : r->says.lost;
	t->lost_unknown |= r->src.lost_unknown && !t->lost;
	t->corrupt += r->merge.corrupt_pages;
	t->late += r->merge.late;
}

/* What was known when recording began. */
static void begin(void *ctx, struct up_engine *e)
{
	const struct up_replay *r = ctx;

	for (size_t i = 0; i < r->says.threads.nr; i++)
		up_procs_know(&e->vm.procs, r->says.threads.v[i].tid, r->says.threads.v[i].pid, 0);
	for (size_t i = 0; i < r->says.tracers.nr && i < 2; i++)
		e->own[i] = r->says.tracers.v[i];
	e->opts.only = r->says.process;
}

/* Losing a part in silence would be a wrong result. */
static void say_cut(const struct up_replay *r)
{
	uint64_t cut = r->dat.cut > UINT64_MAX - r->src.cut ? UINT64_MAX : r->dat.cut + r->src.cut;

	if (r->unfinished)
		up_complain("the recording %s was not ended: its last events are missing", r->path);
	if (cut)
		up_complain("%s is cut off: %" PRIu64 " bytes of events are missing", r->path, cut);
}

/* The program that was recorded, or another one, as the recording's places allow. */
static struct up_built compile(const struct up_opts *o, const char *name, const struct up_buf *text,
			       const struct up_replay *r)
{
	const struct up_recording *says = &r->says;
	struct up_modules own = up_recording_modules(says);
	struct up_built b = { .c = up_compile_new() };
	char real[PATH_MAX];
	struct up_env env = { .resolver = up_recorded_iface(says->places),
			      .aggs = up_agg_rows,
			      .args = (const char *const *)o->args,
			      .nr_args = (unsigned)o->nr_args,
			      .params = o->params,
			      .nr_params = o->nr_params,
			      .modules = up_module_finder_iface(o->modules),
			      .script_id = up_module_finder_script(o->script, real) ? real : NULL,
			      .args_used = &b.args_used,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES,
			      .unsafe = o->unsafe || says->unsafe };

	if (!b.c)
		return b;
	if (!name) {
		env.args = says->args.v;
		env.nr_args = (unsigned)says->args.nr;
		env.params = says->params.v;
		env.nr_params = (unsigned)says->params.nr;
		env.modules = &own;
		env.script_id = says->id;
	}
	b.plan = name ? up_compile(b.c, &env, name, text->s ? text->s : "", text->len)
		      : up_compile(b.c, &env, says->name, says->text, says->text_len);
	return b;
}

struct up_built up_replay_build(const struct up_opts *o, struct up_replay *r, const char *name,
				const struct up_buf *text)
{
	struct up_built b = compile(o, name, text, r);
	struct up_status st = { 0 };

	if (!b.plan || b.c->is_module)
		return b;
	int err = up_replay_bind(r, b.plan, &b.c->diags, &st);
	if (err && err != -ENOENT)
		up_report(&st);
	if (err) {
		up_plan_free(b.plan);
		b.plan = NULL;
	}
	return b;
}

int up_replay_run(const struct up_opts *o, const struct up_signals *sig, struct up_replay *r,
		  const struct up_built *b)
{
	struct up_saved src = { .ctx = r,
				.records = &r->bind.records,
				.begun_at = r->says.begun_at,
				.ended_at = r->says.ended_at,
				.wall_offset = r->says.wall_offset,
				.begin = begin,
				.next = next_event,
				.fd = -1,
				.merge = &r->merge,
				.gaps = &r->merge.gaps,
				.totals = add_totals };
	struct up_status st = { 0 };

	if (up_replay_start(r, &st)) {
		up_report(&st);
		return 1;
	}
	int status = up_run_saved(o, b->plan, sig, &src);
	say_cut(r);
	return status;
}
