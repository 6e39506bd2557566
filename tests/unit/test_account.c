/* The account of hits: the sum closes, and says so only when it does. */
#include "runtime/account.h"

#include "tests/unit/dice.h"
#include "tests/unit/unit.h"

static struct up_account_in counted(uint64_t entries, uint64_t hits)
{
	return (struct up_account_in){ .is_counted = true, .entries = entries, .counted = hits };
}

static void test_plain(void)
{
	struct up_account_in in = counted(10, 10);
	struct up_account a = up_account_close(&in);

	CHECK(a.hits == 10 && a.is_exact && a.rejected_known && !a.rejected && !a.missing);
	in.lost = 5;
	in.counted = 15;
	a = up_account_close(&in);
	CHECK(a.hits == 15 && a.is_exact && a.lost == 5 && !a.not_hits && !a.missing);
	/* Records that the kernel dropped without counting them. */
	in.counted = 18;
	a = up_account_close(&in);
	CHECK(a.hits == 18 && a.is_exact && a.lost == 5 && a.missing == 3);
	in.slack = 2;
	a = up_account_close(&in);
	CHECK(a.hits == 18 && a.is_exact && a.missing == 1 && a.outside == 2);
	/* While the buffer grew nothing was recorded. */
	in.slack = 0;
	in.grown = 2;
	a = up_account_close(&in);
	CHECK(a.hits == 18 && a.is_exact && a.lost == 7 && a.grown == 2 && a.missing == 1);
	in.has_returns = true;
	CHECK(!up_account_close(&in).is_exact);
}

/* Of the lost, some were records of threads. */
static void test_not_hits(void)
{
	struct up_account_in in = counted(10, 13);

	in.lost = 5;
	in.not_hits = 4;
	struct up_account a = up_account_close(&in);
	CHECK(a.hits == 13 && a.is_exact && a.lost == 5 && a.not_hits == 2);
	/* With returns among them it cannot be told. */
	in.has_returns = true;
	in.returns = 6;
	a = up_account_close(&in);
	CHECK(a.hits == 21 && !a.is_exact && a.not_hits == 4);
	in.not_hits = 0;
	a = up_account_close(&in);
	CHECK(a.hits == 21 && a.is_exact && !a.not_hits && !a.missing);
}

static void test_conditions(void)
{
	struct up_account_in in = counted(10, 300);

	in.rejects_entries = true;
	struct up_account a = up_account_close(&in);
	CHECK(a.hits == 300 && a.is_exact && a.rejected_known && a.rejected == 290);
	in.lost = 20;
	a = up_account_close(&in);
	CHECK(a.hits == 300 && a.is_exact && a.rejected == 270);
	in.slack = 1;
	a = up_account_close(&in);
	CHECK(a.hits == 300 && !a.is_exact && a.rejected == 270);
	in.slack = 0;
	in.grown = 30;
	a = up_account_close(&in);
	CHECK(a.hits == 300 && !a.is_exact && a.rejected == 240 && a.lost == 50);
	in.grown = 0;
	in.not_hits = 3;
	a = up_account_close(&in);
	CHECK(!a.is_exact && a.rejected == 270);
	in.lost = 0;
	in.rejects_returns = true;
	a = up_account_close(&in);
	in.returns = 9;
	in.filtered = 7;
	in.calls = 12;
	a = up_account_close(&in);
	CHECK(!a.is_exact && a.rejected_known && a.rejected == 295 && a.hits == 314);
	in.rejects_returns = false;
	in.returns = 0;
	in.is_counted = false;
	a = up_account_close(&in);
	CHECK(a.hits == 10 && !a.is_exact && !a.rejected_known && !a.rejected);
}

/* Hits of others are no hits of this trace, and cost it no exactness. */
static void test_others(void)
{
	struct up_account_in in = counted(10, 50);

	in.rejects_processes = true;
	in.foreign = 3;
	struct up_account a = up_account_close(&in);
	CHECK(a.hits == 7 && a.is_exact && a.foreign == 43 && a.rejected_known && !a.rejected);
	in.has_returns = true;
	in.returns = 8;
	in.lost = 12;
	a = up_account_close(&in);
	CHECK(a.hits == 27 && a.is_exact);
	in.grown = 5;
	a = up_account_close(&in);
	CHECK(a.hits == 32 && !a.is_exact && a.foreign == 26);
	in.is_counted = false;
	a = up_account_close(&in);
	CHECK(a.hits == 27 && !a.is_exact && a.rejected_known && a.foreign == 3);
}

/* A counter that misses some is noticed at least where it is lower than what was received. */
static void test_racy(void)
{
	struct up_account_in in = counted(10, 9);
	struct up_account a = up_account_close(&in);

	CHECK(a.hits == 10 && !a.is_exact);
	in.counted = 10;
	in.is_racy = true;
	CHECK(!up_account_close(&in).is_exact);
	in.is_racy = false;
	in.lost_unknown = true;
	CHECK(!up_account_close(&in).is_exact);
}

/* A kernel at random; what is called exact must be what happened. */
static void test_random(void)
{
	struct dice d = { .state = 20261130 };
	unsigned nr_exact = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t got = roll(&d, 50), lost_e = roll(&d, 3) ? 0 : roll(&d, 20),
			 rejected = roll(&d, 30);
		uint64_t returns = roll(&d, 40), lost_r = roll(&d, 3) ? 0 : roll(&d, 20);
		uint64_t others = roll(&d, 4) ? 0 : roll(&d, 5),
			 early = roll(&d, 4) ? 0 : roll(&d, 5);
		struct up_account_in in = { .is_counted = true,
					    .slack = early + (early && roll(&d, 2)) };

		in.rejects_entries = roll(&d, 2);
		in.rejects_processes = roll(&d, 2);
		in.has_returns = roll(&d, 2);
		if (!in.rejects_entries && !in.rejects_processes)
			rejected = 0;
		if (!in.has_returns)
			returns = lost_r = 0;
		in.entries = got;
		in.returns = returns;
		in.counted = got + lost_e + rejected + early;
		in.lost = lost_e + lost_r + others;
		in.not_hits = others + (others ? roll(&d, 3) : 0);
		struct up_account a = up_account_close(&in);
		if (!a.is_exact)
			continue;
		nr_exact++;
		CHECK(a.lost - a.not_hits == lost_e + lost_r);
		if (in.rejects_entries)
			CHECK(a.rejected == rejected);
		CHECK(a.hits ==
		      got + returns + a.lost - a.not_hits + a.rejected + a.outside + a.missing);
		if (!in.rejects_processes || in.rejects_entries)
			CHECK(a.hits == got + returns + lost_e + lost_r + rejected + early);
	}
	CHECK(nr_exact > 20000);
}

int main(void)
{
	test_plain();
	test_not_hits();
	test_conditions();
	test_others();
	test_racy();
	test_random();
	return unit_report("account");
}
