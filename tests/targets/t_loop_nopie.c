/* build: -O1 -g -no-pie -fno-pie */
#include "t_loop.c"
