/*
 * Values and their types, as the checker, the plan and the runtime share them.
 */
#ifndef UP_VALUE_H
#define UP_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum up_ty {
	TY_NONE,   /* no value: an action */
	TY_INT,    /* 64-bit integer */
	TY_FLOAT,  /* IEEE double */
	TY_STR,    /* text: bytes with a length */
	TY_BYTES,  /* bytes with a length, shown as hexadecimal digits */
	TY_ARRAY,  /* `count` elements, one behind the other as they lie in memory */
	TY_POISON, /* of an expression that already got its diagnostic */
	TY_UNKNOWN /* of a variable of which nothing is known yet; never in a plan */
};

enum up_show { /* how an integer, or an element of an array, is shown */
	       UP_SHOW_DEC,
	       UP_SHOW_HEX,
	       UP_SHOW_CHAR,
	       UP_SHOW_BOOL,
	       UP_SHOW_FLOAT, /* of elements only: they are IEEE floats of 32 or 64 bits */
	       UP_SHOW_NS     /* a time or duration in ns: a plain number; tables give it a unit */
};

struct up_type {
	enum up_ty ty;
	enum up_show show; /* of TY_INT, and of the elements of TY_ARRAY */
	uint8_t bits;      /* likewise: what the value was cut to, 1 to 64; of TY_FLOAT: 32 or 64 */
	bool is_signed;    /* likewise */
	uint16_t count;    /* of TY_ARRAY: elements, 1 or more */
};

#define UP_TYPE_S64 ((struct up_type){ TY_INT, UP_SHOW_DEC, 64, true, 0 })
#define UP_TYPE_U64 ((struct up_type){ TY_INT, UP_SHOW_DEC, 64, false, 0 })
#define UP_TYPE_X64 ((struct up_type){ TY_INT, UP_SHOW_HEX, 64, false, 0 })
#define UP_TYPE_BOOL ((struct up_type){ TY_INT, UP_SHOW_BOOL, 64, true, 0 })
#define UP_TYPE_STR ((struct up_type){ TY_STR, UP_SHOW_DEC, 0, false, 0 })
#define UP_TYPE_FLOAT ((struct up_type){ TY_FLOAT, UP_SHOW_DEC, 64, true, 0 })
#define UP_TYPE_POISON ((struct up_type){ TY_POISON, UP_SHOW_DEC, 64, false, 0 })
#define UP_TYPE_BYTES ((struct up_type){ TY_BYTES, UP_SHOW_DEC, 0, false, 0 })
#define UP_TYPE_UNKNOWN ((struct up_type){ TY_UNKNOWN, UP_SHOW_DEC, 64, false, 0 })
#define UP_TYPE_NONE ((struct up_type){ TY_NONE, UP_SHOW_DEC, 0, false, 0 })

enum up_on { UP_ON_START, UP_ON_END, UP_ON_EVERY }; /* blocks that belong to no hit */

enum up_flag {
	UP_VALUE_FAULT = 1, /* it could not be read: unequal to all, shown as (fault) */
	UP_VALUE_CUT = 2,   /* text, bytes or an array of which only the first part could be read */
	UP_VALUE_WIDE = 4   /* a result of an aggregation that needs more than 64 bits: `wide` */
};

/* An integer of 128 bits, two's complement. */
struct up_wide {
	uint64_t lo;
	int64_t hi;
};

/* Do values of this kind consist of bytes that stand elsewhere? */
static inline bool up_ty_has_bytes(enum up_ty ty)
{
	return ty == TY_STR || ty == TY_BYTES || ty == TY_ARRAY;
}

static inline bool up_type_is_number(struct up_type t)
{
	return t.ty == TY_INT || t.ty == TY_FLOAT;
}

/* Does an integer use all 64 bits, so that its sign matters? */
static inline bool up_type_is_wide(struct up_type t)
{
	return t.bits == 64 && t.show != UP_SHOW_BOOL;
}

static inline bool up_type_is_same(struct up_type a, struct up_type b)
{
	return a.ty == b.ty && a.show == b.show && a.bits == b.bits && a.is_signed == b.is_signed &&
	       a.count == b.count;
}

/* Do two types have the same form? How wide a single number is does not matter. */
static inline bool up_type_same_form(struct up_type a, struct up_type b)
{
	return a.ty == b.ty &&
	       (a.ty != TY_ARRAY || (a.show == b.show && a.bits == b.bits &&
				     a.is_signed == b.is_signed && a.count == b.count));
}

/*
 * One value; its type stands in the plan. Bytes are borrowed: they live until the handler returns.
 */
struct up_value {
	union {
		uint64_t u; /* integers, also signed ones (two's complement) */
		int64_t s;
		double f;
		const char *p; /* the bytes of text, bytes or an array; not NUL-terminated */
		const struct up_wide *wide; /* with UP_VALUE_WIDE: borrowed, too */
	};
	uint32_t len;   /* how many bytes */
	uint32_t flags; /* enum up_flag */
};

#endif
