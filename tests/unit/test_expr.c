/*
 * Expressions: what the compiler folds, what the machine computes and what C computes are the same;
 * for each operator on numbers where signs and widths matter, and for random expressions.
 */
#include <stdlib.h>

#include "tests/unit/expr_trial.h"
#include "tests/unit/unit.h"

#define TRIALS 3000

static const uint64_t edges[] = { 0,
				  1,
				  2,
				  7,
				  63,
				  64,
				  INT64_MAX,
				  (uint64_t)1 << 63,
				  ((uint64_t)1 << 63) + 1,
				  UINT64_MAX - 1,
				  UINT64_MAX };

#define NR_EDGES (sizeof(edges) / sizeof(*edges))

/* Operands: each edge as a signed and as an unsigned number, and cut to narrower ones. */
static struct model put_edge(struct trial *t, unsigned i)
{
	return put_typed(t, edges[i % NR_EDGES], i / NR_EDGES);
}

static void test_edges(void)
{
	static const char *const ops[] = { "+",  "-", "*",  "/", "%",  "&",  "|",  "^",  "<<",
					   ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||" };
	unsigned wrong = 0, nr = 0;

	for (unsigned op = 0; op < sizeof(ops) / sizeof(*ops); op++)
		for (unsigned a = 0; a < NR_EDGES * 8; a++)
			/* A different part of the right sides for each left one. */
			for (unsigned b = a % 11; b < NR_EDGES * 8 && wrong < 5; b += 22) {
				struct trial t = { 0 };
				struct model x, y;

				put(&t, "(");
				x = put_edge(&t, a);
				put(&t, ops[op]);
				y = put_edge(&t, (a + b) % (NR_EDGES * 8));
				put(&t, ")");
				wrong += !finish_trial(&t, compute(&t, ops[op], x, y));
				nr++;
			}
	CHECK(wrong == 0);
	CHECK(nr == 18 * 88 * 4);
}

static void test_random(void)
{
	struct dice d = { .state = 4711 };
	unsigned wrong = 0;

	for (unsigned i = 0; i < TRIALS && wrong < 5; i++)
		wrong += !run_trial(&d);
	CHECK(wrong == 0);
}

/* --- single expressions ------------------------------------------------------------------------
 */

/* What print shows of an expression, with these statements before it; "" when it does not compile.
 */
static void shows(const char *before, const char *expr, const char *want, int line)
{
	struct up_buf script = { 0 };
	struct trial t = { 0 };

	up_buf_printf(&script, "on start < %s\nprint(%s) >\n", before, expr);
	run_script(&t, script.s, script.len);
	unit_checks++;
	if (strcmp(t.shown.s ? t.shown.s : "", want)) {
		unit_failures++;
		fprintf(stderr, "%s:%d: %s is %s, want %s\n", __FILE__, line, expr,
			t.shown.s ? t.shown.s : "", want);
	}
	up_buf_fini(&t.shown);
	up_buf_fini(&script);
}

#define SHOWS(before, expr, want) shows(before, expr, want, __LINE__)

static void test_texts(void)
{
	static const char before[] = "a = \"ab\"; b = \"\"; n = 0; f = 0.0";

	SHOWS(before, "a + \"c\" + a", "\"abcab\"");
	SHOWS(before, "\"a\" + \"b\" + \"c\"", "\"abc\"");
	SHOWS(before, "(\"a\" + \"b\" == a)", "true");
	SHOWS(before, "(\"a\" + \"b\" == \"ab\")", "true");
	SHOWS(before, "(\"ab\" != \"ab\")", "false");
	SHOWS(before, "(\"abc\" ~ \"a*\")", "true");
	SHOWS(before, "(\"abc\" ~ \"b*\")", "false");
	SHOWS(before, "(a + \"c\" ~ \"?bc\")", "true");
	SHOWS(before, "!\"\"", "true");
	SHOWS(before, "!b", "true");
	SHOWS(before, "(\"a\" && a)", "true");
	SHOWS(before, "(\"\" || b)", "false");
	SHOWS(before, "if (\"\") \"x\" else \"y\"", "\"y\"");
	SHOWS(before, "if (a) a else \"none\"", "\"ab\"");
	SHOWS(before, "if (b) b else \"no\" + \"ne\"", "\"none\"");
	SHOWS(before, "if (n) 1 else 0.5", "0.5");
	SHOWS(before, "if (n) 0.5 else 1", "1");
	SHOWS(before, "if (1) 0.5 else 1", "0.5");
	SHOWS(before, "if (f) 1 else 2", "2");
	SHOWS(before, "if (n) 5:u64 else -1", "18446744073709551615");
	SHOWS(before, "a < \"b\"", "");
	SHOWS(before, "if (n) a else 1", "");
	SHOWS(before, "(0.5 % 2)", "");
}

/* Numbers that are looked at as something else. */
static void test_casts(void)
{
	SHOWS("", "300:u8", "44");
	SHOWS("n = 300", "n:u8", "44");
	SHOWS("", "200:s8", "-56");
	SHOWS("n = 200", "n:s8", "-56");
	SHOWS("", "2.9:s64", "2");
	SHOWS("f = 2.9", "f:s64", "2");
	SHOWS("", "(-2.9):s64", "-2");
	SHOWS("f = -2.9", "f:s64", "-2");
	SHOWS("", "1e30:u64", "18446744073709551615");
	SHOWS("f = 1e30", "f:u64", "18446744073709551615");
	SHOWS("", "(-1e30):s64", "-9223372036854775808");
	SHOWS("f = -1e30", "f:s64", "-9223372036854775808");
	SHOWS("", "1e30:s64", "9223372036854775807");
	SHOWS("f = 1e30", "f:s64", "9223372036854775807");
	SHOWS("", "(-1.5):u64", "0");
	SHOWS("f = -1.5", "f:u64", "0");
	SHOWS("", "300.5:u8", "255");
	SHOWS("f = 300.5", "f:u8", "255");
	SHOWS("f = -1e30", "f:s8", "-128");
	SHOWS("f = 1.0", "(f / 0.0):s32", "0");
	SHOWS("", "0.5:bool", "true");
	SHOWS("f = 0.5", "f:bool", "true");
	SHOWS("", "256:bool", "false");
	SHOWS("n = 256", "n:bool", "false");
	SHOWS("", "255:x64", "0xff");
	SHOWS("", "255:x64 + 1", "0x100");
	SHOWS("", "-9223372036854775808", "-9223372036854775808");
}

/* Functions in expressions: types of results, and what a variable learns from them. */
static void test_functions(void)
{
	SHOWS("", "min(3, 18446744073709551615)", "3");
	SHOWS("", "max(-1, 5:u64)", "18446744073709551615");
	SHOWS("", "max(-1, 5:u32)", "5");
	SHOWS("", "min(1, 0.5)", "0.5");
	SHOWS("", "max(255:x64, 1)", "0xff");
	SHOWS("", "abs(-128:s8)", "128");
	SHOWS("n = -128:s8", "abs(n)", "128");
	SHOWS("", "abs(18446744073709551615)", "18446744073709551615");
	SHOWS("", "bucket(-1, 10)", "-10");
	SHOWS("", "bucket(18446744073709551615, 16)", "18446744073709551600");
	SHOWS("m = max(m, 255:x64)", "m", "0xff");
	SHOWS("m = max(m, 0.5)", "m", "0.5");
	SHOWS("m = max(m, 7)", "m", "7");
	SHOWS("m = abs(m - 7)", "m", "7");
	SHOWS("m = if (m > 5:u64) m else 5:u64", "m", "5");
	SHOWS("s = upper(s + \"a\")", "s", "\"A\"");
	SHOWS("n = len(n)", "n", "");
	SHOWS("n = 5", "hex(n) + \" \" + dec(-n) + dec(0.1)", "\"0x5 -50.1\"");
	SHOWS("n = 5", "int(\"0x10\") + int(dec(n))", "21");
}

/* A fault among the operands; s is one. */
static void test_faults(void)
{
	static const char *const rows[][2] = {
		{ "s", "(fault)" },
		{ "s + \"a\"", "(fault)" },
		{ "upper(s)", "(fault)" },
		{ "(s == \"\")", "false" },
		{ "(s != s)", "true" },
		{ "(s ~ \"*\")", "false" },
		{ "!s", "true" },
		{ "if (s) 1 else 2", "2" },
		{ "len(s)", "(fault)" },
		{ "int(s) + 1", "(fault)" },
		{ "-int(s)", "(fault)" },
		{ "~int(s)", "(fault)" },
		{ "!int(s)", "true" },
		{ "int(s):u8", "(fault)" },
		{ "int(s):bool", "false" },
		{ "(int(s) < 1)", "false" },
		{ "!(int(s) < 1)", "true" },
		{ "(int(s) != int(s))", "true" },
		{ "int(s) / int(s)", "(fault)" },
		{ "int(s) + 0.5", "(fault)" },
		{ "(int(s) + 0.5 == 0.5)", "false" },
		{ "0.5 / (int(s) + 0.5)", "(fault)" },
		{ "min(1, int(s))", "(fault)" },
		{ "abs(int(s) * 0.5)", "(fault)" },
		{ "if (int(s)) 0.5 else 1", "1" },
		{ "if (1 == 2 || int(s)) s else \"none\"", "\"none\"" },
	};
	char before[700];

	/* A format that is too long makes one. */
	snprintf(before, sizeof(before), "s = strftime(\"%0600d\", 0)", 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		shows(before, rows[i][0], rows[i][1], __LINE__);
}

/* A fault is no division by zero. */
static void test_counts(void)
{
	static const struct {
		const char *expr;
		unsigned divisions;
	} rows[] = { { "1 / int(s)", 0 },    { "1 % int(s)", 0 },   { "1.5 / int(s)", 0 },
		     { "1 / n", 1 },         { "1 % n", 1 },        { "1.5 / n", 1 },
		     { "1 / (n + 0.0)", 1 }, { "1 / 0 + 1 % 0", 2 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct up_buf script = { 0 };
		struct trial t = { 0 };

		up_buf_printf(&script, "on start < n = 0; s = strftime(\"%0600d\", 0)\nprint(%s) >",
			      0, rows[i].expr);
		run_script(&t, script.s, script.len);
		CHECK(t.divisions == rows[i].divisions && t.shown.len);
		up_buf_fini(&script);
		up_buf_fini(&t.shown);
	}
}

/* Functions' results in a format. */
static void test_printf(void)
{
	static const char script[] =
		"on start < a = \"ab\"; n = 5\n"
		"printf(\"%s|%5s|%-4s|%d|%u|%.2f\", upper(a), a + \"!\", hex(n), len(a),"
		" max(n, 18446744073709551615), min(n, 0.25)) >\n";
	struct trial t = { 0 };

	CHECK(run_script(&t, script, sizeof(script) - 1));
	CHECK_BUF(&t.shown, "AB|  ab!|0x5 |2|18446744073709551615|0.25");
	up_buf_fini(&t.shown);
}

int main(void)
{
	test_texts();
	test_casts();
	test_functions();
	test_faults();
	test_counts();
	test_printf();
	test_edges();
	test_random();
	return unit_report("expr");
}
