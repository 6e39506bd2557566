/* The text source: reading text, and handing out what it became. */
#include "runtime/src_text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/src_text_int.h"

#define TEXT_ROOM (256u << 10) /* bytes of text at a time; no line may be longer */
#define HOLD_MS 20             /* how long an event waits for lines that may belong to it */

int up_src_text_open(struct up_src_text *s, int fd, bool is_live, const struct up_plan *plan,
		     const struct up_records *records)
{
	*s = (struct up_src_text){ .plan = plan, .records = records, .fd = fd, .is_live = is_live };
	s->arena = up_arena_new();
	s->text = malloc(TEXT_ROOM);
	s->recs = malloc(UP_TEXT_RECS + 2 * UP_TEXTARGS_RECORD);
	s->entries = calloc(UP_TEXT_ENTRIES, sizeof(*s->entries));
	s->after_loss = calloc(UP_TEXTLINE_CPUS, sizeof(*s->after_loss));
	bool has_gaps = up_gaps_init(&s->gaps, UP_TEXTLINE_CPUS);
	return s->arena && s->text && s->recs && s->entries && s->after_loss && has_gaps ? 0
											 : -ENOMEM;
}

void up_src_text_close(struct up_src_text *s)
{
	if (s->fd > STDIN_FILENO)
		close(s->fd);
	up_arena_free(s->arena);
	free(s->text);
	free(s->recs);
	free(s->entries);
	free(s->after_loss);
	up_gaps_fini(&s->gaps);
	*s = (struct up_src_text){ .fd = -1 };
}

/* A line that there is no room for. False when its end is not there yet. */
static bool skip_long(struct up_src_text *s)
{
	const char *newline = memchr(s->text + s->at, '\n', s->text_len - s->at);

	s->at = newline ? (size_t)(newline + 1 - s->text) : s->text_len;
	s->in_long = !newline;
	return newline;
}

static bool take_lines(struct up_src_text *s)
{
	size_t from = s->at;

	while (s->at < s->text_len && !up_src_text_is_full(s))
		if (s->in_long ? !skip_long(s) : !up_src_text_take_line(s))
			break;
	return s->at != from;
}

/* Makes room for more text: what was looked at is forgotten, but for what may go on. */
static void shift_text(struct up_src_text *s)
{
	size_t keep = s->at;

	if (s->open && s->at - s->open_body < UP_TEXT_JOIN)
		keep = s->open_body;
	else
		s->open = NULL;
	memmove(s->text, s->text + keep, s->text_len - keep);
	s->text_len -= keep;
	s->at -= keep;
	s->open_body -= s->open ? keep : 0;
	if (s->text_len < TEXT_ROOM)
		return;
	/* One line fills it all. */
	up_src_text_give_up(s, &(struct up_text_view){ .end = s->text_len, .lines = 1 });
	s->open = NULL;
	s->text_len = s->at = 0;
	s->in_long = true;
}

/*
 * Is there something to be read, be it the end? The rest of an event comes soon, if there is one.
 * A signal may be the one that ends the run, so after it nothing is read that could be waited for.
 */
static bool is_readable(const struct up_src_text *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	if (s->is_live)
		return true;
	int n = poll(&p, 1, s->is_held ? HOLD_MS : 0);
	return n > 0 || (n < 0 && errno != EINTR);
}

/* 1, 0 at the end, or -errno. */
static int read_text(struct up_src_text *s)
{
	ssize_t n;

	if (!is_readable(s))
		return -EAGAIN;
	shift_text(s);
	n = read(s->fd, s->text + s->text_len, TEXT_ROOM - s->text_len);
	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	s->text_len += (size_t)n;
	/* At the end of the kernel's text there is just nothing now. */
	if (!n && s->is_live)
		return -EAGAIN;
	s->is_ended = !n;
	return n > 0;
}

/* Forgets what was handed out. What is left is what came last. */
static void drop_handed_out(struct up_src_text *s)
{
	size_t left = s->nr_entries - s->next, start = s->recs_len;

	for (size_t i = s->next; i < s->nr_entries; i++)
		if (s->entries[i].len && s->entries[i].off < start)
			start = s->entries[i].off;
	memmove(s->recs, s->recs + start, s->recs_len - start);
	memmove(s->entries, s->entries + s->next, left * sizeof(*s->entries));
	for (size_t i = 0; i < left; i++)
		s->entries[i].off -= s->entries[i].len ? start : 0;
	s->recs_len -= start;
	s->nr_entries = left;
	s->next = 0;
	if (!left)
		s->open = NULL;
}

/* The kernel's text is nearly in order: CPUs write while it goes from one to the next. */
static void sort_entries(struct up_src_text *s, size_t from)
{
	for (size_t i = from ? from : 1; i < s->nr_entries; i++) {
		struct up_text_entry e = s->entries[i];
		size_t at = i;

		for (; at > s->next && s->entries[at - 1].time > e.time; at--)
			s->entries[at] = s->entries[at - 1];
		s->entries[at] = e;
		if (at != i)
			s->open = NULL;
	}
}

int up_src_text_fill(struct up_src_text *s, uint64_t limit)
{
	int got = 1;

	drop_handed_out(s);
	size_t from = s->nr_entries;
	if (s->is_live && from && s->entries[from - 1].time > limit && !up_src_text_is_full(s))
		return 0;
	if (!take_lines(s)) {
		got = s->is_ended ? 0 : read_text(s);
		/* The kernel gives whole events. */
		s->is_whole = s->is_ended || (s->is_live && got == -EAGAIN);
		take_lines(s);
		/* What was waited for does not come: at the end all can be told. */
		if (!got && s->at < s->text_len)
			got = 1;
	}
	if (s->is_live)
		sort_entries(s, from);
	s->is_held = s->open && got > 0;
	return got ? got : s->nr_entries > from;
}

bool up_src_text_next(struct up_src_text *s, uint64_t limit, struct up_event *ev, pid_t *tid,
		      pid_t *pid)
{
	while (s->next < s->nr_entries) {
		const struct up_text_entry *e = &s->entries[s->next];

		if (e->time > limit && !up_src_text_is_full(s))
			return false;
		if (s->is_held && s->next + 1 == s->nr_entries)
			return false;
		s->next++;
		if (!e->len) {
			up_gaps_note(&s->gaps, e->cpu, e->time);
			continue;
		}
		s->late += e->time < s->last_time;
		s->last_time = e->time > s->last_time ? e->time : s->last_time;
		*tid = e->tid;
		*pid = e->pid;
		*ev = (struct up_event){
			.ts = e->time, .payload = s->recs + e->off, .len = e->len, .cpu = e->cpu
		};
		return true;
	}
	return false;
}

void up_src_text_totals(const struct up_src_text *s, struct up_out_totals *t)
{
	t->late += s->late;
	t->unreadable += s->nr_unreadable;
	t->first_unreadable = s->first_unreadable;
	t->others += s->nr_others;
	t->misplaced += s->nr_misplaced;
}
