/* What this machine can do, and what is missing. */
#include "runtime/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lang/abi.h"
#include "lang/base/text.h"
#include "runtime/doctor_nop5.h"
#include "runtime/doctor_try.h"
#include "runtime/keeper.h"
#include "runtime/leftovers.h"
#include "runtime/sysctl.h"

#define LIMIT_MS 3000 /* so that a hang is reported within five seconds */
#define BUSY_MS 1000

static const char hang_advice[] = "the kernel's tracing does not answer. Either another tool is "
				  "busy with it for long, or a tool has "
				  "broken it: then nothing but a restart of the machine helps";

/* ---- findings ---- */

void up_doctor_add(struct up_doctor *d, const char *what, enum up_verdict v, const char *fmt, ...)
{
	va_list ap;

	if (d->nr == UP_DOCTOR_MAX)
		return;
	struct up_finding *f = &d->v[d->nr++];
	*f = (struct up_finding){ .what = what, .verdict = v };
	va_start(ap, fmt);
	if (vasprintf(&f->text, fmt, ap) < 0)
		f->text = NULL;
	va_end(ap);
}

/* Adds what a status says; its last sentence has no full stop then. */
static void add_status(struct up_doctor *d, const char *what, const struct up_status *st)
{
	struct up_buf b = { 0 };

	up_status_render(st, &b);
	while (b.len && b.s[b.len - 1] == '.')
		b.s[--b.len] = 0;
	up_doctor_add(d, what, UP_VERDICT_MISSING, "%s", b.s ? b.s : "");
	up_buf_fini(&b);
}

void up_doctor_fini(struct up_doctor *d)
{
	for (unsigned i = 0; i < d->nr; i++)
		free(d->v[i].text);
	d->nr = 0;
}

const char *up_verdict_name(enum up_verdict v)
{
	static const char *const names[] = { "ok", "warn", "missing", "untried" };

	return names[v];
}

void up_doctor_text(const struct up_doctor *d, struct up_buf *out)
{
	for (unsigned i = 0; i < d->nr; i++) {
		const struct up_finding *f = &d->v[i];

		up_buf_printf(out, "%-8s %s: ", up_verdict_name(f->verdict), f->what);
		if (f->text)
			up_text_escape(out, f->text, strlen(f->text), 0);
		up_buf_putc(out, '\n');
	}
}

void up_doctor_json(const struct up_doctor *d, struct up_buf *out)
{
	for (unsigned i = 0; i < d->nr; i++) {
		const struct up_finding *f = &d->v[i];

		up_buf_printf(out,
			      "{\"type\":\"check\",\"what\":\"%s\",\"verdict\":\"%s\",\"text\":\"",
			      f->what, up_verdict_name(f->verdict));
		if (f->text)
			up_text_json(out, f->text, strlen(f->text));
		up_buf_puts(out, "\"}\n");
	}
	up_buf_printf(out, "{\"type\":\"doctor\",\"works\":%s", d->works ? "true" : "false");
	if (d->us_per_hit > 0)
		up_buf_printf(out, ",\"us_per_hit\":%.3f", d->us_per_hit);
	up_buf_puts(out, "}\n");
}

/* ---- the machine ---- */

/* The beginning of a small file, or "". */
static const char *small_file(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	to[n > 0 ? n : 0] = 0;
	return to;
}

static void check_user(struct up_doctor *d)
{
	const struct passwd *p = getpwuid(geteuid());

	if (geteuid() == 0)
		up_doctor_add(d, "user", UP_VERDICT_OK, "root");
	else
		up_doctor_add(
			d, "user", UP_VERDICT_WARN,
			"%s (uid %u) is not root: it can trace only if tracefs was opened to it",
			p ? p->pw_name : "this user", (unsigned)geteuid());
}

static void check_kernel(struct up_doctor *d)
{
	struct utsname u;

	if (uname(&u) < 0)
		return;
	if (up_abi_find(up_abi_host(), UP_CALLING_C))
		up_doctor_add(d, "kernel", UP_VERDICT_OK, "%s %s on %s", u.sysname, u.release,
			      u.machine);
	else
		up_doctor_add(
			d, "kernel", UP_VERDICT_MISSING,
			"%s %s on %s: programs for this processor cannot be probed by this version",
			u.sysname, u.release, u.machine);
}

static void check_lockdown(struct up_doctor *d, const struct up_doctor_opts *o)
{
	char text[128];

	small_file(o->lockdown ? o->lockdown : "/sys/kernel/security/lockdown", text, sizeof(text));
	if (strstr(text, "[confidentiality]"))
		up_doctor_add(
			d, "lockdown", UP_VERDICT_MISSING,
			"the kernel is locked down (confidentiality), which forbids tracing; only "
			"another boot parameter (lockdown=integrity) or firmware setting changes "
			"that");
	else if (strstr(text, "[integrity]"))
		up_doctor_add(d, "lockdown", UP_VERDICT_OK,
			      "integrity, which does not concern uprobes");
	else
		up_doctor_add(d, "lockdown", UP_VERDICT_OK, "none");
}

static void check_sysctls(struct up_doctor *d, const struct up_doctor_opts *o)
{
	bool traceoff = up_sysctl_is_set(o->proc_sys_kernel, "traceoff_on_warning");
	bool panic = up_sysctl_is_set(o->proc_sys_kernel, "panic_on_warn");

	if (traceoff)
		up_doctor_add(
			d, "sysctl", UP_VERDICT_WARN,
			"kernel.traceoff_on_warning is set: any kernel warning ends all tracing, "
			"and "
			"events after it are not recorded; `sysctl kernel.traceoff_on_warning=0`");
	if (panic)
		up_doctor_add(d, "sysctl", UP_VERDICT_WARN,
			      "kernel.panic_on_warn is set: a probe that reads more than 4,000 "
			      "bytes of text "
			      "at a hit makes the kernel warn, and so would halt this machine");
	if (!traceoff && !panic)
		up_doctor_add(d, "sysctl", UP_VERDICT_OK, "no kernel setting stands in the way");
}

/* ---- tracefs ---- */

static bool is_mounted(void)
{
	struct up_buf b = { 0 };
	bool is = !up_tracefs_real_ops.read(NULL, "/proc/mounts", &b) && b.s &&
		  strstr(b.s, " tracefs ");

	up_buf_fini(&b);
	return is;
}

static void add_mode(struct up_doctor *d, const struct up_tracefs *fs, bool was_mounted,
		     enum up_verdict v, const char *more)
{
	struct stat sb;

	if (stat(fs->root, &sb) < 0) {
		up_doctor_add(d, "tracefs", UP_VERDICT_MISSING, "cannot look at %s: %s", fs->root,
			      strerror(errno));
		return;
	}
	const struct group *g = getgrgid(sb.st_gid);
	up_doctor_add(d, "tracefs", v, "%s at %s, mode %04o, owner %u, group %s%s",
		      was_mounted ? "mounted" : "was not mounted; now it is,", fs->root,
		      (unsigned)sb.st_mode & 07777, (unsigned)sb.st_uid, g ? g->gr_name : "unknown",
		      more);
}

static void say_unusable(struct up_doctor *d, const struct up_tracefs *fs, bool was_mounted,
			 int err, const struct up_status *st)
{
	if (err == -ENOENT && fs->root[0] && up_tracefs_exists(fs, "README")) {
		add_mode(d, fs, was_mounted, UP_VERDICT_OK, "");
		up_doctor_add(d, "uprobe events", UP_VERDICT_MISSING,
			      "this kernel was built without them (CONFIG_UPROBE_EVENTS): no "
			      "program can be "
			      "probed; another kernel is needed");
	} else if (was_mounted && (err == -EACCES || err == -EPERM)) {
		add_mode(d, fs, true, UP_VERDICT_MISSING,
			 ": not for this user; run uptick as root, for example with sudo");
	} else {
		add_status(d, "tracefs", st);
	}
}

/* Finds tracefs and says what there is to say of its place and its rights. */
static bool check_tracefs(struct up_doctor *d, const struct up_doctor_opts *o,
			  struct up_tracefs *fs)
{
	bool was_mounted = o->tracefs || is_mounted();
	struct up_status st = { 0 };
	int err = up_tracefs_find(fs, o->tracefs, &st);

	if (o->ops)
		fs->ops = o->ops;
	if (err)
		say_unusable(d, fs, was_mounted, err, &st);
	else
		add_mode(d, fs, was_mounted, UP_VERDICT_OK, "");
	return !err;
}

/* ---- what an instance can do ---- */

/* A file of the instance that is written, or only read when there is no value. */
struct feature {
	const char *what;
	const char *file;        /* in the instance */
	const char *value;       /* to be written; NULL: it is read; "PID": our number */
	enum up_verdict without; /* verdict when it cannot be had */
	const char *with_it, *without_it;
};

static const struct feature features[] = {
	{ "trace clock", "trace_clock", "mono", UP_VERDICT_MISSING,
	  "mono: events can be put in time order",
	  "the clock `mono` cannot be set: events of several CPUs cannot be put in order" },
	{ "sub-buffers", "buffer_subbuf_size_kb", "64", UP_VERDICT_WARN, "of 64 KiB",
	  "of one page only (larger ones since 6.8): reading takes about three times as much CPU "
	  "time an "
	  "event, and text of more than 4,000 bytes loses its hit" },
	{ "buffer_percent", "buffer_percent", "0", UP_VERDICT_WARN,
	  "the first event wakes the reader",
	  "absent (since 5.0): single events are shown late, none is lost" },
	{ "event-fork", "options/event-fork", "1", UP_VERDICT_MISSING,
	  "a traced process's children and new threads are traced as well",
	  "absent: -c and -p would miss children and new threads" },
	{ "set_event_pid", "set_event_pid", "PID", UP_VERDICT_MISSING,
	  "recording can be limited to one process",
	  "absent: -c and -p cannot tell their process from the others" },
	{ "set_event_notrace_pid", "set_event_notrace_pid", NULL, UP_VERDICT_WARN,
	  "uptick can keep its own calls out of the record",
	  "absent (since 5.7): a probe on a library that uptick uses itself records calls of "
	  "uptick's, "
	  "which are dropped only later" },
	{ "task_newtask", "events/task/task_newtask/format", NULL, UP_VERDICT_WARN,
	  "new threads are known at once",
	  "absent: `pid` of a thread that ends quickly cannot be told" },
	{ "sched_process_exit", "events/sched/sched_process_exit/format", NULL, UP_VERDICT_WARN,
	  "the end of a thread is known",
	  "absent: calls that a thread's end cuts off are kept until the run ends" },
};

#define NR_FEATURES (sizeof(features) / sizeof(features[0]))

static int try_feature(const struct feature *f, struct up_keeper *k, struct up_status *st)
{
	char path[UP_TRACEFS_PATH_MAX], number[16];
	struct up_buf b = { 0 };

	snprintf(number, sizeof(number), "%d", (int)getpid());
	if (f->value)
		return up_keeper_set(k, f->file, strcmp(f->value, "PID") ? f->value : number, st);
	snprintf(path, sizeof(path), "instances/%s/%s", up_keeper_session(k), f->file);
	int err = up_keeper_read(k, path, &b, st);
	up_buf_fini(&b);
	return err;
}

/* A step failed after which there is no point in going on. */
static void say_over(struct up_doctor *d, const char *what, int err, const struct up_status *st)
{
	if (err == -ETIMEDOUT)
		up_doctor_add(d, what, UP_VERDICT_MISSING, "%s", hang_advice);
	else
		add_status(d, what, st);
}

static int check_features(struct up_doctor *d, struct up_keeper *k)
{
	for (size_t i = 0; i < NR_FEATURES; i++) {
		const struct feature *f = &features[i];
		struct up_status st = { 0 };
		int err = try_feature(f, k, &st);

		if (up_keeper_is_over(err)) {
			say_over(d, f->what, err, &st);
			return err;
		}
		if (!err)
			up_doctor_add(d, f->what, UP_VERDICT_OK, "%s", f->with_it);
		else if (err == -EACCES || err == -EPERM)
			up_doctor_add(d, f->what, f->without, "may not be used by this user: %s",
				      up_status_strerror(err));
		else
			up_doctor_add(d, f->what, f->without, "%s", f->without_it);
	}
	return 0;
}

/* An event of ours has a file `hist` where the kernel knows such triggers. */
static void check_hist(struct up_doctor *d, struct up_keeper *k)
{
	struct up_buf b = { 0 };
	int err = up_keeper_read(k, "events/task/task_newtask/hist", &b, NULL);

	up_doctor_add(d, "hist triggers", UP_VERDICT_OK,
		      err ? "absent; uptick aggregates by itself and needs none"
			  : "present; uptick aggregates by itself and needs none");
	up_buf_fini(&b);
}

static int undo(struct up_doctor *d, struct up_keeper *k)
{
	struct up_buf left = { 0 };
	struct up_status st = { 0 };
	int err = up_keeper_undo(k, &left, &st);

	if (!err)
		up_doctor_add(d, "clean-up", UP_VERDICT_OK,
			      "all that this check made is gone again");
	else if (err == -ETIMEDOUT)
		up_doctor_add(d, "clean-up", UP_VERDICT_MISSING, "%s", hang_advice);
	else if (left.len)
		up_doctor_add(d, "clean-up", UP_VERDICT_MISSING, "%.*s", (int)left.len - 1, left.s);
	else
		add_status(d, "clean-up", &st);
	if (err)
		d->works = false;
	up_buf_fini(&left);
	return err;
}

/* Whoever makes an instance, its files belong to root and only root may write them. */
static int check_instance(struct up_doctor *d, struct up_keeper *k)
{
	struct up_status st = { 0 };
	int err = up_keeper_set(k, "tracing_on", "1", &st);

	if (!err) {
		up_doctor_add(d, "instances", UP_VERDICT_OK,
			      "a ring buffer of its own can be made");
	} else if (err == -EACCES || err == -EPERM) {
		up_doctor_add(d, "instances", UP_VERDICT_MISSING,
			      "this user can make an instance, but not use it: the kernel gives "
			      "its files to "
			      "root alone, whatever tracefs itself allows; run uptick as root, or "
			      "with the "
			      "capability CAP_DAC_OVERRIDE");
		up_doctor_add(d, "the rest", UP_VERDICT_UNTRIED,
			      "clock, buffers, process filters and probes need an instance");
	} else {
		say_over(d, "instances", err, &st);
	}
	return err;
}

/* False when the kernel does not answer. */
static bool check_session(struct up_doctor *d, const struct up_tracefs *fs, struct up_keeper *k)
{
	struct up_status st = { 0 };
	int err = up_keeper_begin(k, &st);

	if (err) {
		say_over(d, "instances", err, &st);
	} else {
		err = check_instance(d, k);
		if (!err)
			err = check_features(d, k);
		if (!err) {
			check_hist(d, k);
			err = up_doctor_try(d, fs, k);
			if (!up_keeper_is_over(err))
				err = up_doctor_nop5(d, k);
		}
	}
	if (err == -ETIMEDOUT)
		return false;
	return undo(d, k) != -ETIMEDOUT;
}

static void check_leftovers(struct up_doctor *d, const struct up_tracefs *fs, unsigned limit_ms)
{
	struct up_buf list = { 0 };
	struct up_leftover l;
	unsigned nr = 0;
	int err = up_leftovers_list(fs, limit_ms, &list);

	for (size_t at = 0; at + sizeof(l) <= list.len; at += sizeof(l)) {
		memcpy(&l, list.s + at, sizeof(l));
		nr += l.owner == UP_OWNER_GONE;
	}
	up_buf_fini(&list);
	if (err)
		up_doctor_add(d, "leftovers", UP_VERDICT_UNTRIED, "%s", up_status_strerror(err));
	else if (nr)
		up_doctor_add(d, "leftovers", UP_VERDICT_WARN,
			      "%u %s of uptick that died left probes behind, which slow their "
			      "programs down; "
			      "`uptick clean` removes them",
			      nr, nr == 1 ? "run" : "runs");
	else
		up_doctor_add(d, "leftovers", UP_VERDICT_OK, "none");
}

static void check_tracing(struct up_doctor *d, const struct up_doctor_opts *o,
			  const struct up_tracefs *fs)
{
	unsigned limit_ms = o->limit_ms ? o->limit_ms : LIMIT_MS;
	struct up_keeper_opts ko = {
		.fs = fs, .stop_fd = o->stop_fd, .limit_ms = limit_ms, .busy_ms = BUSY_MS
	};
	struct up_status st = { 0 };
	struct up_keeper *k;

	up_doctor_add(d, "uprobe events", UP_VERDICT_OK,
		      "this kernel has them, and they may be written");
	if (up_keeper_start(&ko, &k, &st)) {
		add_status(d, "helper", &st);
		return;
	}
	bool answers = check_session(d, fs, k);
	up_keeper_stop(k);
	if (answers)
		check_leftovers(d, fs, limit_ms);
}

void up_doctor_run(const struct up_doctor_opts *o, struct up_doctor *d)
{
	struct up_tracefs fs;

	*d = (struct up_doctor){ .nr = 0 };
	check_user(d);
	check_kernel(d);
	check_lockdown(d, o);
	check_sysctls(d, o);
	if (check_tracefs(d, o, &fs))
		check_tracing(d, o, &fs);
	else
		up_doctor_add(d, "the rest", UP_VERDICT_UNTRIED,
			      "clock, buffers, process filters, probes and leftovers need tracefs");
}
