/*
 * Which file stands at a path: told by device and inode number, size and time of the last write.
 * The compiler notes it when it reads a file; whether it still holds is asked later.
 */
#ifndef UP_FILEID_H
#define UP_FILEID_H

#include <sys/stat.h>

#include "lang/resolve.h"

enum up_file_change {
	UP_FILE_SAME,
	UP_FILE_WRITTEN,  /* the same file, but it was written to */
	UP_FILE_REPLACED, /* another file has that name now */
	UP_FILE_GONE      /* nothing has that name any more, or it cannot be looked at */
};

struct up_file_id up_file_id_of(const struct stat *st);

/* What became of the file that was `was` if `now` stands in its place. */
enum up_file_change up_file_id_compare(const struct up_file_id *was, const struct up_file_id *now);

/* What became of the file that was `id` at that path; *now is what stands there. */
enum up_file_change up_file_id_check(const char *path, const struct up_file_id *id,
				     struct up_file_id *now);

#endif
