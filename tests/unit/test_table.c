/* Hash table and its keys, by random operations against a simple model. */
#include "runtime/table.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

/* An impossible size must be refused, not end the test under the address sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static uint64_t rng = 88172645463325252u;

static uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static struct up_value num(int64_t n)
{
	return (struct up_value){ .s = n };
}

static struct up_value str(const char *s)
{
	return (struct up_value){ .p = s, .len = (uint32_t)strlen(s) };
}

/* The key of a model's row: numbers, short and long strings, all different. */
static void make_key(struct up_key *k, uint32_t id)
{
	char text[200];
	struct up_value v = num(id);

	up_key_reset(k);
	if (id % 4 == 0) {
		up_key_add(k, TY_INT, &v);
		return;
	}
	int len = snprintf(text, sizeof(text), "%u", id);
	if (id % 4 == 2)
		len = snprintf(text, sizeof(text), "%0*u", 10 + (int)(id % 97), id);
	v = (struct up_value){ .p = text, .len = (uint32_t)len };
	up_key_add(k, TY_STR, &v);
	v = num(-(int64_t)id);
	if (id % 4 == 3)
		up_key_add(k, TY_INT, &v);
}

struct value {
	uint64_t id;    /* of the key it belongs to, plus 1 */
	uint64_t count; /* hits since it was made */
	char more[7];   /* stays zero */
};

struct model {
	uint32_t *count; /* by id; 0 when there is no row */
	uint32_t nr;     /* ids */
	size_t rows;     /* that exist */
};

static unsigned wrong;

static void model_at(struct up_table *t, struct model *m, const struct up_key *k, uint32_t id)
{
	bool is_number = id % 4 == 0; /* see make_key() */
	struct value *v = is_number && next_random() % 2 ? up_table_at_number(t, id)
							 : up_table_at(t, k->p, k->len);

	if (!v) {
		wrong++;
		return;
	}
	wrong += v->count != m->count[id] || v->id != (m->count[id] ? id + 1 : 0) || v->more[6];
	m->rows += !m->count[id];
	m->count[id]++;
	v->count++;
	v->id = id + 1;
}

static void model_step(struct up_table *t, struct model *m, struct up_key *k, unsigned deletes)
{
	uint32_t id = (uint32_t)(next_random() % m->nr), what = (uint32_t)(next_random() % 16);

	make_key(k, id);
	if (what < deletes) {
		wrong += up_table_delete(t, k->p, k->len) != (m->count[id] > 0);
		m->rows -= m->count[id] > 0;
		m->count[id] = 0;
	} else if (what == 15) {
		const struct value *v = up_table_find(t, k->p, k->len);

		wrong += !v != !m->count[id] || (v && v->count != m->count[id]);
	} else {
		model_at(t, m, k, id);
	}
}

/* Every row of the table is in the model, with its key, and none is missing. */
static void compare(const struct up_table *t, const struct model *m, struct up_key *k)
{
	size_t seen = 0, key_len;
	const void *key;

	for (size_t i = 0; i < up_table_end(t); i++) {
		const struct value *v = up_table_row(t, i, &key, &key_len);

		if (!v)
			continue;
		seen++;
		if (!v->id || v->id > m->nr || v->count != m->count[v->id - 1]) {
			wrong++;
			continue;
		}
		make_key(k, (uint32_t)v->id - 1);
		wrong += k->len != key_len || memcmp(k->p, key, key_len);
	}
	wrong += seen != m->rows || seen != up_table_count(t);
}

static void test_random(uint32_t nr, unsigned steps, unsigned deletes)
{
	struct model m = { .count = calloc(nr, sizeof(uint32_t)), .nr = nr };
	struct up_table t;
	struct up_key k = { 0 };

	wrong = 0;
	up_table_init(&t, sizeof(struct value), 0);
	for (int round = 0; round < 4; round++) {
		for (unsigned i = 0; i < steps; i++)
			model_step(&t, &m, &k, round == 3 ? 14 : deletes);
		compare(&t, &m, &k);
		CHECK(round == 3 || m.rows > 0);
	}
	CHECK(wrong == 0 && t.overflow == 0 && up_table_end(&t) <= nr);
	up_table_clear(&t);
	CHECK(up_table_count(&t) == 0 && up_table_end(&t) == 0);
	memset(m.count, 0, nr * sizeof(uint32_t));
	m.rows = 0;
	for (unsigned i = 0; i < steps / 4; i++)
		model_step(&t, &m, &k, deletes);
	compare(&t, &m, &k);
	CHECK(wrong == 0);
	up_table_fini(&t);
	up_key_fini(&k);
	free(m.count);
}

static void test_million(void)
{
	enum { N = 1000000 };
	struct up_table t;
	struct up_key k = { 0 };
	size_t bad = 0, len;
	const void *key;

	up_table_init(&t, sizeof(uint32_t), 0);
	for (uint32_t i = 0; i < N; i++) {
		make_key(&k, i);
		uint32_t *v = up_table_at(&t, k.p, k.len);
		bad += !v || *v;
		*v = i;
	}
	CHECK(up_table_count(&t) == N);
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t *v = up_table_row(&t, i, &key, &len);
		make_key(&k, i);
		bad += !v || *v != i || len != k.len || memcmp(k.p, key, len);
		bad += up_table_find(&t, k.p, k.len) != v;
	}
	CHECK(bad == 0);
	up_table_fini(&t);
	up_key_fini(&k);
}

/* Long keys that come and go must not make the key storage grow for ever. */
static void test_churn(void)
{
	struct up_table t;
	char key[300] = { 0 };
	unsigned bad = 0;

	up_table_init(&t, 8, 0);
	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t old = i - 10;

		memcpy(key, &i, sizeof(i));
		bad += !up_table_at(&t, key, 100 + i % 200);
		memcpy(key, &old, sizeof(old));
		if (i >= 10)
			bad += !up_table_delete(&t, key, 100 + old % 200);
	}
	CHECK(bad == 0 && up_table_count(&t) == 10 && up_table_end(&t) <= 11);
	CHECK(t.keys_cap < 64 << 10 && t.nr_slots <= 128);
	up_table_fini(&t);
}

static void test_limits(void)
{
	struct up_table t;
	size_t len;
	const void *key;

	up_table_init(&t, 0, 3);
	CHECK(!up_table_find(&t, "a", 1) && !up_table_delete(&t, "a", 1));
	CHECK(up_table_at(&t, "", 0) && up_table_at(&t, "a", 1) && up_table_at(&t, "b", 1));
	CHECK(!up_table_at(&t, "c", 1) && !up_table_at(&t, "d", 1) && t.overflow == 2);
	CHECK(up_table_at(&t, "a", 1) && up_table_find(&t, "", 0) && !t.no_memory);
	CHECK(up_table_delete(&t, "a", 1) && !up_table_row(&t, 1, &key, &len));
	CHECK(up_table_at(&t, "c", 1) == up_table_row(&t, 1, &key, &len) && len == 1);
	CHECK(!memcmp(key, "c", 1) && up_table_end(&t) == 3);
	up_table_clear(&t);
	CHECK(t.overflow == 2 && up_table_at(&t, "d", 1));
	up_table_fini(&t);

	up_table_init(&t, (size_t)1 << 50, 0);
	CHECK(!up_table_at(&t, "a", 1) && t.overflow == 1 && t.no_memory && !up_table_count(&t));
	CHECK(!up_table_find(&t, "a", 1) && !up_table_delete(&t, "a", 1));
	up_table_fini(&t);
	up_table_init(&t, SIZE_MAX, 1);
	CHECK(!up_table_at(&t, "a", 1) && t.overflow == 1);
	up_table_fini(&t);
}

static bool keys_equal(enum up_ty ta, struct up_value a, enum up_ty tb, struct up_value b)
{
	struct up_key x = { 0 }, y = { 0 };

	up_key_add(&x, ta, &a);
	up_key_add(&y, tb, &b);
	bool same = x.len == y.len && !memcmp(x.p, y.p, x.len);
	up_key_fini(&x);
	up_key_fini(&y);
	return same;
}

static void test_keys(void)
{
	struct up_value fault = { .u = 7, .flags = UP_VALUE_FAULT }, a = str("a"), cut = a;
	struct up_value zero = { .f = 0.0 }, minus_zero = { .f = -0.0 }, one = { .f = 1.0 };
	struct up_value other_fault = { .u = 8, .flags = UP_VALUE_FAULT };

	cut.flags = UP_VALUE_CUT;
	CHECK(keys_equal(TY_INT, num(5), TY_INT, num(5)));
	CHECK(!keys_equal(TY_INT, num(5), TY_INT, num(6)));
	CHECK(!keys_equal(TY_INT, num(0), TY_FLOAT, zero));
	CHECK(keys_equal(TY_FLOAT, zero, TY_FLOAT, minus_zero));
	CHECK(!keys_equal(TY_FLOAT, zero, TY_FLOAT, one));
	CHECK(keys_equal(TY_INT, fault, TY_INT, other_fault));
	CHECK(!keys_equal(TY_INT, fault, TY_INT, num(7)));
	CHECK(keys_equal(TY_STR, a, TY_STR, str("a")) && !keys_equal(TY_STR, a, TY_STR, cut));
}

static void test_key_parts(void)
{
	struct up_key k = { 0 };
	struct up_value v, fault = { .flags = UP_VALUE_FAULT }, f = { .f = 1.5 }, n = num(-1);
	struct up_value s = str("comm"), empty = str("");
	enum up_ty ty;
	size_t pos = 0;

	up_key_add(&k, TY_STR, &s);
	up_key_add(&k, TY_INT, &n);
	up_key_add(&k, TY_STR, &fault);
	up_key_add(&k, TY_STR, &empty);
	up_key_add(&k, TY_FLOAT, &f);
	CHECK(up_key_next(k.p, k.len, &pos, &ty, &v) && ty == TY_STR && v.len == 4);
	CHECK(!memcmp(v.p, "comm", 4) && !v.flags);
	CHECK(up_key_next(k.p, k.len, &pos, &ty, &v) && ty == TY_INT && v.s == -1);
	CHECK(up_key_next(k.p, k.len, &pos, &ty, &v) && v.flags == UP_VALUE_FAULT);
	CHECK(up_key_next(k.p, k.len, &pos, &ty, &v) && ty == TY_STR && v.len == 0);
	CHECK(up_key_next(k.p, k.len, &pos, &ty, &v) && ty == TY_FLOAT && v.f == 1.5);
	CHECK(!up_key_next(k.p, k.len, &pos, &ty, &v) && pos == k.len);
	for (size_t len = 0; len < 16; len++) { /* cut off inside the first part */
		pos = 0;
		CHECK(!up_key_next(k.p, len, &pos, &ty, &v) && pos == 0);
	}
	pos = 0;
	CHECK(!up_key_next("x2345678abcdefgh", 16, &pos, &ty, &v));
	up_key_fini(&k);
}

int main(void)
{
	test_limits();
	test_keys();
	test_key_parts();
	test_random(10, 20000, 7);
	test_random(1000, 50000, 5);
	test_random(1000000, 700000, 3);
	test_million();
	test_churn();
	return unit_report("table");
}
