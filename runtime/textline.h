/*
 * A line of trace text, up to the event's own words: who, when, where, and the event's name. Reads
 * what the kernel's `trace` and `trace_pipe` write (also with the process, in the latency format,
 * and with a clock that counts something else), `trace-cmd report` and `perf script`. Knows nothing
 * of what an event means, and trusts no byte.
 *
 * The name of a thread can hold anything: blanks, brackets, what looks like the rest of the line.
 * But the kernel prints it into 16 columns (8 in the latency format), so where it ends is known.
 * Only of lines that somebody has trimmed the end is looked for, and has to be the only one
 * possible.
 */
#ifndef UP_TEXTLINE_H
#define UP_TEXTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UP_TEXTLINE_CPUS 8192 /* more than any kernel has; a CPU's number is smaller */

enum up_textline_kind {
	UP_TEXTLINE_EVENT,  /* somebody's event */
	UP_TEXTLINE_NOTE,   /* no event: empty, a comment, a line of a stack trace */
	UP_TEXTLINE_LOST,   /* says that events were lost; only cpu and lost are set */
	UP_TEXTLINE_UNKNOWN /* it cannot be told what it is */
};

struct up_textline {
	const char *comm; /* name of the thread, without the blanks in front; NULL: not known */
	size_t comm_len;
	pid_t tid;
	pid_t pid; /* its process, where the line has it; else 0 */
	uint32_t cpu;
	uint64_t time;    /* ns; of a clock without fractions, what it counts */
	const char *name; /* of the event, without group; "" for a line of a tracer */
	size_t name_len;
	const char *body; /* what stands behind the name */
	size_t body_len;
	uint64_t lost;   /* how many were lost, 0: some */
	bool is_trimmed; /* the name's end was looked for */
};

/* What is not set is zero. The line has no newline at its end, but may have some inside a name. */
enum up_textline_kind up_textline_parse(const char *s, size_t len, struct up_textline *line);

/* The comment with which the kernel replaces the rest of a line that was too long. */
#define UP_TEXTLINE_TOO_BIG "[LINE TOO BIG]"

#endif
