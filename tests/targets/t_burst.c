/*
 * Threads draw numbered tickets under a lock: their order is the true one. Four threads and 3,000
 * tickets each, unless told other numbers: `t_burst TICKETS THREADS`. With a third word each thread
 * goes to another processor every seven tickets, while it has one drawn.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "probed.h"

#define MAX_THREADS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long next_ticket, nr_each = 3000, nr_threads = 4;
static int is_moving;

/* Goes to the next processor, if that is possible. */
static void move(long ticket)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned long)(ticket / 7 % sysconf(_SC_NPROCESSORS_ONLN)), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

PROBED long draw(long ticket, long thread)
{
	if (is_moving && ticket % 7 == 0)
		move(ticket);
	return ticket + thread;
}

static void *run(void *arg)
{
	for (long i = 0; i < nr_each; i++) {
		pthread_mutex_lock(&lock);
		draw(next_ticket++, (long)arg);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[MAX_THREADS];

	if (argc > 1)
		nr_each = atol(argv[1]);
	if (argc > 2)
		nr_threads = atol(argv[2]);
	if (nr_threads > MAX_THREADS)
		return 2;
	is_moving = argc > 3;
	for (long i = 0; i < nr_threads; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < nr_threads; i++)
		pthread_join(t[i], NULL);
	return next_ticket != nr_threads * nr_each;
}
