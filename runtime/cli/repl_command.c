/* The commands of the prompt. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/ast.h"
#include "lang/base/text.h"
#include "runtime/cli/cmd_help.h"
#include "runtime/cli/cmd_list.h"
#include "runtime/cli/readfile.h"
#include "runtime/cli/repl_int.h"
#include "runtime/cli/words.h"

/* ---- the program ---- */

static void change_entry(struct up_repl *r, const char *args, bool on)
{
	struct up_entry *e = up_repl_entry(r, args);
	struct up_program old;

	if (!e)
		return;
	if (!e->decl->is_probe && !e->decl->is_timed) {
		up_repl_say(r, "%u is no probe and no timed block; `delete %u` takes it out",
			    e->decl->number, e->decl->number);
		return;
	}
	if (e->is_off == !on) {
		up_repl_say(r, "%u is %s already", e->decl->number, on ? "enabled" : "disabled");
		return;
	}
	if (!up_program_copy(&r->program, 0, &old)) {
		up_repl_say(r, "out of memory");
		return;
	}
	e->is_off = !on;
	up_program_push(r, old);
	up_program_sync(r);
}

static void enable(struct up_repl *r, const char *args)
{
	change_entry(r, args, true);
}

static void disable(struct up_repl *r, const char *args)
{
	change_entry(r, args, false);
}

static void delete (struct up_repl *r, const char *args)
{
	const struct up_entry *e = up_repl_entry(r, args);
	struct up_program old, next;

	if (!e)
		return;
	size_t at = (size_t)(e - r->program.v);
	if (!up_program_copy(&r->program, 0, &old) || !up_program_copy(&r->program, 0, &next)) {
		up_repl_say(r, "out of memory");
		return;
	}
	next.nr--;
	memmove(&next.v[at], &next.v[at + 1], (next.nr - at) * sizeof(*next.v));
	if (up_program_apply(r, next, NULL))
		up_program_push(r, old);
	else
		free(old.v);
}

static void undo(struct up_repl *r, const char *args)
{
	struct up_program before, copy;

	(void)args;
	if (!r->nr_undo) {
		up_repl_say(r, "nothing to undo");
		return;
	}
	if (!up_program_copy(&r->program, 0, &before) ||
	    !up_program_copy(&r->undo[r->nr_undo - 1], 0, &copy)) {
		free(before.v);
		up_repl_say(r, "out of memory");
		return;
	}
	if (up_program_apply(r, copy, NULL)) {
		free(r->undo[--r->nr_undo].v);
		up_repl_changes(r, &before);
	}
	free(before.v);
}

/* ---- files ---- */

/* The only word of a command; NULL after a message. The caller frees the vector. */
static char **one_word(struct up_repl *r, const char *args, const char *what)
{
	struct up_buf err = { 0 };
	char **words = *args ? up_split_words(args, &err) : NULL;

	if (words && words[0] && !words[1])
		return words;
	up_repl_say(r, "%s", err.len ? err.s : what);
	free(words);
	up_buf_fini(&err);
	return NULL;
}

static bool read_file(struct up_repl *r, const char *path, struct up_buf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat sb;
	const char *why = NULL;

	if (fd >= 0 && !fstat(fd, &sb) && !S_ISREG(sb.st_mode))
		why = "it is no regular file";
	int err = fd < 0 ? -errno : why ? 0 : up_read_rest(fd, UP_SOURCE_MAX, text);
	if (fd >= 0)
		close(fd);
	if (err)
		why = err == -EFBIG ? "it is too large" : strerror(-err);
	if (why)
		up_repl_say(r, "cannot read %s: %s", path, why);
	return !why;
}

static void load(struct up_repl *r, const char *args)
{
	char **words = one_word(r, args, "load what? As in: load FILE.up");
	struct up_buf text = { 0 };

	if (words && read_file(r, words[0], &text))
		up_program_add(r, text.s ? text.s : "", text.len);
	free(words);
	up_buf_fini(&text);
}

/* The program as `uptick fmt` writes it. */
static void format(const struct up_buf *text, struct up_buf *out)
{
	struct up_compile *c = up_compile_new();

	if (c) {
		int src = up_source_add(&c->sources, "", text->s ? text->s : "", text->len);

		up_parse(&c->diags, (uint32_t)src);
		if (!c->diags.nr_errors)
			up_fmt(&c->sources, (uint32_t)src, out);
		else
			up_buf_add(out, text->s, text->len);
	}
	up_compile_free(c);
}

/* A file that was not there before. 0 or -errno; then there is none. */
static int write_new(const char *path, mode_t mode, const struct up_buf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), err = 0;
	size_t done = 0;

	if (fd < 0)
		return -errno;
	while (done < text->len && !err) {
		ssize_t n = write(fd, text->s + done, text->len - done);

		if (n < 0 && errno != EINTR)
			err = -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	if (close(fd) && !err)
		err = -errno;
	if (err)
		unlink(path);
	return err;
}

/* In place of a file that is there, which goes only when the new one is whole. */
static int write_over(const char *path, const struct up_buf *text)
{
	struct up_buf beside = { 0 };
	struct stat sb;
	mode_t mode = !stat(path, &sb) && S_ISREG(sb.st_mode) ? sb.st_mode & 0777 : 0666;

	up_buf_printf(&beside, "%s.new-%d", path, (int)getpid());
	int err = beside.failed ? -ENOMEM : write_new(beside.s, mode, text);
	if (!err && rename(beside.s, path)) {
		err = -errno;
		unlink(beside.s);
	}
	up_buf_fini(&beside);
	return err;
}

static bool write_program(struct up_repl *r, const char *path, bool is_over,
			  const struct up_buf *text)
{
	int err = is_over ? write_over(path, text) : write_new(path, 0666, text);

	if (err == -EEXIST)
		up_repl_say(r, "%s is there already; `save -f %s` replaces it", path, path);
	else if (err)
		up_repl_say(r, "cannot write %s: %s", path, strerror(-err));
	return !err;
}

static void say_saved(struct up_repl *r, const char *path)
{
	const char *what = r->program.nr == 1 ? "declaration" : "declarations";

	if (up_program_stands(r))
		up_repl_say(r, "saved %zu %s; run it with: uptick %s", r->program.nr, what, path);
	else
		up_repl_say(r,
			    "saved %zu %s to %s, but it does not run yet: what is disabled stands "
			    "in it as a comment, and something else needs it",
			    r->program.nr, what, path);
}

static void save(struct up_repl *r, const char *args)
{
	bool is_over = !strncmp(args, "-f", 2) && (args[2] == ' ' || args[2] == '\t');
	const char *rest = is_over ? args + 2 + strspn(args + 2, " \t") : args;
	char **words = one_word(r, rest, "save where? As in: save FILE.up");
	struct up_buf text = { 0 }, out = { 0 };

	if (words && r->program.nr) {
		up_program_text(r, &text);
		format(&text, &out);
		if (write_program(r, words[0], is_over, &out))
			say_saved(r, words[0]);
	} else if (words) {
		up_repl_say(r, "there is nothing to save yet");
	}
	free(words);
	up_buf_fini(&text);
	up_buf_fini(&out);
}

/* ---- output ---- */

static void set_pause(struct up_repl *r, const char *args)
{
	(void)args;
	r->is_paused = true;
	r->left_out = 0;
	up_repl_say(r, "output is left out; `resume` shows it again");
}

static void resume(struct up_repl *r, const char *args)
{
	(void)args;
	if (!r->is_paused)
		up_repl_say(r, "output is shown already");
	else
		up_repl_say(r, "%llu %s left out meanwhile", (unsigned long long)r->left_out,
			    r->left_out == 1 ? "line was" : "lines were");
	r->is_paused = false;
}

/* ---- others ---- */

#define TARGETS_MAX 32 /* of one `list` */

/*
 * Cuts targets apart at blanks, in place. Double quotes belong to a target; single ones, which a
 * shell would want, are taken away.
 */
static int split_targets(char *s, char **words)
{
	int nr = 0;

	while (*(s += strspn(s, " \t")) && nr < TARGETS_MAX) {
		char *to = s, quote = 0;

		words[nr++] = s;
		for (; *s && (quote || !strchr(" \t", *s)); s++) {
			if (*s == quote)
				quote = 0;
			else if (!quote && (*s == '\'' || *s == '"'))
				quote = *s;
			if (*s != '\'')
				*to++ = *s;
		}
		s += *s != 0;
		*to = 0;
	}
	return nr;
}

static void list(struct up_repl *r, const char *args)
{
	struct up_opts o = { .command = UP_CMD_LIST, .pid = r->seen_by };
	char *copy = strdup(args), *words[TARGETS_MAX];
	int nr = copy ? split_targets(copy, words) : 0;

	if (nr) {
		o.script = words[0];
		o.args = words + 1;
		o.nr_args = nr - 1;
		up_cmd_list(&o);
	} else {
		up_repl_say(r, "list what? As in: list libc:mem*, or list libss*");
	}
	free(copy);
}

static void put_command(struct up_buf *b, const struct up_repl_command *c)
{
	up_buf_printf(b, "  %-17s %s\n", c->form, c->help);
}

void up_repl_markdown(struct up_buf *out)
{
	up_buf_puts(out, "| command | does |\n| --- | --- |\n");
	for (const struct up_repl_command *c = up_repl_commands; c->name; c++)
		up_buf_printf(out, "| `%s` | %s |\n", c->form, c->help);
}

bool up_repl_word(const char *word, struct up_buf *out)
{
	for (const struct up_repl_command *c = up_repl_commands; c->name; c++)
		if (!strcmp(c->name, word)) {
			up_buf_printf(out, "%s (a command of the prompt)\n    %s\n", c->form,
				      c->help);
			return true;
		}
	return false;
}

static void list_commands(struct up_repl *r)
{
	up_buf_puts(&r->out.buf,
		    "Type a declaration, as in\n"
		    "  probe libc:malloc < sizes = hist(arg0) by comm >\n"
		    "or a statement or value, as in  show(sizes)  or  1 + 2 . Commands:\n");
	for (const struct up_repl_command *c = up_repl_commands; c->name; c++)
		put_command(&r->out.buf, c);
	up_buf_puts(&r->out.buf, "Ctrl-C stops output or gives up a line; Ctrl-D leaves.\n");
}

static void help(struct up_repl *r, const char *args)
{
	struct up_opts o = { .command = UP_CMD_WORD };
	struct up_buf err = { 0 };
	char **words = *args ? up_split_words(args, &err) : NULL;

	if (words && words[0]) {
		o.script = words[0];
		o.args = words + 1;
		while (o.args[o.nr_args])
			o.nr_args++;
		up_cmd_word(&o);
	} else {
		list_commands(r);
	}
	free(words);
	up_buf_fini(&err);
}

static void quit(struct up_repl *r, const char *args)
{
	(void)args;
	r->is_over = true;
}

const struct up_repl_command up_repl_commands[] = {
	{ "probes", "probes", "the declarations: number, state, places, hits, rate, lost",
	  up_repl_probes },
	{ "enable", "enable N", "arms probe N again", enable },
	{ "disable", "disable N", "disarms probe N; what it gathered stays", disable },
	{ "delete", "delete N", "takes declaration N out of the program", delete },
	{ "show", "show [NAME]", "shows an aggregation, table or variable; or all", up_repl_show },
	{ "clear", "clear [NAME]", "empties it; or all aggregations and tables", up_repl_clear },
	{ "vars", "vars", "the variables, tables and aggregations", up_repl_vars },
	{ "list", "list PATTERN", "places that can be probed: list libc:mem*", list },
	{ "plan", "plan N", "what declaration N has put into the kernel", up_repl_plan },
	{ "pause", "pause", "leaves out what probes and commands write; both go on", set_pause },
	{ "resume", "resume", "shows them again", resume },
	{ "reload", "reload", "looks the probed files up again: moves probes to new ones",
	  up_repl_reload },
	{ "attach", "attach [PID]", "traces only this process, and others that are attached",
	  up_repl_attach },
	{ "detach", "detach", "traces all processes again", up_repl_detach },
	{ "run", "run CMD", "starts a command; its output is shown here", up_repl_run },
	{ "save", "save [-f] FILE.up", "writes the program as a script; -f: in place of one",
	  save },
	{ "load", "load FILE.up", "adds the declarations of a script", load },
	{ "undo", "undo", "takes the latest change of the program back, and says which", undo },
	{ "help", "help [WORD]", "explains a command, a word of the language, a module, a point",
	  help },
	{ "quit", "quit", "takes everything out of the kernel and leaves", quit },
	{ "exit", "exit", "leaves, as quit does", quit },
	{ NULL, NULL, NULL, NULL },
};

/* Does the rest of a line go on as an expression or an assignment does? */
static bool is_language(const char *rest)
{
	const char *s = rest + strspn(rest, " \t");

	if (*s == '=' || *s == '(' || *s == '[')
		return true;
	if (!*s || !strchr("+-*/%&|^<>!~.,:;", *s))
		return false;
	size_t len = strspn(s, "+-*/%&|^<>=!~.,:;");
	return s == rest || !s[len] || s[len] == ' ' || s[len] == '\t';
}

const struct up_repl_command *up_repl_command(const char *line, const char **args)
{
	const char *word = line + strspn(line, " \t");
	size_t len = 0;

	while (islower((unsigned char)word[len]))
		len++;
	if (!len || isalnum((unsigned char)word[len]) || word[len] == '_' ||
	    is_language(word + len))
		return NULL;
	*args = word + len + strspn(word + len, " \t");
	/* The only one that is a keyword of a block as well: delete t[k]. */
	if (!strncmp(word, "delete", len) && (isalpha((unsigned char)**args) || **args == '_'))
		return NULL;
	for (const struct up_repl_command *c = up_repl_commands; c->name; c++)
		if (strlen(c->name) == len && !memcmp(c->name, word, len))
			return c;
	return NULL;
}
