/* build: -O1 -g -fno-inline t_ifunclib.so -Wl,-rpath,$ORIGIN */
/* Calls the library's scale() seven times: five times itself, with 1 to 5, and twice through the
 * library. */
long scale(long n);
long call_scale(long n);

int main(void)
{
	long r = 0;

	for (long i = 1; i <= 5; i++)
		r += scale(i);
	r += call_scale(10) + call_scale(20);
	return r != 135;
}
