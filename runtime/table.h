/*
 * Hash table for aggregations and variables: a key of any bytes leads to a value of a fixed size.
 * Rows have indices in the order of insertion. Knows nothing of what its values mean.
 *
 * Keys are usually built by a struct up_key, so that they can be taken apart again for output.
 */
#ifndef UP_TABLE_H
#define UP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/value.h"

/* ---- keys ---- */

/*
 * Builds a key out of values: one tagged part each. Equal values give equal bytes, whatever the
 * width and the form in which their types show them. One builder serves many keys in turn.
 */
struct up_key {
	unsigned char *p; /* the key */
	size_t len;       /* its bytes */
	size_t cap;       /* allocated */
	bool failed;      /* memory ran out since up_key_reset(): do not use the key */
};

void up_key_fini(struct up_key *k);
/* Starts the next key and keeps the memory. */
static inline void up_key_reset(struct up_key *k)
{
	k->len = 0;
	k->failed = false;
}
/*
 * Appends a part. A fault is a part of its own, the same for every type. Bytes and arrays are
 * parts as strings are: what they are is known from the place in the key.
 */
void up_key_add(struct up_key *k, enum up_ty ty, const struct up_value *v);
/*
 * Takes the part at *pos out of a key and moves *pos behind it; a string is borrowed from the key.
 * False at the end, and for bytes that no up_key_add() made.
 */
bool up_key_next(const void *key, size_t len, size_t *pos, enum up_ty *ty, struct up_value *v);

/* ---- the table ---- */

#define UP_TABLE_MAX_ROWS 0x7fffffffu

struct up_table {
	size_t value_size;  /* bytes of a value */
	size_t stride;      /* bytes of a row: its head and its value */
	size_t max_rows;    /* rows that it may have at once */
	struct slot *slots; /* where the rows are, by hash */
	size_t nr_slots;    /* a power of two, or 0 */
	char *rows;         /* all rows, one after the other */
	size_t nr_rows;     /* indices given out, deleted ones included */
	size_t cap_rows;    /* rows that fit */
	uint32_t free_row;  /* the latest deleted row, start of a list; or none */
	size_t count;       /* rows that exist */
	char *keys;         /* bytes of long keys */
	size_t keys_len;    /* used */
	size_t keys_cap;    /* allocated */
	size_t keys_unused; /* of deleted rows, among those used */
	uint64_t seed;      /* of the hash */
	uint64_t overflow;  /* how often up_table_at() had to refuse a new row */
	bool no_memory;     /* did it refuse for want of memory? */
};

/* An empty table; allocates nothing yet. max_rows 0 means as many as there can be. */
void up_table_init(struct up_table *t, size_t value_size, size_t max_rows);
void up_table_fini(struct up_table *t);

/*
 * The value at a key. up_table_at() makes a new row, its value all zero, where there is none, and
 * returns NULL when the table is full or memory is out, which it counts in t->overflow.
 * Values are aligned to 8 bytes. The pointer is good until the next up_table_at(). The key must not
 * lie in the table itself.
 */
void *up_table_at(struct up_table *t, const void *key, size_t key_len);
void *up_table_find(const struct up_table *t, const void *key, size_t key_len);
/* up_table_at() of the key that up_key_add() makes of one integer, without making it first. */
void *up_table_at_number(struct up_table *t, uint64_t number);

#define UP_TABLE_MANY 64
/* The same of up to UP_TABLE_MANY integers, one after the other. All pointers are good then. */
void up_table_at_numbers(struct up_table *t, const uint64_t *numbers, size_t nr, void **values);

/* False when there was no such row. A later row may get the same index. */
bool up_table_delete(struct up_table *t, const void *key, size_t key_len);
/* Deletes all rows and keeps most of the memory. `overflow` goes on counting. */
void up_table_clear(struct up_table *t);

/* Rows that exist. */
static inline size_t up_table_count(const struct up_table *t)
{
	return t->count;
}
/* One more than the largest index; rows are 0..up_table_end(t)-1, less those that were deleted. */
static inline size_t up_table_end(const struct up_table *t)
{
	return t->nr_rows;
}
/* The value of a row and its key (both good until the next up_table_at()); NULL when it was
 * deleted. */
void *up_table_row(const struct up_table *t, size_t index, const void **key, size_t *key_len);

#endif
