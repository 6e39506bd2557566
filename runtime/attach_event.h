/*
 * The part of an attachment that deals with definitions: internal to it.
 */
#ifndef UP_ATTACH_EVENT_H
#define UP_ATTACH_EVENT_H

#include "runtime/attach.h"

/*
 * Defines all events of the plan; sets a->one_event_per_site when the kernel cannot have several
 * sites in an event.
 */
int up_attach_define(struct up_attach *a, struct up_status *st);

/* Defines an event of some sites of one plan event under another name. */
int up_attach_define_as(struct up_attach *a, const char *name, const uint32_t *sites, uint32_t nr,
			struct up_status *st);

/* -ESTALE when a file of the plan's sites, from number `first` on, is not what was read. */
int up_attach_check_files(const struct up_plan *plan, uint32_t first, struct up_status *st);

/* Arms entries of a->records from `event` on, but for those that are off; the files of sites from
 * `site` on are mapped meanwhile. */
int up_attach_enable(struct up_attach *a, uint32_t event, uint32_t site, struct up_status *st);
/* Arms one that is off. Its sites' files need not be mapped when the kernel has taken it before. */
int up_attach_enable_again(struct up_attach *a, struct up_record_event *e, struct up_status *st);
int up_attach_disable(struct up_attach *a, struct up_record_event *e, struct up_status *st);

/* Defines those from number `event` on, beside others that are there already; -ENOTSUP as above. */
int up_attach_define_from(struct up_attach *a, uint32_t event, struct up_status *st);

/* Fills a->records from the kernel's format files. */
int up_attach_layout(struct up_attach *a, struct up_status *st);
/* Adds the plan's events from number `event` on to them. */
int up_attach_layout_from(struct up_attach *a, uint32_t event, struct up_status *st);
/* Adds an entry to a->records that is laid out as the first one of its plan event; takes its name
 * over. */
int up_attach_layout_add(struct up_attach *a, struct up_record_event model, struct up_status *st);

/* Appends the kernel's file `file` of an entry of a->records: "format", "id". */
int up_attach_read_event(struct up_attach *a, const struct up_record_event *e, const char *file,
			 struct up_buf *out, struct up_status *st);
/* "SESSION/EVENT" of an entry of a->records, appended. */
void up_attach_event_path(const struct up_attach *a, const struct up_record_event *e,
			  struct up_buf *out);

/* Sets the filter of e, if the plan has one for it. Fails only when the keeper does. */
int up_attach_filter(struct up_attach *a, struct up_record_event *e, struct up_status *st);
/* Counts hits: when recording begins, before (0) and after (1) it does; the same for its end. */
void up_attach_hits_begin(struct up_attach *a, unsigned i);
void up_attach_hits_end(struct up_attach *a, unsigned i);

/*
 * Enabling e failed with `err`: records which site is to blame, found by trying halves of them
 * where there are several. Returns err.
 */
int up_attach_blame(struct up_attach *a, const struct up_record_event *e, int err,
		    struct up_status *st);

#endif
