/* Pairing of entries and returns: recursion, tail calls, calls left without a return, limits. */
#include <string.h>

#include "runtime/calls.h"
#include "unit.h"

#define TID 100
#define TRAMPOLINE 0x7fffffffe000

/* Where the function is that is called. */
static uint64_t place = 0x401000;

static bool at_exits; /* are returns seen at the functions' exits? */

static struct up_strand thread(pid_t tid)
{
	return (struct up_strand){ .tid = tid };
}

/* Opens a call of a probe at sp that returns to ra, and keeps one number. */
static struct up_call *enter_of(struct up_calls *c, struct up_strand s, uint32_t probe, uint64_t sp,
				uint64_t ra, uint64_t kept)
{
	struct up_call call = { .probe = probe,
				.sp = sp,
				.ra = ra,
				.place = place,
				.time = sp,
				.nr_vals = 2,
				.by_kernel = !at_exits };
	struct up_value v = { .u = kept };
	struct up_value text = { .p = "abc", .len = 3 };
	struct up_thread *t;
	struct up_call *open = up_calls_enter(c, &s, &call, &t);

	if (!open)
		return NULL;
	up_calls_keep(t, open, 0, &v, false);
	up_calls_keep(t, open, 1, &text, true);
	return open;
}

static struct up_call *enter(struct up_calls *c, pid_t tid, uint32_t probe, uint64_t sp,
			     uint64_t ra, uint64_t kept)
{
	return enter_of(c, thread(tid), probe, sp, ra, kept);
}

/* Closes one; the number it kept, or 0 when there was none. */
static uint64_t leave_of(struct up_calls *c, struct up_strand s, uint32_t probe, uint64_t sp)
{
	struct up_thread *t;
	struct up_call *call = up_calls_leave(c, &s, probe, sp, &t);

	if (!call)
		return 0;
	struct up_value text = up_calls_kept(t, call, 1, true);
	CHECK(text.len == 3 && !memcmp(text.p, "abc", 3));
	return up_calls_kept(t, call, 0, false).u;
}

static uint64_t leave(struct up_calls *c, pid_t tid, uint32_t probe, uint64_t sp)
{
	return leave_of(c, thread(tid), probe, sp);
}

static void test_nesting(void)
{
	struct up_calls c;

	up_calls_init(&c);
	for (uint64_t i = 0; i < 100; i++) {
		struct up_call *call = enter(&c, TID, 1, 10000 - i * 16, 5, i + 1);

		CHECK(call && call->depth == i);
	}
	for (uint64_t i = 100; i-- > 0;)
		CHECK(leave(&c, TID, 1, 10000 - i * 16) == i + 1);
	CHECK(leave(&c, TID, 1, 10000) == 0);
	CHECK(c.abandoned == 0 && up_calls_open(&c) == 0);
	up_calls_fini(&c);
}

static void test_threads_and_probes(void)
{
	struct up_calls c;

	up_calls_init(&c);
	enter(&c, TID, 1, 1000, 5, 11);
	enter(&c, TID, 2, 1000, 5, 12); /* another probe on the same function */
	enter(&c, TID + 1, 1, 1000, 5, 13);
	CHECK(leave(&c, TID, 3, 1000) == 0);
	CHECK(leave(&c, TID, 1, 1000) == 11); /* not the topmost one */
	CHECK(leave(&c, TID + 1, 1, 1000) == 13);
	CHECK(leave(&c, TID, 2, 1000) == 12);
	CHECK(c.abandoned == 0);
	up_calls_fini(&c);
}

/* longjmp leaves calls open; the next call higher up the stack shows that they have ended. */
static void test_abandoned(void)
{
	struct up_calls c;

	up_calls_init(&c);
	enter(&c, TID, 1, 1000, 5, 1);
	enter(&c, TID, 1, 900, 6, 2);
	enter(&c, TID, 1, 800, 6, 3);
	CHECK(leave(&c, TID, 1, 1000) == 1);
	CHECK(c.abandoned == 2);
	/* Left, and called again at the same place: the same return address stands there. */
	enter(&c, TID, 1, 1000, 5, 4);
	CHECK(enter(&c, TID, 1, 1000, 5, 5)->depth == 0);
	CHECK(c.abandoned == 3);
	CHECK(leave(&c, TID, 1, 1000) == 5);
	CHECK(leave(&c, TID, 1, 1000) == 0);
	up_calls_fini(&c);
}

/* A function that jumps to its own start finds the kernel's trampoline there. */
static void test_tail_calls(void)
{
	struct up_calls c;

	up_calls_init(&c);
	enter(&c, TID, 1, 1000, 5, 1);
	CHECK(enter(&c, TID, 1, 1000, TRAMPOLINE, 2)->depth == 1);
	CHECK(enter(&c, TID, 1, 1000, TRAMPOLINE, 3)->depth == 2);
	CHECK(leave(&c, TID, 1, 1000) == 3);
	CHECK(leave(&c, TID, 1, 1000) == 2);
	CHECK(leave(&c, TID, 1, 1000) == 1);
	CHECK(c.abandoned == 0);
	up_calls_fini(&c);
}

/* A call at the stack pointer of one that was left, from another place or of another function. */
static void test_replaced(void)
{
	struct up_calls c;

	up_calls_init(&c);
	enter(&c, TID, 1, 1000, 5, 1);
	CHECK(enter(&c, TID, 1, 1000, 6, 2)->depth == 0);
	CHECK(c.abandoned == 1);
	/* Two probes on the next one, of another function. */
	place += 0x100;
	CHECK(enter(&c, TID, 2, 1000, 6, 3)->depth == 0);
	CHECK(c.abandoned == 2);
	CHECK(enter(&c, TID, 1, 1000, 6, 4)->depth == 0);
	CHECK(c.abandoned == 2);
	CHECK(enter(&c, TID, 1, 900, 7, 5)->depth == 1);
	CHECK(leave(&c, TID, 1, 900) == 5);
	CHECK(leave(&c, TID, 2, 1000) == 3);
	CHECK(leave(&c, TID, 1, 1000) == 4);
	CHECK(c.abandoned == 2 && up_calls_open(&c) == 0);
	up_calls_fini(&c);
}

/* Hits were lost on one of three CPUs: what was open then is neither paired nor called abandoned.
 */
static void test_lost(void)
{
	uint64_t end[3] = { 0 };
	struct up_gaps gaps = { .end = end };
	struct up_call call = { .probe = 1, .sp = 1000, .ra = 5, .time = 50, .cpu = 0 };
	struct up_strand self = thread(TID);
	struct up_calls c;
	struct up_thread *t;

	up_calls_init(&c);
	c.gaps = &gaps;
	CHECK(!up_calls_is_doubtful(&c, up_calls_enter(&c, &self, &call, &t), 1, 70));
	gaps.last = end[1] = 60;
	CHECK(!up_calls_is_doubtful(&c, &call, 0, 70));
	CHECK(!up_calls_is_doubtful(&c, &call, 2, 70));
	CHECK(up_calls_is_doubtful(&c, &call, 1, 70));
	/* Long enough to have been on that CPU meanwhile. */
	CHECK(up_calls_is_doubtful(&c, &call, 0, 50 + 20000));
	call.cpu = 1;
	CHECK(up_calls_is_doubtful(&c, &call, 0, 70));
	call.time = 60;
	CHECK(!up_calls_is_doubtful(&c, &call, 1, 70 + 20000));
	call.sp = 900;
	up_calls_enter(&c, &self, &call, &t);
	up_calls_exit(&c, TID);
	CHECK(c.abandoned == 1);
	up_calls_fini(&c);
}

static void test_limits(void)
{
	struct up_calls c;

	up_calls_init(&c);
	for (uint64_t i = 0; i < UP_CALLS_DEPTH + 10; i++)
		enter(&c, TID, 1, 10000000 - i * 16, 5, i + 1);
	CHECK(c.not_kept == 10 && up_calls_open(&c) == UP_CALLS_DEPTH);
	up_calls_exit(&c, TID);
	CHECK(up_calls_open(&c) == 0 && c.abandoned == UP_CALLS_KERNEL);
	CHECK(c.too_deep == UP_CALLS_DEPTH - UP_CALLS_KERNEL);
	up_calls_fini(&c);
}

/* Only calls whose return the kernel's probe is to see count for its limit. */
static void test_exits(void)
{
	uint64_t sp = 10000000;
	struct up_calls c;

	up_calls_init(&c);
	for (unsigned i = 0; i < 3 * UP_CALLS_KERNEL; i++) {
		at_exits = i % 3 != 0;
		enter(&c, TID, 1, sp -= 16, 5, i + 1);
	}
	at_exits = false;
	enter(&c, TID, 1, sp -= 16, 5, 1);
	at_exits = true;
	enter(&c, TID, 1, sp -= 16, 5, 2);
	at_exits = false;
	up_calls_exit(&c, TID);
	CHECK(c.too_deep == 1 && c.abandoned == 3 * UP_CALLS_KERNEL + 1);
	up_calls_fini(&c);
}

/* One call stays open while others come and go: what they kept is given back. */
static void test_no_growth(void)
{
	struct up_strand self = thread(TID);
	struct up_calls c;
	struct up_thread *t;
	struct up_call call = { .probe = 1, .sp = 500, .ra = 7, .nr_vals = 0 };

	up_calls_init(&c);
	enter(&c, TID, 1, 1000, 5, 1);
	for (uint64_t i = 0; i < 10000; i++) {
		enter(&c, TID, 1, 900, 6, i + 2);
		enter(&c, TID, 2, 900, 6, i + 3);
		CHECK(leave(&c, TID, 1, 900) == i + 2);
		CHECK(leave(&c, TID, 2, 900) == i + 3);
	}
	up_calls_enter(&c, &self, &call, &t);
	CHECK(t->cap_vals <= 64 && t->cap_bytes <= 64);
	up_calls_fini(&c);
}

/* A child made by fork() returns from what its parent is in; what it never returns from is no loss.
 */
static void test_fork(void)
{
	struct up_calls c;

	up_calls_init(&c);
	enter(&c, TID, 1, 1000, 5, 1);
	enter(&c, TID, 1, 900, 6, 2);
	up_calls_fork(&c, TID, TID + 1);
	up_calls_fork(&c, TID + 7, TID + 8); /* a parent without calls */
	CHECK(leave(&c, TID + 1, 1, 900) == 2);
	CHECK(leave(&c, TID, 1, 900) == 2);
	CHECK(leave(&c, TID, 1, 1000) == 1);
	enter(&c, TID + 1, 1, 900, 6, 3);
	up_calls_exit(&c, TID + 1);
	CHECK(c.abandoned == 1);
	up_calls_fini(&c);
}

static uint64_t entry_sp(struct up_calls *c, pid_t tid, uint32_t probe, uint64_t sp, uint64_t ra,
			 unsigned pops)
{
	struct up_strand s = thread(tid);

	return up_calls_entry_sp(c, &s, probe, sp, ra, pops);
}

/* A function may take arguments off the stack: then the return's stack pointer tells less. */
static void test_popped(void)
{
	struct up_calls c;

	up_calls_init(&c);
	CHECK(entry_sp(&c, TID, 1, 900, 5, 256) == 900);
	enter(&c, TID, 1, 1000, 5, 1);
	enter(&c, TID, 1, 900, 6, 2);
	/* Nothing taken off, 4 bytes, 256, and more than can be. */
	CHECK(entry_sp(&c, TID, 1, 900, 6, 256) == 900);
	CHECK(entry_sp(&c, TID, 1, 904, 6, 256) == 900);
	CHECK(entry_sp(&c, TID, 1, 1000, 5, 256) == 1000);
	CHECK(entry_sp(&c, TID, 1, 1156, 5, 256) == 1000);
	CHECK(entry_sp(&c, TID, 1, 1260, 5, 256) == 1260);
	/* It must return to where it was called from, and be of the probe. */
	CHECK(entry_sp(&c, TID, 1, 904, 7, 256) == 904);
	CHECK(entry_sp(&c, TID, 2, 904, 6, 256) == 904);
	CHECK(entry_sp(&c, TID + 1, 1, 904, 6, 256) == 904);
	/* Of several that fit, those deeper in the stack were left; a tail call fits as well. */
	enter(&c, TID, 1, 880, 6, 3);
	CHECK(entry_sp(&c, TID, 1, 904, 6, 256) == 900);
	enter(&c, TID, 1, 860, TRAMPOLINE, 4);
	CHECK(entry_sp(&c, TID, 1, 864, 9, 256) == 860);
	CHECK(leave(&c, TID, 1, 900) == 2);
	CHECK(leave(&c, TID, 1, 1000) == 1);
	up_calls_fini(&c);
}

/* A goroutine's calls are its own, in whatever thread it goes on. */
static void test_goroutines(void)
{
	struct up_strand a = { .tid = TID, .process = 50, .g = 0xc000002000, .goid = 1 };
	struct up_strand b = { .tid = TID, .process = 50, .g = 0xc000004000, .goid = 2 };
	struct up_strand other = { .tid = TID, .process = 60, .g = 0xc000002000, .goid = 1 };
	struct up_calls c;

	up_calls_init(&c);
	/* Counted from the top of the stack: below it, so the numbers are just below 2^64. */
	enter_of(&c, a, 1, (uint64_t)-100, 5, 1);
	enter_of(&c, b, 1, (uint64_t)-100, 5, 2);
	enter_of(&c, other, 1, (uint64_t)-100, 5, 3);
	CHECK(enter_of(&c, a, 1, (uint64_t)-200, 6, 4)->depth == 1);
	CHECK(enter(&c, TID, 1, 1000, 5, 9)->depth == 0);
	up_calls_exit(&c, TID);
	a.tid = b.tid = TID + 1;
	CHECK(leave_of(&c, a, 1, (uint64_t)-200) == 4);
	CHECK(leave_of(&c, b, 1, (uint64_t)-100) == 2);
	CHECK(leave_of(&c, a, 1, (uint64_t)-100) == 1);
	CHECK(leave_of(&c, a, 1, (uint64_t)-100) == 0);
	CHECK(c.abandoned == 1 && up_calls_open(&c) == 1);
	up_calls_end_process(&c, 50);
	CHECK(up_calls_open(&c) == 1);
	up_calls_end_process(&c, 60);
	CHECK(up_calls_open(&c) == 0 && c.abandoned == 2);
	up_calls_fini(&c);
}

/* Another goroutine gets the structure of one that ended inside of calls. */
static void test_goroutine_again(void)
{
	struct up_strand g = { .tid = TID, .process = 50, .g = 0xc000002000, .goid = 7 };
	struct up_calls c;

	up_calls_init(&c);
	enter_of(&c, g, 1, (uint64_t)-100, 5, 1);
	g.goid = 8;
	CHECK(enter_of(&c, g, 1, (uint64_t)-200, 5, 2)->depth == 0 && c.abandoned == 1);
	g.goid = 9;
	CHECK(leave_of(&c, g, 1, (uint64_t)-200) == 0 && c.abandoned == 2);
	/* Without numbers the old call stays until something is called above it. */
	g.goid = 0;
	enter_of(&c, g, 1, (uint64_t)-100, 5, 3);
	CHECK(enter_of(&c, g, 1, (uint64_t)-200, 5, 4)->depth == 1);
	CHECK(enter_of(&c, g, 1, (uint64_t)-50, 5, 5)->depth == 0 && c.abandoned == 4);
	up_calls_fini(&c);
}

/* As many goroutines as there may be leave nothing behind when they are done. */
static void test_many_goroutines(void)
{
	struct up_calls c;

	up_calls_init(&c);
	for (uint64_t i = 1; i <= 100000; i++) {
		struct up_strand g = { .tid = TID, .process = 50, .g = i << 9, .goid = i };

		enter_of(&c, g, 1, (uint64_t)-100, 5, i);
		CHECK(leave_of(&c, g, 1, (uint64_t)-100) == i);
	}
	CHECK(up_table_count(&c.goroutines) <= 1 && c.nr_spare <= 1);
	for (uint64_t i = 1; i <= 1000; i++) {
		struct up_strand g = { .tid = TID, .process = 50, .g = i << 9, .goid = i };

		enter_of(&c, g, 1, (uint64_t)-100, 5, i);
	}
	CHECK(up_calls_open(&c) == 1000);
	up_calls_end_process(&c, 50);
	CHECK(up_table_count(&c.goroutines) == 0 && c.nr_spare < 1000 && c.abandoned == 1000);
	up_calls_fini(&c);
}

int main(void)
{
	test_goroutines();
	test_goroutine_again();
	test_many_goroutines();
	test_fork();
	test_nesting();
	test_threads_and_probes();
	test_abandoned();
	test_tail_calls();
	test_popped();
	test_replaced();
	test_lost();
	test_limits();
	test_exits();
	test_no_growth();
	return unit_report("calls");
}
