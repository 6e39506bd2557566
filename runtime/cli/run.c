/* The run: hold the command, arm, loop, stop, show, undo. */
#include "runtime/cli/run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/cli/child.h"
#include "runtime/cli/follow.h"
#include "runtime/cli/words.h"
#include "runtime/clock.h"
#include "runtime/session.h"

#define GATHER_MS 20 /* how long events gather between two rounds while there are some */

enum reason { /* why a run ends */
	      GO_ON,
	      END_SIGNAL,
	      END_CHILD,   /* the command of -c has ended */
	      END_PROCESS, /* the process of -p has ended */
	      END_TIME,
	      END_STOP,   /* stop(), -n */
	      END_OUTPUT, /* nobody reads the output any more, or it cannot be written */
	      END_FAILED  /* a failure, in the status */
};

enum { FD_STOP, FD_CHILD, FD_KEEPER, FD_PROCESS, FD_FILES, FD_EVENTS, NR_FDS };

struct run {
	const struct up_opts *o;
	const struct up_signals *sig;
	struct up_session *session;
	struct up_child child;
	struct up_out out;
	struct up_status st;
	struct up_follow follow;      /* probed files that are replaced */
	struct up_recorder *recorder; /* where events go instead of to handlers, or NULL */
	int process_fd;               /* pidfd of -p, or -1 */
	uint64_t deadline;            /* ns, CLOCK_MONOTONIC; 0 for none */
};

/* ---- set-up ---- */

static int watch_process(struct run *r)
{
	r->process_fd = -1;
	if (!r->o->pid)
		return 0;
	r->process_fd = (int)syscall(SYS_pidfd_open, r->o->pid, 0);
	if (r->process_fd >= 0 || errno == ENOSYS)
		return 0; /* without it the end of the process is seen once a second */
	up_status_set(&r->st, -errno, NULL, "cannot trace process %d", (int)r->o->pid);
	if (errno == ESRCH)
		up_status_reason(&r->st, "there is no such process");
	return r->st.err;
}

static int open_session(struct run *r, const struct up_plan *plan)
{
	struct up_session_opts so = { .child = r->child.pid,
				      .pid = r->o->pid,
				      .children = r->o->children,
				      .max_handled = r->o->max_handled,
				      .urgency = up_signals_urgency,
				      .recorder = r->recorder };

	so.from_text = r->o->source && !strcmp(r->o->source, "pipe");
	so.attach.buffer_size = r->o->buffer;
	so.attach.one_event_per_site = r->o->single_sites;
	so.attach.stop_fd = r->sig->stop_fd;
	return up_session_open(plan, &so, &r->out, &r->session, &r->st);
}

static void say_armed(const struct run *r, const struct up_plan *plan)
{
	const struct up_attach *a = r->session->attach;
	unsigned events = a->one_event_per_site ? plan->nr_sites : plan->nr_events;
	const char *places = plan->nr_sites == 1 ? "place" : "places";

	if (r->o->verbose)
		fprintf(stderr,
			"uptick: %u %s armed in %u kernel %s of group %s, %llu KiB of buffer per "
			"CPU\n",
			plan->nr_sites, places, events, events == 1 ? "event" : "events",
			a->session, (unsigned long long)a->buffer_kb);
	if (r->o->verbose && (a->nr_filters || a->nr_refused))
		fprintf(stderr, "uptick: conditions are judged in the kernel for %u of them%s\n",
			a->nr_filters, a->nr_refused ? "; it did not take the others" : "");
	if (!r->o->verbose && !r->o->quiet && !r->o->run && isatty(STDERR_FILENO))
		fprintf(stderr, "uptick: %u %s armed; Ctrl-C ends\n", plan->nr_sites, places);
}

/* Everything up to the moment when the command runs and events come. */
static int start(struct run *r, const struct up_plan *plan, char **words)
{
	int err = watch_process(r);

	if (!err)
		err = up_output_open(r->o, r->sig->stop_fd, &r->out, &r->st);
	if (!err && words)
		err = up_child_hold(&r->child, words, NULL, &r->st);
	if (!err)
		err = open_session(r, plan);
	if (!err)
		err = up_session_arm(r->session, &r->st);
	if (err)
		return err;
	say_armed(r, plan);
	if (r->o->duration)
		r->deadline = up_clock_ns(CLOCK_MONOTONIC) + r->o->duration;
	return words ? up_child_go(&r->child, words, &r->st) : 0;
}

/* ---- the loop ---- */

static int wait_ms(const struct run *r, bool gather)
{
	/* What is read late is to be read soon. */
	int ms = !gather ? -1 : r->session->plan->reads_late ? 0 : GATHER_MS;
	int files_ms = up_follow_wait_ms(&r->follow);

	if (files_ms >= 0 && (ms < 0 || files_ms < ms))
		ms = files_ms;
	if (r->o->pid && r->process_fd < 0 && ms < 0)
		ms = 1000;
	uint64_t due = up_session_due(r->session);
	if (r->deadline && (!due || r->deadline < due))
		due = r->deadline;
	if (due) {
		uint64_t now = up_clock_ns(CLOCK_MONOTONIC);
		uint64_t left = due > now ? (due - now + 999999) / 1000000 : 0;

		if (ms < 0 || left < (uint64_t)ms)
			ms = left > 1000000000 ? 1000000000 : (int)left;
	}
	return ms;
}

static bool process_gone(const struct run *r, const struct pollfd *fds)
{
	if (!r->o->pid)
		return false;
	if (r->process_fd >= 0)
		return fds[FD_PROCESS].revents;
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d", (int)r->o->pid);
	return access(path, F_OK) != 0;
}

static enum reason look_around(struct run *r, const struct pollfd *fds)
{
	if (up_signals_stopped())
		return END_SIGNAL;
	if (fds[FD_CHILD].revents)
		up_signals_take(r->sig);
	if (up_child_ended(&r->child))
		return END_CHILD;
	if (fds[FD_KEEPER].revents) {
		up_status_set(&r->st, -EPIPE, NULL,
			      "the helper process that keeps the probes has died");
		up_status_reason(&r->st, "somebody has killed it");
		return END_FAILED;
	}
	if (process_gone(r, fds))
		return END_PROCESS;
	if (r->deadline && up_clock_ns(CLOCK_MONOTONIC) >= r->deadline)
		return END_TIME;
	return GO_ON;
}

/* Says that records are being lost, when they begin to be and every few seconds. */
static void tell_losses(struct run *r)
{
	struct up_buf b = { 0 };
	struct up_out_losses l;

	if (!up_session_lost(r->session, &l))
		return;
	if (r->out.form && r->out.form->lost)
		r->out.form->lost(&r->out, up_clock_ns(CLOCK_MONOTONIC), &l);
	up_out_losses(&b, &l);
	if (!r->o->quiet)
		up_complain("%s", b.s ? b.s : "hits are being lost");
	up_buf_fini(&b);
}

static enum reason do_round(struct run *r, bool *handled)
{
	if (up_session_round(r->session, handled, &r->st))
		return END_FAILED;
	tell_losses(r);
	up_session_timers(r->session);
	if (up_out_flush(&r->out))
		return END_OUTPUT;
	*handled |= up_session_is_pending(r->session);
	return up_session_is_over(r->session) ? END_STOP : GO_ON;
}

static bool is_due(const struct run *r)
{
	uint64_t due = up_session_due(r->session);

	return due && up_clock_ns(CLOCK_MONOTONIC) >= due;
}

static enum reason loop(struct run *r)
{
	struct pollfd fds[NR_FDS] = {
		[FD_STOP] = { r->sig->stop_fd, POLLIN, 0 },
		[FD_CHILD] = { r->sig->child_fd, POLLIN, 0 },
		[FD_KEEPER] = { up_session_keeper_fd(r->session), POLLIN, 0 },
		[FD_PROCESS] = { r->process_fd, POLLIN, 0 },
		[FD_FILES] = { up_follow_fd(&r->follow), POLLIN, 0 },
		[FD_EVENTS] = { up_session_events_fd(r->session), POLLIN, 0 },
	};
	/* What `on start` printed, and whether it ended the run. */
	enum reason why = up_out_flush(&r->out)            ? END_OUTPUT
			  : up_session_is_over(r->session) ? END_STOP
							   : GO_ON;
	bool busy = false;

	while (why == GO_ON) {
		/* While there are events they gather for a moment, unwatched: see KERNEL in
		 * docs/design. */
		int n = poll(fds, busy ? FD_EVENTS : NR_FDS, wait_ms(r, busy));

		if (n < 0 && errno != EINTR) {
			up_status_set(&r->st, -errno, NULL, "cannot wait for events");
			return END_FAILED;
		}
		if (n < 0)
			continue;
		why = look_around(r, fds);
		if (why == GO_ON && (busy || fds[FD_EVENTS].revents || is_due(r)))
			why = do_round(r, &busy);
		if (why == GO_ON) {
			up_follow_serve(&r->follow, r->session, fds[FD_FILES].revents);
			fds[FD_FILES].fd = up_follow_fd(&r->follow);
		}
	}
	return why;
}

/* ---- the end ---- */

/* Ends the file, and says what is in it. False after a failure, in r->st. */
static bool finish_recording(struct run *r, enum reason why)
{
	bool ok = why != END_FAILED && !up_session_stop(r->session, &r->st);
	struct up_out_totals t;
	struct up_buf b = { 0 };

	up_session_totals(r->session, &t);
	if (ok && (!r->o->quiet || t.lost || t.lost_unknown)) {
		up_buf_printf(&b,
			      "%" PRIu64 " events recorded, %" PRIu64 " lost in %.1f s, %" PRIu64
			      " KiB\n",
			      r->session->nr_recorded, t.lost, t.seconds,
			      up_recorder_bytes(r->recorder) / 1024);
		if (t.lost || t.lost_unknown)
			up_buf_puts(&b, "the buffer was full: --buffer SIZE makes it larger\n");
		up_put_error(b.s ? b.s : "");
	}
	up_buf_fini(&b);
	return ok;
}

/* Stops recording and shows what there is. False after a failure, in r->st. */
static bool finish(struct run *r, enum reason why)
{
	struct up_out_totals t;
	bool ok = true;

	if (r->recorder)
		return finish_recording(r, why);
	if (why == END_SIGNAL && isatty(STDERR_FILENO))
		up_put_error("\n"); /* behind the ^C that the terminal shows */
	if (why != END_FAILED)
		ok = !up_session_stop(r->session, &r->st);
	up_session_totals(r->session, &t);
	t.changed_files = r->follow.nr_changed;
	if (why == END_OUTPUT) {
		up_output_summary(r->o, &t);
	} else {
		if (up_vm_show(&r->session->engine.vm))
			ok = !up_status_set(&r->st, -ENOMEM, NULL, "cannot show the aggregations");
		up_output_end(r->o, &r->out, &t);
	}
	return ok && why != END_FAILED;
}

/* Takes everything out of the kernel. False when something had to be left there. */
static bool undo(struct run *r)
{
	struct up_buf left = { 0 };
	struct up_status st = { 0 };
	int err = up_session_close(r->session, &left, &st);

	r->session = NULL;
	if (left.len)
		fprintf(stderr, "uptick: left in the kernel:\n%s\n", left.s);
	else if (err)
		up_report(&st);
	up_buf_fini(&left);
	return !err;
}

/* A failure of set-up: the kernel's objection is shown at the script's text when it is known. */
static int report_start(struct run *r, struct up_compile *c)
{
	struct up_buf b = { 0 };

	if (r->st.err == -EINTR && up_signals_stopped()) {
		if (!r->o->quiet)
			fputs("uptick: interrupted before the probes were armed; 0 hits\n", stderr);
		return 0;
	}
	up_status_render(&r->st, &b);
	if (r->st.has_span) {
		struct up_buf text = { 0 };

		up_error(&c->diags, r->st.span, E_KERNEL, "%s", b.s ? b.s : "");
		up_diag_text(&c->diags, &text, up_may_colour(r->o, STDERR_FILENO));
		fputs(text.s ? text.s : "", stderr);
		up_buf_fini(&text);
	} else {
		up_complain("%s", b.s ? b.s : "out of memory");
	}
	up_buf_fini(&b);
	return 1;
}

static int exit_status(const struct run *r, enum reason why, bool ok)
{
	if (!ok)
		return 1;
	if (r->out.error && r->out.error != -EPIPE)
		return 1;
	/* Ctrl-C ends the command, too, and its end may be seen first. */
	if (why == END_CHILD && !up_signals_stopped())
		return up_child_status(&r->child);
	return 0;
}

static int run_started(struct run *r)
{
	enum reason why = loop(r);
	bool ok = finish(r, why);
	int stop_status = r->session->engine.vm.stopped ? r->session->engine.vm.stop_status : 0;

	if (!ok)
		up_report(&r->st);
	up_output_complain(r->o, &r->out);
	ok &= undo(r);
	int status = exit_status(r, why, ok);
	return status ? status : stop_status;
}

int up_run(const struct up_opts *o, struct up_compile *c, struct up_plan *plan,
	   const struct up_signals *sig, struct up_recorder *recorder)
{
	struct run r = { .o = o, .sig = sig, .process_fd = -1, .recorder = recorder };
	struct up_buf err = { 0 };
	char **words = o->run ? up_split_words(o->run, &err) : NULL;
	int status;

	if (o->run && !words) {
		up_complain("%s", err.s ? err.s : "out of memory");
		up_buf_fini(&err);
		return 2;
	}
	up_signals_defer();
	up_follow_init(&r.follow, o, c, plan);
	if (start(&r, plan, words)) {
		status = report_start(&r, c);
		undo(&r);
	} else {
		status = run_started(&r);
	}
	up_child_end(&r.child);
	if (r.process_fd >= 0)
		close(r.process_fd);
	if (!up_output_close(o, &r.out, status) && !status)
		status = 1;
	up_follow_fini(&r.follow);
	free(words);
	return status;
}
