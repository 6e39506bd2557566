/*
 * Calls of known number and values: add() seven times, bump() three times, fib(5) once (15 calls),
 * ping() once (6 calls of ping and pong together), pause_ms() twice, leave() four times, of which
 * two end by longjmp, deep() once (101 calls). `t_add split` calls split() once, which returns
 * twice: it forks. Prints each as a probe should see it; `t_add fib` prints and calls only fib, and
 * so on.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probed.h"

static jmp_buf back;
static int depth;

PROBED int add(int a, int b)
{
	return (int)((unsigned)a + (unsigned)b);
}

/* Changes what it is given a pointer to. */
PROBED int bump(int *p, int by)
{
	int old = *p;

	*p += by;
	by = -1;
	__asm__ volatile("" ::"r"(by));
	return old;
}

PROBED int fib(int n)
{
	int r = n;

	printf("%d: fib(%d)\n", depth, n);
	depth++;
	if (n > 1)
		r = fib(n - 1) + fib(n - 2);
	depth--;
	printf("%d: fib(%d) = %d\n", depth, n, r);
	return r;
}

PROBED int pong(int n);

PROBED int ping(int n)
{
	return n ? pong(n - 1) + 1 : 100;
}

PROBED int pong(int n)
{
	return n ? ping(n - 1) + 1 : 200;
}

PROBED int pause_ms(int ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
	return ms;
}

PROBED int leave(int n)
{
	if (n)
		longjmp(back, n);
	return 5;
}

PROBED int deep(int n)
{
	return n ? deep(n - 1) + 1 : 0;
}

/* Returns in two processes: n in the parent, -n in the child. */
PROBED int split(int n)
{
	pid_t pid = fork();

	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid ? n : -n;
}

static void do_add(void)
{
	static const int pairs[][2] = {
		{ 1, 2 },       { -1, 1 },       { -7, -8 },          { 0, 0 },
		{ INT_MAX, 1 }, { INT_MIN, -1 }, { INT_MIN, INT_MAX }
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		int a = pairs[i][0], b = pairs[i][1];

		printf("add(%d, %d)\n", a, b);
		printf("add(%d, %d) = %d\n", a, b, add(a, b));
	}
}

static void do_bump(void)
{
	int v = -5;

	for (int i = 1; i <= 3; i++) {
		int old = v, r = bump(&v, i * 10);

		printf("bump %d by %d gave %d\n", old, i * 10, r);
	}
}

static void do_leave(void)
{
	for (volatile int i = 0; i < 4; i++)
		if (!setjmp(back))
			leave(i % 2);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!*what || !strcmp(what, "add"))
		do_add();
	if (!*what || !strcmp(what, "bump"))
		do_bump();
	if (!*what || !strcmp(what, "fib"))
		fib(5);
	if (!*what || !strcmp(what, "ping"))
		ping(5);
	if (!*what || !strcmp(what, "pause"))
		pause_ms(pause_ms(3) + 2);
	if (!*what || !strcmp(what, "leave"))
		do_leave();
	if (!*what || !strcmp(what, "deep"))
		deep(100);
	if (!strcmp(what, "split") && split(7) < 0)
		_exit(0);
	return 0;
}
