/* Aggregates: exact results on known values, and against a naive computation on random ones. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "tests/unit/agg_helpers.h"

/* ---- rows ---- */

static void test_rows(void)
{
	static const char *const names[] = { "count", "sum",   "avg",   "min",      "max",
					     "stats", "hist",  "lhist", "quantile", "uniq",
					     "rate",  "first", "last" };
	size_t nr = 0;

	for (; up_agg_rows[nr]; nr++) {
		const struct up_agg_row *r = up_agg_rows[nr];

		CHECK(nr < N(names) && !strcmp(r->name, names[nr]));
		CHECK(r->help && r->signature && r->fields && r->nr_fields && r->field_type);
		CHECK(!strncmp(r->signature, r->name, strlen(r->name)) && r->cell_size % 8 == 0);
		for (unsigned f = 0; f < r->nr_fields; f++)
			CHECK(r->fields[f].name && r->fields[f].help);
	}
	CHECK(nr == N(names));
}

/* ---- sums ---- */

static void test_sum(void)
{
	struct agg a;

	start(&a, "sum", UP_TYPE_S64);
	add(&a, num(INT64_MAX));
	add(&a, num(1));
	struct up_value v = get(&a, "sum");
	CHECK(v.flags == UP_VALUE_WIDE && v.wide->hi == 0 && v.wide->lo == (uint64_t)1 << 63);
	add(&a, num(INT64_MIN));
	CHECK(get(&a, "sum").flags == 0 && get(&a, "sum").s == 0);
	add(&a, num(INT64_MIN));
	add(&a, num(-1));
	CHECK(get_wide(&a, "sum", true) == (wide)INT64_MIN - 1);

	start(&a, "sum", UP_TYPE_U64);
	add(&a, num(-1));
	CHECK(get(&a, "sum").u == UINT64_MAX && !get(&a, "sum").flags);
	add(&a, num(-1));
	CHECK(get_wide(&a, "sum", false) == (wide)UINT64_MAX * 2);

	start(&a, "sum", UP_TYPE_FLOAT);
	for (int i = 0; i < 10; i++)
		add(&a, flt(0.1));
	CHECK(get(&a, "sum").f == 1.0);
	add(&a, flt(1e100));
	add(&a, flt(1));
	add(&a, flt(-1e100));
	CHECK(get(&a, "sum").f == 2.0);
	add(&a, flt(INFINITY));
	add(&a, flt(1));
	CHECK(get(&a, "sum").f == INFINITY);
	add(&a, flt(-INFINITY));
	CHECK(isnan(get(&a, "sum").f));
}

/* 128 bits are enough for more values than there can be; the cap is still a cap. */
static void test_sum_overflow(void)
{
	struct agg a;

	start(&a, "sum", UP_TYPE_S64);
	a.cell[0] = UINT64_MAX;
	a.cell[1] = INT64_MAX;
	CHECK(add(&a, num(-1)));
	CHECK(add(&a, num(1)));
	CHECK(!add(&a, num(1)));
	CHECK(a.cell[0] == UINT64_MAX && a.cell[1] == INT64_MAX);
}

static void test_avg(void)
{
	struct agg a;

	start(&a, "avg", UP_TYPE_S64);
	add(&a, num(1));
	add(&a, num(2));
	CHECK(get(&a, "avg").f == 1.5);
	add(&a, num(-4));
	CHECK(get(&a, "avg").f == -1.0 / 3);

	/* A sum of floats would lose the small ones. */
	start(&a, "avg", UP_TYPE_S64);
	add(&a, num(INT64_MAX));
	add(&a, num(INT64_MIN));
	add(&a, num(1));
	add(&a, num(1));
	CHECK(get(&a, "avg").f == 0.25);
	start(&a, "avg", UP_TYPE_U64);
	add(&a, num(-1));
	add(&a, num(-1));
	CHECK(get(&a, "avg").f == 0x1p64);
	start(&a, "avg", UP_TYPE_FLOAT);
	add(&a, flt(1.5));
	add(&a, flt(2));
	CHECK(get(&a, "avg").f == 1.75);
}

/* Rounded as the quotient of exact numbers is: checked by more digits than a double has. */
static void test_avg_random(void)
{
	for (int round = 0; round < 200; round++) {
		unsigned n = 1 + (unsigned)(next_random() % 100), shift = next_random() % 60;
		struct agg a;
		wide sum = 0;

		start(&a, "avg", UP_TYPE_S64);
		for (unsigned i = 0; i < n; i++) {
			int64_t v = (int64_t)next_random() >> shift;

			add(&a, num(v));
			sum += v;
		}
		long double exact = (long double)sum / n;
		double got = get(&a, "avg").f;
		CHECK(fabsl(exact - got) <= fabsl(exact) * 0x1.001p-53L);
	}
}

static void test_min_max(void)
{
	struct agg a, b;

	start(&a, "min", INT_TYPE(8, true));
	start(&b, "max", INT_TYPE(8, true));
	for (int64_t v = 5; v >= -5; v -= 2) {
		add(&a, num(v));
		add(&b, num(v));
	}
	CHECK(get(&a, "min").s == -5 && get(&b, "max").s == 5);
	start(&a, "min", UP_TYPE_U64);
	start(&b, "max", UP_TYPE_U64);
	add(&a, num(-1));
	add(&b, num(-1));
	CHECK(get(&a, "min").u == UINT64_MAX && get(&b, "max").u == UINT64_MAX);
	add(&a, num(7));
	add(&b, num(7));
	CHECK(get(&a, "min").u == 7 && get(&b, "max").u == UINT64_MAX);
}

static void test_min_max_floats(void)
{
	static const double mixed[] = { NAN, 3, NAN, -2.5, 7, NAN };
	struct agg a, b;

	start(&a, "min", UP_TYPE_FLOAT);
	start(&b, "max", UP_TYPE_FLOAT);
	add(&a, flt(NAN));
	add(&b, flt(NAN));
	CHECK(isnan(get(&a, "min").f) && isnan(get(&b, "max").f));
	for (size_t i = 0; i < N(mixed); i++) {
		add(&a, flt(mixed[i]));
		add(&b, flt(mixed[i]));
	}
	CHECK(get(&a, "min").f == -2.5 && get(&b, "max").f == 7);
	add(&a, flt(-INFINITY));
	add(&b, flt(INFINITY));
	CHECK(get(&a, "min").f == -INFINITY && get(&b, "max").f == INFINITY);
}

static void test_stats(void)
{
	static const int64_t v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct agg a;

	start(&a, "stats", UP_TYPE_S64);
	for (size_t i = 0; i < N(v); i++)
		add(&a, num(v[i]));
	CHECK(get(&a, "count").u == 8 && get(&a, "avg").f == 5 && get(&a, "min").s == 2);
	CHECK(get(&a, "max").s == 9 && get(&a, "stddev").f == 2 && get(&a, "sum").s == 40);

	/* Small distances far from 0: the sum of squares alone would give nonsense. */
	start(&a, "stats", UP_TYPE_S64);
	for (size_t i = 0; i < N(v); i++)
		add(&a, num(v[i] + 1000000000000000));
	CHECK(fabs(get(&a, "stddev").f - 2) < 1e-9 && get(&a, "avg").f == 1000000000000005);
	start(&a, "stats", UP_TYPE_FLOAT);
	add(&a, flt(0.5));
	CHECK(get(&a, "stddev").f == 0 && get(&a, "avg").f == 0.5 && get(&a, "sum").f == 0.5);
}

static void test_rate(void)
{
	struct agg a;

	start(&a, "rate", UP_TYPE_S64);
	a.cx.nr_args = 0;
	a.cx.since = 1000;
	a.cx.now = 1000;
	for (int i = 0; i < 30; i++)
		add(&a, num(0));
	CHECK(get(&a, "rate").f == 0);
	a.cx.now += 1500000000;
	CHECK(get(&a, "rate").f == 20);
	start(&a, "rate", UP_TYPE_S64);
	a.cx.now = 2000000000;
	add(&a, num(4096));
	add(&a, num(-96));
	CHECK(get(&a, "rate").f == 2000);
}

/* ---- first and last ---- */

static void test_first_last(void)
{
	struct agg a, b;
	char text[32] = "one";

	start(&a, "first", UP_TYPE_STR);
	start(&b, "last", UP_TYPE_STR);
	for (int i = 0; i < 3; i++) {
		add(&a, str(text));
		add(&b, str(text));
		strcpy(text, i ? "x" : "a longer text than that");
	}
	struct up_value v = get(&a, "first"), w = get(&b, "last");
	CHECK(v.len == 3 && !memcmp(v.p, "one", 3) && w.len == 1 && w.p[0] == 'x');
	add(&b, (struct up_value){ .p = "cut", .len = 3, .flags = UP_VALUE_CUT });
	CHECK(get(&b, "last").flags == UP_VALUE_CUT && get(&a, "first").flags == 0);
	add(&b, str(""));
	CHECK(get(&b, "last").len == 0 && get(&b, "last").flags == 0);
	end(&a);
	end(&b);
	start(&a, "first", UP_TYPE_STR);
	add(&a, str(""));
	CHECK(get(&a, "first").p && get(&a, "first").len == 0);
	end(&a);
	start(&a, "first", UP_TYPE_S64);
	start(&b, "last", UP_TYPE_FLOAT);
	add(&a, num(0));
	add(&a, num(9));
	add(&b, flt(1));
	add(&b, flt(2.5));
	CHECK(get(&a, "first").s == 0 && get(&b, "last").f == 2.5);
	CHECK(find("first")->needs_order && find("last")->needs_order);
}

/* ---- histograms ---- */

static void put_bound(struct up_buf *b, struct up_type t, const struct up_value *v)
{
	wide n = t.is_signed ? (wide)v->s : (wide)v->u;

	if (v->flags & UP_VALUE_WIDE)
		n = ((wide)v->wide->hi * ((wide)1 << 64)) + v->wide->lo;
	if (t.ty == TY_FLOAT)
		up_buf_printf(b, "%g", v->f);
	else if (n >= (wide)1 << 62)
		up_buf_printf(b, "2^%d", n == (wide)1 << 62 ? 62 : n == (wide)1 << 63 ? 63 : 64);
	else
		up_buf_printf(b, "%" PRId64, (int64_t)n);
}

/* "[0,1)=2 [1,2)=0 ..." */
static void list_buckets(const struct agg *a, struct up_buf *b)
{
	struct up_agg_bucket u;

	for (unsigned i = 0; a->row->bucket(a->cell, &a->cx, i, &u); i++) {
		up_buf_puts(b, i ? " [" : "[");
		if (u.has_lo)
			put_bound(b, u.type, &u.lo);
		up_buf_putc(b, ',');
		if (u.has_hi)
			put_bound(b, u.type, &u.hi);
		up_buf_printf(b, ")=%" PRIu64, u.count);
	}
}

#define CHECK_BUCKETS(a, want)            \
	do {                              \
		struct up_buf b_ = { 0 }; \
		list_buckets(a, &b_);     \
		CHECK_BUF(&b_, want);     \
		up_buf_fini(&b_);         \
	} while (0)

static void test_hist(void)
{
	struct agg a;

	start(&a, "hist", UP_TYPE_S64);
	CHECK_BUCKETS(&a, "");
	for (int64_t v = 0; v < 10; v++)
		add(&a, num(v));
	CHECK_BUCKETS(&a, "[0,1)=1 [1,2)=1 [2,4)=2 [4,8)=4 [8,16)=2");
	CHECK(get(&a, "count").u == 10);
	for (int64_t v = -1; v >= -5; v--)
		add(&a, num(v));
	CHECK_BUCKETS(&a, "[-8,-4)=1 [-4,-2)=2 [-2,-1)=1 [-1,0)=1 [0,1)=1 [1,2)=1 [2,4)=2 "
			  "[4,8)=4 [8,16)=2");
	end(&a);
	start(&a, "hist", UP_TYPE_S64);
	add(&a, num(64));
	add(&a, num(1000));
	CHECK_BUCKETS(&a, "[64,128)=1 [128,256)=0 [256,512)=0 [512,1024)=1");
	end(&a);
	start(&a, "hist", UP_TYPE_S64);
	add(&a, num(INT64_MAX));
	CHECK_BUCKETS(&a, "[2^62,2^63)=1");
	end(&a);
	start(&a, "hist", UP_TYPE_S64);
	add(&a, num(INT64_MIN));
	CHECK_BUCKETS(&a, "[-9223372036854775808,-4611686018427387904)=1");
	end(&a);
	start(&a, "hist", UP_TYPE_U64);
	add(&a, num(INT64_MIN));
	add(&a, num(-1));
	CHECK_BUCKETS(&a, "[2^63,2^64)=2");
	end(&a);
}

static void test_hist_floats(void)
{
	struct agg a;

	start(&a, "hist", UP_TYPE_FLOAT);
	add(&a, flt(0.25));
	add(&a, flt(0.9));
	add(&a, flt(1));
	CHECK_BUCKETS(&a, "[0.25,0.5)=1 [0.5,1)=1 [1,2)=1");
	add(&a, flt(0));
	add(&a, flt(-0.0));
	CHECK_BUCKETS(&a, "[0,0.25)=2 [0.25,0.5)=1 [0.5,1)=1 [1,2)=1");
	add(&a, flt(-2));
	add(&a, flt(-3));
	CHECK_BUCKETS(&a, "[-4,-2)=1 [-2,-1)=1 [-1,0)=0 [0,0.25)=2 [0.25,0.5)=1 [0.5,1)=1 [1,2)=1");
	add(&a, flt(INFINITY));
	add(&a, flt(-INFINITY));
	add(&a, flt(NAN));
	CHECK_BUCKETS(&a, "[,-inf)=1 [-4,-2)=1 [-2,-1)=1 [-1,0)=0 [0,0.25)=2 [0.25,0.5)=1 "
			  "[0.5,1)=1 [1,2)=1 [inf,)=1 [,)=1");
	CHECK(get(&a, "count").u == 10);
	end(&a);
	start(&a, "hist", UP_TYPE_FLOAT);
	add(&a, flt(0));
	CHECK_BUCKETS(&a, "[0,1)=1");
	end(&a);
	start(&a, "hist", UP_TYPE_FLOAT);
	add(&a, flt(-1));
	add(&a, flt(1));
	CHECK_BUCKETS(&a, "[-1,-0.5)=1 [-0.5,0)=0 [0,1)=0 [1,2)=1");
	end(&a);
	start(&a, "hist", UP_TYPE_FLOAT);
	add(&a, flt(DBL_MAX));
	add(&a, flt(DBL_TRUE_MIN));
	CHECK(get(&a, "count").u == 2);
	end(&a);
}

/* Every value is in the row whose bounds enclose it. */
static void test_hist_random(bool is_signed)
{
	struct agg a;
	uint64_t values[500];
	struct up_agg_bucket u;

	start(&a, "hist", is_signed ? UP_TYPE_S64 : UP_TYPE_U64);
	for (size_t i = 0; i < N(values); i++) {
		uint64_t r = next_random(), shift = next_random() % 64;

		values[i] = is_signed ? (uint64_t)((int64_t)r >> shift) : r >> shift;
		add(&a, num((int64_t)values[i]));
	}
	uint64_t total = 0;
	for (unsigned i = 0; a.row->bucket(a.cell, &a.cx, i, &u); i++) {
		wide lo = is_signed ? (wide)u.lo.s : (wide)u.lo.u;
		wide hi = is_signed ? (wide)u.hi.s : (wide)u.hi.u;
		uint64_t want = 0;

		if (u.hi.flags & UP_VALUE_WIDE)
			hi = ((wide)u.hi.wide->hi * ((wide)1 << 64)) + u.hi.wide->lo;
		for (size_t k = 0; k < N(values); k++) {
			wide v = is_signed ? (wide)(int64_t)values[k] : (wide)values[k];

			want += v >= lo && v < hi;
		}
		CHECK(u.count == want);
		total += u.count;
	}
	CHECK(total == N(values));
	end(&a);
}

static void test_lhist(void)
{
	const struct up_value tens[] = { num(0), num(30), num(10) };
	const struct up_value odd[] = { num(-5), num(6), num(3) };
	struct agg a;

	start_lhist(&a, UP_TYPE_S64, UP_TYPE_S64, tens);
	for (int64_t v = -2; v < 35; v++)
		add(&a, num(v));
	CHECK_BUCKETS(&a, "[,0)=2 [0,10)=10 [10,20)=10 [20,30)=10 [30,)=5");
	end(&a);
	start_lhist(&a, UP_TYPE_S64, UP_TYPE_S64, tens);
	add(&a, num(25));
	add(&a, num(5));
	CHECK_BUCKETS(&a, "[0,10)=1 [10,20)=0 [20,30)=1");
	end(&a);
	start_lhist(&a, UP_TYPE_S64, UP_TYPE_S64, odd);
	for (int64_t v = -10; v < 10; v++)
		add(&a, num(v));
	CHECK_BUCKETS(&a, "[,-5)=5 [-5,-2)=3 [-2,1)=3 [1,4)=3 [4,6)=2 [6,)=4");
	end(&a);
	start_lhist(&a, UP_TYPE_U64, UP_TYPE_S64, odd);
	add(&a, num(-1));
	add(&a, num(0));
	CHECK_BUCKETS(&a, "[-2,1)=1 [1,4)=0 [4,6)=0 [6,)=1");
	end(&a);
}

static void test_lhist_floats(void)
{
	const struct up_value tenths[] = { flt(0), flt(1), flt(0.1) };
	const struct up_value ends[] = { num(0), num(1), num(1) };
	struct agg a;

	start_lhist(&a, UP_TYPE_FLOAT, UP_TYPE_FLOAT, tenths);
	for (int i = 0; i < 10; i++)
		add(&a, flt(i * 0.1));
	add(&a, flt(-0.001));
	add(&a, flt(1));
	add(&a, flt(NAN));
	add(&a, flt(INFINITY));
	CHECK_BUCKETS(&a, "[,0)=1 [0,0.1)=1 [0.1,0.2)=1 [0.2,0.3)=1 [0.3,0.4)=1 [0.4,0.5)=1 "
			  "[0.5,0.6)=1 [0.6,0.7)=1 [0.7,0.8)=1 [0.8,0.9)=1 [0.9,1)=1 [1,)=2 [,)=1");
	end(&a);
	start_lhist(&a, UP_TYPE_FLOAT, UP_TYPE_S64, ends);
	add(&a, flt(0.5));
	CHECK_BUCKETS(&a, "[0,1)=1");
	end(&a);
}

static void check_lhist_args(struct up_type type, struct up_type bounds, struct up_value lo,
			     struct up_value hi, struct up_value step, const char *want)
{
	const struct up_value consts[] = { lo, hi, step };
	struct up_buf why = { 0 };
	struct agg a;
	unsigned arg;

	start_lhist(&a, type, bounds, consts);
	CHECK(a.row->check(&a.cx, &arg, &why) == !*want);
	CHECK(!*want == !why.len && (!why.len || strstr(why.s, want)));
	up_buf_fini(&why);
}

static void test_lhist_args(void)
{
	struct up_type s = UP_TYPE_S64, f = UP_TYPE_FLOAT, u = UP_TYPE_U64;

	check_lhist_args(s, s, num(0), num(1000), num(1), "");
	check_lhist_args(s, s, num(0), num(1001), num(1), "more than 1000 rows");
	check_lhist_args(s, s, num(0), num(0), num(1), "not above");
	check_lhist_args(s, s, num(5), num(0), num(1), "not above");
	check_lhist_args(s, s, num(0), num(5), num(0), "larger than 0");
	check_lhist_args(s, s, num(0), num(5), num(-1), "larger than 0");
	check_lhist_args(s, f, flt(0), flt(5), flt(1), "whole bounds");
	check_lhist_args(UP_TYPE_STR, s, num(0), num(5), num(1), "a number");
	check_lhist_args(f, f, flt(0), flt(NAN), flt(1), "not above");
	check_lhist_args(f, f, flt(0), flt(INFINITY), flt(1), "not above");
	check_lhist_args(f, f, flt(0), flt(1), flt(1e-9), "more than 1000 rows");
	check_lhist_args(u, u, num(0), num(-1), num(INT64_MAX), "");
}

int main(void)
{
	test_rows();
	test_sum();
	test_sum_overflow();
	test_avg();
	test_avg_random();
	test_min_max();
	test_min_max_floats();
	test_stats();
	test_rate();
	test_first_last();
	test_hist();
	test_hist_floats();
	test_hist_random(true);
	test_hist_random(false);
	test_lhist();
	test_lhist_floats();
	test_lhist_args();
	return unit_report("agg");
}
