/*
 * The dynamic linker's list of libraries, /etc/ld.so.cache (ldconfig(8); the format
 * "glibc-ld.so.cache1.1", alone or behind the old "ld.so-1.7.0" one). Nothing in it is believed.
 */
#ifndef UP_ELF_LDCACHE_H
#define UP_ELF_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct up_ldcache {
	char *bytes; /* the file, and a NUL behind it */
	size_t len;  /* its length */
	size_t base; /* where the new format starts: offsets count from here */
	uint32_t nr; /* entries; all lie inside the file */
};

/* False when there is none, or nothing in it can be understood. */
bool up_ldcache_load(const char *path, struct up_ldcache *out);
void up_ldcache_fini(struct up_ldcache *c);

/* Entry i < nr: the library's name and its path, both NUL-terminated; false when it is broken. */
bool up_ldcache_entry(const struct up_ldcache *c, uint32_t i, const char **name, const char **path);

#endif
