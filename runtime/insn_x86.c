/* The decoder: prefixes, opcode, ModRM and SIB, displacement, constant. Tables of one letter. */
#include "runtime/insn_x86.h"

#include <string.h>

#include "runtime/insn.h"

/*
 * What follows an opcode: `.` nothing, `M` ModRM, `R` ModRM that names registers only, `b` a byte,
 * `w` two bytes, `z` two or four by operand size, `v` up to eight, `B` `Z` ModRM and those, `J` a
 * distance of four bytes, `o` an address, `e` enter's three bytes, `f` a far address, `3` `4` ModRM
 * and for some a constant, `s` nothing and 32-bit code alone, `k` `d` likewise with `B`, `b`,
 * `x` no instruction, or a prefix that was taken off before.
 */
static const char one_byte[] = "MMMMbzssMMMMbzsxMMMMbzssMMMMbzss"
			       "MMMMbzxsMMMMbzxsMMMMbzxsMMMMbzxs"
			       "................................"
			       "ssMMxxxxzZbB....bbbbbbbbbbbbbbbb"
			       "BZkBMMMMMMMMMMMM..........f....."
			       "oooo....bz......bbbbbbbbvvvvvvvv"
			       "BBw.MMBZe.w..bs.MMMMdds.MMMMMMMM"
			       "bbbbbbbbJJfb....x.xx..34......MM";

static const char two_bytes[] = "MMMMx.....x.xM.BMMMMMMMMMMMMMMMM"
				"RRRRxxxxMMMMMMMM......x.xxxxxxxx"
				"MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMMBBBBMMM.MMxxMMMM"
				"JJJJJJJJJJJJJJJJMMMMMMMMMMMMMMMM"
				"...MBMxx...MBMMMMMMMMMMMMMBMMMMM"
				"MMBMBBBM........MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM";

_Static_assert(sizeof(one_byte) == 257 && sizeof(two_bytes) == 257, "a letter for each opcode");

/* The byte `ahead` of the next one; 0 behind the end, where have() will fail. */
static unsigned char peek(const struct up_x86 *x, unsigned ahead)
{
	return x->len + ahead < x->limit ? x->s[x->len + ahead] : 0;
}

static bool have(const struct up_x86 *x, unsigned nr)
{
	return x->limit - x->len >= nr;
}

/* Takes a number of `size` bytes with its sign; false when it is cut off. */
static bool take_number(struct up_x86 *x, unsigned size, int64_t *out)
{
	uint64_t v = 0;

	if (!have(x, size))
		return false;
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)x->s[x->len + i] << (8 * i);
	if (size && size < 8 && v >> (8 * size - 1))
		v |= ~(uint64_t)0 << (8 * size);
	x->len += size;
	*out = (int64_t)v;
	return true;
}

/* ---- prefixes ---- */

static bool take_prefix(struct up_x86 *x, unsigned char byte)
{
	switch (byte) {
	case 0x66:
		x->has_66 = true;
		break;
	case 0x67:
		x->has_67 = true;
		break;
	case 0xf0:
		x->has_lock = true;
		break;
	case 0xf2:
	case 0xf3:
		x->rep = byte;
		break;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
		x->segment = byte;
		break;
	default:
		if (!x->is64 || (byte & 0xf0) != 0x40)
			return false;
		x->rex = byte & 15;
		x->has_rex = true;
		x->len++;
		return true;
	}
	/* One that stands before another prefix is void. */
	x->rex = 0;
	x->has_rex = false;
	x->len++;
	return true;
}

/* Is what follows a vector prefix? In 32-bit code some of its bytes are instructions. */
static bool is_vector(const struct up_x86 *x)
{
	unsigned char op = peek(x, 0), next = peek(x, 1);

	if (op == 0x8f)
		return (next & 0x1f) >= 8;
	return (op == 0xc4 || op == 0xc5 || op == 0x62) && (x->is64 || next >= 0xc0);
}

/* The map that a vector prefix's number means; false when no instructions are known there. */
static bool find_map(unsigned char prefix, unsigned nr, enum up_x86_map *out)
{
	static const enum up_x86_map maps[] = { UP_X86_ONE, UP_X86_0F,   UP_X86_0F38, UP_X86_0F3A,
						UP_X86_ONE, UP_X86_MAP5, UP_X86_MAP6 };

	if (prefix == 0x8f) {
		*out = UP_X86_XOP;
		return nr >= 8 && nr <= 10;
	}
	*out = nr < sizeof(maps) / sizeof(maps[0]) ? maps[nr] : UP_X86_ONE;
	return *out != UP_X86_ONE && (nr <= 3 || prefix == 0x62);
}

static bool take_vector(struct up_x86 *x, char *follows)
{
	unsigned char prefix = peek(x, 0), first = peek(x, 1);
	unsigned size = prefix == 0xc5 ? 2 : prefix == 0x62 ? 4 : 3;
	unsigned nr = prefix == 0xc5 ? 1 : prefix == 0x62 ? first & 7 : first & 31;

	if (!have(x, size + 1) || !find_map(prefix, nr, &x->map))
		return false;
	x->is_vector = true;
	x->rex = prefix == 0xc5 ? (~first >> 5) & 4 : (~first >> 5) & 7;
	if (prefix != 0xc5)
		x->rex |= (peek(x, 2) & 0x80) >> 4;
	x->len += size;
	x->op = x->s[x->len++];
	*follows = 'M';
	if (x->map == UP_X86_0F3A || (x->map == UP_X86_XOP && nr == 8) ||
	    (x->map == UP_X86_0F && two_bytes[x->op] == 'B'))
		*follows = 'B';
	else if (x->map == UP_X86_XOP && nr == 10)
		*follows = 'Z';
	else if (x->map == UP_X86_0F && x->op == 0x77)
		*follows = '.';
	return true;
}

static bool take_opcode(struct up_x86 *x, char *follows)
{
	if (!have(x, 1))
		return false;
	if (is_vector(x))
		return take_vector(x, follows);
	x->op = x->s[x->len++];
	x->map = UP_X86_ONE;
	*follows = one_byte[x->op];
	if (x->op != 0x0f)
		return true;
	if (!have(x, 1))
		return false;
	x->op = x->s[x->len++];
	x->map = UP_X86_0F;
	*follows = two_bytes[x->op];
	if (x->op != 0x38 && x->op != 0x3a)
		return true;
	if (!have(x, 1))
		return false;
	x->map = x->op == 0x38 ? UP_X86_0F38 : UP_X86_0F3A;
	*follows = x->op == 0x38 ? 'M' : 'B';
	x->op = x->s[x->len++];
	return true;
}

/* ---- operands ---- */

/* Addresses of 16 bits, in 32-bit code alone: which registers is of no concern. */
static bool take_short_memory(struct up_x86 *x)
{
	unsigned size = x->mod == 1 ? 1 : x->mod == 2 || x->rm == 6 ? 2 : 0;

	return take_number(x, size, &x->disp);
}

static bool take_sib(struct up_x86 *x, bool *has_wide)
{
	if (!have(x, 1))
		return false;
	unsigned char sib = x->s[x->len++];
	unsigned index = (sib >> 3 & 7) | (x->rex & 2) << 2;

	x->scale = 1u << (sib >> 6);
	if (index != UP_X86_SP || x->is_vector)
		x->index = (int)index;
	if ((sib & 7) == UP_X86_BP && !x->mod)
		*has_wide = true;
	else
		x->base = (int)((sib & 7) | (x->rex & 1) << 3);
	return true;
}

static bool take_memory(struct up_x86 *x)
{
	unsigned low = x->rm & 7;
	bool has_wide = x->mod == 2;

	if (!x->is64 && x->has_67)
		return take_short_memory(x);
	if (low == 4) {
		if (!take_sib(x, &has_wide))
			return false;
	} else if (low == 5 && !x->mod) {
		x->base = x->is64 ? UP_X86_PC : UP_X86_NONE;
		has_wide = true;
	} else {
		x->base = x->rm;
	}
	return take_number(x, x->mod == 1 ? 1 : has_wide ? 4 : 0, &x->disp);
}

static bool take_modrm(struct up_x86 *x, bool has_memory)
{
	if (!have(x, 1))
		return false;
	unsigned char byte = x->s[x->len++];

	x->has_modrm = true;
	x->mod = has_memory ? byte >> 6 : 3;
	x->reg = (unsigned char)((byte >> 3 & 7) | (x->rex & 4) << 1);
	x->rm = (unsigned char)((byte & 7) | (x->rex & 1) << 3);
	return x->mod == 3 || take_memory(x);
}

/* Bytes of the constant. */
static unsigned measure_constant(const struct up_x86 *x, char follows)
{
	bool is_short = x->has_66 && !(x->rex & 8);

	switch (follows) {
	case 'b':
	case 'B':
	case 'd':
	case 'k':
		return 1;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'z':
	case 'Z':
		return is_short && !x->is_vector ? 2 : 4;
	case 'J':
		return x->has_66 && !x->is64 ? 2 : 4;
	case 'v':
		return x->rex & 8 ? 8 : is_short ? 2 : 4;
	case 'o':
		return x->is64 == x->has_67 ? 4 : x->is64 ? 8 : 2;
	case 'f':
		return is_short ? 4 : 6;
	case '3':
		return (x->reg & 6) ? 0 : 1;
	case '4':
		return (x->reg & 6) ? 0 : is_short ? 2 : 4;
	default:
		/* extrq and insertq with constants have two bytes */
		return x->map == UP_X86_0F && x->op == 0x78 && !x->is_vector &&
				       (x->has_66 || x->rep == 0xf2)
			       ? 2
			       : 0;
	}
}

/* Groups of opcodes with members that no processor has: they tell data from code. */
static bool is_undefined(const struct up_x86 *x)
{
	unsigned sub = x->reg & 7;

	if (x->map != UP_X86_ONE || x->is_vector)
		return false;
	switch (x->op) {
	case 0x8d:
		return x->mod == 3;
	case 0x8f:
		return sub != 0;
	case 0xc6:
	case 0xc7:
		return sub != 0 && !(sub == 7 && x->mod == 3 && (x->rm & 7) == 0);
	case 0xfe:
		return sub > 1;
	case 0xff:
		return sub == 7;
	default:
		return false;
	}
}

bool up_x86_decode(bool is64, const unsigned char *s, size_t len, struct up_x86 *out)
{
	struct up_x86 x = {
		.s = s,
		.limit = len < UP_INSN_MAX ? (unsigned)len : UP_INSN_MAX,
		.is64 = is64,
		.base = UP_X86_NONE,
		.index = UP_X86_NONE,
		.scale = 1,
	};
	char follows;

	while (x.len < x.limit && take_prefix(&x, s[x.len]))
		;
	if (!take_opcode(&x, &follows) || follows == 'x' || (is64 && strchr("skdf", follows)))
		return false;
	if (strchr("MRBZk34", follows) && !take_modrm(&x, follows != 'R'))
		return false;
	x.imm_size = measure_constant(&x, follows);
	if (x.imm_size > 8 || !take_number(&x, x.imm_size, &x.imm) || is_undefined(&x))
		return false;
	*out = x;
	return true;
}
