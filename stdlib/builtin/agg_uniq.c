/*
 * uniq(x): the number of distinct values. A cell keeps the hashes of up to EXACT values; with more
 * it estimates (HyperLogLog with Ertl's estimator, 2^16 registers: a standard error of 0.4 %).
 *
 * The hash of a number is a permutation of its bits, so of numbers the exact count is exact; two
 * texts have the same hash with a chance of one in 10^19.
 */
#include <math.h>
#include <string.h>

#include "stdlib/builtin/agg.h"

#define EXACT 10000
#define FIRST_SLOTS 8
#define REGISTER_BITS 16
#define NR_REGISTERS (1u << REGISTER_BITS)

struct uniq_cell {
	uint64_t *slots;    /* a hash set, 0 is an empty slot; NULL once there are registers */
	uint8_t *registers; /* of each: the longest run of zeros, plus one, of its hashes */
	uint32_t nr_slots;  /* a power of two */
	uint32_t count;     /* hashes in the set */
	bool has_zero;      /* was there the hash 0, which no slot can keep? */
};

/* ---- hashes ---- */

/* A permutation of 64 bits whose every output bit depends on every input bit. */
static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93;
	return h ^ h >> 32;
}

static uint64_t hash_bytes(const struct up_value *v)
{
	uint64_t h = mix(v->len | (uint64_t)(v->flags & UP_VALUE_CUT) << 32), word;
	size_t at = 0;

	for (; v->len - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, v->p + at, sizeof(word));
		h = mix(h ^ word) * 0x9e3779b97f4a7c15;
	}
	word = 0;
	if (v->len > at)
		memcpy(&word, v->p + at, v->len - at);
	return mix(h ^ word);
}

static uint64_t hash_value(struct up_type t, const struct up_value *v)
{
	struct up_value f = { .f = v->f == 0 ? 0 : v->f };

	if (up_ty_has_bytes(t.ty))
		return hash_bytes(v);
	if (t.ty == TY_FLOAT)
		return mix(f.f != f.f ? (uint64_t)0x7ff8 << 48 : f.u);
	return mix(v->u);
}

/* ---- the set ---- */

/* The slot of a hash, or the empty one where it would be. */
static uint64_t *find_slot(uint64_t *slots, uint32_t nr, uint64_t hash)
{
	uint32_t i = (uint32_t)hash & (nr - 1);

	while (slots[i] && slots[i] != hash)
		i = (i + 1) & (nr - 1);
	return &slots[i];
}

static bool grow_set(struct uniq_cell *c, const struct up_agg_cx *cx)
{
	uint32_t nr = c->nr_slots ? c->nr_slots * 2 : FIRST_SLOTS;
	uint64_t *slots = up_agg_grow(cx, NULL, 0, nr * sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < c->nr_slots; i++)
		if (c->slots[i])
			*find_slot(slots, nr, c->slots[i]) = c->slots[i];
	up_agg_grow(cx, c->slots, c->nr_slots * sizeof(*c->slots), 0);
	c->slots = slots;
	c->nr_slots = nr;
	return true;
}

/* ---- registers ---- */

static void note(uint8_t *registers, uint64_t hash)
{
	uint64_t rest = hash << REGISTER_BITS;
	uint8_t run = rest ? (uint8_t)(__builtin_clzll(rest) + 1) : 64 - REGISTER_BITS + 1;
	uint8_t *r = &registers[hash >> (64 - REGISTER_BITS)];

	if (run > *r)
		*r = run;
}

static bool start_registers(struct uniq_cell *c, const struct up_agg_cx *cx)
{
	c->registers = up_agg_grow(cx, NULL, 0, NR_REGISTERS);
	if (!c->registers)
		return false;
	for (uint32_t i = 0; i < c->nr_slots; i++)
		if (c->slots[i])
			note(c->registers, c->slots[i]);
	if (c->has_zero)
		note(c->registers, 0);
	up_agg_grow(cx, c->slots, c->nr_slots * sizeof(*c->slots), 0);
	c->slots = NULL;
	return true;
}

/* Sums of the estimator: x + x^2 + 2 x^4 + 4 x^8 ..., and its counterpart for full registers. */
static double sigma(double x)
{
	double y = 1, z = x, last;

	if (x == 1)
		return HUGE_VAL;
	do {
		x *= x;
		last = z;
		z += x * y;
		y += y;
	} while (z != last);
	return z;
}

static double tau(double x)
{
	double y = 1, z = 1 - x, last;

	if (x == 0 || x == 1)
		return 0;
	do {
		x = sqrt(x);
		last = z;
		y /= 2;
		z -= (1 - x) * (1 - x) * y;
	} while (z != last);
	return z / 3;
}

static uint64_t estimate(const uint8_t *registers)
{
	enum { LONGEST = 64 - REGISTER_BITS };
	double nr[LONGEST + 2] = { 0 }, m = NR_REGISTERS;

	for (uint32_t i = 0; i < NR_REGISTERS; i++)
		nr[registers[i]]++;
	double z = m * tau(1 - nr[LONGEST + 1] / m);
	for (int k = LONGEST; k >= 1; k--)
		z = (z + nr[k]) / 2;
	z += m * sigma(nr[0] / m);
	double n = m * m / (2 * M_LN2 * z);
	return n < EXACT + 1 ? EXACT + 1 : n < 0x1p63 ? (uint64_t)llround(n) : UINT64_MAX;
}

/* ---- the row ---- */

static uint32_t count_exact(const struct uniq_cell *c)
{
	return c->count + c->has_zero;
}

/* A hash that is not in the set. */
static bool add_new(struct uniq_cell *c, const struct up_agg_cx *cx, uint64_t hash)
{
	if (count_exact(c) == EXACT) {
		if (!start_registers(c, cx))
			return false;
		note(c->registers, hash);
		return true;
	}
	if (!hash) {
		c->has_zero = true;
		return true;
	}
	if ((c->count + 1) * 4 > c->nr_slots * 3 && !grow_set(c, cx))
		return false;
	*find_slot(c->slots, c->nr_slots, hash) = hash;
	c->count++;
	return true;
}

static bool uniq_add(void *cell, const struct up_agg_cx *cx, const struct up_value *v)
{
	struct uniq_cell *c = cell;
	uint64_t hash = hash_value(cx->types[0], v);

	if (c->registers) {
		note(c->registers, hash);
		return true;
	}
	if (hash ? c->slots && *find_slot(c->slots, c->nr_slots, hash) : c->has_zero)
		return true;
	return add_new(c, cx, hash);
}

static void uniq_fini(void *cell, const struct up_agg_cx *cx)
{
	struct uniq_cell *c = cell;

	up_agg_grow(cx, c->slots, c->slots ? c->nr_slots * sizeof(*c->slots) : 0, 0);
	up_agg_grow(cx, c->registers, c->registers ? NR_REGISTERS : 0, 0);
	*c = (struct uniq_cell){ 0 };
}

static struct up_value uniq_field(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	const struct uniq_cell *c = cell;

	(void)cx;
	(void)field;
	return (struct up_value){ .u = c->registers ? estimate(c->registers) : count_exact(c) };
}

static const struct up_agg_field uniq_fields[] = { { "uniq", NULL, "how many distinct values" } };

const struct up_agg_row up_agg_uniq = {
	.name = "uniq",
	.signature = "uniq(x)",
	.help = "how many distinct values x has, of any type: exact up to 10,000, then within 2 %",
	.min_args = 1,
	.max_args = 1,
	.cell_size = sizeof(struct uniq_cell),
	.check = up_agg_check_any,
	.add = uniq_add,
	.fini = uniq_fini,
	.fields = uniq_fields,
	.nr_fields = UP_NR(uniq_fields),
	.field_type = up_agg_count_type,
	.field = uniq_field,
};
