/* Processes that the prompt traces or has started. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/cli/repl_int.h"
#include "runtime/cli/words.h"
#include "runtime/clock.h"

#define CHUNK 16384 /* bytes of a command's output that are shown at a time */

/* ---- the list ---- */

static struct up_traced *add_traced(struct up_repl *r, pid_t pid, const char *name)
{
	struct up_traced *more = reallocarray(r->traced, r->nr_traced + 1, sizeof(*more));
	struct up_traced t = { .pid = pid, .output = -1 };

	if (!more)
		return NULL;
	r->traced = more;
	t.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	t.name = strdup(name);
	more[r->nr_traced] = t;
	return &more[r->nr_traced++];
}

static void drop_traced(struct up_repl *r, size_t i)
{
	struct up_traced *t = &r->traced[i];

	if (t->fd >= 0)
		close(t->fd);
	if (t->output >= 0)
		close(t->output);
	free(t->name);
	up_buf_fini(&t->rest);
	memmove(t, t + 1, (--r->nr_traced - i) * sizeof(*t));
}

void up_repl_comm(pid_t pid, char name[64])
{
	char path[40];
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, name, 63);
		close(fd);
	}
	name[n > 0 ? n : 0] = 0;
	name[strcspn(name, "\n")] = 0;
}

/* ---- attach ---- */

/*
 * Only some processes are traced from now on. The kernel adds what they start by itself; so it must
 * be told before their threads are listed.
 */
static bool restrict_to(struct up_repl *r, pid_t pid, struct up_status *st)
{
	struct up_attach *a = r->session->attach;
	size_t first = a->nr_tids;

	if (up_attach_follow(a, true, st) || up_attach_add_process(a, pid, st))
		return false;
	for (size_t i = 0; i < a->nr_tids && first < a->nr_tids; i++)
		if (!up_procs_of(&r->session->engine.vm.procs, a->tids[i],
				 up_clock_ns(CLOCK_MONOTONIC)))
			up_procs_know(&r->session->engine.vm.procs, a->tids[i], pid, 0);
	r->is_restricted = true;
	return true;
}

static bool is_traced(const struct up_repl *r, pid_t pid)
{
	for (size_t i = 0; i < r->nr_traced; i++)
		if (r->traced[i].pid == pid && !r->traced[i].has_ended)
			return true;
	return false;
}

static void list_traced(struct up_repl *r)
{
	for (size_t i = 0; i < r->nr_traced; i++)
		up_repl_say(r, "%d (%s)%s", (int)r->traced[i].pid, r->traced[i].name,
			    r->traced[i].has_ended ? " has ended; what it has started goes on"
						   : "");
	if (r->is_restricted && !r->nr_traced)
		up_repl_say(r, "nothing is traced any more: all that was has ended; `attach PID` "
			       "traces another");
	else if (!r->is_restricted)
		up_repl_say(r, "all processes are traced; `attach PID` traces one alone");
}

static void attach(struct up_repl *r, pid_t pid)
{
	struct up_status st = { 0 };
	char name[64];

	up_repl_comm(pid, name);
	if (pid == getpid()) {
		up_repl_say(r, "%d is uptick itself, which is not traced", (int)pid);
	} else if (is_traced(r, pid) && r->is_restricted) {
		up_repl_say(r, "%d is traced already", (int)pid);
	} else if (!restrict_to(r, pid, &st)) {
		up_repl_say_status(r, &st);
	} else if (!is_traced(r, pid) && !add_traced(r, pid, name)) {
		up_repl_say(r, "out of memory");
	} else {
		up_repl_say(r, "tracing %d (%s) and what it starts", (int)pid, name);
		/* Names mean what the first one has mapped. */
		if (!r->seen_by)
			up_repl_look_anew(r, pid);
	}
}

void up_repl_attach(struct up_repl *r, const char *args)
{
	char *end;
	long pid = strtol(args, &end, 10);

	if (!*args)
		list_traced(r);
	else if (*args < '0' || *args > '9' || end[strspn(end, " \t")] || pid <= 0 ||
		 pid > INT32_MAX)
		up_repl_say(r, "attach takes the number of a process");
	else
		attach(r, (pid_t)pid);
}

/* ---- detach ---- */

/* Commands that were run go on, and their ends are told of. */
static void forget_attached(struct up_repl *r)
{
	for (size_t i = r->nr_traced; i-- > 0;)
		if (!r->traced[i].child.pid)
			drop_traced(r, i);
}

void up_repl_detach(struct up_repl *r, const char *args)
{
	struct up_attach *a = r->session->attach;
	struct up_status st = { 0 };

	(void)args;
	if (!r->is_restricted) {
		up_repl_say(r, "all processes are traced already");
	} else if (up_attach_follow(a, false, &st) || up_attach_free_threads(a, &st)) {
		up_repl_say_status(r, &st);
	} else {
		r->is_restricted = false;
		forget_attached(r);
		up_repl_say(r, "all processes are traced again");
		up_repl_look_anew(r, 0);
	}
}

/* ---- run ---- */

/*
 * With event-fork the kernel would put our child among those that are left out, as we are: so it
 * is off for the moment, and what the traced processes start meanwhile is looked for afterwards.
 */
static int hold(struct up_repl *r, char **words, struct up_child *c, int output,
		struct up_status *st)
{
	struct up_child_stdio io = { .in = open("/dev/null", O_RDONLY | O_CLOEXEC), .out = output };
	struct up_attach *a = r->session->attach;
	int err = 0;

	if (r->is_restricted)
		err = up_attach_follow(a, false, st);
	if (!err)
		err = up_child_hold(c, words, &io, st);
	if (r->is_restricted) {
		int again = up_attach_follow(a, true, err ? NULL : st);

		for (size_t i = 0; i < r->nr_traced && !again; i++)
			if (!r->traced[i].has_ended)
				up_attach_add_process(a, r->traced[i].pid, NULL);
		if (!err && !again)
			again = up_attach_add_thread(a, c->pid, st);
		err = err ? err : again;
	}
	if (io.in >= 0)
		close(io.in);
	return err;
}

static void start(struct up_repl *r, char **words)
{
	struct up_child c = { 0 };
	struct up_status st = { 0 };
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC)) {
		up_repl_say(r, "cannot start %s: %s", words[0], strerror(errno));
		return;
	}
	int err = hold(r, words, &c, pipes[1], &st);
	close(pipes[1]);
	if (!err) {
		up_procs_know(&r->session->engine.vm.procs, c.pid, c.pid, 0);
		err = up_child_go(&c, words, &st);
	}
	struct up_traced *t = err ? NULL : add_traced(r, c.pid, words[0]);
	if (t) {
		fcntl(pipes[0], F_SETFL, O_NONBLOCK);
		t->output = pipes[0];
		t->child = c;
		up_repl_say(r, "%d started: %s", (int)c.pid, words[0]);
		return;
	}
	close(pipes[0]);
	up_child_end(&c);
	if (!err)
		up_status_set(&st, -ENOMEM, words[0], "cannot run the command");
	up_repl_say_status(r, &st);
}

void up_repl_run(struct up_repl *r, const char *args)
{
	struct up_buf err = { 0 };
	char **words = *args ? up_split_words(args, &err) : NULL;

	if (words)
		start(r, words);
	else
		up_repl_say(r, "%s", err.len ? err.s : "run what? As in: run zsh -c true");
	free(words);
	up_buf_fini(&err);
}

bool up_repl_start(struct up_repl *r)
{
	if (r->o->pid)
		attach(r, r->o->pid);
	if (r->o->pid && !r->is_restricted)
		return false;
	if (r->o->run)
		up_repl_run(r, r->o->run);
	return true;
}

/* ---- what becomes of them ---- */

size_t up_repl_fds(const struct up_repl *r, struct pollfd *fds, size_t max)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_traced && nr + 2 <= max; i++) {
		const struct up_traced *t = &r->traced[i];

		/* One that has ended stays until all of its output is there. */
		fds[nr++] = (struct pollfd){ t->output, POLLIN, 0 };
		fds[nr++] = (struct pollfd){ t->child.ended ? -1 : t->fd, POLLIN, 0 };
	}
	return nr;
}

/* A line is shown when it is whole, or so long, or nothing has come behind it for so long. */
#define REST_MAX 65536
#define REST_NS 200000000ull

/* Shows the first `len` bytes of what was read, escaped. */
static void show_output(struct up_repl *r, struct up_traced *t, size_t len)
{
	const char *s = t->rest.s;
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] != '\n' && s[i] != '\t')
			continue;
		up_text_escape(&r->out.buf, s + from, i - from, 0);
		up_buf_putc(&r->out.buf, s[i]);
		from = i + 1;
	}
	up_text_escape(&r->out.buf, s + from, len - from, 0);
	if (len && s[len - 1] != '\n')
		up_buf_putc(&r->out.buf, '\n');
	memmove(t->rest.s, t->rest.s + len, t->rest.len - len);
	t->rest.len -= len;
	up_repl_show_round(r);
}

static void show_rest(struct up_repl *r, struct up_traced *t)
{
	if (t->rest.len)
		show_output(r, t, t->rest.len);
}

static void show_lines(struct up_repl *r, struct up_traced *t)
{
	const char *last = memrchr(t->rest.s, '\n', t->rest.len);

	if (last)
		show_output(r, t, (size_t)(last + 1 - t->rest.s));
	if (t->rest.len > REST_MAX)
		show_rest(r, t);
}

/* Passes on what it has written. False when there is nothing for now. */
static bool pass_on(struct up_repl *r, struct up_traced *t)
{
	char *to = up_buf_room(&t->rest, CHUNK);
	ssize_t n = to ? read(t->output, to, CHUNK) : 0;
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);

	if (n > 0) {
		t->rest.len += (size_t)n;
		t->rest_at = now;
		show_lines(r, t);
		return true;
	}
	bool is_over = n == 0 || (errno != EAGAIN && errno != EINTR);
	if (is_over || now - t->rest_at >= REST_NS)
		show_rest(r, t);
	if (is_over) {
		close(t->output);
		t->output = -1;
	}
	return false;
}

bool up_repl_has_rest(const struct up_repl *r)
{
	for (size_t i = 0; i < r->nr_traced; i++)
		if (r->traced[i].rest.len)
			return true;
	return false;
}

static bool has_ended(struct up_traced *t)
{
	struct pollfd p = { t->fd, POLLIN, 0 };
	char path[40];

	if (t->child.pid)
		return up_child_ended(&t->child);
	if (t->fd >= 0)
		return poll(&p, 1, 0) > 0;
	snprintf(path, sizeof(path), "/proc/%d", (int)t->pid);
	return access(path, F_OK) != 0;
}

static void say_end(struct up_repl *r, const struct up_traced *t)
{
	int status = t->child.wait_status;

	if (t->child.pid && WIFSIGNALED(status))
		up_repl_say(r, "%d (%s) was ended by signal %d", (int)t->pid, t->name,
			    WTERMSIG(status));
	else if (t->child.pid)
		up_repl_say(r, "%d (%s) has ended with status %d", (int)t->pid, t->name,
			    WEXITSTATUS(status));
	else
		up_repl_say(r, "%d (%s) has ended", (int)t->pid, t->name);
	up_repl_flush(r);
	r->has_gone = true;
}

void up_repl_processes(struct up_repl *r)
{
	for (size_t i = r->nr_traced; i-- > 0;) {
		struct up_traced *t = &r->traced[i];

		bool ended = t->has_ended || has_ended(t); /* before it is read, so that all is */
		bool wrote = t->output >= 0 && pass_on(r, t);

		if (!ended || wrote)
			continue;
		show_rest(r, t);
		if (!t->has_ended)
			say_end(r, t);
		t->has_ended = true;
		if (t->output >= 0)
			continue; /* what it has started goes on */
		drop_traced(r, i);
	}
}

void up_repl_processes_fini(struct up_repl *r)
{
	while (r->nr_traced) {
		up_child_end(&r->traced[0].child);
		drop_traced(r, 0);
	}
	free(r->traced);
}
