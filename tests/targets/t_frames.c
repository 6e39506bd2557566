/* build: -O1 -g -fno-inline -foptimize-sibling-calls -pthread */
/*
 * Calls that do not simply return, one kind for each word on the command line. step(n) and other(n)
 * return n + 1 and n + 2 unless they are left; what else they do stands with each kind.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "probed.h"

static jmp_buf back;
static int (*inside)(int); /* what step() and other() call */

PROBED int step(int n)
{
	int r = inside ? inside(n) : n;

	__asm__ volatile("" : "+r"(r));
	return r + 1;
}

PROBED int other(int n)
{
	int r = inside ? inside(n) : n;

	__asm__ volatile("" : "+r"(r));
	return r + 2;
}

/* --- across frames: step(0) calls other(1) calls step(2) ... and the sixth jumps to the first's
 * place --- */

static int jump_at_5(int n)
{
	if (n == 5)
		longjmp(back, 1);
	return n % 2 ? step(n + 1) : other(n + 1);
}

static void do_jump(void)
{
	if (!setjmp(back)) {
		inside = jump_at_5;
		step(0);
	}
	inside = NULL;
	/* At the stack pointer of the first, from another place, and then below it. */
	other(10);
	step(11);
}

/* Three times from two places; the call from the first place is left each time. */
static int jump_if_odd(int n)
{
	if (n % 2)
		longjmp(back, 1);
	return n;
}

static int call_step(int n)
{
	return step(n) + 1;
}

static int nest(int n)
{
	inside = NULL;
	return call_step(n);
}

static void do_again(void)
{
	for (volatile int i = 0; i < 3; i++) {
		inside = jump_if_odd;
		if (!setjmp(back))
			step(2 * i + 1);
		inside = NULL;
		/* other() is entered where step() was left, and calls step() below that. */
		inside = nest;
		other(2 * i + 2);
		inside = NULL;
	}
}

/* --- tail calls: first() jumps to second(), which jumps to third() --- */

PROBED int third(int n)
{
	return n * 10;
}

PROBED int second(int n)
{
	return third(n + 1);
}

PROBED int first(int n)
{
	return second(n + 1);
}

/* --- ends inside --- */

static int leave_process(int n)
{
	if (n > 1)
		exit(n);
	return step(n + 1);
}

static int leave_thread(int n)
{
	if (n == 2)
		pthread_exit(NULL);
	return step(n + 1);
}

static void *run_thread(void *arg)
{
	(void)arg;
	step(0);
	return NULL;
}

static void do_threads(void)
{
	pthread_t t;

	for (int i = 0; i < 3; i++) {
		inside = leave_thread;
		pthread_create(&t, NULL, run_thread, NULL);
		pthread_join(t, NULL);
		inside = NULL;
		pthread_create(&t, NULL, run_thread, NULL);
		pthread_join(t, NULL);
	}
}

/* --- a signal handler that calls what it interrupts --- */

static int raise_usr1(int n)
{
	inside = NULL;
	raise(SIGUSR1);
	return n;
}

static void on_usr1(int sig)
{
	step(sig == SIGUSR1 ? 100 : 0);
	other(200);
}

static void do_signal(int flags)
{
	struct sigaction sa = { .sa_handler = on_usr1, .sa_flags = flags };

	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 3; i++) {
		inside = raise_usr1;
		step(i);
	}
}

/* The handler runs on memory below the stack. */
static void do_altstack(void)
{
	stack_t ss = { .ss_size = 65536 };

	ss.ss_sp =
		mmap(NULL, ss.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&ss, NULL);
	do_signal(SA_ONSTACK);
}

/* A handler that leaves by siglongjmp. */
static sigjmp_buf sigback;

static void jump_out(int sig)
{
	step(sig == SIGUSR1 ? 300 : 0);
	siglongjmp(sigback, 1);
}

static void do_sigjump(void)
{
	signal(SIGUSR1, jump_out);
	for (volatile int i = 0; i < 2; i++) {
		inside = raise_usr1;
		if (!sigsetjmp(sigback, 1))
			step(i);
	}
	inside = NULL;
	step(7);
}

/* --- coroutines: each of two is entered three times; step() is called in them and switches in
 * between --- */

static ucontext_t main_context, coroutine[2];
static int current;

static int switch_away(int n)
{
	int me = current;

	swapcontext(&coroutine[me], &main_context);
	return n;
}

static void run_coroutine(int number)
{
	step(number * 10);
	step(number * 10 + 1);
}

static void do_coroutines(void)
{
	inside = switch_away;
	for (int i = 0; i < 2; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_size = 65536;
		coroutine[i].uc_stack.ss_sp = malloc(65536);
		coroutine[i].uc_link = &main_context;
		makecontext(&coroutine[i], (void (*)(void))run_coroutine, 1, i + 1);
	}
	for (int turn = 0; turn < 3; turn++)
		for (current = 0; current < 2; current++)
			swapcontext(&main_context, &coroutine[current]);
}

/* --- vfork: the child calls step() --- */

PROBED int launch(int n)
{
	pid_t pid = vfork();

	if (!pid) {
		step(n + 50);
		_exit(3);
	}
	waitpid(pid, NULL, 0);
	return n;
}

/* --- deep, and wide below: `wide` calls under `high` ones --- */

PROBED int descend(int n)
{
	int r = 0;

	if (!n)
		for (int i = 0; i < 5; i++)
			r += i % 2 ? step(i) : other(i);
	else
		r = descend(n - 1);
	__asm__ volatile("" : "+r"(r));
	return r;
}

static void do_deep(int high)
{
	for (int i = 0; i < 3; i++)
		descend(high);
	step(1000);
}

static void run(const char *what)
{
	if (!strcmp(what, "jump"))
		do_jump();
	else if (!strcmp(what, "again"))
		do_again();
	else if (!strcmp(what, "tail"))
		for (int i = 0; i < 3; i++)
			first(i);
	else if (!strcmp(what, "exit")) {
		inside = leave_process;
		step(0);
	} else if (!strcmp(what, "threads"))
		do_threads();
	else if (!strcmp(what, "signal"))
		do_signal(0);
	else if (!strcmp(what, "altstack"))
		do_altstack();
	else if (!strcmp(what, "sigjump"))
		do_sigjump();
	else if (!strcmp(what, "coroutines"))
		do_coroutines();
	else if (!strcmp(what, "vfork"))
		for (int i = 0; i < 3; i++)
			launch(i);
	else
		do_deep(atoi(what));
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	puts("done");
	return 0;
}
