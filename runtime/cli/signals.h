/*
 * Signals that end a run, and that of a child's end, as descriptors to poll.
 */
#ifndef UP_CLI_SIGNALS_H
#define UP_CLI_SIGNALS_H

#include <stdbool.h>

struct up_signals {
	int stop_fd;  /* becomes and stays readable at SIGINT, SIGTERM or SIGHUP */
	int child_fd; /* becomes readable at SIGCHLD; up_signals_take() empties it */
};

/*
 * Catches them from here on, SIGINT also where a shell has it ignored for background jobs, SIGHUP
 * not where it is ignored (nohup). SIGPIPE is ignored: writes fail with EPIPE instead. 0 or -errno.
 */
int up_signals_init(struct up_signals *s);
/*
 * As long as nothing has to be undone, a signal ends the program at once: with status 0 and a
 * sentence where a run was being prepared, as a signal does elsewhere. From up_signals_defer() on
 * it is only noted.
 */
void up_signals_quick(bool is_run);
void up_signals_defer(void);

/* Has one of the signals come that end a run? */
bool up_signals_stopped(void);
/*
 * 0; 1 from then on; 2 when another one came half a second later or more, from somebody who does
 * not want to wait. (timeout(1) sends its signal twice, a moment apart.)
 */
unsigned up_signals_urgency(void);
void up_signals_take(const struct up_signals *s);

#endif
