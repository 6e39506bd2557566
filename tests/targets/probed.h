/* What a function needs so that every call of it really is a call, with the arguments in their
 * places. */
#ifndef PROBED_H
#define PROBED_H

#define PROBED __attribute__((noipa))

#endif
