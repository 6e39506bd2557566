/*
 * Conditions, and what they mean. Calls f() many times with values that are made up, the same in
 * each run, and knows of each condition in the list for which of the calls it holds.
 *
 *   t_filter                 makes the calls
 *   t_filter script PATH     the conditions as a program for uptick that prints "N SEQUENCE" of
 *                            each call that condition N selects
 *   t_filter truth           the same lines, found here
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CALLS 300

struct node {
	uint32_t u;        /* at 0 */
	int32_t i;         /* 4 */
	struct node *next; /* 8 */
	int16_t h;         /* 16 */
	uint8_t flag;      /* 18 */
	char name[13];     /* 19 */
};

struct call {
	int64_t a;
	int32_t b;
	uint8_t c;
	const struct node *p; /* may be no pointer at all */
	const char *text;
	long seq;
	const char *comm;
	int cpu;
	long ret;
};

long f(int64_t a, int32_t b, uint8_t c, const struct node *p, const char *text, long seq);

__attribute__((noinline)) long f(int64_t a, int32_t b, uint8_t c, const struct node *p,
				 const char *text, long seq)
{
	__asm__ volatile("" : : "r"(p), "r"(text), "r"(seq) : "memory");
	return a - b - c;
}

/* --- what was called ------------------------------------------------------------------------- */

static uint64_t chance = 88172645463325252u;
static struct node nodes[8];

static uint64_t next_chance(void)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return chance;
}

static int64_t some_number(void)
{
	static const int64_t edges[] = { 0,         1,          -1,       5,        127,
					 128,       255,        256,      4096,     65535,
					 65536,     0x7fffffff, 1L << 31, 1L << 32, 1L << 56,
					 INT64_MAX, INT64_MIN,  -5,       -128,     -129 };

	return next_chance() % 4 ? edges[next_chance() % 20] : (int64_t)next_chance();
}

#define UNMAPPED ((const struct node *)0x123450000000)

static const struct node *some_pointer(void)
{
	switch (next_chance() % 8) {
	case 0:
		return NULL;
	case 1:
		return (const struct node *)0x1234;
	case 2:
		return (const struct node *)0xdead000000000000;
	case 3:
		return UNMAPPED;
	default:
		return &nodes[next_chance() % 8];
	}
}

static void make_nodes(void)
{
	for (int i = 0; i < 8; i++) {
		nodes[i].u = (uint32_t)some_number();
		nodes[i].i = (int32_t)some_number();
		nodes[i].next = i % 3 ? &nodes[next_chance() % 8] : NULL;
		nodes[i].h = (int16_t)some_number();
		nodes[i].flag = (uint8_t)next_chance() % 3;
		strcpy(nodes[i].name, "node");
	}
}

static struct call make_call(long seq)
{
	static const char *const comms[] = {
		"bash", "ba", "zsh", "7zip", "!bang", "bash2", "rebash"
	};
	static const char *const texts[] = { "", "hello", "hello world", "/etc/passwd", "x" };
	struct call c = { .seq = seq };

	c.a = some_number();
	c.b = (int32_t)some_number();
	c.c = (uint8_t)some_number();
	c.p = some_pointer();
	c.text = texts[next_chance() % 5];
	c.comm = comms[next_chance() % 7];
	c.cpu = (int)(next_chance() % 2);
	c.ret = c.a - c.b - c.c;
	return c;
}

/* --- what memory gives ----------------------------------------------------------------------- */

/* Not a pointer: what is read there is a fault. */
static bool bad(const void *p)
{
	return (uint64_t)p < 0x10000 || (uint64_t)p >= 1ul << 56;
}

/* The node at p; where nothing is mapped all reads as 0. */
static const struct node *at(const struct node *p)
{
	static const struct node nothing;

	return bad(p) || p == UNMAPPED ? &nothing : p;
}

static const struct node *next(const struct call *k)
{
	return at(k->p)->next;
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool ends(const char *s, const char *with)
{
	return strlen(s) >= strlen(with) && !strcmp(s + strlen(s) - strlen(with), with);
}

/* --- the conditions: in Up, and in C --------------------------------------------------------- */

#define CONDITIONS(X)                                                                          \
	X("arg0 > 4KiB", k->a > 4096)                                                          \
	X("arg0 >= 4097", k->a >= 4097)                                                        \
	X("4096 < arg0", 4096 < k->a)                                                          \
	X("arg0 == 5 || arg0 == 127", k->a == 5 || k->a == 127)                                \
	X("arg0 < 0", k->a < 0)                                                                \
	X("!(arg0 < 0)", !(k->a < 0))                                                          \
	X("arg0 != -1", k->a != -1)                                                            \
	X("arg0", k->a)                                                                        \
	X("!arg0", !k->a)                                                                      \
	X("arg0:u64 > 0x7fffffffffffffff", k->a < 0)                                           \
	X("arg0 < 0xffffffffffffffff", (uint64_t)k->a < UINT64_MAX)                            \
	X("reg.di < 256", (uint64_t)k->a < 256)                                                \
	X("reg.di >= 256 && arg0 < 4096", (uint64_t)k->a >= 256 && k->a < 4096)                \
	X("arg0 == -9223372036854775808", k->a == INT64_MIN)                                   \
	X("arg0 & 1", k->a & 1)                                                                \
	X("arg0 & 0x8000000000000000", k->a < 0)                                               \
	X("(arg0 & 0x81) == 1", (k->a & 0x81) == 1)                                            \
	X("(arg0 & 0x81) != 1", (k->a & 0x81) != 1)                                            \
	X("(arg0 & 7) == 0", (k->a & 7) == 0)                                                  \
	X("arg0 - 5 < 10 && arg0 - 5 > -10", k->a - 5 < 10 && k->a - 5 > -10)                  \
	X("-arg0 == 5", -(uint64_t)k->a == 5)                                                  \
	X("~arg0 == 0", ~k->a == 0)                                                            \
	X("arg0:u32 == 0xffffffff", (uint32_t)k->a == UINT32_MAX)                              \
	X("arg0:s32 == -1", (int32_t)k->a == -1)                                               \
	X("arg0:u32 == -1", false)                                                             \
	X("arg0:s32 < 0", (int32_t)k->a < 0)                                                   \
	X("arg0:s8 == -128", (int8_t)k->a == -128)                                             \
	X("arg0:u8 == 0x180", false)                                                           \
	X("arg0:u8 < 0x180 && arg0:u8 > 126", (uint8_t)k->a > 126)                             \
	X("arg0:s8 & 0x100", (int8_t)k->a < 0)                                                 \
	X("arg0:s16 > 100 || arg0:s16 < -100", (int16_t)k->a > 100 || (int16_t)k->a < -100)    \
	X("arg0:b4@4/8 == 15", ((uint8_t)k->a >> 4) == 15)                                     \
	X("arg1:s32 < 0 && arg2:u8 == 255", k->b < 0 && k->c == 255)                           \
	X("arg1:s32 < 0 || arg2:u8 == 255", k->b < 0 || k->c == 255)                           \
	X("!(arg1:s32 < 0 || arg2:u8 == 255)", !(k->b < 0 || k->c == 255))                     \
	X("!(arg1:s32 < 0 && !(arg2:u8 == 255))", !(k->b < 0 && !(k->c == 255)))               \
	X("(arg1:s32 < 0) == (arg2:u8 == 255)", (k->b < 0) == (k->c == 255))                   \
	X("(arg1:s32 < 0) == 1", k->b < 0)                                                     \
	X("arg0 * 2 == 10 && arg1:s32 > 0", (uint64_t)k->a * 2 == 10 && k->b > 0)              \
	X("arg0 < arg2:u8 && arg1:s32 != 5", k->a < k->c && k->b != 5)                         \
	X("@arg3:u32 == 5", !bad(k->p) && at(k->p)->u == 5)                                    \
	X("@arg3:u32 != 5", bad(k->p) || at(k->p)->u != 5)                                     \
	X("!(@arg3:u32 == 5)", !(!bad(k->p) && at(k->p)->u == 5))                              \
	X("@arg3:u32 == 0", !bad(k->p) && at(k->p)->u == 0)                                    \
	X("@(arg3 + 4):s32 < 0", !bad(k->p) && at(k->p)->i < 0)                                \
	X("!(@(arg3 + 4):s32 < 0)", !(!bad(k->p) && at(k->p)->i < 0))                          \
	X("@(arg3 + 16):s16 >= 255", !bad(k->p) && at(k->p)->h >= 255)                         \
	X("@(arg3 + 18):bool", !bad(k->p) && at(k->p)->flag)                                   \
	X("!@(arg3 + 18):bool", !(!bad(k->p) && at(k->p)->flag))                               \
	X("arg3 && @(arg3 + 18):u8 == 2", k->p && !bad(k->p) && at(k->p)->flag == 2)           \
	X("@(@(arg3 + 8)):u32 > 100", !bad(k->p) && !bad(next(k)) && at(next(k))->u > 100)     \
	X("@(@(arg3 + 8) + 4):s32 != 5", bad(k->p) || bad(next(k)) || at(next(k))->i != 5)     \
	X("@(arg3 + 8) == 0", !bad(k->p) && !next(k))                                          \
	X("@(arg3 + 8) == 0 || arg2:u8 == 1", (!bad(k->p) && !next(k)) || k->c == 1)           \
	X("comm == \"bash\"", !strcmp(k->comm, "bash"))                                        \
	X("comm != \"bash\" && arg0 > 0", strcmp(k->comm, "bash") && k->a > 0)                 \
	X("\"zsh\" == comm", !strcmp(k->comm, "zsh"))                                          \
	X("comm ~ \"ba*\"", starts(k->comm, "ba"))                                             \
	X("comm ~ \"*sh\"", ends(k->comm, "sh"))                                               \
	X("!(comm ~ \"*sh\")", !ends(k->comm, "sh"))                                           \
	X("comm ~ \"*as*\"", strstr(k->comm, "as"))                                            \
	X("comm ~ \"b*h\"", starts(k->comm, "b") && ends(k->comm, "h"))                        \
	X("comm ~ \"7*\"", starts(k->comm, "7"))                                               \
	X("comm ~ \"!*\"", starts(k->comm, "!"))                                               \
	X("comm ~ \"b?sh\"", !strcmp(k->comm, "bash"))                                         \
	X("comm ~ \"[a-c]*\"", k->comm[0] >= 'a' && k->comm[0] <= 'c')                         \
	X("arg4:string == \"hello\"", !strcmp(k->text, "hello"))                               \
	X("arg4:string ~ \"/etc/*\" && arg2:u8 < 128", starts(k->text, "/etc/") && k->c < 128) \
	X("(arg4:string == \"x\" && arg0 == 0) || comm == \"ba\"",                             \
	  (!strcmp(k->text, "x") && k->a == 0) || !strcmp(k->comm, "ba"))                      \
	X("cpu == 1", k->cpu == 1)                                                             \
	X("cpu & 1 && arg0 > 0", k->cpu == 1 && k->a > 0)                                      \
	X("cpu != 1 && tid > 0", k->cpu != 1)                                                  \
	X("tid == pid && func == \"f\" && arg5 < 150", k->seq < 150)                           \
	X("arg5 >= 299 || stack[0] == 0", k->seq >= 299)

#define RETURN_CONDITIONS(X)                                                                       \
	X("retval < 0", k->ret < 0)                                                                \
	X("retval:s32 > 1000 && comm ~ \"*sh*\"", (int32_t)k->ret > 1000 && strstr(k->comm, "sh")) \
	X("retval & 0x100 || !retval", k->ret & 0x100 || !k->ret)

#define TEXT(up, c) up,
#define TRUTH(up, c)              \
	case __COUNTER__ - FIRST: \
		return c;

static const char *const conditions[] = { CONDITIONS(TEXT) };
static const char *const return_conditions[] = { RETURN_CONDITIONS(TEXT) };

#define NR_ENTRY (sizeof(conditions) / sizeof(conditions[0]))
#define NR (NR_ENTRY + sizeof(return_conditions) / sizeof(return_conditions[0]))

enum { FIRST = __COUNTER__ + 1 };

static bool holds(size_t n, const struct call *k)
{
	switch (n) {
		CONDITIONS(TRUTH)
		RETURN_CONDITIONS(TRUTH)
	}
	return false;
}

/* --- what it is asked for -------------------------------------------------------------------- */

static void print_script(const char *path)
{
	for (size_t i = 0; i < NR_ENTRY; i++)
		printf("probe %s:f when (%s) < printf(\"%zu %%d\\n\", arg5) >\n", path,
		       conditions[i], i);
	for (size_t i = NR_ENTRY; i < NR; i++)
		printf("probe %s:f on return when (%s) < printf(\"%zu %%d\\n\", reg.bx:s64) >\n",
		       path, return_conditions[i - NR_ENTRY], i);
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		_exit(77);
}

/* The sequence number is in a register when f() returns, too. */
static long call(const struct call *c)
{
	long ret;

	prctl(PR_SET_NAME, c->comm);
	run_on(c->cpu);
	register long seq __asm__("rbx") = c->seq;
	__asm__ volatile("" : "+r"(seq));
	ret = f(c->a, c->b, c->c, c->p, c->text, seq);
	__asm__ volatile("" : "+r"(seq));
	return ret;
}

int main(int argc, char **argv)
{
	bool is_truth = argc == 2 && !strcmp(argv[1], "truth");
	long sum = 0;

	if (argc == 3 && !strcmp(argv[1], "script")) {
		print_script(argv[2]);
		return 0;
	}
	make_nodes();
	for (long seq = 0; seq < CALLS; seq++) {
		struct call c = make_call(seq);

		for (size_t i = 0; i < NR && is_truth; i++)
			if (holds(i, &c))
				printf("%zu %ld\n", i, c.seq);
		if (!is_truth)
			sum += call(&c);
	}
	return sum == 1; /* so that nothing is left out */
}
