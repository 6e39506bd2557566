/* Opening a recording, and its events. */
#include "runtime/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/recorder.h"
#include "runtime/ringpage.h"

#define POOL (8u << 20) /* bytes of pages held at a time */

static int fail(const struct up_replay *r, int err, const char *why, struct up_status *st)
{
	up_status_set(st, err, r->path, "cannot replay");
	if (why)
		up_status_reason(st, "%s", why);
	return err;
}

/* A file, but no FIFO that would be waited for, nor a terminal. */
static int open_file(const char *path, struct up_tracedat_io *io, int *fd)
{
	struct stat sb;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd < 0 || fstat(*fd, &sb))
		return -errno;
	if (!S_ISREG(sb.st_mode))
		return S_ISDIR(sb.st_mode) ? -EISDIR : -EINVAL;
	*io = (struct up_tracedat_io){ fd, up_src_file_read_at, (uint64_t)sb.st_size };
	return 0;
}

static int read_description(struct up_replay *r, struct up_status *st)
{
	const struct up_tracedat_option *o = up_tracedat_find(&r->dat, UP_RECORDING_OPTION);
	struct up_buf why = { 0 };

	if (!o) {
		fail(r, -EPROTO, "it does not say which places its events stand for", st);
		up_status_hint(st, "only what `uptick record` wrote can be replayed");
		return -EPROTO;
	}
	int err = up_recording_read(&r->says, o->data.s, o->data.len, &why);
	if (err)
		fail(r, err, why.s, st);
	up_buf_fini(&why);
	return err;
}

int up_replay_open(struct up_replay *r, const char *path, struct up_status *st)
{
	struct up_tracedat_io io;
	struct up_buf why = { 0 };

	*r = (struct up_replay){ .fd = -1, .path = strdup(path) };
	if (!r->path)
		return up_status_set(st, -ENOMEM, NULL, "cannot replay");
	int err = open_file(path, &io, &r->fd);
	if (!err)
		err = up_tracedat_read(&r->dat, &io, &why);
	if (err)
		fail(r, err, why.s, st);
	up_buf_fini(&why);
	if (err)
		return err;
	err = read_description(r, st);
	r->unfinished = !r->says.ended_at;
	return err;
}

/* ---- where the pages are ---- */

/* Those of a recording that was ended are in FILE, those of another one beside it. */
static int find_part(struct up_replay *r, size_t i, struct up_src_file_part *part)
{
	const struct up_tracedat_cpu *c = &r->dat.cpus.v[i];

	*part = (struct up_src_file_part){ c->cpu, &r->io[i], c->off, c->size };
	r->io[i] = (struct up_tracedat_io){ &r->fd, up_src_file_read_at, c->off + c->size };
	if (!r->unfinished)
		return 0;
	char *path = up_recorder_side(r->path, c->cpu);
	int err = path ? open_file(path, &r->io[i], &r->side[i]) : -ENOMEM;
	free(path);
	*part = (struct up_src_file_part){ c->cpu, &r->io[i], 0, err ? 0 : r->io[i].size };
	/* Rows of the table that stand for no CPU have no file. */
	return err == -ENOENT ? 0 : err;
}

int up_replay_start(struct up_replay *r, struct up_status *st)
{
	size_t nr = r->dat.cpus.nr, page_size;
	struct up_src_file_part *parts = calloc(nr + 1, sizeof(*parts));
	unsigned commit_size;
	int err = 0;

	r->side = malloc((nr + 1) * sizeof(*r->side));
	r->io = calloc(nr + 1, sizeof(*r->io));
	for (size_t i = 0; r->side && i < nr; i++)
		r->side[i] = -1;
	if (!parts || !r->side || !r->io)
		err = -ENOMEM;
	else if (up_ringpage_layout(r->dat.header_page.s, r->dat.header_page.len, &commit_size,
				    &page_size))
		err = fail(r, -EPROTO, "it describes its pages in a strange way", st);
	for (size_t i = 0; i < nr && !err; i++)
		err = find_part(r, i, &parts[i]);
	if (!err) {
		r->has_src = true;
		err = up_src_file_open(&r->src, parts, (unsigned)nr, r->dat.page_size, commit_size,
				       POOL);
	}
	free(parts);
	if (!err) {
		err = up_merge_init(&r->merge, &r->src.pages, commit_size, false);
		r->has_merge = !err;
	}
	return err ? fail(r, err, NULL, st) : 0;
}

int up_replay_bind(struct up_replay *r, const struct up_plan *plan, struct up_diags *ds,
		   struct up_status *st)
{
	struct up_buf why = { 0 };
	int err = up_rebind_init(&r->bind, &r->says, &r->dat, plan, ds, &why);

	if (err && err != -ENOENT)
		fail(r, err, why.s, st);
	up_buf_fini(&why);
	return err;
}

int up_replay_next(struct up_replay *r, struct up_event *ev, struct up_status *st)
{
	while (!up_merge_next(&r->merge, UINT64_MAX, ev)) {
		if (!up_merge_waiting(&r->merge))
			return 0;
		int nr = up_src_file_drain(&r->src);
		if (nr < 0)
			return fail(r, nr, NULL, st);
	}
	return 1;
}

void up_replay_close(struct up_replay *r)
{
	if (r->has_merge)
		up_merge_fini(&r->merge);
	if (r->has_src)
		up_src_file_close(&r->src);
	for (size_t i = 0; r->side && i < r->dat.cpus.nr; i++)
		if (r->side[i] >= 0)
			close(r->side[i]);
	free(r->side);
	free(r->io);
	if (r->bind.arena)
		up_rebind_fini(&r->bind);
	up_recording_fini(&r->says);
	up_tracedat_fini(&r->dat);
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	*r = (struct up_replay){ .fd = -1 };
}
