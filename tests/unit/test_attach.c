/*
 * Attachments in the real kernel: exact counts and layouts, several at a time, errors, and that
 * nothing is left whichever way they end. Ends with 77 where tracefs cannot be used.
 *
 * The functions probed are this program's own, called in child processes.
 */
#include "runtime/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/ringpage.h"
#include "tests/unit/attach_plan.h"
#include "tests/unit/unit.h"

#define SKIPPED 77

/* --- reading back ---------------------------------------------------------------------------- */

static struct up_status status;

/* What was recorded. */
struct seen {
	unsigned hits[5];     /* of each site */
	int64_t sum[5];       /* of the number recorded there */
	unsigned texts;       /* entries whose string was right */
	unsigned faults;      /* entries whose string could not be read */
	unsigned born, ended; /* life-cycle events */
	unsigned strange;     /* records that make no sense */
	pid_t last_born;
};

static uint64_t load(const unsigned char *rec, struct up_field f)
{
	uint64_t v = 0;

	memcpy(&v, rec + f.off, f.size);
	return v;
}

static void see_probe(const struct up_attach *a, const struct up_record_event *e,
		      const unsigned char *rec, struct seen *seen)
{
	static const char *const texts[] = { "uno", "due" };
	uint32_t site = e->site == UP_NONE ? (uint32_t)load(rec, e->site_field) : e->site;

	if (site >= 5 || a->plan->sites[site].event != e->event) {
		seen->strange++;
		return;
	}
	seen->hits[site]++;
	seen->sum[site] += (int32_t)load(rec, e->args[0]);
	if (e->event == 0) {
		uint32_t loc = (uint32_t)load(rec, e->args[1]);

		seen->faults += loc >> 16 == 0;
		seen->texts += loc >> 16 == 4 && site < 2 &&
			       !strcmp((const char *)rec + (loc & 0xffff), texts[site]);
		seen->strange += load(rec, e->args[2]) == 0;
	}
}

static void see_record(const struct up_attach *a, const unsigned char *rec, uint32_t len,
		       struct seen *seen)
{
	uint16_t id;

	memcpy(&id, rec, 2);
	const struct up_record_event *e = up_records_find(&a->records, id);
	if (!e || e->fixed_size > len || load(rec, e->tid) == 0) {
		seen->strange++;
	} else if (e->kind == UP_EVENT_NEWTASK) {
		seen->born++;
		seen->last_born = (pid_t)load(rec, e->task);
	} else if (e->kind == UP_EVENT_EXIT) {
		seen->ended++;
	} else {
		see_probe(a, e, rec, seen);
	}
}

static void see_page(const struct up_attach *a, const void *page, struct seen *seen)
{
	struct up_ringpage p;
	const void *rec;
	uint32_t len;
	uint64_t ts;

	CHECK(up_ringpage_init(&p, page, a->subbuf_size, a->commit_size));
	while (up_ringpage_next(&p, &rec, &len, &ts))
		see_record(a, rec, len, seen);
	CHECK(!p.corrupt && !p.lost && !p.lost_unknown);
}

static struct seen read_all(const struct up_attach *a)
{
	struct seen seen = { .strange = 0 };
	unsigned char *page = malloc(a->subbuf_size);
	char path[600];

	for (unsigned i = 0; i < a->nr_cpus; i++) {
		snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", a->instance_path,
			 a->cpus[i]);
		int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		while (fd >= 0 && read(fd, page, a->subbuf_size) == (ssize_t)a->subbuf_size)
			see_page(a, page, &seen);
		close(fd);
	}
	free(page);
	return seen;
}

/* Is anything in tracefs whose name holds this process's or the given process's number? */
static bool is_clean(const struct up_tracefs *fs, pid_t pid)
{
	struct up_buf text = { 0 };
	char name[64], path[128];

	snprintf(name, sizeof(name), "uptick_%d", (int)pid);
	snprintf(path, sizeof(path), "instances/%s", name);
	bool clean = !up_tracefs_exists(fs, path);
	snprintf(path, sizeof(path), "events/%s", name);
	clean = clean && !up_tracefs_exists(fs, path);
	clean = clean && !up_tracefs_read(fs, "uprobe_events", &text) &&
		!(text.s && strstr(text.s, name));
	up_buf_fini(&text);
	return clean;
}

static struct up_tracefs tracefs;

static bool becomes_clean(pid_t pid, int limit_ms)
{
	bool clean;

	while (!(clean = is_clean(&tracefs, pid)) && limit_ms > 0) {
		usleep(10000);
		limit_ms -= 10;
	}
	return clean;
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void say_status(void)
{
	struct up_buf b = { 0 };

	up_status_render(&status, &b);
	if (b.len)
		fprintf(stderr, "  %s\n", b.s);
	up_buf_fini(&b);
}

static struct up_attach *open_attach(struct up_attach_opts o)
{
	struct up_attach *a = NULL;

	if (!o.stop_fd)
		o.stop_fd = -1;
	up_status_clear(&status);
	CHECK(!up_attach_open(&plan, &o, &a, &status));
	say_status();
	return a;
}

static void close_attach(struct up_attach *a)
{
	struct up_buf left = { 0 };

	CHECK(!up_attach_close(a, &left, &status));
	say_status();
	CHECK(left.len == 0);
	up_buf_fini(&left);
	CHECK(is_clean(&tracefs, getpid()));
}

/* Callers of all functions: how many there were. */
static void check_seen(const struct seen *s, unsigned times)
{
	CHECK(s->strange == 0);
	CHECK(s->hits[0] == 3 * times && s->hits[1] == 5 * times && s->hits[2] == 7 * times);
	CHECK(s->hits[3] == 3 * times && s->hits[4] == 7 * times);
	CHECK(s->sum[0] == 3 * times && s->sum[1] == 10 * times && s->sum[2] == 21 * times);
	CHECK(s->sum[3] == 6 * times && s->sum[4] == 42 * times);
	CHECK(s->texts == 8 * times && s->faults == 7 * times);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_counts(struct up_attach_opts o)
{
	int64_t t[6];

	t[0] = now_us();
	struct up_attach *a = open_attach(o);
	t[1] = now_us();
	if (!a)
		return;
	CHECK(a->one_event_per_site == o.one_event_per_site);
	CHECK(a->records.nr == (o.one_event_per_site ? 5 : 2) + (o.lifecycle ? 2u : 0));
	struct caller before = start_caller(false), during = start_caller(false),
		      after = start_caller(false);
	let_call(before);
	t[2] = now_us();
	CHECK(!up_attach_arm(a, &status));
	t[3] = now_us();
	say_status();
	let_call(during);
	CHECK(!up_attach_stop(a, &status));
	let_call(after);
	struct seen seen = read_all(a);
	check_seen(&seen, 1);
	CHECK((seen.ended > 0) == o.lifecycle);
	t[4] = now_us();
	close_attach(a);
	t[5] = now_us();
	printf("%u events: open %.1f ms, arm %.1f ms, close %.1f ms\n",
	       o.one_event_per_site ? 5u : 2u, (double)(t[1] - t[0]) / 1e3,
	       (double)(t[3] - t[2]) / 1e3, (double)(t[5] - t[4]) / 1e3);
}

/* Never armed, and armed but never hit. */
static void test_unused(void)
{
	close_attach(open_attach((struct up_attach_opts){ .lifecycle = true }));
	struct up_attach *a = open_attach((struct up_attach_opts){ .lifecycle = true });
	CHECK(!up_attach_arm(a, &status));
	close_attach(a);
}

/*
 * The kernel judges a condition for one or all sites of an event; one that it does not understand
 * is no failure.
 */
static void test_filter(const char *filter, bool one_event_per_site)
{
	bool is_taken = strncmp(filter, "nothing", 7) != 0;
	struct up_attach_opts o = { .one_event_per_site = one_event_per_site };
	struct up_hit_count n = { 0 };
	uint64_t slack = 0;

	progs[1].filter = filter;
	sites[1].prog = 1;
	struct up_attach *a = open_attach(o);
	struct caller c = start_caller(false);
	CHECK(!up_attach_arm(a, &status));
	CHECK(a->nr_filters == is_taken && a->nr_refused == !is_taken);
	let_call(c);
	CHECK(!up_attach_stop(a, &status));
	struct seen seen = read_all(a);
	CHECK(seen.strange == 0 && seen.hits[0] == 3 && seen.hits[2] == 7 && seen.hits[3] == 3);
	CHECK(seen.hits[1] == (is_taken ? 2u : 5u) && seen.sum[1] == (is_taken ? 3 + 4 : 10));
	/* The sites' own counts are those of calls, whatever was recorded. */
	CHECK(up_attach_hits(a, &n, &slack) && n.entries == 15 && slack == 0);
	close_attach(a);
	sites[1].prog = 0;
}

static void test_processes(bool follow)
{
	struct caller mine = start_caller(true), other = start_caller(false);
	struct up_attach *a =
		open_attach((struct up_attach_opts){ .follow = follow, .lifecycle = true });

	CHECK(!up_attach_add_process(a, mine.pid, &status));
	CHECK(a->nr_tids == 1 && a->tids[0] == mine.pid);
	CHECK(!up_attach_arm(a, &status));
	let_call(other);
	let_call(mine);
	CHECK(!up_attach_stop(a, &status));
	struct seen seen = read_all(a);
	check_seen(&seen, follow ? 2 : 1);
	CHECK(seen.born == 1 && seen.last_born > 0 && seen.last_born != mine.pid);
	CHECK(seen.ended == (follow ? 2 : 1));
	CHECK(up_attach_add_process(a, mine.pid, &status) == -ESRCH);
	up_status_clear(&status);
	close_attach(a);
}

static void test_skip_self(void)
{
	struct up_attach *a = open_attach((struct up_attach_opts){ .skip_self = true });
	struct caller c = start_caller(false);

	CHECK(!up_attach_arm(a, &status));
	call_probed();
	let_call(c);
	CHECK(!up_attach_stop(a, &status));
	struct seen seen = read_all(a);
	check_seen(&seen, 1);
	close_attach(a);
}

/* Two at a time on the same functions: each sees every hit, and the end of one leaves the other be.
 */
static void test_two(void)
{
	struct up_attach *a = open_attach((struct up_attach_opts){ .lifecycle = false });
	struct up_attach *b = open_attach((struct up_attach_opts){ .one_event_per_site = true });
	struct caller first = start_caller(false), second = start_caller(false);

	CHECK(strcmp(a->session, b->session) != 0);
	CHECK(!up_attach_arm(a, &status) && !up_attach_arm(b, &status));
	let_call(first);
	CHECK(!up_attach_stop(a, &status));
	struct seen seen = read_all(a);
	check_seen(&seen, 1);
	CHECK(!up_attach_close(a, NULL, &status));
	let_call(second);
	CHECK(!up_attach_stop(b, &status));
	seen = read_all(b);
	check_seen(&seen, 2);
	close_attach(b);
}

/* Killed while armed: a second later nothing is left. */
static void test_killed(bool one_event_per_site)
{
	pid_t child = fork();

	if (child == 0) {
		struct up_attach *a = open_attach((struct up_attach_opts){
			.one_event_per_site = one_event_per_site, .lifecycle = true });
		if (a && !up_attach_arm(a, &status))
			raise(SIGKILL);
		_exit(1);
	}
	int ws = 0;
	waitpid(child, &ws, 0);
	CHECK(WIFSIGNALED(ws) && WTERMSIG(ws) == SIGKILL);
	CHECK(becomes_clean(child, 2000));
	/* Its keeper has become a child of ours, and ends. */
	CHECK(waitpid(-1, NULL, 0) > 0 && is_clean(&tracefs, child));
}

static void test_keeper_killed(void)
{
	struct up_attach *a = open_attach((struct up_attach_opts){ .lifecycle = true });
	struct pollfd fd = { up_attach_fd(a), POLLIN, 0 };

	CHECK(!up_attach_arm(a, &status));
	CHECK(poll(&fd, 1, 0) == 0);
	kill(up_keeper_pid(a->keeper), SIGKILL);
	CHECK(poll(&fd, 1, 2000) == 1);
	CHECK(up_attach_stop(a, NULL) == -EPIPE);
	close_attach(a);
}

/* Both killed: `clean` finds and removes it. */
static void test_orphan(void)
{
	struct up_keeper_opts ko = { .fs = &tracefs, .stop_fd = -1 };
	struct up_buf left = { 0 };
	char name[64];
	int report[2];
	pid_t keeper;

	if (pipe(report) < 0)
		abort();
	pid_t child = fork();
	if (child == 0) {
		struct up_attach *a = open_attach((struct up_attach_opts){ .lifecycle = true });
		if (up_attach_arm(a, &status))
			_exit(1);
		keeper = up_keeper_pid(a->keeper);
		if (write(report[1], &keeper, sizeof(keeper)) < 0)
			_exit(1);
		kill(keeper, SIGSTOP);
		kill(keeper, SIGKILL);
		raise(SIGKILL);
	}
	CHECK(read(report[0], &keeper, sizeof(keeper)) == sizeof(keeper));
	waitpid(child, NULL, 0);
	CHECK(!is_clean(&tracefs, child));
	snprintf(name, sizeof(name), "uptick_%d", (int)child);
	CHECK(!up_keeper_clean(&ko, name, &left, &status));
	say_status();
	CHECK(left.len == 0 && is_clean(&tracefs, child));
	up_buf_fini(&left);
	close(report[0]);
	close(report[1]);
}

/* Somebody enables our events at the top, in an instance of his own, or hangs triggers on them. */
static void test_enabled_by_others(void)
{
	struct up_attach *a = open_attach((struct up_attach_opts){ .lifecycle = false });
	struct caller c = start_caller(false);
	struct up_buf text = { 0 };
	char path[256];

	CHECK(!up_attach_arm(a, &status));
	snprintf(path, sizeof(path), "events/%s/enable", a->session);
	CHECK(!up_tracefs_write(&tracefs, path, "1", 1));
	CHECK(!up_tracefs_mkdir(&tracefs, "instances/uptick_other"));
	snprintf(path, sizeof(path), "instances/uptick_other/events/%s/entry/enable", a->session);
	CHECK(!up_tracefs_write(&tracefs, path, "1", 1));
	snprintf(path, sizeof(path), "instances/uptick_other/events/%s/leave/trigger", a->session);
	CHECK(!up_tracefs_append(&tracefs, path, "traceoff:5", 10));
	CHECK(!up_tracefs_append(&tracefs, path, "stacktrace", 10));
	if (up_tracefs_append(&tracefs, path, "hist:keys=common_pid:vals=hitcount", 34))
		printf("no histogram triggers in this kernel\n");
	snprintf(path, sizeof(path), "instances/uptick_other/events/%s/leave/enable", a->session);
	CHECK(!up_tracefs_read(&tracefs, path, &text) && !strcmp(text.s, "0*\n"));
	let_call(c);
	close_attach(a);
	CHECK(!up_tracefs_rmdir(&tracefs, "instances/uptick_other"));
	up_buf_fini(&text);
}

static int open_perf(const char *session, const char *event)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	struct up_buf text = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "events/%s/%s/id", session, event);
	up_tracefs_read(&tracefs, path, &text);
	attr.config = strtoul(text.s, NULL, 10);
	up_buf_fini(&text);
	int fd = (int)syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Perf takes our event before we arm it: we fail, and leave the event; later it can be cleaned. */
static void test_perf(void)
{
	struct up_keeper_opts ko = { .fs = &tracefs, .stop_fd = -1, .busy_ms = 200 };
	struct up_attach *a = open_attach((struct up_attach_opts){ .lifecycle = false });
	struct up_buf left = { 0 };
	char name[UP_SESSION_NAME_MAX];

	snprintf(name, sizeof(name), "%s", a->session);
	int fd = open_perf(name, "entry");
	if (fd < 0) {
		printf("no perf events here: %s\n", strerror(-fd));
		close_attach(a);
		return;
	}
	CHECK(up_attach_arm(a, &status) == -EBUSY);
	CHECK(up_attach_close(a, &left, NULL) == -EBUSY);
	CHECK(left.s && strstr(left.s, "/entry is left: perf, or a program like it, uses it"));
	up_buf_reset(&left);
	up_status_clear(&status);
	CHECK(up_keeper_clean(&ko, name, &left, NULL) == -EBUSY);
	close(fd);
	up_buf_reset(&left);
	CHECK(!up_keeper_clean(&ko, name, &left, &status));
	say_status();
	CHECK(is_clean(&tracefs, getpid()));
	up_buf_fini(&left);
}

/* While we have it armed, perf is refused. */
static void test_perf_second(void)
{
	struct up_attach *a = open_attach((struct up_attach_opts){ .lifecycle = false });

	CHECK(!up_attach_arm(a, &status));
	CHECK(open_perf(a->session, "entry") < 0);
	close_attach(a);
}

/* --- errors ---------------------------------------------------------------------------------- */

static void expect_status(const char *what, uint32_t span)
{
	struct up_buf b = { 0 };

	up_status_render(&status, &b);
	CHECK(b.s && strstr(b.s, what));
	if (!b.s || !strstr(b.s, what))
		fprintf(stderr, "  got: %s\n", b.s);
	CHECK(status.has_span && status.span.off == span);
	up_buf_fini(&b);
}

static void expect_open_fails(int err, const char *what, uint32_t span)
{
	struct up_attach_opts o = { .stop_fd = -1 };
	struct up_attach *a = NULL;

	up_status_clear(&status);
	CHECK(up_attach_open(&plan, &o, &a, &status) == err);
	CHECK(!a);
	expect_status(what, span);
	CHECK(is_clean(&tracefs, getpid()));
}

static void test_bad_definitions(void)
{
	struct up_plan_arg old_arg = return_args[0], old_entry = entry_args[0];
	struct up_plan_site old_site = sites[1];
	char long_fetch[5000];

	return_args[0].fetch = "%foo";
	expect_open_fails(
		-EINVAL,
		"the kernel refuses r=%foo:s32 of the probe on probed_one: Invalid register name",
		7);
	return_args[0] = old_arg;
	entry_args[0].type = "foo";
	expect_open_fails(-EINVAL,
			  "the kernel refuses a=%di:foo of the probe on probed_one: Unknown type",
			  1);
	entry_args[0] = old_entry;
	sites[1].path = "/nonexistent/file";
	expect_open_fails(-ENOENT,
			  "the kernel refuses the probe on probed_two of /nonexistent/file", 11);
	expect_status("Failed to find the given file", 11);
	sites[1].path = "/nonexistent/a file";
	expect_open_fails(-ENOENT, "cannot define the probe on probed_two of /nonexistent/a file",
			  11);
	sites[1] = old_site;
	memset(long_fetch, ' ', sizeof(long_fetch));
	long_fetch[sizeof(long_fetch) - 1] = 0;
	entry_args[0].fetch = long_fetch;
	expect_open_fails(-E2BIG, "its definition is longer than", 10);
	entry_args[0] = old_entry;
	entry_args[2].size = 4;
	expect_open_fails(-EPROTO, "the kernel records sp of entry in another way", 5);
	entry_args[2].size = 8;
}

/* One site of many holds an instruction that cannot be probed: it is found and named. */
static void test_bad_site(bool one_event_per_site)
{
	struct up_plan_site old = sites[1];
	struct up_attach *a;

#if !defined(__x86_64__)
	return;
#endif
	sites[1].offset = offset_of((const void *)unprobeable);
	sites[1].func = "unprobeable";
	a = open_attach((struct up_attach_opts){ .one_event_per_site = one_event_per_site });
	CHECK(up_attach_arm(a, &status) != 0);
	expect_status("cannot arm the probe on unprobeable of", 11);
	expect_status("the kernel cannot probe an instruction there", 11);
	up_status_clear(&status);
	close_attach(a);
	/* Behind the end of the file. */
	sites[1].offset = 1u << 30;
	a = open_attach((struct up_attach_opts){ .one_event_per_site = one_event_per_site });
	CHECK(up_attach_arm(a, &status) == -EINVAL);
	expect_status("cannot arm the probe on unprobeable of", 11);
	up_status_clear(&status);
	close_attach(a);
	sites[1] = old;
}

static void test_stopped(void)
{
	struct up_attach_opts o = { .lifecycle = true };
	struct up_attach *a = NULL;
	int stop[2];

	if (pipe2(stop, O_CLOEXEC) < 0)
		abort();
	o.stop_fd = stop[0];
	CHECK(!up_attach_open(&plan, &o, &a, &status));
	CHECK(write(stop[1], "x", 1) == 1);
	CHECK(up_attach_arm(a, &status) == -EINTR);
	up_status_clear(&status);
	close_attach(a);
	CHECK(up_attach_open(&plan, &o, &a, &status) == -EINTR);
	CHECK(becomes_clean(getpid(), 2000));
	close(stop[0]);
	close(stop[1]);
}

/* --- every step fails once ------------------------------------------------------------------- */

static int step_nr, fail_at;

static int fail_step(void)
{
	return ++step_nr == fail_at ? -EIO : 0;
}

static int failing_write(void *arg, const char *path, const char *data, size_t len, bool append)
{
	return fail_step() ? -EIO : up_tracefs_real_ops.write(arg, path, data, len, append);
}

static int failing_mkdir(void *arg, const char *path)
{
	return fail_step() ? -EIO : up_tracefs_real_ops.mkdir(arg, path);
}

static int failing_rmdir(void *arg, const char *path)
{
	return fail_step() ? -EIO : up_tracefs_real_ops.rmdir(arg, path);
}

static void test_each_step_fails(void)
{
	struct up_tracefs_ops ops = up_tracefs_real_ops;
	struct up_attach_opts o = { .stop_fd = -1, .lifecycle = true, .ops = &ops };
	unsigned failed = 0;

	ops.write = failing_write;
	ops.mkdir = failing_mkdir;
	ops.rmdir = failing_rmdir;

	/* The numbers are counted in the keeper; 30 is more than a session and its undoing take. */
	for (fail_at = 1; fail_at < 30; fail_at++) {
		struct up_attach *a = NULL;
		struct up_buf left = { 0 };

		up_status_clear(&status);
		int err = up_attach_open(&plan, &o, &a, &status);
		if (!err)
			err = up_attach_arm(a, &status);
		CHECK(err == 0 || err == -EIO);
		int undo = up_attach_close(a, &left, NULL);
		CHECK((undo == 0) == (left.len == 0));
		failed += err || undo;
		CHECK(becomes_clean(getpid(), 2000));
		up_buf_fini(&left);
	}
	CHECK(failed > 8 && failed < 29);
	fail_at = 0;
}

/* --- sites that come later ------------------------------------------------------------------- */

static unsigned count_lines(const struct up_attach *a)
{
	struct up_buf b = { 0 };
	unsigned nr = 0;

	CHECK(!up_tracefs_read(&tracefs, "uprobe_events", &b));
	for (const char *s = b.s; s && (s = strstr(s, a->session)); s++)
		nr++;
	up_buf_fini(&b);
	return nr;
}

/*
 * What fails before anything is armed leaves nothing enabled, can be tried again, and costs none of
 * the hits that were not read yet.
 */
static void test_grow(bool one_event_per_site, uint32_t other_event)
{
	struct up_attach_opts o = { .one_event_per_site = one_event_per_site };
	bool is_removed = one_event_per_site || other_event != 0;
	struct up_plan_site more[7];
	bool has_begun;

	memcpy(more, sites, sizeof(sites));
	more[5] = sites[1];
	more[5].event = other_event;
	more[6] = sites[1];
	struct up_attach *a = open_attach(o);
	if (!a)
		return;
	CHECK(!up_attach_arm(a, &status));
	let_call(start_caller(false));
	unsigned lines = count_lines(a);
	uint32_t nr_events = a->records.nr;
	plan.sites = more;
	plan.nr_sites = 7;
	more[5].id.ino = 1; /* another file than was read */
	CHECK(up_attach_grow(a, 5, &has_begun, &status) == -ESTALE && !has_begun);
	CHECK(a->records.nr == nr_events && count_lines(a) == lines);
	more[5].id.ino = 0;
	more[6].path = "/nonexistent";
	up_status_clear(&status);
	CHECK(up_attach_grow(a, 5, &has_begun, &status) == -ENOENT && !has_begun);
	CHECK(a->records.nr == nr_events && count_lines(a) == lines + !is_removed);
	lines += !is_removed;
	more[6].path = sites[1].path;
	up_status_clear(&status);
	CHECK(!up_attach_grow(a, 5, &has_begun, &status) && has_begun);
	say_status();
	CHECK(a->records.nr == nr_events + (is_removed ? 2 : 1) && count_lines(a) == lines + 2);
	CHECK(!up_attach_stop(a, &status));
	struct seen seen = read_all(a);
	CHECK(seen.hits[0] == 3 && seen.hits[1] == 5 && seen.hits[2] == 7);
	close_attach(a);
	plan.sites = sites;
	plan.nr_sites = 5;
}

/* A path that a definition cannot carry. */
static void test_path_with_space(void)
{
	char dir[] = "/tmp/uptick test.XXXXXX", path[128], command[1200];
	struct up_plan_site old[5];

	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/a #b", dir);
	snprintf(command, sizeof(command), "cp '%s' '%s'", own_path, path);
	CHECK(system(command) == 0);
	memcpy(old, sites, sizeof(old));
	for (int i = 0; i < 5; i++)
		if (i != 1)
			sites[i].path = path;
	struct up_attach *a = open_attach((struct up_attach_opts){ .lifecycle = false });
	if (a) {
		CHECK(!up_attach_arm(a, &status));
		snprintf(command, sizeof(command), "'%s' --call", path);
		CHECK(system(command) == 0);
		CHECK(!up_attach_stop(a, &status));
		struct seen seen = read_all(a);
		CHECK(seen.hits[0] == 3 && seen.hits[1] == 0 && seen.hits[2] == 7 &&
		      seen.strange == 0);
		close_attach(a);
	}
	memcpy(sites, old, sizeof(old));
	unlink(path);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--call")) {
		call_probed();
		return 0;
	}
	if (up_tracefs_find(&tracefs, NULL, &status)) {
		struct up_buf b = { 0 };

		up_status_render(&status, &b);
		printf("%s\n", b.s);
		up_buf_fini(&b);
		return SKIPPED;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	make_plan();
	test_counts((struct up_attach_opts){ .lifecycle = false });
	test_counts((struct up_attach_opts){
		.lifecycle = true, .keep_oldest = true, .buffer_size = 1 << 20 });
	test_counts((struct up_attach_opts){ .one_event_per_site = true, .lifecycle = true });
	test_unused();
	test_filter("a > 2", false);
	test_filter("a > 2 && !(a & 16)", true);
	test_filter("nothing > 2", false);
	test_processes(false);
	test_processes(true);
	test_skip_self();
	test_two();
	test_grow(false, 1);
	test_grow(false, 0);
	test_grow(true, 1);
	test_path_with_space();
	test_bad_definitions();
	test_stopped();
	test_killed(false);
	test_killed(true);
	test_keeper_killed();
	test_orphan();
	test_bad_site(false);
	test_bad_site(true);
	test_enabled_by_others();
	test_perf();
	test_perf_second();
	test_each_step_fails();
	return unit_report("attach");
}
