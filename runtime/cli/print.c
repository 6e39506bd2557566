/* Writing results to standard output. */
#include "runtime/cli/print.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/cli/output.h"
#include "runtime/cli/run.h"
#include "runtime/cli/signals.h"

bool up_print(struct up_buf *b)
{
	size_t done = 0;

	if (b->failed) {
		up_complain("out of memory");
		return false;
	}
	if (up_output_is_at_prompt()) {
		bool ok = !up_signals_urgency() && up_output_put(b->s ? b->s : "", b->len);

		up_buf_reset(b);
		return ok;
	}
	while (done < b->len) {
		ssize_t n = write(STDOUT_FILENO, b->s + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			if (errno != EPIPE)
				up_complain("cannot write: %s", strerror(errno));
			return false;
		}
		done += (size_t)n;
	}
	up_buf_reset(b);
	return true;
}

bool up_want_json(const struct up_opts *o, bool *json)
{
	*json = o->form && !strcmp(o->form, "json");
	if (!o->form || *json || !strcmp(o->form, "text"))
		return true;
	up_complain("this command prints text, or JSON with -f json");
	return false;
}

void up_json_string(struct up_buf *b, const char *s)
{
	up_buf_putc(b, '"');
	up_text_json(b, s, strlen(s));
	up_buf_putc(b, '"');
}
