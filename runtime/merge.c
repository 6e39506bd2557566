/*
 * The heap of the merge, and the steps that change it. Invariant between calls: every CPU with an
 * event ahead is in the heap under that event's time, except that the key of `cur`, always the
 * first, is still that of the event handed out.
 */
#include "runtime/merge.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t max_cpu(const struct up_pageset *pages)
{
	uint32_t max = 0;

	for (unsigned i = 0; i < pages->nr_q; i++)
		if (pages->q[i].cpu > max)
			max = pages->q[i].cpu;
	return max;
}

int up_merge_init(struct up_merge *m, struct up_pageset *pages, unsigned commit_size,
		  bool unordered)
{
	*m = (struct up_merge){ .pages = pages,
				.commit_size = commit_size,
				.unordered = unordered };
	m->seen = pages->change - 1;
	m->cursor = calloc(pages->nr_q, sizeof(*m->cursor));
	m->heap = calloc(pages->nr_q, sizeof(*m->heap));
	if (!m->cursor || !m->heap || !up_gaps_init(&m->gaps, max_cpu(pages) + 1)) {
		up_merge_fini(m);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < pages->nr_q; i++)
		m->cursor[i].next.cpu = pages->q[i].cpu;
	return 0;
}

void up_merge_fini(struct up_merge *m)
{
	free(m->cursor);
	free(m->heap);
	up_gaps_fini(&m->gaps);
	*m = (struct up_merge){ 0 };
}

static bool before(struct up_merge_key a, struct up_merge_key b)
{
	return a.ts < b.ts || (a.ts == b.ts && a.i < b.i);
}

/* Puts a key where it belongs, at or below place `at`. */
static void sift_down(struct up_merge *m, unsigned at, struct up_merge_key key)
{
	for (;;) {
		unsigned child = 2 * at + 1;

		if (child + 1 < m->nr_heap && before(m->heap[child + 1], m->heap[child]))
			child++;
		if (child >= m->nr_heap || before(key, m->heap[child]))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = key;
}

static void heap_add(struct up_merge *m, struct up_merge_key key)
{
	unsigned at = m->nr_heap++;

	for (; at && before(key, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
		m->heap[at] = m->heap[(at - 1) / 2];
	m->heap[at] = key;
}

static void heap_drop_first(struct up_merge *m)
{
	if (--m->nr_heap)
		sift_down(m, 0, m->heap[m->nr_heap]);
}

static struct up_merge_key key_of(const struct up_merge *m, const struct up_merge_cursor *c)
{
	return (struct up_merge_key){ m->unordered ? 0 : c->next.ts, (uint32_t)(c - m->cursor) };
}

/* The next event of the page that the cursor is in. */
static bool step(struct up_merge_cursor *c)
{
	return up_ringpage_next(&c->walk, &c->next.payload, &c->next.len, &c->next.ts);
}

/* Goes to the first event of the queue's pages; releases pages without any. */
static bool load(struct up_merge *m, unsigned i)
{
	struct up_merge_cursor *c = &m->cursor[i];
	struct up_page *page;
	bool lost = false;

	while ((page = m->pages->q[i].head)) {
		up_ringpage_init(&c->walk, page->data, page->size, m->commit_size);
		lost |= c->walk.lost || c->walk.lost_unknown;
		if (step(c)) {
			if (lost)
				up_gaps_note(&m->gaps, c->next.cpu, c->next.ts);
			return true;
		}
		m->corrupt_pages += c->walk.corrupt;
		up_pageset_pop(m->pages, i);
	}
	return false;
}

/* Leaves the page that was walked to its end; goes on to the queue's next one. */
static bool next_page(struct up_merge *m, struct up_merge_cursor *c)
{
	unsigned i = (unsigned)(c - m->cursor);

	m->corrupt_pages += c->walk.corrupt;
	up_pageset_pop(m->pages, i);
	return load(m, i);
}

/* Brings the heap up to date with the event of `cur` being gone. */
static void leave(struct up_merge *m, bool advanced)
{
	struct up_merge_cursor *c = m->cur;

	m->cur = NULL;
	if (advanced || step(c) || next_page(m, c)) {
		sift_down(m, 0, key_of(m, c));
		return;
	}
	c->loaded = false;
	m->nr_waiting += m->pages->q[c - m->cursor].more;
	heap_drop_first(m);
}

/* Takes CPUs into the heap that have got pages. */
static void look_at_queues(struct up_merge *m)
{
	m->seen = m->pages->change;
	m->nr_waiting = 0;
	for (unsigned i = 0; i < m->pages->nr_q; i++) {
		struct up_merge_cursor *c = &m->cursor[i];

		if (c->loaded)
			continue;
		c->loaded = load(m, i);
		if (c->loaded)
			heap_add(m, key_of(m, c));
		else
			m->nr_waiting += m->pages->q[i].more;
	}
}

/* The time from which on the first CPU of the heap must be compared with the others again. */
static uint64_t find_stay_end(const struct up_merge *m)
{
	struct up_merge_key other;

	if (m->unordered || m->nr_heap < 2)
		return UINT64_MAX;
	other = m->heap[1];
	if (m->nr_heap > 2 && before(m->heap[2], other))
		other = m->heap[2];
	return other.ts + (other.ts < UINT64_MAX && m->heap[0].i < other.i);
}

bool up_merge_next_slow(struct up_merge *m, uint64_t limit, struct up_event *ev, bool advanced)
{
	struct up_merge_cursor *c;

	if (m->cur)
		leave(m, advanced);
	if (m->seen != m->pages->change)
		look_at_queues(m);
	if (!m->nr_heap || up_merge_waiting(m))
		return false;
	c = &m->cursor[m->heap[0].i];
	if (c->next.ts > limit && !m->unordered)
		return false;
	m->late += c->next.ts < m->last && !m->unordered;
	if (c->next.ts > m->last || m->unordered)
		m->last = c->next.ts;
	m->cur = c;
	m->stay_end = find_stay_end(m);
	ev->ts = c->next.ts;
	ev->payload = c->next.payload;
	ev->len = c->next.len;
	ev->cpu = c->next.cpu;
	return true;
}
