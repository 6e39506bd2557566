/*
 * Calls hit(process, thread, 0, 1, 2 ...) as often and from as many threads and processes as it
 * can, and prints at its end how often it did. What it does is said by its arguments, in turn:
 *
 *     calls 2 5000    two threads call it 5,000 times each
 *     run 2 100       two threads call it for 100 ms
 *     threads 50      50 threads, one after the other, call it once; each starts one that does
 *     forks 50        50 processes do, each with a thread that does
 *     vforks 50       50 processes do that run this program
 *     exec 7          a thread that is not the main one runs this program, which calls it 7 times;
 *                     this comes last
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probed.h"

static uint64_t *total; /* shared with children that do not run another program */

PROBED long hit(int pid, int tid, long i)
{
	(void)i;
	return (long)pid << 32 | tid;
}

static void call(long nr)
{
	int pid = getpid(), tid = gettid();

	for (long i = 0; i < nr; i++)
		hit(pid, tid, i);
	__atomic_add_fetch(total, (uint64_t)nr, __ATOMIC_SEQ_CST);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void *call_often(void *nr)
{
	call(*(long *)nr);
	return NULL;
}

static void *call_until(void *end)
{
	while (now_ms() < *(uint64_t *)end)
		call(100);
	return NULL;
}

static void in_threads(long nr, void *(*fn)(void *), void *arg)
{
	pthread_t *t = calloc((size_t)nr, sizeof(*t));

	for (long i = 0; i < nr; i++)
		if (pthread_create(&t[i], NULL, fn, arg))
			exit(1);
	for (long i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	free(t);
}

/* A thread of a thread. */
static void *call_twice(void *one)
{
	in_threads(1, call_often, one);
	call(1);
	return NULL;
}

static void do_forks(long nr)
{
	long one = 1;

	for (long i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			call(1);
			in_threads(1, call_often, &one);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* What the other program calls is known here, not there. */
static void do_vforks(long nr)
{
	for (long i = 0; i < nr; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			execl("/proc/self/exe", "t_storm", "silent", "calls", "1", "1", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	*total += (uint64_t)nr;
}

static void *run_another(void *nr)
{
	char text[32];

	printf("%llu\n", (unsigned long long)*total);
	fflush(stdout);
	snprintf(text, sizeof(text), "%ld", *(long *)nr);
	execl("/proc/self/exe", "t_storm", "calls", "1", text, NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	int silent = argc > 1 && !strcmp(argv[1], "silent"), i = 1 + silent;

	total = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (; i + 1 < argc; i += 2) {
		const char *what = argv[i];
		long nr = atol(argv[i + 1]), one = 1;
		long more = i + 2 < argc ? atol(argv[i + 2]) : 0;
		uint64_t end = now_ms() + (uint64_t)more;

		if (!strcmp(what, "calls")) {
			in_threads(nr, call_often, &more);
			i++;
		} else if (!strcmp(what, "run")) {
			in_threads(nr, call_until, &end);
			i++;
		} else if (!strcmp(what, "threads")) {
			for (long k = 0; k < nr; k++)
				in_threads(1, call_twice, &one);
		} else if (!strcmp(what, "forks")) {
			do_forks(nr);
		} else if (!strcmp(what, "vforks")) {
			do_vforks(nr);
		} else if (!strcmp(what, "exec")) {
			in_threads(1, run_another, &nr);
		} else {
			return 2;
		}
	}
	if (!silent)
		printf("%llu\n", (unsigned long long)*total);
	return 0;
}
