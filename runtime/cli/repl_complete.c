/* What can stand where the cursor is: words of the language, and what this machine has. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/abi.h"
#include "lang/check.h"
#include "lang/cursor.h"
#include "lang/functions.h"
#include "lang/prompt.h"
#include "lang/reference.h"
#include "lang/types.h"
#include "lang/values.h"
#include "runtime/cli/cmd_list.h"
#include "runtime/cli/line.h"
#include "runtime/cli/modules.h"
#include "runtime/cli/repl_int.h"

/* One completion. */
struct completion {
	struct up_repl *r;
	struct up_candidates *out;
	const char *prefix; /* what there is of the word */
	size_t len;
	struct up_arena *arena;
	const struct up_cursor *at; /* in a text of the language */
};

static void offer(struct completion *c, const char *word, const char *label)
{
	if (!strncmp(word, c->prefix, c->len))
		up_candidate_add(c->out, word, strlen(word), label);
}

/* A word with something behind it: "libc" and ":". */
static void offer_with(struct completion *c, const char *word, size_t len, const char *behind,
		       const char *label)
{
	char text[512];

	if (snprintf(text, sizeof(text), "%.*s%s", (int)len, word, behind) < (int)sizeof(text))
		offer(c, text, label);
}

static void offer_all(struct completion *c, const char *const *words)
{
	for (; *words; words++)
		offer(c, *words, NULL);
}

/* ---- files ---- */

/* Files below what is typed; a folder has its slash. `only_elf`: those that can be executed. */
static void offer_files(struct completion *c, const char *behind)
{
	const char *slash = strrchr(c->prefix, '/');
	size_t len = slash ? (size_t)(slash + 1 - c->prefix) : 0;
	char folder[1024], path[2048];
	struct dirent *e;
	struct stat sb;

	if (len >= sizeof(folder))
		return;
	memcpy(folder, len ? c->prefix : ".", len ? len : 1);
	folder[len ? len : 1] = 0;
	DIR *dir = opendir(folder);
	while (dir && (e = readdir(dir))) {
		bool is_hidden = e->d_name[0] == '.' && c->prefix[len] != '.';

		if (is_hidden || snprintf(path, sizeof(path), "%.*s%s", (int)len, c->prefix,
					  e->d_name) >= (int)sizeof(path))
			continue;
		if (strncmp(path, c->prefix, c->len) != 0 || strpbrk(e->d_name, " \t\""))
			continue;
		bool is_folder = !stat(path, &sb) && S_ISDIR(sb.st_mode);

		offer_with(c, path, strlen(path), is_folder ? "/" : behind, NULL);
	}
	if (dir)
		closedir(dir);
}

/* ---- what is defined ---- */

static void offer_definition(void *arg, const struct up_given *g)
{
	struct completion *c = arg;

	if (g->name && !g->is_point)
		offer(c, g->name, NULL);
}

/* The values of a point that the probe at the cursor is on. */
static void offer_exports(void *arg, const struct up_given *g)
{
	struct completion *c = arg;
	bool is_ours = false;

	for (size_t i = 0; i < c->at->nr_targets && g->is_point; i++)
		is_ours |= !strcmp(c->at->targets[i], g->name);
	for (size_t i = 0; i < g->nr_values && is_ours; i++)
		offer(c, g->values[i], NULL);
}

/* ---- targets ---- */

/* A library goes by its short name. */
static void offer_object(void *arg, const char *name)
{
	const char *so = strstr(name, ".so");
	size_t len = so && so > name ? (size_t)(so - name) : strlen(name);

	offer_with(arg, name, len, ":", NULL);
}

static void offer_point(void *arg, const struct up_given *g)
{
	struct completion *c = arg;

	if (g->name && g->is_point)
		offer(c, g->name, NULL);
}

/* Programs and libraries whose names begin with what there is of the word. */
static void each_named(struct completion *c, void (*fn)(void *arg, const char *name))
{
	struct up_buf glob = { 0 };

	for (size_t i = 0; i < c->len; i++) {
		if (strchr("*?[\\", c->prefix[i]))
			up_buf_putc(&glob, '\\');
		up_buf_putc(&glob, c->prefix[i]);
	}
	up_buf_putc(&glob, '*');
	if (!glob.failed)
		up_each_object(glob.s, fn, c);
	up_buf_fini(&glob);
}

static void offer_objects(struct completion *c)
{
	if (strchr(c->prefix, '/')) {
		offer_files(c, ":");
		return;
	}
	up_given_each(c->r, c->arena, offer_point, c);
	each_named(c, offer_object);
}

static void offer_name(void *arg, const char *name)
{
	offer(arg, name, NULL);
}

static void offer_locations(struct completion *c, const char *object)
{
	up_names_each(&c->r->names, object, c->r->seen_by, c->prefix, offer_name, c);
}

/* ---- values ---- */

static void offer_stores(struct completion *c)
{
	const struct up_plan *p = c->r->plan;

	for (uint32_t i = 0; i < p->nr_aggs; i++)
		if (p->aggs[i].is_named)
			offer(c, p->aggs[i].name, NULL);
	for (uint32_t i = 0; i < p->nr_vars; i++)
		if (p->vars[i].scope == UP_VAR_TABLE)
			offer_with(c, p->vars[i].name, strlen(p->vars[i].name), "[", NULL);
		else if (p->vars[i].scope == UP_VAR_GLOBAL)
			offer(c, p->vars[i].name, NULL);
	up_given_each(c->r, c->arena, offer_definition, c);
}

static bool is_there(const struct up_val_row *row, enum up_cursor_where where)
{
	if (row->where & UP_LATER || (row->where & UP_IN_RETURN && where != UP_CURSOR_RETURN))
		return false;
	return where != UP_CURSOR_BLOCK || row->where & UP_ANYWHERE;
}

static void offer_named_values(struct completion *c, enum up_cursor_where where)
{
	for (int i = 0; i < VAL_COUNT; i++)
		if (is_there(&up_val_rows[i], where))
			offer(c, up_val_rows[i].name, NULL);
}

#define ARGS_OFFERED 6

static void offer_hit_values(struct completion *c, enum up_cursor_where where)
{
	char arg[8];

	for (unsigned i = 0; i < ARGS_OFFERED; i++) {
		snprintf(arg, sizeof(arg), "arg%u", i);
		offer(c, arg, NULL);
	}
	offer_all(c, (const char *const[]){ "reg.", "stack[", "fetch(", "thread.", "call.", NULL });
	if (where == UP_CURSOR_RETURN)
		offer(c, "entry.", NULL);
	for (size_t i = 0; i < c->at->nr_names; i++)
		offer(c, c->at->names[i], NULL);
	up_given_each(c->r, c->arena, offer_exports, c);
}

static void offer_functions(struct completion *c)
{
	for (int i = 0; i < FN_COUNT; i++)
		if (up_fn_rows[i].name)
			offer_with(c, up_fn_rows[i].name, strlen(up_fn_rows[i].name), "(",
				   up_fn_rows[i].form);
}

static void offer_statements(struct completion *c)
{
	for (const struct up_action_row *row = up_action_rows; row->name; row++)
		offer_with(c, row->name, strlen(row->name), "(", row->form);
	offer_all(c, (const char *const[]){ "if", "for", "delete", NULL });
}

static void offer_values(struct completion *c, const struct up_cursor *at)
{
	offer_named_values(c, at->where);
	if (at->where != UP_CURSOR_BLOCK)
		offer_hit_values(c, at->where);
	offer_functions(c);
	offer_stores(c);
	if (at->is_statement)
		offer_statements(c);
	/* An aggregate stands where a statement does, or behind the `=` of one. */
	for (size_t i = 0; up_agg_rows[i]; i++)
		offer_with(c, up_agg_rows[i]->name, strlen(up_agg_rows[i]->name), "(",
			   up_agg_rows[i]->signature);
}

static void offer_registers(struct completion *c)
{
	const struct up_abi *abi = up_abi_find(up_abi_host(), UP_CALLING_C);

	for (size_t i = 0; abi && abi->regs[i]; i++)
		offer(c, abi->regs[i], NULL);
}

static void offer_members(struct completion *c, const char *of)
{
	const struct up_plan *p = c->r->plan;
	bool is_thread = !strcmp(of, "thread"), is_call = !strcmp(of, "call");

	if (!strcmp(of, "reg"))
		offer_registers(c);
	for (uint32_t i = 0; i < p->nr_vars; i++)
		if ((is_thread && p->vars[i].scope == UP_VAR_THREAD) ||
		    (is_call && p->vars[i].scope == UP_VAR_CALL))
			offer(c, p->vars[i].name, NULL);
	for (uint32_t i = 0; i < p->nr_aggs; i++)
		for (unsigned k = 0; p->aggs[i].is_named && !strcmp(p->aggs[i].name, of) &&
				     k < p->aggs[i].row->nr_fields;
		     k++)
			offer(c, p->aggs[i].row->fields[k].name, NULL);
}

static void offer_types(struct completion *c)
{
	for (const struct up_type_row *row = up_type_rows; row->name; row++)
		offer(c, row->name, NULL);
	offer_all(c, (const char *const[]){ "bytes[", "string[", "char[", NULL });
}

/* Files in a folder that can be modules. */
static void offer_module_files(struct completion *c, const char *folder)
{
	DIR *dir = opendir(*folder ? folder : ".");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		size_t len = strlen(e->d_name);

		if (len > 3 && !strcmp(e->d_name + len - 3, ".up") && e->d_name[0] != '.')
			offer_with(c, e->d_name, len - 3, "", NULL);
	}
	if (dir)
		closedir(dir);
}

static void offer_modules(struct completion *c)
{
	const char *path = getenv("UPTICK_PATH");
	char *folders = path ? up_arena_strdup(c->arena, path) : NULL, *rest = folders, *folder;

	for (size_t i = 0; up_builtin_modules[i].name; i++)
		offer(c, up_builtin_modules[i].name, NULL);
	offer_module_files(c, ".");
	while (rest && (folder = strsep(&rest, ":")))
		offer_module_files(c, folder);
}

/* ---- the language ---- */

static const char *const declarations[] = { "probe", "on",  "const", "fn",
					    "param", "use", "point", NULL };

static void offer_commands(struct completion *c)
{
	for (const struct up_repl_command *row = up_repl_commands; row->name; row++)
		offer(c, row->name, row->form);
}

static void offer_at(struct completion *c, const struct up_cursor *at)
{
	switch (at->kind) {
	case UP_CURSOR_FIRST:
		offer_all(c, declarations);
		offer_values(c,
			     &(struct up_cursor){ .where = UP_CURSOR_BLOCK, .is_statement = true });
		break;
	case UP_CURSOR_OBJECT:
		offer_objects(c);
		break;
	case UP_CURSOR_LOCATION:
		offer_locations(c, at->of);
		break;
	case UP_CURSOR_CLAUSE:
		offer_all(c, (const char *const[]){ "as", "when", "on", NULL });
		break;
	case UP_CURSOR_ON:
		offer_all(c, (const char *const[]){ "return", "start", "end", "every", NULL });
		break;
	case UP_CURSOR_VALUE:
		offer_values(c, at);
		break;
	case UP_CURSOR_TYPE:
		offer_types(c);
		break;
	case UP_CURSOR_MEMBER:
		offer_members(c, at->of);
		break;
	case UP_CURSOR_MODULE:
		offer_modules(c);
		break;
	case UP_CURSOR_NOTHING:
		break;
	}
}

/* ---- commands ---- */

static void offer_numbers(struct completion *c)
{
	char number[16];

	for (size_t i = 0; i < c->r->program.nr; i++) {
		snprintf(number, sizeof(number), "%u", c->r->program.v[i].decl->number);
		offer(c, number, NULL);
	}
}

/* Kernel threads have no program, and nothing in them can be probed. */
static bool has_program(const char *pid)
{
	char path[300], exe[1];

	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	return readlink(path, exe, sizeof(exe)) >= 0 || errno != ENOENT;
}

/* By number or by name, which the number then takes the place of. */
static void offer_process(struct completion *c, const char *pid)
{
	char name[64];
	struct up_buf label = { 0 };

	up_repl_comm(atoi(pid), name);
	if (strncmp(pid, c->prefix, c->len) != 0 && strncmp(name, c->prefix, c->len) != 0)
		return;
	up_buf_printf(&label, "%s %s", pid, name);
	up_candidate_add(c->out, pid, strlen(pid), label.s);
	up_buf_fini(&label);
}

static void offer_processes(struct completion *c)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && has_program(e->d_name))
			offer_process(c, e->d_name);
	if (dir)
		closedir(dir);
}

static void offer_words(struct completion *c)
{
	struct up_buf scratch = { 0 };
	struct up_ref_entry e;

	for (const struct up_ref_table *t = up_ref_tables; t->name; t++)
		for (unsigned i = 0; t->entry(up_agg_rows, i, &e, &scratch); i++) {
			if (e.name)
				offer(c, e.name, NULL);
			up_buf_reset(&scratch);
		}
	up_buf_fini(&scratch);
	offer_commands(c);
	for (size_t i = 0; up_builtin_modules[i].name; i++)
		offer(c, up_builtin_modules[i].name, NULL);
	up_given_each(c->r, c->arena, offer_point, c);
}

static void offer_target(struct completion *c)
{
	const char *colon = strchr(c->prefix, ':');

	if (!colon) {
		offer_objects(c);
		return;
	}
	char *object = strndup(c->prefix, (size_t)(colon - c->prefix));

	c->out->from += (size_t)(colon + 1 - c->prefix);
	c->len -= (size_t)(colon + 1 - c->prefix);
	c->prefix = colon + 1;
	if (object)
		offer_locations(c, object);
	free(object);
}

static void offer_program(void *arg, const char *name)
{
	if (!strstr(name, ".so"))
		offer(arg, name, NULL);
}

/* What stands behind a command's name: one more word, `is_first` or a later one. */
static void offer_arguments(struct completion *c, const struct up_repl_command *command,
			    bool is_first)
{
	static const struct {
		const char *name;
		void (*offer)(struct completion *c);
	} rows[] = {
		{ "enable", offer_numbers },   { "disable", offer_numbers },
		{ "delete", offer_numbers },   { "plan", offer_numbers },
		{ "show", offer_stores },      { "clear", offer_stores },
		{ "attach", offer_processes }, { "list", offer_target },
		{ "help", offer_words },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].name, command->name)) {
			rows[i].offer(c);
			return;
		}
	if (strstr(command->form, "CMD") && is_first && !strchr(c->prefix, '/'))
		each_named(c, offer_program);
	else if (strstr(command->form, "FILE") || strstr(command->form, "CMD"))
		offer_files(c, "");
}

/* The word at the cursor, which blanks part from what is before it. */
static bool complete_command(struct completion *c, const char *line, size_t point)
{
	const struct up_repl_command *command;
	const char *args;

	command = up_repl_command(line, &args);
	if (!command || (size_t)(args - line) > point || args[-1] != ' ')
		return false;
	while (c->out->from && line[c->out->from - 1] != ' ')
		c->out->from--;
	c->prefix = line + c->out->from;
	c->len = point - c->out->from;
	offer_arguments(c, command, c->prefix == args);
	return true;
}

static void complete_text(struct completion *c, struct up_arena *a, const char *line)
{
	struct up_cursor at;
	struct up_buf text = { 0 };

	up_buf_add(&text, c->r->typed.s, c->r->typed.len);
	if (text.len)
		up_buf_putc(&text, '\n');
	size_t before = text.len;
	up_buf_puts(&text, line);
	const char *s = text.failed || !text.s ? "" : up_arena_memdup(a, text.s, text.len);
	size_t len = text.failed ? 0 : text.len;
	up_buf_fini(&text);
	up_cursor_find(a, s, len, &at);
	if (at.from < before)
		return;
	c->out->from = at.from - before;
	c->prefix = s + at.from;
	c->len = len - at.from;
	c->at = &at;
	offer_at(c, &at);
	if (at.kind == UP_CURSOR_FIRST && !before)
		offer_commands(c);
}

void up_repl_complete(void *arg, const char *whole, size_t point, struct up_candidates *out)
{
	struct completion c = { .r = arg, .out = out };
	struct up_arena *a = up_arena_new();
	jmp_buf oom;

	out->from = point;
	if (!a || setjmp(oom)) {
		up_arena_free(a);
		return;
	}
	up_arena_on_oom(a, &oom);
	c.arena = a;
	const char *line = up_arena_memdup(a, whole, point);
	if (c.r->typed.len || !complete_command(&c, line, point))
		complete_text(&c, a, line);
	up_arena_free(a);
}
