/*
 * Instruction lengths (Intel SDM volume 2, appendix A; AMD APM volume 3 for XOP) and what the
 * kernel's uprobes refuse: arch/x86/kernel/uprobes.c, arch/arm64/kernel/probes/decode-insn.c.
 */
#include "runtime/insn.h"

#include <string.h>

/* ---- x86 ---- */

/*
 * What follows an opcode. Small letters have no ModRM byte, capitals have one:
 *   .  nothing                  M  ModRM
 *   b  1 byte                   B  ModRM, 1 byte
 *   w  2 bytes                  G  ModRM; 1 byte when its reg field is 0 or 1 (test)
 *   z  2 or 4 bytes             Z  ModRM, 2 or 4 bytes
 *   v  2, 4 or 8 bytes          T  ModRM; 2 or 4 bytes when its reg field is 0 or 1 (test)
 *   e  3 bytes (enter)          C  ModRM that always names registers (mov to and from %cr, %dr)
 *   a  an address               p  prefix
 *   j  branch, 4 bytes          l  long branch, 2 bytes and 2 or 4, not in 64-bit code
 *   !  no instruction           6  as "." in 32-bit code, none in 64-bit code
 *   x  an escape, handled before the table is asked
 */
static const char one_byte[] = "MMMMbz66MMMMbz6x" /* 00 */
			       "MMMMbz66MMMMbz66"
			       "MMMMbzp6MMMMbzp6" /* 20 */
			       "MMMMbzp6MMMMbzp6"
			       "................" /* 40; REX in 64-bit code */
			       "................"
			       "66xMppppzZbB...." /* 60 */
			       "bbbbbbbbbbbbbbbb"
			       "BZBBMMMMMMMMMMMM" /* 80 */
			       "..........l....."
			       "aaaa....bz......" /* a0 */
			       "bbbbbbbbvvvvvvvv"
			       "BBw.xxBZe.w..b6." /* c0 */
			       "MMMMbb!.MMMMMMMM"
			       "bbbbbbbbjjlb...." /* e0 */
			       "p.pp..GT......MM";

static const char two_byte[] = "MMMM!.....!.!M.B" /* 0f 00 */
			       "MMMMMMMMMMMMMMMM"
			       "CCCC!!!!MMMMMMMM" /* 0f 20 */
			       "......!.x!x!!!!!"
			       "MMMMMMMMMMMMMMMM" /* 0f 40 */
			       "MMMMMMMMMMMMMMMM"
			       "MMMMMMMMMMMMMMMM" /* 0f 60 */
			       "BBBBMMM.MM!!MMMM"
			       "jjjjjjjjjjjjjjjj" /* 0f 80 */
			       "MMMMMMMMMMMMMMMM"
			       "...MBMMM...MBMMM" /* 0f a0 */
			       "MMMMMMMMMMBMMMMM"
			       "MMBMBBBM........" /* 0f c0 */
			       "MMMMMMMMMMMMMMMM"
			       "MMMMMMMMMMMMMMMM" /* 0f e0 */
			       "MMMMMMMMMMMMMMMM";

/* An instruction while it is taken apart. */
struct decoding {
	const unsigned char *s; /* the first byte */
	size_t len;             /* bytes that there are */
	size_t at;              /* the next byte */
	bool is64;              /* 64-bit code */
	bool has_66, has_67;    /* operand size, address size prefix */
	bool has_f2;            /* repne prefix */
	bool has_rex_w;         /* 64-bit operands */
	const char *refused;    /* a prefix that the kernel refuses */
};

static unsigned peek(const struct decoding *d, size_t ahead)
{
	return d->at + ahead < d->len ? d->s[d->at + ahead] : 0;
}

/* Steps over n bytes; false when they are not there or the instruction grows too long. */
static bool skip(struct decoding *d, size_t n)
{
	d->at += n;
	return d->at <= d->len && d->at <= UP_INSN_MAX;
}

/* Takes note of a legacy prefix; false for any other byte. */
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
	case 0x67:
		d->has_67 = true;
		return true;
	case 0xf2:
		d->has_f2 = true;
		return true;
	case 0xf3:
	case 0x64:
	case 0x65:
		return true;
	default:
		return false;
	}
}

static bool take_prefixes(struct decoding *d)
{
	while (d->at < d->len && d->at < UP_INSN_MAX) {
		unsigned byte = peek(d, 0);

		if (d->is64 && (byte & 0xf0) == 0x40)
			d->has_rex_w = byte & 8;
		else if (take_prefix(d, byte))
			d->has_rex_w = false; /* a REX prefix counts right before the opcode only */
		else
			return true;
		d->at++;
	}
	return false;
}

static size_t operand_size(const struct decoding *d)
{
	return d->has_66 && !d->has_rex_w ? 2 : 4;
}

/* Steps over ModRM, SIB and displacement. */
static bool skip_modrm(struct decoding *d)
{
	unsigned modrm = peek(d, 0), mod = modrm >> 6, rm = modrm & 7, base = rm;

	if (!skip(d, 1))
		return false;
	if (mod == 3)
		return true;
	if (!d->is64 && d->has_67)
		return skip(d, mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
	if (rm == 4) {
		base = peek(d, 0) & 7;
		if (!skip(d, 1))
			return false;
	}
	return skip(d, mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
}

/* Steps over what the table says follows an opcode. */
static bool skip_operands(struct decoding *d, char form)
{
	bool is_test = !(peek(d, 0) & 0x30); /* ModRM's reg field is 0 or 1 */
	size_t z = operand_size(d);

	switch (form) {
	case '.':
		return true;
	case 'b':
		return skip(d, 1);
	case 'w':
		return skip(d, 2);
	case 'e':
		return skip(d, 3);
	case 'z':
		return skip(d, z);
	case 'v':
		return skip(d, d->has_rex_w ? 8 : z);
	case 'a':
		return skip(d, (d->is64 ? 8 : 4) >> d->has_67);
	case 'j':
		return skip(d, d->is64 ? 4 : z);
	case 'l':
		return !d->is64 && skip(d, 2 + z);
	case '6':
		return !d->is64;
	case 'M':
		return skip_modrm(d);
	case 'C':
		return skip(d, 1);
	case 'B':
		return skip_modrm(d) && skip(d, 1);
	case 'Z':
		return skip_modrm(d) && skip(d, z);
	case 'G':
		return skip_modrm(d) && skip(d, is_test);
	case 'T':
		return skip_modrm(d) && skip(d, is_test ? z : 0);
	default:
		return false;
	}
}

/*
 * Opcodes of one byte that the kernel refuses. It looks the opcodes of VEX and EVEX instructions
 * up in the same table, so that vpxor (ef) fares like out; tried one by one on Linux 6.1.
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

/* Steps over opcode and operands behind a VEX, EVEX or XOP prefix that selected `map`. */
static bool skip_vector(struct decoding *d, unsigned map)
{
	unsigned op = peek(d, 0);

	if (!skip(d, 1))
		return false;
	switch (map) {
	case 1:
		if (two_byte[op] == '.' && op == 0x77)
			return true;
		return skip_operands(d, two_byte[op] == 'B' ? 'B' : 'M');
	case 2:
	case 5:
	case 6:
	case 9:
		return skip_modrm(d);
	case 3:
	case 8:
		return skip_operands(d, 'B');
	case 10:
		return skip_modrm(d) && skip(d, 4);
	default:
		return false;
	}
}

/* Is the opcode at hand really a prefix of vector instructions? In 32-bit code that depends. */
static bool is_vector(const struct decoding *d)
{
	unsigned op = peek(d, 0), next = peek(d, 1);

	if (op == 0x8f)
		return (next & 0x1f) >= 8;
	return (op == 0xc4 || op == 0xc5 || op == 0x62) && (d->is64 || next >= 0xc0);
}

static bool decode_vector(struct decoding *d)
{
	unsigned prefix = peek(d, 0), next = peek(d, 1);
	size_t size = prefix == 0xc5 ? 2 : prefix == 0x62 ? 4 : 3;
	unsigned map = prefix == 0xc5 ? 1 : prefix == 0x62 ? next & 7 : next & 0x1f;

	if (!skip(d, size))
		return false;
	if (prefix == 0x8f) /* kernels before 6.18 take it for a pop and step it wrongly */
		d->refused = "an XOP instruction";
	else if (!d->refused && find_refusal(d->is64, peek(d, 0)))
		d->refused = "an AVX instruction that uprobes do not know";
	return skip_vector(d, map);
}

static bool decode_two_byte(struct decoding *d)
{
	unsigned op = peek(d, 0);

	if (!skip(d, 1))
		return false;
	if (op == 0x38 || op == 0x3a)
		return skip(d, 1) && skip_operands(d, op == 0x38 ? 'M' : 'B');
	if (op == 0x78 && (d->has_66 || d->has_f2)) /* extrq, insertq */
		return skip_modrm(d) && skip(d, 2);
	return skip_operands(d, two_byte[op]);
}

static bool decode_one_byte(struct decoding *d)
{
	unsigned op = peek(d, 0);
	bool is_mov_ss = op == 0x8e && (peek(d, 1) & 0x38) == 0x10;

	if (d->is64 && (op == 0x82 || op == 0xd4 || op == 0xd5))
		return false;
	if (!d->refused)
		d->refused = is_mov_ss ? "mov to ss" : find_refusal(d->is64, op);
	if (one_byte[op] == 'x') /* les, lds and bound, where they are not vector prefixes */
		return skip(d, 1) && skip_modrm(d);
	return skip(d, 1) && skip_operands(d, one_byte[op]);
}

static bool decode_x86(struct decoding *d)
{
	if (!take_prefixes(d))
		return false;
	if (is_vector(d))
		return decode_vector(d);
	if (peek(d, 0) == 0x0f)
		return skip(d, 1) && decode_two_byte(d);
	return decode_one_byte(d);
}

/* ---- arm64 ---- */

/* What the kernel neither simulates nor steps out of line. */
static const struct arm64_refusal {
	uint32_t mask, value; /* which encodings */
	const char *what;     /* for the message */
} arm64_refusals[] = {
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

static bool decode_arm64(const unsigned char *s, size_t len, struct up_insn *out)
{
	uint32_t word;

	if (len < sizeof(word))
		return false;
	memcpy(&word, s, sizeof(word));
	out->len = sizeof(word);
	if (word >> 16 == 0) /* udf: never an instruction that runs */
		return false;
	for (size_t i = 0; i < sizeof(arm64_refusals) / sizeof(arm64_refusals[0]); i++)
		if ((word & arm64_refusals[i].mask) == arm64_refusals[i].value)
			out->refused = arm64_refusals[i].what;
	if ((word & 0xfffff01f) == 0xd503201f && !is_plain_hint(word))
		out->refused = "a hint that cannot be stepped";
	return true;
}

bool up_insn_decode(enum up_machine m, const unsigned char *s, size_t len, struct up_insn *out)
{
	struct decoding d = { .s = s, .len = len, .is64 = m == UP_M_X86_64 };

	*out = (struct up_insn){ 0 };
	if (m == UP_M_AARCH64)
		return decode_arm64(s, len, out);
	if ((m != UP_M_X86_64 && m != UP_M_I386) || !decode_x86(&d))
		return false;
	out->len = (unsigned)d.at;
	out->refused = d.refused;
	return true;
}
