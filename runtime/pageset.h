/*
 * Pages on their way from a source to the merge: a bounded pool of page buffers, and for every CPU
 * a queue of filled ones, oldest first. After up_pageset_init() nothing allocates. Knows neither
 * where pages come from nor what is in them.
 */
#ifndef UP_PAGESET_H
#define UP_PAGESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct up_page {
	struct up_page *next; /* in its queue, or in the list of free ones */
	unsigned char *data;  /* page_size bytes */
	size_t size;          /* bytes of data that are filled */
};

/* The pages of one CPU. */
struct up_pageq {
	struct up_page *head; /* the oldest, or NULL */
	struct up_page *tail; /* the newest */
	unsigned nr;          /* how many */
	unsigned cpu;         /* the CPU's number */
	bool more; /* may the source still hold events that the next ones must wait for? */
};

struct up_pageset {
	struct up_pageq *q;   /* one a CPU, ascending by CPU number */
	unsigned nr_q;        /* how many */
	unsigned nr_empty;    /* queues without a page */
	unsigned change;      /* counts whatever a reader of the queues must take notice of */
	size_t page_size;     /* bytes of a page buffer */
	unsigned nr_pages;    /* page buffers that exist, at least one a CPU */
	unsigned nr_free;     /* those in no queue */
	struct up_page *free; /* the one used last comes first: its memory is warm */
	struct up_page *page; /* all of them */
	unsigned char *mem;   /* their bytes */
	size_t mem_size;      /* how many */
};

/*
 * max_bytes bounds the page buffers together; it is raised to one page a CPU. Memory is touched
 * only when it is first used. Returns 0 or -errno.
 */
int up_pageset_init(struct up_pageset *s, const unsigned *cpus, unsigned nr_cpus, size_t page_size,
		    size_t max_bytes);
void up_pageset_fini(struct up_pageset *s);

/*
 * A page buffer for queue i, or NULL when it must wait until pages are used up. One page is kept
 * back for every queue that has none, so that no CPU can starve another.
 */
struct up_page *up_pageset_take(struct up_pageset *s, unsigned i);
/* Gives back a page that was taken and not queued. */
void up_pageset_put(struct up_pageset *s, struct up_page *page);
/* Queues a page that was taken for queue i. */
void up_pageset_push(struct up_pageset *s, unsigned i, struct up_page *page);
/* Releases the oldest page of queue i, which must have one. */
void up_pageset_pop(struct up_pageset *s, unsigned i);
/* Sets whether more may come for queue i. */
void up_pageset_set_more(struct up_pageset *s, unsigned i, bool more);

#endif
