/* Writing a recording. */
#include "runtime/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/recording.h"

#define BATCH 64              /* pages written at a time */
#define COPY_BYTES (1u << 20) /* copied at a time, where the kernel does not copy by itself */

char *up_recorder_side(const char *path, unsigned cpu)
{
	char *side;

	return asprintf(&side, "%s.cpu%u", path, cpu) < 0 ? NULL : side;
}

static int fail(const struct up_recorder *r, int err, struct up_status *st)
{
	return up_status_set(st, err, r->path, "cannot write the recording");
}

int up_recorder_open(struct up_recorder *r, const char *path, struct up_status *st)
{
	struct stat sb;

	*r = (struct up_recorder){ .fd = -1, .path = strdup(path) };
	r->head.arena = up_arena_new();
	if (!r->path || !r->head.arena)
		return up_status_set(st, -ENOMEM, NULL, "cannot record");
	/* What is recorded may be private. Nor is a FIFO without a reader waited for. */
	r->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (r->fd < 0 || fstat(r->fd, &sb))
		return fail(r, -errno, st);
	if (!S_ISREG(sb.st_mode)) {
		fail(r, -EINVAL, st);
		up_status_reason(st, "it must be a file: its head is written last");
		return -EINVAL;
	}
	return ftruncate(r->fd, 0) ? fail(r, -errno, st) : 0;
}

static struct up_tracedat_text keep(struct up_recorder *r, const struct up_buf *b)
{
	return (struct up_tracedat_text){ up_arena_memdup(r->head.arena, b->s ? b->s : "", b->len),
					  b->len };
}

int up_recorder_keep(struct up_recorder *r, struct up_tracedat_text *to, const struct up_buf *b)
{
	jmp_buf oom;

	if (b->failed)
		return -ENOMEM;
	up_arena_on_oom(r->head.arena, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(r->head.arena, NULL);
		return -ENOMEM;
	}
	*to = keep(r, b);
	up_arena_on_oom(r->head.arena, NULL);
	return 0;
}

int up_recorder_add_format(struct up_recorder *r, const char *system, const struct up_buf *b)
{
	struct up_tracedat_format f;
	jmp_buf oom;

	if (b->failed)
		return -ENOMEM;
	up_arena_on_oom(r->head.arena, &oom);
	if (setjmp(oom)) {
		up_arena_on_oom(r->head.arena, NULL);
		return -ENOMEM;
	}
	f.system = up_arena_strdup(r->head.arena, system);
	f.text = keep(r, b);
	up_vec_push(r->head.arena, &r->head.formats, f);
	up_arena_on_oom(r->head.arena, NULL);
	return 0;
}

/* ---- writing ---- */

static int write_at(int fd, const char *s, size_t len, uint64_t off)
{
	while (len) {
		ssize_t n = pwrite(fd, s, len, (off_t)off);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ENOSPC;
		if (n > 0) {
			s += n;
			off += (uint64_t)n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* The head, as it is now; also says where the pages of each CPU go. */
static int make_head(struct up_recorder *r, struct up_buf *b)
{
	struct up_tracedat_option o = { UP_RECORDING_OPTION, { r->text.s, r->text.len } };

	if (r->text.failed || !r->text.s)
		return -ENOMEM;
	r->head.options.v = &o;
	r->head.options.nr = 1;
	up_tracedat_put(&r->head, r->reserve, b);
	r->head.options.v = NULL;
	r->head.options.nr = 0;
	return b->failed ? -ENOMEM : 0;
}

static int open_sides(struct up_recorder *r, const struct up_pageset *pages)
{
	int err = 0;

	r->side = calloc(pages->nr_q, sizeof(*r->side));
	r->head.cpus.v = calloc(pages->nr_q, sizeof(*r->head.cpus.v));
	if (!r->side || !r->head.cpus.v)
		return -ENOMEM;
	r->head.cpus.nr = r->head.cpus.cap = pages->nr_q;
	for (unsigned i = 0; i < pages->nr_q; i++)
		r->side[i] = -1;
	for (unsigned i = 0; i < pages->nr_q && !err; i++) {
		char *path = up_recorder_side(r->path, pages->q[i].cpu);

		r->head.cpus.v[i].cpu = pages->q[i].cpu;
		if (path)
			r->side[i] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
					  0600);
		err = !path ? -ENOMEM : r->side[i] < 0 ? -errno : 0;
		free(path);
	}
	return err;
}

int up_recorder_begin(struct up_recorder *r, const struct up_pageset *pages, struct up_status *st)
{
	struct up_buf b = { 0 };
	int err = open_sides(r, pages);

	if (!err)
		err = make_head(r, &b);
	if (!err)
		err = write_at(r->fd, b.s, b.len, 0);
	r->reserve = b.len;
	up_buf_fini(&b);
	return err ? fail(r, err, st) : 0;
}

/* Writes the vectors whole. */
static int write_all(int fd, struct iovec *v, int nr)
{
	while (nr) {
		ssize_t n = writev(fd, v, nr);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ENOSPC;
		for (; nr && n > 0; v++, nr--) {
			if ((size_t)n < v->iov_len) {
				v->iov_base = (char *)v->iov_base + n;
				v->iov_len -= (size_t)n;
				break;
			}
			n -= (ssize_t)v->iov_len;
		}
	}
	return 0;
}

/* Writes some pages of queue i. */
static int take_some(struct up_recorder *r, struct up_pageset *pages, unsigned i)
{
	struct iovec v[BATCH];
	int nr = 0;

	for (struct up_page *p = pages->q[i].head; p && nr < BATCH; p = p->next) {
		/* What a file of pages is divided into. */
		if (p->size < pages->page_size)
			memset(p->data + p->size, 0, pages->page_size - p->size);
		v[nr++] = (struct iovec){ p->data, pages->page_size };
	}
	int err = write_all(r->side[i], v, nr);
	for (int k = 0; k < nr; k++)
		up_pageset_pop(pages, i);
	if (!err)
		r->head.cpus.v[i].size += (uint64_t)nr * pages->page_size;
	return err;
}

int up_recorder_take(struct up_recorder *r, struct up_pageset *pages, struct up_status *st)
{
	int err = 0;

	for (unsigned i = 0; i < pages->nr_q && !err; i++)
		while (pages->q[i].head && !err)
			err = take_some(r, pages, i);
	return err ? fail(r, err, st) : 0;
}

/* ---- joining ---- */

/* For file systems between which the kernel does not copy. */
static int copy_by_hand(int from, int to, uint64_t at, uint64_t off, uint64_t left)
{
	char *room = malloc(COPY_BYTES);
	int err = room ? 0 : -ENOMEM;

	while (!err && left) {
		size_t want = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
		ssize_t n = pread(from, room, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		err = n < 0 ? -errno : n == 0 ? -EIO : write_at(to, room, (size_t)n, off);
		if (!err) {
			at += (uint64_t)n;
			off += (uint64_t)n;
			left -= (uint64_t)n;
		}
	}
	free(room);
	return err;
}

static int copy_side(int from, int to, uint64_t off, uint64_t size)
{
	off_t at = 0, end = (off_t)off;

	while ((uint64_t)at < size) {
		ssize_t n = copy_file_range(from, &at, to, &end, size - (uint64_t)at, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == ENOSPC
				       ? -ENOSPC
				       : copy_by_hand(from, to, (uint64_t)at, (uint64_t)end,
						      size - (uint64_t)at);
	}
	return 0;
}

static void remove_sides(struct up_recorder *r)
{
	for (size_t i = 0; i < r->head.cpus.nr; i++) {
		char *path = up_recorder_side(r->path, r->head.cpus.v[i].cpu);

		if (path)
			unlink(path);
		free(path);
	}
}

int up_recorder_end(struct up_recorder *r, struct up_status *st)
{
	struct up_buf b = { 0 };
	int err = make_head(r, &b);

	for (size_t i = 0; i < r->head.cpus.nr && !err; i++)
		err = copy_side(r->side[i], r->fd, r->head.cpus.v[i].off, r->head.cpus.v[i].size);
	/* The head comes last: until then FILE says that the pages are beside it. */
	if (!err)
		err = write_at(r->fd, b.s, b.len, 0);
	up_buf_fini(&b);
	if (err)
		return fail(r, err, st);
	remove_sides(r);
	return 0;
}

uint64_t up_recorder_bytes(const struct up_recorder *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->head.cpus.nr; i++)
		sum += r->head.cpus.v[i].size;
	return sum;
}

void up_recorder_fini(struct up_recorder *r)
{
	for (size_t i = 0; r->side && i < r->head.cpus.nr; i++)
		if (r->side[i] >= 0)
			close(r->side[i]);
	free(r->side);
	free(r->head.cpus.v);
	if (r->fd >= 0)
		close(r->fd);
	up_arena_free(r->head.arena);
	up_buf_fini(&r->text);
	free(r->path);
	*r = (struct up_recorder){ .fd = -1 };
}
