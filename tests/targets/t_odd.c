/* Functions whose names are words of the language; two are renamed further by the test. Each is
 * called with its number. */
#include "probed.h"

PROBED int on(int n)
{
	return n;
}

PROBED int probe(int n)
{
	return n;
}

PROBED int by(int n)
{
	return n;
}

int go_start(int n) __asm__("pkg.Server$start.func1");

PROBED int go_start(int n)
{
	return n;
}

PROBED int go_method(int n)
{
	return n;
}

PROBED int with_plus(int n)
{
	return n;
}

int main(void)
{
	return on(1) + probe(2) + by(3) + go_start(4) + go_method(5) + with_plus(6) != 21;
}
