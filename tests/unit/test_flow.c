/*
 * What is read from code: instructions by hand, then every instruction and every function of real
 * programs against objdump, where that is installed; damaged files.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/elf_flow.h"
#include "runtime/elf_frames.h"
#include "runtime/elf_risk.h"
#include "runtime/insn.h"
#include "tests/unit/elf_helpers.h"

#define LIBC_I386 "/usr/lib32/libc.so.6"

/* ---- single instructions ---- */

static size_t read_hex(const char *s, unsigned char *to, size_t size)
{
	size_t n = 0;
	unsigned byte;

	for (; n < size && sscanf(s + 2 * n, "%2x", &byte) == 1; n++)
		to[n] = (unsigned char)byte;
	return n;
}

/* Reads an instruction at 0x1000 from bytes that end where they end. */
static bool read_bytes(enum up_machine m, const char *hex, struct up_native *out,
		       unsigned char **owned)
{
	unsigned char bytes[32];
	size_t n = read_hex(hex, bytes, sizeof(bytes));

	*owned = malloc(n ? n : 1);
	memcpy(*owned, bytes, n);
	return up_native_read(m, *owned, n, 0x1000, out);
}

static const struct flow_row {
	enum up_machine m;
	const char *hex;
	enum up_flow flow;
	uint64_t target; /* or 0 */
} flows[] = {
	{ UP_M_X86_64, "c3", UP_FLOW_RETURN, 0 },
	{ UP_M_X86_64, "f3c3", UP_FLOW_RETURN, 0 },
	{ UP_M_X86_64, "f2c3", UP_FLOW_RETURN, 0 },
	{ UP_M_X86_64, "c20800", UP_FLOW_RETURN, 0 },
	{ UP_M_X86_64, "cb", UP_FLOW_ODD, 0 },
	{ UP_M_X86_64, "48cf", UP_FLOW_ODD, 0 },
	{ UP_M_X86_64, "eb10", UP_FLOW_JUMP, 0x1012 },
	{ UP_M_X86_64, "ebfe", UP_FLOW_JUMP, 0x1000 },
	{ UP_M_X86_64, "e900ffffff", UP_FLOW_JUMP, 0xf05 },
	{ UP_M_X86_64, "f2e900010000", UP_FLOW_JUMP, 0x1106 },
	{ UP_M_X86_64, "7410", UP_FLOW_BRANCH, 0x1012 },
	{ UP_M_X86_64, "0f8410000000", UP_FLOW_BRANCH, 0x1016 },
	{ UP_M_X86_64, "e2fe", UP_FLOW_BRANCH, 0x1000 },
	{ UP_M_X86_64, "c7f800000000", UP_FLOW_BRANCH, 0x1006 },
	{ UP_M_X86_64, "e800000000", UP_FLOW_CALL, 0x1005 },
	{ UP_M_X86_64, "ff15ec2f0000", UP_FLOW_CALL, 0 },
	{ UP_M_X86_64, "ffd0", UP_FLOW_CALL, 0 },
	{ UP_M_X86_64, "ffe0", UP_FLOW_INDIRECT, 0 },
	{ UP_M_X86_64, "3effe0", UP_FLOW_INDIRECT, 0 },
	{ UP_M_X86_64, "ff2520000000", UP_FLOW_INDIRECT, 0 },
	{ UP_M_X86_64, "ff30", UP_FLOW_ON, 0 },
	{ UP_M_X86_64, "ff28", UP_FLOW_ODD, 0 },
	{ UP_M_X86_64, "0f0b", UP_FLOW_STOP, 0 },
	{ UP_M_X86_64, "f4", UP_FLOW_STOP, 0 },
	{ UP_M_X86_64, "cc", UP_FLOW_STOP, 0 },
	{ UP_M_X86_64, "0f05", UP_FLOW_ON, 0 },
	{ UP_M_X86_64, "c5f984c0", UP_FLOW_ON, 0 },
	{ UP_M_I386, "e800000000", UP_FLOW_CALL, 0x1005 },
	{ UP_M_I386, "ebee", UP_FLOW_JUMP, 0xff0 },
	{ UP_M_I386, "e9fbefffff", UP_FLOW_JUMP, 0 },
	{ UP_M_I386, "ea112233445566", UP_FLOW_ODD, 0 },
	{ UP_M_AARCH64, "c0035fd6", UP_FLOW_RETURN, 0 },
	{ UP_M_AARCH64, "20035fd6", UP_FLOW_RETURN, 0 }, /* ret x25 */
	{ UP_M_AARCH64, "ff0b5fd6", UP_FLOW_RETURN, 0 }, /* retaa */
	{ UP_M_AARCH64, "00001fd6", UP_FLOW_INDIRECT, 0 },
	{ UP_M_AARCH64, "00003fd6", UP_FLOW_CALL, 0 },
	{ UP_M_AARCH64, "04000014", UP_FLOW_JUMP, 0x1010 },
	{ UP_M_AARCH64, "ffffff17", UP_FLOW_JUMP, 0xffc },
	{ UP_M_AARCH64, "04000094", UP_FLOW_CALL, 0x1010 },
	{ UP_M_AARCH64, "80000054", UP_FLOW_BRANCH, 0x1010 },
	{ UP_M_AARCH64, "800000b4", UP_FLOW_BRANCH, 0x1010 },
	{ UP_M_AARCH64, "80000836", UP_FLOW_BRANCH, 0x1010 },
	{ UP_M_AARCH64, "e0ff0737", UP_FLOW_BRANCH, 0xffc },
	{ UP_M_AARCH64, "000020d4", UP_FLOW_STOP, 0 },
	{ UP_M_AARCH64, "00000000", UP_FLOW_STOP, 0 },
	{ UP_M_AARCH64, "1f2003d5", UP_FLOW_ON, 0 },
};

static void check_flow(const struct flow_row *r)
{
	struct up_native i;
	unsigned char *bytes;
	bool is_right = read_bytes(r->m, r->hex, &i, &bytes) && i.flow == r->flow &&
			i.len == strlen(r->hex) / 2 &&
			(!r->target || (i.has_target && i.target == r->target));

	if (!is_right)
		fprintf(stderr, "%s: flow %d, target 0x%" PRIx64 "\n", r->hex, i.flow, i.target);
	CHECK(is_right);
	free(bytes);
}

#define R(n) (1u << (n))
#define FL R(UP_EFFECT_FLAGS)

static const struct effect_row {
	const char *hex;
	enum up_effect effect;
	uint32_t regs;
	unsigned sp_lower;
} effects[] = {
	{ "f30f1efa", UP_EFFECT_REGS, 0, 0 },
	{ "90", UP_EFFECT_REGS, 0, 0 },
	{ "0f1f440000", UP_EFFECT_REGS, 0, 0 },
	{ "662e0f1f840000000000", UP_EFFECT_REGS, 0, 0 },
	{ "55", UP_EFFECT_LOWER, 0, 8 },
	{ "4157", UP_EFFECT_LOWER, 0, 8 },
	{ "6655", UP_EFFECT_OTHER, 0, 0 },
	{ "6a10", UP_EFFECT_LOWER, 0, 8 },
	{ "4883ec18", UP_EFFECT_LOWER, FL, 0x18 },
	{ "4881ec00010000", UP_EFFECT_LOWER, FL, 0x100 },
	{ "83ec18", UP_EFFECT_OTHER, 0, 0 },   /* the upper half is lost */
	{ "4883c418", UP_EFFECT_OTHER, 0, 0 }, /* add $0x18,%rsp */
	{ "4883e4f0", UP_EFFECT_OTHER, 0, 0 }, /* and */
	{ "5d", UP_EFFECT_OTHER, 0, 0 },
	{ "4889e5", UP_EFFECT_REGS, R(5), 0 },
	{ "4c8b2f", UP_EFFECT_OTHER, 0, 0 }, /* mov (%rdi),%r13 */
	{ "4989fd", UP_EFFECT_REGS, R(13), 0 },
	{ "8b0511223344", UP_EFFECT_REGS, R(0), 0 },       /* from the object */
	{ "8b442408", UP_EFFECT_REGS, R(0), 0 },           /* from the stack */
	{ "8b440408", UP_EFFECT_OTHER, 0, 0 },             /* 8(%rsp,%rax) */
	{ "64488b042528000000", UP_EFFECT_REGS, R(0), 0 }, /* from the thread */
	{ "488d4718", UP_EFFECT_REGS, R(0), 0 },           /* lea */
	{ "31c0", UP_EFFECT_REGS, R(0) | FL, 0 },
	{ "4531c9", UP_EFFECT_REGS, R(9) | FL, 0 },
	{ "4885ff", UP_EFFECT_REGS, FL, 0 },   /* test */
	{ "4883ff01", UP_EFFECT_REGS, FL, 0 }, /* cmp */
	{ "803f00", UP_EFFECT_OTHER, 0, 0 },   /* cmpb $0,(%rdi) */
	{ "4839f7", UP_EFFECT_REGS, FL, 0 },
	{ "483b3d00000000", UP_EFFECT_REGS, FL, 0 },
	{ "b801000000", UP_EFFECT_REGS, R(0), 0 },
	{ "41bc01000000", UP_EFFECT_REGS, R(12), 0 },
	{ "b401", UP_EFFECT_REGS, R(0), 0 }, /* ah */
	{ "40b401", UP_EFFECT_OTHER, 0, 0 }, /* spl */
	{ "88e0", UP_EFFECT_REGS, R(0), 0 },
	{ "88c6", UP_EFFECT_REGS, R(2), 0 },   /* dh */
	{ "4088c6", UP_EFFECT_REGS, R(6), 0 }, /* sil */
	{ "4863ff", UP_EFFECT_REGS, R(7), 0 },
	{ "4898", UP_EFFECT_REGS, R(0), 0 },
	{ "4899", UP_EFFECT_REGS, R(2), 0 },
	{ "4887fe", UP_EFFECT_REGS, R(6) | R(7), 0 },
	{ "48c1e804", UP_EFFECT_REGS, R(0) | FL, 0 },
	{ "48d1e8", UP_EFFECT_REGS, R(0) | FL, 0 },
	{ "48f7df", UP_EFFECT_REGS, R(7) | FL, 0 }, /* neg */
	{ "48f7f7", UP_EFFECT_OTHER, 0, 0 },        /* div */
	{ "f6c101", UP_EFFECT_REGS, FL, 0 },
	{ "ffc7", UP_EFFECT_REGS, R(7) | FL, 0 },
	{ "48c7c000000000", UP_EFFECT_REGS, R(0), 0 },
	{ "48c70000000000", UP_EFFECT_OTHER, 0, 0 },
	{ "0fb6c7", UP_EFFECT_REGS, R(0) | FL, 0 },
	{ "0f44c7", UP_EFFECT_REGS, R(0), 0 },
	{ "0f95c2", UP_EFFECT_REGS, R(2), 0 },
	{ "480faffe", UP_EFFECT_REGS, R(7) | FL, 0 },
	{ "480fc8", UP_EFFECT_REGS, R(0), 0 },
	{ "0f28c8", UP_EFFECT_REGS, 0, 0 },      /* movaps */
	{ "f20f2cc0", UP_EFFECT_REGS, R(0), 0 }, /* cvttsd2si */
	{ "66480f7ec0", UP_EFFECT_OTHER, 0, 0 }, /* movq %xmm0,%rax */
	{ "660fefc0", UP_EFFECT_REGS, 0, 0 },
	{ "0f1106", UP_EFFECT_OTHER, 0, 0 },
	{ "4889742408", UP_EFFECT_OTHER, 0, 0 }, /* to the stack */
	{ "c5f877", UP_EFFECT_OTHER, 0, 0 },
	{ "0f05", UP_EFFECT_OTHER, 0, 0 },
	{ "0fa2", UP_EFFECT_OTHER, 0, 0 },
	{ "f048ff07", UP_EFFECT_OTHER, 0, 0 },
	{ "f3a4", UP_EFFECT_OTHER, 0, 0 },
	{ "7410", UP_EFFECT_OTHER, 0, 0 },
	{ "e800000000", UP_EFFECT_OTHER, 0, 0 },
};

static void check_effect(const struct effect_row *r)
{
	struct up_native i;
	struct up_native_effect e = { .effect = UP_EFFECT_OTHER };
	unsigned char *bytes;
	bool is_read = read_bytes(UP_M_X86_64, r->hex, &i, &bytes);

	if (is_read)
		up_native_effect(&i, &e);
	bool is_right =
		is_read && e.effect == r->effect && e.regs == r->regs && e.sp_lower == r->sp_lower;
	if (!is_right)
		fprintf(stderr, "%s: effect %d, registers %x, sp lower by %u\n", r->hex, e.effect,
			e.regs, e.sp_lower);
	CHECK(is_right);
	free(bytes);
}

static enum up_insn_way way_of(const char *hex, enum up_nops nops)
{
	struct up_native i;
	unsigned char *bytes;

	CHECK(read_bytes(UP_M_X86_64, hex, &i, &bytes));
	enum up_insn_way way = up_native_way(&i, nops);
	free(bytes);
	return way;
}

static void check_ways(void)
{
	CHECK(way_of("55", UP_NOPS_STEPPED) == UP_INSN_PUSH);
	CHECK(way_of("4157", UP_NOPS_STEPPED) == UP_INSN_PUSH);
	CHECK(way_of("6655", UP_NOPS_STEPPED) == UP_INSN_STEPPED);
	CHECK(way_of("6a10", UP_NOPS_STEPPED) == UP_INSN_STEPPED);
	CHECK(way_of("90", UP_NOPS_STEPPED) == UP_INSN_NOP);
	CHECK(way_of("0f1f440000", UP_NOPS_STEPPED) == UP_INSN_STEPPED);
	CHECK(way_of("0f1f440000", UP_NOPS_DONE) == UP_INSN_NOP);
	CHECK(way_of("0f1f440000", UP_NOPS_CALLED) == UP_INSN_CALLED);
	CHECK(way_of("0f1f4000", UP_NOPS_CALLED) == UP_INSN_NOP);
	CHECK(way_of("f30f1efa", UP_NOPS_CALLED) == UP_INSN_STEPPED);
	CHECK(way_of("7410", UP_NOPS_STEPPED) == UP_INSN_JUMP);
	CHECK(way_of("e800000000", UP_NOPS_STEPPED) == UP_INSN_JUMP);
	CHECK(way_of("66e800000000", UP_NOPS_STEPPED) == UP_INSN_STEPPED);
	CHECK(way_of("e200", UP_NOPS_STEPPED) == UP_INSN_STEPPED);
	CHECK(way_of("ffe0", UP_NOPS_STEPPED) == UP_INSN_STEPPED);
	CHECK(way_of("c3", UP_NOPS_STEPPED) == UP_INSN_STEPPED);
	CHECK(up_nops_judge(-ENXIO, "6.18.1") == UP_NOPS_CALLED);
	CHECK(up_nops_judge(-EPROTO, "7.3.0") == UP_NOPS_DONE);
	CHECK(up_nops_judge(-ENOSYS, "6.18.1") == UP_NOPS_STEPPED);
	CHECK(up_nops_judge(-EPERM, "7.0.0") == UP_NOPS_DONE);
	CHECK(up_nops_judge(-EPERM, "6.1.0") == UP_NOPS_STEPPED);
}

/* ---- real programs ---- */

#if defined(__x86_64__)

/* An instruction as objdump shows it. */
struct listed {
	uint64_t addr;
	uint64_t target; /* or 0 */
	enum up_flow flow;
	bool is_first; /* of a section, or behind zeros that were left out */
};

static struct listed *listing;
static size_t nr_listed;

static enum up_flow flow_of(const char *op, const char *rest)
{
	static const char *const odd[] = { "iret",   "iretq",   "lret",    "ljmp",   "lcall",
					   "sysret", "sysretl", "sysretq", "sysexit" };
	static const char *const stops[] = { "ud2", "ud1", "ud0", "hlt", "int3", "int1", "icebp" };

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (!strcmp(op, odd[i]))
			return UP_FLOW_ODD;
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		if (!strcmp(op, stops[i]))
			return UP_FLOW_STOP;
	if (!strncmp(op, "ret", 3))
		return UP_FLOW_RETURN;
	if (!strncmp(op, "call", 4))
		return UP_FLOW_CALL;
	if (!strncmp(op, "jmp", 3))
		return rest[0] == '*' ? UP_FLOW_INDIRECT : UP_FLOW_JUMP;
	if (op[0] == 'j' || !strncmp(op, "loop", 4) || !strcmp(op, "xbegin"))
		return UP_FLOW_BRANCH;
	return UP_FLOW_ON;
}

/* "  3f0b0:\tjmp    3f0f0 <name>" of objdump -dw --no-show-raw-insn; false for other lines. */
static bool read_line(char *line, struct listed *out, bool *is_odd)
{
	static const char *const prefixes[] = { "bnd",    "repz",   "rep", "notrack", "repnz",
						"data16", "addr32", "cs",  "ds",      "lock" };
	char *end, *save = NULL;

	out->addr = strtoull(line, &end, 16);
	if (end == line || end[0] != ':' || end[1] != '\t')
		return false;
	char *op = strtok_r(end + 2, " \n", &save);
	for (size_t i = 0; op && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strcmp(op, prefixes[i])) {
			op = strtok_r(NULL, " \n", &save);
			i = (size_t)-1;
		}
	const char *rest = strtok_r(NULL, "\n", &save);

	rest = rest ? rest + strspn(rest, " ") : "";
	*is_odd = !op || !strncmp(op, "rex", 3) || strstr(op, "(bad)") || strchr(op, ',') ||
		  !strcmp(op, "fwait");
	if (!op)
		return true;
	out->flow = flow_of(op, rest);
	out->target = out->flow != UP_FLOW_ON && out->flow != UP_FLOW_INDIRECT && rest[0] != '*'
			      ? strtoull(rest, NULL, 16)
			      : 0;
	return true;
}

/* The whole listing; false where objdump is not installed. */
static bool list(const char *path)
{
	char command[300], line[1000];
	size_t cap = 0;
	bool is_odd, is_first = true;

	snprintf(command, sizeof(command), "objdump -dw --no-show-raw-insn %s 2>/dev/null", path);
	FILE *f = popen(command, "r");
	nr_listed = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (nr_listed == cap)
			listing =
				reallocarray(listing, cap = cap ? cap * 2 : 4096, sizeof(*listing));
		if (read_line(line, &listing[nr_listed], &is_odd)) {
			if (is_odd)
				listing[nr_listed].flow = UP_FLOW_ODD;
			listing[nr_listed++].is_first = is_first;
			is_first = false;
		} else if (!strncmp(line, "Disassembly", 11) || strstr(line, "...")) {
			is_first = true;
		}
	}
	if (f)
		pclose(f);
	return nr_listed;
}

static size_t find_listed(uint64_t addr)
{
	size_t lo = 0, hi = nr_listed;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (listing[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int by_address(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Every instruction has the length and leads to where objdump says. */
static void check_instructions(const struct up_elf *e)
{
	unsigned nr_wrong = 0;

	for (size_t k = 0; k + 1 < nr_listed; k++) {
		struct up_elf_span code = up_elf_at_addr(e, listing[k].addr);
		struct up_native i;

		if (listing[k].flow == UP_FLOW_ODD || listing[k + 1].flow == UP_FLOW_ODD || !code.s)
			continue;
		bool is_right = up_native_read(e->machine, code.s, code.len, listing[k].addr, &i) &&
				(listing[k].addr + i.len == listing[k + 1].addr ||
				 listing[k + 1].is_first) &&
				i.flow == listing[k].flow &&
				(!listing[k].target || i.target == listing[k].target);
		if (!is_right && nr_wrong++ < 5)
			fprintf(stderr, "0x%" PRIx64 ": read otherwise than by objdump\n",
				listing[k].addr);
	}
	CHECK(nr_wrong == 0);
}

/* Functions to look at. */
struct function {
	uint64_t addr, size;
};

struct functions {
	struct function *v;
	size_t nr, cap;
};

static bool note_function(void *arg, const struct up_symbol *s)
{
	struct functions *f = arg;

	if (s->kind != UP_SYM_FUNC || !s->size)
		return true;
	if (f->nr == f->cap)
		f->v = reallocarray(f->v, f->cap = f->cap ? f->cap * 2 : 256, sizeof(*f->v));
	f->v[f->nr++] = (struct function){ s->addr, s->size };
	return true;
}

/* Ways out that were found: returns inside the function, returns elsewhere. */
struct ways {
	struct function f;
	unsigned nr_inside;
	bool is_wrong;
	uint64_t last;
};

static bool note_way(void *arg, const struct up_exit *x)
{
	struct ways *w = arg;
	size_t k = find_listed(x->addr);
	bool is_there = k < nr_listed && listing[k].addr == x->addr;

	if (!is_there || x->addr <= w->last)
		w->is_wrong = true;
	else if (x->is_tail)
		w->is_wrong |=
			listing[k].flow != UP_FLOW_JUMP && listing[k].flow != UP_FLOW_INDIRECT;
	else
		w->is_wrong |= listing[k].flow != UP_FLOW_RETURN;
	if (!x->is_tail && x->addr - w->f.addr < w->f.size)
		w->nr_inside++;
	w->last = x->addr;
	return true;
}

/* The returns that are found are those of objdump, no more and no fewer. */
static bool check_exits(const struct up_object *o, const struct function *f)
{
	struct ways w = { .f = *f };
	unsigned nr = 0;

	if (!up->exits(up->ctx, o, f->addr, note_way, &w, NULL))
		return false;
	for (size_t k = find_listed(f->addr); k < nr_listed; k++) {
		if (listing[k].addr - f->addr >= f->size)
			break;
		nr += listing[k].flow == UP_FLOW_RETURN;
	}
	if (w.is_wrong || w.nr_inside != nr)
		fprintf(stderr, "0x%" PRIx64 ": %u returns, not %u\n", f->addr, w.nr_inside, nr);
	CHECK(!w.is_wrong && w.nr_inside == nr);
	return true;
}

/* A place is a boundary, and no jump of the whole file leads to behind the entry. */
static unsigned check_entries(const struct up_object *o, const struct function *f,
			      const struct listed *aims, size_t nr_aims)
{
	struct up_entry_at at[UP_MAX_ENTRIES];
	unsigned nr = up->entries(up->ctx, o, f->addr, at, UP_MAX_ENTRIES), nr_wrong = 0;
	uint64_t last = at[nr - 1].addr;

	CHECK(nr >= 1 && at[0].addr == f->addr && !at[0].sp_lower && !at[0].regs);
	for (unsigned i = 1; i < nr; i++) {
		size_t k = find_listed(at[i].addr);

		nr_wrong += k >= nr_listed || listing[k].addr != at[i].addr;
		nr_wrong += at[i].addr <= at[i - 1].addr || at[i].cost >= at[0].cost;
	}
	for (size_t k = 0; k < nr_aims; k++)
		if (aims[k].addr > f->addr && aims[k].addr <= last) {
			fprintf(stderr, "0x%" PRIx64 ": jumped to, behind 0x%" PRIx64 "\n",
				aims[k].addr, f->addr);
			nr_wrong++;
		}
	CHECK(nr_wrong == 0);
	return nr;
}

/* Where all jumps of the listing lead, by address. */
static struct listed *find_aims(size_t *nr)
{
	struct listed *aims = calloc(nr_listed + 1, sizeof(*aims));

	*nr = 0;
	for (size_t k = 0; k < nr_listed; k++)
		if (listing[k].target && listing[k].flow != UP_FLOW_CALL)
			aims[(*nr)++] = (struct listed){ .addr = listing[k].target };
	qsort(aims, *nr, sizeof(*aims), by_address);
	return aims;
}

/* The part of sorted aims that is near an address. */
static size_t first_behind(const struct listed *aims, size_t nr, uint64_t addr)
{
	size_t lo = 0;

	while (lo < nr) {
		size_t mid = lo + (nr - lo) / 2;

		if (aims[mid].addr <= addr)
			lo = mid + 1;
		else
			nr = mid;
	}
	return lo;
}

/* At least so many functions of a hundred must have all their ways out found. */
static void check_program(const char *name, unsigned percent)
{
	const struct up_object *o = open_object(name);
	struct up_query all = { UP_QUERY_GLOB, "*", NULL };
	struct functions f = { 0 };
	unsigned nr_known = 0, nr_cheaper = 0;
	size_t nr_aims;

	if (!o || !list(o->path)) {
		printf("flow: objdump is not installed: %s is not compared\n", name);
		return;
	}
	qsort(listing, nr_listed, sizeof(*listing), by_address);
	check_instructions(up_elf_resolver_image(o));
	up->find(up->ctx, o, &all, note_function, &f, &why);
	struct listed *aims = find_aims(&nr_aims);
	for (size_t i = 0; i < f.nr; i++) {
		size_t from = first_behind(aims, nr_aims, f.v[i].addr);
		size_t to = first_behind(aims, nr_aims, f.v[i].addr + 256);

		nr_known += check_exits(o, &f.v[i]);
		nr_cheaper += check_entries(o, &f.v[i], aims + from, to - from) > 1;
	}
	printf("flow: %s: %zu functions, ways out of %u known, %u entries made cheaper\n", name,
	       f.nr, nr_known, nr_cheaper);
	CHECK(f.nr && nr_known * 100 >= f.nr * percent);
	free(aims);
	free(f.v);
}

#endif

/* ---- damaged files ---- */

static void read_functions(const struct up_elf *e, struct up_elf_symbols *s)
{
	struct up_entry_at at[UP_MAX_ENTRIES];
	struct up_buf risk = { 0 };

	for (unsigned i = 0; i < e->nr_load && i < 8; i++)
		for (unsigned k = 0; k < 8; k++) {
			uint64_t addr = e->load[i].vaddr + next_random() % (e->load[i].filesz + 1);
			struct up_elf_body b;

			up_elf_frame_start(e, addr, &addr);
			up_elf_body_read(&b, e, s, addr);
			up_elf_entries(&b, UP_NOP5_HARMS, UP_NOPS_CALLED, at, UP_MAX_ENTRIES);
			up_elf_body_fini(&b);
		}
	up_elf_return_risk(e, s, &risk);
	up_buf_fini(&risk);
}

static void check_damage(const char *path, unsigned rounds)
{
	size_t size;
	unsigned char *whole = read_file(path, &size);

	rng = 88172645463325252u;
	for (unsigned i = 0; i < rounds && size; i++) {
		size_t cut = next_random() % 16 ? size : next_random() % size;
		unsigned char *b = malloc(cut ? cut : 1);

		memcpy(b, whole, cut);
		if (cut)
			damage(b, cut);
		struct up_elf *e = up_elf_open_bytes(b, cut, "it", &why);
		struct up_elf_symbols *s = e ? up_elf_symbols_new(e) : NULL;
		if (s)
			read_functions(e, s);
		up_elf_symbols_free(s);
		up_elf_free(e);
		free(b);
	}
	CHECK(size > 0);
	free(whole);
}

/* ---- what return probes would do ---- */

static void check_risk(const char *name, enum up_return_risk risk, const char *part)
{
	const struct up_object *o = open_object(name);
	struct up_buf b = { 0 };

	if (!o)
		return;
	CHECK(up->return_risk(up->ctx, o, 0, &b) == risk);
	CHECK(part ? b.s && strstr(b.s, part) : !b.len);
	if (part && (!b.s || !strstr(b.s, part)))
		fprintf(stderr, "%s: %s\n", name, b.s);
	up_buf_fini(&b);
}

int main(void)
{
	struct up_elf_options opt = { .nop5 = UP_NOP5_HARMS };

	resolver = up_elf_resolver_new(&opt);
	up = up_elf_resolver_iface(resolver);
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		check_flow(&flows[i]);
	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		check_effect(&effects[i]);
	check_ways();
#if defined(__x86_64__)
	check_program("/bin/bash", 99);
	check_program("libc", 95);
	check_program("libstdc++.so.6", 99);
	if (!access(LIBC_I386, R_OK))
		check_program(LIBC_I386, 99);
	free(listing);
#endif
	check_risk("/bin/bash", UP_RETURN_SAFE, NULL);
	check_risk("libc", UP_RETURN_SAFE, NULL);
	check_risk("libz.so.1", UP_RETURN_SAFE, NULL);
	check_risk("libstdc++.so.6", UP_RETURN_EXCEPTIONS, "exceptions can cross its frames");
	check_risk("libgcc_s.so.1", UP_RETURN_EXCEPTIONS, "_Unwind_RaiseException");
	check_risk("qemu-system-x86_64", UP_RETURN_STACKS, "it switches stacks, by ");
	check_damage("/bin/true", 1000);
	up_why_fini(&why);
	up_elf_resolver_free(resolver);
	return unit_report("flow");
}
