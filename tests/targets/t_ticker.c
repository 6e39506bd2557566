/* Calls tick() with 0, 1, 2 ... every millisecond, 20,000 times unless told another number. */
#include <stdlib.h>
#include <time.h>

#include "probed.h"

PROBED long tick(long nr)
{
	return nr + 1;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20000;

	for (long i = 0; i < n;) {
		i = tick(i);
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	return 0;
}
