/*
 * The text source: the kernel's own words for events, from trace_pipe as they come, or saved in a
 * file that anybody may have made. Each line of an event of ours becomes a record of the same
 * layout as the binary one; other lines are counted. Changes nothing in the kernel.
 *
 * The kernel prints names and strings as they are. One that has a newline makes two lines of its
 * event: they are put together again where that can be done in one way only.
 *
 * Of its user, with the kernel's pipe, in a round:
 *     while (up_src_text_fill(s, limit) > 0)
 *             while (up_src_text_next(s, limit, &ev, &pid)) ...
 */
#ifndef UP_SRC_TEXT_H
#define UP_SRC_TEXT_H

#include "lang/base/arena.h"
#include "lang/base/nametab.h"
#include "runtime/merge.h"
#include "runtime/out.h"
#include "runtime/records.h"
#include "runtime/textargs.h"
#include "runtime/textline.h"

/* An event of ours, in text. */
struct up_text_kind {
	const char *name;
	size_t name_len;
	uint32_t record;           /* index in the records */
	struct up_textshape shape; /* of its text */
	bool has_string;           /* among its arguments */
};

/* What was read and is to be handed out. */
struct up_text_entry {
	uint64_t time;
	size_t off;     /* of the record in `recs` */
	uint32_t len;   /* its bytes; 0: no event, but the end of a loss on this CPU */
	uint32_t cpu;   /* its number */
	pid_t tid, pid; /* the thread; its process where the line tells it, else 0 */
};

struct up_src_text {
	const struct up_plan *plan;
	const struct up_records *records;
	int fd;       /* of the text */
	bool is_live; /* the kernel's: it has no end, and its order is to be mended */
	struct up_arena *arena;
	struct up_nametab kinds;        /* of struct up_text_kind */
	struct up_text_kind *last_kind; /* the one that was found last, or NULL */
	char *text;                     /* what was read */
	size_t text_len, at;            /* its bytes; the first that was not looked at */
	bool is_ended;                  /* no more can be read */
	bool is_whole;                  /* what was begun is not continued: there is no more now */
	bool in_long;                   /* amid a line that there is no room for */
	unsigned char *recs;            /* records of the entries */
	size_t recs_len;
	struct up_text_entry *entries; /* in the order in which they are handed out */
	size_t nr_entries, next;
	const struct up_text_kind
		*open;       /* the latest line's event, if its text may go on; or NULL */
	size_t open_body;    /* where that text begins */
	bool is_held;        /* the last entry waits for the next line, which may belong to it */
	bool *after_loss;    /* of each CPU: were events lost before its next line? */
	struct up_gaps gaps; /* where events were lost */
	uint64_t last_time;  /* handed out last */
	/* counts */
	uint64_t nr_lines;         /* that were looked at */
	uint64_t nr_unreadable;    /* of those */
	uint64_t first_unreadable; /* number of the first such line, from 1 on; 0: none */
	uint64_t nr_others;        /* events that are none of ours */
	uint64_t nr_misplaced;     /* at another place than the plan's site of that number */
	uint64_t lost;             /* events that the text says were lost */
	bool lost_unknown;         /* it does not say how many */
	uint64_t late;             /* handed out after a later one */
};

/*
 * 0 or -ENOMEM; up_src_text_close() is needed all the same, and closes fd. Plan and records must
 * outlive the source.
 */
int up_src_text_open(struct up_src_text *s, int fd, bool is_live, const struct up_plan *plan,
		     const struct up_records *records);
void up_src_text_close(struct up_src_text *s);

/* Events of this name, without group, are the records of this index. 0 or -ENOMEM. */
int up_src_text_add(struct up_src_text *s, const char *name, uint32_t record);

/*
 * Reads on: 1 when it has got further, 0 at the end of the text, -EAGAIN when nothing is there now,
 * else -errno. The kernel's is not read beyond `limit`: then 0, too.
 */
int up_src_text_fill(struct up_src_text *s, uint64_t limit);

/*
 * The next event up to `limit`, valid until the next up_src_text_fill(). *pid: the process of its
 * thread *tid, if the text tells it, else 0.
 */
bool up_src_text_next(struct up_src_text *s, uint64_t limit, struct up_event *ev, pid_t *tid,
		      pid_t *pid);

/* Adds what was late and what could not be used; not what was lost. */
void up_src_text_totals(const struct up_src_text *s, struct up_out_totals *t);

/* Has something been read that a later limit would let through? */
static inline bool up_src_text_pending(const struct up_src_text *s)
{
	return s->next < s->nr_entries;
}

#endif
