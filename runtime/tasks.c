/* The counts are those of /proc/stat, /proc/loadavg and, of zombies, /proc/PID/stat. */
#include "runtime/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static bool read_born(uint64_t *born)
{
	FILE *f = fopen("/proc/stat", "re");
	char line[256];
	unsigned long long n;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "processes %llu", &n) == 1;
	if (f)
		fclose(f);
	if (found)
		*born = n;
	return found;
}

static bool read_alive(uint64_t *alive)
{
	FILE *f = fopen("/proc/loadavg", "re");
	unsigned long long n;
	bool found = f && fscanf(f, "%*s %*s %*s %*[0-9]/%llu", &n) == 1;

	if (f)
		fclose(f);
	if (found)
		*alive = n;
	return found;
}

void up_tasks_read(struct up_tasks *t)
{
	*t = (struct up_tasks){ 0 };
	t->known = read_born(&t->born) && read_alive(&t->alive);
}

/* Has the process ended, though its parent does not know yet? */
static bool is_zombie(const char *pid)
{
	char path[40], stat[128];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	len = fread(stat, 1, sizeof(stat) - 1, f);
	fclose(f);
	stat[len] = 0;
	/* The state stands behind the name, which may hold anything. */
	const char *end = strrchr(stat, ')');
	return end && !strncmp(end, ") Z", 3);
}

static uint64_t count_zombies(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	uint64_t nr = 0;

	while (d && (e = readdir(d)))
		nr += isdigit((unsigned char)e->d_name[0]) && is_zombie(e->d_name);
	if (d)
		closedir(d);
	return nr;
}

uint64_t up_tasks_since(const struct up_tasks *earlier)
{
	struct up_tasks t;

	up_tasks_read(&t);
	if (!earlier->known || !t.known || t.born < earlier->born)
		return UINT64_MAX;
	uint64_t born = t.born - earlier->born;
	uint64_t ended = earlier->alive + born + count_zombies();

	return born + (ended > t.alive ? ended - t.alive : 0);
}
