/*
 * What the kernel's uprobes refuse: arch/x86/kernel/uprobes.c and, for arm64,
 * arch/arm64/kernel/probes/decode-insn.c; the x86 opcodes tried one by one on Linux 6.1.
 */
#include "runtime/insn.h"

#include <string.h>

/* ---- x86 ---- */

/* An instruction up to its opcode. */
struct decoding {
	const unsigned char *s; /* the first byte */
	size_t len;             /* bytes that there are */
	size_t at;              /* the next byte */
	bool is64;              /* 64-bit code */
	const char *refused;    /* a prefix that the kernel refuses */
	bool has_66;            /* one of operand size */
};

static unsigned peek(const struct decoding *d, size_t ahead)
{
	return d->at + ahead < d->len ? d->s[d->at + ahead] : 0;
}

/* Takes note of a prefix; false for any other byte. */
static bool take_prefix(struct decoding *d, unsigned byte)
{
	switch (byte) {
	case 0x26:
		d->refused = "an es segment prefix";
		return true;
	case 0x2e:
		d->refused = "a cs segment prefix";
		return true;
	case 0x36:
		d->refused = "an ss segment prefix";
		return true;
	case 0x3e:
		d->refused = "a ds segment prefix (notrack)";
		return true;
	case 0xf0:
		d->refused = "a lock prefix";
		return true;
	case 0x66:
		d->has_66 = true;
		return true;
	case 0x64:
	case 0x65:
	case 0x67:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return d->is64 && (byte & 0xf0) == 0x40;
	}
}

/*
 * Opcodes of one byte that the kernel refuses. It looks the opcodes of VEX and EVEX instructions
 * up in the same table, so that vpxor (ef) fares like out.
 */
static const struct refusal {
	unsigned char from, to; /* the opcodes */
	bool in32, in64;        /* in which code */
	const char *what;       /* for the message */
} refusals[] = {
	{ 0x06, 0x06, false, true, "an undefined opcode" },
	{ 0x07, 0x07, true, true, "a pop of a segment register" },
	{ 0x0e, 0x0e, false, true, "an undefined opcode" },
	{ 0x16, 0x16, false, true, "an undefined opcode" },
	{ 0x17, 0x17, true, true, "a pop of a segment register" },
	{ 0x1e, 0x1e, false, true, "an undefined opcode" },
	{ 0x1f, 0x1f, true, true, "a pop of a segment register" },
	{ 0x27, 0x27, false, true, "an undefined opcode" },
	{ 0x2f, 0x2f, false, true, "an undefined opcode" },
	{ 0x37, 0x37, false, true, "an undefined opcode" },
	{ 0x3f, 0x3f, false, true, "an undefined opcode" },
	{ 0x60, 0x62, false, true, "an undefined opcode" },
	{ 0x6c, 0x6d, true, true, "ins" },
	{ 0x6e, 0x6f, true, true, "outs" },
	{ 0x82, 0x82, false, true, "an undefined opcode" },
	{ 0x9a, 0x9a, false, true, "an undefined opcode" },
	{ 0xcc, 0xcc, true, true, "int3" },
	{ 0xcd, 0xcd, true, true, "int" },
	{ 0xce, 0xce, true, true, "into" },
	{ 0xcf, 0xcf, true, true, "iret" },
	{ 0xd4, 0xd6, false, true, "an undefined opcode" },
	{ 0xe4, 0xe5, true, true, "in" },
	{ 0xe6, 0xe7, true, true, "out" },
	{ 0xea, 0xea, false, true, "an undefined opcode" },
	{ 0xec, 0xed, true, true, "in" },
	{ 0xee, 0xef, true, true, "out" },
	{ 0xf1, 0xf1, true, true, "int1" },
	{ 0xf4, 0xf4, true, true, "hlt" },
	{ 0xfa, 0xfa, true, true, "cli" },
	{ 0xfb, 0xfb, true, true, "sti" },
};

static const char *find_refusal(bool is64, unsigned op)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (op >= refusals[i].from && op <= refusals[i].to &&
		    (is64 ? refusals[i].in64 : refusals[i].in32))
			return refusals[i].what;
	return NULL;
}

/* Opcodes behind 0f that no processor has. */
static const char *find_second_refusal(unsigned op)
{
	static const unsigned char undefined[] = { 0x04, 0x0a, 0x0c, 0x24, 0x25, 0x26, 0x27, 0x36 };

	return memchr(undefined, (int)op, sizeof(undefined)) ? "an undefined opcode" : NULL;
}

/* Is the opcode at hand really a prefix of vector instructions? In 32-bit code that depends. */
static bool is_vector(const struct decoding *d)
{
	unsigned op = peek(d, 0), next = peek(d, 1);

	if (op == 0x8f)
		return (next & 0x1f) >= 8;
	return (op == 0xc4 || op == 0xc5 || op == 0x62) && (d->is64 || next >= 0xc0);
}

static const char *judge_vector(struct decoding *d)
{
	unsigned prefix = peek(d, 0);

	d->at += prefix == 0xc5 ? 2 : prefix == 0x62 ? 4 : 3;
	if (prefix == 0x8f) /* kernels before 6.18 take it for a pop and step it wrongly */
		return "an XOP instruction";
	return find_refusal(d->is64, peek(d, 0)) ? "an AVX instruction that uprobes do not know"
						 : NULL;
}

/* Relative jumps and calls, which the kernel emulates; their size depends on the processor then. */
static bool is_short_branch(const struct decoding *d)
{
	unsigned op = peek(d, 0), next = peek(d, 1);

	if (op == 0x0f)
		return (next & 0xf0) == 0x80;
	return (op & 0xf0) == 0x70 || op == 0xe8 || op == 0xe9 || op == 0xeb;
}

static const char *judge_opcode(struct decoding *d)
{
	unsigned op = peek(d, 0);

	if (is_vector(d))
		return judge_vector(d);
	if (d->has_66 && is_short_branch(d))
		return "a jump or call with a prefix of operand size";
	if (op == 0x0f) {
		d->at++;
		return find_second_refusal(peek(d, 0));
	}
	if (op == 0x8e && (peek(d, 1) & 0x38) == 0x10) {
		d->at++;
		return "mov to ss";
	}
	return find_refusal(d->is64, op);
}

static const char *judge_x86(struct decoding *d)
{
	while (d->at < d->len && d->at < UP_INSN_MAX && take_prefix(d, peek(d, 0)))
		d->at++;
	const char *refused = judge_opcode(d);
	return d->refused ? d->refused : refused;
}

bool up_insn_is_nop5(enum up_machine m, const unsigned char *s, size_t len)
{
	static const unsigned char nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	return m == UP_M_X86_64 && len >= sizeof(nop5) && !memcmp(s, nop5, sizeof(nop5));
}

bool up_insn_is_idle(enum up_machine m, const unsigned char *s, size_t len)
{
	if (m != UP_M_X86_64 && m != UP_M_I386)
		return false;
	if (len == 4 && !memcmp(s, "\xf3\x0f\x1e", 3))
		return s[3] == 0xfa || s[3] == 0xfb;
	while (len && (*s == 0x66 || *s == 0x2e)) {
		s++;
		len--;
	}
	return (len == 1 && *s == 0x90) || (len >= 3 && s[0] == 0x0f && s[1] == 0x1f);
}

/* ---- arm64 ---- */

/* What the kernel neither simulates nor steps out of line. */
static const struct arm64_refusal {
	uint32_t mask, value; /* which encodings */
	const char *what;     /* for the message */
} arm64_refusals[] = {
	{ 0xffff0000, 0x00000000, "an undefined instruction" },
	{ 0x3f000000, 0x08000000, "an exclusive or ordered load or store" },
	{ 0xff000000, 0xd4000000, "an instruction that raises an exception" },
	{ 0xfff8f01f, 0xd500401f, "a write to a system register" },
	{ 0xfff00000, 0xd5100000, "a write to a system register" },
	{ 0xfffffbff, 0xd69f03e0, "eret" },
	{ 0xfe1ff800, 0xd61f0800, "a branch with pointer authentication" },
	{ 0xff000000, 0xd8000000, "a prefetch of a literal" },
};

/* Hints that can be stepped: nop, xpaclri, signing a pointer, bti. */
static bool is_plain_hint(uint32_t word)
{
	static const unsigned char plain[] = { 0, 7, 8, 10, 24, 25, 26, 27, 32, 34, 36, 38 };

	return memchr(plain, (int)(word >> 5 & 0x7f), sizeof(plain));
}

static const char *judge_arm64(const unsigned char *s, size_t len)
{
	uint32_t word;

	if (len < sizeof(word))
		return "an instruction that is cut off";
	memcpy(&word, s, sizeof(word));
	for (size_t i = 0; i < sizeof(arm64_refusals) / sizeof(arm64_refusals[0]); i++)
		if ((word & arm64_refusals[i].mask) == arm64_refusals[i].value)
			return arm64_refusals[i].what;
	if ((word & 0xfffff01f) == 0xd503201f && !is_plain_hint(word))
		return "a hint that cannot be stepped";
	return NULL;
}

const char *up_insn_refusal(enum up_machine m, const unsigned char *s, size_t len, unsigned *seen)
{
	struct decoding d = { .s = s, .len = len, .is64 = m == UP_M_X86_64 };
	const char *refused = NULL;

	*seen = len < 4 ? (unsigned)len : 4;
	if (m == UP_M_AARCH64)
		return judge_arm64(s, len);
	if (m == UP_M_X86_64 || m == UP_M_I386) {
		refused = judge_x86(&d);
		*seen = (unsigned)(d.at + 1 < len ? d.at + 1 : len);
	}
	return refused;
}
