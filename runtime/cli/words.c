/* Splitting a command into words. */
#include "runtime/cli/words.h"

#include <stdlib.h>
#include <string.h>

/* A command being split. */
struct split {
	const char *s; /* what is left */
	char *to;      /* where the next byte goes */
	struct up_buf *err;
};

/* Copies what stands in double quotes; s is behind the first one. */
static bool copy_quoted(struct split *p)
{
	for (; *p->s && *p->s != '"'; p->s++) {
		if (*p->s == '\\' && p->s[1] && strchr("\"\\$`", p->s[1]))
			p->s++;
		*p->to++ = *p->s;
	}
	return *p->s++ == '"';
}

static bool copy_literal(struct split *p)
{
	const char *end = strchr(p->s, '\'');

	if (!end)
		return false;
	memcpy(p->to, p->s, (size_t)(end - p->s));
	p->to += end - p->s;
	p->s = end + 1;
	return true;
}

/* Copies one word. False when a quote is not closed or a shell would be needed. */
static bool copy_word(struct split *p)
{
	while (*p->s && !strchr(" \t\n", *p->s)) {
		char c = *p->s++;

		if (c == '"' || c == '\'') {
			if (!(c == '"' ? copy_quoted(p) : copy_literal(p))) {
				up_buf_printf(p->err, "the command has a %c that is never closed",
					      c);
				return false;
			}
		} else if (strchr("|&;<>()", c)) {
			up_buf_printf(p->err, "`%c` in the command needs a shell: sh -c \"...\"",
				      c);
			return false;
		} else if (c == '\\' && *p->s) {
			*p->to++ = *p->s++;
		} else {
			*p->to++ = c;
		}
	}
	*p->to++ = 0;
	return true;
}

char **up_split_words(const char *s, struct up_buf *err)
{
	size_t len = strlen(s), nr = 0;
	/* No more words than bytes, and no word longer than what it was made of. */
	char **words = malloc((len / 2 + 2) * sizeof(*words) + len + 2);
	struct split p = { .s = s, .err = err };

	if (!words) {
		up_buf_puts(err, "out of memory");
		return NULL;
	}
	p.to = (char *)(words + len / 2 + 2);
	for (;;) {
		p.s += strspn(p.s, " \t\n");
		if (!*p.s)
			break;
		words[nr++] = p.to;
		if (!copy_word(&p)) {
			free(words);
			return NULL;
		}
	}
	words[nr] = NULL;
	if (nr)
		return words;
	up_buf_puts(err, "the command is empty");
	free(words);
	return NULL;
}
