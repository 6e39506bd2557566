/* Reading /proc/PID/maps (proc(5)) and comparing roots. */
#include "runtime/procmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/base/buf.h"

static int read_text(pid_t pid, struct up_buf *b)
{
	char path[64];
	ssize_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (;;) {
		char *to = up_buf_room(b, 1 << 15);

		n = to ? read(fd, to, 1 << 15) : -1;
		if (n <= 0)
			break;
		b->len += (size_t)n;
		b->s[b->len] = 0;
	}
	int err = n < 0 ? b->failed ? -ENOMEM : -errno : 0;
	close(fd);
	return err;
}

/* A newline in a path is shown as \012. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		bool is_newline = !strncmp(s, "\\012", 4);

		*to++ = is_newline ? '\n' : *s;
		s += is_newline ? 4 : 1;
	}
	*to = 0;
}

static bool cut_deleted(char *path)
{
	static const char tail[] = " (deleted)";
	size_t len = strlen(path);

	if (len < sizeof(tail) || strcmp(path + len - (sizeof(tail) - 1), tail) != 0)
		return false;
	path[len - (sizeof(tail) - 1)] = 0;
	return true;
}

/* Behind the next blank and those after it, or NULL. */
static char *next_field(char *s)
{
	s = strchr(s, ' ');
	while (s && *s == ' ')
		s++;
	return s;
}

/* "559fdc4b6000-559fdc4e3000 r-xp 0002f000 fe:00 1234   /usr/bin/bash" */
static bool parse_line(char *s, struct up_mapping *m)
{
	char *field;

	m->start = strtoull(s, &s, 16);
	if (*s != '-')
		return false;
	m->end = strtoull(s + 1, &s, 16);
	field = next_field(s);
	if (!field || strlen(field) < 4)
		return false;
	m->is_exec = field[2] == 'x';
	field = next_field(field);
	if (!field)
		return false;
	m->offset = strtoull(field, &s, 16);
	for (int i = 0; field && i < 2; i++)
		field = next_field(field);
	if (!field)
		return false;
	m->ino = strtoull(field, NULL, 10);
	field = next_field(field);
	if (field) {
		unescape(field);
		m->is_deleted = cut_deleted(field);
	}
	m->path = field ? field : "";
	return true;
}

int up_procmap_read(pid_t pid, struct up_procmap *out)
{
	struct up_buf b = { 0 };
	size_t cap = 1;
	int err = read_text(pid, &b);

	*out = (struct up_procmap){ 0 };
	if (err || !b.s) {
		up_buf_fini(&b);
		return err;
	}
	for (const char *s = b.s; *s; s++)
		cap += *s == '\n';
	out->text = b.s;
	out->v = calloc(cap, sizeof(*out->v));
	if (!out->v) {
		up_procmap_fini(out);
		return -ENOMEM;
	}
	for (char *line = b.s, *end; line && *line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		if (parse_line(line, &out->v[out->nr]))
			out->nr++;
	}
	return 0;
}

void up_procmap_fini(struct up_procmap *m)
{
	free(m->v);
	free(m->text);
	*m = (struct up_procmap){ 0 };
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat p, q;

	if (stat(a, &p) < 0 || stat(b, &q) < 0)
		return true; /* not ours to look at: then nothing can be opened there either */
	return p.st_dev == q.st_dev && p.st_ino == q.st_ino;
}

bool up_proc_has_own_root(pid_t pid)
{
	char root[64], ns[64];

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	snprintf(ns, sizeof(ns), "/proc/%d/ns/mnt", (int)pid);
	return !is_same_file(root, "/") || !is_same_file(ns, "/proc/self/ns/mnt");
}
