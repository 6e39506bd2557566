/* The program of the prompt: declarations, compiled together each time one comes or goes. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lang/plan_succeed.h"
#include "lang/prompt.h"
#include "runtime/cli/modules.h"
#include "runtime/cli/repl_int.h"
#include "runtime/clock.h"

/* ---- declarations and programs ---- */

struct up_decl *up_decl_new(struct up_repl *r, const char *text, size_t len, uint32_t hidden)
{
	struct up_decl *d = calloc(1, sizeof(*d));
	char *copy = d ? malloc(len + 1) : NULL;

	if (!copy) {
		free(d);
		return NULL;
	}
	memcpy(copy, text, len);
	copy[len] = 0;
	d->text = (struct up_text){ copy, len };
	d->hidden = hidden;
	d->number = ++r->nr_decls;
	d->next = r->decls;
	r->decls = d;
	return d;
}

bool up_program_copy(const struct up_program *p, size_t more, struct up_program *out)
{
	out->v = calloc(p->nr + more + 1, sizeof(*out->v));
	out->nr = p->nr;
	if (out->v && p->nr)
		memcpy(out->v, p->v, p->nr * sizeof(*out->v));
	return out->v;
}

#define UNDO_MAX 200 /* steps that can be undone */

void up_program_push(struct up_repl *r, struct up_program old)
{
	if (r->nr_undo == UNDO_MAX) {
		free(r->undo[0].v);
		memmove(r->undo, r->undo + 1, --r->nr_undo * sizeof(*r->undo));
	}
	struct up_program *more = reallocarray(r->undo, r->nr_undo + 1, sizeof(*more));
	if (!more) {
		free(old.v);
		return;
	}
	r->undo = more;
	more[r->nr_undo++] = old;
}

void up_program_fini(struct up_repl *r)
{
	for (size_t i = 0; i < r->nr_undo; i++)
		free(r->undo[i].v);
	free(r->undo);
	free(r->program.v);
	while (r->decls) {
		struct up_decl *next = r->decls->next;

		free((char *)r->decls->text.s);
		free(r->decls->sets);
		free(r->decls->gives);
		free(r->decls);
		r->decls = next;
	}
	free(r->probes);
	free(r->blocks);
	up_plan_free(r->plan);
	up_elf_resolver_free(r->elf);
}

/* ---- compiling ---- */

/* One try to compile. */
struct attempt {
	struct up_repl *r;
	const struct up_program *program;
	const struct up_text *once;
	struct up_compile *c;
	struct up_plan *plan;
	struct up_origin *probes, *blocks; /* of the plan as it was compiled */
	uint32_t *old_probes, *old_blocks; /* up_succession.probes, .blocks */
	size_t nr_parts;
};

static void attempt_fini(struct attempt *a)
{
	up_compile_free(a->c);
	up_plan_free(a->plan);
	free(a->probes);
	free(a->blocks);
	free(a->old_probes);
	free(a->old_blocks);
}

static bool say_no_memory(struct up_repl *r)
{
	up_repl_say(r, "out of memory");
	return false;
}

/* The resolver stays, so that what is compiled again finds the files that it found before. */
static bool open_resolver(struct up_repl *r)
{
	struct up_elf_options eo = { .pid = r->seen_by, .compile_once = true };

	if (r->elf)
		up_elf_resolver_refresh(r->elf, r->plan);
	else
		r->elf = up_elf_resolver_new(&eo);
	return r->elf;
}

/* Warnings of declarations that have been there before were shown then. */
static void drop_old_warnings(struct attempt *a)
{
	struct up_diags *ds = &a->c->diags;
	size_t nr = 0;

	for (size_t i = 0; i < ds->list.nr; i++) {
		struct up_span at;

		up_source_use(&a->c->sources, ds->list.v[i].span, &at);
		bool is_old = at.src < a->program->nr && a->program->v[at.src].decl->is_in;
		if (!is_old || ds->list.v[i].severity == UP_SEV_ERROR)
			ds->list.v[nr++] = ds->list.v[i];
	}
	ds->list.nr = nr;
}

static void show_diags(struct attempt *a)
{
	drop_old_warnings(a);
	a->c->diags.columns = a->r->out.columns;
	up_diag_text(&a->c->diags, &a->r->out.buf, a->r->out.colour);
}

/* ---- beside the loop ---- */

/* A thread that compiles, while what happens is handled by the plan that runs. */
struct builder {
	struct attempt *a;
	const struct up_part *parts;
	size_t nr;
	int done;      /* eventfd */
	bool unwanted; /* the thread is to give up */
};

static void build(const struct builder *b)
{
	const struct up_repl *r = b->a->r;

	b->a->plan = up_build_parts(r->o, r->elf, b->a->c, b->parts, b->nr);
}

static void *build_beside(void *arg)
{
	static const uint64_t one = 1;
	const struct builder *b = arg;

	build(b);
	while (write(b->done, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

/* Signals are for the thread that waits. */
static bool start_thread(pthread_t *t, struct builder *b)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = pthread_create(t, NULL, build_beside, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !err;
}

/* False after a message, when it was given up. */
static bool build_parts(struct attempt *a, const struct up_part *parts, size_t nr)
{
	struct builder b = { a, parts, nr, eventfd(0, EFD_CLOEXEC), false };
	pthread_t t;

	up_repl_flush(a->r); /* it is no line of a probe */
	up_arena_stop_when(a->c->arena, &b.unwanted);
	if (b.done >= 0 && start_thread(&t, &b)) {
		up_repl_serve(a->r, b.done, &b.unwanted);
		pthread_join(t, NULL);
	} else {
		build(&b);
	}
	up_arena_stop_when(a->c->arena, NULL);
	if (b.done >= 0)
		close(b.done);
	if (b.unwanted)
		up_repl_say(a->r, "given up: all is as it was");
	return !b.unwanted;
}

static bool compile(struct attempt *a)
{
	struct up_repl *r = a->r;
	size_t nr = a->program->nr;
	struct up_part *parts = calloc(nr + 2, sizeof(*parts));
	char(*names)[24] = calloc(nr + 1, sizeof(*names));

	a->c = up_compile_new();
	if (!parts || !names || !a->c || !open_resolver(r)) {
		free(parts);
		free(names);
		return say_no_memory(r);
	}
	for (size_t i = 0; i < nr; i++) {
		const struct up_decl *d = a->program->v[i].decl;

		snprintf(names[i], sizeof(names[i]), d->was_in ? "[%u]" : "input", d->number);
		parts[i] = (struct up_part){ names[i], d->text.s, d->text.len, d->hidden };
	}
	if (a->once)
		parts[nr++] = (struct up_part){ "input", a->once->s, a->once->len, 1 };
	if (!nr) /* a program that is empty is one, too */
		parts[nr++] = (struct up_part){ .name = "input", .text = "" };
	a->nr_parts = nr;
	bool is_done = build_parts(a, parts, nr);
	free(parts);
	free(names);
	if (!is_done)
		return false;
	show_diags(a);
	return a->plan || (!a->c->diags.nr_errors && say_no_memory(r));
}

/* ---- what belongs to what ---- */

/* The declaration of a part, and how many of its kind it has had before. */
static struct up_origin origin_of(const struct attempt *a, uint32_t part, uint32_t *seen)
{
	if (part >= a->program->nr)
		return (struct up_origin){ 0 };
	return (struct up_origin){ a->program->v[part].decl, seen[part]++ };
}

static uint32_t find_origin(const struct up_origin *v, uint32_t nr, struct up_origin o)
{
	for (uint32_t i = 0; o.decl && i < nr; i++)
		if (v[i].decl == o.decl && v[i].ordinal == o.ordinal)
			return i;
	return UP_NONE;
}

/* Fills a->probes and a->blocks: by the plan as it is at this moment. */
static bool find_origins(struct attempt *a)
{
	uint32_t *seen = calloc(a->nr_parts + 1, sizeof(*seen));

	free(a->probes);
	free(a->blocks);
	a->probes = calloc(a->plan->nr_probes + 1, sizeof(*a->probes));
	a->blocks = calloc(a->plan->nr_blocks + 1, sizeof(*a->blocks));
	if (!seen || !a->probes || !a->blocks) {
		free(seen);
		return say_no_memory(a->r);
	}
	for (uint32_t i = 0; i < a->plan->nr_probes; i++)
		a->probes[i] = origin_of(a, a->plan->probes[i].part, seen);
	memset(seen, 0, a->nr_parts * sizeof(*seen));
	for (uint32_t i = 0; i < a->plan->nr_blocks; i++)
		a->blocks[i] = origin_of(a, a->plan->blocks[i].part, seen);
	free(seen);
	return true;
}

static bool match(struct attempt *a)
{
	const struct up_repl *r = a->r;

	if (!find_origins(a))
		return false;
	a->old_probes = calloc(a->plan->nr_probes + 1, sizeof(*a->old_probes));
	a->old_blocks = calloc(a->plan->nr_blocks + 1, sizeof(*a->old_blocks));
	if (!a->old_probes || !a->old_blocks)
		return say_no_memory(a->r);
	for (uint32_t i = 0; i < a->plan->nr_probes; i++)
		a->old_probes[i] = find_origin(r->probes, r->plan->nr_probes, a->probes[i]);
	for (uint32_t i = 0; i < a->plan->nr_blocks; i++)
		a->old_blocks[i] = find_origin(r->blocks, r->plan->nr_blocks, a->blocks[i]);
	return true;
}

/* ---- the succession ---- */

/* The kernel's objection is shown at the text when it is known which it is about. */
static bool report(struct attempt *a, struct up_status *st)
{
	struct up_buf b = { 0 };

	up_status_render(st, &b);
	if (st->has_span) {
		a->c->diags.list.nr = 0;
		a->c->diags.columns = a->r->out.columns;
		up_error(&a->c->diags, st->span, E_KERNEL, "%s", b.s ? b.s : "");
		up_diag_text(&a->c->diags, &a->r->out.buf, a->r->out.colour);
	} else {
		up_repl_say(a->r, "%s", b.s ? b.s : "out of memory");
	}
	up_buf_fini(&b);
	return false;
}

/* What gathered in a variable or aggregation that both have, and cannot go on, is told of. */
static void say_lost_content(struct attempt *a, const struct up_succession *s)
{
	const struct up_plan *old = a->r->plan;

	for (uint32_t i = 0; i < a->plan->nr_aggs; i++)
		for (uint32_t k = 0; k < old->nr_aggs && s->aggs[i] == UP_NONE; k++)
			if (a->plan->aggs[i].is_named && old->aggs[k].is_named &&
			    !strcmp(a->plan->aggs[i].name, old->aggs[k].name))
				up_repl_say(a->r, "%s gathers something else now, and begins anew",
					    old->aggs[k].name);
	for (uint32_t i = 0; i < a->plan->nr_vars; i++)
		for (uint32_t k = 0; k < old->nr_vars && s->vars[i] == UP_NONE; k++)
			if (a->plan->vars[i].scope == old->vars[k].scope &&
			    !strcmp(a->plan->vars[i].name, old->vars[k].name))
				up_repl_say(a->r, "%s has another type now, and begins anew",
					    old->vars[k].name);
}

static bool is_off_in(const struct up_program *p, const struct up_decl *d)
{
	for (size_t i = 0; d && i < p->nr; i++)
		if (p->v[i].decl == d)
			return p->v[i].is_off;
	return false;
}

/* Which events belong to probes that are disabled; NULL when memory is out. */
static bool *find_off(const struct attempt *a)
{
	bool *off = calloc((size_t)a->plan->nr_events + 1, sizeof(*off));

	for (uint32_t i = 0; off && i < a->plan->nr_events; i++) {
		uint32_t probe = up_plan_probe_of(a->plan, i);

		off[i] = probe != UP_NONE && is_off_in(a->program, a->probes[probe].decl);
	}
	return off;
}

/* Nothing that is gone prints any more, and from here on what begins does. */
static void end_hits(void *arg)
{
	struct up_repl *r = arg;

	up_repl_show_round(r);
	if (r->once_form)
		r->out.form = r->once_form;
}

static bool succeed(struct attempt *a)
{
	struct up_repl *r = a->r;
	struct up_succession s = { .probes = a->old_probes,
				   .blocks = a->old_blocks,
				   .generation = r->generation };
	struct up_status st = { 0 };

	if (up_plan_succeed(a->plan, r->plan, &s))
		return say_no_memory(r);
	bool *off = find_origins(a) ? find_off(a) : NULL;
	if (!off)
		return say_no_memory(r);
	s.is_off = off;
	const struct up_out_form *form = r->out.form;
	up_repl_flush(r);
	int err = up_session_succeed(r->session, a->plan, &s, end_hits, r, &st);
	r->out.form = form;
	free(off);
	if (err) {
		r->generation++; /* names that may be in the kernel now are not used again */
		if (err == -ESTALE)
			up_status_hint(&st, "`reload` moves the probes to what is there now");
		return report(a, &st);
	}
	say_lost_content(a, &s);
	return true;
}

/* The session runs the attempt's plan now. */
static void take(struct attempt *a)
{
	struct up_repl *r = a->r;

	up_plan_free(r->plan);
	free(r->probes);
	free(r->blocks);
	r->plan = a->plan;
	r->probes = a->probes;
	r->blocks = a->blocks;
	a->plan = NULL;
	a->probes = a->blocks = NULL;
}

static void take_program(struct up_repl *r, struct up_program next)
{
	for (size_t i = 0; i < r->program.nr; i++)
		r->program.v[i].decl->is_in = false;
	for (size_t i = 0; i < next.nr; i++)
		next.v[i].decl->is_in = next.v[i].decl->was_in = true;
	free(r->program.v);
	r->program = next;
}

/* What a declaration is, as far as `probes` and `disable` want to know. */
static void learn_kinds(struct up_repl *r)
{
	for (uint32_t i = 0; i < r->plan->nr_probes; i++)
		if (r->probes[i].decl)
			r->probes[i].decl->is_probe = true;
	for (uint32_t i = 0; i < r->plan->nr_blocks; i++)
		if (r->blocks[i].decl)
			r->blocks[i].decl->is_timed = r->plan->blocks[i].which == UP_ON_EVERY;
}

bool up_program_apply(struct up_repl *r, struct up_program next, const struct up_text *once)
{
	struct attempt a = { .r = r, .program = &next, .once = once };
	bool ok = compile(&a) && match(&a) && succeed(&a);

	if (ok) {
		take(&a);
		take_program(r, next);
		learn_kinds(r);
		up_repl_watch(r);
		up_program_sync(r); /* the program is the new one, even if not all is armed */
	} else {
		free(next.v);
	}
	attempt_fini(&a);
	return ok;
}

bool up_program_stands(struct up_repl *r)
{
	struct up_program on = { 0 };
	struct attempt a = { .r = r, .program = &on };

	if (!up_program_copy(&r->program, 0, &on))
		return say_no_memory(r);
	on.nr = 0;
	for (size_t i = 0; i < r->program.nr; i++)
		if (!r->program.v[i].is_off)
			on.v[on.nr++] = r->program.v[i];
	bool ok = on.nr == r->program.nr || compile(&a);
	attempt_fini(&a);
	free(on.v);
	return ok;
}

/* ---- on and off ---- */

bool up_program_sync(struct up_repl *r)
{
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);
	struct up_status st = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < r->plan->nr_events && !err; i++) {
		uint32_t probe = up_plan_probe_of(r->plan, i);

		if (probe == UP_NONE)
			continue;
		err = up_attach_switch(r->session->attach, i,
				       !is_off_in(&r->program, r->probes[probe].decl), &st);
	}
	for (uint32_t i = 0; i < r->plan->nr_blocks; i++)
		if (r->plan->blocks[i].which == UP_ON_EVERY)
			up_engine_switch(&r->session->engine, i,
					 !is_off_in(&r->program, r->blocks[i].decl), now);
	if (err)
		up_repl_say_status(r, &st);
	return !err;
}

/* ---- adding ---- */

/* Puts a function, constant or parameter in the place of the one of the same name. */
static bool replace_entry(struct up_repl *r, struct up_program *next, struct up_decl *d)
{
	const struct up_given *g = d->gives;

	for (size_t i = 0; g && g->name && !g->is_point && i < next->nr; i++) {
		struct up_entry *e = &next->v[i];
		const struct up_given *old = e->decl->gives;

		if (!old || !old->name || old->is_point || strcmp(old->name, g->name) != 0)
			continue;
		d->number = e->decl->number;
		r->nr_decls--;
		*e = (struct up_entry){ .decl = d };
		return true;
	}
	return false;
}

/* Cuts the text into declarations, and adds an entry for each; one alone can replace another. */
static bool add_entries(struct up_repl *r, struct up_arena *arena, const char *text, size_t len,
			struct up_program *next)
{
	struct up_typed typed;

	up_prompt_read(arena, text, len, NULL, NULL, &typed);
	if (typed.kind == UP_TYPED_NOTHING) {
		up_repl_say(r, "there is nothing in it to add");
		return false;
	}
	size_t nr = typed.kind == UP_TYPED_DECLS ? typed.nr : 0;
	bool is_whole = nr == 0; /* with mistakes, it goes to the compiler as it is */
	if (!up_program_copy(&r->program, is_whole ? 1 : nr, next))
		return say_no_memory(r);
	for (size_t i = 0; i < nr || (is_whole && i < 1); i++) {
		struct up_span sp = is_whole ? (struct up_span){ 0, (uint32_t)len, 0 } : typed.v[i];
		const char *s = text + sp.off;
		size_t n = sp.len;

		/* Lines count from what is there. */
		for (; !is_whole && i && n && strchr(" \t\r\n;", *s); n--)
			s++;
		struct up_decl *d = up_decl_new(r, s, n, 0);
		if (!d) {
			free(next->v);
			return say_no_memory(r);
		}
		d->gives = is_whole ? NULL : up_given_copy(&typed.gives[i]);
		if (nr != 1 || !replace_entry(r, next, d))
			next->v[next->nr++].decl = d;
	}
	return true;
}

bool up_program_add(struct up_repl *r, const char *text, size_t len)
{
	struct up_arena *arena = up_arena_new();
	struct up_program old = { 0 }, next = { 0 };
	unsigned number = r->nr_decls;
	jmp_buf oom;
	bool ok = false;

	if (!arena || setjmp(oom)) {
		up_arena_free(arena);
		return say_no_memory(r);
	}
	up_arena_on_oom(arena, &oom);
	if (up_program_copy(&r->program, 0, &old) && add_entries(r, arena, text, len, &next))
		ok = up_program_apply(r, next, NULL);
	up_arena_on_oom(arena, NULL);
	up_arena_free(arena);
	if (ok) {
		if (r->nr_decls == number)
			up_repl_say(r, "it is defined anew; `undo` brings back what it was");
		up_program_push(r, old);
	} else {
		free(old.v);
		r->nr_decls = number; /* numbers of what was refused are free again */
	}
	return ok;
}

/* ---- as a script ---- */

static void put_commented(const struct up_text *text, struct up_buf *out)
{
	for (const char *s = text->s, *end; *s; s = *end ? end + 1 : end) {
		end = s + strcspn(s, "\n");
		up_buf_puts(out, "# ");
		up_buf_add(out, s, (size_t)(end - s));
		up_buf_putc(out, '\n');
	}
}

void up_program_text(const struct up_repl *r, struct up_buf *out)
{
	for (size_t i = 0; i < r->program.nr; i++) {
		const struct up_entry *e = &r->program.v[i];

		if (i)
			up_buf_putc(out, '\n');
		if (e->is_off) {
			up_buf_puts(out, "# disabled:\n");
			put_commented(&e->decl->text, out);
			continue;
		}
		up_buf_add(out, e->decl->text.s, e->decl->text.len);
		up_buf_putc(out, '\n');
	}
}
