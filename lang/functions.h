/*
 * The built-in functions of expressions. One row each: checker, code generator, machine and the
 * reference read the same rows.
 */
#ifndef UP_FUNCTIONS_H
#define UP_FUNCTIONS_H

#include "lang/base/text.h"
#include "lang/value.h"

enum up_fn {
	FN_MIN,
	FN_MAX,
	FN_ABS,
	FN_BUCKET,
	FN_LEN,
	FN_SUBSTR,
	FN_INDEX,
	FN_SPLIT,
	FN_LOWER,
	FN_UPPER,
	FN_TRIM,
	FN_BASENAME,
	FN_DIRNAME,
	FN_DEC,
	FN_INT,
	FN_HEX,
	FN_STRFTIME,
	FN_SYM,
	FN_REPEAT,
	FN_NTOHS,
	FN_NTOHL,
	FN_NTOP,
	FN_JOIN, /* `a + b` of strings: it has no name */
	FN_COUNT
};

/* How a function of numbers takes them: struct up_insn.d of OP_CALL. */
enum up_fn_kind { UP_FN_SIGNED, UP_FN_UNSIGNED, UP_FN_FLOAT };

struct up_fn_row {
	const char *name; /* NULL: it is not called by a name */
	const char *form; /* as it is written: "substr(s, from, n)" */
	uint8_t min_args, max_args;
	/* A letter for each argument, the last one for all that follow: n number, i integer, s
	 * string, b string or bytes, y bytes. */
	const char *args;
	/* 'n' as the arguments together, '1' as the first one but 64 bits wide, 'i' a signed
	 * integer, 's' a string */
	char result;
	const char *help;
};

extern const struct up_fn_row up_fn_rows[FN_COUNT];

/* NULL when there is none of this name. */
const struct up_fn_row *up_fn_find(const char *name);

#endif
