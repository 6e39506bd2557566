/* The rows of types. */
#include "lang/types.h"

#include <string.h>

#define INT(bits, sgn, show)            \
	{                               \
		TY_INT, show, bits, sgn \
	}
#define DEC(name, bits, sgn, help)                                                    \
	{                                                                             \
		name, name, INT(bits, sgn, UP_SHOW_DEC), bits / 8, false, false, help \
	}
#define HEX(name, bits, help)                                                           \
	{                                                                               \
		name, name, INT(bits, false, UP_SHOW_HEX), bits / 8, false, false, help \
	}
#define LATER(name, help)                                                             \
	{                                                                             \
		name, NULL, { TY_POISON, UP_SHOW_DEC, 0, false }, 0, true, true, help \
	}
#define TEXT                                  \
	{                                     \
		TY_STR, UP_SHOW_DEC, 0, false \
	}

const struct up_type_row up_type_rows[] = {
	DEC("u8", 8, false, "unsigned, decimal"),
	DEC("u16", 16, false, "unsigned, decimal"),
	DEC("u32", 32, false, "unsigned, decimal"),
	DEC("u64", 64, false, "unsigned, decimal"),
	DEC("s8", 8, true, "signed, decimal"),
	DEC("s16", 16, true, "signed, decimal"),
	DEC("s32", 32, true, "signed, decimal"),
	DEC("s64", 64, true, "signed, decimal"),
	HEX("x8", 8, "hexadecimal"),
	HEX("x16", 16, "hexadecimal"),
	HEX("x32", 32, "hexadecimal"),
	HEX("x64", 64, "hexadecimal"),
	{ "char", "u8", INT(8, false, UP_SHOW_CHAR), 1, false, false, "one character" },
	{ "bool", "u8", INT(8, false, UP_SHOW_BOOL), 1, false, false, "true or false" },
	{ "string", "string", TEXT, 0, true, false, "NUL-terminated text at the address" },
	{ "ustring", "ustring", TEXT, 0, true, false, "the same, in user memory" },
	LATER("bytes", "bytes at the address, as hexadecimal"),
	LATER("sym", "the value as function+offset"),
	LATER("f32", "a float in memory"),
	LATER("f64", "a double in memory"),
	{ 0 },
};

const struct up_type_row *up_type_find(const char *name)
{
	if (name)
		for (const struct up_type_row *r = up_type_rows; r->name; r++)
			if (!strcmp(r->name, name))
				return r;
	return NULL;
}

bool up_fetch_text_ok(const char *s, size_t len, const char **type)
{
	const char *close, *colon;

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f || s[i] == '#' || s[i] == '=')
			return false;
	if (!len)
		return false;
	close = strrchr(s, ')');
	colon = strchr(close ? close : s, ':');
	*type = colon ? colon + 1 : !strcmp(s, "$comm") || !strcmp(s, "$COMM") ? "string" : "x64";
	return !colon || colon > s;
}
