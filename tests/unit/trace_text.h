/*
 * Writes records as the kernel's text: what trace_pipe would print of them. Also a source of text
 * that comes in pieces, and the world that the tests of text need: a plan, layouts, a source.
 */
#ifndef UP_TESTS_TRACE_TEXT_H
#define UP_TESTS_TRACE_TEXT_H

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "lang/builtin.h"
#include "lang/up.h"
#include "runtime/src_text.h"
#include "tests/unit/dice.h"
#include "tests/unit/fake_resolver.h"

struct text_world {
	struct up_compile *c;
	struct up_plan *plan;
	struct up_records records;
};

static inline bool text_world_init(struct text_world *w, const char *script)
{
	struct up_env env = { .resolver = &fake_resolver,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };

	*w = (struct text_world){ .c = up_compile_new() };
	w->plan = up_compile(w->c, &env, "script", script, strlen(script));
	return w->plan && !up_records_make(&w->records, w->plan);
}

static inline void text_world_fini(struct text_world *w)
{
	up_records_fini(&w->records);
	up_plan_free(w->plan);
	up_compile_free(w->c);
}

static inline const char *text_name(const struct text_world *w, const struct up_record_event *e)
{
	return e->kind == UP_EVENT_PROBE     ? w->plan->events[e->event].name
	       : e->kind == UP_EVENT_NEWTASK ? "task_newtask"
					     : "sched_process_exit";
}

/* Opens a source that reads from fd. */
static inline bool text_open(const struct text_world *w, struct up_src_text *s, int fd)
{
	bool ok = !up_src_text_open(s, fd, false, w->plan, &w->records);

	for (uint32_t i = 0; i < w->records.nr && ok; i++)
		ok = !up_src_text_add(s, text_name(w, &w->records.events[i]), i);
	return ok;
}

/* ---- records ---- */

struct text_record {
	unsigned char rec[UP_TEXTARGS_RECORD];
	uint32_t len;
	uint64_t time; /* a multiple of 1000: the text has no more */
	uint32_t cpu;
	char comm[16]; /* of the thread */
};

static inline void text_put(struct text_record *r, const struct up_field *f, uint64_t v)
{
	up_textargs_store(r->rec, f, f->size, 0, v);
}

static inline void text_roll_string(struct text_record *r, const struct up_field *f,
				    const char *letters, struct dice *d)
{
	size_t n = strlen(letters), len = roll(d, 16);

	if (!roll(d, 8)) {
		text_put(r, f, 0);
		return;
	}
	text_put(r, f, (uint64_t)(len + 1) << 16 | r->len);
	for (size_t i = 0; i < len; i++)
		r->rec[r->len++] = (unsigned char)letters[roll(d, (unsigned)n)];
	r->rec[r->len++] = 0;
}

/* A random record of one of the kinds, whose strings are made of some letters. */
static inline const struct up_record_event *
text_roll(const struct text_world *w, struct text_record *r, const char *letters, struct dice *d)
{
	const struct up_record_event *e = &w->records.events[roll(d, w->records.nr)];
	size_t n = strlen(letters), len = 1 + roll(d, 15);

	memset(r->rec, 0, e->fixed_size);
	r->len = e->fixed_size;
	memcpy(r->rec, &e->id, 2);
	text_put(r, &e->tid, roll(d, 4) ? roll(d, 100) : roll64(d) & INT32_MAX);
	r->time = (roll64(d) >> 24) * 1000;
	r->cpu = roll(d, 300);
	memset(r->comm, 0, sizeof(r->comm));
	for (size_t i = 0; i < len; i++)
		r->comm[i] = letters[roll(d, (unsigned)n)];
	if (e->kind != UP_EVENT_PROBE) {
		text_put(r, &e->task, roll64(d) & INT32_MAX);
		if (e->flags.size)
			text_put(r, &e->flags, roll_number(d));
		return e;
	}
	const struct up_plan_event *pe = &w->plan->events[e->event];
	text_put(r, &e->site_field, pe->sites[roll(d, pe->nr_sites)]);
	text_put(r, &e->ip, roll_number(d));
	if (e->ret_ip.size)
		text_put(r, &e->ret_ip, roll_number(d));
	for (uint32_t i = 0; i < pe->nr_args; i++) {
		const struct up_field *f = &e->args[i];

		if (f->is_dynamic)
			text_roll_string(r, f, letters, d);
		else
			for (unsigned k = 0; k < f->size; k++)
				r->rec[f->off + k] = (unsigned char)roll64(d);
	}
	while (r->len % 4)
		r->rec[r->len++] = 0;
	return e;
}

/* ---- the kernel's words ---- */

static inline void text_print_number(struct up_buf *b, const char *type, const unsigned char *at,
				     unsigned size)
{
	struct up_field f = { .size = (uint16_t)size, .is_signed = *type == 's' };
	uint64_t v = up_field_number(at, &f);

	if (*type == 'x')
		up_buf_printf(b, "0x%" PRIx64, v);
	else if (*type == 's')
		up_buf_printf(b, "%" PRId64, (int64_t)v);
	else
		up_buf_printf(b, "%" PRIu64, v);
}

static inline void text_print_arg(struct up_buf *b, const struct up_plan_arg *a,
				  const struct up_field *f, const unsigned char *rec)
{
	const char *bracket = strchr(a->type, '[');
	unsigned count = bracket ? (unsigned)strtoul(bracket + 1, NULL, 10) : 0;
	uint32_t loc;

	up_buf_printf(b, " %s=", a->name);
	if (f->is_dynamic) {
		memcpy(&loc, rec + f->off, 4);
		if (loc)
			up_buf_printf(b, "\"%s\"", (const char *)rec + (loc & 0xffff));
		else
			up_buf_puts(b, "(fault)");
		return;
	}
	if (!count) {
		text_print_number(b, a->type, rec + f->off, f->size);
		return;
	}
	up_buf_putc(b, '{');
	for (unsigned i = 0; i < count; i++) {
		text_print_number(b, a->type, rec + f->off + i * f->size / count, f->size / count);
		up_buf_putc(b, i + 1 == count ? '}' : ',');
	}
}

static inline void text_print_probe(const struct text_world *w, struct up_buf *b,
				    const struct up_record_event *e, const unsigned char *rec)
{
	const struct up_plan_event *pe = &w->plan->events[e->event];

	if (e->ret_ip.size)
		up_buf_printf(b, "(0x%" PRIx64 " <- 0x%" PRIx64 ")",
			      up_field_number(rec, &e->ret_ip), up_field_number(rec, &e->ip));
	else
		up_buf_printf(b, "(0x%" PRIx64 ")", up_field_number(rec, &e->ip));
	up_buf_printf(b, " site=%" PRIu64, up_field_number(rec, &e->site_field));
	for (uint32_t i = 0; i < pe->nr_args; i++)
		text_print_arg(b, &pe->args[i], &e->args[i], rec);
}

/* The line, or lines, of a record. */
static inline void text_print(const struct text_world *w, struct up_buf *b,
			      const struct up_record_event *e, const struct text_record *r)
{
	up_buf_printf(b, "%16s-%-7d [%03u] d..2. %5" PRIu64 ".%06" PRIu64 ": %s: ", r->comm,
		      (int)up_field_number(r->rec, &e->tid), r->cpu, r->time / 1000000000,
		      r->time / 1000 % 1000000, text_name(w, e));
	if (e->kind == UP_EVENT_PROBE)
		text_print_probe(w, b, e, r->rec);
	else if (e->kind == UP_EVENT_NEWTASK)
		up_buf_printf(b, "pid=%d comm=%s clone_flags=%" PRIx64 " oom_score_adj=-7",
			      (int)up_field_number(r->rec, &e->task), r->comm,
			      up_field_number(r->rec, &e->flags));
	else
		up_buf_printf(b, "comm=%s pid=%d prio=120", r->comm,
			      (int)up_field_number(r->rec, &e->task));
	up_buf_putc(b, '\n');
}

#endif
