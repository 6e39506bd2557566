/*
 * Arithmetic on 64-bit values, as C has it where C says what happens, and without traps where it
 * does not. The machine computes with it, and so does the compiler on constants.
 */
#ifndef UP_ARITH_H
#define UP_ARITH_H

#include <stdbool.h>
#include <stdint.h>

/* The lowest bits, widened by their sign or with zeros; `bits` from 1 to 64. */
static inline uint64_t up_cast(uint64_t v, unsigned bits, bool is_signed)
{
	unsigned shift = 64 - bits;

	if (bits == 0 || bits >= 64)
		return v;
	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

/* Quotients are cut towards zero. b is not 0. */
static inline uint64_t up_divide(uint64_t a, uint64_t b, bool is_signed)
{
	if (!is_signed)
		return a / b;
	if (b == UINT64_MAX) /* INT64_MIN / -1 would trap */
		return 0 - a;
	return (uint64_t)((int64_t)a / (int64_t)b);
}

/* The remainder has the sign of a. b is not 0. */
static inline uint64_t up_remainder(uint64_t a, uint64_t b, bool is_signed)
{
	if (!is_signed)
		return a % b;
	return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

/* The count is taken modulo 64. */
static inline uint64_t up_shift_left(uint64_t a, uint64_t n)
{
	return a << (n & 63);
}

static inline uint64_t up_shift_right(uint64_t a, uint64_t n, bool is_signed)
{
	return is_signed ? (uint64_t)((int64_t)a >> (n & 63)) : a >> (n & 63);
}

static inline bool up_is_less(uint64_t a, uint64_t b, bool is_signed)
{
	return is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* A float cut towards zero, and kept in the range of an integer of `bits`; NaN is 0. */
static inline uint64_t up_truncate(double f, unsigned bits, bool is_signed)
{
	double above = is_signed ? 0x1p63 : 0x1p64; /* the first that is too large */
	uint64_t max = UINT64_MAX >> (64 - bits + is_signed);
	uint64_t min = is_signed ? ~max : 0;

	for (unsigned i = bits; i < 64; i++)
		above /= 2;
	if (f != f)
		return 0;
	if (f >= above)
		return max;
	if (f <= (is_signed ? -above : 0))
		return min;
	return is_signed ? (uint64_t)(int64_t)f : (uint64_t)f;
}

#endif
