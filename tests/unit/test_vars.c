/* Variables and loops: values that own their bytes, against a simple model. */
#include "runtime/loops.h"
#include "runtime/vars.h"

#include "tests/unit/unit.h"

static struct up_type int_type = { TY_INT, UP_SHOW_DEC, 64, true, 0 };
static struct up_type str_type = { TY_STR, UP_SHOW_DEC, 0, false, 0 };

static struct up_value num(int64_t n)
{
	return (struct up_value){ .s = n };
}

static struct up_value str(const char *s)
{
	return (struct up_value){ .p = s, .len = (uint32_t)strlen(s) };
}

static bool is_text(struct up_value v, const char *s)
{
	return !(v.flags & UP_VALUE_FAULT) && v.len == strlen(s) && !memcmp(v.p, s, v.len);
}

/* One of each: number, text, text of a thread, table of text by number and text. */
enum { NUMBER, TEXT, OWN, TABLE, NR };

static size_t left = 1 << 20;

static struct up_vars make(struct up_plan *p, struct up_plan_var vars[NR], struct up_type keys[2])
{
	struct up_vars vs;

	keys[0] = int_type;
	keys[1] = str_type;
	vars[NUMBER] = (struct up_plan_var){ "n", UP_VAR_GLOBAL, int_type, 0, NULL, NULL };
	vars[TEXT] = (struct up_plan_var){ "s", UP_VAR_GLOBAL, str_type, 0, NULL, NULL };
	vars[OWN] = (struct up_plan_var){ "t", UP_VAR_THREAD, str_type, 0, NULL, NULL };
	vars[TABLE] = (struct up_plan_var){ "m", UP_VAR_TABLE, str_type, 2, NULL, keys };
	*p = (struct up_plan){ .vars = vars, .nr_vars = NR };
	CHECK(!up_vars_init(&vs, p, &left));
	return vs;
}

static void test_globals(struct up_vars *vs)
{
	struct up_value v = num(-5), fault = { .flags = UP_VALUE_FAULT };

	CHECK(up_vars_get(vs, NUMBER).u == 0);
	CHECK(is_text(up_vars_get(vs, TEXT), ""));
	up_vars_set(vs, NUMBER, &v);
	CHECK(up_vars_get(vs, NUMBER).s == -5);
	up_vars_set(vs, NUMBER, &fault);
	CHECK(up_vars_get(vs, NUMBER).flags & UP_VALUE_FAULT);
	char text[] = "a text that is changed behind the variable";
	v = str(text);
	up_vars_set(vs, TEXT, &v);
	text[0] = 'X';
	CHECK(is_text(up_vars_get(vs, TEXT), "a text that is changed behind the variable"));
	/* What is read may be assigned again, whole or in part. */
	v = up_vars_get(vs, TEXT);
	up_vars_set(vs, TEXT, &v);
	CHECK(is_text(up_vars_get(vs, TEXT), "a text that is changed behind the variable"));
	v = up_vars_get(vs, TEXT);
	v.p += 2;
	v.len = 4;
	up_vars_set(vs, TEXT, &v);
	CHECK(is_text(up_vars_get(vs, TEXT), "text"));
	up_vars_set(vs, TEXT, &fault);
	CHECK(up_vars_get(vs, TEXT).flags & UP_VALUE_FAULT);
	up_vars_clear(vs, TEXT);
	CHECK(is_text(up_vars_get(vs, TEXT), ""));
	v = str("");
	up_vars_set(vs, TEXT, &v);
	CHECK(is_text(up_vars_get(vs, TEXT), ""));
}

static void test_threads(struct up_vars *vs)
{
	struct up_value a = str("one"), b = str("two");

	CHECK(is_text(up_vars_get_thread(vs, 7, OWN), ""));
	up_vars_set_thread(vs, 7, OWN, &a);
	up_vars_set_thread(vs, 8, OWN, &b);
	CHECK(is_text(up_vars_get_thread(vs, 7, OWN), "one"));
	CHECK(is_text(up_vars_get_thread(vs, 8, OWN), "two"));
	up_vars_died(vs, 7);
	up_vars_died(vs, 9);
	CHECK(is_text(up_vars_get_thread(vs, 7, OWN), ""));
	CHECK(is_text(up_vars_get_thread(vs, 8, OWN), "two"));
}

static void make_keys(struct up_value keys[2], char text[24], unsigned i)
{
	snprintf(text, 24, "key %u", i % 10);
	keys[0] = num(i / 10);
	keys[1] = str(text);
}

static void test_tables(struct up_vars *vs)
{
	struct up_value keys[2];
	char key[24], text[40];

	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 1000; i++) {
			struct up_value v;

			make_keys(keys, key, i);
			snprintf(text, sizeof(text), "%0*u", 1 + (int)(i % 30), i * (round + 1));
			v = str(text);
			up_vars_set_row(vs, TABLE, keys, &v);
		}
	CHECK(up_table_count(&vs->tables[TABLE]) == 1000);
	for (unsigned i = 0; i < 1000; i += 2) {
		make_keys(keys, key, i);
		up_vars_delete_row(vs, TABLE, keys);
		up_vars_delete_row(vs, TABLE, keys);
	}
	CHECK(up_table_count(&vs->tables[TABLE]) == 500);
	for (unsigned i = 0; i < 1000; i++) {
		make_keys(keys, key, i);
		snprintf(text, sizeof(text), "%0*u", 1 + (int)(i % 30), i * 3);
		CHECK(is_text(up_vars_get_row(vs, TABLE, keys), i % 2 ? text : ""));
	}
	/* From one row into another, which may move all rows. */
	for (unsigned i = 0; i < 2000; i++) {
		struct up_value v;

		make_keys(keys, key, 1);
		v = up_vars_get_row(vs, TABLE, keys);
		make_keys(keys, key, 100000 + i);
		up_vars_set_row(vs, TABLE, keys, &v);
		CHECK(is_text(up_vars_get_row(vs, TABLE, keys), "03"));
	}
	CHECK(up_vars_dropped(vs) == 0);
}

/* A loop sees each row once, while its body deletes rows, adds some, or empties the table. */
static void test_loops(struct up_vars *vs)
{
	struct up_loop l = { 0 };
	struct up_value keys[2], own[2], v = str("x");
	char key[24];
	size_t seen = 0, before = up_table_count(&vs->tables[TABLE]);

	up_loop_begin(&l, &vs->tables[TABLE]);
	while (up_loop_next(&l, keys, 2)) {
		CHECK(keys[1].len >= 5 && !memcmp(keys[1].p, "key ", 4));
		up_vars_delete_row(vs, TABLE, keys);
		make_keys(own, key, 200000 + (unsigned)seen);
		up_vars_set_row(vs, TABLE, own, &v);
		seen++;
	}
	CHECK(seen == before);
	CHECK(up_table_count(&vs->tables[TABLE]) >= before - 1);
	seen = 0;
	up_loop_begin(&l, &vs->tables[TABLE]);
	while (up_loop_next(&l, keys, 2)) {
		if (++seen == 3)
			up_vars_clear(vs, TABLE);
	}
	CHECK(seen == 3);
	up_buf_fini(&l.keys);
}

/* What variables hold is limited together; what is refused is counted, and nothing else changes. */
static void test_limit(struct up_vars *vs)
{
	static char text[4096], large[2 << 20];
	struct up_value keys[2], v = { .p = text, .len = sizeof(text) };
	uint64_t before = up_vars_dropped(vs);
	char key[24];

	for (unsigned i = 0; i < 1000; i++) {
		make_keys(keys, key, i);
		up_vars_set_row(vs, TABLE, keys, &v);
	}
	CHECK(up_vars_dropped(vs) - before > 700);
	/* There is no row of what was refused; one that is there keeps its text. */
	CHECK(up_table_count(&vs->tables[TABLE]) == 1000 - (up_vars_dropped(vs) - before));
	make_keys(keys, key, 0);
	v = (struct up_value){ .p = large, .len = sizeof(large) };
	up_vars_set_row(vs, TABLE, keys, &v);
	CHECK(up_vars_get_row(vs, TABLE, keys).len == sizeof(text));
	v = (struct up_value){ .p = text, .len = sizeof(text) };
	up_vars_clear(vs, TABLE);
	before = up_vars_dropped(vs);
	up_vars_set_row(vs, TABLE, keys, &v);
	CHECK(up_vars_dropped(vs) == before);
	CHECK(up_vars_get_row(vs, TABLE, keys).len == sizeof(text));
}

int main(void)
{
	size_t all = left;

	struct up_plan plan;
	struct up_plan_var vars[NR];
	struct up_type keys[2];
	struct up_vars vs = make(&plan, vars, keys);

	test_globals(&vs);
	test_threads(&vs);
	test_tables(&vs);
	test_loops(&vs);
	test_limit(&vs);
	up_vars_fini(&vs);
	CHECK(left == all);
	return unit_report("vars");
}
