/* 300 functions f_000 to f_299: f_NNN is called NNN % 7 times. */
#include "probed.h"

#define F(n)                    \
	PROBED int f_##n(int x) \
	{                       \
		return x + 1;   \
	}
#define TEN(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HALF_A(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4)
#define HALF_B(n) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define ALL HALF_A(0) HALF_B(0) HALF_A(1) HALF_B(1) HALF_A(2) HALF_B(2)

/* ALL looks like the type of what follows. */
/* clang-format off */
ALL

#undef F
#define F(n) f_##n,
static int (*const all[])(int) = { ALL };
/* clang-format on */

/* Not of the family. */
PROBED int g_000(int x)
{
	return x;
}

int main(void)
{
	int x = g_000(0);

	for (int i = 0; i < 300; i++)
		for (int n = 0; n < i % 7; n++)
			x = all[i](x);
	return x != 897;
}
