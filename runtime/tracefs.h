/*
 * The kernel's tracing directory: where it is, small files in it, and what its errors mean.
 * Paths are relative to its root. Knows nothing of plans, sessions or processes.
 */
#ifndef UP_TRACEFS_H
#define UP_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include "lang/base/buf.h"
#include "runtime/status.h"

/*
 * How files are reached. The real ones are up_tracefs_real_ops; tests put a model of the kernel
 * here. `path` is absolute. All return 0 or -errno.
 */
struct up_tracefs_ops {
	/* Appends the whole content. */
	int (*read)(void *arg, const char *path, struct up_buf *out);
	/* One write(2) of all bytes; never creates, never truncates. `append`: opened so. */
	int (*write)(void *arg, const char *path, const char *data, size_t len, bool append);
	/* Opens the file so that it is emptied. */
	int (*clear)(void *arg, const char *path);
	int (*mkdir)(void *arg, const char *path);
	int (*rmdir)(void *arg, const char *path);
};

extern const struct up_tracefs_ops up_tracefs_real_ops;

struct up_tracefs {
	char root[256];                   /* absolute, no slash at the end */
	const struct up_tracefs_ops *ops; /* never NULL */
	void *arg;                        /* handed to ops */
};

/*
 * Finds tracefs, mounting it where it usually is if it is not mounted; it then stays mounted, as
 * others may have begun to use it. `root` overrides the search (tests); NULL searches.
 * Fails also when uprobe_events is missing or may not be written.
 */
int up_tracefs_find(struct up_tracefs *fs, const char *root, struct up_status *st);

/* Longest relative path accepted. */
#define UP_TRACEFS_PATH_MAX 512

/* -EINVAL for paths that are absolute, empty, too long or have a ".." component. */
int up_tracefs_check_path(const char *rel);

int up_tracefs_read(const struct up_tracefs *fs, const char *rel, struct up_buf *out);
/* `len` must not be 0: an empty write can mean "remove all" to the kernel. */
int up_tracefs_write(const struct up_tracefs *fs, const char *rel, const char *data, size_t len);
int up_tracefs_append(const struct up_tracefs *fs, const char *rel, const char *data, size_t len);
/* Empties a list that the kernel keeps. Never to be called for one that others share. */
int up_tracefs_clear(const struct up_tracefs *fs, const char *rel);
int up_tracefs_mkdir(const struct up_tracefs *fs, const char *rel);
int up_tracefs_rmdir(const struct up_tracefs *fs, const char *rel);
/* Is there a file or directory of that name? Anything but a clear no is a yes. */
bool up_tracefs_exists(const struct up_tracefs *fs, const char *rel);

/* Appends the names of the directories in a directory, each with a NUL behind it. */
int up_tracefs_list(const struct up_tracefs *fs, const char *rel, struct up_buf *names);
/* Walks such a list: the first for NULL, then the one after; NULL at the end. */
const char *up_tracefs_next(const struct up_buf *names, const char *name);

/* Records a failure with the sentence and the hint that fit the error number. */
int up_tracefs_fail(const struct up_tracefs *fs, struct up_status *st, int err, const char *rel,
		    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* What the kernel's error_log says of one command. */
struct up_tracefs_error {
	char message[160]; /* "Invalid register name" */
	size_t caret;      /* byte in the command that the caret points at */
};

/* The latest entry of error_log's text `log` whose command is `command`. False: there is none. */
bool up_tracefs_error_of(const char *log, const char *command, struct up_tracefs_error *out);

#endif
