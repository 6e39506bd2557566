/*
 * Does what it is asked: a line "alpha N" or "beta N" on standard input makes it call that function
 * with 1 to N, "pace N US" calls alpha so often with a pause between the calls; "done" is the
 * answer. It ends with its input.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probed.h"

PROBED int alpha(int n)
{
	return n * 2;
}

PROBED int beta(int n)
{
	return n + 1;
}

static long call_all(int (*fn)(int), long nr, long us)
{
	struct timespec pause = { us / 1000000, us % 1000000 * 1000 };
	long sum = 0;

	for (long i = 1; i <= nr; i++) {
		sum += fn((int)i);
		if (us)
			nanosleep(&pause, NULL);
	}
	return sum;
}

int main(void)
{
	char line[128], what[32];
	long nr, us, sum = 0;

	while (fgets(line, sizeof(line), stdin)) {
		us = 0;
		if (sscanf(line, "%31s %ld %ld", what, &nr, &us) < 2)
			return 1;
		sum += call_all(strcmp(what, "beta") ? alpha : beta, nr, us);
		puts("done");
		fflush(stdout);
	}
	return sum == 42;
}
