/* Journal of changes, and undoing them in the safe order, on a model of tracefs. */
#include "runtime/guard.h"

#include "tests/unit/model_tracefs.h"

static struct up_journal journal;
static struct up_guard guard;

static int plan(enum up_change_kind kind, const char *name)
{
	return up_journal_plan(&journal, kind, name, strlen(name));
}

static void test_journal(void)
{
	int inst = plan(UP_CHANGE_INSTANCE, "uptick_1");
	int a = plan(UP_CHANGE_EVENT, "uptick_1/a");
	int b = plan(UP_CHANGE_EVENT, "uptick_1/b");

	CHECK(inst == 0 && a == 1 && b == 2);
	CHECK(plan(UP_CHANGE_EVENT, "uptick_1/a") == a);
	CHECK(journal.v[a].nr_sites == 2 && journal.v[b].nr_sites == 1);
	CHECK(journal.v[a].state == UP_CHANGE_PLANNED);
	int on = plan(UP_CHANGE_ENABLE, "uptick_1/a");
	CHECK(!journal.v[a].was_armed);
	up_journal_confirm(&journal, on);
	CHECK(journal.v[a].was_armed && !journal.v[b].was_armed);
	CHECK(up_journal_find(&journal, UP_CHANGE_ENABLE, "uptick_1/a") == on);
	CHECK(up_journal_find(&journal, UP_CHANGE_ENABLE, "uptick_1/b") == -ENOENT);
	CHECK(up_journal_prev(&journal, UP_CHANGE_EVENT, (int)journal.nr) == b);
	CHECK(up_journal_prev(&journal, UP_CHANGE_EVENT, b) == a);
	CHECK(up_journal_prev(&journal, UP_CHANGE_EVENT, a) == -1);
	CHECK(up_journal_nr_live(&journal) == 4);
	up_journal_withdraw(&journal, on);
	CHECK(!journal.v[a].was_armed);
	CHECK(plan(UP_CHANGE_ENABLE, "uptick_1/a") == 4);
	up_journal_withdraw(&journal, b);
	CHECK(up_journal_nr_live(&journal) == 3);
	CHECK(up_journal_prev(&journal, UP_CHANGE_EVENT, (int)journal.nr) == a);
	/* A name that was withdrawn is a new change the next time. */
	CHECK(plan(UP_CHANGE_EVENT, "uptick_1/b") == 5 && journal.v[5].nr_sites == 1);
	up_journal_fini(&journal);
	CHECK(journal.nr == 0);
}

static void test_many(void)
{
	char name[32];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "uptick_1/e%d", i / 2);
		CHECK(plan(UP_CHANGE_EVENT, name) == i / 2);
	}
	CHECK(journal.nr == 2500 && journal.v[2499].nr_sites == 2);
	up_journal_fini(&journal);
}

/* --- the guard ------------------------------------------------------------------------------- */

static void set_up(void)
{
	model_init();
	guard = (struct up_guard){ .fs = &model.fs, .journal = &journal, .wait_ms = 40 };
}

static void tear_down(void)
{
	up_journal_fini(&journal);
	up_buf_fini(&guard.left);
	model_fini();
}

static void define(const char *event, int nr_sites)
{
	char line[256];

	for (int i = 0; i < nr_sites; i++) {
		int len = snprintf(line, sizeof(line), "p:%s /bin/true:0x%x\n", event, 16 * i);

		plan(UP_CHANGE_EVENT, event);
		CHECK(!up_tracefs_append(&model.fs, "uprobe_events", line, (size_t)len));
	}
}

static void enable(const char *event)
{
	char path[256];
	int i = plan(UP_CHANGE_ENABLE, event);

	snprintf(path, sizeof(path), "instances/uptick_1/events/%s/enable", event);
	CHECK(!up_tracefs_write(&model.fs, path, "1", 1));
	up_journal_confirm(&journal, i);
}

/* A session with an event of three sites and one of a single site, both armed. */
static void make_session(void)
{
	int i = plan(UP_CHANGE_INSTANCE, "uptick_1");

	CHECK(!up_tracefs_mkdir(&model.fs, "instances/uptick_1"));
	up_journal_confirm(&journal, i);
	define("uptick_1/many", 3);
	define("uptick_1/one", 1);
	enable("uptick_1/many");
	enable("uptick_1/one");
	enable("task/task_newtask");
}

static bool is_undone(void)
{
	return model_is_clean() && !guard.left.len && !up_journal_nr_live(&journal);
}

static size_t log_place(const char *text)
{
	static char log[65536];

	model_get(model_path("LOG"), log, sizeof(log));
	const char *at = strstr(log, text);
	CHECK(at);
	return at ? (size_t)(at - log) : 0;
}

/* Recording off, our events off, removal, instance away. */
static void test_order(void)
{
	set_up();
	make_session();
	unlink(model_path("LOG"));
	up_guard_undo(&guard);
	CHECK(is_undone());
	size_t off = log_place("write instances/uptick_1/tracing_on 0\n");
	size_t one = log_place("write instances/uptick_1/events/uptick_1/one/enable 0\n");
	size_t many = log_place("write instances/uptick_1/events/uptick_1/many/enable 0\n");
	size_t first = log_place("write uprobe_events -:uptick_1/one\n");
	size_t second = log_place("write uprobe_events -:uptick_1/many\n");
	size_t gone = log_place("rmdir instances/uptick_1");
	CHECK(off < one && one < many && many < first && first < second && second < gone);
	tear_down();
}

static void test_enabled_elsewhere(const char *dir)
{
	char path[256];

	set_up();
	make_session();
	snprintf(path, sizeof(path), "%s/uptick_1/many/enable", dir);
	CHECK(!up_tracefs_write(&model.fs, path, "1", 1));
	snprintf(path, sizeof(path), "%s/uptick_1/one/enable", dir);
	CHECK(!up_tracefs_write(&model.fs, path, "1", 1));
	up_guard_undo(&guard);
	CHECK(is_undone());
	tear_down();
}

static void test_triggers(void)
{
	set_up();
	make_session();
	model_put(model_path("instances/other/events/uptick_1/many/trigger"),
		  "# Available triggers:\nhist:keys=common_pid:vals=hitcount [active]\n"
		  "traceoff:unlimited\n");
	model_put(model_path("instances/other/events/uptick_1/many/enable"), "0*\n");
	up_guard_undo(&guard);
	CHECK(is_undone());
	tear_down();
}

/* What cannot be brought to rest stays, whole, and is told; the rest goes. */
static void test_stuck(void)
{
	set_up();
	make_session();
	model_put(model_path("events/uptick_1/many/stuck"), "");
	model_put(model_path("instances/other/events/uptick_1/many/enable"), "0*\n");
	up_guard_undo(&guard);
	CHECK(!model_has(model_path("CORRUPT")));
	CHECK(model_has(model_path("events/uptick_1/many")));
	CHECK(!model_has(model_path("events/uptick_1/one")));
	CHECK(!model_has(model_path("instances/uptick_1")));
	CHECK(up_journal_nr_live(&journal) == 1);
	CHECK(guard.left.s &&
	      strstr(guard.left.s, "the event uptick_1/many is left: something keeps it "
				   "enabled "));
	/* It is let go, but then perf takes it; only when that is over a try succeeds. */
	unlink(model_path("events/uptick_1/many/stuck"));
	model_put(model_path("events/uptick_1/many/perf"), "");
	model_put(model_path("instances/other/events/uptick_1/many/enable"), "0\n");
	up_guard_undo(&guard);
	CHECK(!model_has(model_path("CORRUPT")) && up_journal_nr_live(&journal) == 1);
	unlink(model_path("events/uptick_1/many/perf"));
	up_buf_reset(&guard.left);
	up_guard_undo(&guard);
	CHECK(is_undone());
	tear_down();
}

/* An event that perf holds does not look enabled; only one we have armed ourselves is known to be
 * free. */
static void test_perf(void)
{
	set_up();
	int i = plan(UP_CHANGE_INSTANCE, "uptick_1");
	CHECK(!up_tracefs_mkdir(&model.fs, "instances/uptick_1"));
	up_journal_confirm(&journal, i);
	define("uptick_1/many", 2);
	define("uptick_1/one", 1);
	model_put(model_path("events/uptick_1/many/perf"), "");
	model_put(model_path("events/uptick_1/one/perf"), "");
	up_guard_undo(&guard);
	CHECK(!model_has(model_path("CORRUPT")));
	CHECK(guard.left.s && strstr(guard.left.s, "uptick_1/many is left: perf"));
	CHECK(guard.left.s && strstr(guard.left.s, "uptick_1/one is left: something uses it"));
	unlink(model_path("events/uptick_1/one/perf"));
	unlink(model_path("events/uptick_1/many/perf"));
	up_buf_reset(&guard.left);
	/* The instance has gone meanwhile, and is made once more to ask about perf. */
	up_guard_undo(&guard);
	CHECK(is_undone());
	tear_down();
}

static void test_busy_instance(void)
{
	set_up();
	make_session();
	model_put(model_path("instances/uptick_1/busy"), "");
	up_guard_undo(&guard);
	CHECK(!model_has(model_path("events/uptick_1")));
	CHECK(guard.left.s &&
	      strstr(guard.left.s, "instances/uptick_1 is left: a program has a file"));
	tear_down();
}

/* Each write, mkdir and rmdir of undoing fails once: the kernel is not harmed, and the next try
 * ends it. */
static void test_failing_undo(void)
{
	bool failed = true;

	for (int n = 1; failed; n++) {
		set_up();
		make_session();
		model.nr_steps = 0;
		model.fail_at = n;
		up_guard_undo(&guard);
		failed = model.nr_steps >= n;
		CHECK(!model_has(model_path("CORRUPT")));
		CHECK(!model_is_clean() == (guard.left.len > 0));
		model.fail_at = 0;
		up_buf_reset(&guard.left);
		up_guard_undo(&guard);
		CHECK(is_undone());
		tear_down();
		CHECK(n < 100);
	}
}

static void test_remove_one(void)
{
	set_up();
	make_session();
	CHECK(up_guard_remove(&guard, "uptick_1/many") == 0);
	CHECK(!model_has(model_path("events/uptick_1/many")));
	CHECK(model_has(model_path("events/uptick_1/one")));
	CHECK(up_guard_remove(&guard, "uptick_1/many") == -ENOENT);
	CHECK(up_guard_remove(&guard, "task/task_newtask") == -ENOENT);
	up_guard_undo(&guard);
	CHECK(is_undone());
	tear_down();
}

static void test_adopt(bool ours)
{
	set_up();
	make_session();
	up_journal_fini(&journal);
	CHECK(up_guard_adopt(&guard, "uptick_1", ours) == 0);
	int i = up_journal_find(&journal, UP_CHANGE_EVENT, "uptick_1/many");
	CHECK(i >= 0 && journal.v[i].nr_sites == 3 && !journal.v[i].was_armed);
	up_guard_undo(&guard);
	CHECK(is_undone());
	up_journal_fini(&journal);
	CHECK(up_guard_adopt(&guard, "uptick_1", false) == 0 && journal.nr == 0);
	CHECK(up_guard_adopt(&guard, "other", false) == -EINVAL);
	tear_down();
}

static void test_adopt_living(void)
{
	set_up();
	make_session();
	up_journal_fini(&journal);
	model_put(model_path("instances/uptick_1/busy"), "");
	CHECK(up_guard_adopt(&guard, "uptick_1", false) == -EBUSY);
	CHECK(journal.nr == 0 && model_has(model_path("events/uptick_1/many")));
	CHECK(model_is_enabled(model_path("instances/uptick_1/events/uptick_1/many")));
	tear_down();
}

/* --- names ----------------------------------------------------------------------------------- */

static void test_names(void)
{
	pid_t owner;

	CHECK(up_session_parse("uptick_17", &owner) && owner == 17);
	CHECK(up_session_parse("uptick_17_2", &owner) && owner == 17);
	CHECK(!up_session_parse("uptick_", &owner));
	CHECK(!up_session_parse("uptick_x", &owner));
	CHECK(!up_session_parse("uptick_0", &owner));
	CHECK(!up_session_parse("uptick_-4", &owner));
	CHECK(!up_session_parse("uptick_17_", &owner));
	CHECK(!up_session_parse("uptick_17_x", &owner));
	CHECK(!up_session_parse("uptick_17/../x", &owner));
	CHECK(!up_session_parse("uptick_99999999999999999999", &owner));
	CHECK(!up_session_parse("other", &owner));
}

static void take_session(void *arg, const struct up_session_info *s)
{
	struct up_buf *b = arg;

	up_buf_printf(b, "%s %s %d %u;", s->name, s->has_owner ? "lives" : "dead", s->has_instance,
		      s->nr_events);
}

/* A process that runs another program is no owner, and one that runs this one is. */
static void test_each_session(void)
{
	struct up_buf b = { 0 }, want = { 0 };
	char path[128], line[128];

	set_up();
	snprintf(path, sizeof(path), "instances/uptick_%d", (int)getppid());
	CHECK(!up_tracefs_mkdir(&model.fs, path));
	int len = snprintf(line, sizeof(line), "p:uptick_%d/a /bin/true:0x10\n", (int)getppid());
	CHECK(!up_tracefs_append(&model.fs, "uprobe_events", line, (size_t)len));
	CHECK(!up_session_each(&model.fs, take_session, &b));
	up_buf_printf(&want, "uptick_%d dead 1 1;", (int)getppid());
	CHECK(b.s && !strcmp(b.s, want.s));
	up_buf_reset(&b);
	up_buf_reset(&want);
	CHECK(!up_tracefs_rmdir(&model.fs, path));
	CHECK(model_remove_event(strtok(line + 2, " ")) == 0);
	snprintf(path, sizeof(path), "instances/uptick_%d_2", (int)getpid());
	CHECK(!up_tracefs_mkdir(&model.fs, path));
	CHECK(!up_session_each(&model.fs, take_session, &b));
	up_buf_printf(&want, "uptick_%d_2 lives 1 0;", (int)getpid());
	CHECK(b.s && !strcmp(b.s, want.s));
	up_buf_fini(&b);
	up_buf_fini(&want);
	tear_down();
}

/* --- tracefs: paths and error texts ---------------------------------------------------------- */

static void test_paths(void)
{
	CHECK(up_tracefs_check_path("instances/a/tracing_on") == 0);
	CHECK(up_tracefs_check_path("") == -EINVAL);
	CHECK(up_tracefs_check_path("/etc/passwd") == -EINVAL);
	CHECK(up_tracefs_check_path("..") == -EINVAL);
	CHECK(up_tracefs_check_path("a/../b") == -EINVAL);
	CHECK(up_tracefs_check_path("a/..") == -EINVAL);
	CHECK(up_tracefs_check_path("a/..b/c") == 0);
	set_up();
	CHECK(up_tracefs_append(&model.fs, "uprobe_events", "", 0) == -EINVAL);
	CHECK(up_tracefs_exists(&model.fs, "events/task") &&
	      !up_tracefs_exists(&model.fs, "events/x"));
	tear_down();
}

static void test_error_log(void)
{
	static const char log[] = "[ 1.2] trace_uprobe: error: Invalid register name\n"
				  "  Command: p:g/e /bin/true:0x10 a=%foo:u32\n"
				  "                                ^\n"
				  "[ 1.3] trace_uprobe: error: Failed to find the given file\n"
				  "  Command: p:g/e /bin/nope:0x10\n"
				  "                 ^\n"
				  "[ 1.4] trace_uprobe: error: Unknown type\n"
				  "  Command: p:g/e /bin/true:0x10 a=%foo:u32\n"
				  "                                  ^\n";
	struct up_tracefs_error e;

	CHECK(up_tracefs_error_of(log, "p:g/e /bin/true:0x10 a=%foo:u32", &e));
	CHECK(!strcmp(e.message, "Unknown type") && e.caret == 23);
	CHECK(up_tracefs_error_of(log, "p:g/e /bin/nope:0x10", &e));
	CHECK(!strcmp(e.message, "Failed to find the given file") && e.caret == 6);
	CHECK(!up_tracefs_error_of(log, "p:g/e /bin/nope:0x1", &e));
	CHECK(!up_tracefs_error_of("", "p:g/e /bin/nope:0x1", &e));
}

static void test_status(void)
{
	struct up_status st = { 0 };
	struct up_buf b = { 0 };

	up_status_render(&st, &b);
	CHECK_BUF(&b, "");
	CHECK(up_status_set(&st, -EACCES, "/x/y", "cannot write") == -EACCES);
	CHECK(up_status_set(&st, -EIO, NULL, "an echo") == -EIO);
	up_status_hint(&st, "run it as %s", "root");
	up_status_render(&st, &b);
	CHECK_BUF(&b, "cannot write /x/y: Permission denied; run it as root.");
	up_status_wrap(&st, "starting %d probes", 3);
	up_status_reason(&st, "no");
	up_status_render(&st, &b);
	CHECK_BUF(&b, "starting 3 probes: cannot write /x/y: no; run it as root.");
	up_status_clear(&st);
	up_status_set(&st, -524, NULL, "a\033b");
	up_status_render(&st, &b);
	CHECK_BUF(&b, "a\\eb: the kernel cannot probe an instruction there.");
	up_status_set(NULL, -1, NULL, "nothing");
	up_buf_fini(&b);
}

static void test_missing_tracefs(void)
{
	struct up_tracefs fs;
	struct up_status st = { 0 };
	struct up_buf b = { 0 };

	set_up();
	unlink(model_path("uprobe_events"));
	CHECK(up_tracefs_find(&fs, model.fs.root, &st) == -ENOENT);
	up_status_render(&st, &b);
	CHECK(b.s &&
	      strstr(b.s,
		     "/uprobe_events: No such file or directory; this kernel was built without "
		     "uprobe events"));
	up_status_clear(&st);
	CHECK(up_tracefs_find(&fs, "relative", &st) == -EINVAL && st.err == -EINVAL);
	up_buf_fini(&b);
	tear_down();
}

int main(void)
{
	test_journal();
	test_many();
	test_order();
	test_enabled_elsewhere("events");
	test_enabled_elsewhere("instances/other/events");
	test_triggers();
	test_stuck();
	test_perf();
	test_busy_instance();
	test_failing_undo();
	test_remove_one();
	test_adopt(true);
	test_adopt(false);
	test_adopt_living();
	test_names();
	test_each_session();
	test_paths();
	test_error_log();
	test_status();
	test_missing_tracefs();
	return unit_report("journal");
}
