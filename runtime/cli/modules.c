/* Modules. What is found is read into memory that lives as long as the finder. */
#include "runtime/cli/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/base/arena.h"

#define BUILTIN "<built in>" /* before the name of a module that is part of the program */

/* What a `use` led to. A program that is compiled again gets the same. */
struct kept {
	const char *from, *name; /* "" for a program that is no file */
	bool is_path;
	struct up_module_text text;
};

struct up_module_finder {
	struct up_modules iface;
	struct up_arena *arena;
	const char *path; /* $UPTICK_PATH */
	UP_VEC(struct kept) kept;
};

/* ---- one file ---- */

static const char *kind_of(mode_t mode)
{
	return S_ISDIR(mode) ? "is a folder" : "is no regular file";
}

/* Reads the bytes that a file had when it was opened; 0 or -errno. */
static int read_all(struct up_arena *a, int fd, size_t size, struct up_module_text *out)
{
	char *text = up_arena_alloc(a, size + 1);
	size_t len = 0;
	ssize_t n = 1;

	while (n && len < size) {
		n = read(fd, text + len, size - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
	}
	out->text = text;
	out->len = len;
	return 0;
}

/* 0, -errno, or 1 with what is wrong in *what. */
static int read_file(struct up_arena *a, const char *path, struct up_module_text *out,
		     const char **what)
{
	/* A FIFO must not be waited for, nor a terminal be taken. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat sb;

	if (fd < 0)
		return -errno;
	int status = fstat(fd, &sb) ? -errno : 0;
	if (!status && !S_ISREG(sb.st_mode)) {
		*what = kind_of(sb.st_mode);
		status = 1;
	}
	if (!status && sb.st_size > UP_MODULE_MAX) {
		*what = "is too large for a module";
		status = 1;
	}
	if (!status)
		status = read_all(a, fd, (size_t)sb.st_size, out);
	close(fd);
	return status;
}

/* A path as a reader of diagnostics likes it: from the current folder, when it is in there. */
static const char *shown_path(const char *path)
{
	char cwd[PATH_MAX];
	size_t len;

	if (!getcwd(cwd, sizeof(cwd)))
		return path;
	len = strlen(cwd);
	return len > 1 && !strncmp(path, cwd, len) && path[len] == '/' ? path + len + 1 : path;
}

/*
 * Tries one place. 1: it is there, and was read; 0: nothing is there; -1 with *why: something is
 * there that cannot be used.
 */
static int try_file(struct up_module_finder *m, const char *path, struct up_module_text *out,
		    struct up_why *why)
{
	char real[PATH_MAX];
	const char *what = "";
	int status = realpath(path, real) ? read_file(m->arena, real, out, &what) : -errno;

	if (status == -ENOENT || status == -ENOTDIR)
		return 0;
	if (status < 0)
		up_buf_printf(&why->msg, "cannot read the module %s: %s", path, strerror(-status));
	else if (status > 0)
		up_buf_printf(&why->msg, "the module %s %s", path, what);
	if (status)
		return -1;
	out->id = up_arena_strdup(m->arena, real);
	out->name = up_arena_strdup(m->arena, shown_path(real));
	return 1;
}

/* ---- where ---- */

/* The folder of the file that uses a module, with a slash behind it. */
static char *folder_of(struct up_module_finder *m, const char *from)
{
	const char *slash = from ? strrchr(from, '/') : NULL;

	return slash ? up_arena_memdup(m->arena, from, (size_t)(slash - from) + 1)
		     : up_arena_strdup(m->arena, "./");
}

static bool find_builtin(struct up_module_finder *m, const char *name, struct up_module_text *out)
{
	for (const struct up_builtin_module *b = up_builtin_modules; b->name; b++) {
		if (strcmp(b->name, name) != 0)
			continue;
		out->id = out->name = up_arena_printf(m->arena, BUILTIN "/%s.up", name);
		out->text = b->text;
		out->len = b->len;
		return true;
	}
	return false;
}

static bool has_builtin(void *ctx, const char *name)
{
	struct up_module_text text;

	return find_builtin(ctx, name, &text);
}

static void offer_builtins(struct up_nearest *n)
{
	for (const struct up_builtin_module *b = up_builtin_modules; b->name; b++)
		up_nearest_offer(n, b->name, strlen(b->name));
}

/* Tries each folder of $UPTICK_PATH; as try_file(). */
static int try_path(struct up_module_finder *m, const char *name, struct up_module_text *out,
		    struct up_why *why, struct up_buf *looked)
{
	const char *s = m->path;
	int found = 0;

	while (s && *s && !found) {
		size_t len = strcspn(s, ":");

		if (len) {
			const char *path =
				up_arena_printf(m->arena, "%.*s/%s.up", (int)len, s, name);

			up_buf_printf(looked, ", %s", path);
			found = try_file(m, path, out, why);
		}
		s += len + (s[len] == ':');
	}
	return found;
}

static void explain_missing(struct up_why *why, const char *name, const struct up_buf *looked)
{
	struct up_nearest near;

	up_buf_printf(&why->msg, "there is no module `%s`", name);
	up_nearest_init(&near, name, strlen(name));
	offer_builtins(&near);
	if (near.nr) {
		up_buf_puts(&why->hint, "did you mean ");
		up_nearest_list(&near, &why->hint);
		up_buf_puts(&why->hint, "? ");
	}
	up_buf_puts(&why->hint, "looked for ");
	up_text_escape(&why->hint, looked->s ? looked->s : "", looked->len, 0);
	up_buf_puts(&why->hint, ", and among what is built in:");
	for (const struct up_builtin_module *b = up_builtin_modules; b->name; b++)
		up_buf_printf(&why->hint, "%s %s", b == up_builtin_modules ? "" : ",", b->name);
}

/* `use NAME` */
static bool find_name(struct up_module_finder *m, const char *from, const char *name,
		      struct up_module_text *out, struct up_why *why)
{
	const char *beside = up_arena_printf(m->arena, "%s%s.up", folder_of(m, from), name);
	struct up_buf looked = { 0 };
	int found;

	up_buf_puts(&looked, shown_path(beside));
	found = try_file(m, beside, out, why);
	if (!found)
		found = try_path(m, name, out, why, &looked);
	if (!found && find_builtin(m, name, out))
		found = 1;
	if (!found)
		explain_missing(why, name, &looked);
	up_buf_fini(&looked);
	return found > 0;
}

/* `use "PATH"` */
static bool find_file(struct up_module_finder *m, const char *from, const char *name,
		      struct up_module_text *out, struct up_why *why)
{
	const char *path =
		name[0] == '/' ? name : up_arena_printf(m->arena, "%s%s", folder_of(m, from), name);
	int found = try_file(m, path, out, why);

	if (found)
		return found > 0;
	up_buf_puts(&why->msg, "there is no file ");
	up_text_escape(&why->msg, shown_path(path), strlen(shown_path(path)), 0);
	up_buf_puts(&why->hint, "a path in quotes is relative to the file that uses it");
	return false;
}

static bool find(struct up_module_finder *m, const char *from, const char *name, bool is_path,
		 struct up_module_text *out, struct up_why *why)
{
	/* What is built in rests on nothing else. */
	if (from && !strncmp(from, BUILTIN, strlen(BUILTIN))) {
		if (!is_path && find_builtin(m, name, out))
			return true;
		up_buf_printf(&why->msg, "no module `%s` is built in", name);
		return false;
	}
	return is_path ? find_file(m, from, name, out, why) : find_name(m, from, name, out, why);
}

/* ---- what was found ---- */

static const struct kept *find_kept(const struct up_module_finder *m, const char *from,
				    const char *name, bool is_path)
{
	for (size_t i = 0; i < m->kept.nr; i++) {
		const struct kept *k = &m->kept.v[i];

		if (k->is_path == is_path && !strcmp(k->from, from ? from : "") &&
		    !strcmp(k->name, name))
			return k;
	}
	return NULL;
}

static bool load_in(struct up_module_finder *m, const char *from, const char *name, bool is_path,
		    struct up_module_text *out, struct up_why *why)
{
	const struct kept *old = find_kept(m, from, name, is_path);

	if (old) {
		*out = old->text;
		return true;
	}
	if (!find(m, from, name, is_path, out, why))
		return false;
	struct kept k = { .from = up_arena_strdup(m->arena, from ? from : ""),
			  .name = up_arena_strdup(m->arena, name),
			  .is_path = is_path,
			  .text = *out };
	up_vec_push(m->arena, &m->kept, k);
	return true;
}

static bool load(void *ctx, const char *from, const char *name, bool is_path,
		 struct up_module_text *out, struct up_why *why)
{
	struct up_module_finder *m = ctx;
	volatile bool ok = false;
	jmp_buf oom;

	up_arena_on_oom(m->arena, &oom);
	if (!setjmp(oom))
		ok = load_in(m, from, name, is_path, out, why);
	up_arena_on_oom(m->arena, NULL);
	return ok;
}

void up_module_finder_each(const struct up_module_finder *m,
			   void (*fn)(void *arg, const struct up_rec_module *used), void *arg)
{
	for (size_t i = 0; i < m->kept.nr; i++) {
		const struct kept *k = &m->kept.v[i];
		struct up_rec_module used = { *k->from ? k->from : NULL, k->name, k->is_path,
					      k->text };

		fn(arg, &used);
	}
}

/* ---- the finder ---- */

struct up_module_finder *up_module_finder_new(void)
{
	struct up_module_finder *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->arena = up_arena_new();
	if (!m->arena) {
		free(m);
		return NULL;
	}
	m->path = getenv("UPTICK_PATH");
	m->iface = (struct up_modules){ .ctx = m, .load = load, .has = has_builtin };
	return m;
}

void up_module_finder_free(struct up_module_finder *m)
{
	if (!m)
		return;
	up_arena_free(m->arena);
	free(m);
}

const struct up_modules *up_module_finder_iface(struct up_module_finder *m)
{
	return &m->iface;
}

bool up_module_finder_script(const char *path, char real[PATH_MAX])
{
	struct stat sb;

	return path && realpath(path, real) && !stat(real, &sb) && S_ISREG(sb.st_mode);
}
