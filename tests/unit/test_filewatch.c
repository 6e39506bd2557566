/*
 * Files that are replaced, removed, written to and brought back, each seen once; and nothing seen,
 * not even a wake-up, while they are left alone.
 */
#include "runtime/filewatch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/attach_event.h"
#include "tests/unit/unit.h"

static char dir[] = "/tmp/up_filewatch_XXXXXX";
static char one[64], two[64], spare[64]; /* paths below it */
static struct up_plan_site sites[5];
static struct up_plan plan = { .sites = sites };
static struct up_filewatch w;
static int held[2] = { -1, -1 }; /* a probed file's number is not used again: the kernel holds it */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void replace(const char *path, const char *text)
{
	write_file(spare, text);
	CHECK(!rename(spare, path));
}

static struct up_file_id id_of(const char *path)
{
	struct stat st;

	CHECK(!stat(path, &st));
	return up_file_id_of(&st);
}

static void add_site(const char *path)
{
	sites[plan.nr_sites++] = (struct up_plan_site){ .path = path, .id = id_of(path) };
}

/* ---- what a look said ---- */

static struct {
	unsigned nr;
	char path[64];
	enum up_file_change state;
	bool is_told;
} said;

static void note(void *arg, const struct up_watched *f)
{
	(void)arg;
	said.nr++;
	snprintf(said.path, sizeof(said.path), "%s", f->path);
	said.state = f->state;
	said.is_told = f->is_told;
}

/* Is there something to look at? */
static bool is_awake(void)
{
	struct pollfd p = { w.fd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

static unsigned look(void)
{
	said.nr = 0;
	up_filewatch_look(&w, note, NULL);
	CHECK(!is_awake());
	return said.nr;
}

static bool looks(const char *path, enum up_file_change state)
{
	CHECK(is_awake());
	return look() == 1 && !strcmp(said.path, path) && said.state == state;
}

static void start(void)
{
	plan.nr_sites = 0;
	write_file(one, "first");
	write_file(two, "second");
	for (int i = 0; i < 2; i++) {
		close(held[i]);
		held[i] = open(i ? two : one, O_PATH | O_CLOEXEC);
	}
	add_site(one);
	add_site(one);
	add_site(two);
	up_filewatch_init(&w, &plan);
	CHECK(w.nr == 2 && w.fd >= 0 && !up_filewatch_must_look(&w) && !is_awake());
}

/* ---- the tests ---- */

static void check_replaced(void)
{
	start();
	replace(one, "other");
	CHECK(looks(one, UP_FILE_REPLACED) && !said.is_told);
	CHECK(look() == 0);
	/* The next one is no news, but it wakes: what could not be followed can be now. */
	replace(one, "another");
	CHECK(is_awake() && look() == 0);
	/* A file beside them concerns nobody, nor does reading. */
	write_file(spare, "x");
	CHECK(!access(two, R_OK) && !is_awake());
	replace(two, "other");
	CHECK(looks(two, UP_FILE_REPLACED));
	up_filewatch_fini(&w);
}

static void check_removed(void)
{
	start();
	CHECK(!unlink(two) && looks(two, UP_FILE_GONE));
	/* Now the folder is watched. */
	write_file(spare, "x");
	CHECK(is_awake() && look() == 0);
	write_file(two, "other");
	CHECK(looks(two, UP_FILE_REPLACED) && said.is_told);
	/* Moved away, and back. */
	CHECK(!rename(one, spare) && looks(one, UP_FILE_GONE));
	CHECK(!rename(spare, one) && looks(one, UP_FILE_SAME));
	/* The folder moves away, with all in it. */
	char away[64];
	snprintf(away, sizeof(away), "%s.away", dir);
	CHECK(!rename(dir, away) && is_awake());
	said.nr = 0;
	CHECK(up_filewatch_look(&w, note, NULL) && said.nr == 2);
	CHECK(!rename(away, dir));
	up_filewatch_fini(&w);
}

static void check_written(void)
{
	static const struct timespec past[2] = { { 1000, 0 }, { 1000, 0 } };

	start();
	CHECK(!utimensat(AT_FDCWD, one, past, 0) && !chmod(one, 0640) && is_awake() && look() == 0);
	write_file(one, "more than before");
	CHECK(looks(one, UP_FILE_WRITTEN));
	int fd = open(one, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK(write(fd, "x", 1) == 1 && !is_awake());
	close(fd);
	CHECK(look() == 0);
	replace(one, "other");
	CHECK(looks(one, UP_FILE_REPLACED) && said.is_told);
	/* One is given another time when the other is written to. */
	up_filewatch_fini(&w);
	start();
	write_file(two, "more than before");
	CHECK(!utimensat(AT_FDCWD, one, past, 0));
	CHECK(looks(two, UP_FILE_WRITTEN));
	up_filewatch_fini(&w);
}

/* After following, the new file is the one that is watched. */
static void check_add(void)
{
	start();
	replace(one, "other");
	CHECK(looks(one, UP_FILE_REPLACED));
	add_site(one);
	up_filewatch_add(&w, &plan, 3);
	CHECK(w.nr == 2 && look() == 0);
	write_file(one, "written to");
	CHECK(looks(one, UP_FILE_WRITTEN) && !said.is_told);
	/* A removed one whose successor has another name. */
	CHECK(!unlink(two) && looks(two, UP_FILE_GONE));
	up_filewatch_add(&w, &plan, plan.nr_sites);
	CHECK(w.nr == 1 && look() == 0);
	up_filewatch_fini(&w);
}

static void write_when_told(void *arg, const struct up_watched *f)
{
	(void)arg;
	(void)f;
	if (said.nr++ == 0)
		write_file(two, "written by somebody else at this moment");
}

/* What happens while one looks is seen, too: here, behind the look at one that has no watch yet. */
static void check_meanwhile(void)
{
	start();
	CHECK(!rename(two, spare) && looks(two, UP_FILE_GONE));
	CHECK(!rename(spare, two) && is_awake());
	said.nr = 0;
	up_filewatch_look(&w, write_when_told, NULL);
	CHECK(said.nr == 2 && w.v[1].state == UP_FILE_WRITTEN);
	up_filewatch_fini(&w);
}

/* Another plan: what was said of its files is not said again. */
static void check_replan(void)
{
	start();
	replace(one, "other");
	write_file(two, "more than before");
	CHECK(is_awake() && look() == 2);
	up_filewatch_replan(&w, &plan);
	CHECK(w.nr == 2 && w.v[0].is_told && look() == 0);
	add_site(one);
	up_filewatch_replan(&w, &plan);
	CHECK(w.nr == 2 && w.v[0].state == UP_FILE_SAME && look() == 0);
	CHECK(w.v[1].state == UP_FILE_WRITTEN);
	/* It was read anew: what is there now is what it should be. */
	add_site(two);
	up_filewatch_replan(&w, &plan);
	CHECK(w.v[1].state == UP_FILE_SAME && !w.v[1].is_told && look() == 0);
	write_file(two, "and more");
	CHECK(looks(two, UP_FILE_WRITTEN));
	plan.nr_sites = 0;
	up_filewatch_replan(&w, &plan);
	CHECK(w.nr == 0 && look() == 0);
	up_filewatch_fini(&w);
}

/* Without inotify: the same, by looking. */
static void check_blind(void)
{
	start();
	close(w.fd);
	w.fd = -1;
	CHECK(up_filewatch_must_look(&w) && look() == 0);
	write_file(two, "more than before");
	CHECK(look() == 1 && said.state == UP_FILE_WRITTEN);
	up_filewatch_fini(&w);
}

/* Between reading the file and defining its sites. */
static void check_files(void)
{
	struct up_status st = { 0 };
	struct up_buf b = { 0 };

	start();
	CHECK(!up_attach_check_files(&plan, 0, &st) && !st.err);
	replace(one, "other");
	CHECK(up_attach_check_files(&plan, 0, &st) == -ESTALE);
	CHECK(!up_attach_check_files(&plan, 2, NULL));
	up_status_render(&st, &b);
	CHECK(b.s && strstr(b.s, one) && strstr(b.s, " was replaced after it had been read"));
	up_buf_fini(&b);
	write_file(two, "more than before");
	CHECK(up_attach_check_files(&plan, 2, NULL) == -ESTALE);
	CHECK(!unlink(two) && up_attach_check_files(&plan, 2, NULL) == -ESTALE);
	sites[2].id = (struct up_file_id){ 0 }; /* not known */
	CHECK(!up_attach_check_files(&plan, 2, NULL));
	up_filewatch_fini(&w);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(one, sizeof(one), "%s/one", dir);
	snprintf(two, sizeof(two), "%s/two", dir);
	snprintf(spare, sizeof(spare), "%s/spare", dir);
	check_replaced();
	check_removed();
	check_written();
	check_add();
	check_replan();
	check_meanwhile();
	check_blind();
	check_files();
	unlink(one);
	unlink(two);
	unlink(spare);
	rmdir(dir);
	return unit_report("filewatch");
}
