/* The part of a session that reads events as the kernel's text: internal to it. */
#ifndef UP_SESSION_TEXT_H
#define UP_SESSION_TEXT_H

#include "runtime/session.h"

/* Opens trace_pipe of the instance, beside the binary buffers: those tell when there is something.
 */
int up_session_text_open(struct up_session *s, struct up_status *st);
void up_session_text_close(struct up_session *s);

/* Handles everything up to `limit`. */
int up_session_text_handle(struct up_session *s, uint64_t limit, bool *handled,
			   struct up_status *st);

#endif
