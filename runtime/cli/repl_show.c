/* What the prompt knows of its program: probes, variables, plans. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/base/text.h"
#include "runtime/cli/repl_int.h"
#include "runtime/clock.h"

#define SAMPLE_NS 1000000000ull /* how long hits are counted for a rate */

/* ---- declarations ---- */

struct up_entry *up_repl_entry(struct up_repl *r, const char *args)
{
	char *end;
	unsigned long number = strtoul(args, &end, 10);

	if (*args < '0' || *args > '9' || end[strspn(end, " \t")]) {
		up_repl_say(r, "which one? `probes` lists the numbers");
		return NULL;
	}
	for (size_t i = 0; i < r->program.nr; i++)
		if (r->program.v[i].decl->number == number)
			return &r->program.v[i];
	up_repl_say(r, "there is no declaration %.*s; `probes` lists the numbers",
		    (int)strcspn(args, " \t"), args);
	return NULL;
}

static void count_hits(struct up_repl *r)
{
	for (struct up_decl *d = r->decls; d; d = d->next)
		d->hits = 0;
	for (uint32_t i = 0; i < r->plan->nr_probes; i++)
		if (r->probes[i].decl)
			r->probes[i].decl->hits += r->session->engine.hits[i];
}

void up_repl_sample(struct up_repl *r, uint64_t now)
{
	if (now - r->looked_at < SAMPLE_NS)
		return;
	count_hits(r);
	for (struct up_decl *d = r->decls; d; d = d->next) {
		uint64_t more = d->hits > d->sampled ? d->hits - d->sampled : 0;

		d->rate = (double)more * 1e9 / (double)(now - r->looked_at);
		d->sampled = d->hits;
	}
	r->looked_at = now;
}

/* Whose event it is; NULL: of something that is gone. */
static struct up_decl *decl_of(const struct up_repl *r, uint32_t event)
{
	uint32_t probe = up_plan_probe_of(r->plan, event);

	return probe == UP_NONE ? NULL : r->probes[probe].decl;
}

static uint32_t count_sites(const struct up_repl *r, const struct up_decl *d)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < r->plan->nr_events; i++)
		nr += decl_of(r, i) == d ? r->plan->events[i].nr_sites : 0;
	return nr;
}

/* Brings the losses of all declarations up to date; false when they are not known. */
static bool look_for_lost(struct up_repl *r)
{
	struct up_loss_count count;
	bool busy;

	if (!up_session_losses_begin(r->session, &count))
		return false;
	up_repl_round(r, &busy);
	struct up_event_loss *losses = up_session_losses_end(r->session, &count);
	for (struct up_decl *d = r->decls; d && losses; d = d->next) {
		d->lost = 0;
		d->is_lost_exact = true;
	}
	for (uint32_t i = 0; i < r->plan->nr_events && losses; i++) {
		struct up_decl *d = decl_of(r, i);

		if (!d)
			continue;
		d->lost += losses[i].nr;
		d->is_lost_exact &= losses[i].is_exact;
	}
	bool ok = losses;
	free(losses);
	return ok;
}

#define NARROW 72 /* columns of a terminal with no room beside the numbers */

/* A text on one line, cut where the line ends. */
static void put_line(struct up_repl *r, const struct up_decl *d, size_t from)
{
	size_t width = r->out.columns > from + 20 ? r->out.columns - from - 4 : 60, cols = 0;
	const char *s = d->text.s;
	struct up_buf b = { 0 };
	bool blank = true;

	if (d->hidden)
		s += strcspn(s, "\n") + 1;
	for (; *s; s++) {
		bool is_blank = *s == ' ' || *s == '\t' || *s == '\n' || *s == '\r';

		if (!is_blank)
			up_buf_putc(&b, *s);
		else if (!blank)
			up_buf_putc(&b, ' ');
		blank = is_blank;
	}
	if (d->hidden && b.len > 2) /* `>` of the block that nobody wrote */
		b.len -= 2;
	for (size_t i = 0; i < b.len;) {
		uint32_t cp;
		size_t n = up_utf8_decode(b.s + i, b.len - i, &cp);

		n += !n;
		if (++cols >= width) {
			up_buf_puts(&r->out.buf, "...");
			break;
		}
		up_text_escape(&r->out.buf, b.s + i, n, 0);
		i += n;
	}
	up_buf_fini(&b);
}

/* ---- what has changed ---- */

#define CHANGES_MAX 8 /* lines that tell of a change */

static void put_change(struct up_repl *r, const char *what, const struct up_decl *d, unsigned *nr)
{
	size_t start = r->out.buf.len;

	if (++*nr > CHANGES_MAX)
		return;
	up_buf_printf(&r->out.buf, "%-9s %3u  ", what, d->number);
	put_line(r, d, r->out.buf.len - start);
	up_buf_putc(&r->out.buf, '\n');
}

/* Tells of those that the program does not have any more, from number k on up to one that it has.
 */
static size_t put_gone(struct up_repl *r, const struct up_program *before, size_t k, unsigned *nr)
{
	for (; k < before->nr && !before->v[k].decl->is_in; k++)
		put_change(r, "taken out", before->v[k].decl, nr);
	return k;
}

/* What both have stands in the same order in both. */
void up_repl_changes(struct up_repl *r, const struct up_program *before)
{
	unsigned nr = 0;
	size_t k = 0;

	for (size_t i = 0; i < r->program.nr; i++) {
		const struct up_entry *now = &r->program.v[i];

		k = put_gone(r, before, k, &nr);
		if (k == before->nr || before->v[k].decl != now->decl)
			put_change(r, "put back", now->decl, &nr);
		else if (before->v[k++].is_off != now->is_off)
			put_change(r, now->is_off ? "disabled" : "enabled", now->decl, &nr);
	}
	put_gone(r, before, k, &nr);
	if (nr > CHANGES_MAX)
		up_repl_say(r, "... and %u more", nr - CHANGES_MAX);
}

/* ---- the table of declarations ---- */

/* The numbers' columns; on a narrow terminal the declaration stands in a line of its own. */
struct columns {
	int hits, rate, lost;
	const char *gap; /* before the declaration */
};

static struct columns choose_columns(const struct up_repl *r)
{
	if (!r->out.columns || r->out.columns >= NARROW)
		return (struct columns){ 10, 9, 9, "  " };
	return (struct columns){ 8, 6, 5, "\n     " };
}

/* "12", or "<=12" when it may be less. */
static const char *lost_text(const struct up_decl *d, bool is_known, char text[32])
{
	if (!is_known)
		return "?";
	snprintf(text, 32, "%s%" PRIu64, d->is_lost_exact ? "" : "<=", d->lost);
	return text;
}

static void put_entry(struct up_repl *r, const struct up_entry *e, bool lost_is_known)
{
	const struct columns c = choose_columns(r);
	const struct up_decl *d = e->decl;
	struct up_buf *b = &r->out.buf;
	size_t start = b->len;
	char lost[32];

	up_buf_printf(b, "%3u  %-5s", d->number,
		      e->is_off                    ? "off"
		      : d->is_probe || d->is_timed ? "on"
						   : "");
	if (d->is_probe)
		up_buf_printf(b, " %6" PRIu32 " %*" PRIu64 " %*.0f %*s", count_sites(r, d), c.hits,
			      d->hits, c.rate, d->rate, c.lost, lost_text(d, lost_is_known, lost));
	else if (*c.gap != '\n')
		up_buf_printf(b, " %6s %*s %*s %*s", "", c.hits, "", c.rate, "", c.lost, "");
	up_buf_puts(b, c.gap);
	put_line(r, d, *c.gap == '\n' ? strlen(c.gap) - 1 : b->len - start);
	up_buf_putc(b, '\n');
}

/* On all processors. */
static uint64_t count_lost(const struct up_src_raw *src)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < src->pages.nr_q; i++)
		lost += up_src_raw_lost(src, i);
	return lost;
}

void up_repl_probes(struct up_repl *r, const char *args)
{
	(void)args;
	if (!r->program.nr) {
		up_repl_say(r, "no declarations yet; as in: probe libc:malloc < count() by comm >");
		return;
	}
	bool is_known = look_for_lost(r);
	up_repl_sample(r, up_clock_ns(CLOCK_MONOTONIC));
	count_hits(r);
	const struct columns c = choose_columns(r);
	up_buf_printf(&r->out.buf, "%3s  %-5s %6s %*s %*s %*s%sdeclaration\n", "#", "state",
		      "places", c.hits, "hits", c.rate, "hits/s", c.lost, "lost", c.gap);
	for (size_t i = 0; i < r->program.nr; i++)
		put_entry(r, &r->program.v[i], is_known);
	uint64_t lost = count_lost(&r->session->src);
	if (lost)
		up_repl_say(r, "%llu records were lost: the buffer was full; see --buffer",
			    (unsigned long long)lost);
}

/* ---- what has been gathered ---- */

static bool has_name(const char *wanted, const char *name)
{
	return !*wanted || !strcmp(wanted, name);
}

/* The name that the arguments are, without the blanks behind it. */
static const char *take_name(const char *args, char name[256])
{
	size_t len = strcspn(args, " \t");

	if (len >= 256)
		len = 255;
	memcpy(name, args, len);
	name[len] = 0;
	return name;
}

static bool is_shown(const struct up_plan_var *v)
{
	return v->scope == UP_VAR_GLOBAL || v->scope == UP_VAR_TABLE;
}

/* What is done with an aggregation, and with a variable or table. */
struct deed {
	void (*agg)(struct up_vm *vm, uint32_t i);
	void (*var)(struct up_vm *vm, uint32_t i);
	bool spares_values; /* a variable must be named */
	const char *none;   /* is said when there is nothing */
};

static bool is_meant(const struct deed *d, const char *name, const struct up_plan_var *v)
{
	return has_name(name, v->name) && is_shown(v) &&
	       (*name || !d->spares_values || v->scope == UP_VAR_TABLE);
}

/* To the one that is named, or to all. */
static void do_to(struct up_repl *r, const char *args, const struct deed *d)
{
	struct up_vm *vm = &r->session->engine.vm;
	char name[256];
	unsigned nr = 0;

	take_name(args, name);
	vm->now = up_clock_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < r->plan->nr_aggs; i++)
		if (has_name(name, r->plan->aggs[i].name)) {
			d->agg(vm, i);
			nr++;
		}
	for (uint32_t i = 0; i < r->plan->nr_vars; i++)
		if (is_meant(d, name, &r->plan->vars[i])) {
			d->var(vm, i);
			nr++;
		}
	if (!nr && *name)
		up_repl_say(r, "nothing is named `%s`; `vars` lists what there is", name);
	else if (!nr)
		up_repl_say(r, "%s", d->none);
}

static void show_agg(struct up_vm *vm, uint32_t i)
{
	up_vm_show_agg(vm, i);
}

static void show_var(struct up_vm *vm, uint32_t i)
{
	up_vm_show_var(vm, i);
}

static void clear_var(struct up_vm *vm, uint32_t i)
{
	up_vars_clear(&vm->vars, i);
}

void up_repl_show(struct up_repl *r, const char *args)
{
	do_to(r, args,
	      &(struct deed){ show_agg, show_var, false, "nothing has been gathered yet" });
}

void up_repl_clear(struct up_repl *r, const char *args)
{
	do_to(r, args,
	      &(struct deed){ up_vm_clear_agg, clear_var, true, "there is nothing to clear" });
}

static void put_keys(struct up_buf *b, const char *const *labels, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		up_buf_puts(b, i ? ", " : " by ");
		up_text_escape(b, labels[i], strlen(labels[i]), 0);
	}
}

static void put_rows(struct up_buf *b, size_t nr)
{
	up_buf_printf(b, "  (%zu %s)\n", nr, nr == 1 ? "row" : "rows");
}

static void put_var(struct up_repl *r, uint32_t i)
{
	const struct up_plan_var *v = &r->plan->vars[i];
	struct up_vars *vars = &r->session->engine.vm.vars;
	struct up_buf *b = &r->out.buf;

	if (v->scope == UP_VAR_GLOBAL) {
		struct up_value value = up_vars_get(vars, i);

		up_buf_printf(b, "  %s = ", v->name);
		up_out_value(b, v->type, &value);
		up_buf_putc(b, '\n');
	} else if (v->scope == UP_VAR_TABLE) {
		up_buf_printf(b, "  %s[]", v->name);
		put_keys(b, v->key_labels, v->nr_keys);
		put_rows(b, up_table_count(&vars->tables[i]));
	} else {
		up_buf_printf(b, "  %s.%s\n", v->scope == UP_VAR_THREAD ? "thread" : "call",
			      v->name);
	}
}

void up_repl_vars(struct up_repl *r, const char *args)
{
	const struct up_vm *vm = &r->session->engine.vm;

	(void)args;
	for (uint32_t i = 0; i < r->plan->nr_vars; i++)
		put_var(r, i);
	for (uint32_t i = 0; i < r->plan->nr_aggs; i++) {
		const struct up_plan_agg *a = &r->plan->aggs[i];
		struct up_buf *b = &r->out.buf;

		up_buf_puts(b, "  ");
		if (a->is_named)
			up_buf_printf(b, "%s = ", a->name);
		up_text_escape(b, a->text, strlen(a->text), 0);
		put_keys(b, a->key_labels, a->nr_keys);
		put_rows(b, up_table_count(&vm->aggs[i]));
	}
	if (!r->plan->nr_vars && !r->plan->nr_aggs)
		up_repl_say(r, "no variables and no aggregations yet");
}

/* ---- plans ---- */

#define LINES_MAX 20 /* definitions that are shown of one declaration */

static void put_event(struct up_repl *r, uint32_t event, unsigned *nr)
{
	const struct up_plan_event *e = &r->plan->events[event];
	const struct up_attach *a = r->session->attach;
	struct up_buf line = { 0 };

	for (uint32_t k = 0; k < e->nr_sites; k++) {
		if (++*nr > LINES_MAX)
			continue;
		up_buf_reset(&line);
		up_plan_line(r->plan, a->session, e->sites[k], a->one_event_per_site, &line);
		up_text_escape(&r->out.buf, line.s ? line.s : "", line.len, 0);
		up_buf_putc(&r->out.buf, '\n');
	}
	up_buf_reset(&line);
	up_plan_filter(r->plan, e->sites[0], a->one_event_per_site, &line);
	if (line.len) {
		up_buf_printf(&r->out.buf, "  filter: ");
		up_text_escape(&r->out.buf, line.s, line.len, 0);
		up_buf_putc(&r->out.buf, '\n');
	}
	up_buf_fini(&line);
}

void up_repl_plan(struct up_repl *r, const char *args)
{
	const struct up_entry *entry = up_repl_entry(r, args);
	unsigned nr = 0;

	if (!entry)
		return;
	for (uint32_t i = 0; i < r->plan->nr_events; i++)
		if (decl_of(r, i) == entry->decl)
			put_event(r, i, &nr);
	if (nr > LINES_MAX)
		up_repl_say(r, "... and %u more", nr - LINES_MAX);
	if (!nr)
		up_repl_say(r, "%u puts nothing into the kernel", entry->decl->number);
}
