/* build: -O1 -shared -fPIC -nostdlib */
/*
 * A library to be listed: a shown and a hidden function, data, names as C++ and Rust compilers make
 * them, and twelve thousand more, g0 to g11999. Nothing calls them.
 */
int data_item = 1;

static __attribute__((noinline, used)) int hidden(int x)
{
	return x + data_item;
}

int shown(int x)
{
	return hidden(x);
}

int cache_get(int x) __asm__("_ZN5Cache3getEi");
int cache_get(int x)
{
	return x + 2;
}

int cache_put(int x) __asm__("_ZN5Cache3putERKS_");
int cache_put(int x)
{
	return x + 3;
}

int core_write(int x) __asm__("_ZN4core3fmt5write17h0123456789abcdefE");
int core_write(int x)
{
	return x + 4;
}

__asm__(".text\n"
	".altmacro\n"
	".macro listed number\n"
	".globl g\\number\n"
	".type g\\number, @function\n"
	"g\\number: ret\n"
	".size g\\number, 1\n"
	".endm\n"
	".set i, 0\n"
	".rept 12000\n"
	"listed %i\n"
	".set i, i + 1\n"
	".endr\n"
	".noaltmacro\n");
