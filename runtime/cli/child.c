/* The held-back command. */
#include "runtime/cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* -errno when a file cannot be executed. */
static int check_program(const char *path)
{
	struct stat sb;

	if (stat(path, &sb))
		return -errno;
	if (!S_ISREG(sb.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

/*
 * What execvp() would run, found before the fork: the child must not search itself, or its search
 * would be traced. `file` has PATH_MAX bytes.
 */
static int find_program(const char *name, char *file)
{
	const char *path = getenv("PATH");
	int err = -ENOENT;

	if (strchr(name, '/'))
		return snprintf(file, PATH_MAX, "%s", name) < PATH_MAX ? check_program(file)
								       : -ENAMETOOLONG;
	for (path = path ? path : "/bin:/usr/bin";; path++) {
		size_t len = strcspn(path, ":");

		if (snprintf(file, PATH_MAX, "%.*s%s%s", (int)len, path, len ? "/" : "", name) <
		    PATH_MAX) {
			int why = check_program(file);

			if (!why)
				return 0;
			if (why == -EACCES)
				err = why;
		}
		path += len;
		if (!*path)
			return err;
	}
}

/* The child's side: signals as they were, then waiting for the byte, then the program. */
static _Noreturn void run_child(int go, int report, const char *file, char *const argv[],
				const struct up_child_stdio *io)
{
	static const int signals[] = { SIGINT,  SIGTERM, SIGQUIT,  SIGHUP,
				       SIGCHLD, SIGPIPE, SIGWINCH, SIGTSTP };
	sigset_t none;
	char byte;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (io) {
		setsid();
		dup2(io->in, STDIN_FILENO);
		dup2(io->out, STDOUT_FILENO);
		dup2(io->out, STDERR_FILENO);
	}
	if (read(go, &byte, 1) != 1)
		_exit(127);
	execv(file, argv);
	int err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int up_child_hold(struct up_child *c, char *const argv[], const struct up_child_stdio *io,
		  struct up_status *st)
{
	int go[2], report[2];
	char file[PATH_MAX];
	int missing = find_program(argv[0], file);

	if (missing) {
		up_status_set(st, missing, argv[0], "cannot run the command");
		if (missing == -ENOENT)
			up_status_reason(st, "no such program");
		else if (missing == -EACCES)
			up_status_reason(st, "it is not an executable file");
		return missing;
	}
	if (pipe2(go, O_CLOEXEC))
		return up_status_set(st, -errno, NULL, "cannot start the command");
	if (pipe2(report, O_CLOEXEC)) {
		int err = -errno;

		close(go[0]);
		close(go[1]);
		return up_status_set(st, err, NULL, "cannot start the command");
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		close(report[0]);
		run_child(go[0], report[1], file, argv, io);
	}
	int err = c->pid < 0 ? -errno : 0;
	close(go[0]);
	close(report[1]);
	c->go = go[1];
	c->report = report[0];
	if (!err)
		return 0;
	c->pid = 0;
	close(c->go);
	close(c->report);
	return up_status_set(st, err, NULL, "cannot start the command");
}

int up_child_go(struct up_child *c, char *const argv[], struct up_status *st)
{
	int err = 0;
	ssize_t n;

	if (write(c->go, "", 1) != 1)
		err = errno;
	close(c->go);
	c->go = -1;
	while (!err && (n = read(c->report, &err, sizeof(err))) < 0 && errno == EINTR)
		;
	close(c->report);
	c->report = -1;
	if (!err)
		return 0;
	c->ended = waitpid(c->pid, &c->wait_status, 0) == c->pid; /* it leaves at once */
	return up_status_set(st, -err, argv[0], "cannot run the command");
}

bool up_child_ended(struct up_child *c)
{
	if (c->pid && !c->ended && waitpid(c->pid, &c->wait_status, WNOHANG) == c->pid)
		c->ended = true;
	return c->ended;
}

int up_child_status(const struct up_child *c)
{
	if (WIFSIGNALED(c->wait_status))
		return 128 + WTERMSIG(c->wait_status);
	return WEXITSTATUS(c->wait_status);
}

void up_child_end(struct up_child *c)
{
	if (!c->pid || up_child_ended(c))
		return;
	if (c->go >= 0) {
		close(c->go); /* it reads the end of the pipe and leaves */
		close(c->report);
		waitpid(c->pid, &c->wait_status, 0);
		c->ended = true;
		return;
	}
	kill(c->pid, SIGTERM);
}
