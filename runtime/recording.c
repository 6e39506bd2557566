/* Reading what a recording says of itself. Each kind of line is a row beside its function. */
#include "runtime/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "lang/base/text.h"

#define VERSION 1           /* of the text */
#define MAX_ROWS (1u << 22) /* of one kind */
#define MAX_TID (1 << 22)   /* PID_MAX_LIMIT of the kernel's linux/threads.h */

/* One line on its way; after the first failure everything reads as nothing. */
struct line {
	struct up_recording *r;
	const char *at, *end; /* what is left of it */
	unsigned nr;          /* which one, from 1 */
	struct up_buf *why;
	UP_VEC(struct up_recorded_object *) objects; /* by the numbers that lines give them */
	int err;
};

static void fail(struct line *l, const char *what)
{
	if (l->err)
		return;
	l->err = -EPROTO;
	up_buf_printf(l->why, "line %u of its description %s", l->nr, what);
}

/* ---- fields ---- */

static void skip_blank(struct line *l)
{
	if (l->at < l->end && *l->at == ' ')
		l->at++;
	else
		fail(l, "ends too soon");
}

static bool take_absent(struct line *l)
{
	if (l->err || l->end - l->at < 2 || l->at[0] != ' ' || l->at[1] != '-')
		return false;
	l->at += 2;
	return true;
}

/* A number of at most `most`. */
static uint64_t number(struct line *l, uint64_t most)
{
	uint64_t v = 0;
	unsigned digits = 0;

	skip_blank(l);
	for (; !l->err && l->at < l->end && *l->at >= '0' && *l->at <= '9'; l->at++, digits++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*l->at - '0'), &v))
			fail(l, "has a number that is too large");
	if (!digits)
		fail(l, "has no number where one is needed");
	else if (v > most)
		fail(l, "has a number that cannot be");
	return l->err ? 0 : v;
}

/* An index below `nr`. */
static uint32_t below(struct line *l, size_t nr)
{
	uint64_t v = number(l, UINT32_MAX - 1);

	if (!l->err && v >= nr)
		fail(l, "names something that no line before it describes");
	return l->err ? 0 : (uint32_t)v;
}

/* The same, or UP_NONE. */
static uint32_t below_or_none(struct line *l, size_t nr)
{
	return take_absent(l) ? UP_NONE : below(l, nr);
}

/* What stands between two quotes. */
static const char *bytes(struct line *l, size_t *len)
{
	size_t n = 0, nr;
	const char *wrong;

	skip_blank(l);
	if (!l->err && (l->at == l->end || *l->at != '"'))
		fail(l, "has no text where one is needed");
	if (l->err)
		return "";
	char *s = up_arena_alloc(l->r->arena, (size_t)(l->end - l->at) + 4);
	for (l->at++; l->at < l->end && *l->at != '"';) {
		if (*l->at != '\\') {
			s[n++] = *l->at++;
			continue;
		}
		if (++l->at == l->end)
			break;
		l->at += up_text_unescape(l->at, (size_t)(l->end - l->at), s + n, &nr, &wrong);
		n += nr;
		if (wrong)
			fail(l, "has a text with a bad escape");
	}
	if (l->at == l->end)
		fail(l, "has a text without an end");
	else
		l->at++;
	s[n] = 0;
	*len = n;
	return l->err ? "" : s;
}

/* A text without NUL. */
static const char *text(struct line *l)
{
	size_t len = 0;
	const char *s = bytes(l, &len);

	if (!l->err && memchr(s, 0, len))
		fail(l, "has a name with a NUL byte");
	return s;
}

static const char *text_or_null(struct line *l)
{
	return take_absent(l) ? NULL : text(l);
}

static pid_t thread_id(struct line *l)
{
	return (pid_t)number(l, MAX_TID);
}

/* ---- lines ---- */

#define push(l, vec, x)                                     \
	do {                                                \
		if ((vec)->nr == MAX_ROWS)                  \
			fail((l), "is one too many");       \
		if (!(l)->err)                              \
			up_vec_push((l)->r->arena, vec, x); \
	} while (0)

static void read_version(struct line *l)
{
	if (number(l, UINT32_MAX) != VERSION)
		fail(l, "says that a later version of uptick wrote it");
}

static void read_script(struct line *l)
{
	l->r->name = text(l);
	l->r->id = text_or_null(l);
	l->r->text = bytes(l, &l->r->text_len);
	if (l->r->text_len > UP_SOURCE_MAX)
		fail(l, "has a script that is too large");
}

static void read_arg(struct line *l)
{
	const char *s = text(l);

	push(l, &l->r->args, s);
}

static void read_param(struct line *l)
{
	struct up_param_arg p = { .name = text(l) };

	p.value = text_or_null(l);
	push(l, &l->r->params, p);
}

static void read_module(struct line *l)
{
	struct up_rec_module m = { .from = text_or_null(l) };

	m.name = text(l);
	m.is_path = number(l, 1);
	m.text.id = text(l);
	m.text.name = text(l);
	m.text.text = bytes(l, &m.text.len);
	if (m.text.len > UP_MODULE_MAX)
		fail(l, "has a module that is too large");
	push(l, &l->r->modules, m);
}

static void read_unsafe(struct line *l)
{
	l->r->unsafe = true;
}

static void read_process(struct line *l)
{
	l->r->process = thread_id(l);
}

static void read_tracer(struct line *l)
{
	pid_t tid = thread_id(l);

	push(l, &l->r->tracers, tid);
}

static void read_clock(struct line *l)
{
	l->r->wall_offset = (int64_t)number(l, INT64_MAX);
	l->r->begun_at = number(l, INT64_MAX);
}

static void read_object(struct line *l)
{
	struct up_object o = { .name = text(l) };
	struct up_recorded_object *own;

	o.path = text(l);
	o.machine = (enum up_machine)number(l, UP_M_AARCH64);
	o.is_pie = number(l, 1);
	o.is_go = number(l, 1);
	o.goid_off = (uint16_t)number(l, UINT16_MAX);
	if (l->err)
		return;
	own = up_recorded_object(l->r->places, &o);
	if (!own) {
		l->err = -ENOMEM;
		return;
	}
	push(l, &l->objects, own);
}

static void read_symbol(struct line *l)
{
	struct up_symbol s = { 0 };
	uint32_t object = below(l, l->objects.nr);

	s.name = text(l);
	s.version = text_or_null(l);
	s.addr = number(l, UINT64_MAX);
	s.size = number(l, UINT64_MAX);
	s.kind = (enum up_symkind)number(l, UP_SYM_DATA);
	s.is_local = number(l, 1);
	if (!l->err && !up_recorded_symbol(l->objects.v[object], &s))
		l->err = -ENOMEM;
}

static void read_place(struct line *l)
{
	uint32_t object = below(l, l->objects.nr);
	uint64_t addr = number(l, UINT64_MAX), off = number(l, UINT64_MAX);
	enum up_calling calling = (enum up_calling)number(l, UP_CALLING_COUNT - 1);

	if (!l->err && !up_recorded_place(l->objects.v[object], addr, off, calling))
		l->err = -ENOMEM;
}

static void read_entry(struct line *l)
{
	uint32_t object = below(l, l->objects.nr);
	uint64_t addr = number(l, UINT64_MAX), at = number(l, UINT64_MAX);

	if (!l->err && !up_recorded_entry(l->objects.v[object], addr, at))
		l->err = -ENOMEM;
}

static void read_exits(struct line *l)
{
	uint32_t object = below(l, l->objects.nr);
	uint64_t addr = number(l, UINT64_MAX);

	if (!l->err && !up_recorded_exit(l->objects.v[object], addr, NULL))
		l->err = -ENOMEM;
}

static void read_exit(struct line *l)
{
	uint32_t object = below(l, l->objects.nr);
	uint64_t addr = number(l, UINT64_MAX);
	struct up_exit e = { .addr = number(l, UINT64_MAX) };

	e.is_tail = number(l, 1);
	if (!l->err && !up_recorded_exit(l->objects.v[object], addr, &e))
		l->err = -ENOMEM;
}

static void read_event(struct line *l)
{
	struct up_rec_event e = { .is_return = number(l, 1) };

	e.is_exit = number(l, 1);

	if (l->r->events.nr == UP_MAX_SITES)
		fail(l, "is one too many");
	push(l, &l->r->events, e);
}

static void read_fetch(struct line *l)
{
	uint32_t event = below(l, l->r->events.nr);
	struct up_rec_arg a = { .name = text(l) };

	a.fetch = text(l);
	a.type = text(l);
	if (!l->err)
		push(l, &l->r->events.v[event].args, a);
}

static void read_site(struct line *l)
{
	struct up_rec_site s = { .event = below(l, l->r->events.nr) };

	s.path = text(l);
	s.addr = number(l, UINT64_MAX);
	s.func = text(l);
	s.func_off = number(l, UINT64_MAX);
	s.filter = text_or_null(l);
	if (l->r->sites.nr == UP_MAX_SITES)
		fail(l, "is one too many");
	push(l, &l->r->sites, s);
}

static void read_kernel(struct line *l)
{
	struct up_rec_kernel k = { .name = text(l) };

	k.event = below(l, l->r->events.nr);
	k.site = below_or_none(l, l->r->sites.nr);
	push(l, &l->r->kernel, k);
}

static void read_thread(struct line *l)
{
	struct up_rec_thread t = { .tid = thread_id(l) };

	t.pid = thread_id(l);
	push(l, &l->r->threads, t);
}

static void read_end(struct line *l)
{
	l->r->ended_at = number(l, INT64_MAX);
	l->r->lost = number(l, UINT64_MAX);
}

static const struct {
	const char *word;
	void (*read)(struct line *l);
} rows[] = {
	{ "uptick", read_version },  { "script", read_script }, { "arg", read_arg },
	{ "param", read_param },     { "module", read_module }, { "unsafe", read_unsafe },
	{ "process", read_process }, { "tracer", read_tracer }, { "clock", read_clock },
	{ "entry", read_entry },     { "exit", read_exit },     { "exits", read_exits },
	{ "object", read_object },   { "symbol", read_symbol }, { "place", read_place },
	{ "event", read_event },     { "fetch", read_fetch },   { "site", read_site },
	{ "kernel", read_kernel },   { "thread", read_thread }, { "end", read_end },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static void read_line(struct line *l)
{
	size_t len = 0, i = 0;

	while (l->at + len < l->end && l->at[len] != ' ')
		len++;
	while (i < NR_ROWS && (strlen(rows[i].word) != len || memcmp(rows[i].word, l->at, len)))
		i++;
	if (i == NR_ROWS) {
		fail(l, "begins with a word that is not known");
		return;
	}
	if ((l->nr == 1) != (i == 0))
		fail(l, "stands where it cannot");
	l->at += len;
	rows[i].read(l);
	if (!l->err && l->at != l->end)
		fail(l, "has more than belongs to it");
}

static int read_lines(struct up_recording *r, const char *s, size_t len, struct up_buf *why)
{
	struct line l = { .r = r, .why = why };

	while (len && !l.err) {
		const char *end = memchr(s, '\n', len);
		size_t n = end ? (size_t)(end - s) : len;

		l.at = s;
		l.end = s + n;
		l.nr++;
		read_line(&l);
		s += n + (end != NULL);
		len -= n + (end != NULL);
	}
	if (!l.err && (!r->name || !r->text))
		fail(&l, "is the last one, and none has the script");
	return l.err;
}

int up_recording_read(struct up_recording *r, const char *s, size_t len, struct up_buf *why)
{
	jmp_buf oom;
	int err;

	*r = (struct up_recording){ .arena = up_arena_new(), .places = up_recorded_new() };
	if (!r->arena || !r->places)
		return -ENOMEM;
	up_arena_on_oom(r->arena, &oom);
	if (setjmp(oom))
		err = -ENOMEM;
	else
		err = read_lines(r, s, len, why);
	up_arena_on_oom(r->arena, NULL);
	return err;
}

void up_recording_fini(struct up_recording *r)
{
	up_arena_free(r->arena);
	up_recorded_free(r->places);
	*r = (struct up_recording){ 0 };
}

/* ---- modules ---- */

static bool load_module(void *ctx, const char *from, const char *name, bool is_path,
			struct up_module_text *out, struct up_why *why)
{
	const struct up_recording *r = ctx;

	for (size_t i = 0; i < r->modules.nr; i++) {
		const struct up_rec_module *m = &r->modules.v[i];
		bool same_from = from && m->from ? !strcmp(from, m->from) : !from && !m->from;

		if (!same_from || strcmp(m->name, name) != 0 || m->is_path != is_path)
			continue;
		*out = m->text;
		return true;
	}
	up_buf_puts(&why->msg, "the recording has no module ");
	up_text_escape(&why->msg, name, strlen(name), 0);
	return false;
}

static bool has_module(void *ctx, const char *name)
{
	struct up_module_text text_of;
	struct up_why why = { 0 };
	bool has = load_module(ctx, NULL, name, false, &text_of, &why);

	up_why_fini(&why);
	return has;
}

struct up_modules up_recording_modules(const struct up_recording *r)
{
	return (struct up_modules){ .ctx = (void *)r, .load = load_module, .has = has_module };
}
