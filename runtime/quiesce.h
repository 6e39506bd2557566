/*
 * Waiting until the kernel has left, on every CPU, each section with preemption off that had begun
 * before the call. Events of the ring buffer are reserved, stamped and committed inside such a
 * section, so afterwards every event stamped before the call can be read.
 */
#ifndef UP_QUIESCE_H
#define UP_QUIESCE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

/* Must stay where it is from the first wait on: a thread looks at it. */
struct up_quiesce {
	int online_fd;    /* /sys/devices/system/cpu/online, or -1 */
	bool may_walk;    /* has visiting the CPUs not failed yet? */
	bool may_bar;     /* has the barrier not failed yet? */
	bool has_walker;  /* is the thread there? It is started by the first visit. */
	bool stop;        /* tells it to end */
	pthread_t walker; /* the thread */
	sem_t go, done;   /* how it is told to begin, and tells that it has ended */
	int result;       /* of its latest walk: 0 or -errno */
};

void up_quiesce_init(struct up_quiesce *q);
void up_quiesce_fini(struct up_quiesce *q);

/* Waits. 0, or -errno when neither way works here (then nothing is proven). */
int up_quiesce_wait(struct up_quiesce *q);

/* The two ways by themselves, for tests and measurements. */
int up_quiesce_walk(struct up_quiesce *q);
int up_quiesce_barrier(void);

#endif
