/*
 * Golden tests of checker and planner: `golden_plan check|plan|code FILE`. Objects and symbols come
 * from the tables of fake_resolver.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/up.h"
#include "lang/verify.h"
#include "tests/unit/fake_resolver.h"

extern const struct up_agg_row *const up_agg_rows[];

static bool read_file(const char *path, struct up_buf *text)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (!f)
		return false;
	do {
		char *to = up_buf_room(text, 4096);

		n = to ? fread(to, 1, 4096, f) : 0;
		text->len += n;
	} while (n);
	fclose(f);
	return true;
}

/* ---- modules: those of the folder modules/ beside the test ---- */

#define MAX_MODULES 200

struct module_texts {
	struct up_buf texts[MAX_MODULES], names[MAX_MODULES];
	size_t nr;
};

static bool load_module(void *ctx, const char *from, const char *name, bool is_path,
			struct up_module_text *out, struct up_why *why)
{
	struct module_texts *m = ctx;
	struct up_buf *text = &m->texts[m->nr], *path = &m->names[m->nr];

	(void)from;
	up_buf_printf(path, "modules/%s%s", name, is_path ? "" : ".up");
	if (++m->nr == MAX_MODULES || !read_file(path->s, text)) {
		up_buf_printf(&why->msg, "there is no module `%s`", name);
		return false;
	}
	const char *shown = path->s + strlen("modules/");
	*out = (struct up_module_text){ shown, shown, text->s ? text->s : "", text->len };
	return true;
}

static bool has_module(void *ctx, const char *name)
{
	(void)ctx;
	return !strcmp(name, "heap");
}

static void free_modules(struct module_texts *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		up_buf_fini(&m->texts[i]);
		up_buf_fini(&m->names[i]);
	}
}

/* "# params: min=8KiB name=x" on the first line; changes the text. */
static unsigned take_params(char *line, struct up_param_arg *params, unsigned max)
{
	static const char mark[] = "# params: ";
	unsigned nr = 0;

	if (!line || strncmp(line, mark, strlen(mark)) != 0)
		return 0;
	line[strcspn(line, "\n")] = 0;
	for (char *save, *word = strtok_r(line + strlen(mark), " ", &save); word && nr < max;
	     word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = 0;
		params[nr++] = (struct up_param_arg){ word, value };
	}
	return nr;
}

/* "heap.up:" before a place that is not in the script. */
static void show_file(const struct up_compile *c, struct up_span sp, struct up_buf *out)
{
	const struct up_source *s = &c->sources.list.v[sp.src];

	if (s->origin)
		up_buf_printf(out, "%s:", s->name);
}

/* "line:col tag: message" of each diagnostic, with its hint and note. */
static void show_diags(const struct up_compile *c, struct up_buf *out)
{
	unsigned line, col;

	for (size_t i = 0; i < c->diags.list.nr; i++) {
		const struct up_diag *d = &c->diags.list.v[i];

		up_source_where(&c->sources.list.v[d->span.src], d->span.off, &line, &col);
		show_file(c, d->span, out);
		up_buf_printf(out, "%u:%u-%u %s: %s\n", line, col, col + d->span.len,
			      up_diag_tag_name(d->tag, (char[UP_TAG_NAME_MAX]){ 0 }), d->msg);
		if (d->hint)
			up_buf_printf(out, "    hint: %s\n", d->hint);
		if (!d->has_note)
			continue;
		up_source_where(&c->sources.list.v[d->note_span.src], d->note_span.off, &line,
				&col);
		up_buf_puts(out, "    note: ");
		show_file(c, d->note_span, out);
		up_buf_printf(out, "%u:%u %s\n", line, col, d->note);
	}
}

int main(int argc, char **argv)
{
	static const char *const args[] = { "libc", "app:beta", "42", "-1.5", "\"7\"", "007" };
	static struct module_texts texts;
	const struct up_modules modules = { &texts, load_module, has_module };
	struct up_param_arg params[8];
	struct up_env env = { .resolver = &fake_resolver,
			      .aggs = up_agg_rows,
			      .args = args,
			      .nr_args = 6,
			      .params = params,
			      .modules = &modules,
			      .script_id = "test.up",
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };
	struct up_buf text = { 0 }, out = { 0 };
	struct up_compile *c = up_compile_new();

	if (argc != 3 || !c || !read_file(argv[2], &text)) {
		fprintf(stderr, "usage: golden_plan check|plan|code FILE\n");
		return 2;
	}
	const char *how = text.s && !strncmp(text.s, "#!", 2) ? strstr(text.s, "--return=") : NULL;
	if (how)
		env.returns = how[9] == 'k' ? UP_RETURN_BY_KERNEL : UP_RETURN_BY_SITES;
	env.exact_entry = text.s && !strncmp(text.s, "#!", 2) && strstr(text.s, "--exact-entry");
	env.unsafe = text.s && !strncmp(text.s, "#!", 2) && strstr(text.s, "--unsafe");
	struct up_buf line = { 0 };
	up_buf_add(&line, text.s ? text.s : "", text.len);
	env.nr_params = take_params(line.s, params, 8);
	struct up_plan *plan = up_compile(c, &env, "test.up", text.s ? text.s : "", text.len);
	show_diags(c, &out);
	/* Whatever compiles must verify. */
	if (plan && !up_plan_verify(plan, &out))
		up_buf_puts(&out, "\n");
	if (plan && strcmp(argv[1], "check"))
		up_plan_dump(plan, "g", !strcmp(argv[1], "code"), &out);
	else if (plan)
		up_buf_puts(&out, c->is_module ? "ok, a module\n" : "ok\n");
	fputs(out.s ? out.s : "", stdout);
	up_plan_free(plan);
	up_compile_free(c);
	free_modules(&texts);
	up_buf_fini(&text);
	up_buf_fini(&line);
	up_buf_fini(&out);
	return 0;
}
