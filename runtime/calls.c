/* Pairing of entries and returns. */
#include "runtime/calls.h"

#include <stdlib.h>
#include <string.h>

void up_calls_init(struct up_calls *c)
{
	*c = (struct up_calls){ 0 };
	up_table_init(&c->threads, sizeof(struct up_thread *), 0);
	up_table_init(&c->goroutines, sizeof(struct up_thread *), 0);
}

static void free_thread(struct up_thread *t)
{
	if (!t)
		return;
	free(t->calls);
	free(t->vals);
	free(t->bytes);
	free(t);
}

static struct up_thread *thread_at(const struct up_table *strands, size_t i)
{
	const void *key;
	size_t len;
	struct up_thread **t = up_table_row(strands, i, &key, &len);

	return t ? *t : NULL;
}

static void free_all(struct up_table *strands)
{
	for (size_t i = 0; i < up_table_end(strands); i++)
		free_thread(thread_at(strands, i));
	up_table_fini(strands);
}

void up_calls_fini(struct up_calls *c)
{
	free_all(&c->threads);
	free_all(&c->goroutines);
	for (struct up_thread *t = c->spare, *next; t; t = next) {
		next = t->next;
		free_thread(t);
	}
}

static struct up_thread *find_thread(struct up_calls *c, pid_t tid, bool create)
{
	uint64_t key = (uint64_t)tid;
	struct up_thread **t = create ? up_table_at(&c->threads, &key, sizeof(key))
				      : up_table_find(&c->threads, &key, sizeof(key));

	if (!t)
		return NULL;
	if (!*t && create)
		*t = calloc(1, sizeof(**t));
	return *t;
}

/* Room for `more` elements; false when memory is out. */
static bool reserve(void **p, size_t nr, size_t *cap, size_t more, size_t size)
{
	size_t want = *cap ? *cap : 16;

	if (nr + more <= *cap)
		return true;
	while (want < nr + more)
		want *= 2;
	void *q = realloc(*p, want * size);
	if (!q)
		return false;
	*p = q;
	*cap = want;
	return true;
}

/* Gives back what lies behind the values of the topmost call. The bytes stay until the next open.
 */
static void release(struct up_thread *t)
{
	const struct up_call *top = t->nr_calls ? &t->calls[t->nr_calls - 1] : NULL;

	t->nr_vals = top ? top->first_val + top->nr_vals : 0;
	t->nr_bytes = top ? top->first_byte + top->nr_bytes : 0;
}

/* Forgets the calls from index `nr` on, which were left without a return. */
static void abandon(struct up_calls *c, struct up_thread *t, size_t nr)
{
	if (nr == t->nr_calls)
		return;
	for (size_t i = nr; i < t->nr_calls; i++) {
		const struct up_call *call = &t->calls[i];

		if (call->inherited || up_calls_is_doubtful(c, call, call->cpu, UINT64_MAX))
			continue;
		bool too_deep = call->by_kernel && call->level >= UP_CALLS_KERNEL;

		c->too_deep += too_deep;
		c->abandoned += !too_deep;
	}
	t->nr_calls = nr;
	release(t);
}

/* Calls deeper in the stack than sp have ended, whatever way they ended. */
static void drop_ended(struct up_calls *c, struct up_thread *t, uint64_t sp)
{
	size_t nr = t->nr_calls;

	while (nr && t->calls[nr - 1].sp < sp)
		nr--;
	abandon(c, t, nr);
}

/* ---- goroutines ---- */

#define MAX_SPARE 256 /* structures of goroutines that are kept for others */

/* What a goroutine is found by: the structures of two processes may have one address. */
struct goroutine_key {
	uint64_t process;
	uint64_t g;
};

static struct goroutine_key key_of(const struct up_strand *s)
{
	return (struct goroutine_key){ (uint64_t)s->process, s->g };
}

static struct up_thread *take_spare(struct up_calls *c)
{
	struct up_thread *t = c->spare;

	if (!t)
		return calloc(1, sizeof(*t));
	c->spare = t->next;
	c->nr_spare--;
	t->next = NULL;
	return t;
}

/* Its open calls, if any, were counted before. */
static void drop_goroutine(struct up_calls *c, struct up_thread *t)
{
	struct goroutine_key key = key_of(&t->of);

	up_table_delete(&c->goroutines, &key, sizeof(key));
	if (c->idle == t)
		c->idle = NULL;
	if (c->nr_spare == MAX_SPARE) {
		free_thread(t);
		return;
	}
	t->nr_calls = t->nr_vals = t->nr_bytes = 0;
	t->next = c->spare;
	c->spare = t;
	c->nr_spare++;
}

/* There can be very many of them, so those without open calls are not kept. */
static void drop_idle(struct up_calls *c)
{
	struct up_thread *t = c->idle;

	c->idle = NULL;
	if (t && !t->nr_calls)
		drop_goroutine(c, t);
}

static struct up_thread *find_goroutine(struct up_calls *c, const struct up_strand *s, bool create)
{
	struct goroutine_key key = key_of(s);
	struct up_thread **t = create ? up_table_at(&c->goroutines, &key, sizeof(key))
				      : up_table_find(&c->goroutines, &key, sizeof(key));

	if (!t)
		return NULL;
	if (!*t && create)
		*t = take_spare(c);
	if (!*t) {
		if (create)
			up_table_delete(&c->goroutines, &key, sizeof(key));
		return NULL;
	}
	/* Another goroutine has got the structure: the one that had it has ended. */
	if ((*t)->of.goid != s->goid)
		abandon(c, *t, 0);
	(*t)->of = *s;
	c->idle = *t;
	return *t;
}

static struct up_thread *find_strand(struct up_calls *c, const struct up_strand *s, bool create)
{
	if (!s->g)
		return find_thread(c, s->tid, create);
	drop_idle(c);
	return find_goroutine(c, s, create);
}

/* ---- opening and closing ---- */

static uint32_t depth_of(const struct up_thread *t, uint32_t probe)
{
	for (size_t i = t->nr_calls; i-- > 0;)
		if (t->calls[i].probe == probe)
			return t->calls[i].depth + 1;
	return 0;
}

/* Is it an address that the kernel's trampoline can have, and return addresses hardly ever have? */
static bool may_be_trampoline(uint64_t ra)
{
	return ra % 4096 == 0;
}

/* Does the call belong to the same hit as an open one, at another probe? */
static bool is_same_hit(const struct up_call *open, const struct up_call *new_call)
{
	return open->ra == new_call->ra && open->place == new_call->place;
}

static uint32_t level_of(const struct up_thread *t, const struct up_call *new_call)
{
	const struct up_call *top = t->nr_calls ? &t->calls[t->nr_calls - 1] : NULL;

	if (!top)
		return 0;
	if (!top->by_kernel || (top->sp == new_call->sp && is_same_hit(top, new_call)))
		return top->level;
	return top->level + 1;
}

/* Calls at the stack pointer of a new one that have been left: see calls.h. */
static void drop_replaced(struct up_calls *c, struct up_thread *t, const struct up_call *new_call)
{
	size_t low = t->nr_calls;
	bool same_probe = false;

	for (; low && t->calls[low - 1].sp == new_call->sp; low--)
		same_probe |= t->calls[low - 1].probe == new_call->probe;
	if (low == t->nr_calls)
		return;
	const struct up_call *top = &t->calls[t->nr_calls - 1];
	if (may_be_trampoline(new_call->ra) && t->calls[low].ra != new_call->ra)
		return;
	if (!same_probe && is_same_hit(top, new_call))
		return;
	abandon(c, t, low);
}

struct up_call *up_calls_enter(struct up_calls *c, const struct up_strand *s,
			       const struct up_call *new_call, struct up_thread **thread)
{
	struct up_thread *t = find_strand(c, s, true);
	uint16_t nr_vals = new_call->nr_vals;

	if (t) {
		drop_ended(c, t, new_call->sp);
		drop_replaced(c, t, new_call);
	}
	if (!t || t->nr_calls >= UP_CALLS_DEPTH ||
	    !reserve((void **)&t->calls, t->nr_calls, &t->cap_calls, 1, sizeof(*t->calls)) ||
	    !reserve((void **)&t->vals, t->nr_vals, &t->cap_vals, nr_vals, sizeof(*t->vals))) {
		c->not_kept++;
		return NULL;
	}
	struct up_call *call = &t->calls[t->nr_calls];
	*call = *new_call;
	call->depth = depth_of(t, call->probe);
	call->level = level_of(t, new_call);
	call->first_val = t->nr_vals;
	call->first_byte = t->nr_bytes;
	call->nr_bytes = 0;
	if (nr_vals)
		memset(t->vals + t->nr_vals, 0, nr_vals * sizeof(*t->vals));
	t->nr_calls++;
	t->nr_vals += nr_vals;
	*thread = t;
	return call;
}

void up_calls_keep(struct up_thread *t, struct up_call *call, unsigned slot,
		   const struct up_value *v, bool is_string)
{
	struct up_value *to = &t->vals[call->first_val + slot];

	*to = *v;
	if (!is_string || (v->flags & UP_VALUE_FAULT))
		return;
	to->u = t->nr_bytes;
	if (!reserve((void **)&t->bytes, t->nr_bytes, &t->cap_bytes, v->len, 1)) {
		to->flags |= UP_VALUE_FAULT;
		return;
	}
	if (v->len)
		memcpy(t->bytes + t->nr_bytes, v->p, v->len);
	t->nr_bytes += v->len;
	call->nr_bytes += v->len;
}

struct up_call *up_calls_leave(struct up_calls *c, const struct up_strand *s, uint32_t probe,
			       uint64_t sp, struct up_thread **thread)
{
	struct up_thread *t = find_strand(c, s, false);

	if (!t)
		return NULL;
	drop_ended(c, t, sp);
	/* Calls at the same stack pointer: other probes on the function, and tail calls. */
	for (size_t i = t->nr_calls; i-- > 0 && t->calls[i].sp == sp;) {
		if (t->calls[i].probe != probe)
			continue;
		struct up_call found = t->calls[i];

		/* It goes to the top, so that closing it leaves the others as they are. */
		memmove(&t->calls[i], &t->calls[i + 1], (t->nr_calls - i - 1) * sizeof(found));
		t->calls[--t->nr_calls] = found;
		release(t);
		*thread = t;
		return &t->calls[t->nr_calls];
	}
	return NULL;
}

/*
 * A loss on another CPU matters only if the thread can have been there in between: it has moved
 * there, hit two probes, and moved back.
 */
#define DETOUR_NS 10000

bool up_calls_is_doubtful(const struct up_calls *c, const struct up_call *call, uint32_t cpu,
			  uint64_t time)
{
	const struct up_gaps *g = c->gaps;

	if (!g || g->last <= call->time)
		return false;
	return g->end[call->cpu] > call->time || g->end[cpu] > call->time ||
	       time - call->time >= DETOUR_NS;
}

uint64_t up_calls_entry_sp(struct up_calls *c, const struct up_strand *s, uint32_t probe,
			   uint64_t sp, uint64_t ra, unsigned pops)
{
	struct up_thread *t = find_strand(c, s, false);
	uint64_t found = sp;

	for (size_t i = t ? t->nr_calls : 0; i-- > 0 && t->calls[i].sp <= sp;) {
		const struct up_call *call = &t->calls[i];

		if (call->probe != probe || sp - call->sp > pops)
			continue;
		if (call->sp == sp || call->ra == ra || may_be_trampoline(call->ra))
			found = call->sp;
	}
	return found;
}

struct up_value up_calls_kept(const struct up_thread *t, const struct up_call *call, unsigned slot,
			      bool is_string)
{
	struct up_value v = { .flags = UP_VALUE_FAULT };

	if (slot >= call->nr_vals)
		return v;
	v = t->vals[call->first_val + slot];
	if (is_string && !(v.flags & UP_VALUE_FAULT))
		v.p = t->bytes + v.u;
	return v;
}

void up_calls_fork(struct up_calls *c, pid_t parent, pid_t child)
{
	const struct up_thread *from = find_thread(c, parent, false);
	struct up_thread *to = from && from->nr_calls ? find_thread(c, child, true) : NULL;

	if (!to)
		return;
	if (!reserve((void **)&to->calls, 0, &to->cap_calls, from->nr_calls, sizeof(*to->calls)) ||
	    !reserve((void **)&to->vals, 0, &to->cap_vals, from->nr_vals, sizeof(*to->vals)) ||
	    !reserve((void **)&to->bytes, 0, &to->cap_bytes, from->nr_bytes, 1)) {
		c->not_kept += from->nr_calls;
		return;
	}
	memcpy(to->calls, from->calls, from->nr_calls * sizeof(*to->calls));
	if (from->nr_vals)
		memcpy(to->vals, from->vals, from->nr_vals * sizeof(*to->vals));
	if (from->nr_bytes)
		memcpy(to->bytes, from->bytes, from->nr_bytes);
	to->nr_calls = from->nr_calls;
	to->nr_vals = from->nr_vals;
	to->nr_bytes = from->nr_bytes;
	for (size_t i = 0; i < to->nr_calls; i++)
		to->calls[i].inherited = true;
}

void up_calls_exit(struct up_calls *c, pid_t tid)
{
	uint64_t key = (uint64_t)tid;
	struct up_thread *t = find_thread(c, tid, false);

	if (t)
		abandon(c, t, 0);
	free_thread(t);
	up_table_delete(&c->threads, &key, sizeof(key));
}

void up_calls_end_process(struct up_calls *c, pid_t process)
{
	for (size_t i = 0; up_table_count(&c->goroutines) && i < up_table_end(&c->goroutines);
	     i++) {
		struct up_thread *t = thread_at(&c->goroutines, i);

		if (!t || t->of.process != process)
			continue;
		abandon(c, t, 0);
		drop_goroutine(c, t);
	}
}

static uint64_t count_open(const struct up_table *strands)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < up_table_end(strands); i++) {
		const struct up_thread *t = thread_at(strands, i);

		if (t)
			nr += t->nr_calls;
	}
	return nr;
}

uint64_t up_calls_open(const struct up_calls *c)
{
	return count_open(&c->threads) + count_open(&c->goroutines);
}

static void orphan(struct up_table *strands, const bool *keeps, uint32_t nr_probes)
{
	for (size_t i = 0; i < up_table_end(strands); i++) {
		struct up_thread *t = thread_at(strands, i);

		for (size_t k = 0; t && k < t->nr_calls; k++) {
			struct up_call *call = &t->calls[k];

			if (call->probe < nr_probes && keeps[call->probe])
				continue;
			call->probe = UINT32_MAX;
			call->inherited = true;
		}
	}
}

void up_calls_orphan(struct up_calls *c, const bool *keeps, uint32_t nr_probes)
{
	orphan(&c->threads, keeps, nr_probes);
	orphan(&c->goroutines, keeps, nr_probes);
}
