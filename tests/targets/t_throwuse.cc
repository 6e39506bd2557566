/* build: -O1 -g t_throwlib.so -Wl,-rpath,$ORIGIN */
/* Calls what t_throw.cc calls, in the library. */
int throw_all(int argc, char **argv);

int main(int argc, char **argv)
{
	return throw_all(argc, argv);
}
