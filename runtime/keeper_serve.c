/* The keeper's side: does one step after the other, and undoes them all at the end. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/keeper_wire.h"

struct serve {
	int fd;                            /* the socket */
	int parent_fd;                     /* pidfd of the parent, or -1 */
	struct up_journal journal;         /* what was changed */
	struct up_guard guard;             /* undoes it */
	char session[UP_SESSION_NAME_MAX]; /* name of group and instance; "" before BEGIN */
	struct up_wire_head head;          /* of the request at hand */
	char name[UP_WIRE_NAME_MAX + 1];   /* its name */
	char data[UP_WIRE_DATA_MAX + 1];   /* its data */
	struct up_buf answer;              /* data of the answer */
};

/* --- talking --------------------------------------------------------------------------------- */

/* Waits until the socket is ready for `events`. False: the parent is gone. */
static bool wait_ready(const struct serve *s, short events)
{
	struct pollfd fds[2] = { { s->fd, events, 0 }, { s->parent_fd, POLLIN, 0 } };

	while (poll(fds, 2, -1) < 0)
		if (errno != EINTR)
			return false;
	return !fds[1].revents && (fds[0].revents & events);
}

static bool receive(struct serve *s, void *to, size_t len)
{
	for (size_t got = 0; got < len;) {
		ssize_t n = recv(s->fd, (char *)to + got, len - got, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN && wait_ready(s, POLLIN))
			continue;
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		got += n < 0 ? 0 : (size_t)n;
	}
	return true;
}

static bool transmit(struct serve *s, const void *from, size_t len)
{
	for (size_t sent = 0; sent < len;) {
		ssize_t n = send(s->fd, (const char *)from + sent, len - sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN && wait_ready(s, POLLOUT))
			continue;
		if (n < 0 && errno != EINTR)
			return false;
		sent += n < 0 ? 0 : (size_t)n;
	}
	return true;
}

static bool receive_request(struct serve *s)
{
	if (!receive(s, &s->head, sizeof(s->head)) || s->head.name_len > UP_WIRE_NAME_MAX ||
	    s->head.data_len > UP_WIRE_DATA_MAX)
		return false;
	if (!receive(s, s->name, s->head.name_len) || !receive(s, s->data, s->head.data_len))
		return false;
	s->name[s->head.name_len] = 0;
	s->data[s->head.data_len] = 0;
	return true;
}

static bool send_answer(struct serve *s, int err)
{
	struct up_wire_head head = { .seq = s->head.seq, .op = s->head.op };

	if (s->answer.failed) {
		up_buf_reset(&s->answer);
		err = -ENOMEM;
	}
	head.err = err;
	head.data_len = (uint32_t)s->answer.len;
	struct up_buf message = { 0 };
	up_buf_add(&message, &head, sizeof(head));
	up_buf_add(&message, s->answer.s, s->answer.len);
	bool sent = !message.failed && transmit(s, message.s, message.len);
	up_buf_fini(&message);
	return sent;
}

/* --- the steps ------------------------------------------------------------------------------- */

static int do_begin(struct serve *s)
{
	char path[UP_TRACEFS_PATH_MAX];
	pid_t owner;

	if (s->session[0] || !up_session_parse(s->name, &owner))
		return -EINVAL;
	snprintf(path, sizeof(path), "events/%.*s", UP_SESSION_NAME_MAX, s->name);
	if (up_tracefs_exists(s->guard.fs, path))
		return -EEXIST;
	int i = up_journal_plan(&s->journal, UP_CHANGE_INSTANCE, s->name, s->head.name_len);
	if (i < 0)
		return i;
	snprintf(path, sizeof(path), "instances/%.*s", UP_SESSION_NAME_MAX, s->name);
	int err = up_tracefs_mkdir(s->guard.fs, path);
	if (err == -EEXIST)
		up_journal_withdraw(&s->journal, i);
	if (err)
		return err;
	up_journal_confirm(&s->journal, i);
	strcpy(s->session, s->name);
	return 0;
}

static int do_adopt(struct serve *s)
{
	int err = s->session[0] ? -EINVAL : up_guard_adopt(&s->guard, s->name, s->data[0] == '1');

	if (!err)
		strcpy(s->session, s->name);
	return err;
}

/*
 * Bytes of "SESSION/EVENT" in a definition line "p:SESSION/EVENT PATH...", or 0 for any other
 * line: nothing else is ever written to uprobe_events from outside the guard.
 */
static size_t defined_name(const struct serve *s, const char *line, size_t len)
{
	size_t session = strlen(s->session), i = 2 + session + 1;

	if (len <= i || (line[0] != 'p' && line[0] != 'r') || line[1] != ':' ||
	    strncmp(line + 2, s->session, session) || line[2 + session] != '/')
		return 0;
	while (i < len && (isalnum((unsigned char)line[i]) || line[i] == '_'))
		i++;
	return i > 2 + session + 1 && i < len && line[i] == ' ' ? i - 2 : 0;
}

typedef int line_fn(struct serve *s, const char *line, size_t len);

static int each_line(struct serve *s, line_fn *fn)
{
	const char *line = s->data;
	int err = *line ? 0 : -EINVAL;

	while (*line && !err) {
		size_t len = strcspn(line, "\n");

		err = fn(s, line, len);
		line += len + (line[len] == '\n');
	}
	return err;
}

static int check_line(struct serve *s, const char *line, size_t len)
{
	return defined_name(s, line, len) ? 0 : -EINVAL;
}

static int plan_line(struct serve *s, const char *line, size_t len)
{
	int i = up_journal_plan(&s->journal, UP_CHANGE_EVENT, line + 2, defined_name(s, line, len));

	return i < 0 ? i : 0;
}

static int do_define(struct serve *s)
{
	if (!s->session[0] || strlen(s->data) != s->head.data_len)
		return -EINVAL;
	int err = each_line(s, check_line);
	if (!err)
		err = each_line(s, plan_line);
	/* The journal goes on saying "planned": undoing looks for itself which of them are there.
	 */
	return err ? err
		   : up_tracefs_append(s->guard.fs, "uprobe_events", s->data, s->head.data_len);
}

static int do_set(struct serve *s)
{
	char path[2 * UP_TRACEFS_PATH_MAX];

	/* Enabling has its own step, because it is journalled. */
	if (!s->session[0] || strchr(s->name, '/') != strrchr(s->name, '/') ||
	    !strncmp(s->name, "events", 6) || !strcmp(s->name, "set_event") ||
	    up_tracefs_check_path(s->name))
		return -EINVAL;
	snprintf(path, sizeof(path), "instances/%s/%s", s->session, s->name);
	return up_tracefs_write(s->guard.fs, path, s->data, s->head.data_len);
}

static int do_free(struct serve *s)
{
	char path[2 * UP_TRACEFS_PATH_MAX];

	if (!s->session[0])
		return -EINVAL;
	snprintf(path, sizeof(path), "instances/%s/set_event_pid", s->session);
	return up_tracefs_clear(s->guard.fs, path);
}

static int write_enable(struct serve *s, const char *value)
{
	char path[2 * UP_TRACEFS_PATH_MAX];

	if (!s->session[0] || up_tracefs_check_path(s->name) || !strchr(s->name, '/'))
		return -EINVAL;
	snprintf(path, sizeof(path), "instances/%s/events/%s/enable", s->session, s->name);
	return up_tracefs_write(s->guard.fs, path, value, 1);
}

static int do_enable(struct serve *s)
{
	int i = up_journal_plan(&s->journal, UP_CHANGE_ENABLE, s->name, s->head.name_len);
	int err = i < 0 ? i : write_enable(s, "1");

	if (!err)
		up_journal_confirm(&s->journal, i);
	/* The kernel's word for an event that perf has; -EINTR means something else to the parent.
	 */
	return err == -EINTR ? -EBUSY : err;
}

static int do_disable(struct serve *s)
{
	int i = up_journal_find(&s->journal, UP_CHANGE_ENABLE, s->name);
	int err = i < 0 ? i : write_enable(s, "0");

	if (!err)
		up_journal_withdraw(&s->journal, i);
	return err;
}

/* Is the request's name that of an event of our group? */
static bool is_own_event(const struct serve *s)
{
	size_t session = strlen(s->session);

	return session && !strncmp(s->name, s->session, session) && s->name[session] == '/' &&
	       !strchr(s->name + session + 1, '/') && !up_tracefs_check_path(s->name);
}

/* The guard takes the filter off with the event, which is in the journal. */
static int do_filter(struct serve *s)
{
	char path[2 * UP_TRACEFS_PATH_MAX];

	if (!is_own_event(s) || !s->head.data_len)
		return -EINVAL;
	snprintf(path, sizeof(path), "instances/%s/events/%s/filter", s->session, s->name);
	return up_tracefs_write(s->guard.fs, path, s->data, s->head.data_len);
}

static void take_left(struct serve *s)
{
	up_buf_add(&s->answer, s->guard.left.s, s->guard.left.len);
	up_buf_reset(&s->guard.left);
}

static int do_remove(struct serve *s)
{
	int err = up_guard_remove(&s->guard, s->name);

	take_left(s);
	return err;
}

static int do_read(struct serve *s)
{
	return up_tracefs_read(s->guard.fs, s->name, &s->answer);
}

static int do_undo(struct serve *s)
{
	up_guard_undo(&s->guard);
	take_left(s);
	return up_journal_nr_live(&s->journal) ? -EBUSY : 0;
}

static int (*const steps[UP_WIRE_COUNT])(struct serve *s) = {
	[UP_WIRE_BEGIN] = do_begin,   [UP_WIRE_ADOPT] = do_adopt,   [UP_WIRE_DEFINE] = do_define,
	[UP_WIRE_SET] = do_set,       [UP_WIRE_ENABLE] = do_enable, [UP_WIRE_DISABLE] = do_disable,
	[UP_WIRE_REMOVE] = do_remove, [UP_WIRE_READ] = do_read,     [UP_WIRE_UNDO] = do_undo,
	[UP_WIRE_FILTER] = do_filter, [UP_WIRE_FREE] = do_free,
};

/* --- a process of its own -------------------------------------------------------------------- */

/* What ends the parent must not end us. Nothing of the parent's handlers may run here. */
static void settle_signals(void)
{
	static const int ignored[] = { SIGINT,  SIGTERM, SIGHUP,  SIGPIPE, SIGQUIT, SIGTSTP,
				       SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU };
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_from(int first)
{
	struct rlimit lim;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0)
		return;
#endif
	int end =
		getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur > 65536 ? 65536 : (int)lim.rlim_cur;
	for (int fd = first; fd < end; fd++)
		close(fd);
}

/* Standard error too is let go: a keeper stuck in the kernel must not keep anybody's pipe open. */
static int settle_descriptors(int fd)
{
	int null = open("/dev/null", O_RDWR);
	int high = fcntl(fd, F_DUPFD, 4);

	for (int i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			close(i);
	dup2(high, 3);
	close_from(4);
	return 3;
}

static int open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

static void settle(struct serve *s, int fd, pid_t parent)
{
	setsid();
	settle_signals();
	prctl(PR_SET_NAME, "uptick-keeper");
	s->fd = settle_descriptors(fd);
	/* No folder of the parent's is held, and a relative path cannot mean one. */
	if (chdir("/") < 0)
		_exit(1);
	s->parent_fd = open_process(parent);
}

_Noreturn void up_keeper_serve(int fd, pid_t parent, const struct up_tracefs *fs, unsigned busy_ms)
{
	struct serve *s = calloc(1, sizeof(*s));

	if (!s)
		_exit(1);
	s->guard = (struct up_guard){ .fs = fs, .journal = &s->journal, .wait_ms = busy_ms };
	settle(s, fd, parent);
	while (receive_request(s)) {
		up_buf_reset(&s->answer);
		int err = s->head.op < UP_WIRE_COUNT ? steps[s->head.op](s) : -EINVAL;
		if (!send_answer(s, err))
			break;
	}
	up_guard_undo(&s->guard);
	_exit(0);
}
