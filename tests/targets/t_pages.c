/*
 * Texts that lie where memory is special. Each is handed to take() with a name; `give(name)`
 * returns it, so that it can be read at the return too. What a reader should see is printed as
 * `name text`, (fault) where there is none, with ... behind it where memory ends before the text
 * does.
 *
 *   cold      in a mapped file of which no page has been touched
 *   across    from one such page into the next
 *   gone      where nothing is mapped
 *   none      in a page that may not be read
 *   beyond    behind the end of a mapped file
 *   into      runs into a page that may not be read
 *   upto      ends with the last byte before such a page
 *   shared    in shared memory
 *   null, low, odd   at 0, at 8, at an address that cannot be
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probed.h"

#define PAGE 4096
#define FILE_PAGES 64

PROBED const char *take(const char *name, const char *text)
{
	(void)name;
	return text;
}

static char *map(int prot, int flags, int fd, size_t size)
{
	char *p = mmap(NULL, size, prot, flags, fd, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

/* A file of FILE_PAGES pages without a NUL but for each second page's last byte; not in memory. */
static int make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char page[PAGE];

	for (int i = 0; i < FILE_PAGES; i++) {
		memset(page, 'a' + i % 26, PAGE);
		if (i % 2)
			page[9] = 0;
		if (write(fd, page, PAGE) != PAGE)
			exit(1);
	}
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return fd;
}

static void say(const char *name, const char *text, const char *seen)
{
	printf("%s %s\n", name, seen);
	take(name, text);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	int fd = make_file(argv[1]);
	char *file = map(PROT_READ, MAP_PRIVATE, fd, FILE_PAGES * PAGE);
	char *tail = map(PROT_READ, MAP_PRIVATE, fd, (FILE_PAGES + 2) * PAGE);
	char *mine = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 4 * PAGE);
	char *shared = map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, PAGE);

	madvise(file, FILE_PAGES * PAGE, MADV_RANDOM);
	memset(mine, 'z', 2 * PAGE);
	mprotect(mine + 2 * PAGE, PAGE, PROT_NONE);
	munmap(mine + 3 * PAGE, PAGE);
	strcpy(shared, "in shared memory");
	say("cold", file + 41 * PAGE, "ppppppppp");
	say("across", file + 51 * PAGE - 3, "yyyzzzzzzzzz");
	say("gone", mine + 3 * PAGE, "(fault)");
	say("none", mine + 2 * PAGE, "(fault)");
	say("beyond", tail + (FILE_PAGES + 1) * PAGE, "(fault)");
	say("into", mine + 2 * PAGE - 5, "zzzzz...");
	mine[2 * PAGE - 1] = 0;
	say("upto", mine + 2 * PAGE - 5, "zzzz");
	say("shared", shared, "in shared memory");
	say("null", NULL, "(fault)");
	say("low", (char *)8, "(fault)");
	say("odd", (char *)0x1234567890abcdef, "(fault)");
	fflush(stdout);
	/* So that its memory can still be looked at. */
	if (argc > 2)
		sleep(1);
	return 0;
}
