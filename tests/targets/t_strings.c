/*
 * Hands say() strings that mean trouble: control bytes, invalid UTF-8, quotes, none at all, long
 * ones; then calls it under thread names of that sort. `t_strings long N...` says strings of N
 * bytes, the last of them an E. `t_strings edge` says strings that end right before memory that is
 * not there, and those that would begin there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

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

/* For what must not be read by the program itself. */
PROBED int touch(const char *s)
{
	return s != NULL;
}

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

#define SHOWN 511 /* bytes of a text that a probe reads at most */

/* Texts of 0 to 40 and of 500 to 530 bytes whose NUL is the last byte of a page, with nothing
 * behind it. */
static void say_at_the_edge(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page + 4096, 4096);
	for (int len = 0; len <= 530; len = len == 40 ? 500 : len + 1) {
		char *s = page + 4095 - len;

		for (int i = 0; i < len; i++)
			s[i] = (char)('a' + i % 26);
		s[len] = 0;
		touch(s);
		printf("%.*s%s\n", SHOWN, s, len > SHOWN ? "..." : "");
	}
	touch(page + 4096);
	printf("(fault)\n");
	fflush(stdout);
	/* So that this memory can still be looked at. */
	sleep(1);
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		say_at_the_edge();
		return 0;
	}
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
