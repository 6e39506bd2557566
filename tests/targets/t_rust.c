/* build: -O1 -g -fno-inline */
/* Functions under the names that Rust's compilers give: of its older scheme and of its newer one.
 */
#include "probed.h"

#define RUST(function, symbol)                      \
	PROBED int function(int n) __asm__(symbol); \
	PROBED int function(int n)                  \
	{                                           \
		__asm__ volatile("");               \
		return n;                           \
	}

/* <crate> is called shop. */
RUST(old_get, "_ZN4shop5cache3get17h0123456789abcdefE")
RUST(old_get_too, "_ZN4shop5cache3get17hfedcba9876543210E")
RUST(old_push, "_ZN4shop13List$LT$T$GT$4push17h0123456789abcdefE")
RUST(old_fmt, "_ZN47_$LT$shop..Item$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE")
RUST(new_put, "_RNvNtCs1234_4shop5cache3put")
RUST(new_len, "_RNvMNtCs1234_4shop5cacheNtB2_5Cache3len")
RUST(new_find, "_RINvNtCs1234_4shop5cache4findjE")
RUST(new_closure, "_RNCNvCs1234_4shop4main0")

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += old_get(i) + old_push(i);
	for (int i = 0; i < 4; i++)
		sum += old_get_too(i) + new_put(i);
	for (int i = 0; i < 5; i++)
		sum += old_fmt(i) + new_len(i) + new_find(i) + new_closure(i);
	return sum & 0;
}
