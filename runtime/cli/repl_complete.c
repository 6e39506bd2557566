/* What can stand where the cursor is. */
#include <string.h>

#include "runtime/cli/line.h"
#include "runtime/cli/repl_int.h"

void up_repl_complete(void *arg, const char *line, size_t point, struct up_candidates *out)
{
	(void)arg;
	out->from = point;
	while (out->from && line[out->from - 1] != ' ')
		out->from--;
	for (const struct up_repl_command *c = up_repl_commands; c->name && !out->from; c++)
		if (!strncmp(c->name, line, point))
			up_candidate_add(out, c->name, strlen(c->name));
}
