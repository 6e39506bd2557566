/*
 * Diagnostics: collected while compiling, rendered once at the edge.
 * Every tag is a row of diag.def; every tag has a test named after it.
 */
#ifndef UP_DIAG_H
#define UP_DIAG_H

#include <stdbool.h>

#include "lang/base/buf.h"
#include "lang/source.h"

enum up_diag_tag {
#define UP_DIAG(tag, severity, summary) tag,
#include "lang/diag.def"
#undef UP_DIAG
	E_COUNT
};

enum up_severity { UP_SEV_ERROR, UP_SEV_WARNING };

#define UP_DIAG_MAX 20 /* errors per compilation; more are counted, not kept */

struct up_diag {
	enum up_diag_tag tag;      /* which kind */
	enum up_severity severity; /* from its row */
	struct up_span span;       /* the exact bytes */
	const char *msg;           /* what is wrong, one sentence without a full stop */
	const char *hint;          /* what to do, or NULL; may have several lines */
	bool has_note;             /* is there a second place? */
	struct up_span note_span;  /* the second place */
	const char *note;          /* its label */
};

struct up_diags {
	struct up_arena *arena;           /* the compilation's */
	const struct up_sources *sources; /* what the spans refer to */
	UP_VEC(struct up_diag) list;      /* in the order found */
	unsigned nr_errors;               /* all errors, kept or not */
	unsigned nr_warnings;             /* all warnings, kept or not */
	unsigned columns;                 /* of the terminal that shows them; 0: unknown */
	bool last_kept;                   /* did the latest one go into the list? */
	bool muted;                       /* nothing is queued or counted: types are still sought */
};

/*
 * Queues a diagnostic; returns false, so that `return up_error(...)` reads well. One at the very
 * same span with the same tag as an earlier one is dropped. What stands in a module, or was copied
 * from a definition, gets a note where it is used; another note takes its place.
 */
bool up_error(struct up_diags *ds, struct up_span span, enum up_diag_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds to the diagnostic queued last (nothing when that one was dropped). */
void up_diag_hint(struct up_diags *ds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void up_diag_note(struct up_diags *ds, struct up_span span, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct up_nearest;
/* The hint "did you mean ...?"; false when no name is near. */
bool up_diag_nearest(struct up_diags *ds, const struct up_nearest *near);
struct up_why;
/* Queues what the world outside said, and frees it; returns false. */
bool up_diag_why(struct up_diags *ds, struct up_span span, enum up_diag_tag tag,
		 struct up_why *why);

/* "E_SYNTAX" without the prefix, lower case with dashes: "syntax", "bare-comparison". */
#define UP_TAG_NAME_MAX 32
const char *up_diag_tag_name(enum up_diag_tag tag, char name[UP_TAG_NAME_MAX]);
bool up_diag_is_error(enum up_diag_tag tag);
/* One row's explanation, for reference pages. */
const char *up_diag_summary(enum up_diag_tag tag);

/* `file:line:col: error[tag]: msg`, the line, a caret, the note's line, the hint. */
void up_diag_text(const struct up_diags *ds, struct up_buf *out, bool colour);
/* One JSON object a line: file, line, column, end_line, end_column, severity, tag, message, hint,
 * note. */
void up_diag_json(const struct up_diags *ds, struct up_buf *out);

#endif
