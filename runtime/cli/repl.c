/* The prompt's loop. */
#include "runtime/cli/repl.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "lang/plan_succeed.h"
#include "runtime/cli/line.h"
#include "runtime/cli/output.h"
#include "runtime/cli/repl_int.h"
#include "runtime/clock.h"

#define GATHER_MS 20           /* how long events gather between two rounds while there are some */
#define REST_MS 100            /* how often is looked for the rest of a line of a command */
#define MARK_NS 3000000000ull  /* how long a loss marks the prompt */
#define FLOOD_NS 1000000000ull /* so many lines in such a time are a flood, which Ctrl-C stops */
#define FLOOD_LINES 10
#define TRACED_FDS 64 /* processes that are watched at once */

enum { FD_STOP, FD_NOTICE, FD_CHILD, FD_KEEPER, FD_INPUT, FD_FILES, FD_EVENTS, NR_FDS };

/* ---- output ---- */

void up_repl_say(struct up_repl *r, const char *fmt, ...)
{
	struct up_buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	up_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	/* Names of files and of other things come from anybody. */
	up_text_message(&r->out.buf, b.s ? b.s : "", b.len);
	up_buf_putc(&r->out.buf, '\n');
	up_buf_fini(&b);
}

void up_repl_say_status(struct up_repl *r, const struct up_status *st)
{
	struct up_buf b = { 0 };

	up_status_render(st, &b);
	up_repl_say(r, "%s", b.s ? b.s : "out of memory");
	up_buf_fini(&b);
}

void up_repl_flush(struct up_repl *r)
{
	struct up_buf *b = &r->out.buf;

	if (!b->len)
		return;
	/* The line that is typed begins a line. */
	if (b->s[b->len - 1] != '\n')
		up_buf_putc(b, '\n');
	up_line_hide();
	if (up_out_flush(&r->out) == -ETIMEDOUT) {
		/* Ctrl-C while the terminal took nothing; it is seen to by the loop. */
		r->out.error = 0;
	}
	if (r->out.error) {
		r->is_over = true;
		r->failed = r->out.error != -EPIPE && r->out.error != -EIO;
	}
	up_line_show();
}

static uint64_t count_lines(const struct up_buf *b)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < b->len; i++)
		nr += b->s[i] == '\n';
	return nr;
}

/* How many lines there were within a second or two. */
static void note_lines(struct up_repl *r, uint64_t now)
{
	if (now - r->flood_at >= FLOOD_NS) {
		r->flood_at = now;
		r->flood = 0;
	}
	r->flood += count_lines(&r->out.buf);
}

void up_repl_show_round(struct up_repl *r)
{
	if (!r->out.buf.len)
		return;
	if (r->is_paused) {
		r->left_out += count_lines(&r->out.buf);
		up_buf_reset(&r->out.buf);
		return;
	}
	note_lines(r, up_clock_ns(CLOCK_MONOTONIC));
	up_repl_flush(r);
}

/* ---- the prompt ---- */

static void make_prompt(const struct up_repl *r, uint64_t now, char prompt[UP_PROMPT_SIZE])
{
	const char *mark = "";

	if (r->lost_at && now - r->lost_at < MARK_NS)
		mark = " [losing]";
	else if (r->has_gone)
		mark = " [ended]";
	else if (r->is_paused)
		mark = " [paused]";
	snprintf(prompt, UP_PROMPT_SIZE, "%s%s> ", r->typed.len ? ".." : "up", mark);
}

static void ask(struct up_repl *r)
{
	make_prompt(r, up_clock_ns(CLOCK_MONOTONIC), r->prompt);
	up_line_ask(r->prompt);
}

/* Losses mark the prompt for as long as they go on. */
static void look_for_losses(struct up_repl *r, uint64_t now)
{
	uint64_t gaps = r->session->src.nr_gaps;

	if (gaps == r->gaps_seen)
		return;
	r->gaps_seen = gaps;
	r->lost_at = now;
}

static void refresh_prompt(struct up_repl *r, uint64_t now)
{
	char prompt[UP_PROMPT_SIZE];

	make_prompt(r, now, prompt);
	if (!up_line_is_asking() || !strcmp(prompt, r->prompt))
		return;
	up_line_set_prompt(prompt);
	strcpy(r->prompt, prompt);
}

/* ---- what comes ---- */

/* stop() ends no prompt: nothing is hit any more, until that is wanted again. */
static void stop_probes(struct up_repl *r)
{
	struct up_program old;

	r->session->engine.vm.stopped = false;
	if (up_program_copy(&r->program, 0, &old))
		up_program_push(r, old);
	for (size_t i = 0; i < r->program.nr; i++)
		r->program.v[i].is_off =
			r->program.v[i].decl->is_probe || r->program.v[i].decl->is_timed;
	up_program_sync(r);
	up_repl_say(r, "stop(): everything is disabled; `enable N`, or `undo`");
	up_repl_flush(r);
}

static void tell_losses(struct up_repl *r)
{
	struct up_buf b = { 0 };
	struct up_out_losses l;

	if (!up_session_lost(r->session, &l))
		return;
	up_out_losses(&b, &l);
	up_repl_say(r, "%s", b.s ? b.s : "hits are being lost");
	up_buf_fini(&b);
	up_repl_flush(r);
}

/* As up_repl_round(), but what a stop() demands is left for later. */
static bool handle(struct up_repl *r, bool *busy)
{
	struct up_status st = { 0 };

	if (up_session_round(r->session, busy, &st)) {
		up_repl_say_status(r, &st);
		up_repl_flush(r);
		r->is_over = r->failed = true;
		return false;
	}
	*busy |= up_session_is_pending(r->session);
	up_session_timers(r->session);
	up_repl_show_round(r);
	tell_losses(r); /* also while what probes print is left out */
	return true;
}

bool up_repl_round(struct up_repl *r, bool *busy)
{
	if (!handle(r, busy))
		return false;
	if (r->session->engine.vm.stopped)
		stop_probes(r);
	return true;
}

static void interrupt(struct up_repl *r, uint64_t now)
{
	bool is_flood = now - r->flood_at < 2 * FLOOD_NS && r->flood >= FLOOD_LINES;

	if (r->typed.len || *up_line_typed()) {
		up_line_abandon();
		up_buf_reset(&r->typed);
	} else if (is_flood && !r->is_paused) {
		up_line_abandon();
		r->is_paused = true;
		r->left_out = 0;
		up_repl_say(r, "output is left out from here on; `resume` shows it again");
		up_repl_flush(r);
	} else {
		up_line_abandon();
		up_repl_say(r, "Ctrl-D leaves");
		up_repl_flush(r);
	}
}

static void suspend(void)
{
	up_line_leave();
	raise(SIGSTOP);
	up_line_return();
}

static void resize(struct up_repl *r)
{
	struct winsize ws;

	if (!ioctl(r->out.fd, TIOCGWINSZ, &ws))
		r->out.columns = ws.ws_col;
	up_line_resize();
}

static void take_notices(struct up_repl *r, uint64_t now)
{
	unsigned notices = up_signals_notices(r->sig) | r->notices;

	r->notices = 0;
	if (notices & UP_NOTICE_INTERRUPT)
		interrupt(r, now);
	if (notices & UP_NOTICE_SUSPEND)
		suspend();
	if (notices & (UP_NOTICE_RESIZE | UP_NOTICE_SUSPEND))
		resize(r);
}

static void take_input(struct up_repl *r)
{
	char *line;

	if (!up_line_read(&line))
		return;
	if (line)
		up_repl_line(r, line);
	else
		up_buf_putc(&r->out.buf, '\n'); /* behind the prompt */
	if (!line && r->typed.len) {
		up_buf_reset(&r->typed);
		up_repl_say(r, "given up");
	} else if (!line) {
		r->is_over = true;
	}
	free(line);
	up_repl_flush(r);
}

/* ---- the loop ---- */

static int wait_ms(const struct up_repl *r, bool busy, uint64_t now)
{
	uint64_t due = up_session_due(r->session);
	int ms = busy ? (r->plan->reads_late ? 0 : GATHER_MS) : -1;

	if (r->lost_at && now - r->lost_at < MARK_NS && ms < 0)
		ms = 500; /* the mark goes */
	if (up_repl_must_look(r) && (ms < 0 || ms > UP_FILEWATCH_LOOK_MS))
		ms = UP_FILEWATCH_LOOK_MS;
	if (up_repl_has_rest(r) && (ms < 0 || ms > REST_MS))
		ms = REST_MS;
	if (due) {
		uint64_t left = due > now ? (due - now + 999999) / 1000000 : 0;

		if (ms < 0 || left < (uint64_t)ms)
			ms = left > 1000000 ? 1000000 : (int)left;
	}
	return ms;
}

/* Is what goes on no longer wanted? Other notices are kept. */
static bool is_interrupted(struct up_repl *r)
{
	r->notices |= up_signals_notices(r->sig);
	bool is = r->notices & UP_NOTICE_INTERRUPT || up_signals_stopped();

	r->notices &= ~(unsigned)UP_NOTICE_INTERRUPT;
	return is;
}

void up_repl_serve(struct up_repl *r, int until, bool *unwanted)
{
	bool busy = false, ok = true;

	for (;;) {
		struct pollfd fds[] = {
			{ until, POLLIN, 0 },
			{ *unwanted ? -1 : r->sig->notice_fd, POLLIN, 0 },
			{ busy || !ok ? -1 : up_session_events_fd(r->session), POLLIN, 0 },
		};
		poll(fds, 3, ok ? wait_ms(r, busy, up_clock_ns(CLOCK_MONOTONIC)) : -1);
		if (fds[0].revents)
			return;
		if (fds[1].revents && is_interrupted(r))
			__atomic_store_n(unwanted, true, __ATOMIC_RELAXED);
		/* After a stop() nothing is handled until the probes are disabled. */
		ok = ok && handle(r, &busy) && !r->session->engine.vm.stopped;
	}
}

/* Waits, and does what is to be done. While there are events they gather for a moment, unwatched.
 */
static void step(struct up_repl *r, bool *busy)
{
	struct pollfd fds[NR_FDS + TRACED_FDS] = {
		[FD_STOP] = { r->sig->stop_fd, POLLIN, 0 },
		[FD_NOTICE] = { r->sig->notice_fd, POLLIN, 0 },
		[FD_CHILD] = { r->sig->child_fd, POLLIN, 0 },
		[FD_KEEPER] = { up_session_keeper_fd(r->session), POLLIN, 0 },
		[FD_INPUT] = { STDIN_FILENO, POLLIN, 0 },
		[FD_FILES] = { r->watch.fd, POLLIN, 0 },
		[FD_EVENTS] = { *busy ? -1 : up_session_events_fd(r->session), POLLIN, 0 },
	};
	size_t nr = up_repl_fds(r, fds + NR_FDS, TRACED_FDS);
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);
	int n = poll(fds, NR_FDS + nr, wait_ms(r, *busy, now));

	now = up_clock_ns(CLOCK_MONOTONIC);
	if (n < 0 && errno != EINTR)
		r->is_over = r->failed = true;
	if (up_signals_stopped())
		r->is_over = true;
	if (n > 0 && fds[FD_KEEPER].revents) {
		up_repl_say(r, "the helper process that keeps the probes has died");
		up_repl_flush(r);
		r->is_over = r->failed = true;
	}
	if (r->is_over)
		return;
	/* What the terminal has said before something was typed comes first, even if only just now.
	 */
	if (n > 0 && (fds[FD_NOTICE].revents || fds[FD_INPUT].revents))
		take_notices(r, now);
	if (n > 0 && fds[FD_INPUT].revents && up_line_is_asking())
		take_input(r);
	if (n > 0 && fds[FD_CHILD].revents)
		up_signals_take(r->sig);
	up_repl_processes(r);
	up_repl_round(r, busy);
	now = up_clock_ns(CLOCK_MONOTONIC); /* handlers and the terminal take their time */
	up_repl_sample(r, now);
	up_repl_files(r, n > 0 && fds[FD_FILES].revents, now);
	look_for_losses(r, now);
	refresh_prompt(r, now);
}

static void loop(struct up_repl *r)
{
	bool busy = false;

	while (!r->is_over) {
		if (!up_line_is_asking())
			ask(r);
		step(r, &busy);
	}
}

/* ---- beginning and end ---- */

/* A session without a probe: everything comes later. */
static int open_session(struct up_repl *r, struct up_status *st)
{
	struct up_session_opts so = { .is_lasting = true, .urgency = up_signals_urgency };
	struct up_part empty = { .name = "input", .text = "" };
	struct up_compile *c = up_compile_new();
	struct up_elf_options eo = { .compile_once = true };

	r->elf = up_elf_resolver_new(&eo);
	if (c && r->elf)
		r->plan = up_build_parts(r->o, r->elf, c, &empty, 1);
	up_compile_free(c);
	r->probes = calloc(1, sizeof(*r->probes));
	r->blocks = calloc(1, sizeof(*r->blocks));
	if (!r->plan || !r->probes || !r->blocks)
		return up_status_set(st, -ENOMEM, NULL, "cannot start a session");
	so.attach.buffer_size = r->o->buffer;
	so.attach.one_event_per_site = r->o->single_sites;
	so.attach.stop_fd = r->sig->stop_fd;
	int err = up_session_open(r->plan, &so, &r->out, &r->session, st);
	return err ? err : up_session_arm(r->session, st);
}

static void complete(void *arg, const char *line, size_t point, struct up_candidates *out)
{
	up_repl_complete(arg, line, point, out);
}

static void say_text(void *arg, const char *text, size_t len)
{
	struct up_repl *r = arg;

	up_buf_add(&r->out.buf, text, len);
	up_repl_flush(r);
}

static void put_line(void *arg, const char *s, size_t len)
{
	(void)arg;
	up_output_put(s, len);
}

static bool open_line(struct up_repl *r)
{
	struct up_line_opts lo = {
		.complete = complete, .say = say_text, .put = put_line, .arg = r
	};

	/* A terminal that takes nothing holds up no end: up_out_flush(). */
	r->line = (struct up_out){ .fd = r->out.fd, .may_block = true, .stop_fd = r->out.stop_fd };
	up_output_at_prompt(&r->line);

	if (up_line_open(&lo)) {
		up_history_load();
		return true;
	}
	up_complain("the prompt needs the library readline 8 (Debian's libreadline8); scripts run "
		    "without it");
	return false;
}

static void finish(struct up_repl *r)
{
	struct up_out_totals t;
	struct up_status st = { 0 };
	struct up_buf b = { 0 };

	if (up_session_stop(r->session, &st)) {
		up_repl_say_status(r, &st);
		r->failed = true;
	}
	up_session_totals(r->session, &t);
	up_out_summary(&b, &t);
	if (!r->o->quiet)
		up_buf_add(&r->out.buf, b.s, b.len);
	up_buf_fini(&b);
	up_repl_flush(r);
}

static void undo_all(struct up_repl *r)
{
	struct up_buf left = { 0 };
	struct up_status st = { 0 };
	int err = up_session_close(r->session, &left, &st);

	r->failed |= err != 0;
	if (left.len)
		up_complain("left in the kernel:\n%s", left.s);
	else if (err)
		up_report(&st);
	up_buf_fini(&left);
}

/* Options that only a run has are not passed over. */
static bool can_prompt(const struct up_opts *o)
{
	const char *not = o->out            ? "-o"
			  : o->form         ? "-f"
			  : o->max_handled  ? "-n"
			  : o->duration     ? "-d"
			  : o->wait         ? "--wait"
			  : o->follow_files ? "--follow-files"
					    : NULL;

	if (not )
		up_complain("%s belongs to a run of a program: give a script, or -e 'PROGRAM'",
			    not );
	else if (!isatty(STDOUT_FILENO))
		up_complain("the prompt needs a terminal for its output, too");
	return !not &&isatty(STDOUT_FILENO);
}

int up_repl(const struct up_opts *o, const struct up_signals *sig)
{
	struct up_repl r = { .o = o, .sig = sig, .watch.fd = -1 };
	struct up_status st = { 0 };

	if (!can_prompt(o))
		return 2;
	up_signals_at_prompt();
	if (up_output_open(o, sig->notice_fd, &r.out, &st) || open_session(&r, &st)) {
		up_report(&st);
		r.failed = true;
	} else if (!open_line(&r)) {
		r.failed = true;
	} else {
		up_repl_say(&r, "uptick " UPTICK_VERSION
				"; `help` lists what can be typed, Ctrl-D leaves");
		/* Who asked for one process does not want all of them. */
		if (!up_repl_start(&r))
			r.is_over = r.failed = true;
		up_repl_flush(&r);
		loop(&r);
		up_line_close();
		finish(&r);
	}
	up_repl_processes_fini(&r);
	up_names_free(r.names);
	up_filewatch_fini(&r.watch);
	undo_all(&r);
	up_program_fini(&r);
	up_buf_fini(&r.typed);
	up_output_at_prompt(NULL);
	up_out_fini(&r.line);
	up_output_close(o, &r.out, true);
	return r.failed;
}
