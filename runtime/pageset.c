/* The pool is one mapping; a page's descriptor and its bytes keep their pairing for good. */
#include "runtime/pageset.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_FROM ((size_t)4 << 20) /* pools of this size and more ask for huge pages */

static int map_pages(struct up_pageset *s)
{
	s->mem_size = s->nr_pages * s->page_size;
	s->mem =
		mmap(NULL, s->mem_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->mem == MAP_FAILED) {
		s->mem = NULL;
		return -errno;
	}
	/* A fault costs more than clearing its 4 KiB; it is only advice. */
	if (s->mem_size >= HUGE_FROM)
		madvise(s->mem, s->mem_size, MADV_HUGEPAGE);
	return 0;
}

int up_pageset_init(struct up_pageset *s, const unsigned *cpus, unsigned nr_cpus, size_t page_size,
		    size_t max_bytes)
{
	size_t nr = page_size ? max_bytes / page_size : 0;
	int err;

	*s = (struct up_pageset){ .nr_q = nr_cpus, .nr_empty = nr_cpus, .page_size = page_size };
	if (!nr_cpus || !page_size || nr > UINT32_MAX || page_size > SIZE_MAX / 2 / (nr + nr_cpus))
		return -EINVAL;
	s->nr_pages = nr > nr_cpus ? (unsigned)nr : nr_cpus;
	s->q = calloc(nr_cpus, sizeof(*s->q));
	s->page = calloc(s->nr_pages, sizeof(*s->page));
	err = s->q && s->page ? map_pages(s) : -ENOMEM;
	if (err) {
		up_pageset_fini(s);
		return err;
	}
	for (unsigned i = 0; i < nr_cpus; i++) {
		s->q[i].cpu = cpus[i];
		s->q[i].more = true;
	}
	for (unsigned i = s->nr_pages; i-- > 0;) {
		s->page[i].data = s->mem + i * s->page_size;
		up_pageset_put(s, &s->page[i]);
	}
	return 0;
}

void up_pageset_fini(struct up_pageset *s)
{
	if (s->mem)
		munmap(s->mem, s->mem_size);
	free(s->page);
	free(s->q);
	*s = (struct up_pageset){ 0 };
}

struct up_page *up_pageset_take(struct up_pageset *s, unsigned i)
{
	struct up_page *page = s->free;

	if (s->q[i].head && s->nr_free <= s->nr_empty)
		return NULL;
	s->free = page->next;
	s->nr_free--;
	return page;
}

void up_pageset_put(struct up_pageset *s, struct up_page *page)
{
	page->next = s->free;
	s->free = page;
	s->nr_free++;
}

void up_pageset_push(struct up_pageset *s, unsigned i, struct up_page *page)
{
	struct up_pageq *q = &s->q[i];

	page->next = NULL;
	if (q->head)
		q->tail->next = page;
	else
		q->head = page;
	s->nr_empty -= !q->nr++;
	q->tail = page;
	s->change++;
}

void up_pageset_pop(struct up_pageset *s, unsigned i)
{
	struct up_pageq *q = &s->q[i];
	struct up_page *page = q->head;

	q->head = page->next;
	s->nr_empty += !--q->nr;
	up_pageset_put(s, page);
}

void up_pageset_set_more(struct up_pageset *s, unsigned i, bool more)
{
	if (s->q[i].more == more)
		return;
	s->q[i].more = more;
	s->change++;
}
