/* build: -O1 -g -fno-inline -fcf-protection -no-pie */
/*
 * Functions that begin with an instruction that the kernel has to single-step, and have one behind
 * it that it emulates. Each is called a known number of times.
 */
#include "probed.h"

static volatile long sink;

/* endbr64; push */
PROBED long saves(long a, long b)
{
	long sum = sink;

	for (long i = 0; i < a; i++) {
		__asm__ volatile("" : "+r"(sum) : : "rbx", "r12", "memory");
		sum += b;
	}
	return sum;
}

/* endbr64; push; its last arguments are on the stack */
PROBED long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	long sum = a + b + c + d + e + f;

	__asm__ volatile("" : "+r"(sum) : : "rbx", "r12", "memory");
	return sum + g * 10 + h;
}

/* endbr64; mov %edi,%eax; push: what the push sees of ax is not what the caller left there */
PROBED long moves(long a);
__asm__(".text\n.globl moves\n.type moves, @function\nmoves:\n\tendbr64\n\tmov %rdi, %rax\n"
	"\tpush %rbx\n\tmov %rax, %rbx\n\tlea 1(%rbx), %rax\n\tpop %rbx\n\tret\n.size moves, "
	".-moves");

/* endbr64; push %rbx, which its loop jumps to */
PROBED long loops(long n);
__asm__(".text\n.globl loops\n.type loops, @function\nloops:\n\tendbr64\n1:\tpush %rbx\n"
	"\tpop %rbx\n\tdec %rdi\n\tjnz 1b\n\tmov $7, %eax\n\tret\n.size loops, .-loops");

/* recursion, for calls that are paired */
PROBED long down(long n)
{
	long r = n ? down(n - 1) : 0;

	__asm__ volatile("" : "+r"(r) : : "rbx", "memory");
	return r + 1;
}

int main(void)
{
	for (long i = 0; i < 3; i++)
		sink = saves(i, 10 * i);
	for (long i = 0; i < 4; i++)
		sink = many(1, 2, 3, 4, 5, 6, i, 100 + i);
	for (long i = 0; i < 5; i++)
		sink = moves(i + 50);
	sink = loops(6);
	sink = down(9);
	return 0;
}
