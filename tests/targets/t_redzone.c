/*
 * Functions that a probe in the wrong place harms. keep() has a value below the stack pointer while
 * it runs over a five-byte nop, at keep+0x5; keep() is called 1000 times. number() returns
 * 0x11223344, whose bytes are at number+0x1; it is called 3 times. Prints how many calls of keep()
 * gave back another value than theirs, and what number() returned.
 */
#include <stdio.h>

long keep(long x);
unsigned number(void);

#ifdef __x86_64__
__asm__(".text\n"
	".p2align 6\n.globl keep\n.type keep,@function\n"
	"keep:\n .cfi_startproc\n"
	" mov %rdi,-8(%rsp)\n"              /* +0 */
	" .byte 0x0f,0x1f,0x44,0x00,0x00\n" /* +5 */
	" mov -8(%rsp),%rax\n"              /* +10 */
	" ret\n"
	" .cfi_endproc\n.size keep,.-keep\n"
	".globl number\n.type number,@function\n"
	"number:\n .cfi_startproc\n"
	" mov $0x11223344,%eax\n" /* +0 */
	" ret\n"
	" .cfi_endproc\n.size number,.-number\n"
	".section .note.GNU-stack,\"\",@progbits\n.text\n");
#else
long keep(long x)
{
	return x;
}

unsigned number(void)
{
	return 0x11223344;
}
#endif

int main(void)
{
	unsigned wrong = 0, got = 0;

	for (long i = 1; i <= 1000; i++)
		wrong += keep(i) != i;
	for (int i = 0; i < 3; i++)
		got = number();
	printf("wrong %u, number 0x%x\n", wrong, got);
	return 0;
}
