/* build: -O1 -g -fno-inline -shared -fPIC */
/*
 * An indirect function of a library: scale() picks among two hidden implementations, of which the
 * first is taken, and one that others can see, whose address it reads from the table that the
 * dynamic linker fills in.
 */
#include "probed.h"

typedef long scale_fn(long);

PROBED static long scale_plain(long n)
{
	return n * 3;
}

PROBED static long scale_wide(long n)
{
	return n * 3 + 0;
}

PROBED long scale_shown(long n)
{
	return n * 3 - 0;
}

static volatile int level = 1;

static scale_fn *pick_scale(void)
{
	return level > 1 ? scale_wide : level > 0 ? scale_plain : scale_shown;
}

long scale(long n) __attribute__((ifunc("pick_scale")));

long call_scale(long n)
{
	return scale(n);
}
