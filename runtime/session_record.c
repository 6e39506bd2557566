/* A session that records: what it says of itself, its rounds and its end. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/attach_event.h"
#include "runtime/clock.h"
#include "runtime/recording.h"
#include "runtime/session_int.h"
#include "runtime/sysctl.h"

#define RECORD_PERCENT 25       /* rarely, and with room for what comes meanwhile */
#define LOOK_SOON_NS 20000000ul /* to the next look at the buffers while they are overrun */
#define LOOK_NS 1000000000ul    /* and after they were */

/* ---- which threads there are ---- */

static void put_threads_of(struct up_buf *b, pid_t pid)
{
	char path[48];
	struct dirent *e;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			up_recording_put_thread(b, atoi(e->d_name), pid);
	if (d)
		closedir(d);
}

/* Those that can make hits; the ones born later are recorded as they come. */
static void put_threads(const struct up_session *s, struct up_buf *b)
{
	struct dirent *e;

	if (s->opts.child || s->opts.pid) {
		put_threads_of(b, s->opts.child ? s->opts.child : s->opts.pid);
		return;
	}
	DIR *d = opendir("/proc");
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			put_threads_of(b, atoi(e->d_name));
	if (d)
		closedir(d);
}

/* ---- the head ---- */

static int add_format(struct up_session *s, const struct up_record_event *e, struct up_status *st)
{
	static const char *const systems[] = { NULL, "task", "sched" };
	struct up_recorder *r = s->opts.recorder;
	struct up_buf text = { 0 }, path = { 0 };
	int err = up_attach_read_event(s->attach, e, "format", &text, st);

	if (!err)
		err = up_recorder_add_format(r,
					     systems[e->kind] ? systems[e->kind]
							      : s->attach->session,
					     &text);
	up_attach_event_path(s->attach, e, &path);
	if (e->kind == UP_EVENT_PROBE && path.s)
		up_recording_put_kernel(&r->text, strchr(path.s, '/') + 1, e->event, e->site);
	up_buf_fini(&text);
	up_buf_fini(&path);
	return err ? up_status_set(st, err, NULL, "cannot describe the events") : 0;
}

static int make_head(struct up_session *s, struct up_status *st)
{
	struct up_recorder *r = s->opts.recorder;
	const struct up_attach *a = s->attach;
	struct up_buf page = { 0 }, event = { 0 };
	int err = up_keeper_read(a->keeper, "events/header_event", &event, st);

	up_tracedat_header_page(a->commit_size, a->subbuf_size, &page);
	r->head.page_size = a->subbuf_size;
	r->head.clock = "[mono]";
	if (!err)
		err = up_recorder_keep(r, &r->head.header_page, &page);
	if (!err)
		err = up_recorder_keep(r, &r->head.header_event, &event);
	for (uint32_t i = 0; i < a->records.nr && !err; i++)
		err = add_format(s, &a->records.events[i], st);
	up_buf_fini(&page);
	up_buf_fini(&event);
	return err ? up_status_set(st, err, NULL, "cannot describe the recording") : 0;
}

int up_session_record_begin(struct up_session *s, struct up_status *st)
{
	struct up_recorder *r = s->opts.recorder;
	uint64_t now = up_clock_ns(CLOCK_MONOTONIC);
	int err = make_head(s, st);

	if (err)
		return err;
	up_recording_put_clock(&r->text, (int64_t)(up_clock_ns(CLOCK_REALTIME) - now), now);
	for (unsigned i = 0; i < 2; i++)
		up_recording_put_tracer(&r->text, s->engine.own[i]);
	if (s->engine.opts.only)
		up_recording_put_process(&r->text, s->engine.opts.only);
	put_threads(s, &r->text);
	return up_recorder_begin(r, &s->src.pages, st);
}

/* ---- rounds ---- */

/*
 * Looking how full a buffer is can, very rarely, make the kernel warn (see KERNEL in docs/design),
 * which must not halt a machine or end its tracing.
 */
unsigned up_session_record_percent(void)
{
	bool risky = up_sysctl_is_set(NULL, "panic_on_warn") ||
		     up_sysctl_is_set(NULL, "traceoff_on_warning");

	return risky ? 0 : RECORD_PERCENT;
}

static int take_pages(struct up_session *s, int *nr, struct up_status *st)
{
	*nr = up_src_raw_drain(&s->src);
	if (*nr < 0)
		return up_status_set(st, *nr, s->src.failed, "cannot read the ring buffer");
	return up_recorder_take(s->opts.recorder, &s->src.pages, st);
}

/*
 * A kernel that lets its buffers be overrun can count them emptier than they are, and emptier from
 * time to time, so that it would wake nobody in the end: see KERNEL in docs/design.
 */
static void plan_look(struct up_session *s, bool lost)
{
	if (s->src.nr_gaps)
		s->look_at = up_clock_ns(CLOCK_MONOTONIC) + (lost ? LOOK_SOON_NS : LOOK_NS);
}

int up_session_record_round(struct up_session *s, bool *gather, struct up_status *st)
{
	uint64_t gaps = s->src.nr_gaps, pages = s->src.nr_pages;
	int nr, err;

	/* Page buffers may have run out before the ring buffer did. */
	do
		err = take_pages(s, &nr, st);
	while (!err && s->src.held_back);
	*gather = !s->opts.attach.buffer_percent && s->src.nr_pages != pages;
	plan_look(s, s->src.nr_gaps != gaps);
	return err;
}

int up_session_record_rest(struct up_session *s, struct up_status *st)
{
	int nr, err;

	do
		err = take_pages(s, &nr, st);
	while (!err && nr);
	return err;
}

int up_session_record_end(struct up_session *s, uint64_t lost, struct up_status *st)
{
	struct up_recorder *r = s->opts.recorder;
	struct up_buf names = { 0 };

	/* Only for other readers, so it may be missing. */
	if (!up_keeper_read(s->attach->keeper, "saved_cmdlines", &names, NULL))
		up_recorder_keep(r, &r->head.cmdlines, &names);
	up_buf_fini(&names);
	up_recording_put_end(&r->text, s->engine.ended_at, lost);
	return up_recorder_end(r, st);
}
