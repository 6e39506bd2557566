/*
 * Functions that the kernel will not have a probe on: their first instruction has a lock prefix, is
 * a breakpoint, or an AVX-512 one; and one beside them that is as good as any. Only that one is
 * called, three times.
 */
#include "probed.h"

#if defined(__x86_64__)
#define FUNCTION(name, code)                                                             \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" code \
		"\nret\n.size " #name ", . - " #name "\n")

FUNCTION(odd_lock, "lock incl (%rdi)");
FUNCTION(odd_break, "int3");
FUNCTION(odd_wide, "vpaddd %zmm1, %zmm2, %zmm3");
FUNCTION(odd_halt, "hlt");
#endif

int odd_data = 3;

PROBED int odd_good(int n)
{
	return n + 1;
}

int main(void)
{
	int r = 0;

	for (int i = 0; i < odd_data; i++)
		r = odd_good(r);
	return r != 3;
}
