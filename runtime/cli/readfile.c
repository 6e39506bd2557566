/* Files as a whole. */
#include "runtime/cli/readfile.h"

#include <errno.h>
#include <unistd.h>

#include "runtime/cli/signals.h"

#define CHUNK 65536 /* bytes that are read at a time */

int up_read_rest(int fd, size_t max, struct up_buf *text)
{
	size_t start = text->len;

	for (;;) {
		char *to = up_buf_room(text, CHUNK);
		ssize_t n = to ? read(fd, to, CHUNK) : -1;

		if (!to)
			return -ENOMEM;
		if (n < 0 && errno == EINTR && !up_signals_stopped())
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		text->len += (size_t)n;
		text->s[text->len] = 0;
		if (text->len - start > max)
			return -EFBIG;
	}
}
