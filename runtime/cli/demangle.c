/* Demangling by libstdc++'s __cxa_demangle (Itanium C++ ABI, section 6.2.2 of its "abi.h"). */
#include "runtime/cli/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_fn(const char *name, char *buf, size_t *len, int *status);

/* Stays loaded: it is asked for every name of a file. */
static demangle_fn *find_library(void)
{
	static demangle_fn *fn;
	static bool is_tried;

	if (!is_tried) {
		void *lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		void *at = lib ? dlsym(lib, "__cxa_demangle") : NULL;

		memcpy(&fn, &at, sizeof(fn));
		is_tried = true;
	}
	return fn;
}

bool up_can_demangle(void)
{
	return find_library() != NULL;
}

/* Rust's older scheme puts a hash behind the name: "::h" and 16 hexadecimal digits. */
static void cut_rust_hash(char *s)
{
	size_t len = strlen(s), i = len - 16;

	if (len <= 19 || strncmp(s + len - 19, "::h", 3))
		return;
	while (i < len && isxdigit((unsigned char)s[i]))
		i++;
	if (i == len)
		s[len - 19] = 0;
}

char *up_demangle(const char *name)
{
	int status = -1;

	if (strncmp(name, "_Z", 2) || !find_library())
		return NULL;
	char *s = find_library()(name, NULL, NULL, &status);
	if (status || !s) {
		free(s);
		return NULL;
	}
	cut_rust_hash(s);
	return s;
}
