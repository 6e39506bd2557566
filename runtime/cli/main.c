/*
 * uptick: the command. Depends on everything; nothing depends on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/ast.h"
#include "lang/base/text.h"
#include "lang/expand.h"
#include "runtime/cli/build.h"
#include "runtime/cli/cmd_doctor.h"
#include "runtime/cli/cmd_help.h"
#include "runtime/cli/cmd_list.h"
#include "runtime/cli/cmd_record.h"
#include "runtime/cli/cmd_replay.h"
#include "runtime/cli/cmd_status.h"
#include "runtime/cli/modules.h"
#include "runtime/cli/opts.h"
#include "runtime/cli/print.h"
#include "runtime/cli/readfile.h"
#include "runtime/cli/repl.h"
#include "runtime/cli/run.h"
#include "runtime/cli/run_text.h"

#define EXIT_USAGE 2

/* ---- the program's text ---- */

static int read_fd(int fd, const char *name, struct up_buf *text)
{
	int err = up_read_rest(fd, UP_SOURCE_MAX, text);

	if (err == -EFBIG)
		up_complain("%s is too large for a script: more than %u bytes", name,
			    UP_SOURCE_MAX);
	else if (err)
		up_complain("cannot read %s: %s", name, strerror(-err));
	return err ? EXIT_USAGE : 0;
}

static int read_script(const char *path, struct up_buf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0) {
		int err = errno;
		const char *near = up_opts_nearest_command(path);

		up_complain("cannot open the script %s: %s", path, strerror(err));
		if (err == ENOENT && near)
			up_complain("did you mean `uptick %s`?", near);
		if (err == ENOENT && strpbrk(path, " <:("))
			up_complain("for a program on the command line: uptick -e '%s'", path);
		return EXIT_USAGE;
	}
	int status = read_fd(fd, path, text);
	close(fd);
	return status;
}

/* Reads the program and says what it is called in diagnostics. */
static int load(struct up_opts *o, struct up_buf *text, const char **name)
{
	if (o->has_program) {
		*name = "-e";
		up_buf_add(text, o->program.s, o->program.len);
		return 0;
	}
	if (o->script) {
		*name = o->script;
		return read_script(o->script, text);
	}
	*name = "stdin";
	if (!isatty(STDIN_FILENO))
		return read_fd(STDIN_FILENO, "standard input", text);
	up_complain("no program: give a script, or -e 'PROGRAM'; see uptick --help");
	return EXIT_USAGE;
}

/* ---- commands ---- */

static void show_diags(const struct up_opts *o, const struct up_compile *c, bool to_stdout)
{
	struct up_buf b = { 0 };
	bool json = o->form && !strcmp(o->form, "json");

	if (json)
		up_diag_json(&c->diags, &b);
	else
		up_diag_text(&c->diags, &b,
			     up_may_colour(o, to_stdout ? STDOUT_FILENO : STDERR_FILENO));
	if (to_stdout)
		up_print(&b);
	else if (!(o->quiet && !c->diags.nr_errors))
		fputs(b.s ? b.s : "", stderr);
	up_buf_fini(&b);
}

static int print_plan(const struct up_plan *plan, const char *group, bool code)
{
	struct up_buf b = { 0 };

	up_plan_dump(plan, group, code, &b);
	bool ok = up_print(&b);
	up_buf_fini(&b);
	return !ok;
}

static int run_dry(const struct up_opts *o, const struct up_plan *plan)
{
	char group[40];

	snprintf(group, sizeof(group), "uptick_%d", (int)getpid());
	return print_plan(plan, group, o->verbose);
}

/*
 * What stands behind a script belongs to the script. Words that it does not take were meant for
 * us, and to trace without them would be a surprise.
 */
static int check_args(const struct up_opts *o, unsigned used)
{
	if (o->nr_args <= 0 || (unsigned)o->nr_args <= used)
		return 0;
	const char *word = o->args[used];
	struct up_buf b = { 0 };

	up_text_escape(&b, word, strlen(word), 0);
	if (used)
		up_complain("the program takes %u arguments, but `%s` stands behind them", used,
			    b.s ? b.s : "");
	else
		up_complain("the program takes no arguments, but `%s` stands behind it",
			    b.s ? b.s : "");
	if (word[0] == '-')
		up_complain("options stand before the script: uptick %s ... SCRIPT",
			    b.s ? b.s : "");
	up_buf_fini(&b);
	return EXIT_USAGE;
}

/* `SCRIPT --help` */
static int show_script_help(const struct up_opts *o, const char *name, const struct up_buf *text)
{
	struct up_compile *c = up_compile_new();
	struct up_buf out = { 0 };
	int status = EXIT_USAGE;

	if (!c) {
		up_complain("out of memory");
		return 1;
	}
	int src = up_source_add(&c->sources, name, text->s ? text->s : "", text->len);
	const struct up_parse *parse = up_parse(&c->diags, (uint32_t)src);
	show_diags(o, c, false);
	if (!c->diags.nr_errors) {
		up_script_help(&c->diags, parse, (uint32_t)src, &out);
		status = up_print(&out) ? 0 : 1;
	}
	up_buf_fini(&out);
	up_compile_free(c);
	return status;
}

static int refuse_module(const struct up_opts *o, const char *name)
{
	const char *base = strrchr(name, '/');

	up_complain("%s is a module: it has no probe of its own", name);
	if (o->script)
		up_complain("use it in a script that stands beside it: use \"%s\"",
			    base ? base + 1 : name);
	return EXIT_USAGE;
}

/* A target is first looked for in the process of -p: without it that would be a guess. */
static bool check_process(const struct up_opts *o)
{
	if (!o->pid || up_is_saved_source(o) || !kill(o->pid, 0) || errno != ESRCH)
		return true;
	up_complain("cannot trace process %d: there is no such process", (int)o->pid);
	return false;
}

/* `replay` is open when that is the command; without a name its own program is run. */
static int compile_and_run(const struct up_opts *o, const struct up_signals *sig, const char *name,
			   const struct up_buf *text, struct up_replay *replay)
{
	bool is_replay = o->command == UP_CMD_REPLAY;

	if (!check_process(o))
		return 1;
	struct up_built b =
		is_replay ? up_replay_build(o, replay, name, text) : up_build(o, sig, name, text);
	bool is_check = o->command == UP_CMD_CHECK;
	int status = EXIT_USAGE;

	if (!b.c || (!b.plan && !b.c->diags.nr_errors)) {
		up_complain("out of memory");
		up_built_fini(&b);
		return 1;
	}
	if (!b.plan && up_signals_stopped()) {
		up_complain("interrupted while waiting; 0 hits");
		up_built_fini(&b);
		return 0;
	}
	show_diags(o, b.c, is_check && o->form);
	if (b.plan && b.c->is_module)
		status = is_check ? 0 : refuse_module(o, name);
	else if (b.plan && name && check_args(o, b.args_used))
		status = EXIT_USAGE;
	else if (b.plan && is_check)
		status = 0;
	else if (b.plan && o->command == UP_CMD_PLAN)
		status = print_plan(b.plan, "uptick", o->verbose);
	else if (b.plan && o->dry_run)
		status = run_dry(o, b.plan);
	else if (b.plan && is_replay)
		status = up_replay_run(o, sig, replay, &b);
	else if (b.plan && o->command == UP_CMD_RECORD)
		status = up_cmd_record(o, sig, name, text, &b);
	else if (b.plan && up_is_saved_source(o))
		status = up_run_text(o, b.plan, sig);
	else if (b.plan)
		status = up_run(o, b.c, b.plan, sig, NULL);
	up_built_fini(&b);
	return status;
}

/* Opens the recording; without a script its own is run. */
static int replay(struct up_opts *o, const struct up_signals *sig)
{
	bool is_own = !o->has_program && !o->script && !o->from_stdin;
	struct up_status st = { 0 };
	struct up_buf text = { 0 };
	const char *name = NULL;
	struct up_replay r;
	int status = is_own ? 0 : load(o, &text, &name);

	if (!status && up_replay_open(&r, o->recording, &st)) {
		up_report(&st);
		up_replay_close(&r);
		status = 1;
	} else if (!status) {
		status = compile_and_run(o, sig, name, &text, &r);
		up_replay_close(&r);
	}
	up_buf_fini(&text);
	return status;
}

/* Replaces a file by a new one of the same mode, whole or not at all. */
static int rewrite(const char *path, const struct up_buf *text)
{
	struct up_buf tmp = { 0 };
	struct stat sb;
	int fd, status = 1;

	up_buf_printf(&tmp, "%s.XXXXXX", path);
	if (tmp.failed || stat(path, &sb) || (fd = mkostemp(tmp.s, O_CLOEXEC)) < 0) {
		up_complain("cannot rewrite %s: %s", path, strerror(errno));
	} else {
		bool ok = write(fd, text->s, text->len) == (ssize_t)text->len &&
			  !fchmod(fd, sb.st_mode & 07777);

		ok = !close(fd) && ok && !rename(tmp.s, path);
		if (ok) {
			status = 0;
		} else {
			up_complain("cannot rewrite %s: %s", path, strerror(errno));
			unlink(tmp.s);
		}
	}
	up_buf_fini(&tmp);
	return status;
}

/* Prints a script. What a terminal would obey is escaped there, and nowhere else. */
static bool print_script(const struct up_buf *text)
{
	bool escapes = isatty(STDOUT_FILENO);
	struct up_buf b = { 0 };

	for (size_t i = 0, from = 0; i <= text->len; i++) {
		if (i < text->len && text->s[i] != '\n' && text->s[i] != '\t')
			continue;
		if (escapes)
			up_text_escape(&b, text->s + from, i - from, 0);
		else
			up_buf_add(&b, text->s + from, i - from);
		if (i < text->len)
			up_buf_putc(&b, text->s[i]);
		from = i + 1;
	}
	bool ok = up_print(&b);
	up_buf_fini(&b);
	return ok;
}

static int format(const struct up_opts *o, const char *name, const struct up_buf *text)
{
	struct up_compile *c = up_compile_new();
	struct up_buf out = { 0 };
	int src, status = EXIT_USAGE;

	if (!c) {
		up_complain("out of memory");
		return 1;
	}
	src = up_source_add(&c->sources, name, text->s ? text->s : "", text->len);
	up_parse(&c->diags, (uint32_t)src);
	show_diags(o, c, false);
	if (!c->diags.nr_errors) {
		up_fmt(&c->sources, (uint32_t)src, &out);
		if (!o->write)
			status = print_script(&out) ? 0 : 1;
		else if (out.len == text->len && (!out.len || !memcmp(out.s, text->s, out.len)))
			status = 0;
		else
			status = rewrite(o->script, &out);
	}
	up_buf_fini(&out);
	up_compile_free(c);
	return status;
}

/* A command that takes no script. */
static int run_other(const struct up_opts *o, const struct up_signals *sig)
{
	switch (o->command) {
	case UP_CMD_LIST:
		return up_cmd_list(o);
	case UP_CMD_STATUS:
		return up_cmd_status(o);
	case UP_CMD_CLEAN:
		return up_cmd_clean(o, sig);
	case UP_CMD_WORD:
		return up_cmd_word(o);
	case UP_CMD_REFERENCE:
		return up_cmd_reference(o);
	default:
		return up_cmd_doctor(o, sig);
	}
}

/* Without a program at a terminal there is a prompt. */
static bool wants_prompt(const struct up_opts *o)
{
	return o->command == UP_CMD_RUN && !o->has_program && !o->script && !o->dry_run &&
	       !o->source && isatty(STDIN_FILENO);
}

static int run_command(struct up_opts *o, const struct up_signals *sig)
{
	struct up_buf b = { 0 };
	const char *name = "";
	int status = 0;

	if (o->command >= UP_CMD_HELP) {
		if (o->command == UP_CMD_HELP)
			up_opts_help(&b);
		else if (o->command == UP_CMD_MAN)
			up_opts_man(&b);
		else
			up_buf_puts(&b, "uptick " UPTICK_VERSION "\n");
		status = up_print(&b) ? 0 : 1;
	} else if (o->command >= UP_CMD_LIST) {
		status = run_other(o, sig);
	} else if (o->command == UP_CMD_REPLAY && !o->script_help) {
		status = replay(o, sig);
	} else if (wants_prompt(o)) {
		status = up_repl(o, sig);
	} else {
		status = load(o, &b, &name);
		if (!status && o->command == UP_CMD_FMT)
			status = format(o, name, &b);
		else if (!status && o->script_help)
			status = show_script_help(o, name, &b);
		else if (!status)
			status = compile_and_run(o, sig, name, &b, NULL);
	}
	up_buf_fini(&b);
	return status;
}

/* Descriptors 0 to 2 must exist, or files opened later would take their places. */
static void open_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct up_opts o = { 0 };
	struct up_signals sig;
	struct up_buf err = { 0 };

	open_standard_fds();
	int failed = up_signals_init(&sig);
	if (failed) {
		up_complain("cannot catch signals: %s", strerror(-failed));
		return 1;
	}
	o.modules = up_module_finder_new();
	int status = o.modules ? up_opts_parse(&o, argc, argv, &err) : 1;
	if (status)
		up_complain("%s", err.s ? err.s : "out of memory");
	else {
		/* The commands that touch the kernel undo what they did before they go. */
		if (o.command == UP_CMD_CLEAN || o.command == UP_CMD_DOCTOR)
			up_signals_defer();
		else
			up_signals_quick(o.command <= UP_CMD_REPLAY);
		status = run_command(&o, &sig);
	}
	up_buf_fini(&err);
	up_opts_fini(&o);
	up_module_finder_free(o.modules);
	return status;
}
