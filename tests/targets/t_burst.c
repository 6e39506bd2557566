/* Four threads draw numbered tickets under a lock, 3,000 each unless told another number: their
 * order is the true one. */
#include <pthread.h>
#include <stdlib.h>

#include "probed.h"

#define THREADS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long next_ticket, nr_each = 3000;

PROBED long draw(long ticket, long thread)
{
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
	pthread_t t[THREADS];

	if (argc > 1)
		nr_each = atol(argv[1]);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return next_ticket != THREADS * nr_each;
}
