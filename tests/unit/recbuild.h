/*
 * Makes a recording in memory, as `uptick record` would: of a script on the programs of
 * fake_resolver.h, with hits whose every field is known.
 */
#ifndef UP_TESTS_RECBUILD_H
#define UP_TESTS_RECBUILD_H

#include <stdlib.h>

#include "lang/builtin.h"
#include "runtime/recording.h"
#include "runtime/tracedat.h"
#include "tests/unit/fake_resolver.h"
#include "tests/unit/ringbuild.h"

#define REC_PAGE 4096u
#define REC_ID 500 /* of the first event */
#define REC_PID 4200

struct recbuild {
	struct up_plan *plan;
	struct up_buf says;  /* the description */
	struct up_buf pages; /* of CPU 0 */
	const char *more;    /* the description of one more event, or NULL */
	struct ringbuild ring;
	unsigned char page[REC_PAGE];
};

/* The plan of a script; for_recording as the option of the compiler. */
static inline struct up_plan *rec_compile(const struct up_resolver *r, const char *script,
					  bool for_recording, struct up_compile **keep)
{
	struct up_env env = { .resolver = r,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES,
			      .for_recording = for_recording };
	struct up_compile *c = up_compile_new();
	struct up_plan *plan = up_compile(c, &env, "it", script, strlen(script));

	if (keep)
		*keep = c;
	else
		up_compile_free(c);
	return plan;
}

/* Bytes of a record before its arguments. */
static inline unsigned rec_head(const struct up_plan_event *e)
{
	return e->is_return ? 24 : 16;
}

static inline void rec_put_field(struct up_buf *b, const char *type, const char *name, unsigned off,
				 unsigned size, bool is_signed)
{
	up_buf_printf(b, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type, name, off,
		      size, is_signed);
}

/* The site's number and the arguments, from `off` on. */
static inline void rec_put_fields(struct up_buf *b, const struct up_plan_event *e, unsigned off)
{
	rec_put_field(b, "u32", "site", off, 4, false);
	off += 4;
	for (uint32_t i = 0; i < e->nr_args; i++) {
		const struct up_plan_arg *a = &e->args[i];

		rec_put_field(b, a->size ? "u64" : "__data_loc char[]", a->name, off,
			      a->size ? a->size : 4, a->is_signed);
		off += a->size ? a->size : 4;
	}
}

/* The text of an event's format file, as the kernel would write it. */
static inline void rec_put_format(struct up_buf *b, const struct up_plan_event *e, unsigned id)
{
	up_buf_printf(b, "name: %s\nID: %u\nformat:\n", e->name, id);
	rec_put_field(b, "unsigned short", "common_type", 0, 2, false);
	rec_put_field(b, "int", "common_pid", 4, 4, true);
	up_buf_puts(b, "\n");
	if (e->is_return) {
		rec_put_field(b, "unsigned long", "__probe_func", 8, 8, false);
		rec_put_field(b, "unsigned long", "__probe_ret_ip", 16, 8, false);
	} else {
		rec_put_field(b, "unsigned long", "__probe_ip", 8, 8, false);
	}
	rec_put_fields(b, e, rec_head(e));
	up_buf_puts(b, "\nprint fmt: \"\"\n");
}

static inline void rec_begin(struct recbuild *b, const char *script)
{
	*b = (struct recbuild){ .plan = rec_compile(&fake_resolver, script, true, NULL) };
	up_recording_put_begin(&b->says);
	up_recording_put_script(&b->says, "it", NULL, script, strlen(script));
	up_recording_put_clock(&b->says, 1000000000, 1000);
	up_recording_put_places(&b->says, b->plan, &fake_resolver);
	up_recording_put_plan(&b->says, b->plan);
	for (uint32_t i = 0; i < b->plan->nr_events; i++)
		up_recording_put_kernel(&b->says, b->plan->events[i].name, i, UP_NONE);
	up_recording_put_thread(&b->says, REC_PID, REC_PID);
	ringbuild_begin(&b->ring, b->page, REC_PAGE, 8, 1000);
}

static inline void rec_flush(struct recbuild *b)
{
	ringbuild_end(&b->ring, 0);
	up_buf_add(&b->pages, b->page, REC_PAGE);
	ringbuild_begin(&b->ring, b->page, REC_PAGE, 8, b->ring.ts);
}

/*
 * A hit of a site: argument number i of its event has the bytes i * 16 + 1, i * 16 + 2 ..., of a
 * register the first four; the stack pointer and the return address are given, texts are "text".
 */
static inline void rec_hit(struct recbuild *b, uint64_t ts, uint32_t site, uint64_t sp)
{
	const struct up_plan_event *e = &b->plan->events[b->plan->sites[site].event];
	unsigned char rec[1024] = { 0 };
	unsigned off = rec_head(e) + 4, end;
	uint16_t id = (uint16_t)(REC_ID + b->plan->sites[site].event);
	uint32_t tid = REC_PID;
	uint64_t place = 0x400000 + b->plan->sites[site].addr, back = 0x401234;

	memcpy(rec, &id, 2);
	memcpy(rec + 4, &tid, 4);
	memcpy(rec + 8, &place, 8);
	if (e->is_return)
		memcpy(rec + 16, &back, 8);
	memcpy(rec + off - 4, &site, 4);
	end = off;
	for (uint32_t i = 0; i < e->nr_args; i++)
		end += e->args[i].size ? e->args[i].size : 4;
	for (uint32_t i = 0; i < e->nr_args; i++) {
		const struct up_plan_arg *a = &e->args[i];
		uint32_t loc = 5u << 16 | end;

		for (unsigned k = 0; k < a->size && (k < 4 || a->fetch[0] == '+'); k++)
			rec[off + k] = (unsigned char)(i * 16 + k + 1);
		if (!a->size) {
			memcpy(rec + off, &loc, 4);
			memcpy(rec + end, "text", 5);
			end += 5;
		}
		if (!strcmp(a->fetch, "%sp"))
			memcpy(rec + off, &sp, 8);
		if (!strcmp(a->fetch, "$stack0"))
			memcpy(rec + off, &back, 8);
		off += a->size ? a->size : 4;
	}
	end = (end + 3) / 4 * 4;
	void *to = ringbuild_event(&b->ring, ts, end);
	if (!to) {
		rec_flush(b);
		to = ringbuild_event(&b->ring, ts, end);
	}
	memcpy(to, rec, end);
}

/* The whole file. */
static inline void rec_end(struct recbuild *b, struct up_buf *out)
{
	struct up_tracedat_option o = { UP_RECORDING_OPTION, { NULL, 0 } };
	struct up_tracedat_format *f = calloc(b->plan->nr_events + 2, sizeof(*f));
	struct up_buf *text = calloc(b->plan->nr_events + 1, sizeof(*text)), page = { 0 };
	struct up_tracedat_cpu cpu = { 0 };
	struct up_tracedat d = { .page_size = REC_PAGE, .clock = "[mono]" };

	rec_flush(b);
	up_recording_put_end(&b->says, b->ring.ts + 1000, 0);
	up_tracedat_header_page(8, REC_PAGE, &page);
	d.header_page = (struct up_tracedat_text){ page.s, page.len };
	d.header_event = d.cmdlines = (struct up_tracedat_text){ "", 0 };
	for (uint32_t i = 0; i < b->plan->nr_events; i++) {
		rec_put_format(&text[i], &b->plan->events[i], REC_ID + i);
		f[i] = (struct up_tracedat_format){ "uptick_1", { text[i].s, text[i].len } };
	}
	d.formats.nr = b->plan->nr_events;
	if (b->more)
		f[d.formats.nr++] =
			(struct up_tracedat_format){ "uptick_1", { b->more, strlen(b->more) } };
	o.data = (struct up_tracedat_text){ b->says.s, b->says.len };
	cpu.size = b->pages.len;
	d.formats.v = f;
	d.options.v = &o;
	d.options.nr = 1;
	d.cpus.v = &cpu;
	d.cpus.nr = 1;
	up_tracedat_put(&d, 0, out);
	up_buf_fill(out, 0, cpu.off - out->len);
	up_buf_add(out, b->pages.s, b->pages.len);
	for (uint32_t i = 0; i < b->plan->nr_events; i++)
		up_buf_fini(&text[i]);
	free(f);
	free(text);
	up_buf_fini(&page);
	up_buf_fini(&b->says);
	up_buf_fini(&b->pages);
	up_plan_free(b->plan);
}

#endif
