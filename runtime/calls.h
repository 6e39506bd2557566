/*
 * Calls: pairs the entry and the return of one call, per strand, by stack pointer. A strand is what
 * has a stack of its own: a thread, or a goroutine, which may go on in another thread.
 *
 * A strand's open calls form a stack. A return belongs to the latest open call of its probe whose
 * stack pointer fits; calls above it have been left without a return (longjmp, exceptions), and are
 * dropped. So a return never meets another call's values: it finds its own, or none.
 *
 * Calls at one stack pointer are other probes on the function, tail calls, or leftovers. A tail
 * call finds the kernel's trampoline as its return address, which is the start of a page. Another
 * probe on the function finds what the first one found, at the same place. Any other entry there is
 * a new call: the old ones have been left.
 *
 * Where hits were lost while a call was open, it may have returned unseen, and the return that is
 * seen may be that of a later call whose entry was lost. Such a return is not paired.
 */
#ifndef UP_CALLS_H
#define UP_CALLS_H

#include <sys/types.h>

#include "lang/value.h"
#include "runtime/gaps.h"
#include "runtime/table.h"

#define UP_CALLS_DEPTH 8192 /* open calls of one strand; deeper ones are not kept, and counted */
#define UP_CALLS_KERNEL 64  /* nested calls of one thread whose return the kernel sees */

/*
 * Whose calls. The runtime of Go moves the stacks of its goroutines, so their stack pointers count
 * from the top of the stack: sp - stack.hi, as an unsigned number.
 */
struct up_strand {
	pid_t tid;     /* the thread that was hit */
	pid_t process; /* of a goroutine: its process */
	uint64_t g; /* of a goroutine: the address of its structure; 0: it is the thread itself */
	uint64_t goid; /* its number, which no other gets when the structure is used again; or 0 */
};

struct up_call {
	uint32_t probe;    /* which probe clause */
	uint32_t depth;    /* open calls of the same probe below it in the strand */
	uint32_t level;    /* hits below it in the strand of calls whose return the kernel sees */
	uint64_t sp;       /* stack pointer at the entry */
	uint64_t ra;       /* where it returns to, as found at the entry */
	uint64_t place;    /* address of the probe that was hit */
	uint64_t time;     /* of the entry, ns */
	uint32_t cpu;      /* of the entry */
	size_t first_val;  /* its kept values in the strand's */
	size_t first_byte; /* its strings in the strand's */
	size_t nr_bytes;   /* of its strings */
	uint16_t nr_vals;  /* how many values */
	bool by_kernel;    /* the kernel's return probe is to see its return */
	bool inherited;    /* it was opened before the process was made by fork() */
	bool rejected; /* the probe's `when` did not select it: its return is not wanted either */
};

struct up_thread {
	struct up_call *calls; /* open ones, outermost first */
	size_t nr_calls, cap_calls;
	struct up_value *vals; /* kept values; a string's `u` is an offset in bytes */
	size_t nr_vals, cap_vals;
	char *bytes; /* kept strings */
	size_t nr_bytes, cap_bytes;
	struct up_strand of;    /* of a goroutine: which */
	struct up_thread *next; /* of a spare one: another */
};

struct up_calls {
	struct up_table threads;    /* tid -> struct up_thread * */
	struct up_table goroutines; /* process and g -> struct up_thread *, those with open calls */
	struct up_thread *idle;     /* a goroutine that may have no open calls any more; or NULL */
	struct up_thread *spare;    /* of goroutines that are gone, to be used again */
	size_t nr_spare;            /* how many */
	uint64_t abandoned;         /* calls that were left without a return */
	uint64_t too_deep; /* calls whose return the kernel does not tell: UP_CALLS_KERNEL */
	uint64_t doubtful; /* returns that were not paired because hits were lost meanwhile */
	const struct up_gaps *gaps; /* where hits were lost; NULL for nowhere */
	uint64_t not_kept;          /* calls that were too deep, or memory was out */
};

void up_calls_init(struct up_calls *c);
void up_calls_fini(struct up_calls *c);

/*
 * Opens a call, of which probe to cpu, nr_vals, by_kernel and rejected are set; NULL when it cannot
 * be kept (counted). Good until the next open or close.
 */
struct up_call *up_calls_enter(struct up_calls *c, const struct up_strand *s,
			       const struct up_call *new_call, struct up_thread **thread);
/* Keeps a value of the call opened last; strings are copied. */
void up_calls_keep(struct up_thread *t, struct up_call *call, unsigned slot,
		   const struct up_value *v, bool is_string);
/*
 * Closes the call that returns; NULL when its entry was not seen. Good until the next open.
 */
struct up_call *up_calls_leave(struct up_calls *c, const struct up_strand *s, uint32_t probe,
			       uint64_t sp, struct up_thread **thread);
/*
 * Can the return that was seen on `cpu` at `time` be that of a later call, because hits were lost
 * since the entry?
 */
bool up_calls_is_doubtful(const struct up_calls *c, const struct up_call *call, uint32_t cpu,
			  uint64_t time);
/*
 * The stack pointer that the call which returns to `ra` had at its entry, where a function may take
 * up to `pops` bytes of its arguments off the stack: sp, or less, which is what a function had that
 * took nothing off. When no open call of the probe fits it is sp.
 */
uint64_t up_calls_entry_sp(struct up_calls *c, const struct up_strand *s, uint32_t probe,
			   uint64_t sp, uint64_t ra, unsigned pops);
/* A kept value; a string is borrowed. */
struct up_value up_calls_kept(const struct up_thread *t, const struct up_call *call, unsigned slot,
			      bool is_string);
/*
 * `child` is a new process made by the thread `parent`: it returns from the calls that are open
 * there, too. Those that it does not return from are not counted as left.
 */
void up_calls_fork(struct up_calls *c, pid_t parent, pid_t child);
/* The thread has ended: its open calls are forgotten, but not those of goroutines it ran. */
void up_calls_exit(struct up_calls *c, pid_t tid);
/* The process has ended: so have its goroutines. */
void up_calls_end_process(struct up_calls *c, pid_t process);
/*
 * The program has changed while calls were open: those of probes that are gone, or whose returns
 * want other values kept now, have no return any more; nor are they counted as left without one.
 */
void up_calls_orphan(struct up_calls *c, const bool *keeps, uint32_t nr_probes);
/* Calls that are still open. */
uint64_t up_calls_open(const struct up_calls *c);

#endif
