/* compare() is an indirect function: its symbol is pick(), which chooses compare_fast() once. Five
 * calls. */
#include "probed.h"

PROBED int compare_slow(int n)
{
	return n - 1;
}

PROBED int compare_fast(int n)
{
	return n + 1;
}

static int (*pick(void))(int)
{
	return compare_fast;
}

int compare(int n) __attribute__((ifunc("pick")));

int main(void)
{
	int r = 0;

	for (int i = 1; i <= 5; i++)
		r += compare(i);
	return r != 20;
}
