/*
 * A model of the kernel's event filters: what a filter text means for a record. Written from what
 * kernel/trace/trace_events_filter.c does, with its traps: constants are cut to the width of the
 * field, comparisons go by the field's declared sign, a pattern that begins with a digit or ! is
 * no pattern, and & of `cpu` is never true.
 */
#ifndef UP_TESTS_MODEL_FILTER_H
#define UP_TESTS_MODEL_FILTER_H

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_FILTER_MAX 4095 /* a longer one is not taken */

enum model_kind { MODEL_NUMBER, MODEL_STRING, MODEL_CPU };

struct model_field {
	char name[40];
	enum model_kind kind;
	unsigned off, size; /* in the record */
	bool is_signed;
};

struct model_event {
	struct model_field fields[160];
	unsigned nr;
};

/* One evaluation. */
struct model_filter {
	const struct model_event *event;
	const unsigned char *rec;
	uint32_t cpu;      /* where it is recorded */
	const char *at;    /* what is left of the text */
	const char *error; /* what the kernel would object, or NULL */
};

static bool model_or(struct model_filter *m);

static void model_skip(struct model_filter *m)
{
	while (isspace((unsigned char)*m->at))
		m->at++;
}

static bool model_take(struct model_filter *m, const char *what)
{
	model_skip(m);
	if (strncmp(m->at, what, strlen(what)))
		return false;
	m->at += strlen(what);
	return true;
}

static bool model_fail(struct model_filter *m, const char *what)
{
	if (!m->error)
		m->error = what;
	return false;
}

static uint64_t model_load(const unsigned char *p, unsigned size)
{
	uint64_t v = 0;

	memcpy(&v, p, size); /* of a machine with the low byte first */
	return v;
}

static uint64_t model_extend(uint64_t v, unsigned size, bool is_signed)
{
	unsigned shift = 64 - 8 * size;

	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

static bool model_compare(const char *op, uint64_t a, uint64_t b, bool is_signed)
{
	bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;

	if (op[0] == '<')
		return less || (op[1] && a == b);
	return (!less && a != b) || (op[1] && a == b);
}

/* A number as kstrtoll() and kstrtoull() take it. */
static uint64_t model_number(struct model_filter *m, bool is_signed)
{
	bool negative = *m->at == '-';
	char *end;

	m->at += negative;
	if (!isdigit((unsigned char)*m->at))
		return model_fail(m, "no number");
	errno = 0;
	uint64_t v = strtoull(m->at, &end, 0);
	if (errno || isalnum((unsigned char)*end) || (negative && !is_signed) ||
	    (is_signed && v > (uint64_t)INT64_MAX + negative))
		model_fail(m, "Illegal integer value");
	m->at = end;
	return negative ? -v : v;
}

static bool model_match_glob(const char *pattern, const char *s, size_t len)
{
	size_t plen = strlen(pattern);
	bool front = plen && pattern[0] == '*', back = plen > 1 && pattern[plen - 1] == '*';
	bool inner = plen > 2 && memchr(pattern + 1, '*', plen - 2);

	if (pattern[0] == '!')
		return !model_match_glob(pattern + 1, s, len);
	if (isdigit((unsigned char)pattern[0])) /* no pattern, whatever follows */
		return !strcmp(pattern, s);
	if (inner || strpbrk(pattern, "[?\\"))
		return !fnmatch(pattern, s, 0);
	size_t start = front, part = plen - front - back;
	if (!front && !back)
		return !strcmp(pattern, s);
	for (size_t i = 0; i + part <= len; i++)
		if (!memcmp(s + i, pattern + start, part) && (front || !i) &&
		    (back || i + part == len))
			return true;
	return false;
}

static bool model_text(struct model_filter *m, const struct model_field *f, const char *op)
{
	char quote = *m->at++, text[256];
	size_t len = strcspn(m->at, quote == '"' ? "\"" : "'");
	uint32_t loc;

	if (!m->at[len] || len > 255)
		return model_fail(m, "a bad string");
	memcpy(text, m->at, len);
	text[len] = 0;
	m->at += len + 1;
	if (f->kind != MODEL_STRING)
		return model_fail(m, "Expecting numeric field");
	memcpy(&loc, m->rec + f->off, 4);
	const char *s = (const char *)m->rec + (loc & 0xffff);
	if (!(loc >> 16))
		return model_fail(m, "a string that could not be read is compared");
	if (*op == '~')
		return model_match_glob(text, s, (loc >> 16) - 1);
	if (op[1] != '=')
		return model_fail(m, "Illegal operation for field type");
	return !strcmp(s, text) == (*op == '=');
}

static const struct model_field *model_find(struct model_filter *m)
{
	size_t len =
		strspn(m->at, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	for (unsigned i = 0; i < m->event->nr; i++)
		if (strlen(m->event->fields[i].name) == len &&
		    !memcmp(m->event->fields[i].name, m->at, len)) {
			m->at += len;
			return &m->event->fields[i];
		}
	model_fail(m, "Field not found");
	return NULL;
}

static bool model_predicate(struct model_filter *m)
{
	static const char *const ops[] = { "~", "!=", "==", "<=", "<", ">=", ">", "&" };
	const char *op = NULL;

	model_skip(m);
	const struct model_field *f = model_find(m);
	for (size_t i = 0; f && i < sizeof(ops) / sizeof(*ops) && !op; i++)
		op = model_take(m, ops[i]) ? ops[i] : NULL;
	if (!op)
		return model_fail(m, "Invalid operator");
	model_skip(m);
	if (*m->at == '"' || *m->at == '\'')
		return model_text(m, f, op);
	if (f->kind == MODEL_STRING || *op == '~')
		return model_fail(m, "Expecting string field");
	uint64_t c = model_number(m, f->is_signed);
	if (f->kind == MODEL_CPU && *op == '&')
		return false;
	uint64_t v = f->kind == MODEL_CPU ? m->cpu : model_load(m->rec + f->off, f->size);
	v = model_extend(v, f->size, f->is_signed);
	c = model_extend(c, f->size, f->is_signed);
	if (*op == '&')
		return v & c;
	if (op[1] == '=' && (*op == '=' || *op == '!'))
		return (v == c) == (*op == '=');
	return model_compare(op, v, c, f->is_signed);
}

static bool model_unary(struct model_filter *m)
{
	model_skip(m);
	if (m->at[0] == '!' && m->at[1] != '=' && m->at[1] != '~') {
		m->at++;
		return !model_unary(m);
	}
	if (!model_take(m, "("))
		return model_predicate(m);
	bool v = model_or(m);
	if (!model_take(m, ")"))
		model_fail(m, "Too many '('");
	return v;
}

/* Everything is evaluated, so that everything is read. */
static bool model_and(struct model_filter *m)
{
	bool v = model_unary(m);

	while (!m->error && model_take(m, "&&"))
		v &= model_unary(m);
	return v;
}

static bool model_or(struct model_filter *m)
{
	bool v = model_and(m);

	while (!m->error && model_take(m, "||"))
		v |= model_and(m);
	return v;
}

/* Does the record pass? *error: what is wrong with the filter, or NULL. */
static bool model_filter_passes(const struct model_event *e, const char *text,
				const unsigned char *rec, uint32_t cpu, const char **error)
{
	struct model_filter m = { .event = e, .rec = rec, .cpu = cpu, .at = text };
	bool v = strlen(text) <= MODEL_FILTER_MAX ? model_or(&m)
						  : model_fail(&m, "longer than a page");

	model_skip(&m);
	if (*m.at)
		model_fail(&m, "Too many terms in predicate expression");
	*error = m.error;
	return v;
}

#endif
