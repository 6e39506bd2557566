/*
 * A loop of five turns, with the turn's number in the first argument register at `loop_turn`,
 * an instruction in the middle of turns().
 */
#include "probed.h"

PROBED long turns(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
#if defined(__x86_64__)
		__asm__ volatile(".globl loop_turn\nloop_turn:\n\tnop" ::"D"(i * 3));
#elif defined(__aarch64__)
		register long turn __asm__("x0") = i * 3;
		__asm__ volatile(".globl loop_turn\nloop_turn:\n\tnop" ::"r"(turn));
#endif
		sum += i;
	}
	return sum;
}

int main(void)
{
	return turns(5) != 10;
}
