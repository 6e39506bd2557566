#include "runtime/sysctl.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/tracefs.h"

bool up_sysctl_is_set(const char *dir, const char *name)
{
	struct up_buf text = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/proc/sys/kernel", name);
	bool is = !up_tracefs_real_ops.read(NULL, path, &text) && text.s && atoi(text.s);
	up_buf_fini(&text);
	return is;
}
