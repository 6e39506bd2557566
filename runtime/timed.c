/* A function run by a helper process. */
#include "runtime/timed.h"
#include "runtime/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void send_all(int fd, const void *from, size_t len)
{
	const char *s = from;

	while (len) {
		ssize_t n = write(fd, s, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		s += n;
		len -= (size_t)n;
	}
}

/* The helper: the answer's text goes first, the result behind it. */
static _Noreturn void serve(int fd, up_timed_fn *fn, void *arg)
{
	struct up_buf out = { 0 };
	int null = open("/dev/null", O_RDWR);

	/* One that is stuck must not keep anybody's pipe or terminal open. */
	setsid();
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	int err = fn(arg, &out);
	if (!err && out.failed)
		err = -ENOMEM;
	send_all(fd, out.s, out.failed ? 0 : out.len);
	send_all(fd, &err, sizeof(err));
	_exit(0);
}

/* Reads to the end of the pipe. */
static int receive(int fd, int64_t deadline, struct up_buf *in)
{
	for (;;) {
		int64_t left = deadline - up_clock_ms();
		struct pollfd p = { fd, POLLIN, 0 };
		int ready = poll(&p, 1, left > 0 ? (int)left : 0);

		if (ready == 0)
			return -ETIMEDOUT;
		char *to = up_buf_room(in, 65536);
		ssize_t n = to && ready > 0 ? read(fd, to, 65536) : -1;
		if (n == 0)
			return 0;
		if (!to)
			return -ENOMEM;
		if (n < 0 && errno != EINTR)
			return -errno;
		in->len += n > 0 ? (size_t)n : 0;
	}
}

static int take_answer(const struct up_buf *in, struct up_buf *out)
{
	int result;

	if (in->len < sizeof(result))
		return -EPIPE; /* the helper has died */
	memcpy(&result, in->s + in->len - sizeof(result), sizeof(result));
	up_buf_add(out, in->s, in->len - sizeof(result));
	return result;
}

int up_timed_call(up_timed_fn *fn, void *arg, unsigned limit_ms, struct up_buf *out)
{
	int64_t deadline = up_clock_ms() + limit_ms;
	struct up_buf in = { 0 };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		serve(ends[1], fn, arg);
	}
	int err = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!err)
		err = receive(ends[0], deadline, &in);
	close(ends[0]);
	if (pid > 0 && err)
		kill(pid, SIGKILL);
	if (pid > 0)
		waitpid(pid, NULL, err ? WNOHANG : 0);
	if (!err)
		err = take_answer(&in, out);
	up_buf_fini(&in);
	return err;
}
