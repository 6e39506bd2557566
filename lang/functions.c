/* The rows of functions. */
#include "lang/functions.h"

#include <string.h>

#define MANY 32 /* arguments that min and max take at most */

const struct up_fn_row up_fn_rows[FN_COUNT] = {
	[FN_MIN] = { "min", "min(x, y, ...)", 2, MANY, "n", 'n', "the smallest" },
	[FN_MAX] = { "max", "max(x, y, ...)", 2, MANY, "n", 'n', "the largest" },
	[FN_ABS] = { "abs", "abs(x)", 1, 1, "n", '1', "x without its sign" },
	[FN_BUCKET] = { "bucket", "bucket(x, n)", 2, 2, "i", '1',
			"x rounded down, also below 0, to a multiple of n" },
	[FN_LEN] = { "len", "len(s), len(TABLE)", 1, 1, "b", 'i',
		     "the bytes of a string or of bytes; the rows of a table or an aggregation" },
	[FN_SUBSTR] = { "substr", "substr(s, from), substr(s, from, n)", 2, 3, "si", 's',
			"the part of s from byte `from` on, counted from 0, or n bytes of it" },
	[FN_INDEX] = { "index", "index(s, t)", 2, 2, "s", 'i',
		       "where t stands first in s, from 0; -1 when it does not" },
	[FN_SPLIT] = { "split", "split(s, t, n)", 3, 3, "ssi", 's',
		       "the n-th part, from 0, of s between the places where t stands; \"\" when "
		       "there is none" },
	[FN_LOWER] = { "lower", "lower(s)", 1, 1, "s", 's', "s with ASCII letters in lower case" },
	[FN_UPPER] = { "upper", "upper(s)", 1, 1, "s", 's', "s with ASCII letters in upper case" },
	[FN_TRIM] = { "trim", "trim(s)", 1, 1, "s", 's',
		      "s without white space at its beginning and end" },
	[FN_BASENAME] = { "basename", "basename(s)", 1, 1, "s", 's',
			  "what stands behind the last `/`" },
	[FN_DIRNAME] = { "dirname", "dirname(s)", 1, 1, "s", 's',
			 "what stands before the last `/`; \".\" when there is none" },
	[FN_DEC] = { "dec", "dec(x)", 1, 1, "n", 's', "the number as text, in decimal" },
	[FN_INT] = { "int", "int(s)", 1, 1, "s", 'i',
		     "the number that s begins with, decimal or with `0x` in front; 0 when there "
		     "is none" },
	[FN_HEX] = { "hex", "hex(x)", 1, 1, "i", 's', "the number as text: `0x2a`" },
	[FN_STRFTIME] = { "strftime", "strftime(format, t)", 2, 2, "si", 's',
			  "t, in ns as `time` is, as date and time of day; the format is that of "
			  "C's strftime, and `%N` is the nanoseconds" },
	[FN_SYM] = { "sym", "sym(address)", 1, 1, "i", 's',
		     "the address as function and offset, as `:sym` shows it" },
	[FN_REPEAT] = { "repeat", "repeat(s, n)", 2, 2, "si", 's', "s, n times" },
	[FN_NTOHS] = { "ntohs", "ntohs(x)", 1, 1, "i", 'i',
		       "the 16 bits of a number in network byte order, such as a port" },
	[FN_NTOHL] = { "ntohl", "ntohl(x)", 1, 1, "i", 'i', "the same of 32 bits" },
	[FN_NTOP] = { "ntop", "ntop(b)", 1, 1, "y", 's',
		      "an internet address of 4 or 16 bytes as text: `127.0.0.1`, `::1`; \"\" of "
		      "any other number of bytes" },
	[FN_JOIN] = { NULL, "s + t", 2, 2, "s", 's', "both, one behind the other" },
};

const struct up_fn_row *up_fn_find(const char *name)
{
	for (unsigned i = 0; i < FN_COUNT; i++)
		if (up_fn_rows[i].name && !strcmp(up_fn_rows[i].name, name))
			return &up_fn_rows[i];
	return NULL;
}
