/* Which process a thread belongs to: by events, by /proc, and when it cannot be told. */
#include "runtime/procs.h"

#include <sys/wait.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "tests/unit/unit.h"
#include "tests/unit/waiter.h"

#define THREAD 0x00010000 /* CLONE_THREAD */
#define NOBODY 0x3ffffff0 /* no kernel gives such a number */

static uint64_t now(void)
{
	return up_clock_ns(CLOCK_MONOTONIC);
}

/* Events were lost up to a time. */
static void lose(struct up_procs *p, struct up_gaps *gaps, uint64_t time)
{
	gaps->last = time;
	p->gaps = gaps;
}

/* Threads born and gone within the trace are known by their events alone. */
static void test_events(void)
{
	struct up_procs p;

	up_procs_init(&p);
	up_procs_know(&p, NOBODY, NOBODY, 1);
	up_procs_born(&p, NOBODY, NOBODY + 1, THREAD, 2);
	up_procs_born(&p, NOBODY + 1, NOBODY + 2, THREAD, 3);
	up_procs_born(&p, NOBODY + 1, NOBODY + 3, 0, 4);
	up_procs_born(&p, NOBODY + 3, NOBODY + 4, THREAD, 5);
	CHECK(up_procs_of(&p, NOBODY + 1, 6) == NOBODY && up_procs_of(&p, NOBODY + 2, 6) == NOBODY);
	CHECK(up_procs_of(&p, NOBODY + 3, 6) == NOBODY + 3);
	CHECK(up_procs_of(&p, NOBODY + 4, 6) == NOBODY + 3);
	/* A number that is given away again. */
	up_procs_died(&p, NOBODY + 2);
	up_procs_born(&p, NOBODY + 3, NOBODY + 2, THREAD, 7);
	CHECK(up_procs_of(&p, NOBODY + 2, 8) == NOBODY + 3);
	CHECK(p.unknown == 0);
	up_procs_died(&p, NOBODY + 2);
	CHECK(up_procs_of(&p, NOBODY + 2, 9) == 0 && p.unknown == 1);
	up_procs_fini(&p);
}

/* A thread that is not the main one begins a new program, and gets the main one's number. */
static void test_exec(void)
{
	struct up_gaps gaps = { 0 };
	struct up_procs p;

	up_procs_init(&p);
	up_procs_born(&p, 1, NOBODY, 0, 1);
	up_procs_born(&p, NOBODY, NOBODY + 1, THREAD, 2);
	up_procs_died(&p, NOBODY);
	CHECK(up_procs_of(&p, NOBODY, 3) == NOBODY);
	up_procs_born(&p, NOBODY, NOBODY + 2, THREAD, 4);
	CHECK(up_procs_of(&p, NOBODY + 2, 5) == NOBODY);
	/* Where events were lost, a new process may have got the number. */
	up_procs_died(&p, NOBODY);
	lose(&p, &gaps, 6);
	CHECK(up_procs_of(&p, NOBODY, 7) == 0);
	up_procs_fini(&p);
}

/* Main threads that have ended are not remembered for ever. */
static void test_many(void)
{
	struct up_procs p;

	up_procs_init(&p);
	for (int i = 0; i < 3 * UP_PROCS_ENDED; i++) {
		up_procs_born(&p, 1, NOBODY - i, 0, 1);
		up_procs_died(&p, NOBODY - i);
	}
	CHECK(up_table_count(&p.threads) == UP_PROCS_ENDED);
	CHECK(up_procs_of(&p, NOBODY - 3 * UP_PROCS_ENDED + 1, 2) ==
	      NOBODY - 3 * UP_PROCS_ENDED + 1);
	CHECK(up_procs_of(&p, NOBODY, 2) == 0);
	up_procs_fini(&p);
}

/* Threads of before are looked up; a later thread of the same number is not taken for them. */
static void test_proc(void)
{
	uint64_t before = now();
	struct up_procs p;
	pid_t tid;

	usleep(30000); /* the kernel tells when a thread began in steps of 10 ms */
	up_procs_init(&p);
	pthread_t t = waiter_start(&tid);
	CHECK(up_procs_of(&p, getpid(), before) == getpid());
	CHECK(up_procs_of(&p, tid, now()) == getpid() && p.unknown == 0);
	up_procs_fini(&p);
	up_procs_init(&p);
	CHECK(up_procs_of(&p, tid, before) == 0 && p.unknown == 1);
	waiter_end(t);
	up_procs_fini(&p);
}

/* What was seen once stays known when it is gone, also after a loss. */
static void test_scan(void)
{
	struct up_gaps gaps = { 0 };
	struct up_procs p;
	pid_t tid;
	pthread_t t = waiter_start(&tid);

	up_procs_init(&p);
	up_procs_scan(&p, now());
	CHECK(up_procs_of(&p, 1, now()) == 1);
	lose(&p, &gaps, now());
	CHECK(up_procs_of(&p, tid, now()) == getpid());
	waiter_end(t);
	CHECK(up_procs_of(&p, tid, now()) == getpid() && p.unknown == 0);
	up_procs_fini(&p);
}

/* The beginning of a thread was lost, and its number had belonged to somebody else. */
static void test_reused(void)
{
	struct up_gaps gaps = { 0 };
	struct up_procs p;
	pid_t tid;

	up_procs_init(&p);
	usleep(30000);
	uint64_t before = now();
	usleep(30000);
	pthread_t t = waiter_start(&tid);
	up_procs_know(&p, tid, NOBODY, before);
	CHECK(up_procs_of(&p, tid, now()) == NOBODY);
	lose(&p, &gaps, now());
	CHECK(up_procs_of(&p, tid, now()) == getpid());
	waiter_end(t);
	up_procs_fini(&p);
}

int main(void)
{
	test_events();
	test_exec();
	test_many();
	test_proc();
	test_scan();
	test_reused();
	return unit_report("procs");
}
