/*
 * A recording being made: pages of ring buffers go into a trace.dat as they are. Knows neither
 * where pages come from nor what is in them.
 *
 * In a trace.dat the pages of one CPU lie behind each other, and how many there will be is not
 * known beforehand. So they are gathered in files of their own, FILE.cpu0 and so on, which are
 * joined at the end. Until then FILE has a head only, that says so: what a recording that was
 * killed leaves behind can be read all the same.
 */
#ifndef UP_RECORDER_H
#define UP_RECORDER_H

#include "runtime/pageset.h"
#include "runtime/status.h"
#include "runtime/tracedat.h"

struct up_recorder {
	char *path;              /* FILE */
	int fd;                  /* of it, or -1 */
	struct up_tracedat head; /* cpus[] has a row for each file beside it */
	struct up_buf text;      /* of the option: what the recording says of itself */
	int *side;               /* descriptors of the files beside it, or -1 */
	uint64_t reserve;        /* bytes that the first head takes */
};

/* Opens FILE, which is emptied. up_recorder_fini() is needed in any case. */
int up_recorder_open(struct up_recorder *r, const char *path, struct up_status *st);
/* Notes how an event looks. Those of one system are added one after the other. 0 or -ENOMEM. */
int up_recorder_add_format(struct up_recorder *r, const char *system, const struct up_buf *text);
/* Copies a text of the head. 0 or -ENOMEM. */
int up_recorder_keep(struct up_recorder *r, struct up_tracedat_text *to, const struct up_buf *text);
/* Pages can come: writes the head, with r->head and r->text as they are now. */
int up_recorder_begin(struct up_recorder *r, const struct up_pageset *pages, struct up_status *st);
/* Writes all pages that are queued, and releases them. */
int up_recorder_take(struct up_recorder *r, struct up_pageset *pages, struct up_status *st);
/* No more pages: joins the files, with a head that has r->text as it is now. */
int up_recorder_end(struct up_recorder *r, struct up_status *st);
/* A recording that was not ended stays as it is. */
void up_recorder_fini(struct up_recorder *r);

/* Bytes of pages so far. */
uint64_t up_recorder_bytes(const struct up_recorder *r);
/* The name of a file beside FILE; the caller frees it. NULL without memory. */
char *up_recorder_side(const char *path, unsigned cpu);

#endif
