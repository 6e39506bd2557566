/* The parts of the text source: internal to it. */
#ifndef UP_SRC_TEXT_INT_H
#define UP_SRC_TEXT_INT_H

#include "runtime/src_text.h"

#define UP_TEXT_RECS (1u << 20)     /* bytes of records, until they are to be handed out */
#define UP_TEXT_ENTRIES (16u << 10) /* entries, likewise */
#define UP_TEXT_JOIN 16384u         /* bytes of an event's text that has newlines in it */

/* One or several lines, as far as they were put together. */
struct up_text_view {
	size_t from, end; /* in s->text; without the newline at the end */
	unsigned lines;
};

/*
 * The event of a name, or NULL. In saved text it can have a suffix: of sites that came later, and
 * of events of one site each; then *site is its number, else UP_NONE.
 */
struct up_text_kind *up_src_text_find(struct up_src_text *s, const char *name, size_t len,
				      uint32_t *site);

/* Must entries be handed out before more lines are taken in? */
bool up_src_text_is_full(const struct up_src_text *s);
/* Takes in a line, or several that belong together. False when more text is needed to tell. */
bool up_src_text_take_line(struct up_src_text *s);
/* Counts lines as unreadable, and goes on behind them. */
void up_src_text_give_up(struct up_src_text *s, const struct up_text_view *v);

#endif
