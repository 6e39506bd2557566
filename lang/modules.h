/*
 * Where modules come from. The compiler asks for a text; the runtime finds and reads the file, the
 * tests answer from a folder of their own.
 */
#ifndef UP_MODULES_H
#define UP_MODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "lang/base/text.h"
#include "lang/resolve.h"

#define UP_MODULE_MAX (1u << 20) /* bytes in one module */
#define UP_MODULES_MAX 100       /* modules in one program */

struct up_module_text {
	const char *id;   /* one for each file, whatever way led there */
	const char *name; /* as shown in diagnostics: a path */
	const char *text; /* the bytes */
	size_t len;       /* at most UP_MODULE_MAX */
};

struct up_modules {
	void *ctx;

	/*
	 * The module that `use NAME`, or with is_path `use "NAME"`, means in the file `from` (an
	 * id, or NULL for a program that is no file). What *out points to lives as long as ctx.
	 * False with *why when there is none, or it cannot be read.
	 */
	bool (*load)(void *ctx, const char *from, const char *name, bool is_path,
		     struct up_module_text *out, struct up_why *why);

	/* Is there a module of that name that every script can use? */
	bool (*has)(void *ctx, const char *name);
};

#endif
