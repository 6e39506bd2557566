/* Sums squares in a loop: a place inside a function to probe. See loop-index.up. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) int sum_of_squares(int n)
{
	int sum = 0;

	for (int i = 1; i <= n; i++)
		sum += i * i;
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;

	printf("%d\n", sum_of_squares(n));
	return 0;
}
