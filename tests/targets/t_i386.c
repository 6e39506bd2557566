/* build: -m32 -O1 -g -fno-pie -no-pie -nostdlib -static -fno-stack-protector -fno-builtin */
/*
 * A 32-bit program without a C library: every kind of argument and of memory behind a pointer. What
 * it calls is listed in main_part(); it ends half a second later, so that memory that it can write
 * to can still be read. With the argument q it does little and ends at once, with r it waits for a
 * byte first; with f a child of it runs another program. Prints 7 and 6.
 */
#include "probed.h"

#define NR_EXIT 1
#define NR_READ 3
#define NR_WRITE 4
#define NR_FORK 2
#define NR_EXECVE 11
#define NR_WAITPID 7
#define NR_NANOSLEEP 162

static int call3(int nr, int a, const void *b, int c)
{
	int r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}

/* ---- arguments ---- */

PROBED int narrow(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f)
{
	return a + b + c + d + e + (int)f;
}

PROBED long long wide(int a, long long b, unsigned long long c, int d)
{
	return a + b + (long long)c + d;
}

PROBED double with_double(int a, double b, int c)
{
	return a + b + c;
}

/* ---- memory ---- */

struct inner {
	short numbers[4];                     /* 0 */
	char name[8];                         /* 8 */
	const char *text;                     /* 16 */
	long long big;                        /* 20 */
	double ratio;                         /* 28 */
	unsigned low : 3, mid : 7, high : 22; /* 36 */
	float half;                           /* 40 */
};

struct outer {
	int id;              /* 0 */
	struct inner *inner; /* 4 */
	struct outer *next;  /* 8 */
	int (*call)(int);    /* 12 */
	char text[12];       /* 16 */
};

PROBED int look(struct outer *o, const char *s, int n)
{
	return n < 3 ? o->id + n : n + !s;
}

/* The same with its argument in a register, where the kernel can follow it. */
__attribute__((noipa, regparm(1))) int look_reg(struct outer *o)
{
	return o->id;
}

/* Returns a pointer, which is in a register. */
PROBED struct outer *next_of(struct outer *o)
{
	return o->next;
}

/* ---- calls ---- */

PROBED int sum_to(int n)
{
	return n <= 0 ? 0 : n + sum_to(n - 1);
}

struct pair {
	int a, b;
};

/* A structure's place is passed as a hidden argument, and taken off the stack by the function. */
PROBED struct pair make_pair(int n)
{
	struct pair p = { n, -n };

	if (n > 1)
		p.b += make_pair(n - 1).b;
	return p;
}

/* Takes all its arguments off. */
__attribute__((noipa, stdcall)) int standard(int a, int b, int c)
{
	return a - b - c;
}

/* ---- instructions that mean another thing in 64-bit code ---- */

int global_number = 7;

int absolute(void);
int increment(void);
__asm__(".globl absolute\n.type absolute, @function\nabsolute:\n mov global_number, %eax\n ret\n"
	".size absolute, . - absolute\n"
	".globl increment\n.type increment, @function\nincrement:\n inc %eax\n mov $5, %eax\n"
	"incremented:\n inc %eax\n push %es\n pop %ecx\n ret\n.size increment, . - increment\n");

/* ---- what happens ---- */

static void wait_half_a_second(void)
{
	static const int pause[2] = { 0, 500000000 };

	call3(NR_NANOSLEEP, (int)pause, 0, 0);
}

static const char constant[] = "in the file";
static char written[] = "not yet";
static char longer[700];

static struct inner inner = {
	{ 1, -2, 3, -4 }, "seven77", "behind two", 1ll << 40, -0.75, 5, 100, 1, 0.5f,
};

static void main_part(void)
{
	struct outer last = { 3, 0, 0, sum_to, "last" };
	struct outer first = { -1, &inner, &last, sum_to, "on the stack" };

	written[0] = 'y';
	for (unsigned i = 0; i < sizeof(longer) - 1; i++)
		longer[i] = (char)('a' + i % 26);
	narrow(-128, 255, -32768, 65535, -2147483647, 4294967295u);
	narrow('x', 'y', 300, 400, 5, 0x80000000u);
	wide(1, -2, 0xfedcba9876543210u, -3);
	with_double(1, 2.5, -3);
	look(&first, written, 1);
	look(&last, constant, -2);
	look((void *)0, (void *)0, 3);
	look((void *)0x10, longer, 4);
	look_reg(&first);
	next_of(&first);
	next_of(&last);
	sum_to(4);
	make_pair(3);
	standard(10, 2, 3);
	standard(-1, -2, -3);
	wait_half_a_second();
}

static void run_another(void)
{
	static char *argv[] = { (char *)"sleep", (char *)"0.5", 0 };
	int pid = call3(NR_FORK, 0, 0, 0);

	if (!pid) {
		written[0] = 'y';
		look((void *)0, written, 5);
		look((void *)0, constant, 6);
		call3(NR_EXECVE, (int)"/bin/sleep", argv, 0);
		call3(NR_EXIT, 9, 0, 0);
	}
	call3(NR_WAITPID, pid, 0, 0);
}

static void say_number(int n)
{
	char c = (char)('0' + n);

	call3(NR_WRITE, 1, &c, 1);
}

__attribute__((used)) static void start(int argc, char **argv)
{
	char what = argc > 1 ? argv[1][0] : 'm';

	if (what == 'm')
		main_part();
	else if (what == 'f')
		run_another();
	else if (what == 'r')
		call3(NR_READ, 0, longer, 1);
	else
		look((void *)0, constant, 7);
	say_number(absolute());
	say_number(increment());
	call3(NR_WRITE, 1, "\n", 1);
	call3(NR_EXIT, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n mov %esp, %eax\n lea 4(%eax), %edx\n push %edx\n push (%eax)\n"
	" call start\n hlt\n");
