/* Two coroutines that run by turns inside of one function: it is entered and left on two stacks,
 * not in the order of one. */
#include <stdio.h>
#include <ucontext.h>

#define TURNS 50

static ucontext_t contexts[3]; /* the program's own, and one for each coroutine */
static char stacks[2][65536];
static long sums[2];

/* The coroutine that calls it waits while the other one runs; both are inside of it then. */
__attribute__((noinline)) long work(int who, long n)
{
	swapcontext(&contexts[1 + who], &contexts[1 + !who]);
	return n * n + who;
}

static void run(int who)
{
	for (long n = 1; n <= TURNS; n++)
		sums[who] += work(who, n);
}

static void prepare(int who, ucontext_t *next)
{
	getcontext(&contexts[1 + who]);
	contexts[1 + who].uc_stack.ss_sp = stacks[who];
	contexts[1 + who].uc_stack.ss_size = sizeof(stacks[who]);
	contexts[1 + who].uc_link = next;
	makecontext(&contexts[1 + who], (void (*)(void))run, 1, who);
}

int main(void)
{
	long squares = TURNS * (TURNS + 1) * (2 * TURNS + 1) / 6;

	prepare(0, &contexts[2]);
	prepare(1, &contexts[0]);
	swapcontext(&contexts[0], &contexts[1]);
	if (sums[0] != squares || sums[1] != squares + TURNS)
		return 1;
	fputs("right\n", stderr);
	return 0;
}
