/* Calls a function of two numbers a few times: something to probe. See add.up. */
#include <stdio.h>

__attribute__((noinline)) int add(int a, int b)
{
	return a + b;
}

int main(void)
{
	int sum = 0;

	for (int i = -1; i <= 3; i++)
		sum = add(sum, i);
	printf("%d\n", sum);
	return 0;
}
