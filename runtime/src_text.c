/* Text as a source: lines become records, in batches. */
#include "runtime/src_text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/textscan.h"
#include "runtime/texttask.h"

#define TEXT_ROOM (256u << 10)    /* bytes of text at a time; no line may be longer */
#define BATCH_BYTES (1u << 20)    /* of records, until they are to be handed out */
#define BATCH_ENTRIES (16u << 10) /* likewise */
#define JOIN_BYTES 16384u         /* of an event's text that has newlines in it */
#define JOIN_LINES 64             /* and its lines */
#define HOLD_MS 20                /* how long an event waits for lines that may belong to it */
#define COMM_MAX 15               /* bytes of a thread's name */
#define STRING_MAX 4095           /* of any other string of the kernel's */
#define NAME_MAX_LEN 63           /* of an event's name */

int up_src_text_open(struct up_src_text *s, int fd, bool is_live, const struct up_plan *plan,
		     const struct up_records *records)
{
	*s = (struct up_src_text){ .plan = plan, .records = records, .fd = fd, .is_live = is_live };
	s->arena = up_arena_new();
	s->text = malloc(TEXT_ROOM);
	s->recs = malloc(BATCH_BYTES + 2 * UP_TEXTARGS_RECORD);
	s->entries = calloc(BATCH_ENTRIES, sizeof(*s->entries));
	s->after_loss = calloc(UP_TEXTLINE_CPUS, sizeof(*s->after_loss));
	s->gaps.end = calloc(UP_TEXTLINE_CPUS, sizeof(*s->gaps.end));
	return s->arena && s->text && s->recs && s->entries && s->after_loss && s->gaps.end
		       ? 0
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
	free(s->gaps.end);
	*s = (struct up_src_text){ .fd = -1 };
}

/* ---- what our events look like ---- */

/* "x64[8]": 8; of what is no array 0 */
static uint8_t array_count(const char *type)
{
	const char *at = strchr(type, '[');

	return at ? (uint8_t)strtoul(at + 1, NULL, 10) : 0;
}

static struct up_textarg make_arg(const struct up_plan_arg *a, struct up_field f)
{
	f.is_signed = a->is_signed;
	return (struct up_textarg){ .name = a->name,
				    .name_len = (uint8_t)strlen(a->name),
				    .count = f.is_dynamic ? 0 : array_count(a->type),
				    .max_len =
					    !strcasecmp(a->fetch, "$comm") ? COMM_MAX : STRING_MAX,
				    .field = f };
}

static void make_shape(struct up_src_text *s, struct up_text_kind *k,
		       const struct up_record_event *e)
{
	const struct up_plan_event *pe = &s->plan->events[e->event];
	struct up_textarg *args = up_newn(s->arena, struct up_textarg, pe->nr_args + 1);
	uint32_t nr = 0;

	if (e->site_field.size)
		args[nr++] = (struct up_textarg){ .name = "site",
						  .name_len = 4,
						  .field = e->site_field };
	for (uint32_t i = 0; i < pe->nr_args; i++) {
		args[nr++] = make_arg(&pe->args[i], e->args[i]);
		k->has_string |= e->args[i].is_dynamic;
	}
	k->shape = (struct up_textshape){ .ip = e->ip,
					  .ret_ip = e->ret_ip,
					  .args = args,
					  .nr_args = nr,
					  .fixed_size = e->fixed_size };
}

static void add_kind(struct up_src_text *s, const char *name, uint32_t record)
{
	const struct up_record_event *e = &s->records->events[record];
	struct up_text_kind *k = up_new(s->arena, struct up_text_kind);

	k->name = up_arena_strdup(s->arena, name);
	k->name_len = strlen(name);
	k->record = record;
	if (e->kind == UP_EVENT_PROBE)
		make_shape(s, k, e);
	up_nametab_add(s->arena, &s->kinds, k->name, k);
}

int up_src_text_add(struct up_src_text *s, const char *name, uint32_t record)
{
	jmp_buf oom;

	if (setjmp(oom)) {
		up_arena_on_oom(s->arena, NULL);
		return -ENOMEM;
	}
	up_arena_on_oom(s->arena, &oom);
	add_kind(s, name, record);
	up_arena_on_oom(s->arena, NULL);
	return 0;
}

static struct up_text_kind *find_name(struct up_src_text *s, const char *name, size_t len)
{
	char copy[NAME_MAX_LEN + 1];

	if (len > NAME_MAX_LEN)
		return NULL;
	memcpy(copy, name, len);
	copy[len] = 0;
	return up_nametab_find(&s->kinds, copy);
}

/* Cuts "_s12" or "_g1" off a name; *number is 12. */
static bool cut_suffix(const char *name, size_t *len, char letter, uint32_t *number)
{
	size_t at = *len;
	uint64_t n;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	struct up_textscan c = { name + at, name + *len };
	if (at < 3 || name[at - 1] != letter || name[at - 2] != '_' ||
	    !up_textscan_decimal(&c, UINT32_MAX - 1, &n))
		return false;
	*number = (uint32_t)n;
	*len = at - 2;
	return true;
}

/*
 * The event of a name, or NULL. In saved text it can have a suffix: of sites that came later, and
 * of events of one site each; then *site is its number, else UP_NONE.
 */
static struct up_text_kind *find_kind(struct up_src_text *s, const char *name, size_t len,
				      uint32_t *site)
{
	struct up_text_kind *k = s->last_kind;
	uint32_t later;

	*site = UP_NONE;
	if (k && k->name_len == len && !memcmp(k->name, name, len))
		return k;
	k = find_name(s, name, len);
	if (!k && !s->is_live && cut_suffix(name, &len, 'g', &later))
		k = find_name(s, name, len);
	if (!k && !s->is_live && cut_suffix(name, &len, 's', site))
		k = find_name(s, name, len);
	if (k && *site == UP_NONE)
		s->last_kind = k;
	return k;
}

/* ---- entries ---- */

static bool is_full(const struct up_src_text *s)
{
	return s->recs_len > BATCH_BYTES || s->nr_entries + 2 > BATCH_ENTRIES;
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

/* One or several lines, as far as they were put together. */
struct view {
	size_t from, end; /* in s->text; without the newline at the end */
	unsigned lines;
};

enum step {
	STEP_OK,
	STEP_FAILED, /* it cannot be */
	STEP_WAIT    /* it depends on text that is not there yet */
};

/* Takes in the next line, the first one when there is none. */
static enum step grow(const struct up_src_text *s, struct view *v)
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

static enum up_textline_kind parse(const struct up_src_text *s, const struct view *v,
				   struct up_textline *l)
{
	return up_textline_parse(s->text + v->from, length(s, v->from, v->end), l);
}

static void consume(struct up_src_text *s, const struct view *v)
{
	s->nr_lines += v->lines;
	s->at = v->end < s->text_len ? v->end + 1 : v->end;
}

static void consume_unreadable(struct up_src_text *s, const struct view *v)
{
	if (!s->nr_unreadable)
		s->first_unreadable = s->nr_lines + 1;
	s->nr_unreadable += v->lines;
	consume(s, v);
}

/* May an event's text, which ended inside a string, go on in the next line? Then it is taken in. */
static enum step join(struct up_src_text *s, struct view *v)
{
	static const char too_big[] = UP_TEXTLINE_TOO_BIG;
	size_t n = sizeof(too_big) - 1, before = v->end;
	struct view next = { .from = before + 1 };
	struct up_textline l;

	if (v->end - v->from > JOIN_BYTES || v->lines >= JOIN_LINES)
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
			   pid_t tid, size_t body, struct view *v, enum up_textargs_result *result,
			   uint32_t *len)
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
static bool take_event(struct up_src_text *s, struct view v, const struct up_textline *l)
{
	enum up_textargs_result result = UP_TEXTARGS_OTHER;
	struct view first = v;
	size_t body = (size_t)(l->body - s->text);
	uint32_t site = UP_NONE, len = 0;
	struct up_text_kind *k = l->name_len ? find_kind(s, l->name, l->name_len, &site) : NULL;
	enum step step = k ? read_body(s, k, site, l->tid, body, &v, &result, &len) : STEP_OK;

	if (step == STEP_WAIT)
		return false;
	s->open = NULL;
	note_loss(s, l);
	if (step == STEP_FAILED || result == UP_TEXTARGS_BROKEN) {
		consume_unreadable(s, &first);
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
static enum step extend_latest(struct up_src_text *s, struct view *v)
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

static bool take_other_line(struct up_src_text *s, struct view v, enum up_textline_kind kind,
			    const struct up_textline *l)
{
	struct view longer = v;
	enum step step = s->open ? extend_latest(s, &longer) : STEP_FAILED;

	if (step == STEP_WAIT)
		return false;
	if (step == STEP_OK) {
		consume(s, &longer);
		return true;
	}
	s->open = NULL;
	if (kind == UP_TEXTLINE_UNKNOWN) {
		consume_unreadable(s, &v);
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
static enum step join_name(struct up_src_text *s, struct view *v, struct up_textline *l)
{
	struct view longer = *v;

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

static bool is_blank(const struct up_src_text *s, const struct view *v)
{
	for (size_t i = v->from; i < v->end; i++)
		if (s->text[i] != ' ')
			return false;
	return true;
}

/* False when more text is needed. */
static bool take_line(struct up_src_text *s)
{
	struct view v = { .from = s->at };
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

/* ---- reading ---- */

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

	while (s->at < s->text_len && !is_full(s))
		if (s->in_long ? !skip_long(s) : !take_line(s))
			break;
	return s->at != from;
}

/* Makes room for more text: what was looked at is forgotten, but for what may go on. */
static void shift_text(struct up_src_text *s)
{
	size_t keep = s->at;

	if (s->open && s->at - s->open_body < JOIN_BYTES)
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
	consume_unreadable(s, &(struct view){ .end = s->text_len, .lines = 1 });
	s->open = NULL;
	s->text_len = s->at = 0;
	s->in_long = true;
}

/* Is there something to be read, be it the end? The rest of an event comes soon, if there is one.
 */
static bool is_readable(const struct up_src_text *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	return s->is_live || poll(&p, 1, s->is_held ? HOLD_MS : 0) != 0;
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
	if (s->is_live && from && s->entries[from - 1].time > limit && !is_full(s))
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

		if (e->time > limit && !is_full(s))
			return false;
		if (s->is_held && s->next + 1 == s->nr_entries)
			return false;
		s->next++;
		if (!e->len) {
			s->gaps.end[e->cpu] = e->time;
			s->gaps.last = e->time > s->gaps.last ? e->time : s->gaps.last;
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
