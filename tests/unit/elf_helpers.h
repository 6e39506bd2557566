/* What the tests of ELF files share: asking the resolver, noting what it says, damaging files. */
#ifndef UP_TESTS_ELF_HELPERS_H
#define UP_TESTS_ELF_HELPERS_H

#include <stdlib.h>

#include "runtime/resolver.h"
#include "tests/unit/unit.h"

static struct up_why why;

static inline bool says(const char *part)
{
	bool yes = why.msg.s && strstr(why.msg.s, part);

	if (!yes)
		fprintf(stderr, "message: %s\n", why.msg.s ? why.msg.s : "none");
	return yes;
}

static inline bool hints(const char *part)
{
	return why.hint.s && strstr(why.hint.s, part);
}

/* What a walk found. */
struct found {
	unsigned nr;           /* symbols */
	struct up_symbol last; /* the latest */
	uint64_t want;         /* an address to look out for */
	bool has_want;         /* it came by */
	unsigned stop_at;      /* stop the walk at so many; 0: never */
};

static inline bool note(void *arg, const struct up_symbol *s)
{
	struct found *f = arg;

	f->nr++;
	f->last = *s;
	if (s->addr == f->want)
		f->has_want = true;
	return f->nr != f->stop_at;
}

static struct up_elf_resolver *resolver;
static const struct up_resolver *up;

static inline const struct up_object *open_object(const char *name)
{
	const struct up_object *o = up->open(up->ctx, name, &why);

	if (!o)
		fprintf(stderr, "%s: %s\n", name, why.msg.s);
	CHECK(o);
	return o;
}

static inline bool run(const char *command)
{
	return system(command) == 0;
}

static uint64_t rng;

static inline uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static inline unsigned char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	unsigned char *b = malloc(1 << 22);

	*size = f ? fread(b, 1, 1 << 22, f) : 0;
	if (f)
		fclose(f);
	return b;
}

/* Changes some bytes, mostly where headers and tables are. */
static inline void damage(unsigned char *b, size_t size)
{
	static const unsigned char odd[] = { 0, 1, 0x7f, 0x80, 0xff, 0xfe };
	unsigned nr = 1 + next_random() % 12;

	while (nr--) {
		uint64_t r = next_random();
		size_t range = r & 1 ? (size < 4096 ? size : 4096) : size;
		size_t at = next_random() % range;

		if (r & 2 && size > 4096)
			at = size - 1 - next_random() % 2048;
		b[at] = r & 4 ? odd[(r >> 8) % sizeof(odd)] : (unsigned char)(r >> 16);
	}
}

#endif
