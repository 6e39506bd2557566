/* The rows of types. */
#include "lang/types.h"

#include <stdlib.h>
#include <string.h>

#define INT(bits, sgn, show)               \
	{                                  \
		TY_INT, show, bits, sgn, 0 \
	}
#define DEC(name, bits, sgn, help)                                                    \
	{                                                                             \
		name, name, INT(bits, sgn, UP_SHOW_DEC), bits / 8, false, false, help \
	}
#define HEX(name, bits, help)                                                           \
	{                                                                               \
		name, name, INT(bits, false, UP_SHOW_HEX), bits / 8, false, false, help \
	}
#define FLOAT(bits)                                  \
	{                                            \
		TY_FLOAT, UP_SHOW_DEC, bits, true, 0 \
	}
#define TEXT                                     \
	{                                        \
		TY_STR, UP_SHOW_DEC, 0, false, 0 \
	}
#define BYTES                                      \
	{                                          \
		TY_BYTES, UP_SHOW_DEC, 0, false, 0 \
	}

const struct up_type_row up_type_rows[] = {
	DEC("u8", 8, false, "unsigned, shown in decimal"),
	DEC("u16", 16, false, "unsigned, shown in decimal"),
	DEC("u32", 32, false, "unsigned, shown in decimal"),
	DEC("u64", 64, false, "unsigned, shown in decimal"),
	DEC("s8", 8, true, "signed, shown in decimal"),
	DEC("s16", 16, true, "signed, shown in decimal"),
	DEC("s32", 32, true, "signed, shown in decimal"),
	DEC("s64", 64, true, "signed, shown in decimal"),
	HEX("x8", 8, "unsigned, shown in hexadecimal"),
	HEX("x16", 16, "unsigned, shown in hexadecimal"),
	HEX("x32", 32, "unsigned, shown in hexadecimal"),
	HEX("x64", 64, "unsigned, shown in hexadecimal"),
	{ "char", "u8", INT(8, false, UP_SHOW_CHAR), 1, false, false,
	  "one byte, shown as `'a'`; as a number 0 to 255" },
	{ "bool", "u8", INT(8, false, UP_SHOW_BOOL), 1, false, false,
	  "one byte, shown as `true` or `false`: `true` unless it is 0" },
	{ "f32", "u32", FLOAT(32), 4, false, true, "a C `float`; behind `@ADDRESS` only" },
	{ "f64", "u64", FLOAT(64), 8, false, true, "a C `double`; behind `@ADDRESS` only" },
	{ "string", "string", TEXT, 0, true, false,
	  "the NUL-terminated text *at* the address that the value holds, 511 bytes at most; "
	  "`string[N]` reads N, up to 2048. Text that is longer is shown cut, with `...` behind "
	  "it" },
	{ "ustring", "ustring", TEXT, 0, true, false, "the same as `string`" },
	{ "gostring", NULL, TEXT, 0, true, false,
	  "the text whose address is the value and whose length is the word behind it, as strings "
	  "and slices of Go and `&str` of Rust are: `arg0:gostring` takes `arg1` for the length. "
	  "`gostring[N]` reads N bytes at most" },
	{ "bytes", NULL, BYTES, 0, true, false,
	  "`bytes[N]`: N bytes *at* the address, shown as hexadecimal digits" },
	{ "sym", NULL, TEXT, 0, false, false,
	  "the value itself as function and offset: `zfree+0x12`" },
	{ 0 },
};

const struct up_type_form up_type_forms[] = {
	{ "b", "bWIDTH@OFFSET/SIZE",
	  "a bit field: WIDTH bits from bit OFFSET on of a number of SIZE (8, 16, 32 or 64) bits, "
	  "unsigned; `b4@3/32` is bits 3 to 6 of a `u32`" },
	{ "array", "u32[8], s8[4], f64[3] ...", "an array of numbers; behind `@ADDRESS` only" },
	{ "char", "char[16]",
	  "an array of characters: text of at most so many bytes, up to the first NUL; behind "
	  "`@ADDRESS` only" },
	{ NULL, NULL, NULL },
};

const struct up_type_row *up_type_find(const char *name)
{
	if (name)
		for (const struct up_type_row *r = up_type_rows; r->name; r++)
			if (!strcmp(r->name, name))
				return r;
	return NULL;
}

/* "b4@3/32": the width is the type's, the size that of the number around it. */
static bool bits_of_kernel(const char *s, struct up_type *type, uint16_t *size)
{
	char *end;
	unsigned long width = strtoul(s + 1, &end, 10), off, container;

	if (*end != '@')
		return false;
	off = strtoul(end + 1, &end, 10);
	if (*end != '/')
		return false;
	container = strtoul(end + 1, &end, 10);
	if (*end || (container != 8 && container != 16 && container != 32 && container != 64) ||
	    !width || width > container || off > container - width)
		return false;
	*type = (struct up_type)INT((uint8_t)width, false, UP_SHOW_DEC);
	*size = (uint16_t)(container / 8);
	return true;
}

bool up_type_of_kernel(const char *kernel, struct up_type *type, uint16_t *size)
{
	char name[16];
	size_t len = strcspn(kernel, "[");
	const struct up_type_row *row;

	if (kernel[0] == 'b' && kernel[1] >= '0' && kernel[1] <= '9')
		return bits_of_kernel(kernel, type, size);
	if (len >= sizeof(name))
		return false;
	memcpy(name, kernel, len);
	name[len] = 0;
	row = up_type_find(name);
	if (!row || !row->kernel || row->type.ty == TY_FLOAT)
		return false;
	*type = row->type;
	*size = row->size;
	if (!kernel[len])
		return true;
	char *end;
	unsigned long count = strtoul(kernel + len + 1, &end, 10);
	if (strcmp(end, "]") != 0 || !row->size || count < 1 || count > 64)
		return false;
	type->ty = TY_ARRAY;
	type->count = (uint16_t)count;
	*size = (uint16_t)(row->size * count);
	return true;
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
