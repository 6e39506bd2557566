/*
 * Event filters: what they let pass, against what the handlers select; and the sets of numbers
 * that they are made of.
 */
#include "lang/interval.h"
#include "tests/unit/filter_trial.h"
#include "tests/unit/unit.h"

#define TRIALS 4000

static bool holds(enum up_op op, uint64_t a, uint64_t b, bool is_unsigned)
{
	bool less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;

	switch (op) {
	case OPR_EQ:
		return a == b;
	case OPR_NE:
		return a != b;
	case OPR_LT:
		return less;
	case OPR_LE:
		return less || a == b;
	case OPR_GT:
		return !less && a != b;
	default:
		return !less;
	}
}

/* Every set says of every number what the comparison says. */
static void test_sets(void)
{
	static const enum up_op ops[] = { OPR_EQ, OPR_NE, OPR_LT, OPR_LE, OPR_GT, OPR_GE };
	struct dice d = { .state = 1 };
	unsigned wrong = 0;

	for (int i = 0; i < 20000; i++) {
		enum up_op op = ops[roll(&d, 6)];
		uint64_t c = roll_number(&d),
			 x = roll(&d, 2) ? c + roll(&d, 3) - 1 : roll_number(&d);
		uint64_t k = roll_number(&d), lo = roll_number(&d), hi = roll_number(&d);
		bool is_unsigned = roll(&d, 2), want = holds(op, x, c, is_unsigned);
		struct up_set s = up_set_compare(op, c, is_unsigned), not = up_set_not(&s);
		struct up_set moved = up_set_add(&s, k), negative = up_set_negate(&s);
		struct up_set both = up_set_clip(&moved, lo, hi);

		wrong += up_set_has(&s, x) != want || up_set_has(&not, x) == want;
		wrong += up_set_has(&moved, x + k) != want || up_set_has(&negative, -x) != want;
		wrong += up_set_has(&both, x + k) != (want && x + k >= lo && x + k <= hi);
		for (unsigned j = 1; j < moved.nr; j++)
			wrong += moved.v[j].lo <= moved.v[j - 1].hi + 1;
	}
	CHECK(wrong == 0);
}

static void test_one(void)
{
	struct up_set s = up_set_compare(OPR_EQ, 7, true), not = up_set_not(&s);
	uint64_t x;

	CHECK(up_set_is_one(&s, &x) && x == 7);
	CHECK(!up_set_is_one(&not, &x));
	s = up_set_compare(OPR_LT, 0, true);
	CHECK(s.nr == 0 && !up_set_is_one(&s, &x));
	s = up_set_compare(OPR_GE, (uint64_t)INT64_MIN, false);
	CHECK(s.nr == 1 && s.v[0].lo == 0 && s.v[0].hi == UINT64_MAX);
}

static void show(const struct trial *t, int i)
{
	fprintf(stderr, "trial %d: %s\n%sfilter: %s\n", i, t->what, t->script.s,
		t->filter ? t->filter : "");
}

static void test_trials(void)
{
	struct dice d = { .state = 4711 };
	struct trial t = { 0 };
	int wrong = 0;

	for (int i = 0; i < TRIALS && wrong < 5; i++)
		if (!run_trial(&t, &d)) {
			show(&t, i);
			wrong++;
		}
	CHECK(wrong == 0);
	/* Enough of it was a trial. */
	CHECK(t.compiled > TRIALS / 2);
	CHECK(t.filters > TRIALS / 2);
	CHECK(t.passed > TRIALS * 2 && t.rejected > TRIALS * 2);
	printf("%u scripts, %u filters, %u records passed, %u rejected\n", t.compiled, t.filters,
	       t.passed, t.rejected);
	up_buf_fini(&t.script);
}

/* The model knows what the kernel refuses, so that the trials would see it. */
static void test_model(void)
{
	struct model_event e = { .nr = 0 };
	unsigned char rec[64] = { 0 };
	const char *error;

	add_field(&e, "u", MODEL_NUMBER, 0, 1, false);
	add_field(&e, "s", MODEL_NUMBER, 8, 8, true);
	rec[0] = 0xfd;
	memset(rec + 8, 0xff, 8);
	CHECK(model_filter_passes(&e, "u == 0x1fd && s == -1", rec, 0, &error) && !error);
	CHECK(!model_filter_passes(&e, "!(u & 4) || (s >= 0 && u > 3)", rec, 0, &error) && !error);
	CHECK(model_filter_passes(&e, "s & -9223372036854775808", rec, 0, &error) && !error);
	model_filter_passes(&e, "u == -3", rec, 0, &error);
	CHECK(error);
	model_filter_passes(&e, "s == 9223372036854775808", rec, 0, &error);
	CHECK(error);
	model_filter_passes(&e, "s == 1 &&", rec, 0, &error);
	CHECK(error);
	model_filter_passes(&e, "x == 1", rec, 0, &error);
	CHECK(error);
}

int main(void)
{
	test_sets();
	test_one();
	test_model();
	test_trials();
	return unit_report("filter");
}
