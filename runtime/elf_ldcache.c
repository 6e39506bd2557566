/* Reading ld.so.cache. The structures are glibc's sysdeps/generic/dl-cache.h. */
#include "runtime/elf_ldcache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SIZE (32u << 20) /* bytes of a cache that is believed to be one */
#define MAGIC "glibc-ld.so.cache1.1"
#define OLD_MAGIC "ld.so-1.7.0"

struct header {
	char magic[20];            /* MAGIC, without its NUL */
	uint32_t nr;               /* entries */
	uint32_t strings;          /* bytes of text behind them */
	uint8_t flags;             /* low two bits: 0 unset, 2 little endian, 3 big endian */
	uint8_t padding[3];        /* nothing */
	uint32_t extension_offset; /* more tables, which are not needed here */
	uint32_t unused[3];        /* nothing */
};

struct entry {
	int32_t flags;      /* kind of library; the file itself tells better */
	uint32_t key;       /* the name: offset from the header */
	uint32_t value;     /* the path: likewise */
	uint32_t osversion; /* not used any more */
	uint64_t hwcap;     /* processor features; the path tells */
};

static bool read_file(const char *path, struct up_ldcache *out)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	bool is_ok =
		!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= MAX_SIZE;
	if (is_ok) {
		out->bytes = malloc((size_t)st.st_size + 1);
		ssize_t n = out->bytes ? read(fd, out->bytes, (size_t)st.st_size) : -1;

		is_ok = n >= 0;
		out->len = is_ok ? (size_t)n : 0;
		if (is_ok)
			out->bytes[n] = 0;
	}
	close(fd);
	return is_ok;
}

/* The new format may stand behind the old one, which older linkers read. */
static bool find_base(struct up_ldcache *c)
{
	const char *at = c->bytes;

	if (c->len >= sizeof(OLD_MAGIC) && !memcmp(at, OLD_MAGIC, sizeof(OLD_MAGIC) - 1))
		at = memmem(c->bytes, c->len, MAGIC, sizeof(MAGIC) - 1);
	if (!at)
		return false;
	c->base = (size_t)(at - c->bytes);
	return c->len - c->base >= sizeof(struct header) && !memcmp(at, MAGIC, sizeof(MAGIC) - 1);
}

static bool check_header(struct up_ldcache *c)
{
	const uint8_t native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 2 : 3;
	struct header h;

	if (!find_base(c))
		return false;
	memcpy(&h, c->bytes + c->base, sizeof(h));
	if ((h.flags & 3) != 0 && (h.flags & 3) != native)
		return false;
	size_t room = (c->len - c->base - sizeof(h)) / sizeof(struct entry);
	c->nr = h.nr < room ? h.nr : (uint32_t)room;
	return true;
}

bool up_ldcache_load(const char *path, struct up_ldcache *out)
{
	*out = (struct up_ldcache){ 0 };
	if (read_file(path, out) && check_header(out))
		return true;
	up_ldcache_fini(out);
	return false;
}

void up_ldcache_fini(struct up_ldcache *c)
{
	free(c->bytes);
	*c = (struct up_ldcache){ 0 };
}

bool up_ldcache_entry(const struct up_ldcache *c, uint32_t i, const char **name, const char **path)
{
	struct entry e;
	size_t room = c->len - c->base;

	if (i >= c->nr)
		return false;
	memcpy(&e, c->bytes + c->base + sizeof(struct header) + i * sizeof(e), sizeof(e));
	if (e.key >= room || e.value >= room)
		return false;
	*name = c->bytes + c->base + e.key;
	*path = c->bytes + c->base + e.value;
	return **name && **path == '/';
}
