/*
 * The reference of the language, from the rows that the checker reads: for `uptick help`, the man
 * page, and the tables of docs/language.md.
 */
#ifndef UP_REFERENCE_H
#define UP_REFERENCE_H

#include "lang/base/buf.h"
#include "lang/base/text.h"
#include "lang/builtin.h"

/* One entry; its texts live until the next one. */
struct up_ref_entry {
	const char *name; /* the word to look up: "quantile" */
	const char *form; /* as it is written: "quantile(x)" */
	const char *more; /* second column, or NULL: its type, its results */
	const char *help; /* what it is, in a sentence or two */
};

struct up_ref_table {
	const char *name;    /* "aggregates" */
	const char *title;   /* "Aggregates" */
	const char *head[3]; /* of the columns: form, more (or NULL), help */
	/* The i-th entry; false behind the last. `scratch` holds what has to be put together. */
	bool (*entry)(const struct up_agg_row *const *aggs, unsigned i, struct up_ref_entry *e,
		      struct up_buf *scratch);
};

/* In the order of the reference; ends with a NULL name. */
extern const struct up_ref_table up_ref_tables[];
const struct up_ref_table *up_ref_find(const char *name);

/* The table in Markdown. */
void up_ref_markdown(const struct up_ref_table *t, const struct up_agg_row *const *aggs,
		     struct up_buf *out);
/* Its entries as paragraphs of a man page. */
void up_ref_man(const struct up_ref_table *t, const struct up_agg_row *const *aggs,
		struct up_buf *out);
/* What is known of a word, in plain text; false when it is none of the language. */
bool up_ref_word(const char *word, const struct up_agg_row *const *aggs, struct up_buf *out);
/* All words, a line for each table. */
void up_ref_words(const struct up_agg_row *const *aggs, struct up_buf *out);
/* Offers the words for "did you mean". */
void up_ref_offer(const struct up_agg_row *const *aggs, struct up_nearest *near);

/* Appends text with roff's special characters made plain. */
void up_roff(struct up_buf *out, const char *s);

#endif
