/*
 * Comparing a C++ or Rust name that somebody wrote with what a symbol's name says. Blanks do not
 * count; template arguments, ABI tags, anonymous namespaces and the parameters of enclosing
 * functions may be left out. Pure; knows nothing of targets.
 */
#ifndef UP_SOURCE_NAME_H
#define UP_SOURCE_NAME_H

#include <regex.h>
#include <stddef.h>

#include "lang/demangle.h"

/* ---- the forms of a name ---- */

/*
 * Appends the name with no blanks but those that part words, and `const T` as `T const`, so that
 * two spellings of one name are the same bytes.
 */
void up_source_canon(const char *s, size_t len, struct up_buf *out);
/*
 * Appends a canonical name without what may be left out: ns::box<int>::get is ns::box::get, and
 * <krate::T as Trait>::run is krate::T::run.
 */
void up_source_plain(const char *s, size_t len, struct up_buf *out);
/* Where the parameter list of a canonical name begins; its length when it has none. */
size_t up_source_params(const char *s, size_t len);
/* Whether a canonical name is another one, of which more is said: a<int>::f is a<int, b<int> >::f.
 */
bool up_source_abbreviates(const char *brief, const char *name);

/* ---- one name ---- */

enum up_match {
	UP_MATCH_NOT,
	UP_MATCH_LOOSE, /* something was left out */
	UP_MATCH_EXACT
};

/* A name to look for. Init takes a copy; all others need init first. */
struct up_source_name {
	struct up_buf name;    /* canonical, without parameters */
	struct up_buf params;  /* canonical, with what follows them; empty: any */
	struct up_buf whole;   /* both */
	struct up_buf glob;    /* for UP_QUERY_GLOB: each symbol that can match does so */
	struct up_buf text[3]; /* scratch: as demangled, canonical, shortened */
};

void up_source_name_init(struct up_source_name *n, const char *text, size_t len);
void up_source_name_fini(struct up_source_name *n);
/* Is the symbol of this name? Pieces of functions are not. */
enum up_match up_source_name_match(struct up_source_name *n, const char *symbol);

/* ---- patterns ---- */

/* A glob or a regular expression over names without parameters (with, if the glob has a
 * parenthesis). */
struct up_source_pattern {
	const char *glob;        /* or NULL */
	const regex_t *regex;    /* or NULL */
	struct up_buf prefilter; /* as `glob` of struct up_source_name */
	struct up_buf text[3];   /* scratch */
};

/* Does a pattern speak of source names? All that hold "::" do. */
bool up_is_source_pattern(const char *pattern);
/* Either of them; both must outlive it. */
void up_source_pattern_init(struct up_source_pattern *p, const char *glob, const regex_t *regex);
void up_source_pattern_fini(struct up_source_pattern *p);
bool up_source_pattern_match(struct up_source_pattern *p, const char *symbol);

#endif
