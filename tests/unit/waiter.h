/* A thread of the test that waits until it may end. One at a time. */
#ifndef UP_TESTS_WAITER_H
#define UP_TESTS_WAITER_H

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_barrier_t waiter_barrier;

static inline void *waiter_run(void *tid)
{
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&waiter_barrier);
	pthread_barrier_wait(&waiter_barrier);
	return NULL;
}

static inline pthread_t waiter_start(pid_t *tid)
{
	pthread_t t;

	pthread_barrier_init(&waiter_barrier, NULL, 2);
	pthread_create(&t, NULL, waiter_run, tid);
	pthread_barrier_wait(&waiter_barrier);
	return t;
}

static inline void waiter_end(pthread_t t)
{
	pthread_barrier_wait(&waiter_barrier);
	pthread_join(t, NULL);
	pthread_barrier_destroy(&waiter_barrier);
}

#endif
