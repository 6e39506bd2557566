/*
 * One trial of the event filters: a random condition is compiled, and random records are judged by
 * the handler and, through the model, by the kernel's filter. Used by test_filter and fuzz_filter.
 *
 * What must hold: a hit that the handler selects passes the filter; and where the filter says all
 * of the condition, a hit that it rejects otherwise does not pass, unless a value was a fault.
 */
#ifndef UP_TESTS_FILTER_TRIAL_H
#define UP_TESTS_FILTER_TRIAL_H

#include "lang/up.h"
#include "runtime/vm.h"
#include "tests/unit/dice.h"
#include "tests/unit/model_filter.h"

/* --- a condition ----------------------------------------------------------------------------- */

static const char *const trial_texts[] = {
	"bash", "ba", "zsh", "x", "kworker/0:1", "7z", "!x", ""
};

static const char *pick(struct dice *d, const char *const *list, unsigned nr)
{
	return list[roll(d, nr)];
}

#define PICK(d, list) pick(d, list, sizeof(list) / sizeof(*(list)))

static void make_constant(struct dice *d, struct up_buf *b)
{
	uint64_t v = roll_number(d);

	switch (roll(d, 4)) {
	case 0:
		up_buf_printf(b, "%llu", (unsigned long long)v);
		break;
	case 1:
		up_buf_printf(b, "-%llu", (unsigned long long)-v);
		break;
	case 2:
		up_buf_printf(b, "~%llu", (unsigned long long)~v);
		break;
	default:
		up_buf_printf(b, "0x%llx", (unsigned long long)v);
	}
}

/* A value of the hit. */
static void make_leaf(struct dice *d, bool is_return, struct up_buf *b)
{
	static const char *const bases[] = { "arg0",        "arg1",
					     "reg.ax",      "reg.di",
					     "stack[1]",    "@(arg0 + 8)",
					     "@(arg1 - 4)", "@(@(arg0 + 16) + 4)",
					     "sp",          "@(reg.di + 8)" };
	static const char *const return_bases[] = { "retval", "reg.ax", "stack[1]", "@(retval + 8)",
						    "@(@(reg.di) + 4)" };
	static const char *const types[] = { "",      "",        "",         ":u8",  ":s8",
					     ":u16",  ":s16",    ":u32",     ":s32", ":u64",
					     ":s64",  ":x8",     ":x32",     ":x64", ":bool",
					     ":char", ":b3@2/8", ":b9@23/32" };

	if (roll(d, 12) == 0) {
		up_buf_puts(b, roll(d, 2) ? "tid" : "cpu");
		return;
	}
	up_buf_puts(b, is_return ? PICK(d, return_bases) : PICK(d, bases));
	up_buf_puts(b, PICK(d, types));
}

static void make_condition(struct dice *d, bool is_return, unsigned depth, struct up_buf *b);

static void make_number(struct dice *d, bool is_return, unsigned depth, struct up_buf *b)
{
	static const char *const ops[] = { "+", "-", "&", "&", "|", "*", ">>" };

	switch (roll(d, depth ? 10 : 3)) {
	case 4:
		up_buf_puts(b, "-(");
		make_number(d, is_return, depth - 1, b);
		up_buf_putc(b, ')');
		break;
	case 5:
		up_buf_puts(b, "~(");
		make_number(d, is_return, depth - 1, b);
		up_buf_putc(b, ')');
		break;
	case 6:
		up_buf_putc(b, '(');
		make_constant(d, b);
		up_buf_printf(b, " %s ", PICK(d, ops));
		make_number(d, is_return, depth - 1, b);
		up_buf_putc(b, ')');
		break;
	case 7:
	case 8:
		up_buf_putc(b, '(');
		make_number(d, is_return, depth - 1, b);
		up_buf_printf(b, " %s ", PICK(d, ops));
		make_constant(d, b);
		up_buf_putc(b, ')');
		break;
	case 9:
		make_condition(d, is_return, depth - 1, b);
		break;
	default:
		make_leaf(d, is_return, b);
	}
}

static void make_text(struct dice *d, bool is_return, struct up_buf *b)
{
	static const char *const globs[] = { "ba*",  "*sh",    "*as*", "b*h", "7*",   "!*",
					     "b?sh", "[a-c]*", "*",    "**",  "bash", "k*0*" };
	const char *text = !is_return && roll(d, 6) == 0 ? "arg0:string" : "comm";

	if (roll(d, 2))
		up_buf_printf(b, "%s ~ \"%s\"", text, PICK(d, globs));
	else if (roll(d, 2))
		up_buf_printf(b, "%s %s \"%s\"", text,
			      roll(d, 2) ? "==" : "!=", PICK(d, trial_texts));
	else
		up_buf_printf(b, "\"%s\" %s %s", PICK(d, trial_texts),
			      roll(d, 2) ? "==" : "!=", text);
}

/* `(x & mask) == c`, where c may have bits of the mask alone. */
static void make_masked(struct dice *d, bool is_return, struct up_buf *b)
{
	uint64_t mask = roll_number(d), c = roll(d, 3) ? mask & roll_number(d) : 0;

	up_buf_putc(b, '(');
	make_leaf(d, is_return, b);
	up_buf_printf(b, " & 0x%llx)", (unsigned long long)mask);
	if (roll(d, 3))
		up_buf_printf(b, " %s 0x%llx", roll(d, 2) ? "==" : "!=", (unsigned long long)c);
}

static void make_comparison(struct dice *d, bool is_return, unsigned depth, struct up_buf *b)
{
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };
	bool swap = roll(d, 4) == 0, two = roll(d, 16) == 0;

	if (roll(d, 5) == 0) {
		make_masked(d, is_return, b);
		return;
	}
	if (swap)
		make_constant(d, b);
	else
		make_number(d, is_return, depth, b);
	up_buf_printf(b, " %s ", PICK(d, ops));
	if (swap || two)
		make_number(d, is_return, depth, b);
	else
		make_constant(d, b);
}

static void make_condition(struct dice *d, bool is_return, unsigned depth, struct up_buf *b)
{
	unsigned which = roll(d, depth ? 12 : 6);

	up_buf_puts(b, which == 11 ? "!(" : "(");
	if (which >= 7 && which < 11) {
		make_condition(d, is_return, depth - 1, b);
		up_buf_puts(b, which < 9 ? " && " : " || ");
		make_condition(d, is_return, depth - 1, b);
	} else if (which == 11) {
		make_condition(d, is_return, depth - 1, b);
	} else if (which == 5) {
		make_text(d, is_return, b);
	} else if (which == 4) {
		make_number(d, is_return, depth, b);
	} else {
		make_comparison(d, is_return, depth, b);
	}
	up_buf_putc(b, ')');
}

/* --- compiling ------------------------------------------------------------------------------- */

static const struct up_object trial_object = { .path = "/app",
					       .name = "app",
					       .machine = UP_M_X86_64 };
static const struct up_symbol trial_symbols[] = {
	{ .name = "f", .addr = 0x1000, .size = 0x40, .kind = UP_SYM_FUNC },
	{ .name = "g", .addr = 0x1040, .size = 0x40, .kind = UP_SYM_FUNC },
	{ .name = "h", .addr = 0x1080, .size = 0x40, .kind = UP_SYM_FUNC },
};

static const struct up_object *trial_open(void *ctx, const char *name, struct up_why *why)
{
	(void)ctx, (void)name, (void)why;
	return &trial_object;
}

static int trial_find(void *ctx, const struct up_object *o, const struct up_query *q,
		      up_symbol_fn *fn, void *arg, struct up_why *why)
{
	(void)ctx, (void)o, (void)why;
	for (size_t i = 0; i < 3; i++)
		if (!strcmp(q->pattern, trial_symbols[i].name) && !fn(arg, &trial_symbols[i]))
			break;
	return 0;
}

static enum up_place trial_to_offset(void *ctx, const struct up_object *o, uint64_t addr,
				     uint64_t *out)
{
	(void)ctx, (void)o;
	*out = addr;
	return UP_PLACE_CODE;
}

static bool trial_can_probe(void *ctx, const struct up_object *o, uint64_t addr, struct up_why *why)
{
	(void)ctx, (void)o, (void)addr, (void)why;
	return true;
}

static unsigned trial_entries(void *ctx, const struct up_object *o, uint64_t addr,
			      struct up_entry_at *out, unsigned max)
{
	(void)ctx;
	(void)o;
	(void)max;
	*out = (struct up_entry_at){ .addr = addr };
	return 1;
}

static enum up_return_risk trial_return_risk(void *ctx, const struct up_object *o, uint64_t addr,
					     struct up_buf *why)
{
	(void)ctx;
	(void)o;
	(void)addr;
	(void)why;
	return UP_RETURN_SAFE;
}

static const struct up_resolver trial_resolver = {
	.open = trial_open,
	.find = trial_find,
	.to_offset = trial_to_offset,
	.can_probe = trial_can_probe,
	.entries = trial_entries,
	.return_risk = trial_return_risk,
};

extern const struct up_agg_row *const up_agg_rows[];

/* Three probes of the same places in one script: what they fetch alike shares an event. */
static void make_script(struct dice *d, struct up_buf *b)
{
	static const char *const funcs[] = { "f", "g", "h" };

	for (unsigned i = 0; i < 3; i++) {
		bool is_return = roll(d, 4) == 0;

		up_buf_printf(b, "probe app:%s", funcs[i]);
		if (i && roll(d, 3) == 0)
			up_buf_printf(b, ", app:%s", funcs[i - 1]);
		up_buf_puts(b, is_return ? " on return" : "");
		if (roll(d, 8)) {
			up_buf_puts(b, " when (");
			make_condition(d, is_return, 1 + roll(d, 3), b);
			up_buf_putc(b, ')');
		}
		up_buf_puts(b, " < count() >\n");
	}
}

/* --- records --------------------------------------------------------------------------------- */

#define TRIAL_RECORD 8192

/* A record of an event, and where its fields are. */
struct trial_record {
	unsigned char rec[TRIAL_RECORD];
	unsigned len;
	struct up_field fields[UP_MAX_ARGS];
	struct model_event event;
};

static void add_field(struct model_event *e, const char *name, enum model_kind kind, unsigned off,
		      unsigned size, bool is_signed)
{
	struct model_field *f = &e->fields[e->nr++];

	*f = (struct model_field){ .kind = kind, .off = off, .size = size, .is_signed = is_signed };
	snprintf(f->name, sizeof(f->name), "%s", name);
}

/* The layout of an event of the plan, as the kernel makes it. */
static void lay_out(const struct up_plan_event *pe, struct trial_record *r)
{
	unsigned off = pe->is_return ? 24 : 16;

	*r = (struct trial_record){ .len = 0 };
	add_field(&r->event, "common_pid", MODEL_NUMBER, 4, 4, true);
	add_field(&r->event, "cpu", MODEL_CPU, 0, 4, true);
	add_field(&r->event, "site", MODEL_NUMBER, off, 4, false);
	off += 4;
	for (uint32_t i = 0; i < pe->nr_args; i++) {
		const struct up_plan_arg *a = &pe->args[i];
		unsigned size = a->size ? a->size : 4;

		r->fields[i] = (struct up_field){ .off = (uint16_t)off,
						  .size = (uint16_t)size,
						  .is_signed = a->is_signed,
						  .is_dynamic = !a->size };
		add_field(&r->event, a->name, a->size ? MODEL_NUMBER : MODEL_STRING, off, size,
			  a->is_signed);
		off += size;
	}
	r->len = off;
}

static void fill_string(struct dice *d, struct trial_record *r, unsigned field)
{
	const char *s = PICK(d, trial_texts);
	uint32_t len = (uint32_t)strlen(s) + 1, loc = r->len | len << 16;

	memcpy(r->rec + field, &loc, 4);
	memcpy(r->rec + r->len, s, len);
	r->len += len;
}

static void fill_record(struct dice *d, const struct up_plan_event *pe, uint32_t site,
			struct trial_record *r)
{
	int32_t tid = (int32_t)roll_number(d);

	tid = tid ? tid : 7;
	memcpy(r->rec + 4, &tid, 4);
	memcpy(r->rec + r->event.fields[2].off, &site, 4);
	for (uint32_t i = 0; i < pe->nr_args; i++) {
		const struct up_field *f = &r->fields[i];
		uint64_t v = roll_number(d);

		if (f->is_dynamic)
			fill_string(d, r, f->off);
		else if (f->size <= 8)
			memcpy(r->rec + f->off, &v, f->size);
		else /* text: never empty, or the process would be asked for it */
			memcpy(memset(r->rec + f->off, 0, f->size), "bash", 5);
	}
}

/* --- the trial ------------------------------------------------------------------------------- */

/* What went wrong, to show; nothing did while `what` is NULL. */
struct trial {
	const char *what;
	const char *filter;
	struct up_buf script;
	unsigned compiled, filters, passed, rejected; /* how much was tried */
};

static void judge_record(struct trial *t, struct up_vm *vm, const struct up_plan *p, uint32_t site,
			 struct trial_record *r, uint32_t cpu, const char *filter)
{
	const struct up_plan_prog *prog = &p->progs[p->sites[site].prog];
	uint64_t handled = vm->counts.handled, faults = vm->counts.faults;
	struct up_hit hit = {
		.rec = r->rec, .len = r->len, .site = site, .fields = r->fields, .cpu = cpu
	};
	int32_t tid;

	memcpy(&tid, r->rec + 4, 4);
	hit.tid = tid;
	up_vm_hit(vm, &hit);
	bool selected = vm->counts.handled > handled;
	bool passes = model_filter_passes(&r->event, filter, r->rec, cpu, &t->what);
	if (!t->what && selected && !passes)
		t->what = "a hit that the condition selects does not pass the filter";
	if (!t->what && prog->filter && !prog->rest && passes && !selected &&
	    vm->counts.faults == faults)
		t->what = "a hit passes that the filter should have rejected";
	if (!t->what && prog->when && selected && vm->counts.faults > faults && !passes)
		t->what = "a hit with a fault does not pass";
	t->passed += passes;
	t->rejected += !passes;
}

static void judge_site(struct trial *t, struct up_vm *vm, const struct up_plan *p, uint32_t site,
		       struct dice *d)
{
	const struct up_plan_event *pe = &p->events[p->sites[site].event];
	static struct up_buf filter;
	struct trial_record r;

	up_buf_reset(&filter);
	up_plan_filter(p, site, false, &filter);
	if (!filter.len)
		return;
	t->filters++;
	for (unsigned i = 0; i < 16 && !t->what; i++) {
		lay_out(pe, &r);
		fill_record(d, pe, site, &r);
		judge_record(t, vm, p, site, &r, roll(d, 4), filter.s);
	}
	t->filter = t->what ? filter.s : NULL;
}

/* False when something is wrong, which t tells then. */
static bool run_trial(struct trial *t, struct dice *d)
{
	struct up_env env = { .resolver = &trial_resolver,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };
	struct up_compile *c = up_compile_new();
	struct up_out out = { .fd = -1 };
	struct up_vm vm;

	t->what = NULL;
	up_buf_reset(&t->script);
	make_script(d, &t->script);
	struct up_plan *p = up_compile(c, &env, "trial.up", t->script.s, t->script.len);
	if (p) {
		t->compiled++;
		if (up_vm_init(&vm, p, &out))
			abort();
		for (uint32_t i = 0; i < p->nr_sites && !t->what; i++)
			judge_site(t, &vm, p, i, d);
		up_vm_fini(&vm);
	}
	up_plan_free(p);
	up_compile_free(c);
	return !t->what;
}

#endif
