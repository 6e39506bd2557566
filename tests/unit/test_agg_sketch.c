/*
 * Aggregates that keep less than all values: quantile() and uniq() against exact results, and what
 * all do without memory.
 */
#include <math.h>

#include "tests/unit/agg_helpers.h"

/* ---- quantile ---- */

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double as_double(struct up_type t, struct up_value v)
{
	return t.ty == TY_FLOAT ? v.f : t.is_signed ? (double)v.s : (double)v.u;
}

static void check_quantiles(const struct agg *a, struct up_type t, double *v, size_t n,
			    double tolerance)
{
	static const struct {
		const char *name;
		unsigned per_mille;
	} q[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p999", 999 } };

	qsort(v, n, sizeof(*v), by_number);
	for (size_t i = 0; i < N(q); i++) {
		double want = v[(n * q[i].per_mille + 999) / 1000 - 1];
		double got = as_double(t, get(a, q[i].name));

		CHECK(fabs(got - want) <= fabs(want) * tolerance);
	}
	CHECK(as_double(t, get(a, "max")) == v[n - 1]);
	CHECK(get(a, "count").u == n);
}

static void test_quantile_small(void)
{
	struct agg a;

	start(&a, "quantile", UP_TYPE_S64);
	for (int64_t v = 64; v >= 1; v--)
		add(&a, num(v * 1001));
	CHECK(get(&a, "p50").s == 32032 && get(&a, "p90").s == 58 * 1001);
	CHECK(get(&a, "p99").s == 64064 && get(&a, "max").s == 64064);
	end(&a);
	start(&a, "quantile", UP_TYPE_S64);
	add(&a, num(-7));
	CHECK(get(&a, "p50").s == -7 && get(&a, "p999").s == -7 && get(&a, "max").s == -7);
	end(&a);
	/* Small whole numbers have rows of their own. */
	start(&a, "quantile", INT_TYPE(8, true));
	for (int64_t v = -100; v <= 100; v++)
		add(&a, num(v));
	CHECK(get(&a, "p50").s == 0 && get(&a, "p90").s == 80 && get(&a, "p99").s == 98);
	end(&a);
	start(&a, "quantile", UP_TYPE_FLOAT);
	add(&a, flt(NAN));
	CHECK(isnan(get(&a, "p50").f) && get(&a, "count").u == 0);
	add(&a, flt(2));
	CHECK(get(&a, "p50").f == 2);
	end(&a);
}

enum shape { UNIFORM, WIDE, NARROW, CONSTANT, TWO_HUMPS, NR_SHAPES };

static uint64_t shaped(enum shape shape)
{
	uint64_t r = next_random();

	switch (shape) {
	case UNIFORM:
		return r;
	case WIDE:
		return r >> (next_random() % 64);
	case NARROW:
		return 1000000 + r % 1000;
	case CONSTANT:
		return 4711;
	default:
		return r & 1 ? 100 + r % 17 : 5000000 + (r >> 40) % 999999;
	}
}

static void check_random_quantiles(struct up_type t, enum shape shape, size_t n)
{
	double *v = calloc(n, sizeof(*v));
	struct agg a;

	start(&a, "quantile", t);
	for (size_t i = 0; i < n; i++) {
		struct up_value x = { .u = shaped(shape) };

		if (t.ty == TY_FLOAT)
			x.f = (double)(int64_t)x.u * 0x1p-31;
		add(&a, x);
		v[i] = as_double(t, x);
	}
	check_quantiles(&a, t, v, n, n <= 64 ? 1e-15 : 0.01);
	free(v);
	end(&a);
}

static void test_quantile_random(void)
{
	const struct up_type types[] = { UP_TYPE_S64, UP_TYPE_U64, UP_TYPE_FLOAT };
	static const size_t sizes[] = { 1, 2, 63, 64, 65, 66, 1000, 50000 };

	for (size_t t = 0; t < N(types); t++)
		for (int shape = 0; shape < NR_SHAPES; shape++)
			for (size_t s = 0; s < N(sizes); s++)
				check_random_quantiles(types[t], (enum shape)shape, sizes[s]);
}

/* The whole range of floats takes bounded memory. */
static void test_quantile_memory(void)
{
	struct agg a;

	start(&a, "quantile", UP_TYPE_FLOAT);
	for (int e = -1074; e < 1024; e++) {
		add(&a, flt(ldexp(1, e)));
		add(&a, flt(-ldexp(1, e)));
	}
	add(&a, flt(INFINITY));
	CHECK(get(&a, "max").f == INFINITY && SIZE_MAX / 2 - a.left < 4u << 20);
	end(&a);
}

/* ---- uniq ---- */

static void test_uniq_exact(void)
{
	struct agg a;
	char text[32];

	start(&a, "uniq", UP_TYPE_S64);
	for (int64_t i = 0; i < 20000; i++) {
		add(&a, num(i % 10000));
		if (i == 4999)
			CHECK(get(&a, "uniq").u == 5000);
	}
	CHECK(get(&a, "uniq").u == 10000);
	end(&a);
	start(&a, "uniq", UP_TYPE_STR);
	for (int i = 0; i < 9000; i++) {
		snprintf(text, sizeof(text), "/usr/lib/file-%d", i % 3000);
		add(&a, str(text));
	}
	add(&a, str(""));
	add(&a, (struct up_value){ .p = "", .len = 0, .flags = UP_VALUE_CUT });
	CHECK(get(&a, "uniq").u == 3002);
	end(&a);
	start(&a, "uniq", UP_TYPE_FLOAT);
	add(&a, flt(0));
	add(&a, flt(-0.0));
	add(&a, flt(NAN));
	add(&a, flt(-NAN));
	add(&a, flt(1));
	CHECK(get(&a, "uniq").u == 3);
	end(&a);
}

static void check_estimate(const struct agg *a, uint64_t n)
{
	double got = (double)get(a, "uniq").u;

	CHECK(fabs(got - (double)n) <= 0.02 * (double)n);
}

/* Sequences, strides, random numbers and texts; just above the exact range and far beyond. */
static void test_uniq_estimate(void)
{
	static const uint64_t strides[] = { 1, 4096, (uint64_t)1 << 40, 0x9e3779b97f4a7c15 };
	struct agg a;
	char text[32];

	for (size_t s = 0; s < N(strides); s++) {
		uint64_t n = 0;

		start(&a, "uniq", UP_TYPE_U64);
		for (uint64_t limit = 10000; limit <= 10240000; limit *= 4) {
			for (; n < limit; n++)
				add(&a, num((int64_t)(n * strides[s])));
			check_estimate(&a, n < (uint64_t)1 << 24 ? n : (uint64_t)1 << 24);
		}
		end(&a);
	}
	start(&a, "uniq", UP_TYPE_STR);
	for (unsigned i = 0; i < 300000; i++) {
		snprintf(text, sizeof(text), "name-%u", i);
		add(&a, str(text));
	}
	check_estimate(&a, 300000);
	CHECK(SIZE_MAX / 2 - a.left == 65536);
	end(&a);
	start(&a, "uniq", UP_TYPE_U64);
	for (uint64_t i = 0; i <= 10000; i++)
		add(&a, num((int64_t)i));
	check_estimate(&a, 10001);
	CHECK(get(&a, "uniq").u > 10000);
	end(&a);
}

/* ---- without memory ---- */

/* Whatever is refused leaves the cell as it was, and what it had is still given back. */
static void check_no_memory(const char *name, struct up_type type)
{
	const struct up_value bounds[] = { num(0), num(1000), num(1) };
	struct agg a;

	if (!strcmp(name, "lhist"))
		start_lhist(&a, type, UP_TYPE_S64, bounds);
	else
		start(&a, name, type);
	for (size_t budget = 0; budget < 3000; budget += 40) {
		unsigned refused = 0;

		memset(a.cell, 0, sizeof(a.cell));
		a.left = budget;
		for (int64_t i = 0; i < 200; i++) {
			struct up_value v = num(i * i * i), before = { 0 };

			if (type.ty == TY_STR)
				v = (struct up_value){ .p = (const char *)&i, .len = 8 };
			else if (type.ty == TY_FLOAT)
				v.f = (double)(i * i * (i % 2 ? i : -i));
			if (i)
				before = a.row->field(a.cell, &a.cx, 0);
			if (add(&a, v))
				continue;
			refused++;
			if (i)
				CHECK(a.row->field(a.cell, &a.cx, 0).u == before.u);
		}
		CHECK(refused || a.left < budget);
		if (a.row->fini)
			a.row->fini(a.cell, &a.cx);
		CHECK(a.left == budget);
	}
}

static void test_no_memory(void)
{
	check_no_memory("hist", UP_TYPE_S64);
	check_no_memory("hist", UP_TYPE_FLOAT);
	check_no_memory("lhist", UP_TYPE_S64);
	check_no_memory("quantile", UP_TYPE_S64);
	check_no_memory("quantile", UP_TYPE_FLOAT);
	check_no_memory("uniq", UP_TYPE_S64);
	check_no_memory("last", UP_TYPE_STR);
}

int main(void)
{
	test_quantile_small();
	test_quantile_random();
	test_quantile_memory();
	test_uniq_exact();
	test_uniq_estimate();
	test_no_memory();
	return unit_report("agg_sketch");
}
