/*
 * Finding and reading modules, each once: beside the file that uses them, in the folders of
 * $UPTICK_PATH, and among those that are built in.
 */
#ifndef UP_CLI_MODULES_H
#define UP_CLI_MODULES_H

#include <limits.h>

#include "lang/modules.h"
#include "runtime/recording.h"

/* A module that is part of the program: stdlib/NAME.up. */
struct up_builtin_module {
	const char *name; /* NULL ends the list */
	const char *text;
	size_t len;
};
extern const struct up_builtin_module up_builtin_modules[];

struct up_module_finder;

/* NULL when there is no memory. */
struct up_module_finder *up_module_finder_new(void);
void up_module_finder_free(struct up_module_finder *m);
/* What the compiler asks; lives as long as the finder. */
const struct up_modules *up_module_finder_iface(struct up_module_finder *m);
/* Calls fn for each `use` that was answered so far. */
void up_module_finder_each(const struct up_module_finder *m,
			   void (*fn)(void *arg, const struct up_rec_module *used), void *arg);
/*
 * The id of the script: its real place, which modules beside it are looked for from. False when it
 * is no file that stays where it is; then they are looked for in the current folder.
 */
bool up_module_finder_script(const char *path, char real[PATH_MAX]);

#endif
