/* Descriptions of events, a line at a time. */
#include "runtime/format.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINE 256 /* bytes of a line that describes a field */

/* The next line, as a string; "" for one that is too long. False at the end. */
static bool next_line(const char **text, size_t *len, char line[MAX_LINE])
{
	const char *end = memchr(*text, '\n', *len);
	size_t n = end ? (size_t)(end - *text) : *len;

	if (!*len)
		return false;
	memcpy(line, *text, n < MAX_LINE ? n : 0);
	line[n < MAX_LINE ? n : 0] = 0;
	*text += n + (end != NULL);
	*len -= n + (end != NULL);
	return true;
}

/* The number behind `word`, or -1. */
static long number_behind(const char *line, const char *word)
{
	const char *at = strstr(line, word);
	char *end;

	if (!at)
		return -1;
	at += strlen(word);
	long v = strtol(at, &end, 10);
	return end > at && v >= 0 ? v : -1;
}

uint16_t up_format_id(const char *text, size_t len)
{
	char line[MAX_LINE];

	while (next_line(&text, &len, line)) {
		if (strncmp(line, "ID:", 3) != 0)
			continue;
		long id = number_behind(line, "ID: ");
		return id > 0 && id <= UINT16_MAX ? (uint16_t)id : 0;
	}
	return 0;
}

/* Is that the name at the end of a declaration, `unsigned long args[6]`? */
static bool is_named(const char *declaration, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len && declaration[len - 1] == ']')
		while (len && declaration[len - 1] != '[')
			len--;
	len -= len && declaration[len - 1] == '[';
	return len > n && !memcmp(declaration + len - n, name, n) &&
	       strchr(" *]", declaration[len - n - 1]);
}

/* What a line says of where its field stands. */
static struct up_field place_of(const char *line)
{
	long off = number_behind(line, ";\toffset:"), size = number_behind(line, ";\tsize:");

	if (off < 0 || size < 0 || off > UINT16_MAX || size > UINT16_MAX - off)
		return (struct up_field){ 0 };
	return (struct up_field){ .off = (uint16_t)off,
				  .size = (uint16_t)size,
				  .is_signed = number_behind(line, ";\tsigned:") > 0,
				  .is_dynamic = !strncmp(line, "\tfield:__data_loc ", 18) };
}

struct up_field up_format_field(const char *text, size_t len, const char *name)
{
	char line[MAX_LINE];

	while (next_line(&text, &len, line)) {
		size_t n = strcspn(line, ";");

		if (!strncmp(line, "\tfield:", 7) && line[n] && is_named(line + 7, n - 7, name))
			return place_of(line);
	}
	return (struct up_field){ 0 };
}
