/* Files that both the plan and this process use. */
#include "runtime/selfmap.h"

#include <link.h>
#include <string.h>
#include <sys/stat.h>

static bool is_probed(const struct up_plan *plan, const char *file)
{
	const char *last = "";
	struct stat mine, sb;

	if (stat(file, &mine))
		return false; /* the vdso, and what has no file cannot be probed */
	for (uint32_t i = 0; i < plan->nr_sites; i++) {
		const char *path = plan->sites[i].path;

		if (!strcmp(path, last)) /* sites of one file stand together */
			continue;
		last = path;
		if (stat(path, &sb) || (sb.st_dev == mine.st_dev && sb.st_ino == mine.st_ino))
			return true;
	}
	return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *plan)
{
	(void)size;
	return is_probed(plan, *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
}

bool up_selfmap_hits(const struct up_plan *plan)
{
	return dl_iterate_phdr(look, (void *)plan);
}
