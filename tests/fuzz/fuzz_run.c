/*
 * libFuzzer target: handlers run on records of any bytes. The first byte chooses a script; the rest
 * are steps: hits of its probes, ends of threads, blocks, and what is shown in between. A record
 * has memory of just its size, so that what is read behind it is found. Every line of JSON is an
 * object, and printable.
 *
 * For half of the inputs some instructions are changed first: what the verifier lets pass must run
 * as well as what was compiled.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/builtin.h"
#include "lang/up.h"
#include "lang/verify.h"
#include "runtime/vm.h"
#include "tests/unit/fake_resolver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD 24              /* bytes of a record before its arguments */
#define FIRST_TID 0x7ffffff0 /* no thread has so large a number */
#define MAX_ARGS 128

static const char *const scripts[] = {
	/* values and calls */
	"probe app:alpha when (arg0 != 3) < print(arg0, arg1:string, @(arg0 + 8):u32[4], comm,\n"
	"	@(arg2):char[9], arg3:bytes[11], @(arg0):f32, @(@(arg0 + 8) + 4):s16, pid, time, "
	"ip,\n"
	"	func, offset, arg0:sym)\n"
	"	printf(\"%08x|%-9s|%.3s|%c|%f|%5d\\n\", arg0, arg1:string, arg3:bytes[11], arg2,\n"
	"	0.5 * arg1, arg2) >\n"
	"on return when (retval != 9) < print(retval, arg0, elapsed, depth, entry.arg1:string,\n"
	"	entry.reg.sp, retval:string[20]) >\n",
	/* variables and tables */
	"probe app:alpha, app:beta < seen[tid, arg0] = arg1:string; last = arg1:string\n"
	"	thread.s = last; thread.n += arg0; n[arg2 & 7] += 1; f = f + 0.5 * arg0\n"
	"	if (thread.n > 100) < delete seen[tid, arg0] >\n"
	"	for t, a in seen < for k in n < if (seen[t, a] == last) < n[k] += a\n"
	"	seen[a, t] = thread.s + last; delete n[k] > > >\n"
	"	print(len(seen), len(n), last, thread.s, thread.n, f) >\n"
	"on every 1s < show(seen); show(n); show(f); clear(n); clear(last) >\n"
	"on end < for t, a in seen < printf(\"%d %x %s\\n\", t, a, seen[t, a])\n"
	"	delete seen[t, a] > >\n",
	/* aggregations */
	"probe app:alpha < a = count() by arg0 & 3; b = sum(arg0) by comm; c = avg(arg1)\n"
	"	d = min(arg0); e = max(arg0:u64) by arg1:string top 3; f = stats(arg0) by tid\n"
	"	g = hist(arg0) by arg1 & 1; h = lhist(arg0, -10, 90, 7); i = quantile(arg1) by "
	"tid\n"
	"	j = uniq(arg1:string); k = rate(arg0); l = first(arg1:string) by tid; m = "
	"last(arg0)\n"
	"	o = uniq(arg0) by arg0 & 3; p = hist(0.25 * arg0); q = rate()\n"
	"	if (a[1] > 2) < print(b[comm], c, i[tid].p99, l[tid], f[tid].max, j) > >\n"
	"on every 1s < for x in a < print(x, a[x]) > show(g); clear(g); delete i[1]; clear(i)\n"
	"	clear(j); clear(l); clear(o); show(h) >\n",
	/* functions of text and of numbers */
	"probe app:alpha < s = arg1:string; t = arg2:string[40]\n"
	"	print(len(s), substr(s, arg3), substr(s, arg3, arg4), index(s, t), split(s, t, "
	"arg3))\n"
	"	print(lower(s), upper(t), trim(s), basename(s), dirname(s), dec(arg0), int(s),\n"
	"	hex(arg3), strftime(s, arg0), s + t + dec(arg3))\n"
	"	print(min(arg0, arg3, 5), max(arg0, 0.5), abs(arg0), bucket(arg0, arg3), s ~ t,\n"
	"	s ~ \"*a?[b-z]*\", s == t, arg0 / arg3, arg0 % arg3, arg0 << arg3, sym(arg0)) >\n",
	/* 32-bit: pointers in memory are followed late */
	"probe app32:alpha < print(arg0, @(arg0 + 8):u32, @(@(arg0 + 8) + 4):u16, arg1:string,\n"
	"	@(@(arg2)):u16[9], arg3:bytes[7]) > on return < print(retval, arg0, elapsed) >\n",
	/* values of calls, several probes on a function */
	"probe app:alpha < call.t = time; call.s = arg1:string; call.n = arg0\n"
	"	thread.deep = thread.deep + 1 >\n"
	"on return < thread.deep = thread.deep - 1; h = hist(elapsed) by call.s\n"
	"	open[tid, depth] = call.s; print(call.s, call.n, call.t, thread.deep) >\n"
	"probe app:alpha on return when (retval > arg0) < c = count() by arg0; stop(retval) >\n"
	"probe libc:m* on return < print(arg0, entry.@(arg0):u64, entry.arg1:string) >\n",
};

struct input {
	const uint8_t *p;
	size_t len;
};

struct world {
	const struct up_plan *plan;
	struct up_field (*fields)[MAX_ARGS]; /* of each event */
	uint32_t *fixed;                     /* bytes of each event's records, without texts */
	struct up_out out;
	struct up_vm vm;
	uint64_t now;
};

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

static uint8_t take(struct input *in)
{
	if (!in->len)
		return 0;
	in->len--;
	return *in->p++;
}

/* Compiled once. */
static const struct up_plan *plan_of(unsigned i)
{
	static struct up_plan *plans[NR(scripts)];
	struct up_env env = { .resolver = &fake_resolver,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };
	struct up_buf text = { 0 };

	if (plans[i])
		return plans[i];
	struct up_compile *c = up_compile_new();
	plans[i] = up_compile(c, &env, "script", scripts[i], strlen(scripts[i]));
	up_diag_text(&c->diags, &text, false);
	require(plans[i], text.s ? text.s : "");
	require(up_plan_verify(plans[i], &text), text.s ? text.s : "");
	up_buf_fini(&text);
	up_compile_free(c);
	return plans[i];
}

/* A plan whose handlers can be changed. */
struct changed {
	struct up_plan plan;
	struct up_plan_prog *progs;
};

static void copy_plan(struct changed *c, const struct up_plan *from)
{
	c->plan = *from;
	c->progs = malloc(from->nr_progs * sizeof(*c->progs));
	memcpy(c->progs, from->progs, from->nr_progs * sizeof(*c->progs));
	for (uint32_t i = 0; i < from->nr_progs; i++) {
		size_t size = c->progs[i].nr_code * sizeof(struct up_insn);

		c->progs[i].code = malloc(size);
		memcpy(c->progs[i].code, from->progs[i].code, size);
	}
	c->plan.progs = c->progs;
}

static void free_copy(struct changed *c)
{
	for (uint32_t i = 0; i < c->plan.nr_progs; i++)
		free(c->progs[i].code);
	free(c->progs);
}

static void change_insn(struct up_insn *i, struct input *in)
{
	uint8_t what = take(in);

	if (what & 1)
		i->op = take(in);
	if (what & 2)
		i->a = take(in);
	if (what & 4)
		i->b = (uint16_t)(take(in) | (what & 32 ? take(in) << 8 : 0));
	if (what & 8)
		i->c = (uint16_t)(take(in) | (what & 64 ? take(in) << 8 : 0));
	if (what & 16)
		i->d = (uint16_t)(take(in) | (what & 128 ? take(in) << 8 : 0));
}

/* Changes a few instructions; false when the verifier finds that the handlers cannot run so. */
static bool change_plan(struct changed *c, struct input *in)
{
	struct up_buf why = { 0 };

	for (unsigned nr = take(in) % 4 + 1; nr; nr--) {
		struct up_plan_prog *p = &c->progs[take(in) % c->plan.nr_progs];

		change_insn(&p->code[take(in) % p->nr_code], in);
	}
	bool ok = up_plan_verify(&c->plan, &why);
	require(ok || why.len, "a reason");
	up_buf_fini(&why);
	return ok;
}

/* As the kernel lays records out: one argument behind the other, texts at the end. */
static void lay_out(struct world *w)
{
	const struct up_plan *p = w->plan;

	w->fields = calloc(p->nr_events, sizeof(*w->fields));
	w->fixed = calloc(p->nr_events, sizeof(*w->fixed));
	for (uint32_t e = 0; e < p->nr_events; e++) {
		uint16_t off = HEAD;

		for (uint32_t a = 0; a < p->events[e].nr_args; a++) {
			const struct up_plan_arg *arg = &p->events[e].args[a];
			uint16_t size = arg->size ? arg->size : 4;

			w->fields[e][a] =
				(struct up_field){ off, size, arg->is_signed, !arg->size };
			off = (uint16_t)(off + size);
		}
		w->fixed[e] = off;
	}
}

/* Mostly, a text is where its argument says. */
static void place_texts(const struct world *w, uint32_t e, unsigned char *rec, uint32_t len)
{
	for (uint32_t a = 0; a < w->plan->events[e].nr_args; a++) {
		uint32_t off = w->fixed[e], loc = (len - off) << 16 | off;

		if (w->fields[e][a].is_dynamic)
			memcpy(rec + w->fields[e][a].off, &loc, 4);
	}
}

static void run_hit(struct world *w, struct input *in, unsigned how)
{
	uint32_t site = take(in) % w->plan->nr_sites, e = w->plan->sites[site].event;
	uint32_t len = w->fixed[e] + take(in) % 64;
	uint8_t who = take(in), when = take(in), fill = take(in);
	unsigned char *rec = malloc(len);
	struct up_hit hit = { .rec = rec,
			      .len = len,
			      .site = site,
			      .fields = w->fields[e],
			      .ip = 0x401000u + site,
			      .place = who & 8 ? 0 : 0x401000u + site,
			      .tid = FIRST_TID + (who & 3),
			      .cpu = who >> 4 & 3 };

	for (uint32_t i = 0; i < len; i++)
		rec[i] = how & 1 && i >= HEAD ? take(in) : fill;
	if (how & 2)
		place_texts(w, e, rec, len);
	/* The stack pointers of entries and returns fit now and then. */
	uint32_t sp = w->plan->progs[w->plan->sites[site].prog].sp_arg;
	uint64_t at = 0x7fff0000u + (when & 7) * 8u;
	if (how & 4 && sp != UP_NONE && w->fields[e][sp].size == 8)
		memcpy(rec + w->fields[e][sp].off, &at, 8);
	hit.time = w->now += when;
	up_vm_hit(&w->vm, &hit);
	free(rec);
}

static void check_json(const struct up_buf *b)
{
	for (size_t i = 0; i < b->len; i++) {
		require(b->s[i] == '\n' || (unsigned char)b->s[i] >= ' ', "printable JSON");
		if (b->s[i] == '\n')
			require(i && b->s[i - 1] == '}', "an object a line");
		if (!i || b->s[i - 1] == '\n')
			require(b->s[i] == '{', "an object a line");
	}
	require(!b->len || b->s[b->len - 1] == '\n', "whole lines");
}

static void run_step(struct world *w, struct input *in)
{
	uint8_t what = take(in);

	if (what >= 32)
		run_hit(w, in, what);
	else if (what >= 24 && w->plan->nr_blocks)
		up_vm_block(&w->vm, what % w->plan->nr_blocks, w->now += 1000);
	else if (what >= 20)
		up_vm_died(&w->vm, FIRST_TID + (what & 3));
	else if (what >= 16)
		up_calls_fork(&w->vm.calls, FIRST_TID + (what & 1), FIRST_TID + 2 + (what & 1));
	else
		up_vm_show(&w->vm);
	if (w->out.form == up_out_form_find("json"))
		check_json(&w->out.buf);
	up_buf_reset(&w->out.buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const forms[] = { "json", "text", "csv", "json" };
	struct input in = { data, size };
	uint8_t choice = take(&in);
	struct world w = { .plan = plan_of(choice % NR(scripts)), .now = 1000 };
	unsigned steps = 0;
	struct changed changed = { 0 };

	if (choice & 32) {
		copy_plan(&changed, w.plan);
		if (!change_plan(&changed, &in)) {
			free_copy(&changed);
			return 0;
		}
		w.plan = &changed.plan;
	}
	w.out = (struct up_out){ .fd = -1, .form = up_out_form_find(forms[choice >> 6]) };
	lay_out(&w);
	require(!up_vm_init(&w.vm, w.plan, &w.out), "memory");
	up_vm_begin(&w.vm, w.now);
	while (in.len && steps++ < 300)
		run_step(&w, &in);
	require(!up_vm_show(&w.vm), "memory");
	up_vm_fini(&w.vm);
	up_out_fini(&w.out);
	free(w.fields);
	free(w.fixed);
	free_copy(&changed);
	return 0;
}
