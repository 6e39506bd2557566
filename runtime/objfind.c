/*
 * Names to files. Every file is opened twice: as a mere place (O_PATH), which has no side effect
 * whatever stands there, and for reading once it is known to be a regular file.
 */
#include "runtime/objfind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/objfind_lib.h"
#include "runtime/procmap.h"

/* ---- opening one place ---- */

int up_objfind_place(const char *root, const char *path)
{
	const int flags = O_PATH | O_CLOEXEC;
	struct open_how how = { .flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT };

	if (!*root)
		return open(path, flags);
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	/* A symlink in a container means what it means there, not what it would mean here. */
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0 && errno == ENOSYS)
		fd = openat(dir, path + strspn(path, "/"), flags);
	int err = errno;
	close(dir);
	errno = err;
	return fd;
}

static bool is_at(const char *path, const struct stat *want)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == want->st_dev && st.st_ino == want->st_ino;
}

static bool read_place(int place, char *to, size_t size)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	ssize_t n = readlink(link, to, size - 1);
	if (n > 0)
		to[n] = 0;
	return n > 0;
}

/* The path when it leads to the file, or NULL. */
static char *check_path(const char *root, const char *path, const struct stat *want)
{
	char *full;

	if (asprintf(&full, "%s%s", root, path) < 0)
		return NULL;
	if (is_at(full, want))
		return full;
	free(full);
	return NULL;
}

/* Takes the root's own path, as the kernel shows it, off the front. */
static const char *strip_root(const char *root, const char *path)
{
	int place = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char own[4096];

	if (place < 0)
		return path;
	size_t len = read_place(place, own, sizeof(own)) ? strlen(own) : 0;
	close(place);
	return len && !strncmp(path, own, len) && path[len] == '/' ? path + len : path;
}

/*
 * A path that leads us to the file, NULL when there is none: without symlinks, which may mean
 * something else below the root than here, else the one that was used.
 */
static char *find_path(int place, const struct stat *st, const char *root, const char *used)
{
	char real[4096];
	char *path = NULL;

	if (read_place(place, real, sizeof(real))) {
		path = check_path("", real, st);
		if (!path && *root)
			path = check_path(root, real, st);
		if (!path && *root)
			path = check_path(root, strip_root(root, real), st);
	}
	return path ? path : check_path(root, used, st);
}

static bool refuse_kind(mode_t mode, const char *name, struct up_why *why)
{
	if (S_ISDIR(mode))
		return up_elf_refuse(why, "%s is a directory", name);
	return up_elf_refuse(why, "%s is not a regular file", name);
}

static bool refuse_errno(const char *name, int err, struct up_why *why)
{
	if (err == ENOENT || err == ENOTDIR)
		return up_elf_refuse(why, "there is no file %s", name);
	up_elf_refuse(why, "%s cannot be read: %s", name, strerror(err));
	if (err == EACCES || err == EPERM)
		up_elf_hint(why, "run it as root, or as a user that may read the file");
	return false;
}

bool up_objfind_take(int place, const char *root, const char *path, struct up_found *out,
		     struct up_why *why)
{
	char again[64];
	struct stat st;

	if (fstat(place, &st) < 0)
		return refuse_errno(path, errno, why);
	if (!S_ISREG(st.st_mode))
		return refuse_kind(st.st_mode, path, why);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	out->fd = open(again, O_RDONLY | O_CLOEXEC);
	if (out->fd < 0)
		return refuse_errno(path, errno, why);
	out->path = find_path(place, &st, root, path);
	if (out->path)
		return true;
	close(out->fd);
	return up_elf_refuse(why, "no path leads from here to %s", path);
}

static bool open_one(const char *root, const char *path, struct up_found *out, struct up_why *why)
{
	int place = up_objfind_place(root, path);

	if (place < 0)
		return refuse_errno(path, errno, why);
	bool is_ok = up_objfind_take(place, root, path, out, why);
	close(place);
	return is_ok;
}

/* ---- what a process has mapped ---- */

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The executable mapping that best fits the name; NULL when none does. */
static const struct up_mapping *pick_mapping(const struct up_procmap *map, const char *name)
{
	const struct up_mapping *best = NULL;
	int best_rank = -1;

	for (size_t i = 0; i < map->nr; i++) {
		const struct up_mapping *m = &map->v[i];

		if (!m->is_exec || m->path[0] != '/')
			continue;
		int rank = *name == '/' ? -!!strcmp(m->path, name)
					: up_library_rank(last_component(m->path), name);
		if (rank < 0 ||
		    (best && !up_library_is_better(rank, last_component(m->path), best_rank,
						   last_component(best->path))))
			continue;
		best = m;
		best_rank = rank;
	}
	return best;
}

/* The path as we see it, when it leads to the very file that is mapped. */
static bool open_same(const struct up_mapping *m, struct up_found *out)
{
	struct stat st;

	if (!open_one("", m->path, out, NULL))
		return false;
	if (!fstat(out->fd, &st) && st.st_ino == m->ino)
		return true;
	close(out->fd);
	free(out->path);
	return false;
}

/*
 * Opens what is mapped, by the name it has where the process lives. A file that lost its name or
 * got a successor under it is still to be had by the mapping itself.
 */
static bool open_mapping(const struct up_objfind *f, const struct up_mapping *m,
			 struct up_found *out, struct up_why *why)
{
	char by_address[96];

	if (!m->is_deleted && open_one(f->root, m->path, out, NULL))
		return true;
	if (!m->is_deleted && *f->root && open_same(m, out))
		return true;
	snprintf(by_address, sizeof(by_address), "/proc/%d/map_files/%llx-%llx", (int)f->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	return open_one("", by_address, out, why);
}

/* Found in the process, or an error about what was found: true. Then is_ok says which. */
static bool find_mapped(const struct up_objfind *f, const char *name, struct up_found *out,
			struct up_why *why, bool *is_ok)
{
	struct up_procmap map;

	if (!f->pid || up_procmap_read(f->pid, &map) < 0)
		return false;
	const struct up_mapping *m = pick_mapping(&map, name);
	if (m)
		*is_ok = open_mapping(f, m, out, why);
	up_procmap_fini(&map);
	return m;
}

/* ---- paths and programs ---- */

static bool open_path(const struct up_objfind *f, const char *name, struct up_found *out,
		      struct up_why *why)
{
	char *real = *f->root ? NULL : realpath(name, NULL);
	bool is_ok = false;
	bool is_mapped =
		(*name == '/' || real) && find_mapped(f, real ? real : name, out, why, &is_ok);

	free(real);
	if (is_mapped)
		return is_ok;
	if (*f->root && *name == '/' && open_one(f->root, name, out, NULL))
		return true;
	return open_one("", name, out, why);
}

bool up_next_folder(const char **list, char *to, size_t size)
{
	const char *s = *list;

	while (s) {
		const char *end = strchr(s, ':');
		size_t len = end ? (size_t)(end - s) : strlen(s);

		*list = end ? end + 1 : NULL;
		if (len < size) {
			memcpy(to, s, len);
			to[len] = 0;
			return true;
		}
		s = *list;
	}
	return false;
}

/* An executable file of that name, as a shell finds it. */
static bool find_program(const struct up_objfind *f, const char *name, struct up_found *out)
{
	const char *list = f->path;
	char folder[2048];
	struct stat st;

	while (up_next_folder(&list, folder, sizeof(folder))) {
		char *path;

		if (*f->root && folder[0] != '/')
			continue;
		if (asprintf(&path, "%s/%s", folder[0] ? folder : ".", name) < 0)
			return false;
		int place = up_objfind_place(f->root, path);
		bool is_hit = place >= 0 && !fstat(place, &st) && S_ISREG(st.st_mode) &&
			      st.st_mode & 0111 && up_objfind_take(place, f->root, path, out, NULL);
		if (place >= 0)
			close(place);
		free(path);
		if (is_hit)
			return true;
	}
	return false;
}

/* ---- names ---- */

static void say_nothing_found(const struct up_objfind *f, const char *name, struct up_why *why)
{
	struct up_buf b = { 0 }, in_process = { 0 };
	struct up_nearest near;

	if (!why)
		return;
	if (f->pid)
		up_buf_printf(&in_process, "is mapped by process %d, ", (int)f->pid);
	up_elf_refuse(why,
		      "nothing named %s %sis a program on $PATH, or a library in "
		      "%s/etc/ld.so.cache or the standard folders",
		      name, in_process.s ? in_process.s : "", f->root);
	up_nearest_init(&near, name, strlen(name));
	up_objfind_near(f, &near);
	if (up_nearest_list(&near, &b))
		up_elf_hint(why, "did you mean %s?", b.s);
	else
		up_elf_hint(why, "write a path, with a slash, for a file elsewhere");
	up_buf_fini(&b);
	up_buf_fini(&in_process);
}

bool up_objfind_open(const struct up_objfind *f, const char *name, struct up_found *out,
		     struct up_why *why)
{
	bool is_library = !strncmp(name, "lib", 3) || strstr(name, ".so");
	bool is_ok = false;

	if (!*name)
		return up_elf_refuse(why, "a program or library needs a name");
	if (strchr(name, '/'))
		return open_path(f, name, out, why);
	if (find_mapped(f, name, out, why, &is_ok))
		return is_ok;
	if (is_library && up_library_find(f, name, out))
		return true;
	if (find_program(f, name, out) || (!is_library && up_library_find(f, name, out)))
		return true;
	say_nothing_found(f, name, why);
	return false;
}
