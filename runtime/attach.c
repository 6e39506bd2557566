/* A plan put into the kernel. */
#include "runtime/attach.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/attach_event.h"
#include "runtime/ringpage.h"

#define BUFFER_KB 4096             /* per CPU, unless there are many of them */
#define BUFFERS_KB_MAX 65536       /* of all CPUs together */
#define BUFFER_KB_MIN 512          /* per CPU all the same */
#define BUFFER_KB_LIMIT (4u << 20) /* per CPU, whoever asks */

/* --- setting up the instance ----------------------------------------------------------------- */

static int set(struct up_attach *a, const char *file, const char *value, struct up_status *st)
{
	return up_keeper_set(a->keeper, file, value, st);
}

/* For a file that not every kernel has, or a value that it may refuse without harm. */
static int set_if_possible(struct up_attach *a, const char *file, const char *value,
			   struct up_status *st)
{
	struct up_status ignored = { 0 };
	int err = set(a, file, value, &ignored);

	if (up_keeper_is_over(err)) {
		if (st && !st->err)
			*st = ignored;
		return err;
	}
	return 0;
}

int up_attach_read(struct up_attach *a, const char *file, struct up_buf *out, struct up_status *st)
{
	char path[UP_TRACEFS_PATH_MAX];

	snprintf(path, sizeof(path), "instances/%s/%s", a->session, file);
	return up_keeper_read(a->keeper, path, out, st);
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static int list_cpus(struct up_attach *a, struct up_status *st)
{
	char path[UP_TRACEFS_PATH_MAX];
	struct up_buf names = { 0 };
	size_t cap = 0;

	snprintf(path, sizeof(path), "instances/%s/per_cpu", a->session);
	int err = up_tracefs_list(&a->fs, path, &names);
	for (const char *n = up_tracefs_next(&names, NULL); n; n = up_tracefs_next(&names, n))
		cap++;
	a->cpus = calloc(cap ? cap : 1, sizeof(*a->cpus));
	for (const char *n = up_tracefs_next(&names, NULL); n && a->cpus;
	     n = up_tracefs_next(&names, n))
		if (!strncmp(n, "cpu", 3) && isdigit((unsigned char)n[3]))
			a->cpus[a->nr_cpus++] = atoi(n + 3);
	up_buf_fini(&names);
	if (!a->cpus)
		return up_status_set(st, -ENOMEM, NULL, "cannot list the CPUs");
	if (err || !a->nr_cpus)
		return up_tracefs_fail(&a->fs, st, err ? err : -ENOENT, path,
				       "cannot list the CPUs of");
	qsort(a->cpus, a->nr_cpus, sizeof(*a->cpus), by_number);
	return 0;
}

static int set_buffer_size(struct up_attach *a, uint64_t bytes, struct up_status *st)
{
	uint64_t kb = bytes / 1024 + (bytes % 1024 != 0);
	char text[32];

	if (!bytes) {
		kb = BUFFERS_KB_MAX / a->nr_cpus;
		kb = kb > BUFFER_KB ? BUFFER_KB : kb < BUFFER_KB_MIN ? BUFFER_KB_MIN : kb;
	}
	if (kb > BUFFER_KB_LIMIT)
		return up_status_set(st, -E2BIG, NULL,
				     "a ring buffer of %llu KiB per CPU is too large",
				     (unsigned long long)kb);
	a->buffer_kb = kb;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);
	int err = set(a, "buffer_size_kb", text, st);
	if (err == -ENOMEM)
		up_status_hint(st, "a smaller buffer may do: --buffer 1MiB");
	return err;
}

/* Bytes of one sub-buffer: a page on kernels that know no other size. */
static int learn_subbuf_size(struct up_attach *a, struct up_status *st)
{
	struct up_buf text = { 0 };
	size_t page_size = 0;
	int err = up_keeper_read(a->keeper, "events/header_page", &text, st);

	if (!err &&
	    (text.failed || up_ringpage_layout(text.s, text.len, &a->commit_size, &page_size)))
		err = up_status_set(st, -EPROTO, NULL, "cannot read the kernel's ring buffers");
	up_buf_reset(&text);
	if (!err) {
		a->subbuf_size = (uint32_t)sysconf(_SC_PAGESIZE);
		if (!up_attach_read(a, "buffer_subbuf_size_kb", &text, NULL) && text.s &&
		    strtoul(text.s, NULL, 10))
			a->subbuf_size = (uint32_t)strtoul(text.s, NULL, 10) * 1024;
	}
	up_buf_fini(&text);
	return err;
}

/* An instance begins with the options that somebody has set at the top of tracefs. */
static int set_text_options(struct up_attach *a, struct up_status *st)
{
	static const char *const off[] = {
		"raw",           "hex", "bin", "verbose", "fields", "stacktrace", "latency-format",
		"userstacktrace"
	};
	char file[64];
	int err = set(a, "options/context-info", "1", st);

	for (size_t i = 0; i < sizeof(off) / sizeof(*off) && !err; i++) {
		snprintf(file, sizeof(file), "options/%s", off[i]);
		err = set_if_possible(a, file, "0", st);
	}
	return err;
}

/*
 * The order matters for time: a new clock and a new sub-buffer size each make the buffer afresh,
 * so they come while it is small. Recording is off until everything is armed.
 * Old events give way to new ones unless asked otherwise: only then do the pages say where events
 * were lost, and the counts are exact either way.
 */
static int configure(struct up_attach *a, const struct up_attach_opts *o, struct up_status *st)
{
	int err = set(a, "tracing_on", "0", st);
	char percent[16];

	if (!err)
		err = set(a, "trace_clock", o->local_clock ? "local" : "mono", st);
	if (!err)
		err = set_if_possible(a, "buffer_subbuf_size_kb", "64", st);
	if (!err)
		err = list_cpus(a, st);
	if (!err)
		err = set_buffer_size(a, o->buffer_size, st);
	if (!err)
		err = learn_subbuf_size(a, st);
	/* With 0 the reader is woken for the first event already; kernels begin with more. */
	snprintf(percent, sizeof(percent), "%u", o->buffer_percent);
	if (!err)
		err = set_if_possible(a, "buffer_percent", percent, st);
	if (!err)
		err = set(a, "options/overwrite", o->keep_oldest ? "0" : "1", st);
	if (!err && o->follow)
		err = set(a, "options/event-fork", "1", st);
	if (!err && o->as_text)
		err = set_text_options(a, st);
	return err;
}

/*
 * Else probing malloc would trace what tracing malloc does. One write: before a second one the
 * kernel waits for a grace period, some 20 ms.
 */
static int skip_self(struct up_attach *a, struct up_status *st)
{
	char text[32];

	snprintf(text, sizeof(text), "%d %d", (int)getpid(), (int)up_keeper_pid(a->keeper));
	return set_if_possible(a, "set_event_notrace_pid", text, st);
}

static int start(struct up_attach *a, const struct up_attach_opts *o, struct up_status *st)
{
	struct up_keeper_opts ko = { .fs = &a->fs, .stop_fd = o->stop_fd, .limit_ms = o->limit_ms };
	int err = up_tracefs_find(&a->fs, o->tracefs, st);

	if (o->ops)
		a->fs.ops = o->ops;
	if (!err)
		err = up_keeper_start(&ko, &a->keeper, st);
	if (!err)
		err = up_keeper_begin(a->keeper, st);
	if (err)
		return err;
	a->session = up_keeper_session(a->keeper);
	if (asprintf(&a->instance_path, "%s/instances/%s", a->fs.root, a->session) < 0) {
		a->instance_path = NULL;
		return up_status_set(st, -ENOMEM, NULL, "cannot start tracing");
	}
	return 0;
}

int up_attach_open(const struct up_plan *plan, const struct up_attach_opts *opts,
		   struct up_attach **out, struct up_status *st)
{
	struct up_attach *a = calloc(1, sizeof(*a));

	if (!a)
		return up_status_set(st, -ENOMEM, NULL, "cannot start tracing");
	a->plan = plan;
	a->one_event_per_site = opts->one_event_per_site;
	a->lifecycle = opts->lifecycle;
	int err = start(a, opts, st);
	if (!err)
		err = configure(a, opts, st);
	if (!err && opts->skip_self)
		err = skip_self(a, st);
	if (!err)
		err = up_attach_define(a, st);
	if (!err)
		err = up_attach_check_files(plan, 0, st);
	if (!err)
		err = up_attach_layout(a, st);
	if (err)
		up_attach_close(a, NULL, NULL);
	else
		*out = a;
	return err;
}

/* --- which threads --------------------------------------------------------------------------- */

static int compare_tids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* Writes those numbers of tids[0..nr) that were not written before, and counts them. */
static int add_tids(struct up_attach *a, const pid_t *tids, size_t nr, size_t *nr_new,
		    struct up_status *st)
{
	pid_t *all = reallocarray(a->tids, a->nr_tids + nr + 1, sizeof(*all));
	struct up_buf text = { 0 };
	size_t old = a->nr_tids;
	int err = 0;

	*nr_new = 0;
	if (!all)
		return up_status_set(st, -ENOMEM, NULL, "cannot list the threads to trace");
	a->tids = all;
	a->has_left_out = true;
	for (size_t i = 0; i < nr && !err; i++) {
		if (bsearch(&tids[i], a->tids, old, sizeof(*tids), compare_tids))
			continue;
		up_buf_printf(&text, "%d ", (int)tids[i]);
		a->tids[a->nr_tids++] = tids[i];
		(*nr_new)++;
		if (text.len > 2048) {
			err = set(a, "set_event_pid", text.s, st);
			up_buf_reset(&text);
		}
	}
	if (!err && text.failed)
		err = up_status_set(st, -ENOMEM, NULL, "cannot list the threads to trace");
	if (!err && text.len)
		err = set(a, "set_event_pid", text.s, st);
	qsort(a->tids, a->nr_tids, sizeof(*a->tids), compare_tids);
	up_buf_fini(&text);
	return err;
}

int up_attach_add_thread(struct up_attach *a, pid_t tid, struct up_status *st)
{
	size_t nr_new;

	return add_tids(a, &tid, 1, &nr_new, st);
}

/* The threads that a process has now, into *tids, which the caller frees. */
static int list_threads(pid_t pid, pid_t **tids, size_t *nr)
{
	char path[64];
	size_t cap = 0;
	struct dirent *e;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	*tids = NULL;
	*nr = 0;
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (*nr == cap) {
			cap = cap ? cap * 2 : 64;
			pid_t *more = reallocarray(*tids, cap, sizeof(**tids));
			if (!more)
				break;
			*tids = more;
		}
		(*tids)[(*nr)++] = atoi(e->d_name);
	}
	closedir(dir);
	return e ? -ENOMEM : *nr ? 0 : -ESRCH;
}

/*
 * A thread that is born of one not yet written is not followed by the kernel, so it goes on until
 * a look finds nothing new.
 */
int up_attach_add_process(struct up_attach *a, pid_t pid, struct up_status *st)
{
	size_t nr, nr_new;
	pid_t *tids;
	int err;

	do {
		nr_new = 0;
		err = list_threads(pid, &tids, &nr);
		if (err)
			up_status_set(st, err, NULL, "cannot trace the process %d", (int)pid);
		else
			err = add_tids(a, tids, nr, &nr_new, st);
		free(tids);
	} while (!err && nr_new);
	return err;
}

int up_attach_free_threads(struct up_attach *a, struct up_status *st)
{
	int err = up_keeper_free_threads(a->keeper, st);

	if (!err)
		a->nr_tids = 0;
	return err;
}

int up_attach_follow(struct up_attach *a, bool on, struct up_status *st)
{
	return set(a, "options/event-fork", on ? "1" : "0", st);
}

/* --- arming ---------------------------------------------------------------------------------- */

/* Mappings of the probed files. */
struct maps {
	struct map {
		const char *path; /* of the file */
		void *at;         /* where, or MAP_FAILED */
		size_t len;       /* bytes */
	} * v;
	size_t nr;
};

static void *map_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat sb;
	void *at = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &sb) && sb.st_size > 0) {
		*len = (size_t)sb.st_size;
		at = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return at;
}

static bool is_mapped(const struct maps *m, const char *path)
{
	for (size_t i = m->nr; i-- > 0;)
		if (m->v[i].path == path || !strcmp(m->v[i].path, path))
			return true;
	return false;
}

/* Would the kernel decode the instruction in another mode for us than for the program itself? */
static bool is_other_mode(const struct up_plan_site *s)
{
	return sizeof(void *) == 8 && s->machine == UP_M_I386;
}

static void maps_init(struct maps *m, const struct up_plan *plan, uint32_t first)
{
	*m = (struct maps){ 0 };
	for (uint32_t i = first; i < plan->nr_sites; i++) {
		const char *path = plan->sites[i].path;

		if (is_other_mode(&plan->sites[i]) || is_mapped(m, path))
			continue;
		struct map *v = reallocarray(m->v, m->nr + 1, sizeof(*v));
		if (!v)
			return;
		m->v = v;
		v[m->nr].path = path;
		v[m->nr].at = map_file(path, &v[m->nr].len);
		m->nr++;
	}
}

static void maps_fini(struct maps *m)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->v[i].at != MAP_FAILED)
			munmap(m->v[i].at, m->v[i].len);
	free(m->v);
}

static int enable_event(struct up_attach *a, const struct up_record_event *e, struct up_status *st)
{
	struct up_buf path = { 0 };

	up_attach_event_path(a, e, &path);
	int err = path.failed ? up_status_set(st, -ENOMEM, NULL, "cannot arm the probes")
			      : up_keeper_enable(a->keeper, path.s, st);
	up_buf_fini(&path);
	return err && !e->name ? up_attach_blame(a, e, err, st) : err;
}

/*
 * The kernel looks at the instruction under a probe when a process maps the file, and only while
 * it enables the event does it tell what it found. So the files are mapped meanwhile. But not those
 * of 32-bit programs: the first process that maps the file decides once and for all in which mode
 * the instruction is decoded, and in ours it would be decoded, and run, as another one.
 */
int up_attach_enable(struct up_attach *a, uint32_t event, uint32_t site, struct up_status *st)
{
	struct maps maps;
	int err = 0;

	maps_init(&maps, a->plan, site);
	for (uint32_t i = event; i < a->records.nr && !err; i++) {
		err = up_attach_filter(a, &a->records.events[i], st);
		if (!err && !a->records.events[i].is_off)
			err = enable_event(a, &a->records.events[i], st);
	}
	maps_fini(&maps);
	return err;
}

/* Mapped, a place that the kernel cannot probe is refused at once. */
static int enable_mapped(struct up_attach *a, struct up_record_event *e, struct up_status *st)
{
	const struct up_plan_event *pe = &a->plan->events[e->event];
	uint32_t first = a->plan->nr_sites;
	struct maps maps;

	for (uint32_t i = 0; i < pe->nr_sites; i++)
		first = pe->sites[i] < first ? pe->sites[i] : first;
	maps_init(&maps, a->plan, first);
	int err = enable_event(a, e, st);
	maps_fini(&maps);
	return err;
}

int up_attach_enable_again(struct up_attach *a, struct up_record_event *e, struct up_status *st)
{
	int err = e->is_untried ? enable_mapped(a, e, st) : enable_event(a, e, st);

	e->is_off = err != 0;
	e->is_untried &= e->is_off;
	return err;
}

int up_attach_disable(struct up_attach *a, struct up_record_event *e, struct up_status *st)
{
	struct up_buf path = { 0 };

	up_attach_event_path(a, e, &path);
	int err = path.failed ? up_status_set(st, -ENOMEM, NULL, "cannot disarm the probes")
			      : up_keeper_disable(a->keeper, path.s, st);
	up_buf_fini(&path);
	e->is_off |= !err;
	return err;
}

int up_attach_arm(struct up_attach *a, struct up_status *st)
{
	int err = up_attach_enable(a, 0, 0, st);

	if (!err)
		up_attach_hits_begin(a, 0);
	if (!err)
		err = set(a, "tracing_on", "1", st);
	if (!err)
		up_attach_hits_begin(a, 1);
	a->is_armed = err == 0;
	/* From here on nothing is awaited that a signal should cut short. */
	if (!err)
		up_keeper_watch(a->keeper, false);
	return err;
}

int up_attach_stop(struct up_attach *a, struct up_status *st)
{
	up_keeper_watch(a->keeper, false);
	up_attach_hits_end(a, 0);
	int err = set(a, "tracing_on", "0", st);
	up_attach_hits_end(a, 1);
	return err;
}

int up_attach_grow_buffer(struct up_attach *a, uint64_t kb, struct up_status *st)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);
	int err = set(a, "buffer_size_kb", text, st);
	if (!err)
		a->buffer_kb = kb;
	return err;
}

int up_attach_fd(const struct up_attach *a)
{
	return up_keeper_fd(a->keeper);
}

int up_attach_close(struct up_attach *a, struct up_buf *left, struct up_status *st)
{
	int err = 0;

	if (!a)
		return 0;
	if (a->keeper)
		err = up_keeper_undo(a->keeper, left, st);
	up_keeper_stop(a->keeper);
	up_records_fini(&a->records);
	free(a->instance_path);
	free(a->cpus);
	free(a->tids);
	free(a);
	return err;
}
