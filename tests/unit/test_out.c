/* Output forms: values, lines, tables, JSON, printf, the summary, and writing. */
#include "runtime/out.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define INT_TYPE(show_, bits_, signed_) ((struct up_type){ TY_INT, show_, bits_, signed_, 0 })
#define CHAR_TYPE INT_TYPE(UP_SHOW_CHAR, 8, true)
#define SINGLE_TYPE ((struct up_type){ TY_FLOAT, UP_SHOW_DEC, 32, true, 0 })
#define ARRAY(show_, bits_, signed_, count_) \
	((struct up_type){ TY_ARRAY, show_, bits_, signed_, count_ })

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

static struct up_value block(const char *s, uint32_t len)
{
	return (struct up_value){ .p = s, .len = len };
}

static struct up_value cut(const char *s)
{
	return (struct up_value){ .p = s, .len = (uint32_t)strlen(s), .flags = UP_VALUE_CUT };
}

static const struct up_value fault = { .u = 7, .flags = UP_VALUE_FAULT };

/* ---- values ---- */

struct value_case {
	struct up_type type;
	struct up_value v;
	const char *text, *json;
};

static void check_value(struct up_buf *b, const struct value_case *c)
{
	up_out_value(b, c->type, &c->v);
	unit_check_buf(b, c->text, strlen(c->text), __FILE__, __LINE__);
	up_out_json_value(b, c->type, &c->v);
	unit_check_buf(b, c->json, strlen(c->json), __FILE__, __LINE__);
}

static void test_values(void)
{
	const struct value_case cases[] = {
		{ UP_TYPE_S64, num(42), "42", "42" },
		{ UP_TYPE_S64, num(-3), "-3", "-3" },
		{ UP_TYPE_S64, num(INT64_MIN), "-9223372036854775808", "-9223372036854775808" },
		{ UP_TYPE_U64, num(-1), "18446744073709551615", "18446744073709551615" },
		{ UP_TYPE_X64, num(42), "0x2a", "\"0x2a\"" },
		{ UP_TYPE_X64, num(0), "0x0", "\"0x0\"" },
		{ INT_TYPE(UP_SHOW_HEX, 32, true), num(-1), "0xffffffff", "\"0xffffffff\"" },
		{ CHAR_TYPE, num('a'), "'a'", "\"a\"" },
		{ CHAR_TYPE, num('\''), "'\\''", "\"'\"" },
		{ CHAR_TYPE, num('\n'), "'\\n'", "\"\\n\"" },
		{ CHAR_TYPE, num(0), "'\\x00'", "\"\\u0000\"" },
		{ CHAR_TYPE, num(-1), "'\\xff'", "\"\xef\xbf\xbd\"" },
		{ UP_TYPE_BOOL, num(1), "true", "true" },
		{ UP_TYPE_BOOL, num(0), "false", "false" },
		{ UP_TYPE_FLOAT, flt(0.1), "0.1", "0.1" },
		{ UP_TYPE_FLOAT, flt(3), "3", "3" },
		{ UP_TYPE_FLOAT, flt(1.0 / 3), "0.3333333333333333", "0.3333333333333333" },
		{ UP_TYPE_FLOAT, flt(-INFINITY), "-inf", "\"-inf\"" },
		{ UP_TYPE_FLOAT, flt(NAN), "nan", "\"nan\"" },
		{ UP_TYPE_FLOAT, flt(5e-324), "5e-324", "5e-324" },
		{ UP_TYPE_FLOAT, flt(DBL_MAX), "1.7976931348623157e+308",
		  "1.7976931348623157e+308" },
		{ UP_TYPE_FLOAT, flt(-0.0), "-0", "-0" },
		{ SINGLE_TYPE, flt((double)0.1f), "0.1", "0.1" },
		{ SINGLE_TYPE, flt((double)FLT_MAX), "3.4028235e+38", "3.4028235e+38" },
		{ SINGLE_TYPE, flt(0x1p-149), "1e-45", "1e-45" },
		{ SINGLE_TYPE, flt(NAN), "nan", "\"nan\"" },
		{ UP_TYPE_BYTES, block("\xde\xad\0\x01", 4), "dead0001", "\"dead0001\"" },
		{ UP_TYPE_BYTES, cut("AB"), "4142...", "\"4142\"" },
		{ UP_TYPE_BYTES, block("", 0), "", "\"\"" },
		{ UP_TYPE_BYTES, fault, "(fault)", "null" },
		{ ARRAY(UP_SHOW_DEC, 8, false, 3), block("\1\2\xff", 3), "{1,2,255}", "[1,2,255]" },
		{ ARRAY(UP_SHOW_DEC, 8, true, 3), block("\1\2\xff", 3), "{1,2,-1}", "[1,2,-1]" },
		{ ARRAY(UP_SHOW_DEC, 8, true, 3), cut("\1\2"), "{1,2}...", "[1,2]" },
		{ ARRAY(UP_SHOW_HEX, 16, false, 2), block("\x34\x12\xff\xff", 4), "{0x1234,0xffff}",
		  "[\"0x1234\",\"0xffff\"]" },
		{ ARRAY(UP_SHOW_BOOL, 8, false, 3), block("\0\1\x80", 3), "{false,true,true}",
		  "[false,true,true]" },
		{ ARRAY(UP_SHOW_FLOAT, 64, true, 1), block("\0\0\0\0\0\0\xf8\x3f", 8), "{1.5}",
		  "[1.5]" },
		{ ARRAY(UP_SHOW_FLOAT, 32, true, 2), block("\0\0\xc0\x3f\0\0\x80\x7f", 8),
		  "{1.5,inf}", "[1.5,\"inf\"]" },
		{ ARRAY(UP_SHOW_DEC, 8, false, 3), fault, "(fault)", "null" },
		{ UP_TYPE_STR, str(""), "\"\"", "\"\"" },
		{ UP_TYPE_STR, str("a\n\"\033[0m"), "\"a\\n\\\"\\e[0m\"",
		  "\"a\\n\\\"\\u001b[0m\"" },
		{ UP_TYPE_STR, cut("abc"), "\"abc\"...", "\"abc\"" },
		{ UP_TYPE_STR, fault, "(fault)", "null" },
		{ UP_TYPE_S64, fault, "(fault)", "null" },
		{ UP_TYPE_NONE, fault, "(fault)", "null" },
	};
	struct up_buf b = { 0 };

	for (size_t i = 0; i < N(cases); i++)
		check_value(&b, &cases[i]);
	up_buf_fini(&b);
}

/* ---- lines ---- */

static const struct up_out_hit entry = {
	.time = 12345678901, .comm = "zsh", .comm_len = 3, .tid = 77, .probe = "zsh:zfree"
};
static const struct up_out_hit at_return = { .time = 5,
					     .comm = "a\033b\xff",
					     .comm_len = 4,
					     .tid = 1234567,
					     .probe = "f\n",
					     .is_return = true };

static const char *labels[] = { "ip", "arg0", "arg0", "name" };
static struct up_type types[] = { { TY_INT, UP_SHOW_HEX, 64, false, 0 },
				  { TY_INT, UP_SHOW_DEC, 64, true, 0 },
				  { TY_INT, UP_SHOW_DEC, 64, true, 0 },
				  { TY_STR, UP_SHOW_DEC, 0, false, 0 } };
static const struct up_plan_print print_four = { .nr = 4, .labels = labels, .types = types };
static const struct up_plan_print print_none = { .nr = 0 };

static void test_print(void)
{
	struct up_out o = { .form = up_out_form_find("text"), .fd = -1 };
	const struct up_value v[] = { num(0x46420), num(-2), fault, cut("x y") };

	o.form->print(&o, &entry, &print_four, v);
	CHECK_BUF(&o.buf, "12.345678 zsh[77]              zsh:zfree ip=0x46420 arg0=-2 "
			  "arg0=(fault) name=\"x y\"...\n");
	o.form->print(&o, &at_return, &print_none, v);
	CHECK_BUF(&o.buf, "0.000000 a\\eb\\xff[1234567]    f\\n return\n");
	o.wall_offset = 1700000000 * INT64_C(1000000000);
	o.form->print(&o, &entry, &print_none, v);
	CHECK_BUF(&o.buf, "22:13:32.345678 zsh[77]              zsh:zfree\n");
	o.colour = true;
	o.form->print(&o, &entry, &print_none, v);
	CHECK_BUF(&o.buf, "\033[2m22:13:32.345678\033[0m zsh[77]              "
			  "\033[1mzsh:zfree\033[0m\n");
	o.form->text(&o, &entry, "any\ntext", 8);
	CHECK_BUF(&o.buf, "any\ntext");
	CHECK(!o.form->end);
	up_out_fini(&o);
}

static void test_print_json(void)
{
	struct up_out o = { .form = up_out_form_find("json"), .fd = -1 };
	const struct up_value v[] = { num(0x46420), num(-2), fault, cut("x y") };

	o.form->print(&o, &entry, &print_four, v);
	CHECK_BUF(&o.buf, "{\"type\":\"print\",\"time\":12345678901,\"comm\":\"zsh\",\"tid\":77,"
			  "\"probe\":\"zsh:zfree\",\"return\":false,\"values\":{\"ip\":\"0x46420\","
			  "\"arg0\":-2,\"arg0#2\":null,\"name\":\"x y\"},\"cut\":[\"name\"]}\n");
	o.wall_offset = 1700000000 * INT64_C(1000000000);
	o.form->print(&o, &entry, &print_none, v);
	CHECK_BUF(&o.buf, "{\"type\":\"print\",\"time\":12345678901,"
			  "\"wall\":\"2023-11-14T22:13:32.345678901Z\",\"comm\":\"zsh\",\"tid\":77,"
			  "\"probe\":\"zsh:zfree\",\"return\":false,\"values\":{}}\n");
	o.wall_offset = 0;
	o.form->text(&o, &at_return, "a\tb\n", 4);
	CHECK_BUF(&o.buf,
		  "{\"type\":\"printf\",\"time\":5,\"comm\":\"a\\u001bb\xef\xbf\xbd\","
		  "\"tid\":1234567,\"probe\":\"f\\n\",\"return\":true,\"text\":\"a\\tb\\n\"}\n");
	up_out_fini(&o);
}

static void test_print_csv(void)
{
	struct up_out o = { .form = up_out_form_find("csv"), .fd = -1 };
	const struct up_value v[] = { num(0x46420), num(-2), fault, cut("x \"y\"") };

	o.form->print(&o, &entry, &print_four, v);
	o.form->print(&o, &entry, &print_four, v);
	CHECK_BUF(&o.buf, "time,wall,comm,tid,probe,return,ip,arg0,arg0,name\n"
			  "12345678901,,zsh,77,zsh:zfree,false,0x46420,-2,,\"x \"\"y\"\"...\"\n"
			  "12345678901,,zsh,77,zsh:zfree,false,0x46420,-2,,\"x \"\"y\"\"...\"\n");
	o.wall_offset = 1700000000 * INT64_C(1000000000);
	o.form->print(&o, &at_return, &print_none, v);
	CHECK_BUF(&o.buf, "\ntime,wall,comm,tid,probe,return\n"
			  "5,2023-11-14T22:13:20.000000005Z,a\\eb\\xff,1234567,f\\n,true\n");
	o.form->text(&o, &at_return, "a,b\n", 4);
	CHECK_BUF(&o.buf, "a,b\n");
	CHECK(!o.form->end);
	up_out_fini(&o);
}

/* What a field of CSV looks like, of every type. */
static void test_csv_fields(void)
{
	static const struct {
		struct up_type type;
		struct up_value v;
		const char *want;
	} cases[] = {
		{ UP_TYPE_STR, { .p = "", .len = 0 }, "\"\"" },
		{ UP_TYPE_STR, { .p = "a,b", .len = 3 }, "\"a,b\"" },
		{ UP_TYPE_STR, { .p = " a", .len = 2 }, "\" a\"" },
		{ UP_TYPE_STR, { .p = "a\nb", .len = 3 }, "a\\nb" },
		{ UP_TYPE_STR, { .p = "\xc3\xa9", .len = 2 }, "\xc3\xa9" },
		{ UP_TYPE_X64, { .u = 255 }, "0xff" },
		{ UP_TYPE_BOOL, { .u = 1 }, "true" },
		{ UP_TYPE_FLOAT, { .f = 0.1 }, "0.1" },
		{ UP_TYPE_FLOAT, { .f = INFINITY }, "inf" },
		{ INT_TYPE(UP_SHOW_CHAR, 8, true), { .u = 'a' }, "a" },
		{ INT_TYPE(UP_SHOW_CHAR, 8, true), { .u = ',' }, "\",\"" },
		{ UP_TYPE_BYTES, { .p = "\1\2", .len = 2 }, "0102" },
		{ ARRAY(UP_SHOW_DEC, 8, false, 2), { .p = "\1\2", .len = 2 }, "\"{1,2}\"" },
		{ UP_TYPE_STR, { .u = 7, .flags = UP_VALUE_FAULT }, "" },
	};
	struct up_out o = { .form = up_out_form_find("csv"), .fd = -1 };

	for (size_t i = 0; i < N(cases); i++) {
		struct up_plan_print p = { .nr = 1,
					   .labels = labels,
					   .types = (struct up_type *)&cases[i].type };

		o.form->print(&o, &entry, &p, &cases[i].v);
		const char *at = o.buf.s ? strstr(o.buf.s, "false,") : NULL;
		CHECK(at && strlen(at + 6) == strlen(cases[i].want) + 1 &&
		      !memcmp(at + 6, cases[i].want, strlen(cases[i].want)));
		up_buf_reset(&o.buf);
	}
	up_out_fini(&o);
}

/* ---- aggregations ---- */

/* Aggregates whose cell is their result. */
static struct up_value the_cell(const void *cell, const struct up_agg_cx *cx, unsigned field)
{
	(void)cx;
	(void)field;
	return *(const struct up_value *)cell;
}

static struct up_type count_type(unsigned field, const struct up_agg_cx *cx)
{
	(void)field;
	(void)cx;
	return UP_TYPE_U64;
}

static struct up_type avg_type(unsigned field, const struct up_agg_cx *cx)
{
	(void)field;
	(void)cx;
	return UP_TYPE_FLOAT;
}

static const struct up_agg_field one_field[] = { { "it", NULL, "" } };
static const struct up_agg_row count_row = { .name = "count",
					     .fields = one_field,
					     .nr_fields = 1,
					     .field_type = count_type,
					     .field = the_cell };
static const struct up_agg_row avg_row = { .name = "avg",
					   .fields = one_field,
					   .nr_fields = 1,
					   .field_type = avg_type,
					   .field = the_cell };

static void show(struct up_out *o, const struct up_plan_agg *plan, const struct up_out_row *rows,
		 size_t nr, size_t total)
{
	o->form->agg(o, &(struct up_out_agg){
				.plan = plan, .rows = rows, .nr_rows = nr, .total_rows = total });
}

static const char *key_labels[] = { "comm", "arg0" };
static struct up_type key_types[] = { { TY_STR, UP_SHOW_DEC, 0, false, 0 },
				      { TY_INT, UP_SHOW_DEC, 64, true, 0 } };
static const struct up_plan_agg by_two = { .name = "count()",
					   .where = "zsh:zfree return",
					   .row = &count_row,
					   .nr_keys = 2,
					   .key_labels = key_labels,
					   .key_types = key_types };
static const struct up_plan_agg plain = { .name = "count()",
					  .where = "zsh:zfree",
					  .row = &count_row };
static const struct up_plan_agg named = { .name = "mean", .is_named = true, .row = &avg_row };

static void test_agg_text(void)
{
	struct up_out o = { .form = up_out_form_find("text"), .fd = -1 };
	const struct up_value keys[][2] = {
		{ str("zsh"), num(-1) }, { str("\xe4\xb8\xad\xe6\x96\x87-x"), num(1000) },
		{ str(""), fault },      { str("a \"b\""), num(0) },
		{ fault, num(0) },       { str("(fault)"), num(0) },
		{ str("a\033"), num(0) }
	};
	struct up_out_row rows[N(keys)];
	struct up_value values[N(keys)];

	for (size_t i = 0; i < N(keys); i++) {
		values[i] = num(i ? (int64_t)i : 12345);
		rows[i] = (struct up_out_row){ keys[i], &values[i] };
	}
	show(&o, &by_two, rows, N(keys), 9);
	CHECK_BUF(&o.buf, "\n"
			  "zsh:zfree return: count() by comm, arg0\n"
			  "  zsh             -1  12345\n"
			  "  \xe4\xb8\xad\xe6\x96\x87-x        1000      1\n"
			  "  \"\"         (fault)      2\n"
			  "  \"a \\\"b\\\"\"        0      3\n"
			  "  (fault)          0      4\n"
			  "  \"(fault)\"        0      5\n"
			  "  a\\e              0      6\n"
			  "  and 2 more\n");
	show(&o, &by_two, rows, 0, 0);
	CHECK_BUF(&o.buf, "\nzsh:zfree return: count() by comm, arg0: nothing\n");
	show(&o, &plain, rows, 1, 1);
	CHECK_BUF(&o.buf, "zsh:zfree: count() = 12345\n");
	values[0] = flt(1234567.891);
	show(&o, &named, rows, 1, 1);
	CHECK_BUF(&o.buf, "mean = 1234568\n");
	values[0] = flt(1.0 / 3);
	o.colour = true;
	show(&o, &named, rows, 1, 1);
	CHECK_BUF(&o.buf, "\033[1mmean\033[0m = 0.333333\n");
	up_out_fini(&o);
}

/* A very wide key must not push the values of the others away. */
static void test_agg_wide(void)
{
	struct up_out o = { .form = up_out_form_find("text"), .fd = -1 };
	char wide[201] = { 0 };
	struct up_plan_agg a = by_two;

	memset(wide, 'w', 200);
	const struct up_value keys[] = { str(wide), str("n") };
	const struct up_value two = num(2), one = num(1);
	const struct up_out_row rows[] = { { &keys[0], &two }, { &keys[1], &one } };
	a.nr_keys = 1;
	show(&o, &a, rows, 2, 2);
	const char *last = o.buf.len > 8 ? o.buf.s + o.buf.len - 8 : "";
	CHECK(!strcmp(last, "\n  n  1\n"));
	up_out_fini(&o);
}

/* More keys than are aligned must all be shown. */
static void test_agg_many_keys(void)
{
	enum { MANY = 20 };
	struct up_out o = { .form = up_out_form_find("text"), .fd = -1 };
	const char *many_labels[MANY];
	struct up_type many_types[MANY];
	struct up_value keys[MANY];
	struct up_plan_agg a = { .name = "n",
				 .is_named = true,
				 .row = &count_row,
				 .nr_keys = MANY,
				 .key_labels = many_labels,
				 .key_types = many_types };
	const struct up_value value = num(99);
	const struct up_out_row row = { keys, &value };

	for (int i = 0; i < MANY; i++) {
		many_labels[i] = "k";
		many_types[i] = UP_TYPE_S64;
		keys[i] = num(i);
	}
	show(&o, &a, &row, 1, 1);
	CHECK(o.buf.len > 20 && !strcmp(strstr(o.buf.s, "  17"), "  17  18  19  99\n"));
	up_out_fini(&o);
}

static void test_agg_json(void)
{
	struct up_out o = { .form = up_out_form_find("json"), .fd = -1 };
	const struct up_value keys[][2] = { { cut("zsh"), num(-1) }, { str("b"), fault } };
	struct up_value three = num(3), two = num(2);
	const struct up_out_row rows[] = { { keys[0], &three }, { keys[1], &two } };

	show(&o, &by_two, rows, 2, 5);
	CHECK_BUF(&o.buf,
		  "{\"type\":\"aggregation\",\"name\":\"count()\","
		  "\"where\":\"zsh:zfree return\",\"aggregate\":\"count\",\"rows\":["
		  "{\"key\":{\"comm\":\"zsh\",\"arg0\":-1},\"cut\":[\"comm\"],\"value\":3},"
		  "{\"key\":{\"comm\":\"b\",\"arg0\":null},\"value\":2}],\"total_rows\":5}\n");
	show(&o, &by_two, rows, 0, 0);
	CHECK_BUF(&o.buf, "{\"type\":\"aggregation\",\"name\":\"count()\","
			  "\"where\":\"zsh:zfree return\",\"aggregate\":\"count\",\"rows\":[],"
			  "\"total_rows\":0}\n");
	three = flt(2.5);
	show(&o, &named, rows, 1, 1);
	CHECK_BUF(&o.buf, "{\"type\":\"aggregation\",\"name\":\"mean\",\"aggregate\":\"avg\","
			  "\"value\":2.5}\n");
	show(&o, &named, rows, 0, 0);
	CHECK_BUF(&o.buf, "{\"type\":\"aggregation\",\"name\":\"mean\",\"aggregate\":\"avg\","
			  "\"value\":null}\n");
	up_out_fini(&o);
}

/* The line with the sum: what it is made of, and what the words mean. */
static void test_sum(struct up_out *o)
{
	struct up_out_totals t = {
		.handled = 1, .rejected = 2, .hits = 3, .is_exact = true, .seconds = 2
	};

	up_out_summary(&o->buf, &t);
	CHECK_BUF(&o->buf, "1 hit handled, 0 filtered, 0 lost in 2.0 s\n"
			   "3 hits = 1 handled + 2 rejected by the kernel\n");
	t.rejected_foreign = true;
	up_out_summary(&o->buf, &t);
	CHECK_BUF(&o->buf, "1 hit handled, 0 filtered, 0 lost in 2.0 s\n"
			   "3 hits = 1 handled + 2 rejected by the kernel\n"
			   "hits of other processes are among those rejected by the kernel\n");
	t = (struct up_out_totals){ .hits = 1, .outside = 1, .is_exact = true, .seconds = 2 };
	up_out_summary(&o->buf, &t);
	CHECK_BUF(&o->buf, "0 hits handled, 0 filtered, 0 lost in 2.0 s\n"
			   "1 hit = 1 outside\n"
			   "outside: before recording began, or after the end\n");
	t = (struct up_out_totals){ .handled = 1, .hits = 1, .rejected_unknown = true };
	up_out_summary(&o->buf, &t);
	CHECK_BUF(&o->buf, "1 hit handled, 0 filtered, 0 lost in 0.0 ms\n"
			   "hits that the kernel rejected were not counted\n");
	o->form->end(o, &t);
	CHECK(o->buf.s && strstr(o->buf.s, "\"filtered\":0,\"rejected\":null,") &&
	      strstr(o->buf.s, ",\"hits\":null,"));
	up_buf_reset(&o->buf);
}

/* What is told while the run goes on. */
static void test_losses(void)
{
	struct up_out_loss on[12];
	struct up_out_losses l = {
		.on = on, .nr = 12, .lost = 78, .buffer_kb = 16384, .has_grown = true
	};
	struct up_out o = { .form = up_out_form_find("json"), .fd = -1 };

	for (unsigned i = 0; i < 12; i++)
		on[i] = (struct up_out_loss){ .cpu = 2 * i, .lost = i + 1 };
	up_out_losses(&o.buf, &l);
	CHECK_BUF(&o.buf, "lost 1 on CPU 0, 2 on CPU 2, 3 on CPU 4, 4 on CPU 6, 5 on CPU 8, 6 on "
			  "CPU 10, 7 on CPU 12, 8 on CPU 14, and more on 4 others; the buffer has "
			  "grown to 16384 KiB for each CPU: a larger one (--buffer SIZE) or fewer "
			  "hits help");
	l.nr = 1;
	l.lost = 1;
	o.form->lost(&o, 5, &l);
	CHECK_BUF(&o.buf, "{\"type\":\"lost\",\"time\":5,\"lost\":1,"
			  "\"lost_on\":[{\"cpu\":0,\"records\":1}],\"buffer_kib\":16384}\n");
	up_out_fini(&o);
}

static void test_end(void)
{
	static const struct up_out_loss lost[] = { { 0, 1 }, { 3, 1 } };
	struct up_out o = { .form = up_out_form_find("json"), .fd = -1 };
	struct up_out_totals t = { .handled = 1, .hits = 1, .seconds = 1.25 };

	up_out_summary(&o.buf, &t);
	CHECK_BUF(&o.buf, "1 hit handled, 0 filtered, 0 lost in 1.2 s\n");
	t = (struct up_out_totals){ .handled = 3,
				    .hits = 31,
				    .filtered = 1,
				    .lost = 2,
				    .lost_not_hits = 8,
				    .lost_unknown = true,
				    .losses = { .on = lost, .nr = 2, .lost = 2, .buffer_kb = 64 },
				    .doubtful = 9,
				    .unpaired = 1,
				    .no_return = 2,
				    .too_deep = 10,
				    .by_zero = 1,
				    .corrupt = 7,
				    .faults = 4,
				    .late = 5,
				    .dropped_rows = 6,
				    .dropped_vars = 12,
				    .cut_off = 13,
				    .no_room = 14,
				    .left_out = 15,
				    .unreadable = 16,
				    .first_unreadable = 7,
				    .others = 17,
				    .misplaced = 18,
				    .changed_files = 8,
				    .seconds = 0.0123 };
	up_out_summary(&o.buf, &t);
	CHECK_BUF(&o.buf,
		  "3 hits handled, 1 filtered, more than 2 lost in 12.3 ms\n"
		  "about 31 hits = 3 handled + 1 filtered + 2 lost + 10 unpaired + "
		  "15 left out\n"
		  "of the lost, up to 8 may be threads that began or ended, not hits\n"
		  "lost 1 on CPU 0, 1 on CPU 3; the buffer has 64 KiB for each CPU: a larger "
		  "one (--buffer SIZE) or fewer hits help\n"
		  "9 returns were left out, because hits were lost during their calls\n"
		  "1 return came from a call whose entry was not seen\n"
		  "2 calls were left without a return\n"
		  "10 calls were nested too deeply: the kernel tells of 64 nested returns "
		  "of a thread, and at most 8192 open calls are kept\n"
		  "1 division by zero\n"
		  "7 records of the kernel made no sense\n"
		  "4 values could not be read\n"
		  "5 events came out of time order\n"
		  "6 updates of aggregations were dropped: their tables were full\n"
		  "12 assignments were dropped: their tables were full\n"
		  "13 handlers were ended: their loops ran too long\n"
		  "14 texts found no room: they became (fault)\n"
		  "15 hits were left out, because the run was interrupted again\n"
		  "16 lines of the text could not be read, the first is line 7\n"
		  "18 events are at other places than the probes: another program's, or "
		  "another version\n"
		  "17 events that no probe is for were passed over\n"
		  "8 probed files were replaced or written to\n");
	o.form->end(&o, &t);
	CHECK_BUF(&o.buf,
		  "{\"type\":\"end\",\"handled\":3,\"filtered\":1,\"rejected\":0,\"lost\":2,"
		  "\"unpaired\":10,\"outside\":0,\"left_out\":15,\"missing\":0,\"hits\":31,"
		  "\"exact\":false,\"foreign\":0,"
		  "\"lost_on\":[{\"cpu\":0,\"records\":1},{\"cpu\":3,\"records\":1}],"
		  "\"lost_unknown\":true,\"lost_not_hits\":8,\"lost_growing\":0,"
		  "\"lost_threads\":0,"
		  "\"doubtful\":9,"
		  "\"no_return\":2,\"too_deep\":10,\"by_zero\":1,\"corrupt\":7,"
		  "\"faults\":4,\"late\":5,"
		  "\"dropped_rows\":6,\"dropped_vars\":12,\"cut_off\":13,\"no_room\":14,"
		  "\"unreadable\":16,\"others\":17,\"misplaced\":18,"
		  "\"changed_files\":8,\"seconds\":0.0123}\n");
	t.lost = 0;
	up_out_summary(&o.buf, &t);
	CHECK(o.buf.s && strstr(o.buf.s, "1 filtered, an unknown number lost in 12.3 ms\n"));
	up_buf_reset(&o.buf);
	test_sum(&o);
	up_out_fini(&o);
}

/* ---- printf ---- */

struct format {
	char conv;
	struct up_type type;
	int width; /* negative: to the left */
	int16_t precision;
	struct up_value v;
	const char *want;
};

#define S32_TYPE INT_TYPE(UP_SHOW_DEC, 32, true)

static struct up_plan_piece make_piece(const struct format *f)
{
	return (struct up_plan_piece){ .conv = f->conv,
				       .type = f->type,
				       .width = (uint16_t)abs(f->width),
				       .minus = f->width < 0,
				       .precision = f->precision };
}

/* What the C library makes of the same piece, for the conversions that are the same in C. */
static void c_format(char *out, size_t size, const struct up_plan_piece *p, int64_t n)
{
	char fmt[64];
	int at = snprintf(fmt, sizeof(fmt), "%%%s%s%s%s%s", p->minus ? "-" : "", p->zero ? "0" : "",
			  p->plus ? "+" : "", p->space ? " " : "", p->alt ? "#" : "");

	if (p->width)
		at += snprintf(fmt + at, sizeof(fmt) - (size_t)at, "%u", p->width);
	if (p->precision >= 0)
		at += snprintf(fmt + at, sizeof(fmt) - (size_t)at, ".%d", p->precision);
	snprintf(fmt + at, sizeof(fmt) - (size_t)at, "ll%c", p->conv);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(out, size, fmt, (long long)n);
#pragma GCC diagnostic pop
}

static void test_printf_as_in_c(void)
{
	static const int64_t numbers[] = { 0, 1, 7, -1, 42, -4711, INT64_MAX, INT64_MIN };
	struct up_buf b = { 0 };
	unsigned tried = 0, wrong = 0;
	char want[128];

	for (unsigned i = 0; i < 5u * 32 * 4 * 4 * N(numbers); i++) {
		unsigned k = i;
		int64_t n = numbers[k % N(numbers)];
		struct up_plan_piece p = { .type = UP_TYPE_S64 };
		p.conv = "duxXo"[(k /= N(numbers)) % 5];
		unsigned flags = (k /= 5) % 32;

		p.minus = flags & 1, p.zero = flags & 2, p.plus = flags & 4, p.space = flags & 8;
		p.alt = (flags & 16) && p.conv != 'd' && p.conv != 'u';
		p.width = (uint16_t) "\0\1\6\31"[(k /= 32) % 4];
		p.precision = (int16_t)((int[]){ -1, 0, 1, 9 })[k / 4 % 4];
		if (p.conv != 'd')
			p.plus = p.space = false;
		const struct up_plan_printf f = { .pieces = &p, .nr_pieces = 1, .nr = 1 };
		const struct up_value v = num(n);
		up_out_printf(&b, &f, &v);
		c_format(want, sizeof(want), &p, n);
		bool same = b.len == strlen(want) && (!b.len || !memcmp(b.s, want, b.len));
		if (!same && !wrong++)
			fprintf(stderr, "%%%c of %lld: %s, in C %s\n", p.conv, (long long)n,
				b.s ? b.s : "", want);
		up_buf_reset(&b);
		tried++;
	}
	CHECK(wrong == 0 && tried > 10000);
	up_buf_fini(&b);
}

static void test_printf(void)
{
	const struct format cases[] = {
		{ 'd', UP_TYPE_U64, 0, -1, num(-1), "18446744073709551615" },
		{ 'u', S32_TYPE, 0, -1, num(-1), "4294967295" },
		{ 'x', S32_TYPE, 0, -1, num(-1), "ffffffff" },
		{ 'd', S32_TYPE, 0, -1, num(-1), "-1" },
		{ 'p', UP_TYPE_S64, 0, -1, num(0x2a), "0x2a" },
		{ 'p', UP_TYPE_S64, 8, -1, num(0), "     0x0" },
		{ 'c', UP_TYPE_S64, 0, -1, num('x'), "x" },
		{ 'c', UP_TYPE_S64, 3, -1, num('\n'), " \\n" },
		{ 'c', UP_TYPE_S64, 0, -1, num(0xff), "\\xff" },
		{ 's', UP_TYPE_STR, 0, -1, str("a\033b\n"), "a\\eb\\n" },
		{ 's', UP_TYPE_STR, 4, -1, str("\xc3\xbc"), "   \xc3\xbc" },
		{ 's', UP_TYPE_STR, -4, -1, str("\xc3\xbc"), "\xc3\xbc   " },
		{ 's', UP_TYPE_STR, 1, -1, str("abc"), "abc" },
		{ 's', UP_TYPE_STR, 0, 2, str("\xc3\xbc\xc3\xbc-"), "\xc3\xbc\xc3\xbc" },
		{ 's', UP_TYPE_STR, 2, 0, str("abc"), "  " },
		{ 's', UP_TYPE_S64, 0, -1, num(-5), "-5" },
		{ 's', UP_TYPE_X64, 0, -1, num(16), "0x10" },
		{ 's', UP_TYPE_FLOAT, 0, -1, flt(0.5), "0.5" },
		{ 'f', UP_TYPE_FLOAT, 0, -1, flt(-2.9), "-2.900000" },
		{ 'f', UP_TYPE_FLOAT, 8, 2, flt(2.0 / 3), "    0.67" },
		{ 'f', UP_TYPE_FLOAT, -8, 2, flt(2.0 / 3), "0.67    " },
		{ 'f', UP_TYPE_FLOAT, 0, 0, flt(1e22), "10000000000000000000000" },
		{ 'F', UP_TYPE_FLOAT, 0, -1, flt(INFINITY), "INF" },
		{ 'e', UP_TYPE_FLOAT, 0, 3, flt(12345), "1.234e+04" },
		{ 'E', UP_TYPE_FLOAT, 0, 3, flt(12345), "1.234E+04" },
		{ 'g', UP_TYPE_FLOAT, 0, -1, flt(0.1), "0.1" },
		{ 'G', UP_TYPE_FLOAT, 6, -1, flt(NAN), "   NAN" },
		{ 'a', UP_TYPE_FLOAT, 0, -1, flt(-0.5), "-0x1p-1" },
		{ 'A', UP_TYPE_FLOAT, 0, -1, flt(-0.5), "-0X1P-1" },
		{ 'f', UP_TYPE_S64, 0, 1, num(-7), "-7.0" },
		{ 'f', UP_TYPE_U64, 0, 1, num(-1), "18446744073709551616.0" },
		{ 'g', UP_TYPE_FLOAT, 9, -1, fault, "  (fault)" },
		{ 's', UP_TYPE_STR, 0, -1, cut("abc"), "abc..." },
		{ 's', UP_TYPE_STR, 8, -1, cut("abc"), "  abc..." },
		{ 's', UP_TYPE_STR, -8, -1, cut("abc"), "abc...  " },
		{ 's', UP_TYPE_STR, 0, 2, cut("abc"), "ab" },
		{ 's', UP_TYPE_STR, 0, 3, cut("abc"), "abc..." },
		{ 's', UP_TYPE_BYTES, 0, -1, block("\xde\xad\0\x01", 4), "dead0001" },
		{ 's', UP_TYPE_BYTES, 9, 4, block("\xde\xad\0\x01", 4), "     dead" },
		{ 's', ARRAY(UP_SHOW_DEC, 16, true, 2), 0, -1, block("\xff\xff\x02\0", 4),
		  "{-1,2}" },
		{ 's', ARRAY(UP_SHOW_DEC, 8, false, 3), 0, -1, cut("\1\2"), "{1,2}..." },
		{ 'd', UP_TYPE_S64, 9, -1, fault, "  (fault)" },
		{ 's', UP_TYPE_STR, -9, -1, fault, "(fault)  " },
	};
	struct up_buf b = { 0 };

	for (size_t i = 0; i < N(cases); i++) {
		struct up_plan_piece p = make_piece(&cases[i]);
		const struct up_plan_printf f = { .pieces = &p, .nr_pieces = 1, .nr = 1 };

		up_out_printf(&b, &f, &cases[i].v);
		unit_check_buf(&b, cases[i].want, strlen(cases[i].want), __FILE__, __LINE__);
	}
	const struct format int_piece = { 'd', UP_TYPE_S64, 0, -1, num(0), "" };
	const struct format str_piece = { 's', UP_TYPE_STR, 0, -1, num(0), "" };
	struct up_plan_piece pieces[] = { { .text = "n=", .text_len = 2 },
					  make_piece(&int_piece),
					  { .text = " \033[1ms=", .text_len = 7 },
					  make_piece(&str_piece),
					  { .text = "\n", .text_len = 1 } };
	const struct up_plan_printf f = { .pieces = pieces, .nr_pieces = N(pieces), .nr = 2 };
	const struct up_value v[] = { num(1), str("two") };
	up_out_printf(&b, &f, v);
	CHECK_BUF(&b, "n=1 \033[1ms=two\n");
	up_buf_fini(&b);
}

/* ---- writing ---- */

/* Reads all from fd slowly; exits with 0 when it was `want` bytes of 'x'. */
static void read_slowly(int fd, size_t want)
{
	char chunk[5000];
	size_t got = 0;
	bool good = true;

	for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) > 0; got += (size_t)n) {
		for (ssize_t i = 0; i < n; i++)
			good &= chunk[i] == 'x';
		usleep(200);
	}
	_exit(good && got == want ? 0 : 1);
}

static void test_flush_nonblocking(void)
{
	enum { SIZE = 1 << 20 };
	struct up_out o = { 0 };
	int fds[2], status = -1;

	CHECK(!pipe(fds));
	pid_t child = fork();
	if (child == 0) {
		close(fds[1]);
		read_slowly(fds[0], SIZE);
	}
	close(fds[0]);
	CHECK(child > 0 && !fcntl(fds[1], F_SETFL, O_NONBLOCK));
	o.fd = fds[1];
	up_buf_fill(&o.buf, 'x', SIZE);
	CHECK(up_out_flush(&o) == 0 && o.buf.len == 0);
	close(fds[1]);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	up_out_fini(&o);
}

static void test_flush_errors(void)
{
	struct up_out o = { .fd = open("/dev/full", O_WRONLY) };

	CHECK(up_out_flush(&o) == 0);
	up_buf_puts(&o.buf, "lost");
	CHECK(o.fd >= 0 && up_out_flush(&o) == -ENOSPC && o.error == -ENOSPC && !o.buf.len);
	close(o.fd);
	o.fd = open("/dev/null", O_WRONLY);
	up_buf_puts(&o.buf, "not tried");
	CHECK(up_out_flush(&o) == -ENOSPC);
	o.error = 0;
	o.buf.failed = true;
	CHECK(up_out_flush(&o) == -ENOMEM);
	close(o.fd);
	up_out_fini(&o);
}

static void test_forms(void)
{
	CHECK(!strcmp(up_out_form_find("text")->name, "text") && !up_out_form_find("tex"));
	for (size_t i = 0; up_out_forms[i]; i++) {
		const struct up_out_form *f = up_out_forms[i];
		CHECK(f->help && f->print && f->text && f->agg && up_out_form_find(f->name) == f);
	}
}

int main(void)
{
	setenv("TZ", "UTC0", 1);
	test_forms();
	test_values();
	test_print();
	test_print_json();
	test_print_csv();
	test_csv_fields();
	test_agg_text();
	test_agg_wide();
	test_agg_many_keys();
	test_agg_json();
	test_end();
	test_losses();
	test_printf_as_in_c();
	test_printf();
	test_flush_nonblocking();
	test_flush_errors();
	return unit_report("out");
}
