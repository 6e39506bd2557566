/* The try of five-byte nops: nothing is harmed by it but a function that exists for it. */
#include "runtime/doctor_nop5.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/doctor_try.h"
#include "runtime/nop5.h"

#define CALLS 50 /* the kernel puts its call in place at the first hit */

#ifdef __x86_64__

/* Returns x, which lies below the stack pointer while a five-byte nop is run over. */
unsigned long up_doctor_keep(unsigned long x);

#define NOP_AT 5 /* bytes into it */

__asm__(".text\n"
	".p2align 6\n.hidden up_doctor_keep\n.globl up_doctor_keep\n"
	".type up_doctor_keep,@function\n"
	"up_doctor_keep:\n .cfi_startproc\n"
	" mov %rdi,-8(%rsp)\n"
	" .byte 0x0f,0x1f,0x44,0x00,0x00\n"
	" mov -8(%rsp),%rax\n"
	" ret\n"
	" .cfi_endproc\n .size up_doctor_keep,.-up_doctor_keep\n");

static int define(struct up_keeper *k, const char *event, struct up_status *st)
{
	uint64_t offset = up_doctor_offset((uintptr_t)up_doctor_keep + NOP_AT);
	char line[256];

	if (!offset)
		return up_status_set(st, -ENOENT, NULL, "cannot find this program's own code");
	int len = snprintf(line, sizeof(line), "p:%s /proc/%d/exe:0x%llx\n", event, (int)getpid(),
			   (unsigned long long)offset);
	return up_keeper_define(k, line, (size_t)len, st);
}

/* How many calls gave back another value than they were given; or -errno. */
static int try_it(struct up_keeper *k, struct up_status *st)
{
	char event[64];
	int wrong = 0;

	snprintf(event, sizeof(event), "%s/nop5", up_keeper_session(k));
	int err = define(k, event, st);
	if (!err)
		err = up_keeper_enable(k, event, st);
	if (err)
		return err;
	for (unsigned long i = 1; i <= CALLS; i++)
		wrong += up_doctor_keep(i) != i;
	err = up_keeper_disable(k, event, st);
	return err ? err : wrong;
}

/* The two together; the first is what a run goes by. */
static void judge(struct up_doctor *d, bool is_said, int wrong)
{
	if (is_said)
		up_doctor_add(
			d, "five-byte nops", UP_VERDICT_WARN,
			"when one is probed, this kernel overwrites the word below the stack "
			"pointer (seen in %d of %d calls): inside a function such a nop is not "
			"probed, unless with --unsafe",
			wrong, CALLS);
	else if (wrong)
		up_doctor_add(d, "five-byte nops", UP_VERDICT_WARN,
			      "when one is probed, this kernel overwrites the word below the stack "
			      "pointer (seen in %d of %d calls), though it does not look like one "
			      "that does: do not probe such a nop inside a function",
			      wrong, CALLS);
	else
		up_doctor_add(d, "five-byte nops", UP_VERDICT_OK,
			      "can be probed; they harm no program");
}

int up_doctor_nop5(struct up_doctor *d, struct up_keeper *k)
{
	struct up_status st = { 0 };
	int wrong = try_it(k, &st);

	if (wrong >= 0) {
		judge(d, up_nop5_ask() == UP_NOP5_HARMS, wrong);
		return 0;
	}
	up_doctor_add(d, "five-byte nops", UP_VERDICT_UNTRIED, "%s", up_status_strerror(wrong));
	return up_keeper_is_over(wrong) ? wrong : 0;
}

#else

int up_doctor_nop5(struct up_doctor *d, struct up_keeper *k)
{
	(void)d;
	(void)k;
	return 0;
}

#endif
