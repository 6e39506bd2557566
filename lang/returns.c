/* Choosing how returns are seen. */
#include "lang/returns.h"

#include <inttypes.h>

/* Functions of one target that could not be had as they were asked for. */
struct tally {
	unsigned harmed, unseen; /* left out: how many, for which reason */
	const char *harmed_example, *unseen_example;
	unsigned unsafe; /* taken although the program can be harmed */
	const char *unsafe_example;
};

/* One function. */
struct one {
	struct up_diags *ds;
	const struct up_env *env;
	const struct up_target *t;
	struct up_place_at *place;
	enum up_return_risk risk;
	struct up_why why; /* why its exits cannot be had */
};

/* ---- exits ---- */

static bool can_stand(struct one *f, const struct up_exit *e)
{
	const struct up_resolver *r = f->env->resolver;
	uint64_t off;

	return r->to_offset(r->ctx, f->t->object, e->addr, &off) == UP_PLACE_CODE &&
	       r->can_probe(r->ctx, f->t->object, e->addr, &f->why);
}

static bool add_exit(void *arg, const struct up_exit *e)
{
	struct one *f = arg;

	up_vec_push(f->ds->arena, &f->place->exits, *e);
	return f->place->exits.nr <= f->env->max_sites;
}

/* Finds all exits. False, with f->why, when that is not possible. */
static bool find_exits(struct one *f)
{
	const struct up_resolver *r = f->env->resolver;

	if (!r->exits(r->ctx, f->t->object, f->place->addr, add_exit, f, &f->why))
		return false;
	for (size_t i = 0; i < f->place->exits.nr; i++)
		if (!can_stand(f, &f->place->exits.v[i]))
			return false;
	f->place->returns = UP_RETURNS_EXITS;
	return true;
}

/* ---- refusing ---- */

static const char *text_of(const struct up_buf *b)
{
	return b->s ? b->s : "";
}

/* "lib:f: REASON", in the compilation's memory. */
static const char *example(struct one *f, const char *reason)
{
	return up_arena_printf(f->ds->arena, "%s: %s", f->place->shown, reason);
}

static bool refuse_unseen(struct one *f)
{
	const char *name = f->place->shown, *why = text_of(&f->why.msg);

	if (f->risk == UP_RETURN_SAFE) {
		up_error(f->ds, f->t->span, E_RETURN_PLACE,
			 "the places where %s returns cannot be found: %s", name, why);
		up_diag_hint(f->ds, "without --return=sites the kernel's return probe is taken, "
				    "which does this program no harm");
		return false;
	}
	up_error(f->ds, f->t->span, E_RETURN_PLACE,
		 "the places where %s returns cannot be found (%s), and the kernel's return probe "
		 "can end the program: %s",
		 name, why, f->place->risk);
	up_diag_hint(f->ds, "probe its entry alone, or what calls it; --return=kernel --unsafe "
			    "takes the kernel's return probe");
	return false;
}

static bool refuse_harm(struct one *f)
{
	up_error(f->ds, f->t->span, E_HARM,
		 "the kernel's return probe on %s can end the program: %s", f->place->shown,
		 f->place->risk);
	up_diag_hint(f->ds, "without --return=kernel its own return instructions are probed, which "
			    "does no harm; --unsafe allows it");
	return false;
}

/* ---- one function ---- */

/* By the kernel, although that can harm the program. */
static bool force_kernel(struct one *f, struct tally *sum)
{
	f->place->returns = UP_RETURNS_KERNEL;
	if (f->env->unsafe) {
		sum->unsafe++;
		sum->unsafe_example = example(f, f->place->risk);
		return true;
	}
	sum->harmed++;
	sum->harmed_example = example(f, f->place->risk);
	return f->t->is_pattern ? false : refuse_harm(f);
}

static bool decide_one(struct one *f, struct tally *sum)
{
	const struct up_resolver *r = f->env->resolver;
	enum up_return_how how = f->env->returns;
	struct up_buf risk = { 0 };

	f->risk = r->return_risk(r->ctx, f->t->object, f->place->addr, &risk);
	if (f->risk != UP_RETURN_SAFE)
		f->place->risk = up_arena_strdup(f->ds->arena, text_of(&risk));
	up_buf_fini(&risk);
	if (how == UP_RETURN_BY_KERNEL && f->risk != UP_RETURN_SAFE)
		return force_kernel(f, sum);
	f->place->returns = UP_RETURNS_KERNEL;
	if (how != UP_RETURN_BY_SITES && f->risk == UP_RETURN_SAFE)
		return true;
	if (find_exits(f))
		return true;
	sum->unseen++;
	sum->unseen_example = example(f, text_of(&f->why.msg));
	return f->t->is_pattern ? false : refuse_unseen(f);
}

/* ---- the target ---- */

static void put_left_out(struct up_buf *b, unsigned nr, const char *what, const char *example_of)
{
	if (nr)
		up_buf_printf(b, "%s%u %s %s (%s%s)", b->len ? ", " : "", nr,
			      nr == 1 ? "function" : "functions", what, example_of,
			      nr == 1 ? "" : ", ...");
}

static bool report(struct up_diags *ds, struct up_target *t, const struct tally *sum)
{
	struct up_buf b = { 0 };

	if (sum->unsafe == 1)
		up_error(ds, t->span, W_UNSAFE, "the kernel's return probe can end the program: %s",
			 sum->unsafe_example);
	else if (sum->unsafe)
		up_error(ds, t->span, W_UNSAFE,
			 "the kernel's return probes on %u functions can end the program (%s, ...)",
			 sum->unsafe, sum->unsafe_example);
	put_left_out(&b, sum->harmed, "of which the kernel's return probe can end the program",
		     sum->harmed_example);
	put_left_out(&b, sum->unseen, "whose returns cannot be found", sum->unseen_example);
	if (t->places.nr && b.len)
		up_error(ds, t->span, W_SKIPPED, "%s leaves out %s", t->location, b.s);
	else if (b.len)
		up_error(ds, t->span, sum->harmed ? E_HARM : E_RETURN_PLACE,
			 "of what matches %s nothing is left: %s", t->location, b.s);
	up_buf_fini(&b);
	return t->places.nr > 0;
}

bool up_returns_decide(struct up_diags *ds, const struct up_env *env, struct up_target *t)
{
	struct tally sum = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < t->places.nr; i++) {
		struct one f = { .ds = ds, .env = env, .t = t, .place = &t->places.v[i] };
		bool ok = decide_one(&f, &sum);

		up_why_fini(&f.why);
		if (ok)
			t->places.v[nr++] = t->places.v[i];
		else if (!t->is_pattern)
			return false;
	}
	t->places.nr = nr;
	return report(ds, t, &sum);
}
