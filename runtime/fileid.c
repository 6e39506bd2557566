/* Telling files apart. */
#include "runtime/fileid.h"

struct up_file_id up_file_id_of(const struct stat *st)
{
	return (struct up_file_id){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.written = st->st_mtim.tv_sec * (int64_t)1000000000 + st->st_mtim.tv_nsec,
	};
}

enum up_file_change up_file_id_compare(const struct up_file_id *was, const struct up_file_id *now)
{
	if (!up_file_id_is_same(now, was))
		return UP_FILE_REPLACED;
	return now->size == was->size && now->written == was->written ? UP_FILE_SAME
								      : UP_FILE_WRITTEN;
}

enum up_file_change up_file_id_check(const char *path, const struct up_file_id *id,
				     struct up_file_id *now)
{
	struct stat st;

	*now = (struct up_file_id){ 0 };
	if (!id->ino)
		return UP_FILE_SAME;
	if (stat(path, &st) < 0)
		return UP_FILE_GONE;
	*now = up_file_id_of(&st);
	return up_file_id_compare(id, now);
}
