/*
 * C is what is left when nothing speaks of another language. C code has cleanups too, for the
 * cancellation of threads; but its tables have no types to catch.
 */
#include "runtime/elf_risk.h"

#include <elf.h>
#include <string.h>

#include "lang/demangle.h"
#include "runtime/elf_unwind.h"

/* What runtimes of languages with exceptions define, and what their code imports. */
static const char *const functions[] = {
	"__gxx_personality_v0",  "__gxx_personality_sj0",
	"__cxa_throw",           "__cxa_rethrow",
	"__cxa_begin_catch",     "_Unwind_RaiseException",
	"rust_eh_personality",   "__gnat_personality_v0",
	"__objc_personality_v0", "__gnu_objc_personality_v0",
	"objc_exception_throw",  "_d_eh_personality",
	"__gdc_personality_v0",
};

/* Beginnings of the names of such runtimes. */
static const char *const libraries[] = {
	"libstdc++.so", "libc++.so",  "libc++abi.so", "libsupc++.so",
	"libgnat-",     "libobjc.so", "libstd-",      "libphobos2.so",
};

/* What switches stacks: of libc, of Boost. A library that has them for others uses none itself. */
static const char *const switchers[] = {
	"swapcontext", "makecontext", "jump_fcontext", "make_fcontext", "ontop_fcontext",
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static bool is_telling(const char *name)
{
	if (up_is_mangled(name))
		return true;
	for (size_t i = 0; i < NR(functions); i++)
		if (!strcmp(functions[i], name))
			return true;
	return false;
}

static bool note_telling(void *arg, const char *name)
{
	const char **found = arg;

	if (!is_telling(name))
		return true;
	*found = name;
	return false;
}

/* A function of another language than C, or NULL. */
static const char *find_function(struct up_elf_symbols *s)
{
	const char *found = NULL;

	up_elf_symbols_each_name(s, note_telling, &found);
	return found;
}

struct switching {
	struct up_elf_symbols *s;
	const char *found;
};

static bool note_switcher(void *arg, const char *name)
{
	struct switching *w = arg;
	size_t len = strcspn(name, "@");

	for (size_t i = 0; i < NR(switchers); i++)
		if (strlen(switchers[i]) == len && !strncmp(switchers[i], name, len) &&
		    !up_elf_symbols_export(w->s, switchers[i]))
			w->found = switchers[i];
	return !w->found;
}

/* A function that it switches stacks by, or NULL. */
static const char *find_switcher(struct up_elf_symbols *s)
{
	struct switching w = { .s = s };

	up_elf_symbols_each_name(s, note_switcher, &w);
	return w.found;
}

static const char *find_library(struct up_elf_symbols *s)
{
	const struct up_elf_dynamic *d = up_elf_symbols_dynamic(s);
	const char *name;

	for (unsigned n = 0; (name = up_elf_needed(d, n)); n++)
		for (size_t i = 0; i < NR(libraries); i++)
			if (!strncmp(name, libraries[i], strlen(libraries[i])))
				return name;
	return NULL;
}

static enum up_return_risk of_exceptions(const struct up_elf *e, struct up_elf_symbols *s,
					 struct up_buf *why)
{
	const char *name;

	if ((name = find_library(s)))
		up_buf_printf(why, "exceptions can cross its frames: it needs %s", name);
	else if ((name = find_function(s)))
		up_buf_printf(why, "exceptions can cross its frames: it defines or uses %s", name);
	else if (up_elf_has_handlers(e))
		up_buf_puts(why, "exceptions can cross its frames: it handles some");
	else
		return UP_RETURN_SAFE;
	return UP_RETURN_EXCEPTIONS;
}

enum up_return_risk up_elf_return_risk(const struct up_elf *e, struct up_elf_symbols *s,
				       struct up_buf *why)
{
	enum up_return_risk risk = of_exceptions(e, s, why);
	const char *name = risk == UP_RETURN_SAFE ? find_switcher(s) : NULL;

	if (!name)
		return risk;
	up_buf_printf(why, "it switches stacks, by %s", name);
	return UP_RETURN_STACKS;
}
