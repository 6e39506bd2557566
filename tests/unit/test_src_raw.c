/*
 * The binary source on this machine's kernel: an instance of its own, and in it the tracepoint
 * raw_syscalls:sys_enter, filtered to getppid() calls, whose unused arguments carry numbers.
 * Skipped (77) where tracefs cannot be used.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/merge.h"
#include "runtime/src_raw.h"
#include "tests/unit/unit.h"

#define TRACEFS "/sys/kernel/tracing"
#define EVENT "events/raw_syscalls/sys_enter"
#define NR_THREADS 4
#define NR_CALLS 5000      /* of each */
#define MAGIC 0x7570746963 /* the second argument of our calls */

static char instance[128];
static unsigned commit_size;
static bool free_running; /* threads do not wait for each other */

static int write_file(const char *dir, const char *file, const char *text)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static ssize_t read_text(const char *dir, const char *file, char *text, size_t cap)
{
	char path[256];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, text, cap - 1);
	close(fd);
	if (len >= 0)
		text[len] = 0;
	return len;
}

static bool skip(const char *what)
{
	printf("src_raw: skipped: %s: %s\n", what, strerror(errno));
	return false;
}

static bool make_instance(void)
{
	char text[1024], filter[64];
	ssize_t len;
	size_t size;

	if (access(TRACEFS "/instances", F_OK) && mount("nodev", TRACEFS, "tracefs", 0, NULL))
		return skip("cannot mount tracefs");
	snprintf(instance, sizeof(instance), TRACEFS "/instances/uptick_test_ring_%d", getpid());
	if (mkdir(instance, 0700))
		return skip("cannot make a tracing instance");
	len = read_text(TRACEFS, "events/header_page", text, sizeof(text));
	CHECK(len > 0 && !up_ringpage_layout(text, (size_t)len, &commit_size, &size));
	CHECK(commit_size == sizeof(long));
	CHECK(!write_file(instance, "trace_clock", "mono"));
	CHECK(!write_file(instance, "buffer_percent", "0"));
	snprintf(filter, sizeof(filter), "id == %d", SYS_getppid);
	if (write_file(instance, EVENT "/filter", filter)) {
		rmdir(instance);
		return skip("no event raw_syscalls:sys_enter");
	}
	return true;
}

static void enable(bool on)
{
	CHECK(!write_file(instance, EVENT "/enable", on ? "1" : "0"));
}

static void remove_instance(void)
{
	enable(false);
	CHECK(!rmdir(instance));
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* One numbered event. */
static void hit(long number)
{
	syscall(SYS_getppid, number, MAGIC);
}

/* The number of one of our events; -1 when it is somebody else's. */
static int64_t number_of(const struct up_event *ev)
{
	uint64_t arg[2]; /* behind common fields and the system call's number */

	if (ev->len < 32)
		return -1;
	memcpy(arg, (const char *)ev->payload + 16, sizeof(arg));
	return arg[1] == MAGIC ? (int64_t)arg[0] : -1;
}

/* What was read: how many of our events, and whether their numbers came in order. */
struct reader {
	struct up_src_raw src;
	struct up_merge m;
	struct up_src_raw_stats before; /* the kernel's counts at first */
	uint64_t seen;                  /* ours */
	uint64_t others;                /* of other processes */
	uint64_t out_of_order;          /* numbers that were not higher than the one before */
	int64_t last;                   /* number, of any thread */
	int64_t last_of[NR_THREADS];    /* the same of each, when they run freely */
	unsigned most_pages;            /* held at a time */
};

static void reader_open(struct reader *r, size_t subbuf_size, size_t max_bytes, bool unordered)
{
	*r = (struct reader){ .last = -1 };
	memset(r->last_of, -1, sizeof(r->last_of));
	CHECK(!up_src_raw_open(&r->src, instance, subbuf_size, commit_size, max_bytes));
	CHECK(!up_merge_init(&r->m, &r->src.pages, commit_size, unordered));
	CHECK(!up_src_raw_stats(&r->src, &r->before));
}

/* The kernel's counts since the reader was opened. */
static struct up_src_raw_stats count_kernel(struct reader *r)
{
	struct up_src_raw_stats s;

	CHECK(!up_src_raw_stats(&r->src, &s));
	CHECK(!s.entries);
	s.overrun -= r->before.overrun;
	s.commit_overrun -= r->before.commit_overrun;
	s.dropped -= r->before.dropped;
	s.read -= r->before.read;
	return s;
}

static void reader_close(struct reader *r)
{
	CHECK(!r->m.corrupt_pages);
	up_merge_fini(&r->m);
	up_src_raw_close(&r->src);
}

static void take_events(struct reader *r, uint64_t limit)
{
	struct up_event ev;
	int64_t number;

	while (up_merge_next(&r->m, limit, &ev)) {
		number = number_of(&ev);
		if (number < 0) {
			r->others++;
			continue;
		}
		r->seen++;
		r->out_of_order += number <= *(free_running ? &r->last_of[number >> 32] : &r->last);
		r->last_of[number >> 32] = r->last = number;
	}
}

/* One round; everything when `last`. */
static void read_round(struct reader *r, bool last)
{
	uint64_t limit = r->m.unordered ? 0 : up_src_raw_watermark(&r->src);
	int got;

	if (last)
		limit = UINT64_MAX;
	do {
		got = up_src_raw_drain(&r->src);
		CHECK(got >= 0);
		if (r->src.pages.nr_pages - r->src.pages.nr_free > r->most_pages)
			r->most_pages = r->src.pages.nr_pages - r->src.pages.nr_free;
		take_events(r, limit);
	} while (r->m.unordered ? r->src.held_back || (last && got) : up_merge_waiting(&r->m));
	CHECK(!last || !up_merge_pending(&r->m));
}

/*
 * Threads that take a ticket and make the call with it, so that the tickets tell the true order; or
 * threads that run freely and number their own calls, so that events of two CPUs are under way at
 * the same time.
 */
static pthread_mutex_t ticket_lock = PTHREAD_MUTEX_INITIALIZER;
static long ticket;
static atomic_int nr_running;

static void *make_calls(void *arg)
{
	long who = (long)arg;

	for (long i = 0; i < NR_CALLS; i++) {
		if (free_running) {
			hit(who << 32 | i);
			continue;
		}
		pthread_mutex_lock(&ticket_lock);
		hit(ticket++);
		pthread_mutex_unlock(&ticket_lock);
	}
	nr_running--;
	return NULL;
}

static void start_threads(pthread_t *thread)
{
	ticket = 0;
	nr_running = NR_THREADS;
	for (long i = 0; i < NR_THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, make_calls, (void *)i));
}

/* Reads while the threads run, until all is there. */
static void read_all(struct reader *r, pthread_t *thread)
{
	while (nr_running) {
		read_round(r, false);
		usleep(200);
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	enable(false);
	read_round(r, true);
}

/* Every event, in the order of the numbers, with several page sizes and little memory. */
static void test_order(unsigned subbuf_kb, size_t max_bytes, bool unordered)
{
	struct up_src_raw_stats stats;
	pthread_t thread[NR_THREADS];
	struct reader r;
	char text[16];

	snprintf(text, sizeof(text), "%u", subbuf_kb);
	if (write_file(instance, "buffer_subbuf_size_kb", text) && subbuf_kb != 4)
		return; /* before 6.8 there is one size */
	CHECK(!write_file(instance, "buffer_size_kb", "8192"));
	reader_open(&r, (size_t)subbuf_kb << 10, max_bytes, unordered);
	enable(true);
	start_threads(thread);
	read_all(&r, thread);
	CHECK(r.seen == (uint64_t)NR_CALLS * NR_THREADS);
	CHECK(unordered || (!r.out_of_order && !r.m.late && !r.src.unproven));
	CHECK(!r.src.lost && !r.src.lost_unknown);
	stats = count_kernel(&r);
	CHECK(!stats.overrun && !stats.dropped && !stats.commit_overrun);
	CHECK(stats.read == r.seen + r.others);
	CHECK(r.most_pages <= r.src.pages.nr_pages);
	reader_close(&r);
}

/* Nobody reads: what the kernel lost and what is still there must add up. */
static void test_loss(bool overwrite)
{
	struct up_src_raw_stats stats;
	const long count = 20000;
	struct reader r;

	/* 4 KiB pages are filled by our events to the last byte: no room for a count. */
	bool counted = !write_file(instance, "buffer_subbuf_size_kb", "8");

	CHECK(!write_file(instance, "buffer_size_kb", "64"));
	CHECK(!write_file(instance, "options/overwrite", overwrite ? "1" : "0"));
	reader_open(&r, counted ? 8192 : 4096, 1 << 20, false);
	enable(true);
	for (long i = 0; i < count; i++)
		hit(i);
	enable(false);
	read_round(&r, true);
	stats = count_kernel(&r);
	CHECK(r.seen < (uint64_t)count && r.seen > 0);
	CHECK(r.seen + r.others + stats.overrun + stats.dropped + stats.commit_overrun >=
	      (uint64_t)count);
	CHECK(stats.read == r.seen + r.others);
	CHECK(!r.out_of_order);
	/* The pages tell of what was overwritten, not of what was refused. */
	CHECK(r.src.lost_unknown == (overwrite && !counted));
	CHECK(r.src.lost_unknown || r.src.lost == stats.overrun);
	CHECK(overwrite ? !stats.dropped && stats.overrun : !stats.overrun && stats.dropped);
	CHECK(overwrite ? r.last == count - 1 : r.last < count - 1);
	reader_close(&r);
	CHECK(!write_file(instance, "options/overwrite", "1"));
}

/* One event alone: epoll wakes, and a round brings it out. Prints how long that takes. */
static void test_lone_event(void)
{
	int64_t start, worst = 0, sum = 0;
	const int rounds = 50;
	struct reader r;

	reader_open(&r, 4096, 1 << 20, false);
	enable(true);
	for (int i = 0; i < rounds; i++) {
		struct pollfd p = { r.src.epfd, POLLIN, 0 };

		usleep(2000);
		start = now_us();
		hit(i);
		CHECK(poll(&p, 1, 5000) == 1);
		do
			read_round(&r, false);
		while (up_merge_pending(&r.m));
		start = now_us() - start;
		sum += start;
		worst = start > worst ? start : worst;
		CHECK(r.seen + r.others > (uint64_t)i);
		CHECK(r.last == i);
	}
	printf("src_raw: a lone event was out after %lld us on average, %lld at worst\n",
	       (long long)(sum / rounds), (long long)worst);
	enable(false);
	read_round(&r, true);
	CHECK(r.seen == (uint64_t)rounds && !r.m.late);
	/* Nothing more: not readable, and nothing to wait for. */
	CHECK(!poll(&(struct pollfd){ r.src.epfd, POLLIN, 0 }, 1, 0));
	CHECK(up_src_raw_drain(&r.src) == 0 && !up_merge_waiting(&r.m));
	reader_close(&r);
}

static void test_failures(void)
{
	struct up_src_raw s;

	CHECK(up_src_raw_open(&s, "/nowhere/at/all", 4096, 8, 1 << 20) == -ENOENT);
	CHECK(s.failed && !strcmp(s.failed, "/nowhere/at/all/per_cpu"));
	up_src_raw_close(&s);
	CHECK(up_src_raw_open(&s, instance, 100, 8, 1 << 20) == -EINVAL);
	up_src_raw_close(&s);
}

/* Both ways work, and leave the calling thread's affinity and policy alone. */
static void test_quiesce(void)
{
	struct up_quiesce q;
	cpu_set_t before, after;
	int barrier = up_quiesce_barrier();

	CHECK(!barrier || barrier == -EINVAL || barrier == -ENOSYS);
	CHECK(!sched_getaffinity(0, sizeof(before), &before));
	up_quiesce_init(&q);
	for (int i = 0; i < 20; i++)
		CHECK(!up_quiesce_walk(&q) && !up_quiesce_wait(&q));
	CHECK(q.has_walker && q.may_walk && q.may_bar);
	CHECK(!sched_getaffinity(0, sizeof(after), &after) && CPU_EQUAL(&before, &after));
	CHECK(sched_getscheduler(0) == SCHED_OTHER);
	up_quiesce_fini(&q);
	/* Without the list of CPUs the barrier is left. */
	up_quiesce_init(&q);
	close(q.online_fd);
	q.online_fd = -1;
	CHECK(up_quiesce_walk(&q) == -EBADF);
	CHECK(up_quiesce_wait(&q) == barrier);
	up_quiesce_fini(&q);
}

int main(void)
{
	if (!make_instance())
		return 77;
	test_quiesce();
	test_failures();
	test_lone_event();
	test_order(4, 32 << 20, false);
	test_order(64, 32 << 20, false);
	test_order(4, 1, false);
	free_running = true;
	test_order(64, 32 << 20, false);
	free_running = false;
	test_order(16, 1, true);
	test_loss(true);
	test_loss(false);
	remove_instance();
	return unit_report("src_raw");
}
