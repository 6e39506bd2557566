/* build: -O1 -g -fno-inline -foptimize-sibling-calls -shared -fPIC */
/* The functions of t_throw.cc as a library's. */
#define main throw_all
#include "t_throw.cc"
