/* build: -m32 -O1 -g -fpie -static-pie -nostdlib -fno-stack-protector -fno-builtin */
/* A 32-bit program that lies at another address each time; it ends at once, or with an argument
 * half a second later. */
#include "probed.h"

static const char constant[] = "in the file";
static char written[] = "not yet";

PROBED int greet(const char *s, int n)
{
	return s[n];
}

static int call3(int nr, int a, const void *b, int c)
{
	int r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}

__attribute__((used)) static void start(int argc)
{
	int pause[2] = { 0, argc > 1 ? 500000000 : 0 };

	written[0] = 'y';
	greet(constant, 0);
	greet(written, 1);
	call3(162, (int)pause, 0, 0);
	call3(1, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n push (%esp)\n call start\n hlt\n");
