/* The parent's side of the keeper: asks for steps and waits for the answers, with a time limit. */
#include "runtime/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/keeper_wire.h"

#define DEFAULT_LIMIT_MS 15000
#define DEFAULT_BUSY_MS 2000
#define STOP_LIMIT_MS 3000 /* how long to wait for the keeper's end */
#define AGAIN_MS                                                                        \
	1000 /* undoing that takes longer may be left to the keeper at a further signal \
	      */
#define UNDO_MS_PER_EVENT                                                                 \
	150            /* the kernel takes 25 to 60 ms to disable one, slow machines more \
			*/
#define NAME_TRIES 100 /* session names to try */

struct up_keeper {
	int fd;                            /* the socket */
	pid_t pid;                         /* the keeper */
	struct up_tracefs fs;              /* where tracefs is */
	int stop_fd;                       /* readable: stop waiting; -1 for none */
	bool watch;                        /* is stop_fd looked at? */
	unsigned limit_ms, busy_ms;        /* see struct up_keeper_opts */
	char session[UP_SESSION_NAME_MAX]; /* chosen, or being asked for; "" for none */
	bool has_begun;                    /* is it chosen, and certainly ours? */
	unsigned nr_events;                /* at most so many are to be undone */
	uint32_t seq;                      /* of the last request */
	struct up_buf in;                  /* received, not yet used */
	bool is_dead;                      /* it has gone */
	bool is_stuck;                     /* it did not answer in time */
	bool is_left_alone;                /* its end is not waited for */
};

/* --- starting and ending --------------------------------------------------------------------- */

static int fork_keeper(struct up_keeper *k)
{
	sigset_t all, old;
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* So that no handler of ours runs in the new process before it has dropped them. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid_t pid = fork();
	if (pid == 0)
		up_keeper_serve(pair[1], parent, &k->fs, k->busy_ms);
	int err = pid < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	int size = 2 * (int)UP_WIRE_DATA_MAX;
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	k->fd = pair[0];
	k->pid = pid;
	k->is_dead = k->is_stuck = false;
	return 0;
}

int up_keeper_start(const struct up_keeper_opts *opts, struct up_keeper **out, struct up_status *st)
{
	struct up_keeper *k = calloc(1, sizeof(*k));
	int err = -ENOMEM;

	if (k) {
		k->fs = *opts->fs;
		k->stop_fd = opts->stop_fd;
		k->watch = true;
		k->limit_ms = opts->limit_ms ? opts->limit_ms : DEFAULT_LIMIT_MS;
		k->busy_ms = opts->busy_ms ? opts->busy_ms : DEFAULT_BUSY_MS;
		err = fork_keeper(k);
	}
	if (err) {
		free(k);
		return up_status_set(st, err, NULL, "cannot start the helper process");
	}
	*out = k;
	return 0;
}

/* Waits for the process's end; one stuck in the kernel is given up. */
static void reap(pid_t pid, int64_t limit_ms)
{
	int64_t deadline = up_clock_ms() + limit_ms;
	struct timespec pause = { 0, 200000 };

	while (waitpid(pid, NULL, WNOHANG) == 0 && up_clock_ms() < deadline) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 10000000)
			pause.tv_nsec *= 2;
	}
}

static void drop_keeper(struct up_keeper *k)
{
	close(k->fd);
	k->fd = -1;
	reap(k->pid, k->is_stuck || k->is_left_alone ? 0 : STOP_LIMIT_MS);
	up_buf_reset(&k->in);
}

void up_keeper_stop(struct up_keeper *k)
{
	if (!k)
		return;
	drop_keeper(k);
	up_buf_fini(&k->in);
	free(k);
}

int up_keeper_fd(const struct up_keeper *k)
{
	return k->fd;
}

pid_t up_keeper_pid(const struct up_keeper *k)
{
	return k->pid;
}

void up_keeper_watch(struct up_keeper *k, bool watch)
{
	k->watch = watch;
}

const char *up_keeper_session(const struct up_keeper *k)
{
	return k->session;
}

/* --- one step -------------------------------------------------------------------------------- */

/* Which signals end the wait for an answer. */
enum patience {
	PATIENT,   /* none */
	BY_SIGNAL, /* stop_fd being readable */
	BY_ANOTHER /* one more, after waiting for a while: stop_fd may have been readable before */
};

struct request {
	enum up_wire_op op;
	const char *name;       /* "" for none */
	const char *data;       /* bytes */
	size_t data_len;        /* how many */
	int64_t limit_ms;       /* 0: the usual */
	enum patience patience; /* of one that up_keeper_watch() does not govern */
};

/* Waiting for an answer. */
struct wait {
	int64_t since;    /* ms */
	int64_t deadline; /* ms */
	enum patience patience;
	int nr_signals; /* bytes in stop_fd when AGAIN_MS were over, or -1 */
};

/* Has one more byte come into stop_fd since the wait became long? */
static bool is_asked_again(struct up_keeper *k, struct wait *w)
{
	int nr = 0;

	if (k->stop_fd < 0 || up_clock_ms() - w->since < AGAIN_MS ||
	    ioctl(k->stop_fd, FIONREAD, &nr) < 0)
		return false;
	if (w->nr_signals < 0)
		w->nr_signals = nr;
	return nr > w->nr_signals;
}

/* Waits for `events` on the socket. */
static int await(struct up_keeper *k, short events, struct wait *w)
{
	int stop_fd = w->patience == BY_SIGNAL ? k->stop_fd : -1;
	struct pollfd fds[2] = { { k->fd, events, 0 }, { stop_fd, POLLIN, 0 } };

	for (;;) {
		int64_t left = w->deadline - up_clock_ms();
		int64_t pause = w->patience == BY_ANOTHER && left > 100 ? 100 : left;
		int n = poll(fds, 2, pause > 0 ? (int)pause : 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && fds[0].revents)
			return 0;
		if (n > 0 || (w->patience == BY_ANOTHER && is_asked_again(k, w)))
			return -EINTR;
		if (left <= 0)
			return -ETIMEDOUT;
	}
}

static int send_bytes(struct up_keeper *k, const void *from, size_t len, struct wait *w)
{
	for (size_t sent = 0; sent < len;) {
		ssize_t n = send(k->fd, (const char *)from + sent, len - sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			int err = await(k, POLLOUT, w);
			if (err)
				return err;
		} else if (n < 0 && errno != EINTR) {
			return -EPIPE;
		}
		sent += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

static int send_request(struct up_keeper *k, const struct request *r, struct wait *w)
{
	struct up_wire_head head = { .seq = ++k->seq, .op = r->op };

	head.name_len = (uint32_t)strlen(r->name);
	head.data_len = (uint32_t)r->data_len;
	if (head.name_len > UP_WIRE_NAME_MAX || r->data_len > UP_WIRE_DATA_MAX)
		return -E2BIG;
	/* In one piece: each send() wakes the keeper. */
	struct up_buf message = { 0 };
	up_buf_add(&message, &head, sizeof(head));
	up_buf_add(&message, r->name, head.name_len);
	up_buf_add(&message, r->data, r->data_len);
	int err = message.failed ? -ENOMEM : send_bytes(k, message.s, message.len, w);
	up_buf_fini(&message);
	return err;
}

static int receive_some(struct up_keeper *k)
{
	char *to = up_buf_room(&k->in, 65536);
	ssize_t n = to ? recv(k->fd, to, 65536, MSG_DONTWAIT) : -1;

	if (!to)
		return -ENOMEM;
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -EPIPE;
	k->in.len += (size_t)n;
	return n ? 0 : -EPIPE;
}

/* Takes one whole answer out of what was received; false when it is not all there. */
static bool take_answer(struct up_keeper *k, struct up_wire_head *head, struct up_buf *out)
{
	size_t len;

	if (k->in.len < sizeof(*head))
		return false;
	memcpy(head, k->in.s, sizeof(*head));
	len = sizeof(*head) + head->data_len;
	if (k->in.len < len)
		return false;
	if (out && head->seq == k->seq)
		up_buf_add(out, k->in.s + sizeof(*head), head->data_len);
	memmove(k->in.s, k->in.s + len, k->in.len - len);
	k->in.len -= len;
	return true;
}

/* Answers to steps that were not waited for come first, and are skipped. */
static int await_answer(struct up_keeper *k, struct wait *w, struct up_buf *out)
{
	struct up_wire_head head;
	int err;

	do {
		while (!take_answer(k, &head, out)) {
			err = await(k, POLLIN, w);
			if (!err)
				err = receive_some(k);
			if (err)
				return err;
		}
	} while (head.seq != k->seq);
	return head.err;
}

/* Is stop_fd readable now? */
static bool is_stopped(const struct up_keeper *k)
{
	struct pollfd fd = { k->stop_fd, POLLIN, 0 };

	return k->stop_fd >= 0 && poll(&fd, 1, 0) > 0;
}

/* The answer's data is appended to *out, which may be NULL. */
static int step(struct up_keeper *k, const struct request *r, struct up_buf *out)
{
	struct wait w = { .since = up_clock_ms(), .patience = r->patience, .nr_signals = -1 };

	w.deadline = w.since + (r->limit_ms ? r->limit_ms : k->limit_ms);
	if (k->is_dead)
		return -EPIPE;
	if (k->is_stuck)
		return -ETIMEDOUT;
	if (k->watch && w.patience == PATIENT && is_stopped(k))
		return -EINTR; /* nothing new is begun */
	/* A request cut short would garble the next one, so it is sent without looking at signals.
	 */
	int err = send_request(k, r, &w);
	if (k->watch && w.patience == PATIENT)
		w.patience = BY_SIGNAL;
	if (!err)
		err = await_answer(k, &w, out);
	k->is_dead = err == -EPIPE;
	k->is_stuck = err == -ETIMEDOUT;
	return err;
}

bool up_keeper_is_over(int err)
{
	return err == -EINTR || err == -ETIMEDOUT || err == -EPIPE;
}

/* --- the steps, and what to say when they fail ----------------------------------------------- */

static int say(struct up_keeper *k, struct up_status *st, int err, const char *path,
	       const char *what)
{
	if (!err)
		return 0;
	if (err == -EPIPE && st && !st->err) {
		up_status_set(st, err, NULL, "%s", what);
		up_status_reason(st, "the helper process has ended unexpectedly");
		return err;
	}
	return up_tracefs_fail(&k->fs, st, err, path, "%s", what);
}

static int try_begin(struct up_keeper *k, unsigned try)
{
	struct request r = { .op = UP_WIRE_BEGIN, .name = k->session };

	if (try == 0)
		snprintf(k->session, sizeof(k->session), UP_SESSION_PREFIX "%d", (int)getpid());
	else
		snprintf(k->session, sizeof(k->session), UP_SESSION_PREFIX "%d_%u", (int)getpid(),
			 try + 1);
	return step(k, &r, NULL);
}

int up_keeper_begin(struct up_keeper *k, struct up_status *st)
{
	char path[UP_TRACEFS_PATH_MAX];
	int err = -EEXIST;

	for (unsigned try = 0; err == -EEXIST && try < NAME_TRIES; try++)
		err = try_begin(k, try);
	snprintf(path, sizeof(path), "instances/%s", k->session);
	say(k, st, err, path, "cannot create the tracing instance");
	/* With these the instance may be there all the same, and is undone by that name. */
	if (err && !up_keeper_is_over(err))
		k->session[0] = 0;
	k->has_begun = err == 0;
	return err;
}

int up_keeper_define(struct up_keeper *k, const char *lines, size_t len, struct up_status *st)
{
	struct request r = { .op = UP_WIRE_DEFINE, .name = "", .data = lines, .data_len = len };

	if (len > UP_KEEPER_DEFINE_MAX)
		return say(k, st, -E2BIG, "uprobe_events", "cannot define probes in");
	for (const char *s = lines; s && s < lines + len;
	     s = memchr(s, '\n', (size_t)(lines + len - s))) {
		s += *s == '\n';
		k->nr_events++;
	}
	return say(k, st, step(k, &r, NULL), "uprobe_events", "cannot define probes in");
}

int up_keeper_set(struct up_keeper *k, const char *file, const char *value, struct up_status *st)
{
	struct request r = { .op = UP_WIRE_SET, .name = file, .data = value };
	char path[UP_TRACEFS_PATH_MAX];

	r.data_len = strlen(value);
	snprintf(path, sizeof(path), "instances/%s/%s", k->session, file);
	return say(k, st, step(k, &r, NULL), path, "cannot write");
}

int up_keeper_free_threads(struct up_keeper *k, struct up_status *st)
{
	struct request r = { .op = UP_WIRE_FREE, .name = "", .data = "" };
	char path[UP_TRACEFS_PATH_MAX];

	snprintf(path, sizeof(path), "instances/%s/set_event_pid", k->session);
	return say(k, st, step(k, &r, NULL), path, "cannot empty");
}

static int say_enable(struct up_keeper *k, struct up_status *st, int err, const char *event,
		      const char *what)
{
	char path[UP_TRACEFS_PATH_MAX];

	snprintf(path, sizeof(path), "instances/%s/events/%s/enable", k->session, event);
	return say(k, st, err, path, what);
}

int up_keeper_enable(struct up_keeper *k, const char *event, struct up_status *st)
{
	struct request r = { .op = UP_WIRE_ENABLE, .name = event };

	int err = say_enable(k, st, step(k, &r, NULL), event, "cannot enable the event");

	if (err == -EBUSY)
		up_status_reason(st, "perf, or a program like it, uses it");
	return err;
}

int up_keeper_disable(struct up_keeper *k, const char *event, struct up_status *st)
{
	struct request r = { .op = UP_WIRE_DISABLE, .name = event };

	return say_enable(k, st, step(k, &r, NULL), event, "cannot disable the event");
}

int up_keeper_filter(struct up_keeper *k, const char *event, const char *filter,
		     struct up_status *st)
{
	struct request r = { .op = UP_WIRE_FILTER, .name = event, .data = filter };
	char path[UP_TRACEFS_PATH_MAX];

	r.data_len = strlen(filter);
	snprintf(path, sizeof(path), "instances/%s/events/%s/filter", k->session, event);
	return say(k, st, step(k, &r, NULL), path, "cannot write");
}

int up_keeper_remove(struct up_keeper *k, const char *event, struct up_status *st)
{
	struct request r = { .op = UP_WIRE_REMOVE, .name = event };
	struct up_buf why = { 0 };
	int err = step(k, &r, &why);

	say(k, st, err, "uprobe_events", "cannot remove an event from");
	if (err && why.len)
		up_status_reason(st, "%.*s", (int)why.len - 1, why.s);
	up_buf_fini(&why);
	return err;
}

int up_keeper_read(struct up_keeper *k, const char *path, struct up_buf *out, struct up_status *st)
{
	struct request r = { .op = UP_WIRE_READ, .name = path };

	return say(k, st, step(k, &r, out), path, "cannot read");
}

/* Another keeper takes over what the dead one has made; it knows it by its name. */
static int replace_keeper(struct up_keeper *k)
{
	struct request r = { .op = UP_WIRE_ADOPT, .name = k->session, .data_len = 1 };

	drop_keeper(k);
	int err = fork_keeper(k);
	if (err) {
		k->is_dead = true;
		return err;
	}
	r.data = k->has_begun ? "1" : "0";
	r.patience = BY_ANOTHER;
	return k->session[0] ? step(k, &r, NULL) : 0;
}

static int undo_step(struct up_keeper *k, struct up_buf *left)
{
	struct request r = { .op = UP_WIRE_UNDO, .name = "", .patience = BY_ANOTHER };

	r.limit_ms = (int64_t)k->limit_ms + k->busy_ms + (int64_t)k->nr_events * UNDO_MS_PER_EVENT;
	return step(k, &r, left);
}

int up_keeper_undo(struct up_keeper *k, struct up_buf *left, struct up_status *st)
{
	int err = k->is_dead ? -EPIPE : undo_step(k, left);

	if (err == -EPIPE) {
		err = replace_keeper(k);
		if (!err)
			err = undo_step(k, left);
	}
	k->is_left_alone = err == -EINTR;
	say(k, st, err, NULL, "cannot remove all probes");
	if (err == -EBUSY)
		up_status_reason(st, "some are still in use");
	if (err == -EINTR)
		up_status_hint(st, "the process %d goes on removing them", (int)k->pid);
	return err;
}

int up_keeper_clean(const struct up_keeper_opts *opts, const char *session, struct up_buf *left,
		    struct up_status *st)
{
	struct request r = { .op = UP_WIRE_ADOPT, .name = session, .data = "0", .data_len = 1 };
	struct up_keeper *k;
	int err = up_keeper_start(opts, &k, st);

	if (err)
		return err;
	snprintf(k->session, sizeof(k->session), "%s", session);
	err = step(k, &r, NULL);
	say(k, st, err, NULL, "cannot remove the probes of another session");
	if (err == -EBUSY)
		up_status_reason(st, "the session %s is still in use", session);
	if (!err)
		err = up_keeper_undo(k, left, st);
	up_keeper_stop(k);
	return err;
}
