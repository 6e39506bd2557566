/* The last lines of a run: the sums, and what should make one think. */
#include <stddef.h>
#include <string.h>

#include "runtime/calls.h"
#include "runtime/out.h"

#define MAX_CPUS_SHOWN 8 /* that have lost something */

/* "1 hit handled", "2 hits handled". */
static void put_count(struct up_buf *b, uint64_t n, const char *one, const char *many)
{
	up_buf_printf(b, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

static void put_note(struct up_buf *b, uint64_t n, const char *one, const char *many)
{
	if (!n)
		return;
	put_count(b, n, one, many);
	up_buf_putc(b, '\n');
}

static void put_lost(struct up_buf *b, const struct up_out_totals *t)
{
	if (!t->lost_unknown)
		up_buf_printf(b, "%llu lost", (unsigned long long)t->lost);
	else if (t->lost)
		up_buf_printf(b, "more than %llu lost", (unsigned long long)t->lost);
	else
		up_buf_puts(b, "an unknown number lost");
}

/* ---- the sum ---- */

struct term {
	uint64_t n;
	const char *name;
};

static void put_terms(struct up_buf *b, const struct term *v, size_t nr)
{
	const char *before = "";

	for (size_t i = 0; i < nr; i++) {
		if (!v[i].n)
			continue;
		up_buf_printf(b, "%s%llu %s", before, (unsigned long long)v[i].n, v[i].name);
		before = " + ";
	}
}

void up_out_add_up(struct up_out_totals *t)
{
	t->hits = t->handled + t->filtered + t->rejected + t->lost + t->unpaired + t->doubtful +
		  t->outside + t->left_out + t->missing;
	t->is_exact = !t->lost_unknown && !t->lost_not_hits;
}

/* Where all were handled the first line has said it. */
static void put_sum(struct up_buf *b, const struct up_out_totals *t)
{
	const struct term terms[] = {
		{ t->handled, "handled" },
		{ t->filtered, "filtered" },
		{ t->rejected, "rejected by the kernel" },
		{ t->lost, "lost" },
		{ t->unpaired + t->doubtful, "unpaired" },
		{ t->outside, "outside" },
		{ t->left_out, "left out" },
		{ t->missing, "missing" },
	};

	if (t->hits == t->handled)
		return;
	up_buf_puts(b, t->is_exact ? "" : "about ");
	put_count(b, t->hits, "hit = ", "hits = ");
	put_terms(b, terms, sizeof(terms) / sizeof(*terms));
	up_buf_putc(b, '\n');
}

/* What the words of the sum mean, where that is not plain. */
static void explain_sum(struct up_buf *b, const struct up_out_totals *t)
{
	if (t->rejected_unknown)
		up_buf_puts(b, "hits that the kernel rejected were not counted\n");
	else if (t->rejected && t->rejected_foreign)
		up_buf_puts(b, "hits of other processes are among those rejected by the kernel\n");
	if (t->lost_not_hits)
		up_buf_printf(
			b, "of the lost, up to %llu may be threads that began or ended, not hits\n",
			(unsigned long long)t->lost_not_hits);
	put_note(b, t->lost_growing, "hit was lost while the buffer was made larger",
		 "hits were lost while the buffer was made larger");
	put_note(b, t->lost_threads, "more record was lost, of a thread that began or ended",
		 "more records were lost, of threads that began or ended");
	if (t->outside)
		up_buf_puts(b, "outside: before recording began, or after the end\n");
	if (t->missing)
		up_buf_puts(b,
			    "missing: counted by the kernel, and not recorded; texts that are too "
			    "long for a record have that effect\n");
}

/* ---- losses ---- */

void up_out_losses(struct up_buf *b, const struct up_out_losses *l)
{
	unsigned shown = l->nr > MAX_CPUS_SHOWN ? MAX_CPUS_SHOWN : l->nr;

	up_buf_puts(b, "lost");
	for (unsigned i = 0; i < shown; i++)
		up_buf_printf(b, "%s %llu on CPU %u", i ? "," : "",
			      (unsigned long long)l->on[i].lost, l->on[i].cpu);
	if (l->nr > shown)
		up_buf_printf(b, ", and more on %u others", l->nr - shown);
	up_buf_printf(b,
		      "; %s %llu KiB for each CPU: a larger one (--buffer SIZE) or fewer hits help",
		      l->has_grown ? "the buffer has grown to" : "the buffer has",
		      (unsigned long long)l->buffer_kb);
}

static void put_losses(struct up_buf *b, const struct up_out_losses *l)
{
	if (!l->nr)
		return;
	up_out_losses(b, l);
	up_buf_putc(b, '\n');
}

static void put_too_deep(struct up_buf *b, const struct up_out_totals *t)
{
	put_count(b, t->too_deep, "call was", "calls were");
	up_buf_printf(b,
		      " nested too deeply: the kernel tells of %d nested returns of a thread, and "
		      "at most %d open calls are kept\n",
		      UP_CALLS_KERNEL, UP_CALLS_DEPTH);
}

static void put_unreadable(struct up_buf *b, const struct up_out_totals *t)
{
	put_count(b, t->unreadable, "line of the text could not be read",
		  "lines of the text could not be read");
	up_buf_printf(b, t->unreadable == 1 ? ": line %llu\n" : ", the first is line %llu\n",
		      (unsigned long long)t->first_unreadable);
	if (!t->handled)
		up_buf_puts(b,
			    "the text must come from probes as `uptick plan` shows them for this "
			    "program\n");
}

/* ---- what should make one think ---- */

/* A line for a count that is not 0. */
struct note {
	size_t at; /* of the count in struct up_out_totals */
	const char *one, *many;
	/* Says it instead, where there is more to say. */
	void (*put)(struct up_buf *b, const struct up_out_totals *t);
};

#define COUNT(member) offsetof(struct up_out_totals, member)

static const struct note notes[] = {
	{ COUNT(doubtful), "return was left out, because hits were lost during its call",
	  "returns were left out, because hits were lost during their calls", NULL },
	{ COUNT(unpaired), "return came from a call whose entry was not seen",
	  "returns came from calls whose entry was not seen", NULL },
	{ COUNT(no_return), "call was left without a return", "calls were left without a return",
	  NULL },
	{ COUNT(too_deep), NULL, NULL, put_too_deep },
	{ COUNT(by_zero), "division by zero", "divisions by zero", NULL },
	{ COUNT(corrupt), "record of the kernel made no sense",
	  "records of the kernel made no sense", NULL },
	{ COUNT(faults), "value could not be read", "values could not be read", NULL },
	{ COUNT(late), "event came out of time order", "events came out of time order", NULL },
	{ COUNT(dropped_rows), "update of an aggregation was dropped: its table was full",
	  "updates of aggregations were dropped: their tables were full", NULL },
	{ COUNT(dropped_vars), "assignment was dropped: its table was full",
	  "assignments were dropped: their tables were full", NULL },
	{ COUNT(cut_off), "handler was ended: its loops ran too long",
	  "handlers were ended: their loops ran too long", NULL },
	{ COUNT(no_room), "text found no room: it became (fault)",
	  "texts found no room: they became (fault)", NULL },
	{ COUNT(left_out), "hit was left out, because the run was interrupted again",
	  "hits were left out, because the run was interrupted again", NULL },
	{ COUNT(unreadable), NULL, NULL, put_unreadable },
	{ COUNT(misplaced),
	  "event is at another place than the probes: another program's, or another version",
	  "events are at other places than the probes: another program's, or another version",
	  NULL },
	{ COUNT(others), "event that no probe is for was passed over",
	  "events that no probe is for were passed over", NULL },
	{ COUNT(changed_files), "probed file was replaced or written to",
	  "probed files were replaced or written to", NULL },
};

static void put_notes(struct up_buf *b, const struct up_out_totals *t)
{
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		const struct note *n = &notes[i];
		uint64_t count;

		memcpy(&count, (const char *)t + n->at, sizeof(count));
		if (count && n->put)
			n->put(b, t);
		else
			put_note(b, count, n->one, n->many);
	}
}

void up_out_summary(struct up_buf *b, const struct up_out_totals *t)
{
	put_count(b, t->handled, "hit handled, ", "hits handled, ");
	put_count(b, t->filtered, "filtered, ", "filtered, ");
	put_lost(b, t);
	if (t->seconds < 0.1)
		up_buf_printf(b, " in %.1f ms\n", t->seconds * 1e3);
	else
		up_buf_printf(b, " in %.1f s\n", t->seconds);
	put_sum(b, t);
	explain_sum(b, t);
	put_losses(b, &t->losses);
	put_notes(b, t);
}
