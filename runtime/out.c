/* Output forms: the list, writing, and what is the same in all of them. */
#include "runtime/out.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "runtime/calls.h"
#include "runtime/out_forms.h"

const struct up_out_form *const up_out_forms[] = { &up_out_text, &up_out_json, &up_out_csv, NULL };

const struct up_out_form *up_out_form_find(const char *name)
{
	for (size_t i = 0; up_out_forms[i]; i++)
		if (!strcmp(up_out_forms[i]->name, name))
			return up_out_forms[i];
	return NULL;
}

/* Waits until the output takes more; when the run is to end, not for long. */
static int wait_writable(const struct up_out *o)
{
	struct pollfd p[2] = { { .fd = o->fd, .events = POLLOUT },
			       { .fd = o->may_block ? o->stop_fd : -1, .events = POLLIN } };
	int n;

	do
		n = poll(p, 2, -1);
	while (n < 0 && errno == EINTR);
	if (n > 0 && !p[0].revents)
		n = poll(p, 1, UP_OUT_PATIENCE);
	return n < 0 ? -errno : n ? 0 : -ETIMEDOUT;
}

/* A pipe that can be written to takes at least PIPE_BUF bytes without waiting. */
static int write_all(const struct up_out *o, const char *s, size_t len)
{
	while (len) {
		int err = o->may_block ? wait_writable(o) : 0;

		if (err)
			return err;
		ssize_t n = write(o->fd, s, o->may_block && len > PIPE_BUF ? PIPE_BUF : len);
		if (n >= 0) {
			s += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			err = o->may_block ? 0 : wait_writable(o);
		} else if (errno != EINTR) {
			err = -errno;
		}
		if (err)
			return err;
	}
	return 0;
}

int up_out_flush(struct up_out *o)
{
	if (!o->error && o->buf.len)
		o->error = write_all(o, o->buf.s, o->buf.len);
	if (!o->error && o->buf.failed)
		o->error = -ENOMEM;
	up_buf_reset(&o->buf);
	return o->error;
}

void up_out_fini(struct up_out *o)
{
	up_buf_fini(&o->buf);
	up_buf_fini(&o->field);
	up_buf_fini(&o->escaped);
}

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

static void put_rejected(struct up_buf *b, const struct up_out_totals *t)
{
	if (t->rejected_unknown) {
		up_buf_puts(b, "hits that the kernel rejected were not counted\n");
	} else if (t->rejected) {
		up_buf_puts(b, "about ");
		put_count(b, t->rejected, "hit was", "hits were");
		up_buf_printf(b, " rejected in the kernel%s\n",
			      t->rejected_foreign ? ", hits of other processes included" : "");
	}
}

static void put_too_deep(struct up_buf *b, uint64_t n)
{
	if (!n)
		return;
	put_count(b, n, "call was", "calls were");
	up_buf_printf(b,
		      " nested too deeply: the kernel tells of %d nested returns of a thread, and "
		      "at most %d open calls are kept\n",
		      UP_CALLS_KERNEL, UP_CALLS_DEPTH);
}

static void put_unreadable(struct up_buf *b, const struct up_out_totals *t)
{
	if (!t->unreadable)
		return;
	put_count(b, t->unreadable, "line of the text could not be read",
		  "lines of the text could not be read");
	up_buf_printf(b, t->unreadable == 1 ? ": line %llu\n" : ", the first is line %llu\n",
		      (unsigned long long)t->first_unreadable);
	if (!t->handled)
		up_buf_puts(b,
			    "the text must come from probes as `uptick plan` shows them for this "
			    "program\n");
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
	put_rejected(b, t);
	if (t->lost_not_hits)
		up_buf_printf(
			b, "of the lost, up to %llu may be threads that began or ended, not hits\n",
			(unsigned long long)t->lost_not_hits);
	put_note(b, t->doubtful, "return was left out, because hits were lost during its call",
		 "returns were left out, because hits were lost during their calls");
	put_note(b, t->unpaired, "return came from a call whose entry was not seen",
		 "returns came from calls whose entry was not seen");
	put_note(b, t->no_return, "call was left without a return",
		 "calls were left without a return");
	put_too_deep(b, t->too_deep);
	put_note(b, t->by_zero, "division by zero", "divisions by zero");
	put_note(b, t->corrupt, "record of the kernel made no sense",
		 "records of the kernel made no sense");
	put_note(b, t->faults, "value could not be read", "values could not be read");
	put_note(b, t->late, "event came out of time order", "events came out of time order");
	put_note(b, t->dropped_rows, "update of an aggregation was dropped: its table was full",
		 "updates of aggregations were dropped: their tables were full");
	put_note(b, t->dropped_vars, "assignment was dropped: its table was full",
		 "assignments were dropped: their tables were full");
	put_note(b, t->cut_off, "handler was ended: its loops ran too long",
		 "handlers were ended: their loops ran too long");
	put_note(b, t->no_room, "text found no room: it became (fault)",
		 "texts found no room: they became (fault)");
	put_note(b, t->left_out, "hit was left out, because the run was interrupted again",
		 "hits were left out, because the run was interrupted again");
	put_unreadable(b, t);
	put_note(b, t->misplaced,
		 "event is at another place than the probes: another program's, or another version",
		 "events are at other places than the probes: another program's, or another "
		 "version");
	put_note(b, t->others, "event that no probe is for was passed over",
		 "events that no probe is for were passed over");
	put_note(b, t->changed_files, "probed file was replaced or written to",
		 "probed files were replaced or written to");
}
