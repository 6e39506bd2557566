/* build: -O1 -g -fno-inline -static */
/* t_ifunc without the dynamic linker: the program picks by itself. */
#include "t_ifunc.c"
