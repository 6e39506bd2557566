/*
 * Life-cycle events in trace text. What the thread's name, which can hold anything, leaves of the
 * line is read from both ends.
 */
#include "runtime/texttask.h"

#include "runtime/textscan.h"

#define COMM_MAX 15 /* bytes of a thread's name */

static bool scan_tid(struct up_textscan *c, int32_t *tid)
{
	uint64_t v;

	if (!up_textscan_decimal(c, INT32_MAX, &v))
		return false;
	*tid = (int32_t)v;
	return true;
}

static bool scan_signed(struct up_textscan *c)
{
	uint64_t v;

	up_textscan_char(c, '-');
	return up_textscan_decimal(c, INT32_MAX, &v);
}

/* " clone_flags=3d0f00 oom_score_adj=0", to the end */
static bool scan_born_tail(struct up_textscan c, struct up_texttask *t)
{
	return up_textscan_word(&c, " clone_flags=") &&
	       up_textscan_hex(&c, UINT64_MAX, &t->flags) &&
	       up_textscan_word(&c, " oom_score_adj=") && scan_signed(&c) &&
	       up_textscan_blanks(&c) && c.p == c.end;
}

/* " pid=12 prio=120", since 6.16 with " group_dead=true", to the end */
static bool scan_died_tail(struct up_textscan c, struct up_texttask *t)
{
	if (!up_textscan_word(&c, " pid=") || !scan_tid(&c, &t->tid) ||
	    !up_textscan_word(&c, " prio=") || !scan_signed(&c))
		return false;
	if (up_textscan_word(&c, " group_dead=") && !up_textscan_word(&c, "true") &&
	    !up_textscan_word(&c, "false"))
		return false;
	return up_textscan_blanks(&c) && c.p == c.end;
}

/* Looks for the tail behind a name at c. A name is short, so it cannot hold a tail. */
static enum up_textargs_result scan_tail(struct up_textscan c, struct up_texttask *t,
					 bool (*tail)(struct up_textscan c, struct up_texttask *t))
{
	for (size_t i = 0; i <= COMM_MAX && c.p < c.end; i++, c.p++)
		if (*c.p == ' ' && tail(c, t))
			return UP_TEXTARGS_OK;
	return UP_TEXTARGS_OPEN;
}

enum up_textargs_result up_texttask_born(const char *s, size_t len, struct up_texttask *t)
{
	struct up_textscan c = { s, s + len };

	if (!up_textscan_word(&c, "pid=") || !scan_tid(&c, &t->tid) ||
	    !up_textscan_word(&c, " comm="))
		return UP_TEXTARGS_OTHER;
	return scan_tail(c, t, scan_born_tail);
}

enum up_textargs_result up_texttask_died(const char *s, size_t len, struct up_texttask *t)
{
	struct up_textscan c = { s, s + len };

	t->flags = 0;
	if (!up_textscan_word(&c, "comm="))
		return UP_TEXTARGS_OTHER;
	return scan_tail(c, t, scan_died_tail);
}
