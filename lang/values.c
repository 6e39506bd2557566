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
#define NS(sgn)                                \
	{                                      \
		TY_INT, UP_SHOW_NS, 64, sgn, 0 \
	}
#define STR                                      \
	{                                        \
		TY_STR, UP_SHOW_DEC, 0, false, 0 \
	}

const struct up_val_form up_val_forms[] = {
	{ "arg", "arg0, arg1 ... arg63", "s64",
	  "the call's integer and pointer arguments by the platform's rules: registers first (6 on "
	  "x86-64, 8 on arm64, none on 32-bit x86), then the stack. Floating-point arguments do "
	  "not "
	  "count. Inside a function the registers may hold something else; a warning says so" },
	{ "reg", "reg.NAME", "x64", "a register now" },
	{ "stack", "stack[N]", "x64",
	  "the Nth word of the stack, N a constant from 0 to 4095; on x86 `stack[0]` at the entry "
	  "is "
	  "the return address" },
	{ "@", "@ADDRESS", "x64", "the memory there; with a type behind it, as much as that says" },
	{ "fetch", "fetch(\"TEXT\")", "as TEXT says",
	  "a fetch argument of the kernel, word for word: `fetch(\"+8(%di):u32\")`; x64 when it "
	  "gives no type" },
	{ "entry", "entry.X", "as X", "what X was at the entry; `on return` only" },
	{ "thread", "thread.NAME", "", "a variable of the thread" },
	{ "call", "call.NAME", "", "a variable of the call: set at the entry, read at the return" },
	{ NULL, NULL, NULL, NULL },
};

const struct up_val_row up_val_rows[VAL_COUNT] = {
	{ "ip", VAL_IP, X64, UP_IN_PROBE,
	  "the instruction pointer; on return, where the call returns to" },
	{ "sp", VAL_SP, X64, UP_IN_PROBE, "the stack pointer" },
	{ "stack", VAL_STACK, X64, UP_IN_PROBE, "the address of the stack's top" },
	{ "retval", VAL_RETVAL, S64, UP_IN_PROBE | UP_IN_RETURN,
	  "the return value; `on return` only" },
	{ "comm", VAL_COMM, STR, UP_IN_PROBE, "the name of the thread, at most 15 bytes" },
	{ "pid", VAL_PID, S64, UP_IN_PROBE, "the process" },
	{ "tid", VAL_TID, S64, UP_IN_PROBE, "the thread" },
	{ "cpu", VAL_CPU, S64, UP_IN_PROBE, "the processor" },
	{ "time", VAL_TIME, NS(false), UP_IN_PROBE | UP_ANYWHERE,
	  "nanoseconds since boot (`CLOCK_MONOTONIC`)" },
	{ "probe", VAL_PROBE, STR, UP_IN_PROBE, "the probe's name, or `object:function`" },
	{ "func", VAL_FUNC, STR, UP_IN_PROBE, "the function" },
	{ "object", VAL_OBJECT, STR, UP_IN_PROBE, "the program or library" },
	{ "offset", VAL_OFFSET, STR, UP_IN_PROBE, "the place within the function: `\"+0x12\"`" },
	{ "elapsed", VAL_ELAPSED, NS(true), UP_IN_PROBE | UP_IN_RETURN,
	  "nanoseconds since this call's entry; `on return` only" },
	{ "depth", VAL_DEPTH, S64, UP_IN_PROBE | UP_IN_RETURN,
	  "how many calls of the same probe are open below this one in the thread, 0 for the "
	  "outermost; `on return` only" },
	{ "ustack", VAL_USTACK, STR, UP_IN_PROBE | UP_LATER,
	  "the user call stack; not in this version" },
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
