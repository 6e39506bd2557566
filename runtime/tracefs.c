/* The kernel's tracing directory. */
#include "runtime/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tracefs.h>
#include <unistd.h>

#define READ_MAX (16u << 20) /* bytes of one file; the largest is a long uprobe_events */

/* --- files ----------------------------------------------------------------------------------- */

static ssize_t read_some(int fd, char *to, size_t len)
{
	ssize_t n;

	do {
		n = read(fd, to, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int real_read(void *arg, const char *path, struct up_buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t start = out->len;
	ssize_t n;

	(void)arg;
	if (fd < 0)
		return -errno;
	do {
		char *to = up_buf_room(out, 4096);

		n = to ? read_some(fd, to, 4096) : -ENOMEM;
		if (n >= 0) {
			out->len += (size_t)n;
			out->s[out->len] = 0;
		}
	} while (n > 0 && out->len - start < READ_MAX);
	close(fd);
	return n > 0 ? -EFBIG : (int)n;
}

static int real_write(void *arg, const char *path, const char *data, size_t len, bool append)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | (append ? O_APPEND : 0));

	(void)arg;
	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, data, len);
	/* EINTR is no interruption here: the kernel says so of an event that perf has enabled. */
	int err = n < 0 ? -errno : (size_t)n < len ? -EIO : 0;
	close(fd);
	return err;
}

static int real_clear(void *arg, const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	(void)arg;
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int real_mkdir(void *arg, const char *path)
{
	(void)arg;
	return mkdir(path, 0750) < 0 ? -errno : 0;
}

static int real_rmdir(void *arg, const char *path)
{
	(void)arg;
	return rmdir(path) < 0 ? -errno : 0;
}

const struct up_tracefs_ops up_tracefs_real_ops = { real_read, real_write, real_clear, real_mkdir,
						    real_rmdir };

int up_tracefs_check_path(const char *rel)
{
	size_t len = strlen(rel);

	if (!len || len > UP_TRACEFS_PATH_MAX || rel[0] == '/')
		return -EINVAL;
	for (const char *s = rel; s; s = strchr(s, '/')) {
		s += *s == '/';
		if (!strncmp(s, "..", 2) && (s[2] == '/' || !s[2]))
			return -EINVAL;
	}
	return 0;
}

struct full_path {
	char s[sizeof(((struct up_tracefs *)0)->root) + UP_TRACEFS_PATH_MAX + 2];
};

static int make_path(const struct up_tracefs *fs, const char *rel, struct full_path *out)
{
	int err = up_tracefs_check_path(rel);

	if (!err)
		snprintf(out->s, sizeof(out->s), "%s/%s", fs->root, rel);
	return err;
}

int up_tracefs_read(const struct up_tracefs *fs, const char *rel, struct up_buf *out)
{
	struct full_path path;
	int err = make_path(fs, rel, &path);

	return err ? err : fs->ops->read(fs->arg, path.s, out);
}

static int write_file(const struct up_tracefs *fs, const char *rel, const char *data, size_t len,
		      bool append)
{
	struct full_path path;
	int err = len ? make_path(fs, rel, &path) : -EINVAL;

	return err ? err : fs->ops->write(fs->arg, path.s, data, len, append);
}

int up_tracefs_write(const struct up_tracefs *fs, const char *rel, const char *data, size_t len)
{
	return write_file(fs, rel, data, len, false);
}

int up_tracefs_append(const struct up_tracefs *fs, const char *rel, const char *data, size_t len)
{
	return write_file(fs, rel, data, len, true);
}

int up_tracefs_clear(const struct up_tracefs *fs, const char *rel)
{
	struct full_path path;
	int err = make_path(fs, rel, &path);

	return err ? err : fs->ops->clear(fs->arg, path.s);
}

int up_tracefs_mkdir(const struct up_tracefs *fs, const char *rel)
{
	struct full_path path;
	int err = make_path(fs, rel, &path);

	return err ? err : fs->ops->mkdir(fs->arg, path.s);
}

int up_tracefs_rmdir(const struct up_tracefs *fs, const char *rel)
{
	struct full_path path;
	int err = make_path(fs, rel, &path);

	return err ? err : fs->ops->rmdir(fs->arg, path.s);
}

bool up_tracefs_exists(const struct up_tracefs *fs, const char *rel)
{
	struct full_path path;
	struct stat sb;

	if (make_path(fs, rel, &path))
		return false;
	return lstat(path.s, &sb) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static bool is_directory(DIR *dir, const struct dirent *e)
{
	struct stat sb;

	if (e->d_name[0] == '.')
		return false;
	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return !fstatat(dirfd(dir), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) && S_ISDIR(sb.st_mode);
}

int up_tracefs_list(const struct up_tracefs *fs, const char *rel, struct up_buf *names)
{
	struct full_path path;
	int err = make_path(fs, rel, &path);
	DIR *dir = err ? NULL : opendir(path.s);
	struct dirent *e;

	if (!dir)
		return err ? err : -errno;
	while (errno = 0, (e = readdir(dir)))
		if (is_directory(dir, e))
			up_buf_add(names, e->d_name, strlen(e->d_name) + 1);
	err = errno ? -errno : names->failed ? -ENOMEM : 0;
	closedir(dir);
	return err;
}

const char *up_tracefs_next(const struct up_buf *names, const char *name)
{
	const char *next = name ? name + strlen(name) + 1 : names->s;

	return names->len && next < names->s + names->len ? next : NULL;
}

/* --- where it is, and what its errors mean --------------------------------------------------- */

/* Does a file of this machine contain the text? */
static bool file_has(const char *path, const char *text)
{
	struct up_buf b = { 0 };
	bool has = real_read(NULL, path, &b) == 0 && b.s && strstr(b.s, text);

	up_buf_fini(&b);
	return has;
}

static void explain_denied(struct up_status *st)
{
	if (file_has("/sys/kernel/security/lockdown", "[confidentiality]"))
		up_status_hint(st, "this kernel is locked down (lockdown=confidentiality), which "
				   "forbids tracing");
	else if (geteuid() != 0)
		up_status_hint(st, "run it as root, for example with sudo");
	else
		up_status_hint(st,
			       "root alone is not enough here: a container or a security module "
			       "forbids it; run it on the host");
}

static void explain_missing(const struct up_tracefs *fs, struct up_status *st, const char *rel)
{
	if (!strcmp(rel, "uprobe_events"))
		up_status_hint(
			st, "this kernel was built without uprobe events (CONFIG_UPROBE_EVENTS)");
	else if (!up_tracefs_exists(fs, "uprobe_events"))
		up_status_hint(st, "tracefs is no longer mounted there");
}

static void explain(const struct up_tracefs *fs, struct up_status *st, int err, const char *rel)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		explain_denied(st);
		break;
	case -ENOENT:
		explain_missing(fs, st, rel);
		break;
	case -EROFS:
		up_status_hint(
			st, "tracefs is mounted read-only; `mount -o remount,rw %s` changes that",
			fs->root);
		break;
	case -ENOMEM:
		up_status_reason(st, "the kernel has not enough memory for it");
		break;
	case -EINTR:
		up_status_reason(st, "interrupted");
		break;
	case -ETIMEDOUT:
		up_status_reason(st, "the kernel's tracing does not answer");
		up_status_hint(
			st, "another tool may be busy with it; if it stays so, only a restart of "
			    "the machine helps");
		break;
	default:
		break;
	}
}

int up_tracefs_fail(const struct up_tracefs *fs, struct up_status *st, int err, const char *rel,
		    const char *fmt, ...)
{
	struct full_path path = { "" };
	char what[sizeof(st->what)];
	va_list ap;

	if (!st || st->err)
		return err;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (rel)
		make_path(fs, rel, &path);
	up_status_set(st, err, path.s, "%s", what);
	explain(fs, st, err, rel ? rel : "");
	return err;
}

/* libtracefs knows where tracefs is, and mounts it; it has a voice of its own, which is muted. */
static int search_root(struct up_tracefs *fs, struct up_status *st)
{
	tracefs_set_loglevel(TEP_LOG_NONE);
	errno = 0;
	const char *dir = tracefs_tracing_dir();
	int err = errno ? -errno : -ENOENT;

	if (dir && strlen(dir) < sizeof(fs->root)) {
		strcpy(fs->root, dir);
		return 0;
	}
	if (!file_has("/proc/filesystems", "\ttracefs\n")) {
		up_status_set(st, -ENODEV, NULL, "cannot find the kernel's tracing directory");
		up_status_hint(st, "this kernel was built without tracing (CONFIG_TRACING)");
		return -ENODEV;
	}
	strcpy(fs->root, "/sys/kernel/tracing");
	return up_tracefs_fail(fs, st, err, NULL, "cannot mount tracefs at %s", fs->root);
}

static int check_usable(const struct up_tracefs *fs, struct up_status *st)
{
	struct full_path path;
	int err = make_path(fs, "uprobe_events", &path);

	/* By what we may do, not by who started us: capabilities count. */
	if (!err && faccessat(AT_FDCWD, path.s, R_OK | W_OK, AT_EACCESS) < 0)
		err = -errno;
	if (err)
		return up_tracefs_fail(fs, st, err, "uprobe_events", "cannot use uprobes through");
	return 0;
}

int up_tracefs_find(struct up_tracefs *fs, const char *root, struct up_status *st)
{
	*fs = (struct up_tracefs){ .ops = &up_tracefs_real_ops };
	if (root && (root[0] != '/' || strlen(root) >= sizeof(fs->root)))
		return up_status_set(st, -EINVAL, root, "not an absolute path of a directory:");
	if (root)
		strcpy(fs->root, root);
	int err = root ? 0 : search_root(fs, st);
	return err ? err : check_usable(fs, st);
}

/* --- error_log ------------------------------------------------------------------------------- */

#define COMMAND_LINE \
	"\n  Command: " /* what precedes a command; the caret's line is indented alike */
#define COMMAND_INDENT (sizeof(COMMAND_LINE) - 2)

/* The message stands before the command's line: "[  12.3] trace_uprobe: error: MESSAGE". */
static void copy_message(const char *log, const char *end, struct up_tracefs_error *out)
{
	const char *line = end, *text;

	while (line > log && line[-1] != '\n')
		line--;
	text = memmem(line, (size_t)(end - line), "error: ", 7);
	text = text ? text + 7 : line;
	while (end > text && end[-1] == ' ')
		end--;
	snprintf(out->message, sizeof(out->message), "%.*s", (int)(end - text), text);
}

bool up_tracefs_error_of(const char *log, const char *command, struct up_tracefs_error *out)
{
	size_t len = strlen(command);
	bool found = false;

	for (const char *s = strstr(log, COMMAND_LINE); s; s = strstr(s + 1, COMMAND_LINE)) {
		const char *text = s + strlen(COMMAND_LINE);

		if (strncmp(text, command, len) ||
		    strspn(text + len, " ") != strcspn(text + len, "\n"))
			continue;
		const char *caret_line = strchr(text + len, '\n');
		size_t column = caret_line ? strspn(caret_line + 1, " ") : 0;
		if (!caret_line || caret_line[1 + column] != '^' || column < COMMAND_INDENT)
			continue;
		copy_message(log, s, out);
		out->caret = column - COMMAND_INDENT;
		found = true;
	}
	return found;
}
