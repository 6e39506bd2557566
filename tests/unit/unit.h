/*
 * What the unit tests share: CHECK counts, says where it failed and goes on; unit_report() ends a
 * test.
 */
#ifndef UP_TESTS_UNIT_H
#define UP_TESTS_UNIT_H

#include <stdio.h>
#include <string.h>

#include "lang/base/buf.h"

static unsigned unit_checks, unit_failures;

#define CHECK(cond)                                                                        \
	do {                                                                               \
		unit_checks++;                                                             \
		if (!(cond)) {                                                             \
			unit_failures++;                                                   \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond); \
		}                                                                          \
	} while (0)

/* Compares what a buffer holds with a string, then empties the buffer. */
#define CHECK_BUF(b, want) unit_check_buf((b), (want), sizeof(want) - 1, __FILE__, __LINE__)

static inline void unit_check_buf(struct up_buf *b, const char *want, size_t len, const char *file,
				  int line)
{
	unit_checks++;
	if (b->failed || b->len != len || (len && memcmp(b->s, want, len))) {
		unit_failures++;
		fprintf(stderr, "%s:%d: got  %s\n%s:%d: want %s\n", file, line, b->s ? b->s : "",
			file, line, want);
	}
	up_buf_reset(b);
}

/* The exit status of a test program. */
static inline int unit_report(const char *name)
{
	printf("%s: %u checks, %u failed\n", name, unit_checks, unit_failures);
	return unit_failures != 0;
}

#endif
