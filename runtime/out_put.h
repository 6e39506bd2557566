/*
 * Small pieces of output that several forms share. They spare the cost of printf in what runs for
 * every hit.
 */
#ifndef UP_OUT_PUT_H
#define UP_OUT_PUT_H

#include "runtime/out.h"

#define UP_BOLD "\033[1m"
#define UP_DIM "\033[2m"
#define UP_PLAIN "\033[0m"

#define UP_PUT_DIGITS 65 /* of the longest number, in base 2, and a NUL */

/* The digits of u in a base up to 16, ending with a NUL at buf[UP_PUT_DIGITS - 1]; returns the
 * first. */
const char *up_put_digits(char buf[UP_PUT_DIGITS], uint64_t u, unsigned base, bool upper);

/* An integer, signed or not, in decimal. */
void up_put_dec(struct up_buf *b, uint64_t u, bool is_signed);
/* The same of 128 bits. */
void up_put_wide(struct up_buf *b, const struct up_wide *w);
/* "0x2a"; of a negative number no more than its type's bits. */
void up_put_hex(struct up_buf *b, struct up_type t, uint64_t u);
/* The shortest text that reads back as the same float of `bits` bits; "nan", "inf", "-inf". */
void up_put_float(struct up_buf *b, double f, unsigned bits);
/* The same for people: six digits, or all before the point. */
void up_put_float_short(struct up_buf *b, double f);

/*
 * Time of day in the local zone, "13:14:15.123456". Where nothing is known of the wall clock
 * (o->wall_offset is 0) seconds since boot, "12.123456".
 */
void up_put_clock(struct up_buf *b, const struct up_out *o, uint64_t time);
/* "2024-05-06T13:14:15.123456789Z" */
void up_put_utc(struct up_buf *b, const struct up_out *o, uint64_t time);

/* A name, escaped for the terminal. */
void up_put_escaped(struct up_buf *b, const char *s);

/* Bytes as hexadecimal digits: "deadbeef". */
void up_put_bytes(struct up_buf *b, const char *s, size_t len);

/* Appends `text` in `width` columns at least, to the right or to the left of spaces. */
void up_put_padded(struct up_buf *b, const struct up_buf *text, size_t width, bool to_right);

#endif
