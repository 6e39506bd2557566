/* What the parts of the prompt share. Private to runtime/cli/repl*.c. */
#ifndef UP_CLI_REPL_INT_H
#define UP_CLI_REPL_INT_H

#include "lang/ast.h"
#include "runtime/cli/build.h"
#include "runtime/cli/child.h"
#include "runtime/cli/repl.h"
#include "runtime/filewatch.h"
#include "runtime/resolver.h"
#include "runtime/session.h"

struct up_given;

/* ---- the program: repl_program.c ---- */

/* One declaration. It lives as long as the prompt, since undoing can bring it back. */
struct up_decl {
	unsigned number;        /* as shown; never given twice */
	struct up_text text;    /* as it was typed, or for a statement: on start < ... > */
	uint32_t hidden;        /* up_part.hidden */
	char *sets;             /* the variable that a statement sets, or NULL */
	struct up_given *gives; /* of a declaration that was typed: what others can use, or NULL */
	bool is_in, was_in;     /* is it in the program that runs? was it ever? */
	bool is_probe;          /* does it probe something? */
	bool is_timed;          /* is it `on every`? */
	uint64_t hits, sampled; /* of its probes: now, and when that was looked at last */
	double rate;            /* hits a second between the last two looks */
	uint64_t lost;          /* hits, when that was looked at last */
	bool is_lost_exact;     /* else at most so many */
	struct up_decl *next;   /* of all that ever were */
};

/* A declaration in the program. */
struct up_entry {
	struct up_decl *decl;
	bool is_off; /* it stays, and its probes are disarmed */
};

/* The program at one time. */
struct up_program {
	struct up_entry *v;
	size_t nr;
};

/* Which declaration a probe or block of the running plan belongs to, and the how-manieth of it. */
struct up_origin {
	struct up_decl *decl; /* NULL: of something gone, or of a statement that was run */
	uint32_t ordinal;
};

/* A process that is traced, or was started here. */
struct up_traced {
	pid_t pid;
	int fd;                /* pidfd, or -1 */
	struct up_child child; /* of one that was started; child.pid is 0 for others */
	int output;            /* what it, or what it has started, writes, or -1 */
	struct up_buf rest;    /* of that: what has been read of a line that is not whole */
	uint64_t rest_at;      /* ns: since when it grows no more */
	bool has_ended;        /* that was told; then output is not -1 yet */
	char *name;            /* as shown */
};

#define UP_PROMPT_SIZE 64 /* bytes of a prompt */

struct up_repl {
	const struct up_opts *o;
	const struct up_signals *sig;
	struct up_out out;  /* everything that is shown goes through it, */
	struct up_out line; /* and what shows the line that is typed through this one */
	const struct up_out_form *once_form; /* of what a text prints that is run once; or NULL */
	struct up_session *session;
	struct up_plan *plan; /* the one that runs */
	struct up_elf_resolver *elf;
	pid_t seen_by; /* whose files names are matched against first: up_elf_options.pid */
	struct up_program program;
	struct up_program *undo; /* earlier ones, the latest last */
	size_t nr_undo;
	struct up_decl *decls;             /* all */
	unsigned nr_decls;                 /* the number given last */
	struct up_origin *probes, *blocks; /* of the plan's */
	unsigned generation;               /* of names in the kernel: see struct up_succession */
	char prompt[UP_PROMPT_SIZE];       /* that is shown */
	struct up_names *names;            /* of functions, for completion */
	struct up_buf typed;               /* lines of an input that is not whole yet */
	bool is_paused;                    /* lines of probes and commands are left out */
	bool is_over;                      /* its user leaves */
	bool failed;                       /* because of a failure that was reported */
	uint64_t left_out;                 /* lines since it was paused */
	uint64_t gaps_seen;                /* losses that were noticed */
	uint64_t lost_at;                  /* ns: when the latest were found */
	uint64_t flood_at, flood;          /* lines of both since then, ns */
	uint64_t looked_at;                /* ns: when hits were looked at last */
	struct up_traced *traced;
	size_t nr_traced;
	struct up_filewatch watch; /* of the files that are probed */
	uint32_t nr_watched;       /* how many of the plan's sites it knows */
	uint64_t files_at;         /* ns: when they were looked at last */
	bool is_restricted;        /* are only some processes traced? */
	unsigned notices;          /* enum up_notice: those that are still to be heeded */
	bool has_gone;             /* a traced process has ended since the last input */
};

/* Appends a line of the prompt's own to what is shown. */
void up_repl_say(struct up_repl *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void up_repl_say_status(struct up_repl *r, const struct up_status *st);
/* Shows what has been gathered in r->out, above the line that is being typed. */
void up_repl_flush(struct up_repl *r);
/* The same for what probes or commands have written: unless it is left out. */
void up_repl_show_round(struct up_repl *r);
/*
 * Handles and shows what has happened up to now. *busy: there was something, so that there may soon
 * be more. False after a message, when the session cannot go on.
 */
bool up_repl_round(struct up_repl *r, bool *busy);
/*
 * Does so until the descriptor is readable, whose other end a thread has; input waits. *unwanted
 * becomes true, for the thread to see, when Ctrl-C or a signal that ends the prompt comes.
 */
void up_repl_serve(struct up_repl *r, int until, bool *unwanted);

/*
 * Makes `next` the program, compiles it and moves the session. `once`: a text that is run once
 * besides, as `on start`, or NULL. False after a message; then all is as it was. *next is taken.
 */
bool up_program_apply(struct up_repl *r, struct up_program next, const struct up_text *once);
/* A copy with room for `more` entries; false when memory is out. */
bool up_program_copy(const struct up_program *p, size_t more, struct up_program *out);
/* Remembers the program for `undo`. */
void up_program_push(struct up_repl *r, struct up_program old);
/* A new declaration, with the next number; NULL when memory is out. */
struct up_decl *up_decl_new(struct up_repl *r, const char *text, size_t len, uint32_t hidden);
void up_program_fini(struct up_repl *r);
/* Arms and disarms probes as their entries say. False after a message. */
bool up_program_sync(struct up_repl *r);
/* Does it stand without what is disabled? False after a message. */
bool up_program_stands(struct up_repl *r);
/* Appends the program as a script. */
void up_program_text(const struct up_repl *r, struct up_buf *out);
/* Adds all declarations of a text. False after a message. */
bool up_program_add(struct up_repl *r, const char *text, size_t len);

/* ---- input: repl_input.c ---- */

/* Takes one line that was typed. */
void up_repl_line(struct up_repl *r, const char *line);

/* ---- commands: repl_command.c ---- */

struct up_repl_command {
	const char *name;
	const char *form; /* how it is written */
	const char *help;
	void (*run)(struct up_repl *r, const char *args);
};

/* Ends with a NULL name. */
extern const struct up_repl_command up_repl_commands[];
/* The command that a line begins with, unless it says something in the language; *args: the rest.
 */
const struct up_repl_command *up_repl_command(const char *line, const char **args);

/* ---- tables: repl_show.c ---- */

void up_repl_probes(struct up_repl *r, const char *args);
void up_repl_vars(struct up_repl *r, const char *args);
void up_repl_show(struct up_repl *r, const char *args);
void up_repl_clear(struct up_repl *r, const char *args);
void up_repl_plan(struct up_repl *r, const char *args);
/* Tells in which declarations the program differs from the one before. */
void up_repl_changes(struct up_repl *r, const struct up_program *before);
/* The entry that a number names; NULL after a message. */
struct up_entry *up_repl_entry(struct up_repl *r, const char *args);
/* Brings the rates of all declarations up to date, once in a while. */
void up_repl_sample(struct up_repl *r, uint64_t now);

/* ---- processes: repl_process.c ---- */

/* The name of a process, or "". */
void up_repl_comm(pid_t pid, char name[64]);
void up_repl_attach(struct up_repl *r, const char *args);
void up_repl_detach(struct up_repl *r, const char *args);
void up_repl_run(struct up_repl *r, const char *args);
/* What -p and -c ask for. False after a message, when there is no such process. */
bool up_repl_start(struct up_repl *r);
/* What to poll for them: at most `max` descriptors; how many. */
struct pollfd;
size_t up_repl_fds(const struct up_repl *r, struct pollfd *fds, size_t max);
/* Waits one of them for the rest of a line? Then there must be another look soon. */
bool up_repl_has_rest(const struct up_repl *r);
/* Looks after processes that ended, and passes on what those that were started write. */
void up_repl_processes(struct up_repl *r);
void up_repl_processes_fini(struct up_repl *r);

/* ---- files: repl_files.c ---- */

/* Watches the files of the plan. */
void up_repl_watch(struct up_repl *r);
/* Tells of files that have changed. `is_told`: the watch's descriptor was readable. */
void up_repl_files(struct up_repl *r, bool is_told, uint64_t now);
/* Must they be looked at every second? */
bool up_repl_must_look(const struct up_repl *r);
void up_repl_reload(struct up_repl *r, const char *args);
/*
 * Looks all names up again, first among what a process has mapped (0: none), and moves the probes.
 * False after a message; then all is as it was.
 */
bool up_repl_look_anew(struct up_repl *r, pid_t seen_by);

/* ---- history: repl_history.c ---- */

void up_history_load(void);
/* Keeps an input for this session and the next ones. */
void up_history_add(const char *text, size_t len);

/* ---- completion: repl_complete.c ---- */

struct up_candidates;
void up_repl_complete(void *r, const char *line, size_t point, struct up_candidates *out);

/* ---- names that are defined: repl_given.c ---- */

/* Calls fn for what each declaration gives, and each one of the modules that are used. */
typedef void up_given_fn(void *arg, const struct up_given *g);
void up_given_each(struct up_repl *r, struct up_arena *a, up_given_fn *fn, void *arg);
/* A copy in one piece of memory, for free(3); NULL when there is none. */
struct up_given *up_given_copy(const struct up_given *g);

/* ---- names of functions: repl_names.c ---- */

/*
 * The names that an object's functions can be given in a target. They are gathered by a thread;
 * what there is of them within a moment is handed out. Names with blanks, commas or brackets are
 * left out.
 */
struct up_names;
void up_names_each(struct up_names **all, const char *object, pid_t pid, const char *prefix,
		   void (*fn)(void *arg, const char *name), void *arg);
void up_names_free(struct up_names *all);

#endif
