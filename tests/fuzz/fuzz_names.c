/*
 * Names of symbols come from files that nobody vouches for. The input is what is looked for, a
 * newline, and a symbol; both ways of looking must end soon, whatever either is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/text.h"
#include "lang/source_go.h"
#include "lang/source_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is exactly so called in Go is what may be so called, too. */
static void look_for_go(const char *text, const char *symbol)
{
	struct up_go_name n;

	up_go_name_init(&n, text, strlen(text));
	if (up_go_name_match(&n, symbol) == UP_MATCH_EXACT && up_go_is_piece(symbol))
		abort();
	up_go_name_fini(&n);
	for (size_t i = 0, len = strlen(text); i < len; i++)
		if (i + up_go_literal_len(text, len, i) > len)
			abort();
}

static void look_for(const char *text, const char *symbol)
{
	struct up_source_name n;
	struct up_source_pattern p;

	up_source_name_init(&n, text, strlen(text));
	enum up_match m = up_source_name_match(&n, symbol);
	/* What matches as a function of the sources has a full name, within the limit. */
	if (m != UP_MATCH_NOT && (n.text[0].len == 0 || n.text[0].len > UP_DEMANGLE_MAX))
		abort();
	up_source_name_fini(&n);
	if (strlen(text) > 100)
		return;
	up_source_pattern_init(&p, text, NULL);
	up_source_pattern_match(&p, symbol);
	up_source_pattern_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct up_buf name = { 0 };
	char *text = strndup((const char *)data, size);
	char *symbol = text ? strchr(text, '\n') : NULL;

	if (symbol) {
		*symbol++ = 0;
		look_for(text, symbol);
		look_for_go(text, symbol);
		/* A symbol's own name finds it. */
		if (up_demangle(symbol, UP_NAME_BARE, &name) && name.len < 2000)
			look_for(name.s, symbol);
	}
	up_buf_fini(&name);
	free(text);
	return 0;
}
