/*
 * Instruction lengths and refusals: a table of hand-made bytes, then every instruction of a real
 * program against objdump, where that is installed.
 */
#include "runtime/insn.h"
#include "runtime/nop5.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

struct row {
	enum up_machine m;   /* whose instruction */
	const char *bytes;   /* hexadecimal */
	unsigned len;        /* its length; 0: no instruction, or cut off */
	const char *refused; /* what is wrong with it, or NULL */
};

static const struct row rows[] = {
	{ UP_M_X86_64, "90", 1, NULL },
	{ UP_M_X86_64, "f30f1efa", 4, NULL }, /* endbr64 */
	{ UP_M_X86_64, "55", 1, NULL },
	{ UP_M_X86_64, "4889e5", 3, NULL },
	{ UP_M_X86_64, "4881ec00100000", 7, NULL },
	{ UP_M_X86_64, "48b81122334455667788", 10, NULL },   /* mov $imm64,%rax */
	{ UP_M_X86_64, "66b81122", 4, NULL },                /* mov $imm16,%ax */
	{ UP_M_X86_64, "6648b81122334455667788", 11, NULL }, /* REX.W wins over 66 */
	{ UP_M_X86_64, "4866b81122", 5, NULL },              /* a REX before a prefix is void */
	{ UP_M_X86_64, "8b0511223344", 6, NULL },            /* rip-relative */
	{ UP_M_X86_64, "8b042511223344", 7, NULL },          /* SIB without base */
	{ UP_M_X86_64, "8b442408", 4, NULL },                /* SIB, disp8 */
	{ UP_M_X86_64, "8b842411223344", 7, NULL },          /* SIB, disp32 */
	{ UP_M_X86_64, "678b0511223344", 7, NULL },          /* 32-bit addresses */
	{ UP_M_X86_64, "f6c101", 3, NULL },                  /* test $1,%cl */
	{ UP_M_X86_64, "f6d1", 2, NULL },                    /* not %cl */
	{ UP_M_X86_64, "f7c101000000", 6, NULL },            /* test $1,%ecx */
	{ UP_M_X86_64, "66f7c10100", 5, NULL },              /* test $1,%cx */
	{ UP_M_X86_64, "f7d9", 2, NULL },                    /* neg %ecx */
	{ UP_M_X86_64, "c8100000", 4, NULL },                /* enter */
	{ UP_M_X86_64, "c20800", 3, NULL },                  /* ret $8 */
	{ UP_M_X86_64, "a11122334455667788", 9, NULL },      /* movabs */
	{ UP_M_X86_64, "0f8411223344", 6, NULL },            /* je */
	{ UP_M_X86_64, "e811223344", 5, NULL },              /* call */
	{ UP_M_X86_64, "0f1f8000000000", 7, NULL },          /* nopl */
	{ UP_M_X86_64, "0f05", 2, NULL },                    /* syscall */
	{ UP_M_X86_64, "0f20c0", 3, NULL },                  /* mov %cr0,%rax */
	{ UP_M_X86_64, "0f2005", 3, NULL },                  /* its ModRM names registers only */
	{ UP_M_X86_64, "660f3a0fc108", 6, NULL },            /* palignr */
	{ UP_M_X86_64, "660f3800c1", 5, NULL },              /* pshufb */
	{ UP_M_X86_64, "c5f877", 3, NULL },                  /* vzeroupper */
	{ UP_M_X86_64, "c5f9fec1", 4, NULL },                /* vpaddd */
	{ UP_M_X86_64, "c4e37d0fc108", 6, NULL },            /* vpalignr */
	{ UP_M_X86_64, "62f17d48fec1", 6, NULL },            /* vpaddd %zmm */
	{ UP_M_X86_64, "62f17c4810442401", 8, NULL },        /* vmovups 64(%rsp),%zmm0 */
	{ UP_M_X86_64, "64488b042528000000", 9, NULL },      /* mov %fs:0x28,%rax */
	{ UP_M_X86_64, "8fc0", 2, NULL },                    /* pop %rax */
	{ UP_M_X86_64, "c5f9efc0", 4, "an AVX instruction that uprobes do not know" },
	{ UP_M_X86_64, "62f17d486fc0", 6, "an AVX instruction that uprobes do not know" },
	{ UP_M_X86_64, "8fe97882c0", 5, "an XOP instruction" },
	{ UP_M_X86_64, "cc", 1, "int3" },
	{ UP_M_X86_64, "f4", 1, "hlt" },
	{ UP_M_X86_64, "cd80", 2, "int" },
	{ UP_M_X86_64, "cf", 1, "iret" },
	{ UP_M_X86_64, "48cf", 2, "iret" },
	{ UP_M_X86_64, "e460", 2, "in" },
	{ UP_M_X86_64, "ee", 1, "out" },
	{ UP_M_X86_64, "6c", 1, "ins" },
	{ UP_M_X86_64, "fa", 1, "cli" },
	{ UP_M_X86_64, "f00fc111", 4, "a lock prefix" },
	{ UP_M_X86_64, "2e0f1f8400000000", 0, "a cs segment prefix" }, /* cut off */
	{ UP_M_X86_64, "662e0f1f840000000000", 10, "a cs segment prefix" },
	{ UP_M_X86_64, "3effe0", 3, "a ds segment prefix (notrack)" },
	{ UP_M_X86_64, "26a4", 2, "an es segment prefix" },
	{ UP_M_X86_64, "36a4", 2, "an ss segment prefix" },
	{ UP_M_X86_64, "8ed0", 2, "mov to ss" },
	{ UP_M_X86_64, "8ed8", 2, NULL }, /* mov %eax,%ds */
	{ UP_M_X86_64, "06", 0, "an undefined opcode" },
	{ UP_M_X86_64, "82c001", 0, "an undefined opcode" },
	{ UP_M_X86_64, "9a112233445566", 0, "an undefined opcode" },
	{ UP_M_X86_64, "0f04", 0, "an undefined opcode" },
	{ UP_M_X86_64, "d6", 0, "an undefined opcode" },
	{ UP_M_X86_64, "48", 0, NULL },                               /* prefixes only */
	{ UP_M_X86_64, "", 0, NULL },                                 /* nothing */
	{ UP_M_X86_64, "666666666666666666666666666690", 15, NULL },  /* as long as can be */
	{ UP_M_X86_64, "66666666666666666666666666666690", 0, NULL }, /* longer */
	{ UP_M_X86_64, "48b811223344556677", 0, NULL },               /* cut off */
	{ UP_M_I386, "40", 1, NULL },                                 /* inc %eax */
	{ UP_M_I386, "06", 1, NULL },                                 /* push %es */
	{ UP_M_I386, "a111223344", 5, NULL },
	{ UP_M_I386, "67a11122", 4, NULL },
	{ UP_M_I386, "678b4011", 4, NULL },   /* 16-bit addresses: disp8 */
	{ UP_M_I386, "678b061122", 5, NULL }, /* disp16 */
	{ UP_M_I386, "678b07", 3, NULL },     /* none */
	{ UP_M_I386, "c50411", 3, NULL },     /* lds */
	{ UP_M_I386, "c5f877", 3, NULL },     /* vzeroupper */
	{ UP_M_I386, "6204", 0, NULL },       /* bound, cut off */
	{ UP_M_I386, "620411", 3, NULL },
	{ UP_M_I386, "9a112233445566", 7, NULL },
	{ UP_M_I386, "66e81122", 4, "a jump or call with a prefix of operand size" },
	{ UP_M_X86_64, "666648e811223344", 8, "a jump or call with a prefix of operand size" },
	{ UP_M_X86_64, "66eb00", 3, "a jump or call with a prefix of operand size" },
	{ UP_M_I386, "82c001", 3, NULL },
	{ UP_M_I386, "1f", 1, "a pop of a segment register" },
	{ UP_M_AARCH64, "fd7bbfa9", 4, NULL }, /* stp x29, x30, [sp, #-16]! */
	{ UP_M_AARCH64, "1f2003d5", 4, NULL }, /* nop */
	{ UP_M_AARCH64, "3f2303d5", 4, NULL }, /* paciasp */
	{ UP_M_AARCH64, "5f2403d5", 4, NULL }, /* bti c */
	{ UP_M_AARCH64, "c0035fd6", 4, NULL }, /* ret */
	{ UP_M_AARCH64, "40000058", 4, NULL }, /* ldr x0, literal */
	{ UP_M_AARCH64, "bf2303d5", 4, "a hint that cannot be stepped" }, /* autiasp */
	{ UP_M_AARCH64, "5f2003d5", 4, "a hint that cannot be stepped" }, /* wfe */
	{ UP_M_AARCH64, "207c5f88", 4, "an exclusive or ordered load or store" },
	{ UP_M_AARCH64, "010000d4", 4, "an instruction that raises an exception" }, /* svc */
	{ UP_M_AARCH64, "000020d4", 4, "an instruction that raises an exception" }, /* brk */
	{ UP_M_AARCH64, "40d01bd5", 4, "a write to a system register" },
	{ UP_M_AARCH64, "ff0b5fd6", 4, "a branch with pointer authentication" }, /* retaa */
	{ UP_M_AARCH64, "00000000", 4, "an undefined instruction" },             /* udf */
	{ UP_M_AARCH64, "fd7bbf", 0, "an instruction that is cut off" },         /* cut off */
	{ UP_M_OTHER, "90", 0, NULL },
};

static size_t read_hex(const char *s, unsigned char *to, size_t size)
{
	size_t n = 0;
	unsigned byte;

	for (; n < size && sscanf(s + 2 * n, "%2x", &byte) == 1; n++)
		to[n] = (unsigned char)byte;
	return n;
}

static struct up_disasm disasm;

static void check_row(const struct row *r)
{
	unsigned char bytes[32];
	size_t n = read_hex(r->bytes, bytes, sizeof(bytes));
	unsigned char *exact = malloc(n ? n : 1); /* so that a byte read behind it is noticed */
	unsigned seen;

	memcpy(exact, bytes, n);
	unsigned len = up_disasm_length(&disasm, r->m, exact, n);
	const char *refused = up_insn_refusal(r->m, exact, n, &seen);
	bool is_right = len == r->len && seen <= n && !refused == !r->refused &&
			(!refused || !strcmp(refused, r->refused));
	if (!is_right)
		fprintf(stderr, "%s: length %u, %s\n", r->bytes, len,
			refused ? refused : "not refused");
	CHECK(is_right);
	free(exact);
}

/* Whatever the bytes: no crash, a length of at most 15, and cut-off ones are noticed. */
static void check_random(void)
{
	unsigned char bytes[16];
	uint64_t rng = 0x9e3779b97f4a7c15u;
	bool is_right = true;

	for (int i = 0; i < 100000; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++) {
			rng = rng * 6364136223846793005u + 1442695040888963407u;
			bytes[k] = (unsigned char)(rng >> 56);
		}
		enum up_machine m = i & 1 ? UP_M_X86_64 : UP_M_I386;
		unsigned len = up_disasm_length(&disasm, m, bytes, sizeof(bytes)), seen;
		up_insn_refusal(m, bytes, sizeof(bytes), &seen);
		is_right = is_right && seen >= 1 && seen <= sizeof(bytes);
		if (!len)
			continue;
		is_right = is_right && len <= UP_INSN_MAX &&
			   up_disasm_length(&disasm, m, bytes, len) == len &&
			   !up_disasm_length(&disasm, m, bytes, len - 1);
	}
	CHECK(is_right);
}

/* Without Capstone there are no lengths of x86 instructions. */
static void check_absent(void)
{
	struct up_disasm d = { .soname = "libcapstone.so.none" };

	CHECK(!up_disasm_load(&d) && !up_disasm_load(&d));
	CHECK(up_disasm_length(&d, UP_M_X86_64, (const unsigned char *)"\x90", 1) == 0);
	CHECK(up_disasm_length(&d, UP_M_AARCH64, (const unsigned char *)"\x1f\x20\x03\xd5", 4) ==
	      4);
	up_disasm_fini(&d);
}

#if defined(__x86_64__)
/* "    4010:	55 48 89 e5   	mov ..." of objdump -dw; false for other lines. */
static bool read_listing(char *line, unsigned char *bytes, size_t *n, const char **text)
{
	char *tab = strchr(line, '\t'), *second = tab ? strchr(tab + 1, '\t') : NULL;

	if (!second || tab == line || tab[-1] != ':')
		return false;
	*second = 0;
	*text = second + 1;
	for (*n = 0, tab++; *n < 16; (*n)++) {
		char *end;
		unsigned long byte = strtoul(tab, &end, 16);

		if (end == tab)
			break;
		bytes[*n] = (unsigned char)byte;
		tab = end;
	}
	return *n > 0;
}

/* objdump shows fwait as part of what follows, and lone prefixes as instructions. */
static bool is_peculiar(const unsigned char *bytes, const char *text)
{
	return bytes[0] == 0x9b || !strncmp(text, "rex", 3) || strstr(text, "(bad)");
}

static void check_listing(const char *path)
{
	char command[300], line[1000];
	unsigned nr = 0, nr_wrong = 0;
	unsigned char bytes[16];
	const char *text;
	size_t n;

	snprintf(command, sizeof(command), "objdump -dw --insn-width=16 %s 2>/dev/null", path);
	FILE *f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (!read_listing(line, bytes, &n, &text) || is_peculiar(bytes, text))
			continue;
		nr++;
		unsigned len = up_disasm_length(&disasm, UP_M_X86_64, bytes, n);
		if (len && len != n)
			nr_wrong++;
	}
	if (f)
		pclose(f);
	if (!nr)
		printf("insn: objdump is not installed: not compared\n");
	CHECK(nr_wrong == 0);
}
#endif

static void check_nops(void)
{
	static const unsigned char nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const unsigned char other[] = { 0x0f, 0x1f, 0x44, 0x00, 0x08 };
	static const unsigned char nop10[] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa },
				   rdssp[] = { 0xf3, 0x0f, 0x1e, 0xc8 };

	CHECK(up_insn_is_nop5(UP_M_X86_64, nop5, 5) && !up_insn_is_nop5(UP_M_X86_64, nop5, 4));
	CHECK(!up_insn_is_nop5(UP_M_I386, nop5, 5) && !up_insn_is_nop5(UP_M_X86_64, other, 5));
	CHECK(!up_insn_is_nop5(UP_M_X86_64, nop10, 10));
	CHECK(up_insn_is_idle(UP_M_X86_64, nop5, 5) && up_insn_is_idle(UP_M_X86_64, nop10, 10));
	CHECK(up_insn_is_idle(UP_M_X86_64, endbr, 4) && !up_insn_is_idle(UP_M_X86_64, rdssp, 4));
	CHECK(up_insn_is_idle(UP_M_X86_64, (const unsigned char *)"\x66\x90", 2));
	CHECK(!up_insn_is_idle(UP_M_X86_64, (const unsigned char *)"\x55", 1));
	CHECK(!up_insn_is_idle(UP_M_AARCH64, endbr, 4));
}

static void check_kernels(void)
{
	CHECK(up_nop5_judge(-ENXIO, "6.18.44") == UP_NOP5_HARMS);
	CHECK(up_nop5_judge(-ENXIO, "6.12.9-backport") == UP_NOP5_HARMS);
	CHECK(up_nop5_judge(-EPROTO, "7.3.0") == UP_NOP5_FINE);
	CHECK(up_nop5_judge(-ENOSYS, "6.1.0") == UP_NOP5_FINE);
	CHECK(up_nop5_judge(-EPERM, "6.18.1") == UP_NOP5_HARMS);
	CHECK(up_nop5_judge(-EPERM, "7.0.0") == UP_NOP5_HARMS);
	CHECK(up_nop5_judge(-EPERM, "6.17.9") == UP_NOP5_FINE);
	CHECK(up_nop5_judge(-EPERM, "") == UP_NOP5_FINE);
	CHECK(up_nop5_ask() != UP_NOP5_ASK);
}

int main(void)
{
	if (!up_disasm_load(&disasm)) {
		printf("insn: Capstone is not installed: not tested\n");
		return 77;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
	check_nops();
	check_kernels();
	check_random();
	check_absent();
#if defined(__x86_64__)
	check_listing("/bin/ls");
	check_listing("/bin/cat");
#endif
	up_disasm_fini(&disasm);
	return unit_report("insn");
}
