/*
 * Shows a probe every kind of value, and prints what each is, in the words of tests/live/values.sh.
 * `t_values args | where | registers | memory | faults` does one of these.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "probed.h"

/* ---- arguments: in registers and on the stack ---- */

PROBED long eleven(long a, long b, long c, long d, long e, long f, long g, long h, long i, int j,
		   char k)
{
	return a + b + c + d + e + f + g + h + i + j + k;
}

static void do_args(void)
{
	long r =
		eleven(-1, 2, LONG_MIN, LONG_MAX, 0x123456789abcdef0, 6, -7, 8, 1l << 40, -10, 'k');

	printf("%d %d %ld %ld %#lx %d %d %d %ld %d %c = %ld\n", -1, 2, LONG_MIN, LONG_MAX,
	       0x123456789abcdef0, 6, -7, 8, 1l << 40, -10, 'k', r);
}

/* ---- who and where ---- */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The stack pointer as it was at the call's first instruction. */
#if defined(__x86_64__)
#define ENTRY_SP() ((char *)__builtin_dwarf_cfa() - 8)
#else
#define ENTRY_SP() ((char *)__builtin_dwarf_cfa())
#endif

PROBED int here(const char *who)
{
	char comm[17] = "";

	prctl(PR_GET_NAME, comm);
	return printf("%s ip=%p sp=%p stack0=%#lx caller=%p pid=%d tid=%d cpu=%d comm=%s\n", who,
		      (void *)here, ENTRY_SP(), *(long *)ENTRY_SP(), __builtin_return_address(0),
		      getpid(), gettid(), sched_getcpu(), comm);
}

static void stay_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *other_thread(void *arg)
{
	prctl(PR_SET_NAME, "other one");
	stay_on_cpu(0);
	here(arg);
	return NULL;
}

static void do_where(void)
{
	pthread_t t;

	stay_on_cpu((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	fprintf(stderr, "before %" PRIu64 "\n", now());
	here("main");
	pthread_create(&t, NULL, other_thread, "thread");
	pthread_join(t, NULL);
	prctl(PR_SET_NAME, "exactly-15-long");
	here("again");
	fprintf(stderr, "after %" PRIu64 "\n", now());
}

/* ---- registers ---- */

/* Stands at `registers_set` with a known number in every general register but the stack pointer. */
#if defined(__x86_64__)
void load_registers(void);
__asm__(".globl load_registers\n.type load_registers, @function\nload_registers:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov $0xa0, %eax\nmov $0xb0, %ebx\nmov $0xc0, %ecx\nmov $0xd0, %edx\n"
	"mov $0x50, %esi\nmov $-2, %rdi\nmov $0xb1, %ebp\nmov $8, %r8d\nmov $9, %r9d\n"
	"mov $10, %r10d\nmov $11, %r11d\nmov $12, %r12d\nmov $13, %r13d\nmov $14, %r14d\n"
	"movabs $0x1122334455667788, %r15\n"
	".globl registers_set\nregisters_set:\nnop\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n"
	".size load_registers, . - load_registers\n");
#else
static void load_registers(void)
{
}
#endif

/* ---- memory ---- */

struct record {
	uint8_t u8;          /* 0 */
	int8_t s8;           /* 1 */
	uint16_t u16;        /* 2 */
	int16_t s16;         /* 4 */
	char c;              /* 6 */
	bool yes;            /* 7 */
	uint32_t u32;        /* 8 */
	int32_t s32;         /* 12 */
	uint64_t u64;        /* 16 */
	int64_t s64;         /* 24 */
	char text[16];       /* 32 */
	const char *name;    /* 48 */
	struct record *next; /* 56 */
};

_Static_assert(offsetof(struct record, s64) == 24 && offsetof(struct record, next) == 56, "layout");

uint32_t global_number = 0xdecade;

PROBED struct record *look(struct record *r, int turn)
{
	return turn ? r->next : NULL;
}

static void show_record(const struct record *r)
{
	printf("%u %d %u %d %u %d %" PRIu64 " %" PRId64 " %s %s\n", r->u8, r->s8, r->u16, r->s16,
	       r->u32, r->s32, r->u64, r->s64, r->text, r->name);
	printf("%#x %#x %#x %#" PRIx64 " '%c' %s\n", r->u8, r->u16, r->u32, r->u64, r->c,
	       r->yes ? "true" : "false");
	printf("%d %s %s %d %s %#x\n", r->next->s32, r->next->text, r->next->name,
	       r->next->next->s32, r->next->next->name, global_number);
}

static void do_memory(void)
{
	struct record c = { 3, -3, 3, -3, 'c', true, 3, -3, 3, -3, "third", "name of c", NULL };
	struct record b = { 128,
			    -128,
			    65535,
			    -32768,
			    '~',
			    false,
			    UINT32_MAX,
			    INT32_MIN,
			    UINT64_MAX,
			    INT64_MIN,
			    "fifteen letters",
			    "",
			    &c };
	struct record a = { 255,    -1,         256, -2,          'a',         true, 70000,
			    -70000, 1ull << 40, -1,  "text in a", "name of a", &b };

	c.next = &a;
	for (int i = 0; i < 3; i++) {
		struct record *r = (struct record *[]){ &a, &b, &c }[i];

		show_record(r);
		look(r, 1);
	}
}

/* Pointers that lead nowhere, between two that do: no value of a good one may show up in a bad one.
 */
static void do_faults(void)
{
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct record end = { .s32 = 22, .text = "end", .name = "name of end" };
	struct record good = { .s32 = 11, .text = "good", .name = "name of good", .next = &end };
	struct record no_name = { .s32 = 33, .text = "no name", .next = &end };
	struct record bad_name = {
		.s32 = 44, .text = "bad name", .name = page, .next = (void *)page
	};
	struct record small = {
		.s32 = 55, .text = "small", .name = (void *)8, .next = (void *)0xfff8
	};
	struct record wild = { .s32 = 66,
			       .text = "wild",
			       .name = (void *)0x8000000000000000,
			       .next = (void *)0x4141414141414141 };
	struct record *all[] = { &good, &no_name,    &good, &bad_name,
				 &good, &small,      &good, &wild,
				 &good, &end,        &good, NULL,
				 &good, (void *)100, &good, (void *)0x8000000000000000,
				 &good, (void *)page };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		look(all[i], 0);
	/* So that this memory can still be looked at. */
	usleep(500000);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "args"))
		do_args();
	else if (!strcmp(what, "where"))
		do_where();
	else if (!strcmp(what, "registers"))
		load_registers();
	else if (!strcmp(what, "memory"))
		do_memory();
	else if (!strcmp(what, "faults"))
		do_faults();
	else
		return 2;
	return 0;
}
