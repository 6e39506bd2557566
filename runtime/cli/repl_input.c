/* What is typed: lines that are gathered until they are whole, and then taken. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "lang/prompt.h"
#include "runtime/cli/line.h"
#include "runtime/cli/repl_int.h"
#include "runtime/units.h"

/* ---- values ---- */

static void put_value(struct up_buf *b, struct up_type t, const struct up_value *v)
{
	if (t.ty == TY_INT && t.show == UP_SHOW_NS && !v->flags)
		up_put_duration(b, t.is_signed ? (double)v->s : (double)v->u, true, " ");
	else
		up_out_value(b, t, v);
}

static void print_value(struct up_out *o, const struct up_out_hit *h, const struct up_plan_print *p,
			const struct up_value *v)
{
	(void)h;
	for (uint32_t i = 0; i < p->nr; i++) {
		up_buf_puts(&o->buf, i ? " " : "");
		put_value(&o->buf, p->types[i], &v[i]);
	}
	up_buf_putc(&o->buf, '\n');
}

/* Runs a text once. A value is shown by itself, without time and place. */
static void run_once(struct up_repl *r, const struct up_text *text, bool is_value)
{
	struct up_out_form bare = *r->out.form;
	struct up_program same;

	if (!up_program_copy(&r->program, 0, &same)) {
		up_repl_say(r, "out of memory");
		return;
	}
	bare.print = print_value;
	r->once_form = is_value ? &bare : NULL;
	up_program_apply(r, same, text);
	r->once_form = NULL;
}

/*
 * Where the program sets the same variable already, if a statement can stand there in place of the
 * one that does: if neither that itself nor what runs between the two depends on what it was set
 * to. Else the program's end.
 */
static size_t find_setter(const struct up_program *p, struct up_arena *a,
			  const struct up_typed *typed)
{
	for (size_t i = typed->name && !typed->reads_name ? p->nr : 0; i-- > 0;) {
		const struct up_decl *d = p->v[i].decl;

		if (d->sets && !strcmp(d->sets, typed->name))
			return i;
		if (!d->is_probe && !d->is_timed && up_prompt_count(a, &d->text, typed->name))
			return p->nr;
	}
	return p->nr;
}

/* What is set stays set: it becomes a declaration, on start < ... >. */
static void keep_statement(struct up_repl *r, struct up_arena *arena, const struct up_typed *typed)
{
	size_t at = find_setter(&r->program, arena, typed);
	unsigned number = r->nr_decls;
	struct up_program old = { 0 }, next = { 0 };
	bool ok = up_program_copy(&r->program, 0, &old) && up_program_copy(&r->program, 1, &next);
	struct up_decl *d = ok ? up_decl_new(r, typed->text.s, typed->text.len, 1) : NULL;

	if (!d) {
		up_repl_say(r, "out of memory");
		free(old.v);
		free(next.v);
		return;
	}
	d->sets = typed->name ? strdup(typed->name) : NULL;
	if (at < next.nr) {
		d->number = next.v[at].decl->number;
		r->nr_decls = number;
	} else {
		next.nr++;
	}
	next.v[at] = (struct up_entry){ .decl = d };
	if (up_program_apply(r, next, NULL)) {
		up_program_push(r, old);
		return;
	}
	r->nr_decls = number;
	free(old.v);
}

/* ---- telling apart ---- */

static bool is_function(void *arg, const char *name)
{
	(void)arg;
	for (size_t i = 0; up_agg_rows[i]; i++)
		if (!strcmp(up_agg_rows[i]->name, name))
			return false;
	return true;
}

/* Is it an aggregation or a table, which has no value of its own but can be shown? */
static bool is_store(const struct up_repl *r, const char *name)
{
	for (uint32_t i = 0; i < r->plan->nr_aggs; i++)
		if (r->plan->aggs[i].is_named && !strcmp(r->plan->aggs[i].name, name))
			return true;
	for (uint32_t i = 0; i < r->plan->nr_vars; i++)
		if (r->plan->vars[i].scope == UP_VAR_TABLE && !strcmp(r->plan->vars[i].name, name))
			return true;
	return false;
}

static void take_value(struct up_repl *r, struct up_arena *arena, const struct up_typed *typed)
{
	struct up_text text = typed->text;

	if (typed->name && is_store(r, typed->name)) {
		text.s = up_arena_printf(arena, "on start <\nshow(%s)\n>", typed->name);
		text.len = strlen(text.s);
	}
	run_once(r, &text, true);
}

/*
 * Keeps an input. What happened up to now is handled first, so that what is asked for is what there
 * is.
 */
static bool begin_input(struct up_repl *r, const char *text, size_t len)
{
	bool busy;

	up_history_add(text, len);
	return up_repl_round(r, &busy);
}

/* Takes what has been typed, if it is whole. */
static void take_typed(struct up_repl *r, struct up_arena *arena)
{
	struct up_typed typed;

	up_prompt_read(arena, r->typed.s, r->typed.len, is_function, NULL, &typed);
	if (typed.kind == UP_TYPED_MORE ||
	    (typed.kind != UP_TYPED_NOTHING && !begin_input(r, r->typed.s, r->typed.len)))
		return;
	if (typed.kind == UP_TYPED_DECLS)
		up_program_add(r, r->typed.s, r->typed.len);
	else if (typed.kind == UP_TYPED_VALUE)
		take_value(r, arena, &typed);
	else if (typed.kind == UP_TYPED_STATEMENT && typed.is_lasting)
		keep_statement(r, arena, &typed);
	else if (typed.kind == UP_TYPED_STATEMENT)
		run_once(r, &typed.text, false);
	up_buf_reset(&r->typed);
}

static void take_text(struct up_repl *r)
{
	struct up_arena *arena = up_arena_new();
	jmp_buf oom;

	if (!arena || setjmp(oom)) {
		up_repl_say(r, "out of memory");
		up_buf_reset(&r->typed);
	} else {
		up_arena_on_oom(arena, &oom);
		take_typed(r, arena);
	}
	up_arena_free(arena);
}

void up_repl_line(struct up_repl *r, const char *line)
{
	const struct up_repl_command *command;
	const char *args;

	r->has_gone = false;
	if (!r->typed.len && (command = up_repl_command(line, &args))) {
		if (!begin_input(r, line, strlen(line)))
			return;
		if (*args && !strchr(command->form, ' '))
			up_repl_say(r, "`%s` stands alone; `help %s` says what it does",
				    command->name, command->name);
		else
			command->run(r, args);
		return;
	}
	if (r->typed.len)
		up_buf_putc(&r->typed, '\n');
	up_buf_puts(&r->typed, line);
	if (r->typed.failed) {
		up_buf_fini(&r->typed);
		up_repl_say(r, "out of memory");
	} else if (r->typed.len) {
		take_text(r);
	}
}
