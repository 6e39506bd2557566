/* Files that become shorter while they are mapped: zeros are read, and nothing ends. */
#include "runtime/mapguard.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/elf_image.h"
#include "runtime/elf_symbols.h"
#include "tests/unit/unit.h"

#define PAGES 5

static char path[] = "/tmp/up_mapguard_XXXXXX";
static size_t page;

static bool count(void *arg, const struct up_symbol *s)
{
	(void)s;
	++*(unsigned *)arg;
	return true;
}

/* This program itself, which is cut off after it was opened. */
static void check_elf(int fd, size_t left)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct up_query all = { UP_QUERY_GLOB, "*", NULL };
	char buf[65536];
	unsigned nr = 0;
	ssize_t n;

	CHECK(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	while ((n = read(self, buf, sizeof(buf))) > 0)
		CHECK(write(fd, buf, (size_t)n) == n);
	close(self);
	struct up_elf *e = up_elf_open(fd, path, NULL);
	CHECK(e);
	if (!e)
		return;
	CHECK(!ftruncate(fd, (off_t)left));
	struct up_elf_symbols *s = up_elf_symbols_new(e);
	if (s)
		up_elf_symbols_find(s, "it", &all, count, &nr, NULL);
	CHECK(nr < 100000);
	up_elf_symbols_free(s);
	up_elf_free(e);
}

static char *map(int fd)
{
	CHECK(!ftruncate(fd, (off_t)(PAGES * page)));
	char *at = mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED);
	return at;
}

static void check_zeros(int fd)
{
	char *at = map(fd), *other = map(fd);

	CHECK(pwrite(fd, "here", 4, 0) == 4);
	CHECK(pwrite(fd, "gone", 4, (off_t)(3 * page)) == 4);
	CHECK(up_mapguard_add(at, PAGES * page - 7));
	CHECK(!memcmp(at + 3 * page, "gone", 4));
	CHECK(!ftruncate(fd, (off_t)page));
	CHECK(at[3 * page] == 0 && at[PAGES * page - 1] == 0 && at[page] == 0);
	CHECK(!memcmp(at, "here", 4));
	/* It is whole again; what has become zero stays so. */
	CHECK(!ftruncate(fd, (off_t)(PAGES * page)));
	CHECK(pwrite(fd, "back", 4, (off_t)(3 * page)) == 4 && at[3 * page] == 0);
	up_mapguard_remove(at);
	munmap(at, PAGES * page);
	munmap(other, PAGES * page);
}

/* What is not guarded ends the program as ever. */
static void check_others(int fd)
{
	char *at = map(fd);
	int status = 0;

	CHECK(up_mapguard_add(at, PAGES * page));
	up_mapguard_remove(at);
	CHECK(!ftruncate(fd, 0));
	pid_t child = fork();
	if (!child) {
		alarm(10);
		_exit(((volatile char *)at)[0]);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	munmap(at, PAGES * page);
}

int main(void)
{
	int fd = mkstemp(path);

	page = (size_t)sysconf(_SC_PAGESIZE);
	CHECK(fd >= 0);
	check_zeros(fd);
	for (size_t left = 0; left < 40 * page; left = left * 2 + 100)
		check_elf(fd, left);
	check_others(fd);
	close(fd);
	unlink(path);
	return unit_report("mapguard");
}
