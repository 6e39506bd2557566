/*
 * What the keeper and its parent say to each other over their socket. Internal to the two.
 */
#ifndef UP_KEEPER_WIRE_H
#define UP_KEEPER_WIRE_H

#include <stdint.h>
#include <sys/types.h>

#include "runtime/keeper.h"

enum up_wire_op {
	UP_WIRE_BEGIN,   /* name: session; -EEXIST: choose another */
	UP_WIRE_ADOPT,   /* name: session, data "1": it is ours */
	UP_WIRE_DEFINE,  /* data: lines */
	UP_WIRE_SET,     /* name: file in the instance, data: value */
	UP_WIRE_FREE,    /* the instance records events of all threads again */
	UP_WIRE_ENABLE,  /* name: event */
	UP_WIRE_DISABLE, /* name: event */
	UP_WIRE_FILTER,  /* name: event, data: filter */
	UP_WIRE_REMOVE,  /* name: event; answers with a line when it is left */
	UP_WIRE_READ,    /* name: path; answers with the content */
	UP_WIRE_UNDO,    /* answers with a line for each thing left */
	UP_WIRE_COUNT
};

#define UP_WIRE_NAME_MAX UP_TRACEFS_PATH_MAX
#define UP_WIRE_DATA_MAX (UP_KEEPER_DEFINE_MAX + 8192u)

/* Stands before each request and each answer; name and data follow. */
struct up_wire_head {
	uint32_t seq;      /* of the request; an answer repeats it */
	uint32_t op;       /* enum up_wire_op */
	int32_t err;       /* of an answer */
	uint32_t name_len; /* bytes; 0 in an answer */
	uint32_t data_len; /* bytes */
};

/* What the helper process runs, to its end. `parent` is watched besides the socket. */
_Noreturn void up_keeper_serve(int fd, pid_t parent, const struct up_tracefs *fs, unsigned busy_ms);

#endif
