/* Output: what -o and -f say, and standard error. */
#include "runtime/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/clock.h"

#define READER_MS 50 /* how often a FIFO without a reader is tried again */

static struct up_out *screen; /* of a prompt */

void up_output_at_prompt(struct up_out *out)
{
	screen = out;
}

bool up_output_is_at_prompt(void)
{
	return screen;
}

bool up_output_put(const char *s, size_t len)
{
	up_buf_add(&screen->buf, s, len);
	int err = up_out_flush(screen);
	if (err == -ETIMEDOUT || err == -ENOMEM)
		screen->error = 0;
	return !err;
}

/* Writes to standard error, unless nobody takes it there; that is waited for once. */
void up_put_error(const char *s)
{
	static bool is_stuck;
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (screen && isatty(STDERR_FILENO)) {
		up_output_put(s, strlen(s));
		return;
	}
	is_stuck = poll(&p, 1, is_stuck ? 0 : UP_OUT_PATIENCE) == 0;
	if (!is_stuck)
		fputs(s, stderr);
}

/* Names of files and of other things come from anybody. */
__attribute__((format(printf, 2, 0))) static void put_message(const char *before, const char *fmt,
							      va_list ap)
{
	struct up_buf b = { 0 }, line = { 0 };

	up_buf_vprintf(&b, fmt, ap);
	up_buf_puts(&line, before);
	up_text_message(&line, b.s ? b.s : "", b.len);
	up_buf_putc(&line, '\n');
	up_put_error(line.s ? line.s : "");
	up_buf_fini(&line);
	up_buf_fini(&b);
}

void up_complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_message("uptick: ", fmt, ap);
	va_end(ap);
}

void up_remark(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_message("", fmt, ap);
	va_end(ap);
}

bool up_may_colour(const struct up_opts *o, int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !o->no_colour && !(no && *no) && isatty(fd) && term && strcmp(term, "dumb");
}

void up_report(const struct up_status *st)
{
	struct up_buf b = { 0 };

	up_status_render(st, &b);
	up_complain("%s", b.s ? b.s : "out of memory");
	up_buf_fini(&b);
}

/* ---- results ---- */

/* Does the user's locale have more than ASCII? The variables are those of setlocale(), in its
 * order. */
static bool has_unicode(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *v = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && (!v || !*v); i++)
		v = getenv(names[i]);
	return v && (strcasestr(v, "utf-8") || strcasestr(v, "utf8"));
}

/* Opens the file of -o. Of a FIFO a reader is waited for, as long as the run is not to end. */
static int open_file(const struct up_opts *o, int stop_fd, struct up_out *out, struct up_status *st)
{
	struct pollfd stop = { .fd = stop_fd, .events = POLLIN };
	/* What a run shows may be private: only its user may read it. */
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
	struct stat sb;

	for (;;) {
		out->fd = open(o->out, flags, 0600);
		if (out->fd >= 0)
			return 0;
		int err = -errno;
		bool no_reader = err == -ENXIO && !stat(o->out, &sb) && S_ISFIFO(sb.st_mode);
		if (no_reader && !poll(&stop, 1, READER_MS))
			continue;
		return up_status_set(st, no_reader ? -EINTR : err, o->out,
				     "cannot write the output");
	}
}

/*
 * A terminal that takes nothing must not hold anybody up in a write. Others use it, too: so it is
 * opened once more, to be set to that.
 */
static void open_terminal(struct up_out *out)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", out->fd);
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		out->fd = fd;
}

int up_output_open(const struct up_opts *o, int stop_fd, struct up_out *out, struct up_status *st)
{
	struct winsize ws;
	struct stat sb;
	const char *form = o->form ? o->form : "text";

	out->form = up_out_form_find(form);
	out->fd = STDOUT_FILENO;
	out->wall_offset = (int64_t)(up_clock_ns(CLOCK_REALTIME) - up_clock_ns(CLOCK_MONOTONIC));
	if (o->out && open_file(o, stop_fd, out, st))
		return st->err;
	out->may_block = fstat(out->fd, &sb) || S_ISFIFO(sb.st_mode) || S_ISSOCK(sb.st_mode) ||
			 isatty(out->fd);
	out->stop_fd = stop_fd;
	out->colour = up_may_colour(o, out->fd);
	out->unicode = has_unicode();
	if (isatty(out->fd) && !ioctl(out->fd, TIOCGWINSZ, &ws))
		out->columns = ws.ws_col;
	if (isatty(out->fd) && !o->out)
		open_terminal(out);
	return 0;
}

void up_output_complain(const struct up_opts *o, const struct up_out *out)
{
	if (!out->error || out->error == -EPIPE)
		return;
	up_complain("cannot write the output%s%s: %s", o->out ? " " : "", o->out ? o->out : "",
		    out->error == -ETIMEDOUT ? "nobody reads it, so the rest is left out"
					     : strerror(-out->error));
}

void up_output_summary(const struct up_opts *o, const struct up_out_totals *t)
{
	struct up_buf b = { 0 };

	/* Losses are told of in any case. */
	if (!o->quiet || t->lost || t->lost_unknown) {
		up_out_summary(&b, t);
		up_put_error(b.s ? b.s : "");
	}
	up_buf_fini(&b);
}

void up_output_end(const struct up_opts *o, struct up_out *out, const struct up_out_totals *t)
{
	if (out->form->end)
		out->form->end(out, t);
	up_out_flush(out);
	up_output_summary(o, t);
}

bool up_output_close(const struct up_opts *o, struct up_out *out, bool quiet)
{
	bool ok = out->fd <= STDERR_FILENO || !close(out->fd) || !o->out;

	if (!ok && !quiet)
		up_complain("cannot write the output %s: %s", o->out, strerror(errno));
	up_out_fini(out);
	return ok;
}
