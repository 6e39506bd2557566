/*
 * Signals that end a run, and that of a child's end, as descriptors to poll.
 */
#ifndef UP_CLI_SIGNALS_H
#define UP_CLI_SIGNALS_H

#include <stdbool.h>

struct up_signals {
	int stop_fd;   /* becomes and stays readable at SIGINT, SIGTERM or SIGHUP */
	int child_fd;  /* becomes readable at SIGCHLD; up_signals_take() empties it */
	int notice_fd; /* at a prompt: becomes readable when up_signals_notices() has something, and
			* stays so when stop_fd does */
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

/*
 * At a prompt some signals do not end the program: they are noted, and with them
 * up_signals_urgency() is 1 until they have been asked for.
 */
enum up_notice {
	UP_NOTICE_INTERRUPT = 1, /* SIGINT, SIGQUIT */
	UP_NOTICE_RESIZE = 2,    /* SIGWINCH */
	UP_NOTICE_SUSPEND = 4    /* SIGTSTP */
};
void up_signals_at_prompt(void);
/* Which have come since this was asked last: enum up_notice, or-ed. */
unsigned up_signals_notices(const struct up_signals *s);

/* Has one of the signals come that end a run? */
bool up_signals_stopped(void);
/*
 * 0; 1 from then on; 2 when another one came half a second later or more, from somebody who does
 * not want to wait. (timeout(1) sends its signal twice, a moment apart.)
 */
unsigned up_signals_urgency(void);
void up_signals_take(const struct up_signals *s);

#endif
