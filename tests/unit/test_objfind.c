/*
 * Names to files: paths, $PATH, the dynamic linker's cache and folders below a made-up root, what a
 * process has mapped, and what is refused. Then damaged caches and memory maps.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/elf_ldcache.h"
#include "runtime/objfind_lib.h"
#include "runtime/procmap.h"
#include "runtime/resolver.h"
#include "tests/unit/unit.h"

static char root[64]; /* the folder that all files of this test are in */
static struct up_why why;

/* ---- files ---- */

static void *read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *b = malloc(1 << 20);

	*size = f ? fread(b, 1, 1 << 20, f) : 0;
	if (f)
		fclose(f);
	return b;
}

/* Makes the folders of a path below the root, and returns the whole path. */
static const char *below(const char *path)
{
	static char full[4][300];
	static unsigned turn;
	char *to = full[turn++ % 4];

	snprintf(to, sizeof(full[0]), "%s%s", root, path);
	for (char *s = to + strlen(root) + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = 0;
		mkdir(to, 0755);
		*s = '/';
	}
	return to;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	const char *full = below(path);
	FILE *f = fopen(full, "wb");

	CHECK(f && fwrite(bytes, 1, size, f) == size);
	if (f)
		fclose(f);
	chmod(full, 0755);
}

/* A real ELF file under a made-up name. */
static void put_elf(const char *path)
{
	size_t size;
	void *b = read_all("/bin/true", &size);

	write_file(path, b, size);
	free(b);
}

static void put_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

static void put_link(const char *path, const char *to)
{
	CHECK(symlink(to, below(path)) == 0);
}

/* ---- a cache, as ldconfig writes it ---- */

static const char *const listed[][2] = {
	{ "libfoo.so.1", "/opt/lib/libfoo.so.1" },
	{ "libfoo.so.10", "/opt/lib/libfoo.so.10" },
	{ "libfoo.so.9", "/opt/lib/libfoo.so.9" },
	{ "libfoo.so", "/opt/lib/libfoo.so" },
	{ "libgone.so.2", "/opt/lib/libgone.so.2" },
	{ "libgone.so.1", "/opt/lib/libfoo.so.1" },
	{ "libtext.so.1", "/opt/lib/libtext.so.1" },
	{ "libfoobar.so.3", "/opt/lib/libfoo.so.1" },
	{ "libtune.so.1", "/opt/lib/libtune.so.1" },
	{ "libtune.so.1", "/opt/lib/glibc-hwcaps/x86-64-v2/libtune.so.1" },
	{ "libtune.so.1", "/opt/lib/glibc-hwcaps/x86-64-v9/libtune.so.1" },
};

#define NR_LISTED (sizeof(listed) / sizeof(listed[0]))

static void put32(unsigned char *to, uint32_t v)
{
	memcpy(to, &v, sizeof(v));
}

/* Returns the length. `old` puts the format in front that older linkers read. */
static size_t make_cache(unsigned char *to, bool old)
{
	static const char before[] = "ld.so-1.7.0\0\0\0\0"; /* no entries, padded to 16 */
	size_t base = old ? sizeof(before) : 0, text = base + 48 + NR_LISTED * 24;
	unsigned char *h = to + base;

	memcpy(to, before, base);
	memcpy(h, "glibc-ld.so.cache1.1", 20);
	put32(h + 20, NR_LISTED);
	memset(h + 24, 0, 24);
	for (size_t i = 0; i < NR_LISTED; i++) {
		memset(h + 48 + i * 24, 0, 24);
		for (int k = 0; k < 2; k++) {
			size_t len = strlen(listed[i][k]) + 1;

			put32(h + 48 + i * 24 + 4 + (size_t)k * 4, (uint32_t)(text - base));
			memcpy(to + text, listed[i][k], len);
			text += len;
		}
	}
	return text;
}

static void put_cache(bool old)
{
	unsigned char b[4096];

	write_file("/etc/ld.so.cache", b, make_cache(b, old));
}

static void fill_root(void)
{
	put_elf("/opt/lib/libfoo.so.1");
	put_elf("/opt/lib/libfoo.so.9");
	put_elf("/opt/lib/libfoo.so.10");
	put_elf("/opt/lib/libtune.so.1");
	put_elf("/opt/lib/glibc-hwcaps/x86-64-v2/libtune.so.1");
	put_elf("/opt/lib/glibc-hwcaps/x86-64-v9/libtune.so.1");
	put_text("/opt/lib/libtext.so.1", "/* GNU ld script */");
	put_elf("/usr/lib/libdir.so.2");
	put_elf("/usr/lib/libdir.so.11");
	put_text("/usr/lib/libdir.so", "/* GNU ld script */");
	put_elf("/usr/lib/libold-2.31.so");
	put_elf("/musl/libm1.so.1");
	put_elf("/lib/ld-musl-x86_64.so.1");
	put_text("/etc/ld-musl-x86_64.path", "/nowhere\n/musl:/opt");
	put_elf("/bin/prog");
	put_elf("/sbin/prog");
	put_elf("/bin/libdir");
	put_elf("/bin/libonlyprog");
	put_elf("/bin/both");
	put_elf("/usr/lib/both.so.1");
	put_text("/bin/script", "#!/bin/sh\nexit 0\n");
	put_elf("/bin/plain");
	chmod(below("/bin/plain"), 0644);
	put_elf("/data/real");
	put_link("/bin/linked", "/data/real");
	put_link("/bin/loop", "loop");
	put_cache(false);
}

/* ---- opening ---- */

static struct up_elf_resolver *resolver;
static const struct up_resolver *up;

static void start(pid_t pid, const char *below_root, const char *path)
{
	struct up_elf_options opt = { .pid = pid, .root = below_root, .path = path };

	up_elf_resolver_free(resolver);
	resolver = up_elf_resolver_new(&opt);
	up = up_elf_resolver_iface(resolver);
}

static const struct up_object *open_name(const char *name)
{
	return up->open(up->ctx, name, &why);
}

/* The name leads to this file below the root. */
static bool leads_to(const char *name, const char *path)
{
	const struct up_object *o = open_name(name);
	char want[300];

	snprintf(want, sizeof(want), "%s%s", root, path);
	if (o && !strcmp(o->path, want))
		return true;
	fprintf(stderr, "%s leads to %s\n", name, o ? o->path : why.msg.s);
	return false;
}

static bool is_refused(const char *name, const char *message)
{
	const struct up_object *o = open_name(name);

	if (!o && strstr(why.msg.s, message))
		return true;
	fprintf(stderr, "%s: %s\n", name, o ? o->path : why.msg.s);
	return false;
}

static bool hints(const char *part)
{
	return why.hint.s && strstr(why.hint.s, part);
}

static void check_libraries(void)
{
	CHECK(leads_to("libfoo", "/opt/lib/libfoo.so.10")); /* the highest version */
	CHECK(leads_to("libfoo.so", "/opt/lib/libfoo.so.10"));
	CHECK(leads_to("libfoo.so.9", "/opt/lib/libfoo.so.9"));
	CHECK(leads_to("libgone", "/opt/lib/libfoo.so.1")); /* the next when one is missing */
	CHECK(leads_to("libdir", "/usr/lib/libdir.so.11")); /* a library before a program */
	CHECK(leads_to("libdir.so.2", "/usr/lib/libdir.so.2"));
	CHECK(leads_to("libold", "/usr/lib/libold-2.31.so"));
	CHECK(leads_to("libm1", "/musl/libm1.so.1"));
	CHECK(leads_to("libc", "/lib/ld-musl-x86_64.so.1"));
	CHECK(leads_to("libonlyprog", "/bin/libonlyprog"));
	CHECK(leads_to("both", "/bin/both")); /* a program before a library */
	CHECK(leads_to("both.so", "/usr/lib/both.so.1"));
	CHECK(is_refused("libtext", "nothing named libtext is a program on $PATH, or a library"));
	CHECK(is_refused("libfo", "nothing named libfo"));
	CHECK(hints("did you mean `libfoo`"));
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		CHECK(leads_to("libtune", "/opt/lib/glibc-hwcaps/x86-64-v2/libtune.so.1"));
#endif
}

static void check_programs(void)
{
	CHECK(leads_to("prog", "/bin/prog"));
	CHECK(leads_to("linked", "/data/real")); /* the link's target is below the root, too */
	CHECK(open_name("linked") == open_name("/data/real"));
	CHECK(open_name("libfoo") == open_name("libfoo.so.10"));
	CHECK(is_refused("script", "script is a script run by /bin/sh"));
	CHECK(is_refused("plain", "nothing named plain"));
	CHECK(is_refused("progg", "nothing named progg"));
	CHECK(hints("did you mean `prog`"));
	CHECK(is_refused("loop", "nothing named loop"));
	CHECK(is_refused("", "needs a name"));
	CHECK(leads_to("/data/real", "/data/real"));
	CHECK(is_refused("/no/such", "there is no file /no/such"));
}

static void check_near(void)
{
	struct up_nearest n;
	struct up_buf b = { 0 };

	up_nearest_init(&n, "libfooo", 7);
	up->near_objects(up->ctx, &n);
	CHECK(up_nearest_list(&n, &b) && strstr(b.s, "`libfoo`"));
	up_buf_fini(&b);
}

/* Without a made-up root. */
static void check_paths(void)
{
	char relative[300], cwd[200];

	start(0, NULL, NULL);
	const struct up_object *o = open_name(below("/bin/prog"));
	CHECK(o && !strcmp(o->name, "prog"));
	CHECK(o == open_name(below("/bin/../bin/prog")));
	CHECK(is_refused(below("/bin"), "is a directory"));
	CHECK(is_refused("/dev/null", "is not a regular file"));
	CHECK(is_refused(below("/bin/loop"), "cannot be read"));
	CHECK(is_refused("./no-such-file", "there is no file ./no-such-file"));
	CHECK(is_refused(below("/bin/prog/x"), "there is no file"));
	CHECK(mkfifo(below("/bin/fifo"), 0666) == 0); /* opening it would wait for ever */
	CHECK(is_refused(below("/bin/fifo"), "is not a regular file"));
	write_file("/bin/empty", "", 0);
	CHECK(is_refused(below("/bin/empty"), "is empty"));
	CHECK(getcwd(cwd, sizeof(cwd)) && chdir(below("/bin/.")) == 0);
	snprintf(relative, sizeof(relative), "./prog");
	CHECK(open_name(relative) == o && open_name("../bin/prog") == o);
	CHECK(chdir(cwd) == 0);
	o = open_name("sh"); /* on the real $PATH */
	CHECK(o && o->path[0] == '/');
}

static void check_rank(void)
{
	CHECK(up_library_rank("libc.so.6", "libc.so.6") == 0);
	CHECK(up_library_rank("libc.so.6", "libc") == 1);
	CHECK(up_library_rank("libc.so", "libc") == 2);
	CHECK(up_library_rank("libc-2.31.so", "libc") == 3);
	CHECK(up_library_rank("ld-musl-x86_64.so.1", "libc") == 4);
	CHECK(up_library_rank("libcap.so.2", "libc") == -1);
	CHECK(up_library_rank("libc-client.so.2007", "libc") == -1);
	CHECK(up_library_rank("libc.so.6", "libc.so") == 1);
	CHECK(up_library_rank("libc.song", "libc.so") == -1);
	CHECK(up_library_rank("libc", "libc.so") == -1);
	CHECK(up_library_is_better(1, "libx.so.10", 1, "libx.so.9"));
	CHECK(!up_library_is_better(2, "libx.so.10", 1, "libx.so.9"));
}

/* ---- processes ---- */

/* A child that runs fn, if any, says that it is ready, and waits to be killed. */
static pid_t start_child(bool (*fn)(void))
{
	int pipes[2];
	char ok = 0;

	if (pipe(pipes) < 0)
		return -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		ok = !fn || fn();
		if (write(pipes[1], &ok, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(pipes[0], &ok, 1) != 1)
		ok = 0;
	close(pipes[0]);
	close(pipes[1]);
	if (ok)
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return -1;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void check_maps(void)
{
	struct up_procmap m;
	char exe[300] = "";
	bool has_code = false;
	struct stat st;

	CHECK(stat("/proc/self/exe", &st) == 0);
	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	CHECK(up_procmap_read(getpid(), &m) == 0 && m.nr > 5);
	for (size_t i = 0; i < m.nr; i++) {
		uint64_t here = (uint64_t)(uintptr_t)check_maps;

		CHECK(m.v[i].start < m.v[i].end);
		if (here >= m.v[i].start && here < m.v[i].end)
			has_code =
				m.v[i].is_exec && !strcmp(m.v[i].path, exe) && !m.v[i].is_deleted;
	}
	CHECK(has_code);
	up_procmap_fini(&m);
	CHECK(up_procmap_read(999999999, &m) == -ENOENT && !m.nr);
	CHECK(!up_proc_has_own_root(getpid()));
}

static bool has_mapped(pid_t pid, const char *path)
{
	struct up_procmap m;
	bool is_mapped = false;

	if (up_procmap_read(pid, &m) < 0)
		return false;
	for (size_t i = 0; i < m.nr; i++)
		is_mapped = is_mapped || (m.v[i].is_exec && !strcmp(m.v[i].path, path));
	up_procmap_fini(&m);
	return is_mapped;
}

/* The process's own program and its libraries come before anything on $PATH. */
static void check_mapped(void)
{
	pid_t pid = start_child(NULL);
	char exe[300] = "";

	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	start(pid, NULL, NULL);
	const struct up_object *o = open_name(strrchr(exe, '/') + 1);
	CHECK(o && !strcmp(o->path, exe));
	CHECK(open_name(exe) == o);
	o = open_name("libc");
	CHECK(o && has_mapped(pid, o->path));
	CHECK(is_refused("no-such-thing", "is mapped by process"));
	end_child(pid);
}

/* Within exec() a process has its new name a moment before it has mapped the file. */
static bool wait_mapped(pid_t pid, const char *path)
{
	for (int i = 0; i < 5000; i++) {
		if (has_mapped(pid, path))
			return true;
		usleep(2000);
	}
	return false;
}

/* A program that was replaced while it runs is found by its mapping. */
static void check_deleted(void)
{
	size_t size;
	void *b = read_all("/bin/sleep", &size);
	struct stat old, now;
	char path[300];

	write_file("/bin/replaced", b, size);
	free(b);
	snprintf(path, sizeof(path), "%s/bin/replaced", root);
	CHECK(stat(path, &old) == 0);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		execl(path, path, "1000", (char *)NULL);
		_exit(1);
	}
	CHECK(wait_mapped(pid, path));
	CHECK(unlink(path) == 0);
	put_elf("/bin/replaced");
	start(pid, NULL, NULL);
	const struct up_object *o = open_name("replaced");
	if (o || geteuid() == 0) {
		CHECK(o && !strncmp(o->path, "/proc/", 6) && stat(o->path, &now) == 0 &&
		      now.st_ino == old.st_ino);
		CHECK(open_name(path) == o);
	} else {
		printf("objfind: not root: files without a name are not tested\n");
	}
	end_child(pid);
}

static bool enter_root(void)
{
	return chroot(root) == 0;
}

/* A mount namespace of its own, in which the root folder is another file system. */
static bool enter_container(void)
{
	char command[900];

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	if (mount("none", below("/box/."), "tmpfs", 0, NULL) < 0)
		return false;
	snprintf(command, sizeof(command), "cp -r %s/bin %s/opt %s/etc %s/data %s/box/", root, root,
		 root, root, root);
	return system(command) == 0 && chroot(below("/box")) == 0;
}

static void check_containers(void)
{
	char want[300];
	struct stat a, b;
	pid_t pid = start_child(enter_root);

	if (pid < 0) {
		printf("objfind: not root: containers are not tested\n");
		return;
	}
	CHECK(up_proc_has_own_root(pid));
	start(pid, NULL, "/bin:/sbin");
	CHECK(leads_to("libfoo", "/opt/lib/libfoo.so.10"));
	CHECK(leads_to("/data/real", "/data/real"));
	CHECK(leads_to("linked", "/data/real"));
	end_child(pid);
	pid = start_child(enter_container);
	if (pid < 0) {
		printf("objfind: no mount namespaces here: not tested\n");
		return;
	}
	start(pid, NULL, "/bin:/sbin");
	const struct up_object *o = open_name("libfoo");
	snprintf(want, sizeof(want), "/proc/%d/root", (int)pid);
	CHECK(o && !strncmp(o->path, want, strlen(want)));
	CHECK(o && stat(o->path, &a) == 0 && stat(below("/opt/lib/libfoo.so.10"), &b) == 0 &&
	      a.st_dev != b.st_dev);
	o = open_name("linked");
	CHECK(o && strstr(o->path, "/root") && strstr(o->path, "/data/real"));
	end_child(pid);
}

/* ---- damage ---- */

static void check_damage(void)
{
	unsigned char good[4096], bad[4096];
	size_t size = make_cache(good, true);
	const char *name, *path;
	struct up_ldcache c;
	uint64_t rng = 4242;
	size_t sum = 0;

	write_file("/cache", good, size);
	CHECK(up_ldcache_load(below("/cache"), &c) && c.nr == NR_LISTED);
	CHECK(up_ldcache_entry(&c, 1, &name, &path) && !strcmp(name, "libfoo.so.10"));
	CHECK(!up_ldcache_entry(&c, c.nr, &name, &path));
	up_ldcache_fini(&c);
	for (int i = 0; i < 1500; i++) {
		memcpy(bad, good, size);
		for (int k = 0; k < 6; k++) {
			rng = rng * 6364136223846793005u + 1442695040888963407u;
			bad[(rng >> 40) % (k < 3 ? 120 : size)] = (unsigned char)(rng >> 32);
		}
		size_t cut = i % 4 ? size : (rng >> 20) % size;
		write_file("/cache", bad, cut);
		if (!up_ldcache_load(below("/cache"), &c))
			continue;
		for (uint32_t k = 0; k < c.nr; k++)
			if (up_ldcache_entry(&c, k, &name, &path))
				sum += strlen(name) + strlen(path);
		up_ldcache_fini(&c);
	}
	CHECK(sum > 0);
	CHECK(!up_ldcache_load(below("/no-cache"), &c) && !up_ldcache_load(root, &c));
}

static void remove_root(void)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	CHECK(system(command) == 0);
}

int main(void)
{
	snprintf(root, sizeof(root), "/tmp/up_objfind_XXXXXX");
	if (!mkdtemp(root))
		return 1;
	fill_root();
	check_rank();
	start(0, root, "/bin:/sbin::/nowhere:relative");
	check_libraries();
	check_programs();
	check_near();
	put_cache(true);
	CHECK(leads_to("libfoo", "/opt/lib/libfoo.so.10"));
	check_paths();
	check_maps();
	check_mapped();
	check_deleted();
	check_containers();
	check_damage();
	up_elf_resolver_free(resolver);
	up_buf_fini(&why.msg);
	up_buf_fini(&why.hint);
	remove_root();
	return unit_report("objfind");
}
