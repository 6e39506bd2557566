/* Makes, runs and frees jobs of a few milliseconds; some fail: structures, times and errors to look
 * at. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

struct job {
	uint32_t id;       /* at 0 */
	int16_t priority;  /* at 4 */
	char name[18];     /* at 6 */
	double cost;       /* at 24, in milliseconds */
	struct job *next;  /* at 32 */
	const char *owner; /* at 40 */
};

static struct job *queue;

NOINLINE struct job *job_new(uint32_t id, const char *owner)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		exit(1);
	job->id = id;
	job->priority = (int16_t)(2 - (int)(id % 5));
	snprintf(job->name, sizeof(job->name), "job %u", id);
	job->cost = 0.5 * (id % 7);
	job->owner = owner;
	job->next = queue;
	queue = job;
	return job;
}

/* 0, or an error as the kernel has them: negative. */
NOINLINE int job_run(struct job *job)
{
	struct timespec ts = { .tv_nsec = (long)(job->cost * 1e6) };

	if (job->id % 7 == 3)
		return -EAGAIN;
	if (job->priority < -1)
		return -EPERM;
	nanosleep(&ts, NULL);
	return 0;
}

NOINLINE int job_retry(struct job *job)
{
	job->priority = 0;
	return job_run(job);
}

NOINLINE void job_free(struct job *job)
{
	free(job);
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 20, failed = 0;

	for (int i = 1; i <= nr; i++) {
		struct job *job = job_new((uint32_t)i, i % 3 ? "alice" : "bob");

		if (job_run(job) < 0 && job_retry(job) < 0)
			failed++;
		if (i % 4 == 0) {
			while ((job = queue)) {
				queue = job->next;
				job_free(job);
			}
		}
	}
	return failed > 100;
}
