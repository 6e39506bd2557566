/*
 * Values and their types, as the checker, the plan and the runtime share them.
 */
#ifndef UP_VALUE_H
#define UP_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum up_ty {
	TY_NONE,  /* no value: an action */
	TY_INT,   /* 64-bit integer */
	TY_FLOAT, /* IEEE double */
	TY_STR,   /* bytes with a length */
	TY_POISON /* of an expression that already got its diagnostic */
};

enum up_show { /* how an integer is shown */
	       UP_SHOW_DEC,
	       UP_SHOW_HEX,
	       UP_SHOW_CHAR,
	       UP_SHOW_BOOL
};

struct up_type {
	enum up_ty ty;
	enum up_show show; /* of TY_INT */
	uint8_t bits;      /* of TY_INT: 8, 16, 32, 64: what the value was cut to */
	bool is_signed;    /* of TY_INT */
};

#define UP_TYPE_S64 ((struct up_type){ TY_INT, UP_SHOW_DEC, 64, true })
#define UP_TYPE_U64 ((struct up_type){ TY_INT, UP_SHOW_DEC, 64, false })
#define UP_TYPE_X64 ((struct up_type){ TY_INT, UP_SHOW_HEX, 64, false })
#define UP_TYPE_BOOL ((struct up_type){ TY_INT, UP_SHOW_BOOL, 64, true })
#define UP_TYPE_STR ((struct up_type){ TY_STR, UP_SHOW_DEC, 0, false })
#define UP_TYPE_FLOAT ((struct up_type){ TY_FLOAT, UP_SHOW_DEC, 64, true })
#define UP_TYPE_POISON ((struct up_type){ TY_POISON, UP_SHOW_DEC, 64, false })
#define UP_TYPE_NONE ((struct up_type){ TY_NONE, UP_SHOW_DEC, 0, false })

enum up_flag {
	UP_VALUE_FAULT = 1, /* it could not be read: unequal to all, shown as (fault) */
	UP_VALUE_CUT = 2    /* a string that was longer than what could be read */
};

/* One value; its type stands in the plan. A string is borrowed: it lives until the handler returns.
 */
struct up_value {
	union {
		uint64_t u; /* integers, also signed ones (two's complement) */
		int64_t s;
		double f;
		const char *p; /* the bytes of a string, not NUL-terminated */
	};
	uint32_t len;   /* bytes of a string */
	uint32_t flags; /* enum up_flag */
};

#endif
