/* The keeper as a process: steps, refusals, time limits, and death of either side, on a model of
 * tracefs. */
#include "runtime/keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/model_tracefs.h"

static struct up_keeper *keeper;
static struct up_status status;
static int stop_pipe[2];

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int start(unsigned limit_ms)
{
	struct up_keeper_opts o = {
		.fs = &model.fs, .stop_fd = stop_pipe[0], .limit_ms = limit_ms, .busy_ms = 40
	};

	up_status_clear(&status);
	return up_keeper_start(&o, &keeper, &status);
}

static void set_up(void)
{
	model_init();
	if (pipe2(stop_pipe, O_CLOEXEC) < 0)
		abort();
}

static void tear_down(void)
{
	close(stop_pipe[0]);
	close(stop_pipe[1]);
	model_fini();
}

/* "SESSION/REST", valid until the third next call. */
static const char *in_session(const char *rest)
{
	static char names[3][128];
	static unsigned next;

	next = (next + 1) % 3;
	snprintf(names[next], sizeof(names[next]), "%s/%s", up_keeper_session(keeper), rest);
	return names[next];
}

static int define(const char *event, int nr_sites)
{
	struct up_buf b = { 0 };

	for (int i = 0; i < nr_sites; i++)
		up_buf_printf(&b, "p:%s /bin/true:0x%x site=\\%d:u32\n", in_session(event), 16 * i,
			      i);
	int err = up_keeper_define(keeper, b.s, b.len, &status);
	up_buf_fini(&b);
	return err;
}

/* All that a session does, as far as it gets. */
static int run_session(void)
{
	int err = up_keeper_begin(keeper, &status);

	if (!err)
		err = up_keeper_set(keeper, "trace_clock", "mono", &status);
	if (!err)
		err = define("many", 3);
	if (!err)
		err = define("one", 1);
	if (!err)
		err = up_keeper_filter(keeper, in_session("many"), "a > 2", &status);
	if (!err)
		err = up_keeper_enable(keeper, in_session("many"), &status);
	if (!err)
		err = up_keeper_enable(keeper, in_session("one"), &status);
	if (!err)
		err = up_keeper_enable(keeper, "task/task_newtask", &status);
	return err;
}

/* Waits for the model to become clean, while processes that matter may go on. */
static bool becomes_clean(int limit_ms)
{
	int64_t deadline = now_ms() + limit_ms;

	while (!model_is_clean() && now_ms() < deadline)
		usleep(2000);
	return model_is_clean();
}

/* Keepers whose parents died have become children of ours: they end, and leave nothing. */
static bool ends_clean(int limit_ms)
{
	int64_t deadline = now_ms() + limit_ms;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 && now_ms() < deadline)
		if (pid == 0)
			usleep(2000);
	return pid < 0 && model_is_clean();
}

static void test_session(void)
{
	struct up_buf left = { 0 }, text = { 0 };

	set_up();
	CHECK(!start(0) && !run_session());
	CHECK(status.err == 0);
	CHECK(model_is_enabled(model_path("instances/%s/events/%s", up_keeper_session(keeper),
					  in_session("many"))));
	CHECK(!up_keeper_read(keeper, "uprobe_events", &text, &status));
	CHECK(text.s && strstr(text.s, "many /bin/true:0x20 site=\\2:u32\n"));
	up_buf_reset(&text);
	CHECK(!up_keeper_read(keeper,
			      model_path("instances/%s/events/%s/filter", up_keeper_session(keeper),
					 in_session("many")) +
				      strlen(model.fs.root) + 1,
			      &text, &status));
	CHECK(text.s && !strcmp(text.s, "a > 2"));
	CHECK(up_keeper_filter(keeper, "task/task_newtask", "pid > 2", &status) == -EINVAL);
	CHECK(up_keeper_filter(keeper, in_session("../other"), "pid > 2", &status) == -EINVAL);
	CHECK(up_keeper_filter(keeper, in_session("one"), "", &status) == -EINVAL);
	up_status_clear(&status);
	CHECK(!up_keeper_disable(keeper, in_session("one"), &status));
	CHECK(!up_keeper_remove(keeper, in_session("one"), &status));
	CHECK(!model_has(model_path("events/%s", in_session("one"))));
	CHECK(!up_keeper_undo(keeper, &left, &status));
	CHECK(left.len == 0 && model_is_clean());
	up_keeper_stop(keeper);
	up_buf_fini(&left);
	up_buf_fini(&text);
	tear_down();
}

/* Without being told to undo, it does so when it is let go. */
static void test_stop_undoes(void)
{
	set_up();
	CHECK(!start(0) && !run_session());
	pid_t pid = up_keeper_pid(keeper);
	up_keeper_stop(keeper);
	CHECK(model_is_clean());
	CHECK(kill(pid, 0) < 0 && errno == ESRCH);
	tear_down();
}

static void check_refused(const char *lines)
{
	CHECK(up_keeper_define(keeper, lines, strlen(lines), &status) == -EINVAL);
	up_status_clear(&status);
}

/* Whatever a caller gets wrong, nothing but definitions in our own group reaches the kernel. */
static void test_refusals(void)
{
	char line[256];

	set_up();
	CHECK(!start(0));
	check_refused("p:uptick_1/a /bin/true:0x10\n");
	CHECK(!up_keeper_begin(keeper, &status) && !define("many", 2));
	unlink(model_path("LOG"));
	check_refused("");
	check_refused("\n");
	check_refused("p:other/a /bin/true:0x10\n");
	check_refused("p:task/task_newtask /bin/true:0x10\n");
	snprintf(line, sizeof(line), "-:%s\n", in_session("many"));
	check_refused(line);
	snprintf(line, sizeof(line), "p:%s /bin/true:0x10\n-:%s\n", in_session("a"),
		 in_session("many"));
	check_refused(line);
	snprintf(line, sizeof(line), "p:%s\n", in_session("a"));
	check_refused(line);
	snprintf(line, sizeof(line), "p:%s/../x /bin/true:0x10\n", in_session("a"));
	check_refused(line);
	snprintf(line, sizeof(line), "p:%s /bin/true:0x10\n", in_session(""));
	check_refused(line);
	CHECK(up_keeper_set(keeper, "events/enable", "1", NULL) == -EINVAL);
	CHECK(up_keeper_set(keeper, "set_event", "task", NULL) == -EINVAL);
	CHECK(up_keeper_set(keeper, "../other/tracing_on", "0", NULL) == -EINVAL);
	CHECK(up_keeper_set(keeper, "/etc/x", "0", NULL) == -EINVAL);
	CHECK(up_keeper_set(keeper, "tracing_on", "", NULL) == -EINVAL);
	CHECK(up_keeper_enable(keeper, "enable", NULL) == -EINVAL);
	CHECK(up_keeper_enable(keeper, "../x/y", NULL) == -EINVAL);
	CHECK(up_keeper_remove(keeper, "task/task_newtask", NULL) == -ENOENT);
	CHECK(!model_has(model_path("LOG")));
	CHECK(!up_keeper_undo(keeper, NULL, &status) && model_is_clean());
	up_keeper_stop(keeper);
	tear_down();
}

static void test_names_taken(void)
{
	char name[64];

	set_up();
	snprintf(name, sizeof(name), "uptick_%d", (int)getpid());
	mkdir(model_path("instances/%s", name), 0755);
	mkdir(model_path("events/%s_2", name), 0755);
	CHECK(!start(0) && !up_keeper_begin(keeper, &status));
	strcat(name, "_3");
	CHECK(!strcmp(up_keeper_session(keeper), name));
	CHECK(!up_keeper_undo(keeper, NULL, &status));
	/* What was there before is still there. */
	CHECK(model_has(model_path("instances/uptick_%d", (int)getpid())));
	CHECK(!model_has(model_path("instances/%s", name)));
	up_keeper_stop(keeper);
	tear_down();
}

/* Every single step of a session and of its undoing fails once. */
static void test_each_step_fails(void)
{
	struct up_buf left = { 0 };
	bool reached = true;

	for (int n = 1; reached; n++) {
		set_up();
		model.fail_at = n;
		CHECK(!start(0));
		int err = run_session();
		int undo = up_keeper_undo(keeper, &left, NULL);
		CHECK(err == 0 || err == -EIO);
		CHECK((undo == 0) == (left.len == 0));
		CHECK((err != 0) == (status.err != 0));
		up_buf_reset(&left);
		up_keeper_stop(keeper);
		CHECK(model_is_clean());
		reached = err || undo || n < 12;
		tear_down();
	}
	up_buf_fini(&left);
}

/* The kernel refuses the second line of three: those before it are there, and are undone. */
static void test_partial_definition(void)
{
	char lines[512];

	set_up();
	CHECK(!start(0) && !up_keeper_begin(keeper, &status));
	snprintf(lines, sizeof(lines),
		 "p:%s /bin/true:0x10\np:%s /missing:0x10\np:%s /bin/true:0x20\n", in_session("a"),
		 in_session("b"), in_session("c"));
	CHECK(up_keeper_define(keeper, lines, strlen(lines), &status) == -ENOENT);
	CHECK(model_has(model_path("events/%s", in_session("a"))));
	CHECK(!up_keeper_undo(keeper, NULL, NULL) && model_is_clean());
	up_keeper_stop(keeper);
	tear_down();
}

/* --- death ----------------------------------------------------------------------------------- */

/* The process that traces is killed at any moment: after a fixed number of steps, or in the middle
 * of one. */
static void test_parent_killed(int steps, int slow_at)
{
	set_up();
	model.slow_at = slow_at;
	model.slow_ms = 60;
	pid_t child = fork();
	if (child == 0) {
		if (steps)
			model.fail_at = steps;
		if (start(0) == 0) {
			if (slow_at) {
				pid_t self = getpid();
				if (fork() == 0) {
					usleep(30000);
					kill(self, SIGKILL);
					_exit(0);
				}
			}
			run_session();
		}
		raise(SIGKILL);
	}
	int ws = 0;
	waitpid(child, &ws, 0);
	CHECK(WIFSIGNALED(ws) && WTERMSIG(ws) == SIGKILL);
	CHECK(ends_clean(5000));
	tear_down();
}

/* Another child of the parent's holds a copy of the socket; the parent's death is seen all the
 * same. */
static void test_parent_killed_with_child(void)
{
	int held[2];

	set_up();
	if (pipe(held) < 0)
		abort();
	pid_t child = fork();
	if (child == 0) {
		close(held[1]);
		if (start(0) || run_session())
			_exit(1);
		if (fork() == 0) {
			char c;
			_exit(read(held[0], &c, 1) != 0);
		}
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
	CHECK(becomes_clean(5000));
	close(held[0]);
	close(held[1]);
	CHECK(ends_clean(5000));
	tear_down();
}

/* Signals that end the parent do not end the keeper. */
static void test_signals(void)
{
	static const int sent[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGTSTP, SIGUSR1 };

	set_up();
	CHECK(!start(0) && !up_keeper_begin(keeper, &status));
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++)
		kill(up_keeper_pid(keeper), sent[i]);
	CHECK(!define("many", 2));
	CHECK(getsid(up_keeper_pid(keeper)) == up_keeper_pid(keeper));
	CHECK(!up_keeper_undo(keeper, NULL, &status) && model_is_clean());
	up_keeper_stop(keeper);
	tear_down();
}

static void kill_keeper(void)
{
	struct pollfd fd = { up_keeper_fd(keeper), POLLIN, 0 };

	kill(up_keeper_pid(keeper), SIGKILL);
	CHECK(poll(&fd, 1, 1000) == 1);
}

static void test_keeper_killed(void)
{
	struct up_buf left = { 0 }, text = { 0 };

	set_up();
	CHECK(!start(0) && !run_session());
	kill_keeper();
	CHECK(!model_is_clean());
	CHECK(up_keeper_set(keeper, "tracing_on", "0", &status) == -EPIPE);
	up_status_render(&status, &text);
	CHECK(text.s && strstr(text.s, "the helper process has ended unexpectedly"));
	CHECK(!up_keeper_undo(keeper, &left, NULL));
	CHECK(left.len == 0 && model_is_clean());
	up_keeper_stop(keeper);
	up_buf_fini(&left);
	up_buf_fini(&text);
	tear_down();
}

/* Killed before it had anything, and in the middle of its first change. */
static void test_keeper_killed_early(void)
{
	set_up();
	CHECK(!start(0));
	kill_keeper();
	CHECK(up_keeper_begin(keeper, NULL) == -EPIPE);
	CHECK(!up_keeper_undo(keeper, NULL, NULL) && model_is_clean());
	up_keeper_stop(keeper);
	model.slow_at = 1;
	model.slow_ms = 100;
	CHECK(!start(0));
	pid_t killer = fork();
	if (killer == 0) {
		usleep(50000);
		kill(up_keeper_pid(keeper), SIGKILL);
		_exit(0);
	}
	CHECK(up_keeper_begin(keeper, NULL) == -EPIPE);
	waitpid(killer, NULL, 0);
	CHECK(!up_keeper_undo(keeper, NULL, NULL) && model_is_clean());
	up_keeper_stop(keeper);
	tear_down();
}

/* --- waiting --------------------------------------------------------------------------------- */

static bool has_logged(const char *text)
{
	char log[4096];

	model_get(model_path("LOG"), log, sizeof(log));
	return strstr(log, text) != NULL;
}

/* Ctrl-C during a slow step: back at once; the step still happens and is undone. */
static void test_interrupted(void)
{
	struct up_buf text = { 0 };

	set_up();
	model.slow_at = 3; /* after mkdir and trace_clock: the first definition */
	model.slow_ms = 1500;
	CHECK(!start(0));
	pid_t child = fork();
	if (child == 0) {
		while (!has_logged("uprobe_events"))
			usleep(5000);
		_exit(write(stop_pipe[1], "x", 1) != 1);
	}
	CHECK(run_session() == -EINTR);
	CHECK(!model_has(model_path("events/%s", in_session("many"))));
	waitpid(child, NULL, 0);
	up_status_render(&status, &text);
	CHECK(text.s && strstr(text.s, "interrupted"));
	CHECK(define("two", 1) == -EINTR);
	up_keeper_watch(keeper, false);
	CHECK(!up_keeper_read(keeper, "uprobe_events", (up_buf_reset(&text), &text), NULL));
	/* What was under way has happened; nothing new was begun. */
	CHECK(text.s && strstr(text.s, "many") && !strstr(text.s, "two"));
	CHECK(!up_keeper_undo(keeper, NULL, NULL) && model_is_clean());
	up_keeper_stop(keeper);
	up_buf_fini(&text);
	tear_down();
}

/* A step that does not end: told after the limit, all others refused, the end not waited for. */
static void test_hung(void)
{
	struct up_buf text = { 0 };

	set_up();
	model.slow_at = 3;
	model.slow_ms = 2000;
	CHECK(!start(100));
	int64_t begin = now_ms();
	CHECK(run_session() == -ETIMEDOUT);
	up_status_render(&status, &text);
	CHECK(text.s && strstr(text.s, "the kernel's tracing does not answer"));
	CHECK(up_keeper_set(keeper, "tracing_on", "0", NULL) == -ETIMEDOUT);
	CHECK(up_keeper_undo(keeper, NULL, NULL) == -ETIMEDOUT);
	up_keeper_stop(keeper);
	CHECK(now_ms() - begin < 1500);
	/* Should the kernel go on one day, the keeper still cleans up. */
	CHECK(ends_clean(8000));
	up_buf_fini(&text);
	tear_down();
}

/* Undoing takes long: a signal from before does not end it, one that comes after a second does. */
static void test_impatient(void)
{
	set_up();
	model.slow_at = 9; /* an early step of undoing */
	model.slow_ms = 2500;
	CHECK(!start(0) && !run_session());
	CHECK(write(stop_pipe[1], "xx", 2) == 2);
	if (fork() == 0) {
		usleep(1300000);
		_exit(write(stop_pipe[1], "x", 1) != 1);
	}
	int64_t begin = now_ms();
	CHECK(up_keeper_undo(keeper, NULL, &status) == -EINTR);
	CHECK(now_ms() - begin >= 1200 && now_ms() - begin < 2300);
	CHECK(strstr(status.hint, "goes on removing them"));
	up_keeper_stop(keeper);
	CHECK(now_ms() - begin < 2400 && !model_is_clean());
	CHECK(ends_clean(8000));
	tear_down();
}

/* --- others ---------------------------------------------------------------------------------- */

static void test_enabled_by_others(void)
{
	struct up_buf left = { 0 };

	set_up();
	CHECK(!start(0) && !run_session());
	model_put(model_path("events/%s/enable", in_session("many")), "1\n");
	model_put(model_path("instances/other/events/%s/enable", in_session("many")), "1\n");
	CHECK(!up_keeper_undo(keeper, &left, &status) && model_is_clean());
	up_keeper_stop(keeper);
	CHECK(!start(0) && !run_session());
	model_put(model_path("events/%s/stuck", in_session("many")), "");
	model_put(model_path("events/%s/enable", in_session("many")), "0*\n");
	CHECK(up_keeper_undo(keeper, &left, &status) == -EBUSY);
	CHECK(left.s && strstr(left.s, "something keeps it enabled at the top of tracefs"));
	CHECK(!model_has(model_path("CORRUPT")));
	unlink(model_path("events/%s/stuck", in_session("many")));
	up_keeper_stop(keeper);
	CHECK(model_is_clean());
	up_buf_fini(&left);
	tear_down();
}

static void test_perf_first(void)
{
	set_up();
	CHECK(!start(0) && !up_keeper_begin(keeper, &status) && !define("many", 2));
	model_put(model_path("events/%s/perf", in_session("many")), "");
	CHECK(up_keeper_enable(keeper, in_session("many"), &status) == -EBUSY);
	CHECK(up_keeper_undo(keeper, NULL, NULL) == -EBUSY);
	CHECK(!model_has(model_path("CORRUPT")));
	CHECK(model_has(model_path("events/%s", in_session("many"))));
	up_keeper_stop(keeper);
	CHECK(!model_has(model_path("CORRUPT")));
	tear_down();
}

/* What two dead sessions left; one of a living one, which somebody reads, is not touched. */
static void test_clean(void)
{
	struct up_keeper_opts o = { .fs = &model.fs, .stop_fd = -1, .busy_ms = 40 };
	struct up_buf left = { 0 };
	char name[UP_SESSION_NAME_MAX];

	set_up();
	CHECK(!start(0) && !run_session());
	snprintf(name, sizeof(name), "%s", up_keeper_session(keeper));
	model_put(model_path("instances/%s/busy", name), "");
	CHECK(up_keeper_clean(&o, name, &left, &status) == -EBUSY);
	up_status_clear(&status);
	CHECK(model_is_enabled(model_path("instances/%s/events/%s", name, in_session("many"))));
	unlink(model_path("instances/%s/busy", name));
	CHECK(!up_keeper_clean(&o, name, &left, &status));
	CHECK(left.len == 0 && model_is_clean());
	CHECK(up_keeper_clean(&o, "other", &left, &status) == -EINVAL);
	CHECK(!up_keeper_undo(keeper, NULL, NULL));
	up_keeper_stop(keeper);
	up_buf_fini(&left);
	tear_down();
}

int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	test_session();
	test_stop_undoes();
	test_refusals();
	test_names_taken();
	test_each_step_fails();
	test_partial_definition();
	for (int n = 0; n < 12; n++)
		test_parent_killed(n, 0);
	for (int n = 1; n < 8; n++)
		test_parent_killed(0, n);
	test_parent_killed_with_child();
	test_signals();
	test_keeper_killed();
	test_keeper_killed_early();
	test_interrupted();
	test_hung();
	test_impatient();
	test_enabled_by_others();
	test_perf_first();
	test_clean();
	return unit_report("keeper");
}
