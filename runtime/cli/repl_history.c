/*
 * The history: what was typed, kept for this session and the next ones in
 * $XDG_STATE_HOME/uptick/history, an input a line. Newlines in it are written as \n, backslashes
 * doubled.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/cli/line.h"
#include "runtime/cli/readfile.h"
#include "runtime/cli/repl_int.h"

#define FILE_MAX (1 << 20) /* bytes; when there are more the older half goes */
#define READ_MAX (4 * FILE_MAX)
#define INPUT_MAX (1 << 16) /* bytes of an input that is kept */

/* Makes the folders, but no home, and the path of the file; false when there is none. */
static bool find_file(struct up_buf *path)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	size_t from = 1;

	if (state && *state == '/')
		up_buf_puts(path, state);
	else if (home && *home == '/')
		up_buf_printf(path, "%s/.local/state", home);
	else
		return false;
	if (!state || *state != '/')
		from = strlen(home) + 1;
	up_buf_puts(path, "/uptick");
	for (size_t i = from; !path->failed && i <= path->len; i++) {
		if (i < path->len && path->s[i] != '/')
			continue;
		char c = path->s[i];

		path->s[i] = 0;
		mkdir(path->s, 0700);
		path->s[i] = c;
	}
	up_buf_puts(path, "/history");
	return !path->failed;
}

static int open_file(int flags)
{
	struct up_buf path = { 0 };
	int fd = -1;
	struct stat sb;

	if (find_file(&path))
		fd = open(path.s, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	up_buf_fini(&path);
	if (fd >= 0 && (fstat(fd, &sb) || !S_ISREG(sb.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Takes the escapes of a line away. */
static void unescape(const char *s, size_t len, struct up_buf *out)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\\' && i + 1 < len && (s[i + 1] == 'n' || s[i + 1] == '\\'))
			up_buf_putc(out, s[++i] == 'n' ? '\n' : '\\');
		else if (s[i])
			up_buf_putc(out, s[i]);
	}
}

/* What is not text nobody typed, and it is not sent to the terminal. */
static bool is_text(const struct up_buf *b)
{
	uint32_t cp;

	for (size_t i = 0, n; i < b->len; i += n) {
		n = up_utf8_decode(b->s + i, b->len - i, &cp);
		if (!n || (cp < ' ' && cp != '\n' && cp != '\t') || (cp >= 0x7f && cp < 0xa0))
			return false;
	}
	return true;
}

void up_history_load(void)
{
	int fd = open_file(O_RDONLY);
	struct up_buf text = { 0 }, one = { 0 };

	if (fd < 0)
		return;
	up_read_rest(fd, READ_MAX, &text);
	close(fd);
	for (const char *s = text.s, *end; s && !text.failed && s < text.s + text.len;
	     s = end + 1) {
		end = memchr(s, '\n', (size_t)(text.s + text.len - s));
		if (!end)
			break;
		up_buf_reset(&one);
		unescape(s, (size_t)(end - s), &one);
		if (one.len && !one.failed && is_text(&one))
			up_line_remember(one.s);
	}
	up_buf_fini(&text);
	up_buf_fini(&one);
}

/* Writes the later half of a file that has become long. */
static void shorten(int fd)
{
	struct up_buf text = { 0 };

	lseek(fd, 0, SEEK_SET);
	up_read_rest(fd, READ_MAX, &text);
	const char *half = text.len && !text.failed
				   ? memchr(text.s + text.len / 2, '\n', text.len - text.len / 2)
				   : NULL;
	if (half && !ftruncate(fd, 0)) {
		size_t len = text.len - (size_t)(half + 1 - text.s);

		/* Less than all of it is no harm. */
		if (write(fd, half + 1, len) < 0)
			len = 0;
	}
	up_buf_fini(&text);
}

void up_history_add(const char *text, size_t len)
{
	static char *last;
	struct up_buf line = { 0 };
	struct stat sb;
	int fd;

	if (len > INPUT_MAX || (last && strlen(last) == len && !memcmp(last, text, len)))
		return;
	free(last);
	last = strndup(text, len);
	if (last)
		up_line_remember(last);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n' || text[i] == '\\')
			up_buf_puts(&line, text[i] == '\n' ? "\\n" : "\\\\");
		else
			up_buf_putc(&line, text[i]);
	up_buf_putc(&line, '\n');
	fd = line.failed ? -1 : open_file(O_RDWR | O_APPEND | O_CREAT);
	if (fd >= 0) {
		/* It is not waited for: somebody may keep it locked. */
		bool is_mine = !flock(fd, LOCK_EX | LOCK_NB);

		if (is_mine && !fstat(fd, &sb) && sb.st_size > FILE_MAX)
			shorten(fd);
		if (write(fd, line.s, line.len) < 0)
			line.failed = true; /* not kept: no reason to bother anybody */
		close(fd);
	}
	up_buf_fini(&line);
}
