/* Finding libraries by name. Every candidate's ELF header decides whether it is one. */
#include "runtime/objfind_lib.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/elf_ldcache.h"

#define MAX_FOUND 512 /* candidates for one name */

/* Where libraries are without being told; those of this machine's own programs first. */
static const char *const standard_folders[] = {
#if defined(__x86_64__)
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/lib/aarch64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
#endif
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib", /* musl's */
#if defined(__x86_64__) || defined(__i386__)
	"/lib/i386-linux-gnu",
	"/usr/lib/i386-linux-gnu",
	"/lib32",
	"/usr/lib32",
#endif
};

/* What the file must be for. */
struct fit {
	unsigned machine; /* EM_; EM_NONE: any that this machine runs */
	bool is64;        /* ELFCLASS64; asked only with a machine */
};

static const struct fit any_fit = { EM_NONE, false };

static struct fit own_fit(void)
{
#if defined(__x86_64__)
	return (struct fit){ EM_X86_64, sizeof(void *) == 8 };
#elif defined(__i386__)
	return (struct fit){ EM_386, false };
#elif defined(__aarch64__)
	return (struct fit){ EM_AARCH64, true };
#else
	return any_fit;
#endif
}

struct candidate {
	char *path; /* to try */
	int rank;   /* up_library_rank() */
	int level;  /* of the processor it is built for; more is better */
};

struct candidates {
	struct candidate *v; /* in the order to try */
	size_t nr;           /* how many */
};

/* What is looked for. */
struct wanted {
	const struct up_objfind *f; /* where */
	const char *name;           /* what */
	bool is_exact;              /* the full name and no other */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int up_library_rank(const char *file, const char *want)
{
	size_t len = strlen(want);
	const char *rest = file + len;

	if (!strcmp(file, want))
		return 0;
	if (!strncmp(file, "ld-musl-", 8) && (!strcmp(want, "libc") || !strcmp(want, "libc.so")))
		return 4;
	if (strncmp(file, want, len) != 0)
		return -1;
	if (strstr(want, ".so"))
		return rest[0] == '.' && isdigit((unsigned char)rest[1]) ? 1 : -1;
	if (!strncmp(rest, ".so.", 4))
		return 1;
	if (!strcmp(rest, ".so"))
		return 2;
	return rest[0] == '-' && isdigit((unsigned char)rest[1]) && strstr(rest, ".so") ? 3 : -1;
}

bool up_library_is_better(int ra, const char *a, int rb, const char *b)
{
	return ra != rb ? ra < rb : strverscmp(a, b) > 0;
}

/* ---- candidates ---- */

/* glibc-hwcaps/x86-64-v3 and the like: the level, 0 for plain ones, -1 when it cannot run here. */
static int find_level(const char *path)
{
	const char *at = strstr(path, "/glibc-hwcaps/");

	if (!at)
		return 0;
#if defined(__x86_64__)
	int level = !strncmp(at + 14, "x86-64-v", 8) ? at[22] - '0' : 9;
	int have = 1;

	__builtin_cpu_init();
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))
		have = 2;
	if (have == 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
	    __builtin_cpu_supports("fma"))
		have = 3;
	if (have == 3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		have = 4;
	return level <= have ? level : -1;
#else
	return -1;
#endif
}

static void add(struct candidates *c, const char *path, int rank)
{
	int level = find_level(path);

	if (rank < 0 || level < 0 || c->nr == MAX_FOUND)
		return;
	if (!c->v)
		c->v = calloc(MAX_FOUND, sizeof(*c->v));
	char *copy = c->v ? strdup(path) : NULL;
	if (copy)
		c->v[c->nr++] = (struct candidate){ copy, rank, level };
}

static int compare(const void *a, const void *b)
{
	const struct candidate *p = a, *q = b;
	const char *f = base_name(p->path), *g = base_name(q->path);

	if (p->rank == q->rank && !strcmp(f, g) && p->level != q->level)
		return q->level - p->level;
	if (up_library_is_better(p->rank, f, q->rank, g))
		return -1;
	return up_library_is_better(q->rank, g, p->rank, f);
}

static void fini(struct candidates *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->v[i].path);
	free(c->v);
	*c = (struct candidates){ 0 };
}

static bool is_fit(int fd, struct fit want)
{
	unsigned char s[20];
	uint16_t type, machine;

	if (pread(fd, s, sizeof(s), 0) != sizeof(s) || memcmp(s, ELFMAG, SELFMAG) != 0)
		return false;
	if (s[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return false;
	memcpy(&type, s + 16, sizeof(type));
	memcpy(&machine, s + 18, sizeof(machine));
	if (type != ET_DYN && type != ET_EXEC)
		return false;
	return want.machine == EM_NONE ||
	       (machine == want.machine && (s[EI_CLASS] == ELFCLASS64) == want.is64);
}

static bool try_path(const struct up_objfind *f, const char *path, struct fit want,
		     struct up_found *out)
{
	int place = up_objfind_place(f->root, path);

	if (place < 0)
		return false;
	bool is_ok = up_objfind_take(place, f->root, path, out, NULL);
	close(place);
	if (!is_ok || is_fit(out->fd, want))
		return is_ok;
	close(out->fd);
	free(out->path);
	return false;
}

/* The first of the candidates that fits. */
static bool try_all(const struct up_objfind *f, const struct candidates *c, struct fit want,
		    struct up_found *out)
{
	for (size_t i = 0; i < c->nr; i++)
		if (try_path(f, c->v[i].path, want, out))
			return true;
	return false;
}

/* ---- where libraries are ---- */

static bool load_cache(const struct up_objfind *f, struct up_ldcache *cache)
{
	char path[2048];

	return snprintf(path, sizeof(path), "%s/etc/ld.so.cache", f->root) < (int)sizeof(path) &&
	       up_ldcache_load(path, cache);
}

/* Several entries may bear one name: for other machines, or for better processors. */
static void collect_cache(const struct wanted *w, struct candidates *c)
{
	struct up_ldcache cache;
	const char *name, *path;

	if (!load_cache(w->f, &cache))
		return;
	for (uint32_t i = 0; i < cache.nr; i++) {
		if (!up_ldcache_entry(&cache, i, &name, &path))
			continue;
		int rank = up_library_rank(name, w->name);
		if (!w->is_exact || !rank)
			add(c, path, rank);
	}
	up_ldcache_fini(&cache);
}

static void collect_folder(const struct wanted *w, const char *folder, struct candidates *c)
{
	char path[4096];

	if (w->is_exact) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, w->name) < (int)sizeof(path))
			add(c, path, 0);
		return;
	}
	int place = up_objfind_place(w->f->root, folder);
	if (place < 0)
		return;
	int fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(place);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		int rank = up_library_rank(e->d_name, w->name);

		if (rank >= 0 &&
		    snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) < (int)sizeof(path))
			add(c, path, rank);
	}
	closedir(dir);
}

/* Folders one after the other, parted by colons or newlines. */
static void collect_list(const struct wanted *w, char *list, struct candidates *c)
{
	const char *rest = list;
	char folder[2048];

	for (char *s = list; *s; s++)
		if (*s == '\n')
			*s = ':';
	while (up_next_folder(&rest, folder, sizeof(folder)))
		if (folder[0] == '/')
			collect_folder(w, folder, c);
}

/* musl keeps its list of folders in /etc/ld-musl-MACHINE.path. */
static void collect_musl(const struct wanted *w, struct candidates *c)
{
	char pattern[2048], list[4096];
	glob_t g;

	if (snprintf(pattern, sizeof(pattern), "%s/etc/ld-musl-*.path", w->f->root) >=
		    (int)sizeof(pattern) ||
	    glob(pattern, GLOB_NOSORT, NULL, &g) != 0)
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		int fd = open(g.gl_pathv[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		ssize_t n = fd < 0 ? -1 : read(fd, list, sizeof(list) - 1);

		if (fd >= 0)
			close(fd);
		if (n <= 0)
			continue;
		list[n] = 0;
		collect_list(w, list, c);
	}
	globfree(&g);
}

static void collect_folders(const struct wanted *w, struct candidates *c)
{
	for (size_t i = 0; i < sizeof(standard_folders) / sizeof(standard_folders[0]); i++)
		collect_folder(w, standard_folders[i], c);
	collect_musl(w, c);
}

/* The cache first, then the folders: for `best`, and when that fails for `other`. */
static bool find_file(const struct wanted *w, struct fit best, const struct fit *other,
		      struct up_found *out)
{
	struct candidates cached = { 0 }, in_folders = { 0 };

	collect_cache(w, &cached);
	if (cached.nr && !w->is_exact)
		qsort(cached.v, cached.nr, sizeof(*cached.v), compare);
	bool is_ok = try_all(w->f, &cached, best, out);
	if (!is_ok) {
		collect_folders(w, &in_folders);
		if (in_folders.nr && !w->is_exact)
			qsort(in_folders.v, in_folders.nr, sizeof(*in_folders.v), compare);
		is_ok = try_all(w->f, &in_folders, best, out);
	}
	if (!is_ok && other)
		is_ok = try_all(w->f, &cached, *other, out) ||
			try_all(w->f, &in_folders, *other, out);
	fini(&cached);
	fini(&in_folders);
	return is_ok;
}

bool up_library_find(const struct up_objfind *f, const char *name, struct up_found *out)
{
	struct wanted w = { f, name, false };

	return find_file(&w, own_fit(), &any_fit, out);
}

/* ---- what a program needs ---- */

/* Puts the program's folder in for $ORIGIN; false for other variables, and when it is too long. */
static bool expand_origin(const char *folder, const char *origin, char *to, size_t size)
{
	struct up_buf b = { 0 };
	bool is_ok = true;

	for (const char *s = folder; *s && is_ok;) {
		size_t len = !strncmp(s, "$ORIGIN", 7) ? 7 : !strncmp(s, "${ORIGIN}", 9) ? 9 : 0;

		if (len)
			up_buf_puts(&b, origin);
		else if (*s == '$')
			is_ok = false;
		else
			up_buf_putc(&b, *s);
		s += len ? len : 1;
	}
	is_ok = is_ok && b.s && !b.failed && b.len < size;
	if (is_ok)
		memcpy(to, b.s, b.len + 1);
	up_buf_fini(&b);
	return is_ok;
}

static bool find_in_list(const struct up_objfind *f, const char *name, const char *list,
			 const char *origin, struct fit want, struct up_found *out)
{
	char folder[2048], expanded[2048], path[4400];

	while (up_next_folder(&list, folder, sizeof(folder))) {
		if (!expand_origin(folder, origin, expanded, sizeof(expanded)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", expanded, name);
		if (expanded[0] == '/' && try_path(f, path, want, out))
			return true;
	}
	return false;
}

bool up_objfind_needed(const struct up_objfind *f, const struct up_elf *e, const char *name,
		       const char *dirs, const char *origin, struct up_found *out)
{
	struct wanted w = { f, name, true };
	struct fit want = { e->e_machine, e->is64 };

	if (strlen(name) > NAME_MAX)
		return false;
	if (strchr(name, '/'))
		return try_path(f, name, want, out);
	return find_in_list(f, name, dirs, origin, want, out) || find_file(&w, want, NULL, out);
}

/* ---- near names ---- */

static void offer_programs(const struct up_objfind *f, struct up_nearest *n)
{
	const char *list = f->path;
	char folder[2048], path[4200];

	while (up_next_folder(&list, folder, sizeof(folder))) {
		if (folder[0] != '/')
			continue;
		snprintf(path, sizeof(path), "%s%s", f->root, folder);
		DIR *dir = opendir(path);
		if (!dir)
			continue;
		for (struct dirent *e = readdir(dir); e; e = readdir(dir))
			if (e->d_name[0] != '.')
				up_nearest_offer(n, e->d_name, strlen(e->d_name));
		closedir(dir);
	}
}

void up_objfind_near(const struct up_objfind *f, struct up_nearest *n)
{
	struct up_ldcache cache;
	const char *name, *path;

	offer_programs(f, n);
	if (!load_cache(f, &cache))
		return;
	for (uint32_t i = 0; i < cache.nr; i++) {
		if (!up_ldcache_entry(&cache, i, &name, &path))
			continue;
		const char *so = strstr(name, ".so");
		up_nearest_offer(n, name, so ? (size_t)(so - name) : strlen(name));
		up_nearest_offer(n, name, strlen(name));
	}
	up_ldcache_fini(&cache);
}
