/*
 * Time order: a k-way merge over the queues of a page set, each of which is in order already.
 * Knows nothing of where pages come from.
 *
 * A heap holds the CPUs by the time of their next event. Most events follow one of the same CPU, so
 * the common step is inline and compares with the best of the other CPUs only.
 */
#ifndef UP_MERGE_H
#define UP_MERGE_H

#include "runtime/gaps.h"
#include "runtime/pageset.h"
#include "runtime/ringpage.h"

struct up_event {
	uint64_t ts;         /* ns, of the instance's trace clock */
	const void *payload; /* the record; it stays until the page set gets new pages */
	uint32_t len;        /* its bytes, padding to a multiple of 4 included */
	uint32_t cpu;        /* the CPU's number */
};

/* Where one CPU stands. */
struct up_merge_cursor {
	struct up_ringpage walk; /* over the head of its queue */
	struct up_event next;    /* its event that is next to be handed out */
	bool loaded;             /* is there one? then it is in the heap, too */
};

struct up_merge_key {
	uint64_t ts; /* of the CPU's next event; 0 when order does not matter */
	uint32_t i;  /* the CPU's index, which decides between equal times */
};

struct up_merge {
	struct up_pageset *pages;       /* the queues */
	struct up_merge_cursor *cursor; /* one a queue */
	struct up_merge_key *heap;      /* the loaded ones; the smallest first */
	unsigned nr_heap;               /* how many */
	struct up_merge_cursor *cur;    /* whose event was handed out last, or NULL */
	uint64_t stay_end;              /* until here no other CPU is before cur */
	uint64_t last;                  /* time handed out last */
	unsigned nr_waiting;            /* CPUs without an event of which more may come */
	unsigned seen;                  /* pages->change when the queues were last looked at */
	unsigned commit_size;           /* of the kernel: 4 or 8 */
	bool unordered;                 /* CPU after CPU instead of by time */
	uint64_t late;                  /* events earlier than one handed out before them */
	uint64_t corrupt_pages;         /* pages that had to be left before their end */
	struct up_gaps gaps;            /* where events were lost */
};

/* Returns 0 or -ENOMEM. The page set must outlive the merge. */
int up_merge_init(struct up_merge *m, struct up_pageset *pages, unsigned commit_size,
		  bool unordered);
void up_merge_fini(struct up_merge *m);

/* What up_merge_next() does when the quick step does not apply. */
bool up_merge_next_slow(struct up_merge *m, uint64_t limit, struct up_event *ev, bool advanced);

/*
 * The next event in time order whose time is at most `limit`; of equal times, that of the lower CPU
 * first. False when there is none, or when it cannot be known yet: a CPU has run out of events and
 * its queue says that more may come. Then up_merge_waiting() is true, and the source must be
 * drained before going on. Unordered, the limit is not looked at and nothing is waited for.
 */
static inline bool up_merge_next(struct up_merge *m, uint64_t limit, struct up_event *ev)
{
	struct up_merge_cursor *c = m->cur;
	const void *payload;
	uint32_t len;
	uint64_t ts;

	if (!c || m->seen != m->pages->change)
		return up_merge_next_slow(m, limit, ev, false);
	if (!up_ringpage_next(&c->walk, &payload, &len, &ts))
		return up_merge_next_slow(m, limit, ev, false);
	if (ts >= m->stay_end || ts > limit || ts < m->last) {
		c->next.ts = ts;
		c->next.payload = payload;
		c->next.len = len;
		return up_merge_next_slow(m, limit, ev, true);
	}
	m->last = ts;
	/* One by one: a wide copy would wait for narrow stores. */
	ev->ts = ts;
	ev->payload = payload;
	ev->len = len;
	ev->cpu = c->next.cpu;
	return true;
}

/*
 * What the merge would hand out next without looking at another CPU: small events of one page, each
 * of which can be looked at before it is taken.
 */
struct up_merge_run {
	const unsigned char *pos, *end; /* in the page */
	uint64_t ts;                    /* of the event taken last */
	uint64_t until;                 /* up to here no other CPU is before, nor is the limit */
	uint32_t cpu;
};

/* False when there is no such event. Until up_merge_end_run() nothing else is asked of the merge.
 */
static inline bool up_merge_begin_run(const struct up_merge *m, uint64_t limit,
				      struct up_merge_run *r)
{
	const struct up_merge_cursor *c = m->cur;

	if (!c || m->seen != m->pages->change || !m->stay_end || c->walk.ts < m->last)
		return false;
	*r = (struct up_merge_run){ c->walk.pos, c->walk.end, c->walk.ts, m->stay_end - 1,
				    c->next.cpu };
	r->until = r->until < limit ? r->until : limit;
	return true;
}

/* The next event of the run; false when there is none: up_merge_next() knows. */
static inline bool up_merge_peek(const struct up_merge_run *r, struct up_event *ev)
{
	size_t left = (size_t)(r->end - r->pos);
	uint32_t word, type;

	if (!left)
		return false;
	word = up_ringpage_load(r->pos);
	type = up_ringpage_type(word);
	ev->ts = r->ts + up_ringpage_delta(word);
	ev->payload = r->pos + 4;
	ev->len = 4 * type;
	ev->cpu = r->cpu;
	return type - 1 < 28 && 4 + 4 * (size_t)type <= left && ev->ts <= r->until;
}

/* Takes it. */
static inline void up_merge_step(struct up_merge_run *r, const struct up_event *ev)
{
	r->pos = (const unsigned char *)ev->payload + ev->len;
	r->ts = ev->ts;
}

static inline void up_merge_end_run(struct up_merge *m, const struct up_merge_run *r)
{
	m->cur->walk.pos = r->pos;
	m->cur->walk.ts = r->ts;
	m->last = r->ts;
}

/*
 * Is there an event that a later limit would let through? After a round that ends so the caller
 * must not sleep until the kernel has more: what it waits for is here already.
 */
static inline bool up_merge_pending(const struct up_merge *m)
{
	return m->nr_heap || m->seen != m->pages->change;
}

/* Is the order of what comes next unknown until the source has been drained again? */
static inline bool up_merge_waiting(const struct up_merge *m)
{
	return m->nr_waiting && !m->unordered;
}

#endif
