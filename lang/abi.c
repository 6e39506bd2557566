/*
 * Processors. Register names: regs_query_register_offset() of each architecture (kernel,
 * arch/.../kernel/ptrace.c). Arguments: System V AMD64 ABI 3.2.3; System V Intel386 ABI 2.2.3;
 * AAPCS64 6.4. Go: src/cmd/compile/abi-internal.md of its sources; g.stack.hi is the second word of
 * a goroutine's structure (src/runtime/runtime2.go), and known to assembly code by that.
 */
#include "lang/abi.h"

#include <string.h>

static const char *const x86_64_regs[] = {
	"ax", "bx",      "cx", "dx", "si",  "di",  "bp",  "sp",  "ip",  "flags", "cs",
	"ss", "orig_ax", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",   NULL,
};

static const char *const x86_64_aliases[] = {
	"rax", "ax", "rbx", "bx", "rcx", "cx", "rdx",    "dx",    "rsi",    "si",    "rdi", "di",
	"rbp", "bp", "rsp", "sp", "rip", "ip", "eflags", "flags", "rflags", "flags", NULL,
};

static const char *const x86_64_args[] = { "di", "si", "dx", "cx", "r8", "r9", NULL };

/* The kernel is a 64-bit one, and has its own names for the registers of 32-bit programs too. */
static const char *const i386_regs[] = {
	"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss", "orig_ax", NULL,
};

static const char *const i386_aliases[] = {
	"eax", "ax",  "ebx", "bx",  "ecx", "cx",  "edx", "dx",     "esi",   "si", "edi",
	"di",  "ebp", "bp",  "esp", "sp",  "eip", "ip",  "eflags", "flags", NULL,
};

static const char *const aarch64_regs[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",    "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22",    "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "x30", "lr",  "sp",  "pc",  "pstate", NULL,
};

static const char *const aarch64_aliases[] = { "fp", "x29", "ip", "pc", NULL };

static const char *const aarch64_args[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", NULL,
};

static const char *const go_x86_64_args[] = {
	"ax", "bx", "cx", "di", "si", "r8", "r9", "r10", "r11", NULL,
};

static const char *const go_aarch64_args[] = {
	"x0", "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7", "x8",
	"x9", "x10", "x11", "x12", "x13", "x14", "x15", NULL,
};

static const char *const no_args[] = { NULL };

#define X86_64(calling, args, result, ...)                                               \
	{                                                                                \
		UP_M_X86_64, calling, "x86-64", x86_64_regs, x86_64_aliases, args, 1, 8, \
			"$stack0", 8, 0, result, __VA_ARGS__                             \
	}
#define I386(calling, pops, result)                                                       \
	{                                                                                 \
		UP_M_I386, calling, "32-bit x86", i386_regs, i386_aliases, no_args, 1, 4, \
			"+0(%sp)", 4, pops, result, NULL, NULL, NULL                      \
	}
#define AARCH64(calling, args, stack_arg, result, ...)                                             \
	{                                                                                          \
		UP_M_AARCH64, calling, "arm64", aarch64_regs, aarch64_aliases, args, stack_arg, 8, \
			"%lr", 0, 0, result, __VA_ARGS__                                           \
	}

/* A callee of Go leaves the arguments where they are. On arm64 the first word is the callee's own.
 */
static const struct up_abi abis[] = {
	X86_64(UP_CALLING_C, x86_64_args, "ax", "%dx", NULL, NULL),
	X86_64(UP_CALLING_GO, go_x86_64_args, "ax", "%bx", "%r14", "+8(%r14)"),
	X86_64(UP_CALLING_GO_STACK, no_args, NULL, NULL, NULL, NULL),
	I386(UP_CALLING_C, 1024, "ax"),
	I386(UP_CALLING_GO_STACK, 0, NULL),
	AARCH64(UP_CALLING_C, aarch64_args, 0, "x0", "%x1", NULL, NULL),
	AARCH64(UP_CALLING_GO, go_aarch64_args, 1, "x0", "%x1", "%x28", "+8(%x28)"),
	AARCH64(UP_CALLING_GO_STACK, no_args, 1, NULL, NULL, NULL, NULL),
};

const struct up_abi *up_abi_find(enum up_machine m, enum up_calling calling)
{
	for (size_t i = 0; i < sizeof(abis) / sizeof(abis[0]); i++)
		if (abis[i].machine == m && abis[i].calling == calling)
			return &abis[i];
	return NULL;
}

enum up_machine up_abi_host(void)
{
#if defined(__x86_64__)
	return UP_M_X86_64;
#elif defined(__aarch64__)
	return UP_M_AARCH64;
#else
	return UP_M_OTHER;
#endif
}

const char *up_abi_word_type(const struct up_abi *abi, const char *type)
{
	static const char *const types[][2] = { { "x64", "x32" },
						{ "u64", "u32" },
						{ "s64", "s32" } };

	for (size_t i = 0; abi->word == 4 && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i][0], type))
			return types[i][1];
	return type;
}

const char *up_abi_reg(const struct up_abi *abi, const char *name)
{
	for (const char *const *r = abi->regs; *r; r++)
		if (!strcmp(*r, name))
			return *r;
	for (const char *const *r = abi->aliases; *r; r += 2)
		if (!strcmp(r[0], name))
			return r[1];
	return NULL;
}
