/*
 * Comparing a name of Go that somebody wrote with a symbol: `http.(*conn).serve` is
 * `net/http.(*conn).serve`, `main.Map` and `main.Map[...]` are all that were made of the generic
 * function. Pure; knows nothing of targets.
 */
#ifndef UP_SOURCE_GO_H
#define UP_SOURCE_GO_H

#include "lang/base/buf.h"
#include "lang/source_name.h"

/* A name to look for. Init takes a copy; all others need init first. */
struct up_go_name {
	struct up_buf name;    /* as written */
	struct up_buf plain;   /* the same without what may be left out */
	bool has_args;         /* it names type arguments: they are compared, too */
	struct up_buf text[2]; /* scratch: the symbol, its plain form */
};

void up_go_name_init(struct up_go_name *n, const char *text, size_t len);
void up_go_name_fini(struct up_go_name *n);
/* Is the symbol of this name? */
enum up_match up_go_name_match(struct up_go_name *n, const char *symbol);

/* Is the symbol no function of its own: a mark of the linker, the assembly behind a wrapper? */
bool up_go_is_piece(const char *symbol);
/*
 * Where the receiver or the type arguments at s[at] begin in signs that are special in a glob, how
 * many of them stand for themselves: in `(*T)` and `[...]`.
 */
size_t up_go_literal_len(const char *s, size_t len, size_t at);

#endif
