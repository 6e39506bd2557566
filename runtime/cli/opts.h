/*
 * The command line. One table of options: parsing, --help and the man page read the same rows.
 */
#ifndef UP_CLI_OPTS_H
#define UP_CLI_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lang/up.h"

/* From UP_CMD_LIST on they take no script, so their options may stand anywhere. */
enum up_command {
	UP_CMD_RUN,
	UP_CMD_RECORD,
	UP_CMD_REPLAY,
	UP_CMD_CHECK,
	UP_CMD_PLAN,
	UP_CMD_FMT,
	UP_CMD_LIST,
	UP_CMD_STATUS,
	UP_CMD_CLEAN,
	UP_CMD_DOCTOR,
	UP_CMD_WORD, /* help WORD */
	UP_CMD_REFERENCE,
	UP_CMD_HELP,
	UP_CMD_VERSION,
	UP_CMD_MAN
};

struct up_opts {
	enum up_command command;
	struct up_buf program; /* of -e, several joined by newlines */
	bool has_program;      /* was -e given? */
	const char *script;    /* path; NULL for standard input, or with -e */
	bool from_stdin;       /* was `-` given for it? */
	const char *recording; /* of replay: path */
	char **args;           /* behind the script, those that set a parameter left out */
	int nr_args;
	struct up_param_arg *params; /* --NAME=VALUE behind the script */
	unsigned nr_params;
	bool script_help; /* --help behind the script */
	struct up_module_finder *modules;
	const char *run; /* -c */
	pid_t pid;       /* -p, or 0 */
	bool children;
	uint64_t duration;          /* -d, ns; 0 for none */
	uint64_t max_handled;       /* -n; 0 for none */
	const char *word;           /* of --reference */
	const char *form;           /* -f */
	const char *out;            /* -o */
	const char *source;         /* --source; NULL for "raw" */
	uint64_t buffer;            /* --buffer, bytes per CPU; 0 for the default */
	bool wait;                  /* --wait */
	bool unsafe;                /* --unsafe */
	bool exact_entry;           /* --exact-entry */
	enum up_return_how returns; /* --return */
	bool follow_files;          /* --follow-files */
	bool quiet, verbose, dry_run, no_colour, write, single_sites, no_filters;
};

/* Parses the command line. 0, or 2 after a message in `err` that says what is wrong. */
int up_opts_parse(struct up_opts *o, int argc, char **argv, struct up_buf *err);
void up_opts_fini(struct up_opts *o);

/* Is --source something that was saved? */
bool up_is_saved_source(const struct up_opts *o);

/* The command that a word may have been meant for, or NULL. */
const char *up_opts_nearest_command(const char *word);

/* The options as a table in Markdown; an option by its name, false when there is none. */
void up_opts_markdown(struct up_buf *out);
bool up_opts_word(const char *word, struct up_buf *out);
/* What --help prints, and the man page in roff. */
void up_opts_help(struct up_buf *out);
void up_opts_man(struct up_buf *out);

/* "10s", "500ms", "2min", or seconds without a unit; ns. */
bool up_parse_duration(const char *s, uint64_t *ns);
/* "4MiB", "4M", "64KiB", or bytes without a unit. */
bool up_parse_size(const char *s, uint64_t *bytes);

#endif
