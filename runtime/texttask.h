/* The two life-cycle events of threads in trace text: task_newtask, sched_process_exit. */
#ifndef UP_TEXTTASK_H
#define UP_TEXTTASK_H

#include "runtime/textargs.h"

struct up_texttask {
	int32_t tid;    /* the new thread, or the one that ends */
	uint64_t flags; /* of a new one: clone_flags */
};

/* What stands behind the event's name. UP_TEXTARGS_OPEN: perhaps the name has a newline. */
enum up_textargs_result up_texttask_born(const char *s, size_t len, struct up_texttask *t);
enum up_textargs_result up_texttask_died(const char *s, size_t len, struct up_texttask *t);

#endif
