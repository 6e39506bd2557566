/*
 * Watches on files by inotify. A file that is replaced or removed loses a name, which is a change
 * of its attributes; so the file itself is watched, and not its folder, where much else may happen.
 * Of the folders on the way only their own moving is of interest. Only while a file is missing its
 * folder is watched for what appears there.
 */
#include "runtime/filewatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define FILE_EVENTS (IN_ATTRIB | IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF)
/* Of a file that is not the one that was probed, or has been written to already. */
#define OTHER_EVENTS (IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF)
#define FOLDER_EVENTS (IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR)
#define MISSING_EVENTS (IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR)

static bool is_of_process(const char *path)
{
	return !strncmp(path, "/proc/", 6) && strstr(path, "/map_files/");
}

/*
 * Several paths can lead to one file or folder, which has one watch: events are added to it.
 * Returns its number, or -1.
 */
static int watch(struct up_filewatch *w, const char *path, uint32_t events)
{
	int wd = w->fd < 0 ? -1 : inotify_add_watch(w->fd, path, events | IN_MASK_ADD);

	w->has_gaps |= wd < 0;
	return wd;
}

/* All folders above the path; the nearest one with other events. */
static void watch_folders(struct up_filewatch *w, const char *path, uint32_t nearest)
{
	char folder[4096];
	uint32_t events = nearest;
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	while ((slash = strrchr(folder, '/')) && slash > folder) {
		*slash = 0;
		watch(w, folder, events);
		events = FOLDER_EVENTS;
	}
}

static void watch_file(struct up_filewatch *w, struct up_watched *f)
{
	f->wd = -1;
	if (f->state == UP_FILE_GONE) {
		watch_folders(w, f->path, MISSING_EVENTS);
		return;
	}
	f->wd = watch(w, f->path, f->state == UP_FILE_SAME ? FILE_EVENTS : OTHER_EVENTS);
	watch_folders(w, f->path, FOLDER_EVENTS);
}

/* Notes with its files what an event tells. */
static void note_event(struct up_filewatch *w, const struct inotify_event *e)
{
	bool is_any = e->mask & IN_Q_OVERFLOW;

	for (size_t i = 0; i < w->nr; i++)
		if (is_any || w->v[i].wd == e->wd)
			w->v[i].events |= is_any ? IN_MODIFY : e->mask;
}

/* Takes what the kernel has to tell. */
static void drain(struct up_filewatch *w)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while (w->fd >= 0 && (n = read(w->fd, buf, sizeof(buf))) > 0)
		for (char *at = buf; at < buf + n;) {
			const struct inotify_event *e = (const void *)at;

			note_event(w, e);
			at += sizeof(*e) + e->len;
		}
}

/*
 * All watches anew: what is no longer wanted goes with the old descriptor's watches, whose events
 * are all covered by the look that follows.
 */
static void watch_all(struct up_filewatch *w)
{
	drain(w);
	if (w->fd >= 0)
		close(w->fd);
	w->has_gaps = false;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	for (size_t i = 0; i < w->nr; i++)
		watch_file(w, &w->v[i]);
}

/* ---- the files ---- */

static struct up_watched *find(const struct up_filewatch *w, const char *path)
{
	for (size_t i = w->nr; i-- > 0;)
		if (!strcmp(w->v[i].path, path))
			return &w->v[i];
	return NULL;
}

static struct up_watched *add(struct up_filewatch *w, const char *path)
{
	struct up_watched *v = reallocarray(w->v, w->nr + 1, sizeof(*v));

	if (!v)
		return NULL;
	w->v = v;
	v[w->nr] = (struct up_watched){ .path = strdup(path) };
	return v[w->nr].path ? &v[w->nr++] : NULL;
}

/* Takes the files of sites from number `first` on; later ones of a path are of a later file. */
static void take_sites(struct up_filewatch *w, const struct up_plan *plan, uint32_t first)
{
	const struct up_plan_site *last = NULL;

	for (uint32_t i = first; i < plan->nr_sites; i++) {
		const struct up_plan_site *s = &plan->sites[i];

		if (!s->id.ino || is_of_process(s->path) ||
		    (last && !strcmp(s->path, last->path) &&
		     up_file_id_compare(&s->id, &last->id) == UP_FILE_SAME))
			continue;
		last = s;
		struct up_watched *f = find(w, s->path);
		if (!f)
			f = add(w, s->path);
		if (f)
			*f = (struct up_watched){ .path = f->path, .id = s->id };
	}
}

void up_filewatch_init(struct up_filewatch *w, const struct up_plan *plan)
{
	*w = (struct up_filewatch){ .fd = -1 };
	take_sites(w, plan, 0);
	watch_all(w);
}

/* Files that are no longer where they were have successors now. */
static void drop_lost(struct up_filewatch *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].state == UP_FILE_REPLACED || w->v[i].state == UP_FILE_GONE)
			free(w->v[i].path);
		else
			w->v[nr++] = w->v[i];
	w->nr = nr;
}

void up_filewatch_add(struct up_filewatch *w, const struct up_plan *plan, uint32_t first)
{
	take_sites(w, plan, first);
	drop_lost(w);
	watch_all(w);
}

void up_filewatch_replan(struct up_filewatch *w, const struct up_plan *plan)
{
	struct up_filewatch old = *w;

	drain(&old);
	*w = (struct up_filewatch){ .fd = -1 };
	take_sites(w, plan, 0);
	for (size_t i = 0; i < w->nr; i++) {
		struct up_watched *f = &w->v[i];
		const struct up_watched *was = find(&old, f->path);

		if (!was || !up_file_id_is_same(&was->id, &f->id))
			continue;
		f->events = was->events;
		if (up_file_id_compare(&was->id, &f->id) != UP_FILE_SAME)
			continue; /* it was written to, and read anew */
		f->state = was->state;
		f->is_told = was->is_told;
	}
	watch_all(w);
	up_filewatch_fini(&old);
}

void up_filewatch_fini(struct up_filewatch *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->v[i].path);
	free(w->v);
	if (w->fd >= 0)
		close(w->fd);
	*w = (struct up_filewatch){ .fd = -1 };
}

bool up_filewatch_must_look(const struct up_filewatch *w)
{
	return w->nr && (w->fd < 0 || w->has_gaps);
}

/* ---- looking ---- */

/* True when the state is another one. A file that was written to stays so. */
static bool look_at(const struct up_filewatch *w, struct up_watched *f)
{
	/* Without a watch there is no telling what happened. */
	uint32_t events = w->fd < 0 || f->wd < 0 ? IN_MODIFY : f->events;
	struct up_file_id now;
	enum up_file_change state = up_file_id_check(f->path, &f->id, &now);

	f->events = 0;
	if (state == UP_FILE_WRITTEN && f->state != UP_FILE_WRITTEN &&
	    !(events & (IN_MODIFY | IN_CLOSE_WRITE))) {
		f->id = now; /* given another time, no more */
		state = UP_FILE_SAME;
	}
	if (state == f->state || (state == UP_FILE_SAME && f->state == UP_FILE_WRITTEN))
		return false;
	f->state = state;
	return true;
}

static bool look(struct up_filewatch *w, up_filewatch_fn *fn, void *arg)
{
	bool any = false;

	drain(w);
	for (size_t i = 0; i < w->nr; i++) {
		if (!look_at(w, &w->v[i]))
			continue;
		any = true;
		fn(arg, &w->v[i]);
		w->v[i].is_told = true;
	}
	return any;
}

bool up_filewatch_look(struct up_filewatch *w, up_filewatch_fn *fn, void *arg)
{
	bool any = false;

	/* What happens before the new watches are there is not told: another time can be a write.
	 */
	for (unsigned i = 0; i < 3 && look(w, fn, arg); i++) {
		watch_all(w);
		for (size_t k = 0; k < w->nr; k++)
			w->v[k].events |= IN_MODIFY;
		any = true;
	}
	return any;
}
