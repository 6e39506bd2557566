/*
 * A model of the kernel's tracing directory, in a directory of plain files: enough of it to try
 * the keeper without privileges, and as unforgiving as the kernel. Its state is in the files, so
 * that a keeper forked off and its parent see the same.
 *
 * Removing an event of several sites while it is enabled anywhere is recorded as CORRUPT, removing
 * one that has a filter as FILTERED.
 * Files that tests put into an event's top directory: `perf` (perf holds it), `stuck` (enable
 * never shows 0); into an instance: `busy` (somebody has it open).
 */
#ifndef UP_TESTS_MODEL_TRACEFS_H
#define UP_TESTS_MODEL_TRACEFS_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/tracefs.h"
#include "tests/unit/unit.h"

struct model {
	struct up_tracefs fs; /* how the code under test reaches it */
	int nr_steps;         /* changes asked for, counted in each process by itself */
	int fail_at;          /* the step that fails with EIO, from 1; 0 for none */
	int slow_at;          /* the step that takes slow_ms; 0 for none */
	int slow_ms;
};

static struct model model;

static const char *model_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Absolute path in the model; valid until the fourth next call. */
static const char *model_path(const char *fmt, ...)
{
	static char paths[4][512];
	static unsigned next;
	char rel[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rel, sizeof(rel), fmt, ap);
	va_end(ap);
	next = (next + 1) % 4;
	snprintf(paths[next], sizeof(paths[next]), "%.250s/%s", model.fs.root, rel);
	return paths[next];
}

static void model_put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f)) {
		perror(path);
		abort();
	}
}

static void model_get(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t len = f ? fread(text, 1, size - 1, f) : 0;

	text[len] = 0;
	if (f)
		fclose(f);
}

static bool model_has(const char *path)
{
	return access(path, F_OK) == 0;
}

static void model_log(const char *what, const char *path, const char *value)
{
	FILE *f = fopen(model_path("LOG"), "a");

	if (!f)
		return; /* the model is gone already: the test has ended before a keeper */
	fprintf(f, "%s %s %s\n", what, path + strlen(model.fs.root) + 1, value);
	fclose(f);
}

static int model_unlink(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)sb, (void)type, (void)ftw;
	return remove(path);
}

static void model_remove_tree(const char *path)
{
	nftw(path, model_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- events ---------------------------------------------------------------------------------- */

/* Calls fn(path of the event's directory) for the top and each instance; sums up the results. */
static int model_each_place(const char *event, int (*fn)(const char *dir))
{
	struct up_buf names = { 0 };
	int sum = fn(model_path("events/%s", event));

	up_tracefs_list(&model.fs, "instances", &names);
	for (const char *n = up_tracefs_next(&names, NULL); n; n = up_tracefs_next(&names, n))
		sum += fn(model_path("instances/%s/events/%s", n, event));
	up_buf_fini(&names);
	return sum;
}

static int model_make_event(const char *dir)
{
	char path[600];

	snprintf(path, sizeof(path), "%s", dir);
	*strrchr(path, '/') = 0;
	mkdir(path, 0755);
	mkdir(dir, 0755);
	snprintf(path, sizeof(path), "%s/enable", dir);
	model_put(path, "0\n");
	snprintf(path, sizeof(path), "%s/trigger", dir);
	model_put(path, "# Available triggers:\n");
	snprintf(path, sizeof(path), "%s/filter", dir);
	model_put(path, "none\n");
	return 0;
}

static int model_is_enabled(const char *dir)
{
	char path[600], text[16];

	snprintf(path, sizeof(path), "%s/enable", dir);
	model_get(path, text, sizeof(text));
	return strcmp(text, "0\n") != 0;
}

static int model_drop_event(const char *dir)
{
	char path[600], filter[16];

	snprintf(path, sizeof(path), "%s/filter", dir);
	model_get(path, filter, sizeof(filter));
	if (strcmp(filter, "none\n"))
		model_put(model_path("FILTERED"), dir);
	model_remove_tree(dir);
	snprintf(path, sizeof(path), "%s", dir);
	*strrchr(path, '/') = 0;
	rmdir(path);
	return 0;
}

/* How many lines of uprobe_events are of the event; drops them too if wanted. */
static int model_sites(const char *event, bool drop)
{
	char text[16384], kept[16384] = "", name[128];
	int nr = 0;

	model_get(model_path("uprobe_events"), text, sizeof(text));
	snprintf(name, sizeof(name), ":%s ", event);
	for (char *s = text, *end; *s; s = end + 1) {
		end = strchr(s, '\n');
		*end = 0;
		if (!strncmp(s + 1, name, strlen(name)))
			nr++;
		else
			strcat(strcat(kept, s), "\n");
	}
	if (drop)
		model_put(model_path("uprobe_events"), kept);
	return nr;
}

static int model_remove_event(const char *event)
{
	bool is_busy;

	if (!model_has(model_path("events/%s", event)))
		return -ENOENT;
	is_busy = model_each_place(event, model_is_enabled) ||
		  model_has(model_path("events/%s/perf", event));
	if (is_busy && model_sites(event, false) == 1)
		return -EBUSY;
	if (is_busy)
		model_put(model_path("CORRUPT"), event);
	model_sites(event, true);
	return model_each_place(event, model_drop_event);
}

static int model_define(const char *data, size_t len)
{
	const char *end = data + len;
	int err = 0;

	for (const char *s = data; s < end && !err; s = memchr(s, '\n', (size_t)(end - s)) + 1) {
		size_t line_len = (size_t)((const char *)memchr(s, '\n', (size_t)(end - s)) - s);
		char line[512], event[128];

		snprintf(line, sizeof(line), "%.*s", (int)line_len, s);
		sscanf(line + 2, "%127s", event);
		if (line[0] == '-') {
			err = model_remove_event(event);
		} else if (strstr(line, "/missing:")) {
			err = -ENOENT;
		} else {
			FILE *f = fopen(model_path("uprobe_events"), "a");

			fprintf(f, "%s\n", line);
			fclose(f);
			if (!model_has(model_path("events/%s", event)))
				model_each_place(event, model_make_event);
		}
	}
	return err;
}

/* Of "/ROOT/instances/I/events/G/E/FILE" or "/ROOT/events/G/E/FILE": "G/E". */
static const char *model_event_of(const char *path)
{
	static char event[256];

	snprintf(event, sizeof(event), "%s", strstr(path, "events/") + 7);
	*strrchr(event, '/') = 0;
	return event;
}

static int model_write_enable(const char *path, const char *value)
{
	const char *event = model_event_of(path);
	char trigger[600], text[1024];

	if (!model_has(path))
		return -ENOENT;
	if (*value == '1' && model_has(model_path("events/%s/perf", event)))
		return -EINTR;
	snprintf(trigger, sizeof(trigger), "%.*s/trigger", (int)(strrchr(path, '/') - path), path);
	model_get(trigger, text, sizeof(text));
	if (*value == '0' && (model_has(model_path("events/%s/stuck", event)) ||
			      strcmp(text, "# Available triggers:\n")))
		model_put(path, "0*\n");
	else
		model_put(path, *value == '0' ? "0\n" : "1\n");
	return 0;
}

static int model_write_trigger(const char *path, const char *data, size_t len)
{
	char text[1024], kept[1024] = "";
	bool found = false;

	model_get(path, text, sizeof(text));
	for (char *s = text, *end; *s; s = end + 1) {
		end = strchr(s, '\n');
		*end = 0;
		if (data[0] == '!' && !strncmp(s, data + 1, len - 2) && *s != '#')
			found = true;
		else
			strcat(strcat(kept, s), "\n");
	}
	model_put(path, kept);
	return found ? 0 : -EINVAL;
}

static int model_write_filter(const char *path, const char *value)
{
	if (!model_has(path))
		return -ENOENT;
	model_put(path, strcmp(value, "0") ? value : "none\n");
	return 0;
}

/* --- the operations -------------------------------------------------------------------------- */

static int model_step(const char *what, const char *path, const char *value)
{
	model_log(what, path, value);
	model.nr_steps++;
	if (model.nr_steps == model.slow_at)
		usleep((useconds_t)model.slow_ms * 1000);
	return model.nr_steps == model.fail_at ? -EIO : 0;
}

static int model_read(void *arg, const char *path, struct up_buf *out)
{
	(void)arg;
	return up_tracefs_real_ops.read(NULL, path, out);
}

static int model_write(void *arg, const char *path, const char *data, size_t len, bool append)
{
	char value[128];
	const char *file = strrchr(path, '/') + 1;

	(void)arg;
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(data, "\n"), data);
	int err = model_step("write", path, value);
	if (err)
		return err;
	if (!strcmp(file, "uprobe_events"))
		return append ? model_define(data, len) : -EINVAL;
	if (!strcmp(file, "enable"))
		return model_write_enable(path, value);
	if (!strcmp(file, "trigger"))
		return model_write_trigger(path, data, len);
	if (!strcmp(file, "filter"))
		return model_write_filter(path, value);
	return up_tracefs_real_ops.write(NULL, path, data, len, append);
}

static int model_clear(void *arg, const char *path)
{
	int err = model_step("clear", path, "");

	(void)arg;
	return err ? err : up_tracefs_real_ops.clear(NULL, path);
}

static int model_mkdir(void *arg, const char *path)
{
	static const char *const files[] = { "tracing_on", "trace_clock", "buffer_size_kb" };
	struct up_buf groups = { 0 }, events = { 0 };
	char file[600], top[128];
	int err = model_step("mkdir", path, "");

	(void)arg;
	if (err)
		return err;
	if (mkdir(path, 0755) < 0)
		return -errno;
	for (size_t i = 0; i < 3; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		model_put(file, "1\n");
	}
	snprintf(file, sizeof(file), "%s/events", path);
	mkdir(file, 0755);
	up_tracefs_list(&model.fs, "events", &groups);
	for (const char *g = up_tracefs_next(&groups, NULL); g; g = up_tracefs_next(&groups, g)) {
		snprintf(top, sizeof(top), "events/%s", g);
		up_buf_reset(&events);
		up_tracefs_list(&model.fs, top, &events);
		for (const char *e = up_tracefs_next(&events, NULL); e;
		     e = up_tracefs_next(&events, e)) {
			snprintf(file, sizeof(file), "%s/events/%s/%s", path, g, e);
			model_make_event(file);
		}
	}
	up_buf_fini(&groups);
	up_buf_fini(&events);
	return 0;
}

static int model_rmdir(void *arg, const char *path)
{
	char busy[600];
	int err = model_step("rmdir", path, "");

	(void)arg;
	if (err)
		return err;
	snprintf(busy, sizeof(busy), "%s/busy", path);
	if (!model_has(path))
		return -ENOENT;
	if (model_has(busy))
		return -EBUSY;
	model_remove_tree(path);
	return 0;
}

static const struct up_tracefs_ops model_ops = { model_read, model_write, model_clear, model_mkdir,
						 model_rmdir };

static void model_init(void)
{
	char name[] = "/tmp/uptick-model.XXXXXX";

	if (!mkdtemp(name))
		abort();
	model = (struct model){ .fs = { .ops = &model_ops } };
	strcpy(model.fs.root, name);
	mkdir(model_path("events"), 0755);
	mkdir(model_path("instances"), 0755);
	mkdir(model_path("events/task"), 0755);
	model_make_event(model_path("events/task/task_newtask"));
	model_put(model_path("uprobe_events"), "");
	model_mkdir(NULL, model_path("instances/other"));
	model.nr_steps = 0;
}

static void model_fini(void)
{
	model_remove_tree(model.fs.root);
}

/* Is there nothing of any session, and was the kernel never harmed? */
static bool model_is_clean(void)
{
	char text[64];
	struct up_buf b = { 0 };

	model_get(model_path("uprobe_events"), text, sizeof(text));
	up_tracefs_list(&model.fs, "events", &b);
	up_tracefs_list(&model.fs, "instances", &b);
	bool clean = !*text && b.len == sizeof("task") + sizeof("other") &&
		     !model_has(model_path("CORRUPT")) && !model_has(model_path("FILTERED"));
	up_buf_fini(&b);
	return clean;
}

#endif
