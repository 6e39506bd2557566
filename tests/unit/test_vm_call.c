/* Built-in functions, as the machine calls them. */
#include "runtime/vm_call.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

static struct up_value num(int64_t n)
{
	return (struct up_value){ .s = n };
}

static struct up_value flt(double f)
{
	return (struct up_value){ .f = f };
}

static struct up_value str(const char *s)
{
	return (struct up_value){ .p = s, .len = (uint32_t)strlen(s) };
}

static struct up_value call(struct up_vm *vm, enum up_fn fn, enum up_fn_kind kind, unsigned nr,
			    struct up_value a, struct up_value b, struct up_value c)
{
	struct up_value v[3] = { a, b, c };
	struct up_insn i = { OP_CALL, 0, (uint16_t)fn, (uint16_t)nr, (uint16_t)kind };

	return up_vm_call(vm, &i, v);
}

#define NONE ((struct up_value){ 0 })
#define S UP_FN_SIGNED
#define U UP_FN_UNSIGNED
#define F UP_FN_FLOAT

static void test_numbers(struct up_vm *vm)
{
	static const struct {
		enum up_fn fn;
		enum up_fn_kind kind;
		int64_t a, b, want;
	} rows[] = {
		{ FN_MIN, S, -1, 1, -1 },
		{ FN_MIN, U, -1, 1, 1 },
		{ FN_MAX, S, -1, 1, 1 },
		{ FN_MAX, U, -1, 1, -1 },
		{ FN_MIN, S, INT64_MIN, INT64_MAX, INT64_MIN },
		{ FN_MAX, U, INT64_MIN, INT64_MAX, INT64_MIN },
		{ FN_BUCKET, S, 17, 5, 15 },
		{ FN_BUCKET, S, 15, 5, 15 },
		{ FN_BUCKET, S, 0, 5, 0 },
		{ FN_BUCKET, S, -1, 5, -5 },
		{ FN_BUCKET, S, -5, 5, -5 },
		{ FN_BUCKET, S, -6, 5, -10 },
		{ FN_BUCKET, S, 17, -5, 15 },
		{ FN_BUCKET, S, INT64_MIN, 2, INT64_MIN },
		{ FN_BUCKET, U, -1, 16, -16 },
		{ FN_BUCKET, S, 3, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK(call(vm, rows[i].fn, rows[i].kind, 2, num(rows[i].a), num(rows[i].b), NONE)
			      .s == rows[i].want);
	CHECK(vm->counts.by_zero == 1);
	CHECK(call(vm, FN_MIN, F, 2, flt(0.5), flt(-0.5), NONE).f == -0.5);
	CHECK(call(vm, FN_MAX, S, 3, num(1), num(7), num(3)).s == 7);
	CHECK(call(vm, FN_ABS, S, 1, num(-7), NONE, NONE).s == 7);
	CHECK(call(vm, FN_ABS, S, 1, num(INT64_MIN), NONE, NONE).s == INT64_MIN);
	CHECK(call(vm, FN_ABS, U, 1, num(-7), NONE, NONE).s == -7);
	CHECK(call(vm, FN_ABS, F, 1, flt(-1.5), NONE, NONE).f == 1.5);
	CHECK(call(vm, FN_INT, S, 1, str("42abc"), NONE, NONE).s == 42);
	CHECK(call(vm, FN_INT, S, 1, str(" -0x10"), NONE, NONE).s == -16);
	CHECK(call(vm, FN_INT, S, 1, str("18446744073709551615"), NONE, NONE).u == UINT64_MAX);
	CHECK(call(vm, FN_INT, S, 1,
		   str("                                                        "
		       "                                                       7"),
		   NONE, NONE)
		      .s == 7);
	CHECK(call(vm, FN_INT, S, 1, str("none"), NONE, NONE).s == 0);
	CHECK(call(vm, FN_INT, S, 1, str(""), NONE, NONE).s == 0);
	CHECK(call(vm, FN_LEN, S, 1, str("abc"), NONE, NONE).s == 3);
	CHECK(call(vm, FN_INDEX, S, 2, str("hello"), str("lo"), NONE).s == 3);
	CHECK(call(vm, FN_INDEX, S, 2, str("hello"), str("x"), NONE).s == -1);
	CHECK(call(vm, FN_INDEX, S, 2, str(""), str(""), NONE).s == 0);
}

static void check_text(struct up_value v, const char *want)
{
	bool ok = !(v.flags & UP_VALUE_FAULT) && v.len == strlen(want) && !memcmp(v.p, want, v.len);

	CHECK(ok);
	if (!ok)
		fprintf(stderr, "got \"%.*s\", want \"%s\"\n", (int)v.len, v.p ? v.p : "", want);
}

static void test_parts(struct up_vm *vm)
{
	static const struct {
		int64_t from, n;
		const char *want;
	} subs[] = {
		{ 0, 3, "hel" },      { 1, 3, "ell" },          { 4, 9, "o" },         { 5, 1, "" },
		{ 9, 1, "" },         { -3, 2, "he" },          { 2, -1, "" },         { 2, 0, "" },
		{ INT64_MAX, 1, "" }, { 1, INT64_MAX, "ello" }, { INT64_MIN, 2, "he" }
	};
	static const char *const parts[] = { "a", "", "b", "c", "", "" };

	for (size_t i = 0; i < sizeof(subs) / sizeof(subs[0]); i++)
		check_text(call(vm, FN_SUBSTR, S, 3, str("hello"), num(subs[i].from),
				num(subs[i].n)),
			   subs[i].want);
	check_text(call(vm, FN_SUBSTR, S, 2, str("hello"), num(3), NONE), "lo");
	for (int i = 0; i < 6; i++)
		check_text(call(vm, FN_SPLIT, S, 3, str("a,,b,c,"), str(","), num(i)), parts[i]);
	check_text(call(vm, FN_SPLIT, S, 3, str("a,b"), str(","), num(-1)), "");
	check_text(call(vm, FN_SPLIT, S, 3, str("ab"), str(""), num(0)), "ab");
	check_text(call(vm, FN_SPLIT, S, 3, str("a::b"), str("::"), num(1)), "b");
	check_text(call(vm, FN_TRIM, S, 1, str(" \t x y\n"), NONE, NONE), "x y");
	check_text(call(vm, FN_TRIM, S, 1, str("  "), NONE, NONE), "");
	check_text(call(vm, FN_BASENAME, S, 1, str("/a/b.c"), NONE, NONE), "b.c");
	check_text(call(vm, FN_BASENAME, S, 1, str("/a/"), NONE, NONE), "");
	check_text(call(vm, FN_DIRNAME, S, 1, str("/a/b.c"), NONE, NONE), "/a");
	check_text(call(vm, FN_DIRNAME, S, 1, str("/a"), NONE, NONE), "/");
	check_text(call(vm, FN_DIRNAME, S, 1, str(""), NONE, NONE), ".");
}

static void test_texts(struct up_vm *vm)
{
	struct up_value cut = str("abc"), fault = { .flags = UP_VALUE_FAULT };

	check_text(call(vm, FN_LOWER, S, 1, str("AbZ\xc3\x84"), NONE, NONE), "abz\xc3\x84");
	check_text(call(vm, FN_UPPER, S, 1, str("abz"), NONE, NONE), "ABZ");
	check_text(call(vm, FN_JOIN, S, 2, str("a"), str("bc"), NONE), "abc");
	check_text(call(vm, FN_JOIN, S, 2, str(""), str(""), NONE), "");
	check_text(call(vm, FN_DEC, S, 1, num(-1), NONE, NONE), "-1");
	check_text(call(vm, FN_DEC, U, 1, num(-1), NONE, NONE), "18446744073709551615");
	check_text(call(vm, FN_DEC, F, 1, flt(0.25), NONE, NONE), "0.25");
	check_text(call(vm, FN_DEC, F, 1, flt(0.1), NONE, NONE), "0.1");
	check_text(call(vm, FN_DEC, F, 1, flt(1e300 * 1e300), NONE, NONE), "inf");
	check_text(call(vm, FN_HEX, S, 1, num(42), NONE, NONE), "0x2a");
	check_text(call(vm, FN_REPEAT, S, 2, str("ab"), num(3), NONE), "ababab");
	check_text(call(vm, FN_REPEAT, S, 2, str("ab"), num(0), NONE), "");
	check_text(call(vm, FN_REPEAT, S, 2, str("ab"), num(-1), NONE), "");
	check_text(call(vm, FN_REPEAT, S, 2, str(""), num(INT64_MAX), NONE), "");
	check_text(call(vm, FN_STRFTIME, S, 2, str("%Y %N %%N"), num(1234567890123456789), NONE),
		   "2009 123456789 %N");
	check_text(call(vm, FN_STRFTIME, S, 2, str("%N"), num(-1), NONE), "999999999");
	check_text(call(vm, FN_STRFTIME, S, 2, str(""), num(0), NONE), "");
	cut.flags = UP_VALUE_CUT;
	CHECK(call(vm, FN_JOIN, S, 2, cut, str("x"), NONE).flags == UP_VALUE_CUT);
	CHECK(call(vm, FN_SUBSTR, S, 3, cut, num(0), num(2)).flags == 0);
	CHECK(call(vm, FN_SUBSTR, S, 2, cut, num(0), NONE).flags == UP_VALUE_CUT);
	CHECK(call(vm, FN_UPPER, S, 1, cut, NONE, NONE).flags == UP_VALUE_CUT);
	for (int fn = 0; fn < FN_COUNT; fn++)
		if (fn != FN_SYM)
			CHECK(call(vm, (enum up_fn)fn, S, up_fn_rows[fn].min_args, fault, num(1),
				   num(1))
				      .flags == UP_VALUE_FAULT);
}

static struct up_value bytes(const char *s, unsigned len)
{
	return (struct up_value){ .p = s, .len = len };
}

static void test_networks(struct up_vm *vm)
{
	static const char one[16] = { [15] = 1 };
	static const unsigned char port[2] = { 0x1f, 0x90 }, addr[4] = { 127, 0, 0, 1 };
	uint16_t p;
	uint32_t a;

	memcpy(&p, port, 2);
	memcpy(&a, addr, 4);
	CHECK(call(vm, FN_NTOHS, S, 1, num(p), NONE, NONE).s == 8080);
	CHECK(call(vm, FN_NTOHS, S, 1, num((int64_t)0xff0000 | p), NONE, NONE).s == 8080);
	CHECK(call(vm, FN_NTOHL, S, 1, num(a), NONE, NONE).s == 0x7f000001);
	check_text(call(vm, FN_NTOP, S, 1, bytes((const char *)addr, 4), NONE, NONE), "127.0.0.1");
	check_text(call(vm, FN_NTOP, S, 1, bytes(one, 16), NONE, NONE), "::1");
	check_text(call(vm, FN_NTOP, S, 1, bytes(one, 8), NONE, NONE), "");
	check_text(call(vm, FN_NTOP, S, 1, bytes(NULL, 0), NONE, NONE), "");
}

/* Texts that find no room are faults, and are counted. */
static void test_room(struct up_vm *vm)
{
	static char big[100000];
	struct up_value v = { .p = big, .len = sizeof(big) };

	memset(big, 'x', sizeof(big));
	vm->nr_scratch = 0;
	CHECK(!(call(vm, FN_UPPER, S, 1, v, NONE, NONE).flags & UP_VALUE_FAULT));
	CHECK(!(call(vm, FN_UPPER, S, 1, v, NONE, NONE).flags & UP_VALUE_FAULT));
	CHECK(call(vm, FN_UPPER, S, 1, v, NONE, NONE).flags & UP_VALUE_FAULT);
	CHECK(vm->counts.no_room == 1);
	CHECK(call(vm, FN_REPEAT, S, 2, str("x"), num(INT64_MAX), NONE).flags & UP_VALUE_FAULT);
	CHECK(call(vm, FN_REPEAT, S, 2, str("x"), num(UP_VM_SCRATCH), NONE).flags & UP_VALUE_FAULT);
	CHECK(vm->counts.no_room == 3);
	v.len = 600;
	CHECK(call(vm, FN_STRFTIME, S, 2, v, num(0), NONE).flags & UP_VALUE_FAULT);
}

int main(void)
{
	struct up_plan plan = { 0 };
	struct up_out out = { 0 };
	struct up_vm vm;

	setenv("TZ", "UTC", 1);
	CHECK(!up_vm_init(&vm, &plan, &out));
	test_numbers(&vm);
	test_parts(&vm);
	test_texts(&vm);
	test_networks(&vm);
	test_room(&vm);
	up_vm_fini(&vm);
	return unit_report("vm_call");
}
