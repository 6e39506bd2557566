/* Chance for trials: a stream of numbers, from a fuzzer's data or made up. */
#ifndef UP_TESTS_DICE_H
#define UP_TESTS_DICE_H

#include <stdint.h>
#include <string.h>

struct dice {
	const uint8_t *data; /* is used first */
	size_t len;
	uint64_t state; /* 0: when the data are used up all is 0 */
};

static inline uint64_t roll64(struct dice *d)
{
	uint64_t v = 0;

	if (d->len || !d->state) {
		size_t n = d->len < 8 ? d->len : 8;

		memcpy(&v, d->data, n);
		d->data += n;
		d->len -= n;
		return v;
	}
	d->state ^= d->state << 13;
	d->state ^= d->state >> 7;
	d->state ^= d->state << 17;
	return d->state;
}

static inline unsigned roll(struct dice *d, unsigned n)
{
	if (!d->len)
		return (unsigned)(roll64(d) >> 11) % n;
	d->len--;
	return *d->data++ % n;
}

/* Numbers where things change: of all widths and signs, and neighbours of them. */
static inline uint64_t roll_number(struct dice *d)
{
	static const uint64_t edges[] = { 0,           1,
					  2,           5,
					  10,          0x7f,
					  0x80,        0xff,
					  0x100,       0x7fff,
					  0x8000,      0xffff,
					  0x10000,     0x7fffffff,
					  0x80000000,  0xffffffff,
					  0x100000000, (uint64_t)1 << 56,
					  INT64_MAX,   (uint64_t)1 << 63 };
	uint64_t v = edges[roll(d, sizeof(edges) / sizeof(*edges))];

	switch (roll(d, 8)) {
	case 0:
		return roll64(d);
	case 1:
		return v + 1;
	case 2:
		return v - 1;
	case 3:
		return -v;
	default:
		return v;
	}
}

#endif
