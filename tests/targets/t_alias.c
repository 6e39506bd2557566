/* One function under three names, called ten times by one of them; another, of similar name, three
 * times. */
#include "probed.h"

PROBED int put_real(int n)
{
	return n + 1;
}

int put_weak(int n) __attribute__((weak, alias("put_real")));
int put_other(int n) __attribute__((alias("put_real")));

PROBED int put_apart(int n)
{
	return n + 2;
}

int main(void)
{
	int r = 0;

	for (int i = 0; i < 10; i++)
		r = put_weak(r);
	for (int i = 0; i < 3; i++)
		r = put_apart(r);
	return r != 16;
}
