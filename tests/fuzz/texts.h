/* An input of the fuzzers that is cut at zero bytes into a script and up to three modules. */
#ifndef UP_TESTS_FUZZ_TEXTS_H
#define UP_TESTS_FUZZ_TEXTS_H

#include <string.h>

#include "lang/modules.h"

#define NR_TEXTS 4 /* the script, and modules a, b and c */

struct texts {
	const char *text[NR_TEXTS];
	size_t len[NR_TEXTS];
};

static inline void cut_texts(struct texts *t, const char *s, size_t size)
{
	for (unsigned i = 0; i < NR_TEXTS; i++) {
		const char *end = i + 1 < NR_TEXTS && size ? memchr(s, 0, size) : NULL;

		t->text[i] = s;
		t->len[i] = end ? (size_t)(end - s) : size;
		s += t->len[i] + (end != NULL);
		size -= t->len[i] + (end != NULL);
	}
}

/* A module of this name; the script itself can be used as one, too. */
static inline bool load_text(void *ctx, const char *from, const char *name, bool is_path,
			     struct up_module_text *out, struct up_why *why)
{
	static const char *const names[] = { "script", "a", "b", "c" };
	const struct texts *t = ctx;

	(void)from;
	(void)is_path;
	for (unsigned i = 0; i < NR_TEXTS; i++)
		if (!strcmp(names[i], name) && t->len[i] <= UP_MODULE_MAX) {
			*out = (struct up_module_text){ names[i], names[i], t->text[i], t->len[i] };
			return true;
		}
	up_buf_puts(&why->msg, "there is no such module");
	return false;
}

static inline bool has_text(void *ctx, const char *name)
{
	(void)ctx;
	return *name == 'a';
}

#endif
