/*
 * Calls of the C library of known number: allocations of sizes that nobody else asks for, a mutex
 * that is waited for, a thread and its end, a file that is written and read.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

/* Three of 70001, two of 70002 of which one stays, one that grows from 70003 to 70004. */
static void allocate(void)
{
	void *volatile p[3];

	for (int i = 0; i < 3; i++)
		p[i] = malloc(70001);
	for (int i = 0; i < 3; i++)
		free(p[i]);
	p[0] = calloc(35001, 2);
	p[1] = calloc(2, 35001);
	free(p[0]);
	p[2] = malloc(70003);
	p[2] = realloc(p[2], 70004);
	free(p[2]);
}

static void *wait_for_lock(void *arg)
{
	pthread_mutex_lock(&other);
	ready = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&other);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void wait_for_thread(void)
{
	pthread_t t;

	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&other);
	pthread_create(&t, NULL, wait_for_lock, NULL);
	while (!ready)
		pthread_cond_wait(&cond, &other);
	pthread_mutex_unlock(&other);
	usleep(30000);
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
}

static void use_file(void)
{
	static char data[5000];
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/t_libc.data",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (write(fd, data, 1234) != 1234)
		exit(1);
	close(fd);
	fd = open(path, O_RDONLY);
	if (read(fd, data, sizeof(data)) != 1234)
		exit(1);
	close(fd);
	unlink(path);
	snprintf(path, sizeof(path), "/nowhere/t_libc.none");
	if (open(path, O_RDONLY) >= 0)
		exit(1);
}

int main(void)
{
	allocate();
	wait_for_thread();
	use_file();
	return 0;
}
