/* Signals. They have state outside of structures: a handler has no other place. */
#include "runtime/cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int stop_pipe[2] = { -1, -1 }, child_pipe[2] = { -1, -1 }, notice_pipe[2] = { -1, -1 };
static volatile sig_atomic_t stopped, hurried, deferred, is_preparing = 1;
static volatile sig_atomic_t interrupted, resized, suspended; /* at a prompt */
static struct timespec stopped_at; /* written by the first signal, before `stopped` */

/* Nothing is in the kernel yet, so there is nothing to do but to go. */
static _Noreturn void leave(int sig)
{
	static const char text[] = "uptick: interrupted before the probes were armed; 0 hits\n";
	sigset_t own;

	if (is_preparing && write(STDERR_FILENO, text, sizeof(text) - 1) >= 0)
		_exit(0);
	sigemptyset(&own);
	sigaddset(&own, sig);
	signal(sig, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &own, NULL); /* it is blocked while its handler runs */
	raise(sig);
	_exit(128 + sig);
}

#define PATIENCE_MS 500

static void note_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!stopped)
		stopped_at = now;
	else if ((now.tv_sec - stopped_at.tv_sec) * 1000 +
			 (now.tv_nsec - stopped_at.tv_nsec) / 1000000 >=
		 PATIENCE_MS)
		hurried = 1;
}

static void note_stop(int sig)
{
	int err = errno;

	if (!deferred)
		leave(sig);
	note_time();
	stopped = 1;
	/* One that is full is readable already. At a prompt both end a wait. */
	if (write(stop_pipe[1], "", 1) < 0 || write(notice_pipe[1], "", 1) < 0)
		stopped = 1;
	errno = err;
}

static void note_child(int sig)
{
	int err = errno;

	(void)sig;
	if (write(child_pipe[1], "", 1) < 0)
		err = errno == EAGAIN ? err : errno;
	errno = err;
}

static bool is_ignored(int sig)
{
	struct sigaction old;

	return !sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN;
}

int up_signals_init(struct up_signals *s)
{
	struct sigaction stop = { .sa_handler = note_stop, .sa_flags = SA_RESTART };
	struct sigaction child = { .sa_handler = note_child,
				   .sa_flags = SA_RESTART | SA_NOCLDSTOP };

	if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) || pipe2(child_pipe, O_CLOEXEC | O_NONBLOCK) ||
	    pipe2(notice_pipe, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	s->stop_fd = stop_pipe[0];
	s->child_fd = child_pipe[0];
	s->notice_fd = notice_pipe[0];
	sigemptyset(&stop.sa_mask);
	sigaddset(&stop.sa_mask, SIGINT);
	sigaddset(&stop.sa_mask, SIGTERM);
	sigaddset(&stop.sa_mask, SIGQUIT);
	sigaddset(&stop.sa_mask, SIGHUP);
	sigemptyset(&child.sa_mask);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGQUIT, &stop, NULL);
	if (!is_ignored(SIGHUP))
		sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGCHLD, &child, NULL);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

void up_signals_quick(bool is_run)
{
	is_preparing = is_run;
	deferred = 0;
}

void up_signals_defer(void)
{
	deferred = 1;
}

static void note(int sig)
{
	int err = errno;

	if (sig == SIGWINCH)
		resized = 1;
	else if (sig == SIGTSTP)
		suspended = 1;
	else
		interrupted = 1;
	if (write(notice_pipe[1], "", 1) < 0)
		err = errno == EAGAIN ? err : errno;
	errno = err;
}

void up_signals_at_prompt(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGWINCH, SIGTSTP };
	struct sigaction sa = { .sa_handler = note, .sa_flags = SA_RESTART };

	sigemptyset(&sa.sa_mask);
	deferred = 1;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
}

unsigned up_signals_notices(const struct up_signals *s)
{
	unsigned notices = 0;
	char bytes[64];

	while (read(s->notice_fd, bytes, sizeof(bytes)) > 0)
		;
	notices |= interrupted ? UP_NOTICE_INTERRUPT : 0;
	notices |= resized ? UP_NOTICE_RESIZE : 0;
	notices |= suspended ? UP_NOTICE_SUSPEND : 0;
	interrupted = resized = suspended = 0;
	if (stopped && write(notice_pipe[1], "", 1) < 0)
		notices |= UP_NOTICE_INTERRUPT;
	return notices;
}

bool up_signals_stopped(void)
{
	return stopped;
}

unsigned up_signals_urgency(void)
{
	return hurried ? 2 : (unsigned)(stopped || interrupted);
}

void up_signals_take(const struct up_signals *s)
{
	char bytes[64];

	while (read(s->child_fd, bytes, sizeof(bytes)) > 0)
		;
}
