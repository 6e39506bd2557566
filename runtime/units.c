/* Numbers with units. */
#include "runtime/units.h"

#include <math.h>

#include "lang/number.h"
#include "runtime/out_put.h"

/* Three significant digits of 0 <= v < 999.5; more of what is larger. */
static void put_three(struct up_buf *b, double v)
{
	up_buf_printf(b, "%.*f", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
}

void up_put_duration(struct up_buf *b, double ns, bool is_whole, const char *gap)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double v = fabs(ns);
	unsigned i = 0;

	if (!isfinite(ns)) {
		up_put_float_short(b, ns);
		return;
	}
	for (; v >= 999.5 && i < 3; i++)
		v /= 1000;
	up_buf_puts(b, ns < 0 ? "-" : "");
	if (v == 0 || (i == 0 && is_whole))
		up_buf_printf(b, "%.0f", v);
	else
		put_three(b, v);
	up_buf_puts(b, gap);
	up_buf_puts(b, units[i]);
}

void up_put_binary(struct up_buf *b, struct up_type t, const struct up_value *v)
{
	up_int128 n = up_value_whole(t, v);
	unsigned i = 0;

	for (; n && n % 1024 == 0 && i < 6; i++)
		n /= 1024;
	up_put_dec(b, (uint64_t)n, true);
	if (i)
		up_buf_putc(b, " KMGTPE"[i]);
}
