/* Lines of trace text. The forms are those of kernel/trace/trace_output.c. */
#include "runtime/textline.h"

#include <string.h>

#include "runtime/textscan.h"

#define COMM_COLUMNS 16   /* in which a thread's name is printed */
#define SHORT_COLUMNS 8   /* in the latency format */
#define LOOSE_COLUMNS 100 /* how far the end of a name is looked for in a line that was trimmed */
#define NS 1000000000u

/* "(1234)" or "(-------)", where the kernel shows processes. */
static bool scan_process(struct up_textscan *c, struct up_textline *l)
{
	uint64_t pid = 0;

	if (!up_textscan_char(c, '('))
		return true;
	up_textscan_blanks(c);
	if (c->p < c->end && *c->p == '-')
		while (up_textscan_char(c, '-'))
			;
	else if (!up_textscan_decimal(c, INT32_MAX, &pid))
		return false;
	l->pid = (pid_t)pid;
	return up_textscan_char(c, ')') && up_textscan_blanks(c);
}

static bool scan_cpu(struct up_textscan *c, struct up_textline *l)
{
	uint64_t cpu;

	if (!up_textscan_decimal(c, UP_TEXTLINE_CPUS - 1, &cpu))
		return false;
	l->cpu = (uint32_t)cpu;
	return true;
}

/* Letters, dots and digits for interrupts and the like. They never begin with a digit. */
static void skip_flags(struct up_textscan *c)
{
	if (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		return;
	while (c->p < c->end && *c->p != ' ')
		c->p++;
	up_textscan_blanks(c);
}

/* "12.345678", with up to nine digits behind the point, or a plain number. */
static bool scan_time(struct up_textscan *c, struct up_textline *l)
{
	uint64_t whole, part, unit = NS;

	if (!up_textscan_decimal(c, UINT64_MAX / 2, &whole))
		return false;
	l->time = whole;
	if (!up_textscan_char(c, '.'))
		return true;
	const char *from = c->p;
	if (whole > UINT64_MAX / 2 / NS || !up_textscan_decimal(c, NS - 1, &part) ||
	    c->p - from > 9)
		return false;
	for (const char *p = from; p < c->p; p++)
		unit /= 10;
	l->time = whole * NS + part * unit;
	return true;
}

/*
 * The event's name; of perf's "group:name:" the second part. Lines of tracers have none: all of it
 * is the body then.
 */
static bool scan_name(struct up_textscan *c, struct up_textline *l)
{
	const char *from = c->p, *start = c->p;

	for (int parts = 0; parts < 2; parts++) {
		from = c->p;
		while (c->p < c->end && up_textscan_is_name(*c->p))
			c->p++;
		if (from == c->p || !up_textscan_char(c, ':'))
			break;
		if (c->p < c->end && *c->p != ' ')
			continue;
		l->name = from;
		l->name_len = (size_t)(c->p - 1 - from);
		up_textscan_blanks(c);
		start = c->p;
		break;
	}
	l->body = start;
	l->body_len = (size_t)(c->end - start);
	return true;
}

/* "[000] d..2. 12.345678: name: body" */
static bool scan_usual(struct up_textscan *c, struct up_textline *l)
{
	if (!up_textscan_char(c, '[') || !scan_cpu(c, l) || !up_textscan_char(c, ']') ||
	    !up_textscan_blanks(c))
		return false;
	skip_flags(c);
	return scan_time(c, l) && up_textscan_char(c, ':') && up_textscan_blanks(c) &&
	       scan_name(c, l);
}

/* "0d..2.   12us+: name: body", or without "us" */
static bool scan_latency(struct up_textscan *c, struct up_textline *l)
{
	uint64_t time;

	if (!scan_cpu(c, l))
		return false;
	skip_flags(c);
	if (!up_textscan_decimal(c, UINT64_MAX / 2000, &time))
		return false;
	l->time = time;
	if (up_textscan_char(c, 'u')) {
		if (!up_textscan_char(c, 's') || c->p == c->end)
			return false;
		c->p += *c->p != ':'; /* a mark: a blank, '+', '!' ... */
		l->time = time * 1000;
	}
	return up_textscan_char(c, ':') && up_textscan_blanks(c) && scan_name(c, l);
}

/* Something between blanks. */
static bool skip_word(struct up_textscan *c)
{
	const char *from = c->p;

	while (c->p < c->end && *c->p != ' ')
		c->p++;
	return c->p > from && up_textscan_blanks(c);
}

/* "0 0 00000000 00000000 [0012ab34] 12.345ms (+0.001ms): name: body", the first word being read */
static bool scan_verbose(struct up_textscan *c, struct up_textline *l)
{
	uint64_t time;

	if (!scan_cpu(c, l) || !up_textscan_blanks(c) || !skip_word(c) || !skip_word(c) ||
	    !skip_word(c) || !up_textscan_char(c, '[') ||
	    !up_textscan_hex(c, UINT64_MAX / 2000, &time) || !up_textscan_char(c, ']') ||
	    !up_textscan_blanks(c))
		return false;
	const char *word = c->p;
	if (!skip_word(c))
		return false;
	/* Behind times in ns the word is "12.345ms", behind others a bare number. */
	l->time = c->p - word > 3 && memchr(word, 'm', (size_t)(c->p - word)) ? time * 1000 : time;
	if (!up_textscan_char(c, '('))
		return false;
	while (c->p < c->end && *c->p != ' ')
		c->p++;
	return c->p[-1] == ':' && c->p[-2] == ')' && up_textscan_blanks(c) && scan_name(c, l);
}

/* The line from the thread's number on. */
static bool scan_thread(struct up_textscan c, struct up_textline *l)
{
	struct up_textscan before;
	uint64_t tid;

	if (!up_textscan_decimal(&c, INT32_MAX, &tid) || !up_textscan_blanks(&c) ||
	    !scan_process(&c, l) || c.p == c.end)
		return false;
	l->tid = (pid_t)tid;
	if (*c.p == '[')
		return scan_usual(&c, l);
	before = c;
	return scan_latency(&c, l) || scan_verbose(&before, l);
}

static void set_comm(struct up_textline *l, const char *s, size_t len)
{
	while (len && *s == ' ') {
		s++;
		len--;
	}
	bool unknown = !len || (len == 5 && !memcmp(s, "<...>", 5));
	l->comm = unknown ? NULL : s;
	l->comm_len = unknown ? 0 : len;
}

/* The thread's name takes `columns`, and `mark` separates it from the number. */
static bool scan_columns(const char *s, size_t len, size_t columns, char mark,
			 struct up_textline *l)
{
	struct up_textscan c = { s + columns + 1, s + len };

	if (len < columns + 2 || s[columns] != mark)
		return false;
	*l = (struct up_textline){ 0 };
	if (mark == ' ')
		up_textscan_blanks(&c);
	if (!scan_thread(c, l))
		return false;
	set_comm(l, s, columns);
	return true;
}

/* Looks for the only place where a thread's name can end. */
static bool scan_loose(const char *s, size_t len, struct up_textline *l)
{
	size_t far = len < LOOSE_COLUMNS ? len : LOOSE_COLUMNS, found = 0;
	struct up_textline got;

	for (size_t i = 1; i + 1 < far; i++) {
		struct up_textscan c = { s + i + 1, s + len };

		if (s[i] != '-' || s[i + 1] < '0' || s[i + 1] > '9')
			continue;
		got = (struct up_textline){ 0 };
		if (!scan_thread(c, &got))
			continue;
		if (found)
			return false;
		found = i;
		*l = got;
	}
	if (!found)
		return false;
	set_comm(l, s, found);
	return l->is_trimmed = true;
}

static bool begins(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && !memcmp(s, word, n);
}

/* "CPU:0 [LOST 12 EVENTS]"; of trace-cmd "CPU:0 [12 EVENTS DROPPED]". */
static bool scan_lost(const char *s, size_t len, struct up_textline *l)
{
	struct up_textscan c = { s + 4, s + len };

	if (!begins(s, len, "CPU:") || !scan_cpu(&c, l) || !up_textscan_word(&c, " ["))
		return false;
	bool first = up_textscan_word(&c, "LOST ");
	if (up_textscan_decimal(&c, UINT64_MAX / 2, &l->lost) && !up_textscan_char(&c, ' '))
		return false;
	return up_textscan_word(&c, first ? "EVENTS]" : "EVENTS DROPPED]") && c.p == c.end;
}

static bool is_note(const char *s, size_t len)
{
	struct up_textscan c = { s, s + len };
	uint64_t cpu;

	up_textscan_blanks(&c);
	if (c.p == c.end || *s == '#' || begins(s, len, " => ") || begins(s, len, "cpus="))
		return true;
	return up_textscan_word(&c, "CPU ") && up_textscan_decimal(&c, UINT16_MAX, &cpu) &&
	       up_textscan_word(&c, " is empty") && c.p == c.end;
}

enum up_textline_kind up_textline_parse(const char *s, size_t len, struct up_textline *line)
{
	if (scan_columns(s, len, COMM_COLUMNS, '-', line) ||
	    scan_columns(s, len, COMM_COLUMNS, ' ', line) ||
	    scan_columns(s, len, SHORT_COLUMNS, '-', line))
		return UP_TEXTLINE_EVENT;
	*line = (struct up_textline){ 0 };
	if (is_note(s, len))
		return UP_TEXTLINE_NOTE;
	if (scan_lost(s, len, line))
		return UP_TEXTLINE_LOST;
	*line = (struct up_textline){ 0 };
	return scan_loose(s, len, line) ? UP_TEXTLINE_EVENT : UP_TEXTLINE_UNKNOWN;
}
