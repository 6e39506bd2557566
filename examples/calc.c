/* A calculator for sums and products with parentheses: calls nested as its expression is. See
 * call-tree.up. */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

/* What is left of the expression. */
static const char *at;

long sum(void);

NOINLINE long number(void)
{
	char *end;
	long n = strtol(at, &end, 10);

	if (end == at) {
		fprintf(stderr, "a number is missing before \"%s\"\n", at);
		exit(2);
	}
	at = end;
	return n;
}

NOINLINE long atom(void)
{
	long n;

	if (*at != '(')
		return number();
	at++;
	n = sum();
	if (*at == ')')
		at++;
	return n;
}

NOINLINE long product(void)
{
	long n = atom();

	while (*at == '*') {
		at++;
		n *= atom();
	}
	return n;
}

NOINLINE long sum(void)
{
	long n = product();

	while (*at == '+') {
		at++;
		n += product();
	}
	return n;
}

NOINLINE long evaluate(const char *text)
{
	at = text;
	return sum();
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("%s = %ld\n", argv[i], evaluate(argv[i]));
	return 0;
}
