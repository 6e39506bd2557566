/*
 * Objects and symbols that exist nowhere else, so that no test depends on a machine's programs:
 * fake_resolver answers from the tables here.
 */
#ifndef UP_TESTS_FAKE_RESOLVER_H
#define UP_TESTS_FAKE_RESOLVER_H

#include <inttypes.h>
#include <string.h>

#include "lang/resolve.h"

/* Code lies at 0x1000..0x4fff, data at 0x6000..0x6fff; file offsets are 0x200 lower. */
#define CODE_START 0x1000u
#define CODE_END 0x5000u
#define DATA_START 0x6000u
#define DATA_END 0x7000u
#define SHIFT 0x200u

static const struct up_object objects[] = {
	{ "/usr/bin/app", "app", UP_M_X86_64, true, { 0 }, false, 0 },
	{ "/lib/libc.so.6", "libc", UP_M_X86_64, true, { 0 }, false, 0 },
	{ "/usr/bin/arm", "arm", UP_M_AARCH64, true, { 0 }, false, 0 },
	{ "/usr/bin/app32", "app32", UP_M_I386, false, { 0 }, false, 0 },
	{ "/usr/bin/mips", "mips", UP_M_OTHER, false, { 0 }, false, 0 },
	{ "/opt/my app", "my app", UP_M_X86_64, true, { 0 }, false, 0 },
	{ "/usr/bin/bare", "bare", UP_M_X86_64, true, { 0 }, false, 0 },
	{ "/usr/bin/names", "names", UP_M_X86_64, true, { 0 }, false, 0 },
	{ "/usr/bin/gopher", "gopher", UP_M_X86_64, false, { 0 }, true, 152 },
	{ "/usr/bin/newer", "newer", UP_M_X86_64, true, { 0 }, true, 160 },
	{ "/usr/bin/goarm", "goarm", UP_M_AARCH64, false, { 0 }, true, 0 },
	{ "/usr/bin/go32", "go32", UP_M_I386, false, { 0 }, true, 0 },
	{ "/usr/bin/cet", "cet", UP_M_X86_64, true, { 0 }, false, 0 },
	{ "/usr/bin/cxx", "cxx", UP_M_X86_64, true, { 0 }, false, 0 },
	{ "/usr/bin/cxx32", "cxx32", UP_M_I386, true, { 0 }, false, 0 },
	{ "/usr/bin/cxxarm", "cxxarm", UP_M_AARCH64, true, { 0 }, false, 0 },
};

struct row {
	const char *object;
	struct up_symbol sym;
};

static const struct row symbols[] = {
	{ "app", { "main", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "app", { "alpha", NULL, 0x1040, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "alphabet", NULL, 0x1060, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "beta", NULL, 0x1080, 0x80, UP_SYM_FUNC, false } },
	{ "app", { "twin_a", NULL, 0x1100, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "twin_b", NULL, 0x1100, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "helper", NULL, 0x1140, 0x20, UP_SYM_FUNC, true } },
	{ "app", { "helper", NULL, 0x1180, 0x20, UP_SYM_FUNC, true } },
	{ "app", { "odd", NULL, 0x1201, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "asm_label", NULL, 0x1240, 0, UP_SYM_NOTYPE, false } },
	{ "app", { "pick", NULL, 0x1280, 0x10, UP_SYM_IFUNC, false } },
	{ "app", { "choose", NULL, 0x1290, 0x10, UP_SYM_IFUNC, false } },
	{ "app", { "__choose_fast", NULL, 0x12a0, 0x10, UP_SYM_FUNC, true } },
	{ "app", { "table", NULL, 0x6000, 0x80, UP_SYM_DATA, false } },
	{ "app", { "a-b+4", NULL, 0x12c0, 0x10, UP_SYM_FUNC, false } },
	{ "app", { "ns::f(int)", NULL, 0x1300, 0x10, UP_SYM_FUNC, false } },
	{ "libc", { "malloc", "GLIBC_2.2.5", 0x2000, 0x100, UP_SYM_FUNC, false } },
	{ "libc", { "calloc", "GLIBC_2.2.5", 0x2100, 0x100, UP_SYM_FUNC, false } },
	{ "libc", { "free", "GLIBC_2.2.5", 0x2200, 0x100, UP_SYM_FUNC, false } },
	{ "libc", { "memcpy", "GLIBC_2.14", 0x2300, 0x40, UP_SYM_FUNC, false } },
	{ "libc", { "memcpy", "GLIBC_2.2.5", 0x2340, 0x40, UP_SYM_FUNC, false } },
	{ "arm", { "start", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "app32", { "alpha", NULL, 0x1040, 0x20, UP_SYM_FUNC, false } },
	{ "app32", { "beta", NULL, 0x1080, 0x80, UP_SYM_FUNC, false } },
	{ "bare", { "table", NULL, 0x6000, 0x80, UP_SYM_DATA, false } },
	{ "my app", { "main", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "names", { "main", NULL, 0x1000, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "fun", NULL, 0x1040, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_Z3funi", NULL, 0x1050, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_Z8functionv", NULL, 0x1060, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_Z9main_testv", NULL, 0x1070, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZNK3geo5Shape4areaEi", NULL, 0x1100, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZNK3geo5Shape4areaEd", NULL, 0x1110, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo5Shape4growIiEEiT_", NULL, 0x1120, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo5Shape4growIcEEiT_", NULL, 0x1130, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo5ShapeC1Ev", NULL, 0x1140, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo5ShapeC2Ev", NULL, 0x1140, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo5ShapeD0Ev", NULL, 0x1150, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo5ShapeD2Ev", NULL, 0x1160, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo3VecplERKS0_", NULL, 0x1170, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo3VecclEv", NULL, 0x1180, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN12_GLOBAL__N_16helperEi", NULL, 0x1190, 0x10, UP_SYM_FUNC, true } },
	{ "names", { "_ZN3boxIiE3getEv", NULL, 0x11a0, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo5Shape4areaEi.cold", NULL, 0x11b0, 0x10, UP_SYM_FUNC, true } },
	{ "names", { "_Z4takePKc", NULL, 0x11c0, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_Z4twini", NULL, 0x11d0, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_Z4twinl", NULL, 0x11e0, 0x10, UP_SYM_FUNC, false } },
	{ "names", { "_RNvNtCs1234_7mycrate5cache3get", NULL, 0x1200, 0x10, UP_SYM_FUNC, false } },
	{ "names",
	  { "_RNvMNtCs1234_7mycrate5cacheNtB2_5Cache3put", NULL, 0x1210, 0x10, UP_SYM_FUNC,
	    false } },
	{ "names",
	  { "_ZN7mycrate5cache5clear17h1234567890abcdefE", NULL, 0x1220, 0x10, UP_SYM_FUNC,
	    true } },
	{ "names",
	  { "_ZN7mycrate5cache5clear17hfedcba0987654321E", NULL, 0x1230, 0x10, UP_SYM_FUNC,
	    true } },
	/* How they begin, and how they are left, stands in entry_rows and exit_rows. */
	{ "cet", { "push", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "cet", { "moves", NULL, 0x1040, 0x40, UP_SYM_FUNC, false } },
	{ "cet", { "pushes", NULL, 0x1080, 0x40, UP_SYM_FUNC, false } },
	{ "cet", { "again", NULL, 0x10c0, 0x40, UP_SYM_FUNC, false } },
	{ "cet", { "plain", NULL, 0x1100, 0x40, UP_SYM_FUNC, false } },
	{ "cxx", { "throws", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "cxx", { "jumps", NULL, 0x1040, 0x40, UP_SYM_FUNC, false } },
	{ "cxx", { "leaf", NULL, 0x1080, 0x40, UP_SYM_FUNC, false } },
	{ "cxx", { "forever", NULL, 0x10c0, 0x40, UP_SYM_FUNC, false } },
	{ "cxx", { "wild", NULL, 0x1100, 0x40, UP_SYM_FUNC, false } },
	{ "cxx", { "lone", NULL, 0x1140, 0x40, UP_SYM_FUNC, false } },
	{ "cxx32", { "throws", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "cxxarm", { "throws", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "names", { "_ZN3geo5tableE", NULL, 0x6000, 0x10, UP_SYM_DATA, false } },
	{ "gopher", { "main.main", NULL, 0x1000, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "main.work", NULL, 0x1040, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "main.(*Cache).Get", NULL, 0x1080, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "main.(*BigCache).Get", NULL, 0x10c0, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "main.(*Cache).Put", NULL, 0x1100, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "main.Map[go.shape.int_0]", NULL, 0x1140, 0x40, UP_SYM_FUNC, true } },
	{ "gopher",
	  { "main.Map[go.shape.string_0,go.shape.int_0]", NULL, 0x1180, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "net/http.(*conn).serve", NULL, 0x11c0, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "gopkg.in/yaml%2ev3.Marshal", NULL, 0x1200, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "math/rand.Int", NULL, 0x1240, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "crypto/rand.Int", NULL, 0x1280, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "main.sum", NULL, 0x12c0, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "main.sum.abi0", NULL, 0x1300, 0x40, UP_SYM_FUNC, true } },
	{ "gopher", { "x_cgo_init", NULL, 0x1340, 0x40, UP_SYM_FUNC, false } },
	{ "newer", { "main.work", NULL, 0x1040, 0x40, UP_SYM_FUNC, true } },
	{ "goarm", { "main.work", NULL, 0x1040, 0x40, UP_SYM_FUNC, true } },
	{ "go32", { "main.work", NULL, 0x1040, 0x40, UP_SYM_FUNC, true } },
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static const struct up_object *fake_open(void *ctx, const char *name, struct up_why *why)
{
	const char *base = strrchr(name, '/');

	(void)ctx;
	base = base ? base + 1 : name;
	for (size_t i = 0; i < NR(objects); i++)
		if (!strcmp(objects[i].name, base) || !strcmp(objects[i].path, name))
			return &objects[i];
	up_buf_printf(&why->msg, "no program or library is named %s", name);
	up_buf_puts(&why->hint, "did you mean `app`?");
	return NULL;
}

static bool matches(const struct up_query *q, const struct up_symbol *s)
{
	if (q->version && (!s->version || strcmp(q->version, s->version)))
		return false;
	if (q->kind == UP_QUERY_EXACT)
		return !strcmp(q->pattern, s->name);
	return up_glob_match(q->pattern, strlen(q->pattern), s->name, strlen(s->name));
}

static int fake_find(void *ctx, const struct up_object *o, const struct up_query *q,
		     up_symbol_fn *fn, void *arg, struct up_why *why)
{
	(void)ctx;
	(void)why;
	for (size_t i = 0; i < NR(symbols); i++)
		if (!strcmp(symbols[i].object, o->name) && matches(q, &symbols[i].sym) &&
		    !fn(arg, &symbols[i].sym))
			break;
	return 0;
}

static enum up_place place_of(uint64_t addr)
{
	if (addr >= CODE_START && addr < CODE_END)
		return UP_PLACE_CODE;
	return addr >= DATA_START && addr < DATA_END ? UP_PLACE_DATA : UP_PLACE_NOWHERE;
}

static enum up_place fake_to_offset(void *ctx, const struct up_object *o, uint64_t addr,
				    uint64_t *out)
{
	(void)ctx;
	(void)o;
	*out = addr - SHIFT;
	return place_of(addr);
}

static enum up_place fake_to_addr(void *ctx, const struct up_object *o, uint64_t off, uint64_t *out)
{
	(void)ctx;
	(void)o;
	*out = off + SHIFT;
	return place_of(off + SHIFT);
}

static bool fake_func_at(void *ctx, const struct up_object *o, uint64_t addr, struct up_symbol *out)
{
	(void)ctx;
	for (size_t i = 0; i < NR(symbols); i++) {
		const struct up_symbol *s = &symbols[i].sym;

		if (strcmp(symbols[i].object, o->name) || s->kind != UP_SYM_FUNC ||
		    addr < s->addr || addr >= s->addr + s->size)
			continue;
		*out = *s;
		return true;
	}
	return false;
}

/*
 * Instructions are 4 bytes long here. Inside them, the kernel would take a probe at even addresses.
 * At 0x10d0, in `beta`, is a nop of five bytes that it handles wrongly.
 */
static bool fake_can_probe(void *ctx, const struct up_object *o, uint64_t addr, struct up_why *why)
{
	(void)ctx;
	(void)o;
	if (addr == 0x10d0) {
		up_buf_puts(&why->msg, "beta+0x50 is a five-byte nop inside a function");
		up_buf_puts(&why->hint, "use beta+0x58");
		why->harm = UP_HARM_RED_ZONE;
		return false;
	}
	if (addr % 4 == 0)
		return true;
	up_buf_printf(&why->msg, "0x%" PRIx64 " is inside the 4-byte instruction at 0x%" PRIx64,
		      addr, addr / 4 * 4);
	up_buf_printf(&why->hint, "use 0x%" PRIx64 " or 0x%" PRIx64, addr / 4 * 4,
		      addr / 4 * 4 + 4);
	why->harm = addr % 4 == 2 ? UP_HARM_INSIDE : UP_HARM_NONE;
	return false;
}

static enum up_calling fake_calling(void *ctx, const struct up_object *o, uint64_t addr)
{
	(void)ctx;
	if (o->machine == UP_M_I386 || addr == 0x1300)
		return UP_CALLING_GO_STACK;
	return addr == 0x1340 ? UP_CALLING_C : UP_CALLING_GO;
}

static bool fake_imports(void *ctx, const struct up_object *o, const char *name, const char **lib)
{
	(void)ctx;
	*lib = "libc.so.6";
	return !strcmp(o->name, "app") && !strcmp(name, "malloc");
}

/* Places for entry probes behind the entry, which costs 20. */
static const struct {
	const char *object;
	uint64_t addr; /* of the function */
	struct up_entry_at at;
} entry_rows[] = {
	/* endbr64; push; push */
	{ "cet", 0x1000, { 0x1004, 6, "push", 0, 0, false } },
	{ "cet", 0x1000, { 0x1008, 6, "push", 8, 0, false } },
	/* endbr64; mov %di,%ax; mov %si,%di; push */
	{ "cet", 0x1040, { 0x1048, 8, "nop", 0, 1 << 0, false } },
	{ "cet", 0x1040, { 0x104c, 6, "push", 0, 1 << 0 | 1 << 5, false } },
	/* an odd function: only behind two pushes it is cheap */
	{ "cet", 0x1080, { 0x108c, 6, "call", 16, 0, false } },
	/* the entry is jumped to, and nothing costs less */
	{ "cet", 0x10c0, { 0x10c8, 20, "sub", 0, 1 << 11, true } },
	/* behind the check of the stack, which makes a register */
	{ "gopher", 0x1040, { 0x1048, 20, "sub", 0, 1 << 9 | 1 << 17, true } },
};

static unsigned fake_entries(void *ctx, const struct up_object *o, uint64_t addr,
			     struct up_entry_at *out, unsigned max)
{
	unsigned nr = 0;

	(void)ctx;
	out[nr++] = (struct up_entry_at){ .addr = addr, .cost = 20, .insn = "endbr64" };
	for (size_t i = 0; i < NR(entry_rows) && nr < max; i++)
		if (!strcmp(entry_rows[i].object, o->name) && entry_rows[i].addr == addr)
			out[nr++] = entry_rows[i].at;
	return nr;
}

/* How functions are left. */
static const struct {
	const char *object;
	uint64_t addr; /* of the function */
	struct up_exit exit;
} exit_rows[] = {
	{ "cxx", 0x1000, { 0x1010, false } },
	{ "cxx", 0x1000, { 0x1020, false } },
	/* it is left by a jump, by a return, and in a part of it that lies elsewhere */
	{ "cxx", 0x1040, { 0x1050, true } },
	{ "cxx", 0x1040, { 0x1060, false } },
	{ "cxx", 0x1040, { 0x1ff0, false } },
	{ "cxx", 0x1080, { 0x1090, false } },
	/* nothing but a return */
	{ "cxx", 0x1140, { 0x1140, false } },
	{ "cxx32", 0x1000, { 0x1010, false } },
	{ "cxxarm", 0x1000, { 0x1010, false } },
	{ "cet", 0x1000, { 0x1030, false } },
	{ "gopher", 0x1000, { 0x1030, false } },
	{ "gopher", 0x1040, { 0x1070, false } },
	{ "gopher", 0x1040, { 0x107c, false } },
	{ "gopher", 0x1300, { 0x1330, false } },
	{ "newer", 0x1040, { 0x1070, false } },
	{ "goarm", 0x1040, { 0x1070, false } },
	{ "go32", 0x1040, { 0x1070, false } },
};

/* Those of `wild` cannot be found. */
static bool fake_exits(void *ctx, const struct up_object *o, uint64_t addr, up_exit_fn *fn,
		       void *arg, struct up_why *why)
{
	(void)ctx;
	if (addr == 0x1100) {
		up_buf_puts(&why->msg, "it jumps to a computed address at +0x8");
		return false;
	}
	for (size_t i = 0; i < NR(exit_rows); i++)
		if (!strcmp(exit_rows[i].object, o->name) && exit_rows[i].addr == addr &&
		    !fn(arg, &exit_rows[i].exit))
			break;
	return true;
}

/* Exceptions cross all functions of the programs `cxx...`, but for `leaf`; Go's may not be touched.
 */
static enum up_return_risk fake_return_risk(void *ctx, const struct up_object *o, uint64_t addr,
					    struct up_buf *why)
{
	if (o->is_go && fake_calling(ctx, o, addr) != UP_CALLING_C) {
		up_buf_puts(why, "Go moves stacks and reads them");
		return UP_RETURN_GO;
	}
	if (strncmp(o->name, "cxx", 3) != 0 || addr == 0x1080)
		return UP_RETURN_SAFE;
	up_buf_puts(why, "C++ exceptions can cross it");
	return UP_RETURN_EXCEPTIONS;
}

/* The resolver of `pick` tells what it picks from; of other indirect functions nothing is known. */
static void fake_picks(void *ctx, const struct up_object *o, uint64_t addr, up_symbol_fn *fn,
		       void *arg)
{
	static const struct up_symbol named = { .name = "alpha", .addr = 0x1040 };
	static const struct up_symbol unnamed = { .addr = 0x12e0 };

	(void)ctx;
	(void)o;
	if (addr == 0x1280 && fn(arg, &named))
		fn(arg, &unnamed);
}

/* `bare` has no names. */
static enum up_named fake_names(void *ctx, const struct up_object *o, struct up_buf *hint)
{
	(void)ctx;
	if (strcmp(o->name, "bare"))
		return UP_NAMES_ALL;
	up_buf_puts(hint, "install its debug symbols");
	return UP_NAMES_NONE;
}

static void fake_near_symbols(void *ctx, const struct up_object *o, struct up_nearest *n)
{
	(void)ctx;
	for (size_t i = 0; i < NR(symbols); i++)
		if (!strcmp(symbols[i].object, o->name))
			up_nearest_offer(n, symbols[i].sym.name, strlen(symbols[i].sym.name));
}

static void fake_near_objects(void *ctx, struct up_nearest *n)
{
	(void)ctx;
	for (size_t i = 0; i < NR(objects); i++)
		up_nearest_offer(n, objects[i].name, strlen(objects[i].name));
}

static const struct up_resolver fake_resolver = {
	.open = fake_open,
	.find = fake_find,
	.to_offset = fake_to_offset,
	.to_addr = fake_to_addr,
	.func_at = fake_func_at,
	.can_probe = fake_can_probe,
	.calling = fake_calling,
	.entries = fake_entries,
	.exits = fake_exits,
	.return_risk = fake_return_risk,
	.imports = fake_imports,
	.picks = fake_picks,
	.names = fake_names,
	.near_symbols = fake_near_symbols,
	.near_objects = fake_near_objects,
};

#endif
