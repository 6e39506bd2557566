/*
 * Reading. One read() is one sub-buffer: a shorter one would leave its rest for the next read().
 *
 * The kernel gives full pages away as they are, and copies the page that is being written event by
 * event, which is dear; so a drain stops when it is down to that one. A page that is not full does
 * not tell: one that ends before a large event is not full either. But after such a page, half
 * full at most, comes one that holds that large event and is more than half full. So of two pages
 * in a row that are half full at most, one was being written.
 */
#include "runtime/src_raw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/ringpage.h"

#define FILE_NAME "trace_pipe_raw"

/*
 * The trace clock `mono` is read without a lock, and while the kernel adjusts its clock it can
 * differ from CLOCK_MONOTONIC by a few ns (kernel/time/timekeeping.c); the watermark keeps away
 * from now.
 */
#define CLOCK_SLACK_NS 1000
/* How far back an unproven watermark is: longer than events were ever seen to be in flight. */
#define UNPROVEN_NS 50000000

/* Remembers which file failed; returns err. */
static int fail(struct up_src_raw *s, int err, const char *path)
{
	free(s->failed);
	s->failed = strdup(path);
	return err;
}

static int fail_cpu(struct up_src_raw *s, int err, unsigned cpu, const char *file)
{
	char *path;

	if (asprintf(&path, "%s/per_cpu/cpu%u/%s", s->dir, cpu, file) < 0)
		return err;
	free(s->failed);
	s->failed = path;
	return err;
}

static int compare_cpus(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* The CPUs whose folders d has, ascending; the caller frees *cpus. */
static int list_cpus(DIR *d, unsigned **cpus, unsigned *nr)
{
	struct dirent *e;
	unsigned cap = 0;

	while ((e = readdir(d))) {
		unsigned cpu;
		char rest;

		if (sscanf(e->d_name, "cpu%u%c", &cpu, &rest) != 1)
			continue;
		if (*nr == cap) {
			unsigned *more = reallocarray(*cpus, cap = cap ? 2 * cap : 16, sizeof(cpu));

			if (!more)
				return -ENOMEM;
			*cpus = more;
		}
		(*cpus)[(*nr)++] = cpu;
	}
	if (!*nr)
		return -ENOENT;
	qsort(*cpus, *nr, sizeof(**cpus), compare_cpus);
	return 0;
}

/* The same for the instance. */
static int find_cpus(struct up_src_raw *s, unsigned **cpus, unsigned *nr)
{
	char *path;
	DIR *d;
	int err;

	if (asprintf(&path, "%s/per_cpu", s->dir) < 0)
		return -ENOMEM;
	d = opendir(path);
	err = d ? list_cpus(d, cpus, nr) : -errno;
	if (d)
		closedir(d);
	if (err)
		fail(s, err, path);
	free(path);
	return err;
}

static int open_cpu_file(struct up_src_raw *s, unsigned cpu, const char *file, int flags)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s/per_cpu/cpu%u/%s", s->dir, cpu, file) < 0)
		return -ENOMEM;
	fd = open(path, flags | O_CLOEXEC);
	err = fd < 0 ? fail(s, -errno, path) : fd;
	free(path);
	return err;
}

static int open_files(struct up_src_raw *s)
{
	for (unsigned i = 0; i < s->pages.nr_q; i++) {
		struct epoll_event ev = { .events = EPOLLIN, .data.u32 = i };
		unsigned cpu = s->pages.q[i].cpu;
		int fd = open_cpu_file(s, cpu, FILE_NAME, O_RDONLY | O_NONBLOCK);

		if (fd < 0)
			return fd;
		s->cpu[i].fd = fd;
		if (epoll_ctl(s->epfd, EPOLL_CTL_ADD, fd, &ev))
			return fail_cpu(s, -errno, cpu, FILE_NAME);
	}
	return 0;
}

/* Memory for the CPUs: pages and files, none of them open yet. */
static int set_up_cpus(struct up_src_raw *s, size_t subbuf_size, size_t max_bytes)
{
	unsigned *cpus = NULL, nr = 0;
	int err = find_cpus(s, &cpus, &nr);

	if (!err)
		err = up_pageset_init(&s->pages, cpus, nr, subbuf_size, max_bytes);
	free(cpus);
	if (err)
		return err;
	s->cpu = calloc(nr, sizeof(*s->cpu));
	if (!s->cpu)
		return -ENOMEM;
	for (unsigned i = 0; i < nr; i++)
		s->cpu[i].fd = -1;
	return 0;
}

int up_src_raw_open(struct up_src_raw *s, const char *instance_dir, size_t subbuf_size,
		    unsigned commit_size, size_t max_bytes)
{
	int err;

	*s = (struct up_src_raw){ .epfd = -1, .commit_size = commit_size };
	up_quiesce_init(&s->quiesce);
	if (subbuf_size < UP_RINGPAGE_MIN || subbuf_size > UP_RINGPAGE_MAX)
		return -EINVAL;
	s->dir = strdup(instance_dir);
	if (!s->dir)
		return -ENOMEM;
	err = set_up_cpus(s, subbuf_size, max_bytes);
	if (err)
		return err;
	s->epfd = epoll_create1(EPOLL_CLOEXEC);
	return s->epfd < 0 ? -errno : open_files(s);
}

void up_src_raw_close(struct up_src_raw *s)
{
	for (unsigned i = 0; s->cpu && i < s->pages.nr_q; i++)
		if (s->cpu[i].fd >= 0)
			close(s->cpu[i].fd);
	if (s->epfd >= 0)
		close(s->epfd);
	up_quiesce_fini(&s->quiesce);
	up_pageset_fini(&s->pages);
	free(s->cpu);
	free(s->dir);
	free(s->failed);
	*s = (struct up_src_raw){ .epfd = -1, .quiesce.online_fd = -1 };
}

uint64_t up_src_raw_watermark(struct up_src_raw *s)
{
	uint64_t t = up_clock_ns(CLOCK_MONOTONIC);

	s->unproven = up_quiesce_wait(&s->quiesce) != 0;
	t -= s->unproven ? UNPROVEN_NS : CLOCK_SLACK_NS;
	if (t > s->watermark)
		s->watermark = t;
	/* An empty CPU seen before proves nothing any more. */
	for (unsigned i = 0; i < s->pages.nr_q; i++)
		up_pageset_set_more(&s->pages, i, true);
	return s->watermark;
}

/* Adds up what the page's header tells of lost events; returns its walk, not begun. */
static struct up_ringpage note_lost(struct up_src_raw *s, unsigned i, const struct up_page *page)
{
	struct up_raw_cpu *c = &s->cpu[i];
	struct up_ringpage p;

	up_ringpage_init(&p, page->data, page->size, s->commit_size);
	s->nr_gaps += p.lost || p.lost_unknown;
	c->lost += p.lost;
	s->lost += p.lost;
	c->lost_unknown |= p.lost_unknown;
	s->lost_unknown |= p.lost_unknown;
	return p;
}

/* Queues a page that was read, and decides whether its CPU has been drained far enough. */
static void accept_page(struct up_src_raw *s, unsigned i, struct up_page *page)
{
	struct up_raw_cpu *c = &s->cpu[i];
	struct up_ringpage p = note_lost(s, i, page);

	if ((size_t)(p.end - p.pos) <= page->size / 2)
		c->small++;
	else
		c->small = 0;
	c->done = c->small >= 2 && p.ts > s->watermark;
	s->nr_pages++;
	up_pageset_push(&s->pages, i, page);
}

/* Reads one page of CPU i. 1 when there was one, 0 when not, -errno. */
static int read_page(struct up_src_raw *s, unsigned i)
{
	struct up_page *page = up_pageset_take(&s->pages, i);
	ssize_t len;

	if (!page) {
		s->held_back = true;
		return 0;
	}
	do
		len = read(s->cpu[i].fd, page->data, s->pages.page_size);
	while (len < 0 && errno == EINTR);
	if (len > 0) {
		page->size = (size_t)len;
		accept_page(s, i, page);
		return 1;
	}
	up_pageset_put(&s->pages, page);
	/* Nor is a file that fails waited for. */
	up_pageset_set_more(&s->pages, i, false);
	return len < 0 && errno != EAGAIN ? fail_cpu(s, -errno, s->pages.q[i].cpu, FILE_NAME) : 0;
}

int up_src_raw_drain(struct up_src_raw *s)
{
	int total = 0, err = 0, got;

	s->held_back = false;
	for (unsigned i = 0; i < s->pages.nr_q; i++) {
		s->cpu[i].done = false;
		s->cpu[i].small = 0;
	}
	do {
		got = 0;
		for (unsigned i = 0; i < s->pages.nr_q; i++) {
			int n = s->cpu[i].done ? 0 : read_page(s, i);

			if (n < 0)
				err = n;
			if (n > 0)
				got++;
			else
				s->cpu[i].done = true;
		}
		total += got;
	} while (got);
	return total || !err ? total : err;
}

/* Adds what one CPU's stats file says. */
static void add_stats(FILE *f, struct up_src_raw_stats *sum)
{
	char line[128];
	unsigned long long n;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "entries: %llu", &n) == 1)
			sum->entries += n;
		else if (sscanf(line, "overrun: %llu", &n) == 1)
			sum->overrun += n;
		else if (sscanf(line, "commit overrun: %llu", &n) == 1)
			sum->commit_overrun += n;
		else if (sscanf(line, "dropped events: %llu", &n) == 1)
			sum->dropped += n;
		else if (sscanf(line, "read events: %llu", &n) == 1)
			sum->read += n;
	}
}

static uint64_t nr_dropped(const struct up_src_raw_stats *s)
{
	return s->overrun + s->commit_overrun + s->dropped;
}

int up_src_raw_stats(struct up_src_raw *s, struct up_src_raw_stats *sum)
{
	*sum = (struct up_src_raw_stats){ 0 };
	for (unsigned i = 0; i < s->pages.nr_q; i++) {
		int fd = open_cpu_file(s, s->pages.q[i].cpu, "stats", O_RDONLY);
		FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

		if (fd < 0)
			return fd;
		if (!f) {
			close(fd);
			return -ENOMEM;
		}
		uint64_t before = nr_dropped(sum);
		add_stats(f, sum);
		fclose(f);
		s->cpu[i].dropped = nr_dropped(sum) - before;
	}
	return 0;
}
