/*
 * Does the running kernel overwrite a program's memory when it probes a five-byte nop?
 *
 * Linux 6.18 for x86-64 turns such a nop, once it was hit, into a call, and the call stores its
 * return address right below the stack pointer. At a function's entry nothing is there. Inside a
 * function a value of the program's may be: the ABI gives functions that call no others the 128
 * bytes below the stack pointer, the red zone, to keep values in. Later kernels leave those alone.
 */
#ifndef UP_NOP5_H
#define UP_NOP5_H

#include <stdbool.h>

enum up_nop5 {
	UP_NOP5_ASK,   /* not looked at yet */
	UP_NOP5_FINE,  /* the program's memory is left alone */
	UP_NOP5_HARMS, /* it is not */
};

/* Asks the running kernel; takes no privileges and a microsecond. */
enum up_nop5 up_nop5_ask(void);

/* What an answer of -errno to the system call, and a release ("6.18.44-arch1"), mean. */
enum up_nop5 up_nop5_judge(int err, const char *release);

/* What it does to nops of several bytes elsewhere; a hit costs accordingly. */
enum up_nops {
	UP_NOPS_STEPPED, /* steps a copy, as it does with most instructions */
	UP_NOPS_DONE,    /* nothing but go on, which is cheap */
	UP_NOPS_CALLED   /* likewise, and makes calls of those of five bytes */
};

/* Asks the running kernel, and what such an answer means. */
enum up_nops up_nops_ask(void);
enum up_nops up_nops_judge(int err, const char *release);

#endif
