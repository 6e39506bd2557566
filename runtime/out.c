/* Output forms: the list, writing, and what is the same in all of them. */
#include "runtime/out.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

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

#define ROOM_MS 10 /* how often it is looked whether there is room */

/* Like that, where there is room, but too little for what comes next: a terminal makes two bytes
 * of a newline. */
static int wait_room(const struct up_out *o, unsigned *looks)
{
	struct pollfd p = { .fd = o->stop_fd, .events = POLLIN };

	if (poll(&p, 1, ROOM_MS) <= 0)
		return 0;
	poll(NULL, 0, ROOM_MS);
	return ++*looks > UP_OUT_PATIENCE / ROOM_MS ? -ETIMEDOUT : 0;
}

/* A pipe that can be written to takes at least PIPE_BUF bytes without waiting. */
static int write_all(const struct up_out *o, const char *s, size_t len)
{
	unsigned looks = 0;

	while (len) {
		int err = o->may_block ? wait_writable(o) : 0;

		if (err)
			return err;
		ssize_t n = write(o->fd, s, o->may_block && len > PIPE_BUF ? PIPE_BUF : len);
		if (n >= 0) {
			s += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			err = o->may_block ? wait_room(o, &looks) : wait_writable(o);
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
