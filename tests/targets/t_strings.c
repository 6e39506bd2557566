/*
 * Hands say() strings that mean trouble: control bytes, invalid UTF-8, quotes, none at all, long ones; then calls it
 * under thread names of that sort. `t_strings long N` says one string of N bytes, the last of them an E.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "probed.h"

static const char *const texts[] = {
	"plain",
	"",
	"tab\tnew\nline\rback\b",
	"\033[31mred\033]0;title\a",
	"\001\002\177",
	"\"quoted\" back\\slash",
	"gr\303\274n \344\270\255\346\226\207 \360\237\230\200",
	"bad \377\376 bytes",
	"cut \303",
	"overlong \300\257",
	"surrogate \355\240\200",
	"c1 \302\233 control",
	"right-to-left \342\200\256 override",
	" blanks ",
	"(fault)",
};

static const char *const names[] = { "ev\033[2Jil", "two\nlines", "\377\376bad", "\"quo\\ted", "" };

PROBED int say(const char *s)
{
	return (int)strlen(s);
}

static void say_long(size_t len)
{
	char *s = malloc(len + 1);

	memset(s, 'x', len);
	s[len - 1] = 'E';
	s[len] = 0;
	say(s);
	free(s);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		for (int i = 2; i < argc; i++)
			say_long(strtoul(argv[i], NULL, 10));
		return 0;
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		say(texts[i]);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		prctl(PR_SET_NAME, names[i]);
		say("named");
	}
	return 0;
}
