/*
 * Hash table: open addressing with linear probing over small slots that hold a hash and a row
 * number; a row is a head, with the key when it is short, and the value behind it. Deleting moves
 * the slots behind back instead of leaving a mark, so that a table never gets slow with age.
 */
#include "runtime/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_SLOTS 16
#define FIRST_ROWS 8
#define SPARSE 64 /* of so many slots one was used: clearing all would take too long */
#define SMALL_SLOTS                                                                    \
	4096 /* a table of no more is kept sparser: it is in the caches, and then what \
		costs time is looking at a second slot */
#define INLINE_KEY 32
#define SMALL_PAGE 4096u
#define HUGE_FROM ((size_t)2 << 20) /* arrays of this size and more ask for huge pages */
#define DEAD UINT32_MAX             /* key_len of a deleted row */
#define NO_ROW UINT32_MAX

/*
 * A part of a key is a word with its tag in the low and a length in the high half, then a number as
 * a word or the bytes of a string, filled up with zeros. All is in whole words, because a processor
 * is slow to read a word that was just written in pieces.
 */
enum part { PART_INT = 1, PART_FLOAT, PART_STR, PART_CUT, PART_FAULT };

#define WORD sizeof(uint64_t)
#define NUMBER_KEY (2 * WORD) /* bytes of a key of one number */

struct slot {
	uint32_t hash; /* of the row's key */
	uint32_t row;  /* its index + 1; 0 for an empty slot */
};

struct row {
	uint32_t key_len; /* DEAD when there is no row */
	union {
		uint32_t hash;      /* of the key */
		uint32_t next_free; /* of a deleted row */
	};
	union {
		unsigned char key[INLINE_KEY]; /* when it fits */
		size_t key_off;                /* else where it is in t->keys */
	};
};

/* ---- hash ---- */

static uint64_t load8(const unsigned char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static uint32_t load4(const unsigned char *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

/* Both halves of the product: every bit of a and b reaches every bit of the result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#define ODD1 0x9e3779b97f4a7c15u
#define ODD2 0xd1b54a32d192ed03u

/* The last step: two words, and what was made of those before them and of the length. */
static uint32_t hash_words(uint64_t seed, uint64_t a, uint64_t b, uint64_t h)
{
	h = mix(mix(a ^ ODD1, b ^ h) ^ seed, ODD2);
	return (uint32_t)(h >> 32 ^ h);
}

/* Reads each byte at least once; short keys by two loads that overlap. */
static uint32_t hash_key(uint64_t seed, const void *key, size_t len)
{
	const unsigned char *p = key;
	uint64_t a = 0, b = 0, h = seed ^ len;

	if (len >= 8) {
		size_t at = 0;

		for (; len - at > 16; at += 16)
			h = mix(load8(p + at) ^ ODD1 ^ seed, load8(p + at + 8) ^ h);
		a = load8(p + (len < 16 ? 0 : len - 16));
		b = load8(p + len - 8);
	} else if (len >= 4) {
		a = load4(p);
		b = load4(p + len - 4);
	} else if (len) {
		a = (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1];
	}
	return hash_words(seed, a, b, h);
}

static bool same_bytes(const void *x, const void *y, size_t len)
{
	const unsigned char *a = x, *b = y;

	if (len > 16)
		return !memcmp(a, b, len);
	if (len >= 8)
		return load8(a) == load8(b) && load8(a + len - 8) == load8(b + len - 8);
	if (len >= 4)
		return load4(a) == load4(b) && load4(a + len - 4) == load4(b + len - 4);
	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Unknown to the traced program, so that it cannot choose keys that fall into one place. */
static uint64_t choose_seed(const void *salt)
{
	uint64_t seed;
	struct timespec now;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		return seed;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return mix((uint64_t)now.tv_nsec ^ 0x9e3779b97f4a7c15, (uintptr_t)salt | 1);
}

/* ---- rows ---- */

static struct row *row_at(const struct up_table *t, size_t index)
{
	return (struct row *)(void *)(t->rows + index * t->stride);
}

static const void *row_key(const struct up_table *t, const struct row *r)
{
	return r->key_len > INLINE_KEY ? (const void *)(t->keys + r->key_off) : r->key;
}

void up_table_init(struct up_table *t, size_t value_size, size_t max_rows)
{
	*t = (struct up_table){ .value_size = value_size, .free_row = NO_ROW };
	if (__builtin_add_overflow(value_size, sizeof(struct row) + 7, &t->stride))
		t->stride = SIZE_MAX; /* no row can be made */
	t->stride &= ~(size_t)7;
	t->max_rows = max_rows && max_rows < UP_TABLE_MAX_ROWS ? max_rows : UP_TABLE_MAX_ROWS;
	t->seed = choose_seed(t);
}

void up_table_fini(struct up_table *t)
{
	free(t->slots);
	free(t->rows);
	free(t->keys);
	*t = (struct up_table){ .free_row = NO_ROW };
}

/* The slot of a key, or the empty one where it would go. There is always an empty slot. */
static struct slot *find_slot(const struct up_table *t, uint32_t hash, const void *key, size_t len)
{
	size_t mask = t->nr_slots - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct slot *s = &t->slots[i];

		if (!s->row)
			return s;
		if (s->hash != hash)
			continue;
		const struct row *r = row_at(t, s->row - 1);
		if (r->key_len == len && same_bytes(row_key(t, r), key, len))
			return s;
	}
}

/* Before its first use: a fault costs more than clearing 4 KiB. It is only advice. */
static void advise(void *array, size_t size)
{
	uintptr_t start = ((uintptr_t)array + SMALL_PAGE - 1) / SMALL_PAGE * SMALL_PAGE;
	uintptr_t end = ((uintptr_t)array + size) / SMALL_PAGE * SMALL_PAGE;

	if (size >= HUGE_FROM)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

static bool grow_slots(struct up_table *t)
{
	size_t nr = t->nr_slots ? t->nr_slots * 2 : FIRST_SLOTS, mask = nr - 1;
	struct slot *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	advise(slots, nr * sizeof(*slots));
	for (size_t i = 0; i < t->nr_slots; i++) {
		size_t to = t->slots[i].hash & mask;

		if (!t->slots[i].row)
			continue;
		while (slots[to].row)
			to = (to + 1) & mask;
		slots[to] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->nr_slots = nr;
	return true;
}

static bool grow_rows(struct up_table *t)
{
	size_t cap = t->cap_rows ? t->cap_rows * 2 : FIRST_ROWS, size;

	if (cap > t->max_rows)
		cap = t->max_rows;
	if (__builtin_mul_overflow(cap, t->stride, &size))
		return false;
	char *rows = realloc(t->rows, size);
	if (!rows)
		return false;
	advise(rows, size);
	t->rows = rows;
	t->cap_rows = cap;
	return true;
}

/*
 * Makes room for `more` bytes of long keys and drops those of deleted rows. The new room is in
 * proportion to what is copied and to the rows looked at, so that the cost per row stays bounded.
 */
static bool grow_keys(struct up_table *t, size_t more)
{
	size_t live = t->keys_len - t->keys_unused, cap = 1024, at = 0;

	while (cap < 2 * (live + more) + 8 * t->nr_rows)
		cap *= 2;
	char *keys = malloc(cap);
	if (!keys)
		return false;
	for (size_t i = 0; i < t->nr_rows; i++) {
		struct row *r = row_at(t, i);

		if (r->key_len == DEAD || r->key_len <= INLINE_KEY)
			continue;
		memcpy(keys + at, t->keys + r->key_off, r->key_len);
		r->key_off = at;
		at += r->key_len;
	}
	free(t->keys);
	t->keys = keys;
	t->keys_cap = cap;
	t->keys_len = at;
	t->keys_unused = 0;
	return true;
}

/* Room for one more row with a key of that length. On failure the table is as it was. */
static bool make_room(struct up_table *t, size_t key_len)
{
	if (t->free_row == NO_ROW && t->nr_rows == t->cap_rows && !grow_rows(t))
		return false;
	if (key_len > INLINE_KEY && t->keys_cap - t->keys_len < key_len && !grow_keys(t, key_len))
		return false;
	size_t most = t->nr_slots <= SMALL_SLOTS ? t->nr_slots / 8 : t->nr_slots / 2;
	return t->count < most || grow_slots(t);
}

static uint32_t take_index(struct up_table *t)
{
	uint32_t index = t->free_row;

	if (index == NO_ROW)
		return (uint32_t)t->nr_rows++;
	t->free_row = row_at(t, index)->next_free;
	return index;
}

/* The index of the new row, or NO_ROW, counted. */
static uint32_t add_row(struct up_table *t, uint32_t hash, const void *key, size_t key_len)
{
	if (t->count == t->max_rows || key_len >= DEAD) {
		t->overflow++;
		return NO_ROW;
	}
	if (!make_room(t, key_len)) {
		t->overflow++;
		t->no_memory = true;
		return NO_ROW;
	}
	uint32_t index = take_index(t);
	struct row *r = row_at(t, index);
	*r = (struct row){ .key_len = (uint32_t)key_len, .hash = hash };
	if (key_len > INLINE_KEY) {
		r->key_off = t->keys_len;
		memcpy(t->keys + t->keys_len, key, key_len);
		t->keys_len += key_len;
	} else if (key_len) {
		memcpy(r->key, key, key_len);
	}
	memset(r + 1, 0, t->value_size);
	*find_slot(t, hash, key, key_len) = (struct slot){ hash, index + 1 };
	t->count++;
	return index;
}

static void *value_at(const struct up_table *t, uint32_t index)
{
	return index == NO_ROW ? NULL : row_at(t, index) + 1;
}

void *up_table_at(struct up_table *t, const void *key, size_t key_len)
{
	uint32_t hash = hash_key(t->seed, key, key_len);

	if (t->nr_slots) {
		const struct slot *s = find_slot(t, hash, key, key_len);

		if (s->row)
			return row_at(t, s->row - 1) + 1;
	}
	return value_at(t, add_row(t, hash, key, key_len));
}

static bool is_number(const struct row *r, uint64_t number)
{
	return r->key_len == NUMBER_KEY && load8(r->key) == PART_INT &&
	       load8(r->key + WORD) == number;
}

static uint32_t hash_number(const struct up_table *t, uint64_t number)
{
	return hash_words(t->seed, PART_INT, number, t->seed ^ NUMBER_KEY);
}

/* The row of a number, a new one if need be; or NO_ROW, counted. */
static uint32_t at_number(struct up_table *t, uint32_t hash, uint64_t number)
{
	const uint64_t key[] = { PART_INT, number };
	size_t mask = t->nr_slots - 1;

	for (size_t i = hash & mask; t->nr_slots && t->slots[i].row; i = (i + 1) & mask)
		if (t->slots[i].hash == hash && is_number(row_at(t, t->slots[i].row - 1), number))
			return t->slots[i].row - 1;
	return add_row(t, hash, key, sizeof(key));
}

void *up_table_at_number(struct up_table *t, uint64_t number)
{
	return value_at(t, at_number(t, hash_number(t, number), number));
}

/* Has the caches get what at_number() will look at. */
static void fetch_ahead(const struct up_table *t, const uint32_t *hashes, size_t nr)
{
	size_t mask = t->nr_slots - 1;

	for (size_t i = 0; i < nr; i++)
		__builtin_prefetch(&t->slots[hashes[i] & mask]);
	for (size_t i = 0; i < nr; i++) {
		uint32_t row = t->slots[hashes[i] & mask].row;

		if (row) /* most often it is the one */
			__builtin_prefetch(row_at(t, row - 1));
	}
}

static void move_values(void **values, size_t nr, uintptr_t distance)
{
	for (size_t i = 0; i < nr; i++)
		if (values[i])
			values[i] = (void *)((uintptr_t)values[i] + distance);
}

/* Of those that stand in their first slot, up to the first that does not; returns how many. */
static size_t find_numbers(const struct up_table *t, const uint32_t *hashes,
			   const uint64_t *numbers, size_t nr, void **values)
{
	size_t mask = t->nr_slots - 1, i = 0;

	for (; t->nr_slots && i < nr; i++) {
		const struct slot *s = &t->slots[hashes[i] & mask];

		if (!s->row || s->hash != hashes[i])
			break;
		struct row *r = row_at(t, s->row - 1);
		if (!is_number(r, numbers[i]))
			break;
		values[i] = r + 1;
	}
	return i;
}

void up_table_at_numbers(struct up_table *t, const uint64_t *numbers, size_t nr, void **values)
{
	uint32_t hashes[UP_TABLE_MANY];

	for (size_t i = 0; i < nr; i++)
		hashes[i] = hash_number(t, numbers[i]);
	if (t->nr_slots > SMALL_SLOTS)
		fetch_ahead(t, hashes, nr);
	for (size_t i = 0; i < nr; i++) {
		i += find_numbers(t, hashes + i, numbers + i, nr - i, values + i);
		if (i == nr)
			break;
		uintptr_t rows = (uintptr_t)t->rows;
		values[i] = value_at(t, at_number(t, hashes[i], numbers[i]));
		if (rows != (uintptr_t)t->rows) /* the table has grown */
			move_values(values, i, (uintptr_t)t->rows - rows);
	}
}

void *up_table_find(const struct up_table *t, const void *key, size_t key_len)
{
	if (!t->count)
		return NULL;
	const struct slot *s = find_slot(t, hash_key(t->seed, key, key_len), key, key_len);
	return s->row ? row_at(t, s->row - 1) + 1 : NULL;
}

/* Empties a slot; moves into the hole what could then not be found behind it. */
static void empty_slot(struct up_table *t, size_t hole)
{
	size_t mask = t->nr_slots - 1;

	for (size_t i = (hole + 1) & mask; t->slots[i].row; i = (i + 1) & mask) {
		size_t home = t->slots[i].hash & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole] = (struct slot){ 0, 0 };
}

bool up_table_delete(struct up_table *t, const void *key, size_t key_len)
{
	if (!t->count)
		return false;
	struct slot *s = find_slot(t, hash_key(t->seed, key, key_len), key, key_len);
	if (!s->row)
		return false;
	uint32_t index = s->row - 1;
	struct row *r = row_at(t, index);
	if (r->key_len > INLINE_KEY)
		t->keys_unused += r->key_len;
	r->key_len = DEAD;
	r->next_free = t->free_row;
	t->free_row = index;
	t->count--;
	empty_slot(t, (size_t)(s - t->slots));
	return true;
}

void up_table_clear(struct up_table *t)
{
	if (t->nr_rows < t->nr_slots / SPARSE) {
		free(t->slots);
		t->slots = NULL;
		t->nr_slots = 0;
	} else if (t->nr_slots) {
		memset(t->slots, 0, t->nr_slots * sizeof(*t->slots));
	}
	t->nr_rows = t->count = t->keys_len = t->keys_unused = 0;
	t->free_row = NO_ROW;
}

void *up_table_row(const struct up_table *t, size_t index, const void **key, size_t *key_len)
{
	struct row *r = row_at(t, index);

	if (r->key_len == DEAD)
		return NULL;
	*key = row_key(t, r);
	*key_len = r->key_len;
	return r + 1;
}

/* ---- keys ---- */

void up_key_fini(struct up_key *k)
{
	free(k->p);
	*k = (struct up_key){ 0 };
}

static bool grow_key(struct up_key *k, size_t size)
{
	size_t cap = k->cap ? k->cap : 64;

	while (cap - k->len < size)
		cap *= 2;
	unsigned char *p = realloc(k->p, cap);
	if (!p) {
		k->failed = true;
		return false;
	}
	k->p = p;
	k->cap = cap;
	return true;
}

/* Appends a part's first word; returns where its `size` more bytes go, or NULL without memory. */
static unsigned char *start_part(struct up_key *k, enum part tag, uint32_t len, size_t size)
{
	uint64_t word = (uint64_t)len << 32 | tag;

	if (k->failed || (k->cap - k->len < WORD + size && !grow_key(k, WORD + size)))
		return NULL;
	unsigned char *to = k->p + k->len;
	memcpy(to, &word, WORD);
	k->len += WORD + size;
	return to + WORD;
}

static void add_number(struct up_key *k, enum part tag, uint64_t word)
{
	unsigned char *to = start_part(k, tag, 0, WORD);

	if (to)
		memcpy(to, &word, WORD);
}

static size_t whole_words(uint32_t len)
{
	return ((size_t)len + WORD - 1) / WORD * WORD;
}

static void add_string(struct up_key *k, enum part tag, const char *s, uint32_t len)
{
	size_t size = whole_words(len);
	unsigned char *to = start_part(k, tag, len, size);

	if (!to || !len)
		return;
	memset(to + size - WORD, 0, WORD);
	memcpy(to, s, len);
}

/* The bits of a float, the same for all that compare equal, and for every NaN. */
static uint64_t float_bits(double f)
{
	uint64_t bits;

	if (f != f)
		return 0x7ff8000000000000;
	f = f == 0 ? 0 : f;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

void up_key_add(struct up_key *k, enum up_ty ty, const struct up_value *v)
{
	if (v->flags & UP_VALUE_FAULT)
		start_part(k, PART_FAULT, 0, 0);
	else if (up_ty_has_bytes(ty))
		add_string(k, v->flags & UP_VALUE_CUT ? PART_CUT : PART_STR, v->p, v->len);
	else if (ty == TY_FLOAT)
		add_number(k, PART_FLOAT, float_bits(v->f));
	else
		add_number(k, PART_INT, v->u);
}

bool up_key_next(const void *key, size_t len, size_t *pos, enum up_ty *ty, struct up_value *v)
{
	static const enum up_ty types[] = { TY_NONE, TY_INT, TY_FLOAT, TY_STR, TY_STR, TY_NONE };
	const unsigned char *p = (const unsigned char *)key + *pos;
	size_t left = len - *pos, size = 0;

	*v = (struct up_value){ 0 };
	if (left < WORD)
		return false;
	uint32_t tag = (uint32_t)load8(p), text_len = (uint32_t)(load8(p) >> 32);
	if (tag < PART_INT || tag > PART_FAULT)
		return false;
	if (tag != PART_FAULT)
		size = types[tag] == TY_STR ? whole_words(text_len) : WORD;
	if (left - WORD < size)
		return false;
	*ty = types[tag];
	if (tag == PART_INT || tag == PART_FLOAT)
		v->u = load8(p + WORD);
	else if (tag != PART_FAULT)
		*v = (struct up_value){ .p = (const char *)p + WORD, .len = text_len };
	v->flags = tag == PART_FAULT ? UP_VALUE_FAULT : tag == PART_CUT ? UP_VALUE_CUT : 0;
	*pos += WORD + size;
	return true;
}
