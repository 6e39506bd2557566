/* The parts of a session that record and that count: internal to it. */
#ifndef UP_SESSION_INT_H
#define UP_SESSION_INT_H

#include "runtime/session.h"

/* The probes are armed: has the recording say what there is. */
int up_session_record_begin(struct up_session *s, struct up_status *st);
/* How full, in percent, a ring buffer is to be when its pages are written; 0: as events come. */
unsigned up_session_record_percent(void);
/* Writes the pages that there are. *gather: are the next ones to be waited for unwatched? */
int up_session_record_round(struct up_session *s, bool *gather, struct up_status *st);
/* Nothing more comes: writes all that there is. */
int up_session_record_rest(struct up_session *s, struct up_status *st);
/* Ends the recording, which says how many events were lost. */
int up_session_record_end(struct up_session *s, uint64_t lost, struct up_status *st);

/* Nothing more comes and all was read: closes the account of hits. */
void up_session_account(struct up_session *s);

#endif
