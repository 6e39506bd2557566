/*
 * What differs between processors: register names, and where a call's arguments are.
 */
#ifndef UP_ABI_H
#define UP_ABI_H

#include "lang/resolve.h"

struct up_abi {
	enum up_machine machine;
	enum up_calling calling; /* whose functions: C's, or those of another language */
	const char *name;        /* "x86-64" */
	const char *const *regs; /* as the kernel's fetch arguments spell them; NULL-terminated */
	const char *const
		*aliases; /* pairs: what people write, what the kernel takes; NULL-terminated */
	const char *const *arg_regs; /* of the integer arguments in order; NULL-terminated */
	unsigned stack_arg;          /* slot of the first argument on the stack, at the entry */
	unsigned word;               /* bytes of a pointer, and of what a register is taken for */
	const char *return_address;  /* fetch text of where the call returns to, at the entry */
	unsigned return_sp; /* bytes by which sp is higher at the return than at the entry */
	unsigned pops;      /* how much more it may be: a function may take its arguments off */
	const char *result; /* register of an integer that is returned; NULL: there is none */
	const char *second_result; /* fetch text of the second word that is returned, or NULL */
	/*
	 * Fetch texts of the structure of the goroutine that runs, and of the top of its stack: its
	 * calls are its own, whatever thread it is in. NULL: calls are the thread's.
	 */
	const char *goroutine, *stack_top;
};

/* NULL when programs of this machine cannot be probed here. */
const struct up_abi *up_abi_find(enum up_machine m, enum up_calling calling);
/* The machine this was built for. */
enum up_machine up_abi_host(void);
/*
 * The kernel's type of a value that is asked for as `type` and is no wider than a pointer: "s64" of
 * a 32-bit program is "s32".
 */
const char *up_abi_word_type(const struct up_abi *abi, const char *type);
/* How the kernel spells a register, or NULL; understands the aliases too (rax, edi, pc). */
const char *up_abi_reg(const struct up_abi *abi, const char *name);

#endif
