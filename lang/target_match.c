/* Patterns in targets: all functions that match, without those where no probe can stand. */
#include "lang/target_int.h"

/* What a pattern leaves out, and an example of why. */
struct skipped {
	unsigned ifuncs, untyped, refused; /* how many of each kind */
	const char *ifunc, *label, *other; /* an example of each */
	const char *why;                   /* of `other` */
};

/* Adds a pattern's symbol when a probe can stand there, else counts it. */
static void add_matched(struct up_diags *ds, const struct up_env *env, struct up_target *t,
			const struct up_symbol *s, struct skipped *sk)
{
	const struct up_resolver *r = env->resolver;
	struct up_why why = { 0 };
	uint64_t off;

	if (s->kind == UP_SYM_DATA || (t->object->is_go && up_go_is_piece(s->name)))
		return;
	if (s->kind == UP_SYM_IFUNC) {
		sk->ifuncs++;
		sk->ifunc = s->name;
	} else if (s->kind == UP_SYM_NOTYPE) {
		sk->untyped++;
		sk->label = s->name;
	} else if (r->to_offset(r->ctx, t->object, s->addr, &off) != UP_PLACE_CODE) {
		return;
	} else if (!r->can_probe(r->ctx, t->object, s->addr, &why)) {
		sk->refused++;
		sk->other = s->name;
		if (why.msg.s)
			sk->why = up_arena_strdup(ds->arena, why.msg.s);
	} else {
		up_target_add_place(ds, t, s->addr, off, s->name, 0);
	}
	up_why_fini(&why);
}

/* "3 labels (x, ...)", with a comma before it when something stands there. */
static void put_skipped(struct up_buf *b, unsigned nr, const char *one, const char *many,
			const char *example)
{
	if (nr)
		up_buf_printf(b, "%s%u %s (%s%s)", b->len ? ", " : "", nr, nr == 1 ? one : many,
			      example, nr == 1 ? "" : ", ...");
}

static void warn_skipped(struct up_diags *ds, const struct up_loc *l, const struct skipped *sk)
{
	struct up_buf b = { 0 };

	put_skipped(&b, sk->ifuncs, "indirect function", "indirect functions", sk->ifunc);
	put_skipped(&b, sk->untyped, "label without a type", "labels without a type", sk->label);
	put_skipped(&b, sk->refused, "function where no probe can stand",
		    "functions where no probe can stand",
		    sk->refused ? up_arena_printf(ds->arena, "%s: %s", sk->other,
						  sk->why ? sk->why : "")
				: "");
	if (b.len)
		up_error(ds, l->span, W_SKIPPED, "%s leaves out %s", l->m.s, b.s);
	up_buf_fini(&b);
}

static bool add_all(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
		    struct up_target *t, const struct walk *w)
{
	struct skipped sk = { 0 };

	for (size_t i = 0; i < w->found.nr; i++)
		if (!i || w->found.v[i].addr != w->found.v[i - 1].addr)
			add_matched(ds, env, t, &w->found.v[i], &sk);
	warn_skipped(ds, l, &sk);
	if (t->places.nr)
		return true;
	up_error(ds, l->span, E_SYMBOL, "no function of %s matches %s%s",
		 up_target_shown(ds, t->object->name), up_target_shown(ds, l->m.s),
		 w->found.nr ? ": what matches is no code that can be probed" : "");
	up_target_hint_names(ds, env, t);
	return false;
}

bool up_target_add_pattern(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			   struct up_target *t, struct up_query *q, const regex_t *re)
{
	struct up_source_pattern p;
	struct walk w = { .regex = re };

	if (!up_is_source_pattern(l->m.s))
		return up_target_gather(ds, env, l, q, t, &w) && add_all(ds, env, l, t, &w);
	up_source_pattern_init(&p, re ? NULL : q->pattern, re);
	w.pattern = &p;
	q->pattern = p.prefilter.s ? p.prefilter.s : "*";
	bool ok = up_target_gather(ds, env, l, q, t, &w);
	up_source_pattern_fini(&p);
	return ok && add_all(ds, env, l, t, &w);
}
