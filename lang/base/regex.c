/* Regular expressions from scripts, within bounds: glibc's compiler trusts its input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/text.h"

#define MAX_GROUPS 64 /* nested ones */
#define MAX_REPEATS \
	2048ul /* of all {m,n} together, multiplied: they are written out when compiled */

/* The larger number of a repeat "{m,n}" at s, at least 1. */
static unsigned long repeat_of(const char *s)
{
	unsigned long a, b = 0;
	char *end;

	a = strtoul(s + 1, &end, 10);
	if (*end == ',')
		b = strtoul(end + 1, &end, 10);
	a = a > b ? a : b;
	return a ? a : 1;
}

/* What is too much about it, or NULL. */
static const char *find_excess(const char *s, size_t len)
{
	unsigned long repeats = 1;
	int depth = 0;

	if (len > UP_REGEX_MAX)
		return "it is too long";
	for (const char *end = s + len; s < end; s++) {
		if (*s == '\\' && s + 1 < end) {
			if (s[1] >= '1' && s[1] <= '9')
				return "it refers back to a group";
			s++;
		} else if (*s == '(' && ++depth > MAX_GROUPS) {
			return "its groups are nested too deeply";
		} else if (*s == ')') {
			depth--;
		} else if (*s == '{') {
			unsigned long n = repeat_of(s);

			if (n > MAX_REPEATS || (repeats *= n) > MAX_REPEATS)
				return "it repeats too much";
		}
	}
	return NULL;
}

bool up_regex_compile(regex_t *re, const char *pattern, size_t len, char why[128])
{
	const char *excess = find_excess(pattern, len);
	char *copy = excess ? NULL : strndup(pattern, len);
	int err = copy ? regcomp(re, copy, REG_EXTENDED | REG_NOSUB) : REG_ESPACE;

	free(copy);
	if (!err)
		return true;
	if (excess)
		snprintf(why, 128, "%s", excess);
	else
		regerror(err, re, why, 128);
	return false;
}
