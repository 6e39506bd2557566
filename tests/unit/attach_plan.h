/*
 * The functions that test_attach probes, in its own program, and the plan that probes them.
 */
#ifndef UP_TESTS_UNIT_ATTACH_PLAN_H
#define UP_TESTS_UNIT_ATTACH_PLAN_H

#include "runtime/attach.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* --- what is probed -------------------------------------------------------------------------- */

int probed_one(int n, const char *text);
int probed_two(int n, const char *text);
int probed_three(int n, const char *text);

__attribute__((noinline)) int probed_one(int n, const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return n + 1;
}

__attribute__((noinline)) int probed_two(int n, const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return n + 2;
}

__attribute__((noinline)) int probed_three(int n, const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return n + 3;
}

/* Not a place for a probe: nobody calls it. */
void unprobeable(void);
#if defined(__x86_64__)
__asm__(".text\n.globl unprobeable\n.type unprobeable,@function\nunprobeable:\n\tint3\n\tret\n");
#endif

/* probed_one 3 times, probed_two 5, probed_three 7, with n = 0, 1, ... */
static void call_probed(void)
{
	for (int i = 0; i < 7; i++) {
		if (i < 3)
			probed_one(i, "uno");
		if (i < 5)
			probed_two(i, "due");
		probed_three(i, NULL);
	}
}

/* A child that waits for a byte, then calls; `grandchild` calls once more in a child of its own. */
struct caller {
	pid_t pid;
	int go; /* where to write the byte */
};

static struct caller start_caller(bool grandchild)
{
	int go[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		char c;

		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		call_probed();
		if (grandchild && fork() == 0) {
			call_probed();
			_exit(0);
		}
		while (grandchild && wait(NULL) > 0)
			;
		_exit(0);
	}
	close(go[0]);
	return (struct caller){ pid, go[1] };
}

static void let_call(struct caller c)
{
	int ws = 0;

	CHECK(write(c.go, "x", 1) == 1);
	close(c.go);
	CHECK(waitpid(c.pid, &ws, 0) == c.pid && WIFEXITED(ws) && WEXITSTATUS(ws) == 0);
}

/* --- the plan -------------------------------------------------------------------------------- */

static char own_path[512];

/* File offset of an address of this program. */
static uint64_t offset_of(const void *addr)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, off;
	char line[1024];
	uint64_t found = 0;

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &off) == 3 &&
		    (unsigned long)addr >= start && (unsigned long)addr < end)
			found = (unsigned long)addr - start + off;
	fclose(maps);
	return found;
}

static struct up_plan_arg entry_args[] = {
	{ .name = "a",
	  .fetch = "%di",
	  .type = "s32",
	  .size = 4,
	  .is_signed = true,
	  .span = { 1, 2, 0 } },
	{ .name = "s", .fetch = "+0(%si)", .type = "string", .span = { 3, 4, 0 } },
	{ .name = "sp", .fetch = "%sp", .type = "x64", .size = 8, .span = { 5, 6, 0 } },
};
static struct up_plan_arg return_args[] = {
	{ .name = "r",
	  .fetch = "$retval",
	  .type = "s32",
	  .size = 4,
	  .is_signed = true,
	  .span = { 7, 8, 0 } },
};
static uint32_t entry_sites[] = { 0, 1, 2 }, return_sites[] = { 3, 4 };
static struct up_plan_event events[2];
static struct up_plan_site sites[5];
static struct up_plan_prog progs[2]; /* the second one is that of a filter, if a test sets it */
static struct up_plan plan;

static struct up_plan_site make_site(const void *addr, const char *func, uint32_t event,
				     uint32_t span)
{
	return (struct up_plan_site){ .path = own_path,
				      .offset = offset_of(addr),
				      .func = func,
				      .object = "test",
				      .event = event,
				      .span = { span, 1, 0 } };
}

static void make_plan(void)
{
	ssize_t len = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);

	own_path[len < 0 ? 0 : len] = 0;
	sites[0] = make_site((const void *)probed_one, "probed_one", 0, 10);
	sites[1] = make_site((const void *)probed_two, "probed_two", 0, 11);
	sites[2] = make_site((const void *)probed_three, "probed_three", 0, 12);
	sites[3] = make_site((const void *)probed_one, "probed_one", 1, 13);
	sites[4] = make_site((const void *)probed_three, "probed_three", 1, 14);
	events[0] = (struct up_plan_event){ .name = "entry",
					    .args = entry_args,
					    .nr_args = 3,
					    .sites = entry_sites,
					    .nr_sites = 3 };
	events[1] = (struct up_plan_event){ .name = "leave",
					    .is_return = true,
					    .args = return_args,
					    .nr_args = 1,
					    .sites = return_sites,
					    .nr_sites = 2 };
	plan = (struct up_plan){ .events = events,
				 .nr_events = 2,
				 .sites = sites,
				 .nr_sites = 5,
				 .progs = progs,
				 .nr_progs = 2 };
}

#endif
