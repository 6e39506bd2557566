/* Paths of programs and libraries: by a pattern, or what a process has mapped. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/cli/cmd_list.h"
#include "runtime/cli/print.h"
#include "runtime/cli/run.h"
#include "runtime/elf_ldcache.h"
#include "runtime/procmap.h"

struct object {
	char *name; /* as a target may call it */
	char *path; /* the file, without symlinks */
};

struct objects {
	struct object *v;
	size_t nr, cap;
	bool failed; /* no memory */
};

static void add(struct objects *l, const char *name, const char *path)
{
	if (l->nr == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 256;
		struct object *v = reallocarray(l->v, cap, sizeof(*v));

		l->failed |= !v;
		if (!v)
			return;
		l->v = v;
		l->cap = cap;
	}
	struct object o = { strdup(name), strdup(path) };
	l->failed |= !o.name || !o.path;
	l->v[l->nr++] = o;
}

static void fini(struct objects *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->v[i].name);
		free(l->v[i].path);
	}
	free(l->v);
}

static int by_path(const void *va, const void *vb)
{
	const struct object *a = va, *b = vb;
	int order = strcmp(a->path, b->path);

	return order ? order : strcmp(a->name, b->name);
}

/* A file and the names in v[0..nr) by which it goes. */
static void put_text(struct up_buf *b, const struct object *v, size_t nr)
{
	const char *slash = strrchr(v->path, '/'), *last = slash ? slash + 1 : v->path;
	bool is_first = true;

	up_text_escape(b, v->path, strlen(v->path), 0);
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(v[i].name, last) || (i && !strcmp(v[i].name, v[i - 1].name)))
			continue;
		up_buf_puts(b, is_first ? "  (" : ", ");
		up_text_escape(b, v[i].name, strlen(v[i].name), 0);
		is_first = false;
	}
	up_buf_puts(b, is_first ? "\n" : ")\n");
}

static void put_json(struct up_buf *b, const struct object *v, size_t nr)
{
	up_buf_puts(b, "{\"type\":\"object\",\"path\":");
	up_json_string(b, v->path);
	up_buf_puts(b, ",\"names\":[");
	for (size_t i = 0; i < nr; i++) {
		if (i && !strcmp(v[i].name, v[i - 1].name))
			continue;
		up_buf_puts(b, i ? "," : "");
		up_json_string(b, v[i].name);
	}
	up_buf_puts(b, "]}\n");
}

static int print(struct objects *l, bool json, const char *none)
{
	struct up_buf b = { 0 };
	size_t nr = 0;

	if (l->failed) {
		up_complain("out of memory");
		return 1;
	}
	if (l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), by_path);
	for (size_t i = 0, next; i < l->nr; i = next) {
		for (next = i + 1; next < l->nr && !strcmp(l->v[next].path, l->v[i].path);)
			next++;
		(json ? put_json : put_text)(&b, &l->v[i], next - i);
		nr++;
	}
	bool ok = up_print(&b);
	up_buf_fini(&b);
	if (!nr)
		up_complain("%s", none);
	else
		up_remark("%zu %s", nr, nr == 1 ? "object" : "objects");
	return nr && ok ? 0 : 1;
}

/* ---- by a pattern ---- */

/* Does the pattern match the library, by its file name or by what stands before ".so"? */
static bool is_match(const char *glob, const char *name)
{
	const char *so = strstr(name, ".so");

	return up_glob_match(glob, strlen(glob), name, strlen(name)) ||
	       (so && up_glob_match(glob, strlen(glob), name, (size_t)(so - name)));
}

static void add_real(struct objects *l, const char *name, const char *path)
{
	char *real = realpath(path, NULL);

	if (real)
		add(l, name, real);
	free(real);
}

static void add_libraries(struct objects *l, const char *glob)
{
	struct up_ldcache cache;
	const char *name, *path;

	if (!up_ldcache_load("/etc/ld.so.cache", &cache))
		return;
	for (uint32_t i = 0; i < cache.nr; i++)
		if (up_ldcache_entry(&cache, i, &name, &path) && is_match(glob, name))
			add_real(l, name, path);
	up_ldcache_fini(&cache);
}

/* Scripts are no objects. */
static bool is_elf(const char *path)
{
	char magic[4] = "";
	struct stat sb;

	if (stat(path, &sb) || !S_ISREG(sb.st_mode) || !(sb.st_mode & 0111))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool is = fd >= 0 && read(fd, magic, 4) == 4 && !memcmp(magic, "\177ELF", 4);
	if (fd >= 0)
		close(fd);
	return is;
}

static void add_folder(struct objects *l, const char *folder, const char *glob)
{
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char *path;

		if (!up_glob_match(glob, strlen(glob), e->d_name, strlen(e->d_name)))
			continue;
		if (asprintf(&path, "%s/%s", folder, e->d_name) < 0) {
			l->failed = true;
			break;
		}
		if (is_elf(path))
			add_real(l, e->d_name, path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

static void add_named(struct objects *l, const char *glob)
{
	char *list = strdup(getenv("PATH") ? getenv("PATH") : "/usr/sbin:/usr/bin:/sbin:/bin");
	char *rest = list, *folder;

	l->failed = !list;
	add_libraries(l, glob);
	while (rest && (folder = strsep(&rest, ":")))
		add_folder(l, *folder ? folder : ".", glob);
	free(list);
}

void up_each_object(const char *glob, void (*fn)(void *arg, const char *name), void *arg)
{
	struct objects l = { 0 };

	add_named(&l, glob);
	for (size_t i = 0; i < l.nr; i++)
		if (l.v[i].name)
			fn(arg, l.v[i].name);
	fini(&l);
}

int up_list_named(const char *glob, bool json)
{
	struct objects l = { 0 };

	add_named(&l, glob);
	int status = print(&l, json, "no program on $PATH and no library has a name like that");
	fini(&l);
	return status;
}

/* ---- of a process ---- */

int up_list_mapped(pid_t pid, bool json)
{
	struct up_procmap map;
	struct objects l = { 0 };
	int err = up_procmap_read(pid, &map);

	if (err) {
		up_complain("cannot look at the process %d: %s", (int)pid,
			    err == -ENOENT ? "there is none" : strerror(-err));
		return 1;
	}
	for (size_t i = 0; i < map.nr; i++) {
		const char *path = map.v[i].path, *slash = strrchr(path, '/');

		if (map.v[i].is_exec && *path == '/')
			add(&l, slash + 1, path);
	}
	up_procmap_fini(&map);
	int status = print(&l, json, "that process runs no program: it is one of the kernel's");
	fini(&l);
	return status;
}
