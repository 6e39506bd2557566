/* The option table, and what reads it. */
#include "runtime/cli/opts.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/text.h"
#include "lang/reference.h"
#include "runtime/out.h"

/*
 * One option. `set` gets the argument, or NULL; false when it cannot be understood. Without it the
 * option sets the flag at offset `flag` of struct up_opts.
 */
struct row {
	const char *name; /* long name */
	char letter;      /* short one, or 0 */
	const char *arg;  /* name of its argument, or NULL */
	const char *help;
	bool (*set)(struct up_opts *o, const char *arg);
	size_t flag;
};

#define FLAG(member) offsetof(struct up_opts, member)

static bool parse_scaled(const char *s, const char *const *units, const uint64_t *scales,
			 uint64_t *out)
{
	char *end;
	double v;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	v = strtod(s, &end);
	if (errno || end == s)
		return false;
	for (int i = 0; units[i]; i++)
		if (!strcmp(end, units[i])) {
			v *= (double)scales[i];
			*out = (uint64_t)v;
			return v < 9e18;
		}
	return false;
}

bool up_parse_duration(const char *s, uint64_t *ns)
{
	static const char *const units[] = { "", "s", "ms", "us", "ns", "min", "m", "h", NULL };
	static const uint64_t scales[] = { 1000000000, 1000000000,  1000000,     1000,
					   1,          60000000000, 60000000000, 3600000000000 };

	return parse_scaled(s, units, scales, ns) && *ns > 0;
}

bool up_parse_size(const char *s, uint64_t *bytes)
{
	static const char *const units[] = {
		"", "B", "KiB", "K", "k", "MiB", "M", "GiB", "G", NULL
	};
	static const uint64_t scales[] = { 1,       1,       1 << 10, 1 << 10, 1 << 10,
					   1 << 20, 1 << 20, 1 << 30, 1 << 30 };

	return parse_scaled(s, units, scales, bytes) && *bytes > 0;
}

static bool set_program(struct up_opts *o, const char *arg)
{
	if (o->has_program)
		up_buf_putc(&o->program, '\n');
	up_buf_puts(&o->program, arg);
	return o->has_program = true;
}

static bool set_run(struct up_opts *o, const char *arg)
{
	o->run = arg;
	return *arg;
}

static bool parse_count(const char *arg, uint64_t max, uint64_t *out)
{
	char *end;

	if (*arg < '0' || *arg > '9')
		return false;
	errno = 0;
	*out = strtoull(arg, &end, 10);
	return !*end && !errno && *out > 0 && *out <= max;
}

static bool set_pid(struct up_opts *o, const char *arg)
{
	uint64_t v;

	if (!parse_count(arg, INT_MAX, &v))
		return false;
	o->pid = (pid_t)v;
	return true;
}

static bool set_duration(struct up_opts *o, const char *arg)
{
	return up_parse_duration(arg, &o->duration);
}

static bool set_max(struct up_opts *o, const char *arg)
{
	return parse_count(arg, UINT64_MAX, &o->max_handled);
}

static bool set_form(struct up_opts *o, const char *arg)
{
	o->form = arg;
	return up_out_form_find(arg) != NULL;
}

static bool set_out(struct up_opts *o, const char *arg)
{
	o->out = arg;
	return *arg;
}

static bool set_source(struct up_opts *o, const char *arg)
{
	o->source = arg;
	return *arg;
}

static bool set_buffer(struct up_opts *o, const char *arg)
{
	return up_parse_size(arg, &o->buffer) && o->buffer >= 64 << 10 &&
	       o->buffer <= (uint64_t)1 << 32;
}

static bool set_return(struct up_opts *o, const char *arg)
{
	static const char *const words[] = { "auto", "kernel", "sites" };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i], arg)) {
			o->returns = (enum up_return_how)i;
			return true;
		}
	return false;
}

static bool set_help(struct up_opts *o, const char *arg)
{
	(void)arg;
	o->command = UP_CMD_HELP;
	return true;
}

static bool set_version(struct up_opts *o, const char *arg)
{
	(void)arg;
	o->command = UP_CMD_VERSION;
	return true;
}

static bool set_reference(struct up_opts *o, const char *arg)
{
	o->command = UP_CMD_REFERENCE;
	o->word = arg;
	return true;
}

static bool set_man(struct up_opts *o, const char *arg)
{
	(void)arg;
	o->command = UP_CMD_MAN;
	return true;
}

static const struct row rows[] = {
	{ "program", 'e', "PROGRAM", "the program itself; several are joined, a line each",
	  set_program, 0 },
	{ "command", 'c', "'CMD ARGS'",
	  "start CMD once the probes are armed, trace it and its children and nothing else, end "
	  "when it "
	  "exits and pass its exit status on",
	  set_run, 0 },
	{ "pid", 'p', "PID",
	  "trace only this process: all its threads, those to come too; end when it ends", set_pid,
	  0 },
	{ "children", 0, NULL, "with -p: also the processes it starts", NULL, FLAG(children) },
	{ "wait", 0, NULL,
	  "a program or library that is not there yet is waited for; nothing is armed until all "
	  "targets are found",
	  NULL, FLAG(wait) },
	{ "follow-files", 0, NULL,
	  "when a probed program or library is replaced, probe the new file as well", NULL,
	  FLAG(follow_files) },
	{ "duration", 'd', "TIME",
	  "end so long after the probes are armed: 10s, 500ms, 2min; a plain number is seconds",
	  set_duration, 0 },
	{ "number", 'n', "N", "end after N handled hits", set_max, 0 },
	{ "format", 'f', "FORM",
	  "form of the output: text, json (one object a line), or csv; of check, the form of the "
	  "diagnostics",
	  set_form, 0 },
	{ "output", 'o', "FILE",
	  "write the output to FILE, a new one being readable by its owner only; of record, the "
	  "recording",
	  set_out, 0 },
	{ "source", 0, "SOURCE",
	  "where events come from: raw, the kernel's binary buffers (the default); pipe, its text; "
	  "or a FILE of such text that was saved, - for standard input, which needs no privileges",
	  set_source, 0 },
	{ "buffer", 0, "SIZE",
	  "the ring buffer of each processor: 4MiB; 64KiB at least. By default 4 MiB, less on "
	  "machines with more than 16 processors",
	  set_buffer, 0 },
	{ "unsafe", 0, NULL,
	  "allow probes that can harm the program: inside an instruction, on a nop that the kernel "
	  "handles wrongly; each gets a warning",
	  NULL, FLAG(unsafe) },
	{ "return", 0, "HOW",
	  "how returns are seen: auto (by the kernel's return probe where it cannot harm the "
	  "program, "
	  "else by probes on the function's own return instructions), kernel, or sites",
	  set_return, 0 },
	{ "exact-entry", 0, NULL,
	  "probe a function's entry on its first instruction, though another one would cost less",
	  NULL, FLAG(exact_entry) },
	{ "dry-run", 0, NULL, "print what would be written to the kernel, and end", NULL,
	  FLAG(dry_run) },
	{ "write", 'w', NULL, "with fmt: rewrite the file in place", NULL, FLAG(write) },
	{ "single-sites", 0, NULL,
	  "one kernel event a site, as on kernels before 5.4; slow to detach", NULL,
	  FLAG(single_sites) },
	{ "no-kernel-filter", 0, NULL,
	  "judge conditions in uptick alone; the results are the same, the buffer fills sooner",
	  NULL, FLAG(no_filters) },
	{ "quiet", 'q', NULL, "no last lines and no warnings on standard error", NULL,
	  FLAG(quiet) },
	{ "verbose", 'v', NULL, "more about what is done; with plan: the handlers' instructions",
	  NULL, FLAG(verbose) },
	{ "no-color", 0, NULL, "no colours (also: the environment variable NO_COLOR)", NULL,
	  FLAG(no_colour) },
	{ "help", 'h', NULL, "print this", set_help, 0 },
	{ "version", 'V', NULL, "print the version", set_version, 0 },
	{ "man", 0, NULL, "print the man page in roff", set_man, 0 },
	{ "reference", 0, "TABLE",
	  "print a table of the reference in Markdown: words, values, types, actions, aggregates, "
	  "functions, diagnostics, options, commands",
	  set_reference, 0 },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct {
	const char *name;
	enum up_command command;
	const char *usage, *help;
} commands[] = {
	{ "run", UP_CMD_RUN, "[OPTIONS] SCRIPT.up [ARGS]",
	  "run a script; it may start with #!/usr/bin/env uptick. --NAME=VALUE behind it sets a "
	  "parameter of the script, --help shows them" },
	{ "run", UP_CMD_RUN, "[OPTIONS] -e 'PROGRAM' [ARGS]", "run a one-liner" },
	{ "run", UP_CMD_RUN, "[OPTIONS] < SCRIPT.up", "run a program from standard input" },
	{ "run", UP_CMD_RUN, "[-p PID] [-c 'CMD ARGS']",
	  "at a terminal: a prompt, at which probes are added and taken away while others run" },
	{ "record", UP_CMD_RECORD, "record -o FILE [OPTIONS] SCRIPT | -e PROGRAM",
	  "write the events of a script's probes to FILE, as trace-cmd does; nothing else of the "
	  "script is run" },
	{ "replay", UP_CMD_REPLAY, "replay [OPTIONS] FILE [SCRIPT [ARGS] | -e PROGRAM]",
	  "run a script on recorded events, on any machine; by default the one that was recorded" },
	{ "check", UP_CMD_CHECK, "check SCRIPT | -e PROGRAM",
	  "diagnostics only; needs no privileges" },
	{ "plan", UP_CMD_PLAN, "plan SCRIPT | -e PROGRAM",
	  "the uprobe_events lines and handlers; needs no privileges" },
	{ "fmt", UP_CMD_FMT, "fmt [-w] SCRIPT", "the script, formatted" },
	{ "list", UP_CMD_LIST, "list [-p PID] 'OBJECT:PATTERN' ...",
	  "the places that can be probed; without a colon a pattern of programs and libraries, "
	  "with -p "
	  "alone those of the process; needs no privileges" },
	{ "status", UP_CMD_STATUS, "status", "what uptick has in the kernel, and whose it is" },
	{ "clean", UP_CMD_CLEAN, "clean", "remove from the kernel what has no living owner" },
	{ "help", UP_CMD_WORD, "help [WORD]",
	  "what a word of the language means: a value, a type, an action, an aggregate, the tag of "
	  "an error" },
	{ "doctor", UP_CMD_DOCTOR, "doctor",
	  "can this machine trace, and if not, what is missing; exit status 0 when it can" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void build_getopt(struct option *longs, char *shorts, enum up_command command)
{
	if (command < UP_CMD_LIST)
		*shorts++ = '+'; /* what stands behind the script belongs to the script */
	*shorts++ = ':';
	for (size_t i = 0; i < NR_ROWS; i++) {
		longs[i] = (struct option){ rows[i].name, rows[i].arg ? 1 : 0, NULL, 256 + (int)i };
		if (!rows[i].letter)
			continue;
		*shorts++ = rows[i].letter;
		if (rows[i].arg)
			*shorts++ = ':';
	}
	*shorts = 0;
	longs[NR_ROWS] = (struct option){ 0 };
}

static const struct row *find_row(int c)
{
	if (c >= 256)
		return &rows[c - 256];
	for (size_t i = 0; i < NR_ROWS; i++)
		if (rows[i].letter == c)
			return &rows[i];
	return NULL;
}

static int bad_option(const struct up_opts *o, struct up_buf *err, const char *word)
{
	struct up_nearest near;
	const char *name = word + strspn(word, "-");

	up_buf_puts(err, "unknown option ");
	up_text_escape(err, word, strlen(word), 0);
	up_nearest_init(&near, name, strlen(name));
	for (size_t i = 0; i < NR_ROWS; i++)
		up_nearest_offer(&near, rows[i].name, strlen(rows[i].name));
	if (o->run && word[1] != '-')
		up_buf_puts(
			err,
			"; if it belongs to the command of -c, quote both together: -c 'CMD ARGS'");
	else if (near.nr)
		up_buf_printf(err, "; did you mean --%s?", near.best[0].name);
	else
		up_buf_puts(err, "; see uptick --help");
	return 2;
}

static int bad_argument(struct up_buf *err, const struct row *r, const char *arg)
{
	up_buf_printf(err, "--%s takes %s, and `", r->name, r->arg);
	up_text_escape(err, arg ? arg : "", arg ? strlen(arg) : 0, 0);
	up_buf_printf(err, "` is none (%s)", r->help);
	return 2;
}

static int parse_options(struct up_opts *o, int argc, char **argv, struct up_buf *err)
{
	struct option longs[NR_ROWS + 1];
	char shorts[NR_ROWS * 2 + 3];
	int c;

	build_getopt(longs, shorts, o->command);
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct row *r;

		if (c == '?')
			return bad_option(o, err,
					  optopt && optopt < 256
						  ? (const char[]){ '-', (char)optopt, 0 }
						  : argv[optind - 1]);
		if (c == ':') {
			up_buf_printf(err, "the option %s needs an argument", argv[optind - 1]);
			return 2;
		}
		r = find_row(c);
		if (!r->set)
			*(bool *)((char *)o + r->flag) = true;
		else if (!r->set(o, optarg))
			return bad_argument(err, r, optarg);
	}
	return 0;
}

/* The word is a command: options may follow it. */
static bool take_command(struct up_opts *o, const char *word)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, word) && commands[i].command != UP_CMD_RUN) {
			o->command = commands[i].command;
			return true;
		}
	return false;
}

static const char *check_record(const struct up_opts *o)
{
	if (!o->out)
		return "record writes to a file: give it with -o FILE";
	if (o->form || o->max_handled)
		return "record only writes events down: -f and -n belong to replay";
	if (o->source)
		return "record writes the kernel's own buffers down: --source belongs to a run";
	if (o->follow_files)
		return "--follow-files adds places, and a recording says beforehand which there "
		       "are";
	return NULL;
}

static const char *check_replay(const struct up_opts *o)
{
	if (!o->recording)
		return "replay needs the recording: uptick replay FILE";
	if (o->run || o->pid || o->wait || o->follow_files || o->buffer || o->source)
		return "replay runs on what was recorded: -c, -p, --wait, --follow-files, "
		       "--buffer and --source do not go with it";
	return NULL;
}

bool up_is_saved_source(const struct up_opts *o)
{
	return o->source && strcmp(o->source, "raw") != 0 && strcmp(o->source, "pipe") != 0;
}

static int check_together(const struct up_opts *o, struct up_buf *err)
{
	const char *what = NULL;

	if (o->run && o->pid)
		what = "-c starts a program and -p takes a running one: give one of them";
	else if (o->run && up_is_saved_source(o))
		what = "-c starts a program, but --source names text that was saved earlier";
	else if (o->source && !strcmp(o->source, "-") && !o->script && !o->has_program)
		what = "the program and the text cannot both be standard input";
	else if (o->children && !o->pid)
		what = "--children belongs to -p; with -c children are followed anyway";
	else if (o->write && (o->command != UP_CMD_FMT || !o->script))
		what = "-w rewrites the script that fmt is given";
	else if (o->command == UP_CMD_RECORD)
		what = check_record(o);
	else if (o->command == UP_CMD_REPLAY)
		what = check_replay(o);
	else if (o->quiet && o->verbose)
		what = "-q and -v contradict each other";
	if (what)
		up_buf_puts(err, what);
	return what ? 2 : 0;
}

/* One `--NAME` or `--NAME=VALUE`. False when there is no memory. */
static bool add_param(struct up_opts *o, const char *word)
{
	size_t len = strcspn(word, "=");
	struct up_param_arg p = { strndup(word, len), word[len] ? word + len + 1 : NULL };

	if (!p.name)
		return false;
	o->params[o->nr_params++] = p;
	return true;
}

/*
 * Takes apart what stands behind the script: `--NAME=VALUE` sets a parameter, --help asks for them,
 * behind -- and otherwise it is an argument. False when there is no memory.
 */
static bool take_args(struct up_opts *o, char **args, int nr)
{
	bool all = false;

	o->args = args;
	o->params = calloc((size_t)nr + 1, sizeof(*o->params));
	for (int i = 0; o->params && i < nr; i++) {
		bool is_param = o->command < UP_CMD_LIST && !all && !strncmp(args[i], "--", 2);

		if (!is_param)
			o->args[o->nr_args++] = args[i];
		else if (!args[i][2])
			all = true;
		else if (!strcmp(args[i], "--help"))
			o->script_help = true;
		else if (!add_param(o, args[i] + 2))
			return false;
	}
	return o->params;
}

/* Words behind a command that takes none. */
static bool check_words(const struct up_opts *o, struct up_buf *err)
{
	bool takes_none = o->command == UP_CMD_STATUS || o->command == UP_CMD_CLEAN ||
			  o->command == UP_CMD_DOCTOR;
	const char *word = o->script ? o->script : o->nr_args ? o->args[0] : NULL;

	if (takes_none && word)
		up_buf_printf(err, "this command takes no words, but `%s` stands behind it", word);
	return takes_none && word;
}

/* A word stands where a program's name does, and getopt starts anew behind it. */
static int parse_behind(struct up_opts *o, int *argc, char ***argv, struct up_buf *err)
{
	*argc -= optind;
	*argv += optind;
	optind = 0;
	return parse_options(o, *argc, *argv, err);
}

int up_opts_parse(struct up_opts *o, int argc, char **argv, struct up_buf *err)
{
	int failed = parse_options(o, argc, argv, err);

	if (!failed && !o->has_program && optind < argc && o->command == UP_CMD_RUN &&
	    take_command(o, argv[optind]))
		failed = parse_behind(o, &argc, &argv, err);
	if (!failed && o->command == UP_CMD_REPLAY && optind < argc) {
		o->recording = argv[optind];
		failed = parse_behind(o, &argc, &argv, err);
	}
	if (failed || o->command >= UP_CMD_HELP)
		return failed;
	if (!o->has_program && optind < argc)
		o->script = argv[optind++];
	o->from_stdin = o->script && !strcmp(o->script, "-");
	if (o->from_stdin)
		o->script = NULL;
	if (!take_args(o, argv + optind, argc - optind) || o->program.failed) {
		up_buf_puts(err, "out of memory");
		return 1;
	}
	return check_words(o, err) ? 2 : check_together(o, err);
}

const char *up_opts_nearest_command(const char *word)
{
	struct up_nearest near;

	up_nearest_init(&near, word, strlen(word));
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i].command != UP_CMD_RUN)
			up_nearest_offer(&near, commands[i].name, strlen(commands[i].name));
	for (size_t i = 0; near.nr && i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, near.best[0].name))
			return commands[i].name;
	return NULL;
}

void up_opts_fini(struct up_opts *o)
{
	up_buf_fini(&o->program);
	for (unsigned i = 0; i < o->nr_params; i++)
		free((char *)o->params[i].name);
	free(o->params);
}

/* Appends text from column `indent` on, in lines of at most 78 columns. */
static void wrap(struct up_buf *out, const char *text, size_t indent)
{
	size_t col = indent;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (col > indent && col + 1 + word > 78) {
			up_buf_putc(out, '\n');
			up_buf_fill(out, ' ', indent);
			col = indent;
		} else if (col > indent) {
			up_buf_putc(out, ' ');
			col++;
		}
		up_buf_add(out, text, word);
		col += word;
		text += word + (text[word] == ' ');
	}
	up_buf_putc(out, '\n');
}

static void option_head(struct up_buf *out, const struct row *r)
{
	if (r->letter)
		up_buf_printf(out, "-%c, ", r->letter);
	up_buf_printf(out, "--%s%s%s", r->name, r->arg ? " " : "", r->arg ? r->arg : "");
}

void up_opts_help(struct up_buf *out)
{
	up_buf_puts(out, "uptick probes running programs: it runs scripts in the language Up.\n\n"
			 "  uptick -e 'probe zsh:zfree < print(ip, reg.ax) > on return < count() "
			 ">' -c 'zsh -c :'\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		up_buf_printf(out, "uptick %s\n        ", commands[i].usage);
		wrap(out, commands[i].help, 8);
	}
	up_buf_puts(out, "\nOptions\n");
	for (size_t i = 0; i < NR_ROWS; i++) {
		struct up_buf head = { 0 };

		option_head(&head, &rows[i]);
		up_buf_printf(out, "  %-24s", head.s ? head.s : "");
		if (head.len >= 24)
			up_buf_puts(out, "\n                          ");
		wrap(out, rows[i].help, 26);
		up_buf_fini(&head);
	}
	up_buf_puts(out, "\nResults go to standard output, everything else to standard error.\n"
			 "Exit status: 0 all well, also after Ctrl-C; the command's own with -c;\n"
			 "1 a failure while running; 2 a script or usage error.\n");
}

void up_opts_markdown(struct up_buf *out)
{
	up_buf_puts(out, "| option | is |\n| --- | --- |\n");
	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct row *r = &rows[i];

		up_buf_puts(out, "| ");
		if (r->letter)
			up_buf_printf(out, "`-%c`, ", r->letter);
		up_buf_printf(out, "`--%s%s%s` | %s |\n", r->name, r->arg ? " " : "",
			      r->arg ? r->arg : "", r->help);
	}
}

bool up_opts_word(const char *word, struct up_buf *out)
{
	const char *name = word + strspn(word, "-");
	size_t dashes = (size_t)(name - word);

	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct row *r = &rows[i];

		if (dashes == 1 ? name[0] != r->letter || name[1] : strcmp(name, r->name))
			continue;
		option_head(out, r);
		up_buf_puts(out, "  (option)\n    ");
		wrap(out, r->help, 4);
		return true;
	}
	return false;
}

void up_opts_man(struct up_buf *out)
{
	up_buf_puts(
		out,
		".TH UPTICK 1 \"\" \"uptick " UPTICK_VERSION "\" \"User Commands\"\n"
		".SH NAME\nuptick \\- probe running programs with the language Up\n.SH SYNOPSIS\n");
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		up_buf_puts(out, i ? ".br\n.B uptick\n" : ".B uptick\n");
		up_roff(out, commands[i].usage);
		up_buf_putc(out, '\n');
	}
	up_buf_puts(out, ".SH DESCRIPTION\n"
			 "uptick compiles a script to uprobe definitions, which it writes to "
			 "tracefs, and runs the script's\n"
			 "blocks on the hits. It needs root, or write access to tracefs. Whatever "
			 "it puts into the kernel it\n"
			 "takes out again, however it ends.\n.SH COMMANDS\n");
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		up_buf_puts(out, ".TP\n.B uptick ");
		up_roff(out, commands[i].usage);
		up_buf_putc(out, '\n');
		up_roff(out, commands[i].help);
		up_buf_putc(out, '\n');
	}
	up_buf_puts(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < NR_ROWS; i++) {
		struct up_buf head = { 0 };

		option_head(&head, &rows[i]);
		up_buf_puts(out, ".TP\n.B ");
		up_roff(out, head.s ? head.s : "");
		up_buf_putc(out, '\n');
		up_roff(out, rows[i].help);
		up_buf_putc(out, '\n');
		up_buf_fini(&head);
	}
	for (const struct up_ref_table *t = up_ref_tables; t->name; t++)
		if (strcmp(t->name, "diagnostics"))
			up_ref_man(t, up_agg_rows, out);
	up_buf_puts(out, ".SH EXIT STATUS\n0 when all went well, also after Ctrl\\-C and SIGTERM; "
			 "with \\-c that of the command;\n"
			 "1 after a failure while running; 2 for a script or usage error.\n"
			 ".SH EXAMPLE\n.nf\n");
	up_roff(out,
		"uptick -e 'probe zsh:zfree < print(ip, reg.ax) > on return < count() >' \\\n");
	up_roff(out, "    -c 'zsh -c \"for i in 1 2 3; do a=$i; done\"'\n");
	up_buf_puts(out, ".fi\n");
}
