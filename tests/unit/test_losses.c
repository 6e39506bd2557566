/* When losses are told of, and how large buffers become. */
#include "runtime/losses.h"

#include "tests/unit/unit.h"

static void test_tell(void)
{
	const uint64_t second = 1000000000;
	struct up_losses l = { 0 };

	CHECK(!up_losses_tell(&l, 0, second));
	CHECK(up_losses_tell(&l, 1, second));
	/* Not again without more of them, and not too often. */
	CHECK(!up_losses_tell(&l, 1, 10 * second));
	CHECK(up_losses_tell(&l, 2, 10 * second));
	CHECK(!up_losses_tell(&l, 100, 11 * second));
	CHECK(up_losses_tell(&l, 100, 15 * second));
}

static void test_larger(void)
{
	const uint64_t gib = 1 << 20;

	CHECK(up_losses_larger(4096, 2, 8 * gib) == 16384);
	/* What memory there is sets the limit. */
	CHECK(up_losses_larger(4096, 2, gib / 4) == 8192);
	CHECK(up_losses_larger(4096, 2, gib / 5) == 0);
	CHECK(up_losses_larger(512, 256, 4 * gib) == 1024);
	CHECK(up_losses_larger(4096, 0, gib) == 0);
	CHECK(up_losses_larger(4096, 2, 0) == 0);
	CHECK(up_losses_free_kb() > 1024);
}

int main(void)
{
	test_tell();
	test_larger();
	return unit_report("losses");
}
