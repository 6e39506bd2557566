/* dlopen(3) and a table of functions. */
#include "runtime/lateload.h"

#include <dlfcn.h>
#include <string.h>

void *up_late_load(const char *soname, const struct up_late_function *functions, size_t nr,
		   void *table)
{
	void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; lib && i < nr; i++) {
		void *at = dlsym(lib, functions[i].name);

		if (!at) {
			dlclose(lib);
			return NULL;
		}
		memcpy((char *)table + functions[i].offset, &at, sizeof(at));
	}
	return lib;
}
