#define VERSION 2
#include "t_version.c"
