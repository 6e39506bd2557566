/* build: -O1 -g -no-pie -fno-pie */
#include "t_values.c"
