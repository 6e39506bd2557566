/* What uptick has in the kernel. */
#include "runtime/cli/cmd_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/base/text.h"
#include "runtime/cli/print.h"
#include "runtime/cli/run.h"
#include "runtime/leftovers.h"

#define LIMIT_MS 5000       /* for a look at tracefs */
#define CLEAN_LIMIT_MS 5000 /* for one step of removing */
#define CLEAN_WAIT_MS 10000 /* for another one that cleans up */

static const char *owner_name(enum up_owner o)
{
	static const char *const names[] = { "running", "ending", "gone", "unseen" };

	return names[o];
}

/* The owner's command line with its words parted by blanks; "" when it cannot be had. */
static void read_command(pid_t pid, struct up_buf *out)
{
	char path[40], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	while (n > 0 && !text[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		up_buf_putc(out, text[i] ? text[i] : ' ');
}

static void put_text(struct up_buf *b, const struct up_leftover *l, const struct up_buf *command)
{
	up_buf_printf(b, "%-20s %8d  %-8s %6u  %-8s  ", l->session.name, (int)l->session.owner,
		      owner_name(l->owner), l->session.nr_events,
		      l->session.has_instance ? "yes" : "no");
	if (command->len)
		up_text_escape(b, command->s, command->len, 0);
	else
		up_buf_putc(b, '-');
	up_buf_putc(b, '\n');
}

static void put_json(struct up_buf *b, const struct up_leftover *l, const struct up_buf *command)
{
	up_buf_printf(
		b,
		"{\"type\":\"session\",\"name\":\"%s\",\"owner\":%d,\"state\":\"%s\",\"events\":%u,"
		"\"instance\":%s,\"command\":",
		l->session.name, (int)l->session.owner, owner_name(l->owner), l->session.nr_events,
		l->session.has_instance ? "true" : "false");
	if (command->len)
		up_json_string(b, command->s);
	else
		up_buf_puts(b, "null");
	up_buf_puts(b, "}\n");
}

static size_t put_sessions(struct up_buf *b, const struct up_buf *list, bool json)
{
	struct up_leftover l;
	size_t nr_gone = 0;

	if (!json && list->len)
		up_buf_printf(b, "%-20s %8s  %-8s %6s  %-8s  %s\n", "session", "owner", "state",
			      "events", "instance", "command");
	for (size_t at = 0; at + sizeof(l) <= list->len; at += sizeof(l)) {
		struct up_buf command = { 0 };

		memcpy(&l, list->s + at, sizeof(l));
		nr_gone += l.owner == UP_OWNER_GONE;
		if (l.owner == UP_OWNER_LIVES)
			read_command(l.session.owner, &command);
		(json ? put_json : put_text)(b, &l, &command);
		up_buf_fini(&command);
	}
	return nr_gone;
}

int up_cmd_status(const struct up_opts *o)
{
	struct up_buf list = { 0 }, b = { 0 };
	struct up_status st = { 0 };
	struct up_tracefs fs;
	bool json;

	if (!up_want_json(o, &json))
		return 2;
	int err = up_tracefs_find(&fs, NULL, &st);
	if (!err) {
		err = up_leftovers_list(&fs, LIMIT_MS, &list);
		if (err)
			up_tracefs_fail(&fs, &st, err, "instances", "cannot list what is in");
	}
	size_t nr_gone = put_sessions(&b, &list, json);
	if (err)
		up_report(&st);
	else if (!up_print(&b))
		err = -EIO;
	else if (!list.len && !o->quiet)
		fputs("nothing of uptick's is in the kernel\n", stderr);
	else if (nr_gone && !o->quiet)
		fprintf(stderr, "%zu %s no owner any more; `uptick clean` removes what %s left\n",
			nr_gone, nr_gone == 1 ? "session has" : "sessions have",
			nr_gone == 1 ? "it" : "they");
	up_buf_fini(&list);
	up_buf_fini(&b);
	return err ? 1 : 0;
}

/* ---- clean ---- */

struct cleaning {
	bool json;
	struct up_buf out;  /* what was done */
	struct up_buf left; /* what could not be */
	size_t nr;          /* sessions dealt with */
};

static void say_cleaned(void *arg, const struct up_leftover *l, int err, const char *left)
{
	struct cleaning *c = arg;
	const struct up_session_info *s = &l->session;

	c->nr++;
	up_buf_puts(&c->left, left);
	if (c->json)
		up_buf_printf(&c->out,
			      "{\"type\":\"cleaned\",\"name\":\"%s\",\"events\":%u,\"instance\":%s,"
			      "\"removed\":%s}\n",
			      s->name, s->nr_events, s->has_instance ? "true" : "false",
			      err ? "false" : "true");
	else if (!err)
		up_buf_printf(&c->out, "%s: removed %u %s%s\n", s->name, s->nr_events,
			      s->nr_events == 1 ? "event" : "events",
			      s->has_instance ? " and its instance" : "");
}

/* Says why something stays: because its owner lives is no reason to speak of. */
static size_t count_unseen(const struct up_tracefs *fs)
{
	struct up_buf list = { 0 };
	struct up_leftover l;
	size_t nr = 0;

	if (!up_leftovers_list(fs, LIMIT_MS, &list))
		for (size_t at = 0; at + sizeof(l) <= list.len; at += sizeof(l)) {
			memcpy(&l, list.s + at, sizeof(l));
			nr += l.owner == UP_OWNER_UNSEEN;
		}
	up_buf_fini(&list);
	return nr;
}

static void say_end(const struct up_opts *o, const struct cleaning *c, size_t nr_unseen)
{
	if (nr_unseen)
		up_complain("%zu %s left alone: from inside a container it cannot be told whether "
			    "the owner "
			    "lives; clean up from outside",
			    nr_unseen, nr_unseen == 1 ? "session was" : "sessions were");
	else if (!c->nr && !o->quiet)
		fputs("nothing to clean\n", stderr);
}

int up_cmd_clean(const struct up_opts *o, const struct up_signals *sig)
{
	struct cleaning c = { 0 };
	struct up_clean_opts co = { .stop_fd = sig->stop_fd,
				    .limit_ms = CLEAN_LIMIT_MS,
				    .wait_ms = CLEAN_WAIT_MS,
				    .fn = say_cleaned,
				    .arg = &c };
	struct up_status st = { 0 };
	struct up_tracefs fs;

	if (!up_want_json(o, &c.json))
		return 2;
	int err = up_tracefs_find(&fs, NULL, &st);
	if (!err)
		err = up_leftovers_clean(&fs, &co, &st);
	if (!up_print(&c.out) && !err)
		err = -EIO;
	if (c.left.len)
		up_complain("left in the kernel:\n%s", c.left.s);
	else if (st.err)
		up_report(&st);
	if (!err)
		say_end(o, &c, count_unseen(&fs));
	up_buf_fini(&c.out);
	up_buf_fini(&c.left);
	return err ? 1 : 0;
}
