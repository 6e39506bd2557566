/*
 * The values a block can ask for by name. One row each: checker, code generator, completion and
 * the reference read the same row.
 */
#ifndef UP_VALUES_H
#define UP_VALUES_H

#include "lang/base/text.h"
#include "lang/value.h"

enum up_val {
	VAL_IP,
	VAL_SP,
	VAL_STACK,
	VAL_RETVAL,
	VAL_COMM,
	VAL_PID,
	VAL_TID,
	VAL_CPU,
	VAL_TIME,
	VAL_PROBE,
	VAL_FUNC,
	VAL_OBJECT,
	VAL_OFFSET,
	VAL_ELAPSED,
	VAL_DEPTH,
	VAL_USTACK,
	VAL_COUNT
};

enum up_val_where {
	UP_IN_PROBE = 1,  /* in the blocks of a probe */
	UP_IN_RETURN = 2, /* in `on return` only */
	UP_LATER = 4,     /* understood, but not to be had in this version */
	UP_ANYWHERE = 8   /* also in `on start`, `on end` and `on every`, where there is no hit */
};

struct up_val_row {
	const char *name;
	enum up_val val;
	struct up_type type;
	unsigned where;   /* enum up_val_where */
	const char *help; /* one phrase */
};

extern const struct up_val_row up_val_rows[VAL_COUNT];

/* Values that are no single name, for the reference; ends with a NULL form. */
struct up_val_form {
	const char *name; /* to look it up: "reg" */
	const char *form; /* as it is written: "reg.NAME" */
	const char *type;
	const char *help;
};

extern const struct up_val_form up_val_forms[];

/* NULL when it is none. */
const struct up_val_row *up_val_find(const char *name);
/* "arg0", "arg12": true and the number. At most 63. */
bool up_val_arg(const char *name, unsigned *n);

#endif
