/*
 * Files that are mapped can become shorter, for instance when a program is built anew in place. Who
 * reads what is gone is sent SIGBUS. For mappings that are guarded zeros stand there instead, from
 * the page that was read to the mapping's end: what reads files that are not trusted gets along
 * with any bytes. Has state of its own, as signals belong to the process.
 */
#ifndef UP_MAPGUARD_H
#define UP_MAPGUARD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Guards a readable mapping; `at` and the size of its pages as mmap() gave them. False when there
 * are too many: it is not guarded then. Threads may call these and read side by side.
 */
bool up_mapguard_add(const void *at, size_t len);
/* Before it is unmapped; one that is not guarded is passed over. */
void up_mapguard_remove(const void *at);

#endif
