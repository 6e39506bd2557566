/*
 * Reading a file as a whole.
 */
#ifndef UP_CLI_READFILE_H
#define UP_CLI_READFILE_H

#include <stddef.h>

#include "lang/base/buf.h"

/* Appends the rest of a file to *text. 0 or -errno: -EFBIG when there is more than `max` bytes. */
int up_read_rest(int fd, size_t max, struct up_buf *text);

#endif
