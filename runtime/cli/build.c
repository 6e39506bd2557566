/* Compiling, and waiting for files. */
#include "runtime/cli/build.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "lang/abi.h"
#include "runtime/cli/modules.h"
#include "runtime/cli/run.h"
#include "runtime/recorded.h"
#include "runtime/recording.h"
#include "runtime/resolver.h"

#define LOOK_MS 200      /* between two looks at files that are waited for */
#define GROWING_LOOKS 15 /* how long a file that is there may be without what is asked for: 3 s */

static struct up_env make_env(const struct up_opts *o, const struct up_resolver *resolver)
{
	return (struct up_env){ .resolver = resolver,
				.aggs = up_agg_rows,
				.args = (const char *const *)o->args,
				.nr_args = (unsigned)o->nr_args,
				.params = o->params,
				.nr_params = o->nr_params,
				.modules = up_module_finder_iface(o->modules),
				.max_arg_text = UP_MAX_ARG_TEXT,
				.max_args = UP_MAX_ARGS,
				.max_sites = UP_MAX_SITES,
				.returns = o->returns,
				.exact_entry = o->exact_entry,
				.unsafe = o->unsafe,
				.no_filters = o->no_filters };
}

/* Compiles by what a resolver knows; c is NULL when memory ran out. */
static struct up_built compile_with(const struct up_opts *o, const char *name,
				    const struct up_buf *text, const struct up_resolver *resolver)
{
	struct up_built b = { .c = up_compile_new() };
	char real[PATH_MAX];

	if (!b.c)
		return b;
	struct up_env env = make_env(o, resolver);
	env.script_id = up_module_finder_script(o->script, real) ? real : NULL;
	env.args_used = &b.args_used;
	env.for_recording = o->command == UP_CMD_RECORD;
	b.plan = up_compile(b.c, &env, name, text->s ? text->s : "", text->len);
	if (b.plan && env.for_recording)
		up_recording_put_places(&b.places, b.plan, env.resolver);
	return b;
}

/* By this machine's programs; their memory is not needed while tracing. */
static struct up_built compile_once(const struct up_opts *o, const char *name,
				    const struct up_buf *text, const struct up_plan *succeed)
{
	struct up_elf_options eo = { .pid = up_is_saved_source(o) ? 0 : o->pid,
				     .compile_once = true,
				     .succeed = succeed };
	struct up_elf_resolver *elf = up_elf_resolver_new(&eo);
	struct up_built b = { 0 };

	if (elf)
		b = compile_with(o, name, text, up_elf_resolver_iface(elf));
	up_elf_resolver_free(elf);
	return b;
}

/* As if all were there that the program names. */
static struct up_built compile_loosely(const struct up_opts *o, const char *name,
				       const struct up_buf *text)
{
	struct up_recorded *loose = up_recorded_new_loose(up_abi_host());
	struct up_built b = { 0 };

	if (loose)
		b = compile_with(o, name, text, up_recorded_iface(loose));
	up_recorded_free(loose);
	return b;
}

struct up_plan *up_build_parts(const struct up_opts *o, struct up_elf_resolver *elf,
			       struct up_compile *c, const struct up_part *parts, size_t nr)
{
	struct up_env env = make_env(o, up_elf_resolver_iface(elf));

	env.is_session = true;
	return up_compile_parts(c, &env, parts, nr);
}

void up_built_fini(struct up_built *b)
{
	up_plan_free(b->plan);
	up_compile_free(b->c);
	up_buf_fini(&b->places);
	*b = (struct up_built){ 0 };
}

/* Is every error one that a file may mend when it comes? *absent: is one of them a missing file? */
static bool can_wait(const struct up_built *b, bool *absent)
{
	*absent = false;
	if (!b->c || b->plan || !b->c->diags.nr_errors)
		return false;
	for (size_t i = 0; i < b->c->diags.list.nr; i++) {
		const struct up_diag *d = &b->c->diags.list.v[i];

		if (d->severity != UP_SEV_ERROR)
			continue;
		if (d->tag != E_OBJECT && d->tag != E_SYMBOL && d->tag != E_ADDRESS_RANGE &&
		    d->tag != E_HARM)
			return false;
		*absent |= d->tag == E_OBJECT;
	}
	return true;
}

static void say_waiting(const struct up_opts *o, const struct up_built *b)
{
	for (size_t i = 0; !o->quiet && i < b->c->diags.list.nr; i++)
		if (b->c->diags.list.v[i].tag == E_OBJECT)
			fprintf(stderr, "uptick: waiting: %s\n", b->c->diags.list.v[i].msg);
}

/* Sleeps; false when a signal came. */
static bool pause_a_bit(const struct up_signals *sig)
{
	struct pollfd fd = { sig->stop_fd, POLLIN, 0 };

	poll(&fd, 1, LOOK_MS);
	return !up_signals_stopped();
}

/* Do two plans probe the same places? Then the files have stopped changing. */
static bool same_places(const struct up_plan *a, const struct up_plan *b)
{
	if (a->nr_sites != b->nr_sites)
		return false;
	for (uint32_t i = 0; i < a->nr_sites; i++)
		if (a->sites[i].offset != b->sites[i].offset ||
		    strcmp(a->sites[i].path, b->sites[i].path))
			return false;
	return true;
}

/* Compiles again and again until two plans in a row agree. */
static struct up_built wait_for_files(const struct up_opts *o, const struct up_signals *sig,
				      const char *name, const struct up_buf *text,
				      struct up_built first)
{
	struct up_built last = first, b;
	unsigned growing = 0;
	bool absent;

	up_signals_defer(); /* the loop looks for them */
	say_waiting(o, &first);
	while (pause_a_bit(sig)) {
		b = compile_once(o, name, text, NULL);
		bool settled = b.plan && last.plan && same_places(b.plan, last.plan);

		up_built_fini(&last);
		last = b;
		if (settled)
			break;
		if (b.plan)
			continue;
		/* A file that has just come may still be written to. */
		if (!can_wait(&b, &absent) || (!absent && ++growing > GROWING_LOOKS))
			break;
	}
	return last;
}

struct up_built up_build(const struct up_opts *o, const struct up_signals *sig, const char *name,
			 const struct up_buf *text)
{
	struct up_built b = compile_once(o, name, text, NULL);
	bool absent;

	bool runs = o->command == UP_CMD_RUN || o->command == UP_CMD_RECORD;

	if (up_is_saved_source(o)) {
		/* The programs that the text tells of need not be here. */
		if (can_wait(&b, &absent)) {
			up_built_fini(&b);
			b = compile_loosely(o, name, text);
		}
		return b;
	}
	if (!o->wait || !runs || !can_wait(&b, &absent) || !absent)
		return b;
	return wait_for_files(o, sig, name, text, b);
}

struct up_built up_build_again(const struct up_opts *o, const struct up_compile *c,
			       const struct up_plan *plan)
{
	const struct up_source *script = &c->sources.list.v[0];
	struct up_buf text = { .s = (char *)script->text, .len = script->len };

	return compile_once(o, script->name, &text, plan);
}
