/* The doctor's findings, the time limit on helpers, and removing leftovers, on a model of tracefs.
 */
#include "runtime/doctor.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/leftovers.h"
#include "runtime/timed.h"
#include "tests/unit/model_tracefs.h"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool becomes_clean(int limit_ms)
{
	int64_t deadline = now_ms() + limit_ms;

	while (!model_is_clean() && now_ms() < deadline)
		usleep(2000);
	return model_is_clean();
}

/* ---- helpers with a time limit ---- */

static int answer(void *arg, struct up_buf *out)
{
	up_buf_printf(out, "%s%0100000d", (const char *)arg, 7);
	return -EXDEV;
}

static int be_late(void *arg, struct up_buf *out)
{
	(void)arg, (void)out;
	sleep(10);
	return 0;
}

static int die(void *arg, struct up_buf *out)
{
	(void)arg, (void)out;
	_exit(3);
}

static void test_timed(void)
{
	struct up_buf b = { 0 };
	int64_t start;

	CHECK(up_timed_call(answer, (void *)"x", 5000, &b) == -EXDEV);
	CHECK(b.len == 100001 && b.s[0] == 'x' && b.s[b.len - 1] == '7');
	up_buf_reset(&b);
	start = now_ms();
	CHECK(up_timed_call(be_late, NULL, 50, &b) == -ETIMEDOUT);
	CHECK(now_ms() - start < 5000);
	CHECK(up_timed_call(die, NULL, 5000, &b) == -EPIPE);
	CHECK(b.len == 0);
	up_buf_fini(&b);
}

/* ---- the doctor ---- */

static const struct up_finding *finding(const struct up_doctor *d, const char *what)
{
	for (unsigned i = 0; i < d->nr; i++)
		if (!strcmp(d->v[i].what, what))
			return &d->v[i];
	return NULL;
}

static bool has(const struct up_doctor *d, const char *what, enum up_verdict v, const char *text)
{
	const struct up_finding *f = finding(d, what);

	return f && f->verdict == v && f->text && strstr(f->text, text);
}

static struct up_doctor_opts options(void)
{
	return (struct up_doctor_opts){ .tracefs = model.fs.root,
					.ops = &model_ops,
					.stop_fd = -1,
					.proc_sys_kernel = model.fs.root,
					.lockdown = model_path("lockdown") };
}

/* The model has no buffers, so the try fails, and all is put back all the same. */
static void test_poor_kernel(void)
{
	struct up_doctor d;

	model_init();
	model_put(model_path("lockdown"), "none [integrity] confidentiality\n");
	struct up_doctor_opts o = options();
	up_doctor_run(&o, &d);
	CHECK(!d.works && d.us_per_hit == 0);
	CHECK(has(&d, "lockdown", UP_VERDICT_OK, "integrity"));
	CHECK(has(&d, "sysctl", UP_VERDICT_OK, ""));
	CHECK(has(&d, "tracefs", UP_VERDICT_OK, model.fs.root));
	CHECK(has(&d, "instances", UP_VERDICT_OK, ""));
	CHECK(has(&d, "trace clock", UP_VERDICT_OK, "mono"));
	CHECK(has(&d, "sub-buffers", UP_VERDICT_WARN, "6.8"));
	CHECK(has(&d, "event-fork", UP_VERDICT_MISSING, "children"));
	CHECK(has(&d, "set_event_pid", UP_VERDICT_MISSING, "process"));
	CHECK(has(&d, "many sites", UP_VERDICT_OK, ""));
	CHECK(has(&d, "probes", UP_VERDICT_MISSING, "header_page"));
	CHECK(has(&d, "clean-up", UP_VERDICT_OK, ""));
	CHECK(has(&d, "leftovers", UP_VERDICT_OK, "none"));
	CHECK(model_is_clean());
	up_doctor_fini(&d);
	model_fini();
}

static void test_settings(void)
{
	struct up_doctor d;

	model_init();
	model_put(model_path("lockdown"), "none integrity [confidentiality]\n");
	model_put(model_path("traceoff_on_warning"), "1\n");
	model_put(model_path("panic_on_warn"), "1\n");
	model_mkdir(NULL, model_path("instances/uptick_1073741823"));
	struct up_doctor_opts o = options();
	up_doctor_run(&o, &d);
	CHECK(has(&d, "lockdown", UP_VERDICT_MISSING, "confidentiality"));
	CHECK(has(&d, "sysctl", UP_VERDICT_WARN, "traceoff_on_warning"));
	CHECK(has(&d, "leftovers", UP_VERDICT_WARN, "1 run of uptick"));
	CHECK(model_has(model_path("instances/uptick_1073741823")));
	up_doctor_fini(&d);
	unlink(model_path("uprobe_events"));
	model_put(model_path("README"), "");
	up_doctor_run(&o, &d);
	CHECK(has(&d, "uprobe events", UP_VERDICT_MISSING, "CONFIG_UPROBE_EVENTS"));
	CHECK(has(&d, "the rest", UP_VERDICT_UNTRIED, ""));
	up_doctor_fini(&d);
	model_fini();
}

static void test_hang(void)
{
	struct up_doctor d;

	for (int at = 1; at <= 6; at += 5) {
		model_init();
		struct up_doctor_opts o = options();
		o.limit_ms = 300;
		model.slow_at = at;
		model.slow_ms = 2500;
		int64_t start = now_ms();
		up_doctor_run(&o, &d);
		CHECK(now_ms() - start < 2400);
		CHECK(!d.works && d.v[d.nr - 1].verdict == UP_VERDICT_MISSING);
		CHECK(d.v[d.nr - 1].text && strstr(d.v[d.nr - 1].text, "does not answer"));
		up_doctor_fini(&d);
		CHECK(becomes_clean(10000));
		model_fini();
	}
}

static void test_rendering(void)
{
	struct up_doctor d = { .nr = 0 };
	struct up_buf b = { 0 };

	up_doctor_add(&d, "user", UP_VERDICT_OK, "a \"%s\"\033", "x");
	up_doctor_add(&d, "more", UP_VERDICT_UNTRIED, "n");
	up_doctor_text(&d, &b);
	CHECK_BUF(&b, "ok       user: a \"x\"\\e\nuntried  more: n\n");
	d.works = true;
	d.us_per_hit = 2.5;
	up_doctor_json(&d, &b);
	CHECK_BUF(&b,
		  "{\"type\":\"check\",\"what\":\"user\",\"verdict\":\"ok\",\"text\":\"a "
		  "\\\"x\\\"\\u001b\"}\n"
		  "{\"type\":\"check\",\"what\":\"more\",\"verdict\":\"untried\",\"text\":\"n\"}\n"
		  "{\"type\":\"doctor\",\"works\":true,\"us_per_hit\":2.500}\n");
	for (int i = 0; i < 100; i++)
		up_doctor_add(&d, "many", UP_VERDICT_WARN, "%d", i);
	CHECK(d.nr == UP_DOCTOR_MAX);
	up_doctor_fini(&d);
	up_buf_fini(&b);
}

/* ---- leftovers ---- */

static char cleaned[256];

static void note(void *arg, const struct up_leftover *l, int err, const char *left)
{
	(void)arg;
	snprintf(cleaned + strlen(cleaned), sizeof(cleaned) - strlen(cleaned), "%s %d %u %s;",
		 l->session.name, err, l->session.nr_events, left);
}

/* The number of a process that has ended. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/* A session with an event of two sites that is enabled in its instance. */
static void leave_behind(pid_t pid, const char *instance)
{
	char lines[256];
	int len = snprintf(
		lines, sizeof(lines),
		"p:uptick_%d/e /bin/true:0x10 n=\\0:u32\np:uptick_%d/e /bin/true:0x20 n=\\1:u32\n",
		(int)pid, (int)pid);

	model_mkdir(NULL, model_path("instances/%s", instance));
	model_define(lines, (size_t)len);
	model_put(model_path("instances/%s/events/uptick_%d/e/enable", instance, (int)pid), "1\n");
}

static enum up_owner owner_of(const char *name)
{
	struct up_buf list = { 0 };
	struct up_leftover l;
	enum up_owner owner = (enum up_owner) - 1;

	CHECK(!up_leftovers_list(&model.fs, 2000, &list));
	for (size_t at = 0; at + sizeof(l) <= list.len; at += sizeof(l)) {
		memcpy(&l, list.s + at, sizeof(l));
		if (!strcmp(l.session.name, name))
			owner = l.owner;
	}
	up_buf_fini(&list);
	return owner;
}

static void test_clean(void)
{
	struct up_clean_opts o = { .stop_fd = -1, .limit_ms = 5000, .fn = note };
	struct up_status st = { 0 };
	char name[40], living[40], want[64];
	pid_t pid = dead_pid();

	model_init();
	snprintf(name, sizeof(name), "uptick_%d", (int)pid);
	snprintf(living, sizeof(living), "uptick_%d", (int)getpid());
	leave_behind(pid, name);
	model_mkdir(NULL, model_path("instances/%s", living));
	CHECK(owner_of(name) == UP_OWNER_GONE);
	CHECK(owner_of(living) == UP_OWNER_LIVES);
	/* Somebody else is cleaning up. */
	int fd = open(model_path("instances"), O_RDONLY | O_DIRECTORY);
	CHECK(!flock(fd, LOCK_EX));
	CHECK(up_leftovers_clean(&model.fs, &o, &st) == -EBUSY && st.err == -EBUSY);
	up_leftovers_sweep(&model.fs, -1);
	CHECK(model_has(model_path("instances/%s", name)));
	close(fd);
	/* Something has a file of the instance open. */
	up_status_clear(&st);
	model_put(model_path("instances/%s/busy", name), "");
	CHECK(up_leftovers_clean(&model.fs, &o, &st) == -EBUSY);
	unlink(model_path("instances/%s/busy", name));
	cleaned[0] = 0;
	up_status_clear(&st);
	CHECK(!up_leftovers_clean(&model.fs, &o, &st));
	snprintf(want, sizeof(want), "%s 0 1 ;", name);
	CHECK(!strcmp(cleaned, want));
	CHECK(model_has(model_path("instances/%s", living)));
	model_remove_tree(model_path("instances/%s", living));
	CHECK(model_is_clean());
	CHECK(!up_leftovers_clean(&model.fs, &o, &st));
	model_fini();
}

/* A number that went to another process: by its age it cannot have made the instance. */
static void test_reused_number(void)
{
	char name[40];

	model_init();
	pid_t older = fork();
	if (older == 0) {
		execlp("sleep", "sleep", "30", (char *)NULL);
		_exit(1);
	}
	snprintf(name, sizeof(name), "uptick_%d", (int)older);
	model_mkdir(NULL, model_path("instances/%s", name));
	CHECK(owner_of(name) == UP_OWNER_LIVES);
	up_leftovers_sweep(&model.fs, -1);
	CHECK(model_has(model_path("instances/%s", name)));
	kill(older, SIGKILL);
	waitpid(older, NULL, 0);
	CHECK(owner_of(name) == UP_OWNER_GONE);
	up_leftovers_sweep(&model.fs, -1);
	CHECK(model_is_clean());
	model_fini();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_timed();
	test_rendering();
	test_poor_kernel();
	test_settings();
	test_hang();
	test_clean();
	test_reused_number();
	return unit_report("doctor");
}
