/* A service of version 1: serve() gets the version and has another place in version 2, see
 * t_version2.c. */
#include <stdio.h>

#include "probed.h"

#ifndef VERSION
#define VERSION 1
#endif

#if VERSION == 2
PROBED long padding(long n)
{
	return n * 1234567 + n / 7;
}
#endif

PROBED int serve(int version)
{
	return version + 1;
}

int main(void)
{
#if VERSION == 2
	printf("%ld ", padding(0));
#endif
	printf("version %d\n", serve(VERSION) - 1);
	return 0;
}
