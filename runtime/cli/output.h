/*
 * Where results go, as -o and -f say, and what is said on standard error.
 */
#ifndef UP_CLI_OUTPUT_H
#define UP_CLI_OUTPUT_H

#include "runtime/cli/opts.h"
#include "runtime/out.h"
#include "runtime/status.h"

/*
 * Opens the output. Once stop_fd is readable, nobody is waited for any more. The times of hits are
 * those of CLOCK_MONOTONIC, unless the caller sets out->wall_offset otherwise. 0 or -errno, with
 * *st.
 */
int up_output_open(const struct up_opts *o, int stop_fd, struct up_out *out, struct up_status *st);
/* Says why it could not be written, if it could not. */
void up_output_complain(const struct up_opts *o, const struct up_out *out);
/* The form's own end, and on standard error the last lines, unless they are not wanted. */
void up_output_end(const struct up_opts *o, struct up_out *out, const struct up_out_totals *t);
/* The last lines alone. */
void up_output_summary(const struct up_opts *o, const struct up_out_totals *t);
/* False when closing shows that something was not written; says so unless `quiet`. */
bool up_output_close(const struct up_opts *o, struct up_out *out, bool quiet);

/*
 * At a prompt what is said goes through its output, whose end of waiting holds for it, too. NULL
 * ends that.
 */
void up_output_at_prompt(struct up_out *out);
bool up_output_is_at_prompt(void);
/* Then: writes to it. False after a failure. */
bool up_output_put(const char *s, size_t len);

/* Prints "uptick: TEXT" on standard error. */
void up_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints "TEXT" there: what more there is to say. */
void up_remark(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same for a failure. */
void up_report(const struct up_status *st);
/* Writes to standard error, unless nobody takes it there; that is waited for once. */
void up_put_error(const char *s);

/* May what goes to this descriptor be coloured? */
bool up_may_colour(const struct up_opts *o, int fd);

#endif
