/* The rows of values. */
#include "lang/values.h"

#include <string.h>

#define X64                                       \
	{                                         \
		TY_INT, UP_SHOW_HEX, 64, false, 0 \
	}
#define S64                                      \
	{                                        \
		TY_INT, UP_SHOW_DEC, 64, true, 0 \
	}
#define NS(sgn)                                 \
	{                                       \
		TY_INT, UP_SHOW_NS, 64, sgn, 0 \
	}
#define STR                                      \
	{                                        \
		TY_STR, UP_SHOW_DEC, 0, false, 0 \
	}

const struct up_val_row up_val_rows[VAL_COUNT] = {
	{ "ip", VAL_IP, X64, UP_IN_PROBE,
	  "instruction pointer; on return, where the call returns to" },
	{ "sp", VAL_SP, X64, UP_IN_PROBE, "stack pointer" },
	{ "stack", VAL_STACK, X64, UP_IN_PROBE,
	  "address of the stack's top; stack[N] is its Nth word" },
	{ "retval", VAL_RETVAL, S64, UP_IN_PROBE | UP_IN_RETURN, "the return value" },
	{ "comm", VAL_COMM, STR, UP_IN_PROBE, "name of the thread" },
	{ "pid", VAL_PID, S64, UP_IN_PROBE, "process id" },
	{ "tid", VAL_TID, S64, UP_IN_PROBE, "thread id" },
	{ "cpu", VAL_CPU, S64, UP_IN_PROBE, "processor" },
	{ "time", VAL_TIME, NS(false), UP_IN_PROBE | UP_ANYWHERE, "ns since boot (CLOCK_MONOTONIC)" },
	{ "probe", VAL_PROBE, STR, UP_IN_PROBE, "the probe's name, or object:function" },
	{ "func", VAL_FUNC, STR, UP_IN_PROBE, "name of the probed function" },
	{ "object", VAL_OBJECT, STR, UP_IN_PROBE, "name of the probed program or library" },
	{ "offset", VAL_OFFSET, STR, UP_IN_PROBE, "place within the function: +0x12" },
	{ "elapsed", VAL_ELAPSED, NS(true), UP_IN_PROBE | UP_IN_RETURN, "ns since this call's entry" },
	{ "depth", VAL_DEPTH, S64, UP_IN_PROBE | UP_IN_RETURN,
	  "recursion depth of this call, from 0" },
	{ "ustack", VAL_USTACK, STR, UP_IN_PROBE | UP_LATER, "the user call stack" },
};

const struct up_val_row *up_val_find(const char *name)
{
	for (unsigned i = 0; i < VAL_COUNT; i++)
		if (!strcmp(up_val_rows[i].name, name))
			return &up_val_rows[i];
	return NULL;
}

bool up_val_arg(const char *name, unsigned *n)
{
	unsigned v = 0;

	if (strncmp(name, "arg", 3) || !name[3] || (name[3] == '0' && name[4]))
		return false;
	for (const char *s = name + 3; *s; s++) {
		if (*s < '0' || *s > '9' || s - name > 4)
			return false;
		v = v * 10 + (unsigned)(*s - '0');
	}
	*n = v;
	return v < 64;
}
