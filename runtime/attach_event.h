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

/* Fills a->events and a->by_id from the kernel's format files. */
int up_attach_layout(struct up_attach *a, struct up_status *st);
void up_attach_layout_fini(struct up_attach *a);

/* "SESSION/EVENT" of an entry of a->events, appended. */
void up_attach_event_path(const struct up_attach *a, const struct up_attach_event *e,
			  struct up_buf *out);

/*
 * Enabling e failed with `err`: records which site is to blame, found by trying halves of them
 * where there are several. Returns err.
 */
int up_attach_blame(struct up_attach *a, const struct up_attach_event *e, int err,
		    struct up_status *st);

#endif
