/*
 * What the files that resolve targets share. Private to target*.c.
 */
#ifndef UP_TARGET_INT_H
#define UP_TARGET_INT_H

#include <regex.h>

#include "lang/source_go.h"
#include "lang/source_name.h"
#include "lang/target.h"

/* Text of which each byte remembers whether it stood in quotes, where nothing is special. */
struct marked {
	char *s;      /* NUL-terminated */
	char *quoted; /* 1 where s[i] stood in quotes */
	size_t len;
};

static inline bool is_plain(const struct marked *m, size_t i, char c)
{
	return i < m->len && m->s[i] == c && !m->quoted[i];
}

struct up_loc {
	struct marked m;     /* the location, without the offset behind it */
	struct up_span span; /* of it in the script */
	uint64_t off;        /* "+0x12" behind it */
	bool has_off;
	const char *version; /* "@GLIBC_2.14" behind it, or NULL */
};

/* What a walk over symbols gathers. */
struct walk {
	struct up_arena *arena;
	UP_VEC(struct up_symbol) found;
	enum up_match match;               /* how well they fit a source name */
	const regex_t *regex;              /* only names that match, when set */
	struct up_source_pattern *pattern; /* only names whose source name fits, when set */
};

/* Takes quotes away and puts positional arguments in. False after a diagnostic. */
bool up_target_decode(struct up_diags *ds, const struct up_env *env, const struct up_node *n,
		      struct marked *out);
/* A name as it is written in a target: in quotes if it needs them. */
void up_target_put_name(struct up_buf *b, const char *name);

/* A name in a message, where a newline would begin another line. */
const char *up_target_shown(struct up_diags *ds, const char *name);
/* Says which functions have no name because the object is stripped, and how to get the names. */
void up_target_hint_names(struct up_diags *ds, const struct up_env *env, const struct up_target *t);
/* Finds all symbols of a query, by address. False after a diagnostic. */
bool up_target_gather(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
		      const struct up_query *q, struct up_target *t, struct walk *w);
/* Adds a place: its address and file offset, the function it is in and how far inside. */
void up_target_add_place(struct up_diags *ds, struct up_target *t, uint64_t addr, uint64_t off,
			 const char *func, uint64_t func_off);
/*
 * Adds all functions that match a glob, or `re` unless it is NULL, and tells what is left out. A
 * pattern with "::" speaks of source names. False after a diagnostic, also when there is none.
 */
bool up_target_add_pattern(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			   struct up_target *t, struct up_query *q, const regex_t *re);

/* The source name of a symbol, without and with parameters; the symbol when it is not mangled. */
const char *up_source_bare(struct up_arena *a, const char *symbol);
const char *up_source_full(struct up_arena *a, const char *symbol);

/*
 * Gathers the functions that C++, Rust or Go sources call so: those that are exactly so named, else
 * those of which something was left out; with a version only those that have it. There may be none.
 */
void up_target_find_source(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			   const struct up_target *t, const char *version, struct walk *w);
/* Appends a list of the target's places, by name where that tells more than the address. */
void up_target_put_places(struct up_buf *b, const struct up_target *t);
/* Says that a plain name is no symbol's, and what it is taken for. */
void up_target_warn_source(struct up_diags *ds, const struct up_loc *l, const struct up_target *t);
/*
 * Says what comes near a name that is not there: overloads, functions whose last part it is. False
 * when there is nothing such; *near has got the source names that are spelled alike then.
 */
bool up_target_hint_source(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			   const struct up_target *t, struct up_nearest *near);

#endif
