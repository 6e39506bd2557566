/* The text source: lines become entries, several together where names or strings have newlines. */
#include <stdlib.h>

#include "runtime/src_text_int.h"
#include "runtime/texttask.h"

#define JOIN_LINES 64 /* of an event's text that has newlines in it */
#define COMM_MAX 15   /* bytes of a thread's name */

bool up_src_text_is_full(const struct up_src_text *s)
{
	return s->recs_len > UP_TEXT_RECS || s->nr_entries + 2 > UP_TEXT_ENTRIES;
}

static void add_entry(struct up_src_text *s, const struct up_textline *l, uint32_t len)
{
	s->entries[s->nr_entries++] = (struct up_text_entry){ .time = l->time,
							      .off = s->recs_len,
							      .len = len,
							      .cpu = l->cpu,
							      .tid = l->tid,
							      .pid = l->pid };
	s->recs_len += (len + 7) & ~7u;
}

/* The first line of a CPU behind a loss: whoever pairs calls must know. */
static void note_loss(struct up_src_text *s, const struct up_textline *l)
{
	if (!s->after_loss[l->cpu])
		return;
	s->after_loss[l->cpu] = false;
	add_entry(s, l, 0);
}

static void put_number(unsigned char *rec, const struct up_field *f, uint64_t v)
{
	up_textargs_store(rec, f, f->size, 0, v);
}

static void put_head(unsigned char *rec, const struct up_record_event *e, pid_t tid)
{
	memset(rec, 0, e->fixed_size);
	memcpy(rec, &e->id, sizeof(e->id));
	put_number(rec, &e->tid, (uint64_t)tid);
}

/*
 * Is the record at the place that the plan has for its site? Where one event stands for one place
 * its name says so, whatever the program's other version has there. Pages have 4096 bytes at least.
 */
static bool is_in_place(const struct up_src_text *s, const struct up_record_event *e,
			const unsigned char *rec)
{
	uint32_t site =
		e->site == UP_NONE ? (uint32_t)up_field_number(rec, &e->site_field) : e->site;

	if (site >= s->plan->nr_sites || s->plan->sites[site].event != e->event)
		return false;
	if (s->is_live || s->plan->events[e->event].nr_sites == 1 || !s->plan->sites[site].id.ino)
		return true;
	return ((up_field_number(rec, &e->ip) ^ s->plan->sites[site].addr) & 0xfff) == 0;
}

static enum up_textargs_result read_task(const struct up_record_event *e, const char *body,
					 size_t len, unsigned char *rec, uint32_t *rec_len)
{
	bool is_born = e->kind == UP_EVENT_NEWTASK;
	struct up_texttask t;
	enum up_textargs_result r =
		is_born ? up_texttask_born(body, len, &t) : up_texttask_died(body, len, &t);

	if (r != UP_TEXTARGS_OK)
		return r;
	put_number(rec, &e->task, (uint64_t)t.tid);
	if (is_born)
		put_number(rec, &e->flags, t.flags);
	*rec_len = e->fixed_size;
	return r;
}

static enum up_textargs_result read_probe(const struct up_record_event *e,
					  const struct up_text_kind *k, uint32_t site,
					  const char *body, size_t len, unsigned char *rec,
					  uint32_t *rec_len)
{
	struct up_textshape single = k->shape;

	if (site == UP_NONE)
		return up_textargs_parse(&k->shape, body, len, rec, rec_len);
	if (!e->site_field.size)
		return UP_TEXTARGS_OTHER;
	single.args++;
	single.nr_args--;
	put_number(rec, &e->site_field, site);
	return up_textargs_parse(&single, body, len, rec, rec_len);
}

/* ---- lines ---- */

enum step {
	STEP_OK,
	STEP_FAILED, /* it cannot be */
	STEP_WAIT    /* it depends on text that is not there yet */
};

/* Takes in the next line, the first one when there is none. */
static enum step grow(const struct up_src_text *s, struct up_text_view *v)
{
	size_t from = v->lines ? v->end + 1 : v->from;
	const char *newline;

	if (from >= s->text_len)
		return s->is_whole ? STEP_FAILED : STEP_WAIT;
	newline = memchr(s->text + from, '\n', s->text_len - from);
	if (!newline && !s->is_whole)
		return STEP_WAIT;
	v->end = newline ? (size_t)(newline - s->text) : s->text_len;
	v->lines++;
	return STEP_OK;
}

/* Without what a newline of other systems leaves. */
static size_t length(const struct up_src_text *s, size_t from, size_t end)
{
	return end > from && s->text[end - 1] == '\r' ? end - 1 - from : end - from;
}

static enum up_textline_kind parse(const struct up_src_text *s, const struct up_text_view *v,
				   struct up_textline *l)
{
	return up_textline_parse(s->text + v->from, length(s, v->from, v->end), l);
}

static void consume(struct up_src_text *s, const struct up_text_view *v)
{
	s->nr_lines += v->lines;
	s->at = v->end < s->text_len ? v->end + 1 : v->end;
}

void up_src_text_give_up(struct up_src_text *s, const struct up_text_view *v)
{
	if (!s->nr_unreadable)
		s->first_unreadable = s->nr_lines + 1;
	s->nr_unreadable += v->lines;
	consume(s, v);
}

/* May an event's text, which ended inside a string, go on in the next line? Then it is taken in. */
static enum step join(struct up_src_text *s, struct up_text_view *v)
{
	static const char too_big[] = UP_TEXTLINE_TOO_BIG;
	size_t n = sizeof(too_big) - 1, before = v->end;
	struct up_text_view next = { .from = before + 1 };
	struct up_textline l;

	if (v->end - v->from > UP_TEXT_JOIN || v->lines >= JOIN_LINES)
		return STEP_FAILED;
	if (v->end - v->from >= n && !memcmp(s->text + v->end - n, too_big, n))
		return STEP_FAILED;
	enum step step = grow(s, &next);
	if (step != STEP_OK)
		return step;
	if (parse(s, &next, &l) == UP_TEXTLINE_EVENT && !l.is_trimmed)
		return STEP_FAILED;
	v->end = next.end;
	v->lines++;
	return STEP_OK;
}

/*
 * Reads the text of an event from `body` to the end of v into the room behind the records; takes
 * more lines into v while that has to be.
 */
static enum step read_body(struct up_src_text *s, const struct up_text_kind *k, uint32_t site,
			   pid_t tid, size_t body, struct up_text_view *v,
			   enum up_textargs_result *result, uint32_t *len)
{
	const struct up_record_event *e = &s->records->events[k->record];
	unsigned char *rec = s->recs + s->recs_len;

	for (;;) {
		const char *text = s->text + body;
		size_t text_len = length(s, body, v->end);

		put_head(rec, e, tid);
		*result = e->kind == UP_EVENT_PROBE
				  ? read_probe(e, k, site, text, text_len, rec, len)
				  : read_task(e, text, text_len, rec, len);
		if (*result != UP_TEXTARGS_OPEN)
			return STEP_OK;
		enum step step = join(s, v);
		if (step != STEP_OK)
			return step;
	}
}

/* An event; false: more text is needed to tell. */
static bool take_event(struct up_src_text *s, struct up_text_view v, const struct up_textline *l)
{
	enum up_textargs_result result = UP_TEXTARGS_OTHER;
	struct up_text_view first = v;
	size_t body = (size_t)(l->body - s->text);
	uint32_t site = UP_NONE, len = 0;
	struct up_text_kind *k =
		l->name_len ? up_src_text_find(s, l->name, l->name_len, &site) : NULL;
	enum step step = k ? read_body(s, k, site, l->tid, body, &v, &result, &len) : STEP_OK;

	if (step == STEP_WAIT)
		return false;
	s->open = NULL;
	note_loss(s, l);
	if (step == STEP_FAILED || result == UP_TEXTARGS_BROKEN) {
		up_src_text_give_up(s, &first);
		return true;
	}
	consume(s, &v);
	if (result == UP_TEXTARGS_OTHER) {
		s->nr_others++;
		return true;
	}
	const struct up_record_event *e = &s->records->events[k->record];
	if (e->kind == UP_EVENT_PROBE && !is_in_place(s, e, s->recs + s->recs_len)) {
		s->nr_misplaced++;
		return true;
	}
	/* note_loss() adds no record, so it lies where the entry says. */
	add_entry(s, l, len);
	if (k->has_string && site == UP_NONE) {
		s->open = k;
		s->open_body = body;
	}
	return true;
}

/*
 * A line that is no event. Perhaps the latest event's last string has a newline, and what looked
 * like its end was none: then all of it becomes that event.
 */
static enum step extend_latest(struct up_src_text *s, struct up_text_view *v)
{
	struct up_text_entry *latest = &s->entries[s->nr_entries - 1];
	enum up_textargs_result result;
	uint32_t len;
	enum step step =
		read_body(s, s->open, UP_NONE, latest->tid, s->open_body, v, &result, &len);

	if (step != STEP_OK)
		return step;
	if (result != UP_TEXTARGS_OK)
		return STEP_FAILED;
	latest->off = s->recs_len;
	latest->len = len;
	s->recs_len += (len + 7) & ~7u;
	return STEP_OK;
}

static bool take_other_line(struct up_src_text *s, struct up_text_view v,
			    enum up_textline_kind kind, const struct up_textline *l)
{
	struct up_text_view longer = v;
	enum step step = s->open ? extend_latest(s, &longer) : STEP_FAILED;

	if (step == STEP_WAIT)
		return false;
	if (step == STEP_OK) {
		consume(s, &longer);
		return true;
	}
	s->open = NULL;
	if (kind == UP_TEXTLINE_UNKNOWN) {
		up_src_text_give_up(s, &v);
		return true;
	}
	if (kind == UP_TEXTLINE_LOST) {
		s->after_loss[l->cpu] = true;
		s->lost += l->lost;
		s->lost_unknown |= !l->lost;
	}
	consume(s, &v);
	return true;
}

/*
 * A thread's name with a newline in it makes two lines of one: the first is shorter than a name's
 * columns, and with the next one the columns are right.
 */
static enum step join_name(struct up_src_text *s, struct up_text_view *v, struct up_textline *l)
{
	struct up_text_view longer = *v;

	while (longer.end > longer.from && longer.end - longer.from <= COMM_MAX) {
		enum step step = grow(s, &longer);

		if (step != STEP_OK)
			return step;
		if (parse(s, &longer, l) == UP_TEXTLINE_EVENT && !l->is_trimmed) {
			*v = longer;
			return STEP_OK;
		}
	}
	return STEP_FAILED;
}

static bool is_blank(const struct up_src_text *s, const struct up_text_view *v)
{
	for (size_t i = v->from; i < v->end; i++)
		if (s->text[i] != ' ')
			return false;
	return true;
}

bool up_src_text_take_line(struct up_src_text *s)
{
	struct up_text_view v = { .from = s->at };
	struct up_textline l, joined;

	if (grow(s, &v) != STEP_OK)
		return false;
	enum up_textline_kind kind = parse(s, &v, &l);
	if (kind == UP_TEXTLINE_EVENT)
		return take_event(s, v, &l);
	if (kind == UP_TEXTLINE_UNKNOWN || (kind == UP_TEXTLINE_NOTE && is_blank(s, &v))) {
		enum step step = join_name(s, &v, &joined);

		if (step == STEP_WAIT)
			return false;
		if (step == STEP_OK)
			return take_event(s, v, &joined);
	}
	return take_other_line(s, v, kind, &l);
}
