/* Pages from a file. */
#include "runtime/src_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/ringpage.h"

ssize_t up_src_file_read_at(void *fd, void *to, size_t len, uint64_t off)
{
	ssize_t n;

	if (off > INT64_MAX)
		return 0;
	do
		n = pread(*(const int *)fd, to, len, (off_t)off);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int up_src_file_open(struct up_src_file *s, const struct up_src_file_part *parts, unsigned nr,
		     size_t page_size, unsigned commit_size, size_t max_bytes)
{
	unsigned *cpus = calloc(nr ? nr : 1, sizeof(*cpus));
	int err = cpus && nr ? 0 : cpus ? -ENODATA : -ENOMEM;

	*s = (struct up_src_file){ .commit_size = commit_size };
	for (unsigned i = 0; !err && i < nr; i++)
		cpus[i] = parts[i].cpu;
	if (!err)
		err = up_pageset_init(&s->pages, cpus, nr, page_size, max_bytes);
	free(cpus);
	if (err)
		return err;
	s->cpu = calloc(nr, sizeof(*s->cpu));
	if (!s->cpu)
		return -ENOMEM;
	for (unsigned i = 0; i < nr; i++) {
		s->cpu[i].io = parts[i].io;
		s->cpu[i].at = parts[i].off;
		s->cpu[i].end = parts[i].size > UINT64_MAX - parts[i].off
					? UINT64_MAX
					: parts[i].off + parts[i].size;
		up_pageset_set_more(&s->pages, i, parts[i].size > 0);
	}
	return 0;
}

void up_src_file_close(struct up_src_file *s)
{
	up_pageset_fini(&s->pages);
	free(s->cpu);
	*s = (struct up_src_file){ 0 };
}

/* Reads a page's bytes; how many there were, or -errno. */
static ssize_t read_whole(struct up_src_file *s, const struct up_src_file_cpu *c, void *to)
{
	uint64_t left = c->end - c->at;
	size_t want = left < s->pages.page_size ? (size_t)left : s->pages.page_size, got = 0;

	while (got < want) {
		ssize_t n = c->io->read_at(c->io->ctx, (char *)to + got, want - got, c->at + got);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static void note_lost(struct up_src_file *s, struct up_src_file_cpu *c, const struct up_page *page)
{
	struct up_ringpage p;

	up_ringpage_init(&p, page->data, page->size, s->commit_size);
	c->lost += p.lost;
	s->lost += p.lost;
	c->lost_unknown |= p.lost_unknown;
	s->lost_unknown |= p.lost_unknown;
}

/* Reads one page of CPU i. 1 when there was one, 0 when not, -errno. */
static int read_page(struct up_src_file *s, unsigned i)
{
	struct up_src_file_cpu *c = &s->cpu[i];
	struct up_page *page = c->at < c->end ? up_pageset_take(&s->pages, i) : NULL;
	ssize_t n;

	if (!page)
		return 0;
	n = read_whole(s, c, page->data);
	if (n < (ssize_t)s->pages.page_size) {
		/* What is behind is the rest of a page, or nothing. */
		up_pageset_put(&s->pages, page);
		s->cut += n > 0 ? (uint64_t)n : 0;
		c->at = c->end;
		up_pageset_set_more(&s->pages, i, false);
		return n < 0 ? (int)n : 0;
	}
	page->size = (size_t)n;
	c->at += (uint64_t)n;
	note_lost(s, c, page);
	s->nr_pages++;
	up_pageset_push(&s->pages, i, page);
	up_pageset_set_more(&s->pages, i, c->at < c->end);
	return 1;
}

int up_src_file_drain(struct up_src_file *s)
{
	int total = 0, got, err = 0;

	do {
		got = 0;
		for (unsigned i = 0; i < s->pages.nr_q; i++) {
			int n = read_page(s, i);

			got += n > 0;
			if (n < 0)
				err = n;
		}
		total += got;
	} while (got);
	return err ? err : total;
}
