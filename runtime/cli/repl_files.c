/* Probed files that are replaced, removed or written to. */
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/repl_int.h"

#define LOOK_NS (UP_FILEWATCH_LOOK_MS * 1000000ull)

void up_repl_watch(struct up_repl *r)
{
	/* A plan that follows another one has all of its sites, those of what is gone as well. */
	if (r->plan->nr_sites == r->nr_watched)
		return;
	r->nr_watched = r->plan->nr_sites;
	up_filewatch_replan(&r->watch, r->plan);
}

static void tell(void *arg, const struct up_watched *file)
{
	struct up_repl *r = arg;

	if (!up_plan_probes_file(r->plan, &file->id))
		return;
	if (file->state == UP_FILE_WRITTEN)
		up_repl_say(r,
			    "%s was written to while it is probed: the probes may stand in wrong "
			    "places now, and harm programs; `reload` puts them in the right ones",
			    file->path);
	else if (file->state == UP_FILE_REPLACED)
		up_repl_say(r,
			    "%s was replaced: processes that run the old file are traced on, those "
			    "that start with the new one are not; `reload` moves the probes to it",
			    file->path);
	else if (file->state == UP_FILE_GONE)
		up_repl_say(r,
			    "%s was removed: processes that run it are traced on; `reload` looks "
			    "for what has come in its place",
			    file->path);
	up_repl_flush(r);
}

bool up_repl_must_look(const struct up_repl *r)
{
	return up_filewatch_must_look(&r->watch);
}

void up_repl_files(struct up_repl *r, bool is_told, uint64_t now)
{
	if (!is_told && !(up_repl_must_look(r) && now - r->files_at >= LOOK_NS))
		return;
	r->files_at = now;
	up_filewatch_look(&r->watch, tell, r);
}

static void pass_over(void *arg, const struct up_watched *file)
{
	(void)arg;
	(void)file;
}

/* How many probed files are no longer what they were. */
static unsigned count_changed(struct up_repl *r)
{
	unsigned nr = 0;

	up_filewatch_look(&r->watch, pass_over, NULL);
	for (size_t i = 0; i < r->watch.nr; i++)
		nr += r->watch.v[i].state != UP_FILE_SAME &&
		      up_plan_probes_file(r->plan, &r->watch.v[i].id);
	return nr;
}

bool up_repl_look_anew(struct up_repl *r, pid_t seen_by)
{
	struct up_elf_resolver *known = r->elf;
	struct up_program same;
	pid_t before = r->seen_by;

	if (!up_program_copy(&r->program, 0, &same)) {
		up_repl_say(r, "out of memory");
		return false;
	}
	r->elf = NULL;
	r->seen_by = seen_by;
	if (!up_program_apply(r, same, NULL)) {
		up_elf_resolver_free(r->elf);
		r->elf = known; /* what was found before is known on */
		r->seen_by = before;
		return false;
	}
	up_elf_resolver_free(known);
	up_names_free(r->names);
	r->names = NULL;
	return true;
}

void up_repl_reload(struct up_repl *r, const char *args)
{
	unsigned before = count_changed(r);

	(void)args;
	if (!up_repl_look_anew(r, r->seen_by))
		return;
	unsigned after = count_changed(r);
	if (before > after)
		up_repl_say(r, "%u %s changed: the probes stand in what is there now",
			    before - after, before - after == 1 ? "file has" : "files have");
	else
		up_repl_say(r, after ? "the probes stay where they are"
				     : "no probed file has changed");
}
