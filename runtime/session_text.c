/* Events as the kernel's text: trace_pipe instead of the binary buffers. */
#include "runtime/session_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/attach_event.h"

/* Tells the source the names of events that the records have gained. */
static int add_names(struct up_session *s, struct up_status *st)
{
	const struct up_records *r = &s->attach->records;
	struct up_buf path = { 0 };
	int err = 0;

	for (; s->nr_named < r->nr && !err; s->nr_named++) {
		up_buf_reset(&path);
		up_attach_event_path(s->attach, &r->events[s->nr_named], &path);
		err = path.failed ? -ENOMEM
				  : up_src_text_add(s->text, strrchr(path.s, '/') + 1, s->nr_named);
	}
	up_buf_fini(&path);
	return err ? up_status_set(st, err, NULL, "cannot set up the reader") : 0;
}

int up_session_text_open(struct up_session *s, struct up_status *st)
{
	char *path = NULL;
	int fd = -1, err = -ENOMEM;

	s->text = calloc(1, sizeof(*s->text));
	if (s->text && asprintf(&path, "%s/trace_pipe", s->attach->instance_path) >= 0) {
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		err = fd < 0 ? -errno : 0;
	}
	if (err)
		up_status_set(st, err, path, "cannot read the kernel's text");
	free(path);
	/* From here on it can be closed. */
	int failed = s->text ? up_src_text_open(s->text, fd, true, s->plan, &s->attach->records)
			     : -ENOMEM;
	if (err || failed)
		return up_status_set(st, err ? err : failed, NULL, "cannot set up the reader");
	up_engine_set_gaps(&s->engine, &s->text->gaps);
	return add_names(s, st);
}

void up_session_text_close(struct up_session *s)
{
	if (s->text)
		up_src_text_close(s->text);
	free(s->text);
	s->text = NULL;
}

int up_session_text_handle(struct up_session *s, uint64_t limit, bool *handled,
			   struct up_status *st)
{
	struct up_event ev;
	pid_t tid, pid;
	int got, err = add_names(s, st);

	if (err)
		return err;
	do {
		got = up_src_text_fill(s->text, limit);
		while (!up_engine_is_cut_short(&s->engine) &&
		       up_src_text_next(s->text, limit, &ev, &tid, &pid)) {
			*handled = true;
			up_engine_event(&s->engine, &ev);
		}
	} while (got > 0 && !up_engine_is_cut_short(&s->engine));
	s->src.lost_unknown = s->text->lost_unknown;
	return got < 0 && got != -EAGAIN
		       ? up_status_set(st, got, NULL, "cannot read the kernel's text")
		       : 0;
}
