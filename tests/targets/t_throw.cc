/* build: -O1 -g -fno-inline -foptimize-sibling-calls */
/*
 * Functions that exceptions cross, or that leave in other odd ways. Says what came out, so that a
 * tracer that harms it is found out. The first argument says how often all is done.
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "probed.h"

static int sink;

/* Throws for multiples of 3. */
PROBED int deepest(int n)
{
	if (n % 3 == 0)
		throw std::runtime_error("three");
	return n + 1;
}

struct guard {
	~guard()
	{
		sink++;
	}
};

/* An exception runs its destructor on the way. */
PROBED int middle(int n)
{
	guard g;

	return deepest(n) + 10;
}

PROBED int outer(int n)
{
	int r = middle(n);

	__asm__ volatile("" : "+r"(r));
	return r + 100;
}

/* Two ways out, one of them with an exception caught inside. */
PROBED int catches(int n)
{
	try {
		return outer(n);
	} catch (const std::exception &) {
		return -1;
	}
}

/* Leaves by a jump to deepest(), or returns. */
PROBED int hands_over(int n)
{
	if (n < 0)
		return n;
	return deepest(n + 1);
}

PROBED int hands_on(int n)
{
	try {
		return hands_over(n);
	} catch (...) {
		return -2;
	}
}

/* Throws from the innermost of n calls, or returns the sum. */
PROBED int recurse(int n, bool fail)
{
	if (!n) {
		if (fail)
			throw n;
		return 0;
	}
	int r = recurse(n - 1, fail);

	__asm__ volatile("" : "+r"(r));
	return r + 1;
}

/* A table of jumps. */
PROBED int choose(int n)
{
	switch (n) {
	case 0:
		return sink * 3 + 1;
	case 1:
		return std::abs(sink) + 7;
	case 2:
		return (sink ^ 5) * 11;
	case 3:
		throw n;
	case 4:
		return sink << 3;
	case 5:
		return -sink;
	case 6:
		return sink % 7;
	default:
		return 99;
	}
}

static jmp_buf back;

PROBED int jumps(int n)
{
	if (n)
		longjmp(back, n);
	return n;
}

PROBED int lands(int n)
{
	if (setjmp(back))
		return n;
	return jumps(n) + 1000;
}

PROBED long wide(long a, long b, long c, long d, long e, long f, long g)
{
	if (g < 0)
		throw g;
	return a + b + c + d + e + f + g;
}

static long all()
{
	long sum = 0;

	for (int i = 0; i < 9; i++)
		sum = sum * 7 + catches(i);
	for (int i = -2; i < 7; i++)
		sum = sum * 7 + hands_on(i);
	for (int i = 0; i < 4; i++)
		try {
			sum += recurse(90, i % 2);
		} catch (int n) {
			sum += 1000 + n;
		}
	for (int i = 0; i < 9; i++)
		try {
			sum += choose(i) != 0;
		} catch (int n) {
			sum += n;
		}
	for (int i = 0; i < 3; i++)
		sum += lands(i);
	for (long i = -2; i < 3; i++)
		try {
			sum += wide(1, 2, 3, 4, 5, 6, i);
		} catch (long n) {
			sum += n;
		}
	return sum;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? std::atoi(argv[1]) : 1;

	for (int i = 0; i < turns; i++)
		std::printf("%ld\n", all());
	return 0;
}
