/* Aggregations as they are shown: tables, histograms, JSON and CSV. */
#include <math.h>
#include <stdlib.h>

#include "runtime/out.h"
#include "runtime/units.h"
#include "tests/unit/unit.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define MOST_ROWS 8

#define NS_TYPE ((struct up_type){ TY_INT, UP_SHOW_NS, 64, true, 0 })

/* An aggregation of up to two keys, with its cells. */
struct agg {
	struct up_plan_agg plan;
	struct up_type types[4], key_types[2];
	struct up_value consts[4];
	const char *labels[2];
	struct up_value keys[MOST_ROWS][2];
	uint64_t cells[MOST_ROWS][16];
	struct up_out_row rows[MOST_ROWS];
	struct up_out_agg show;
};

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

static void start(struct agg *a, const char *name, struct up_type type, unsigned nr_keys)
{
	size_t i = 0;

	while (strcmp(up_agg_rows[i]->name, name))
		i++;
	*a = (struct agg){ .types = { type, type, type, type },
			   .key_types = { UP_TYPE_STR, UP_TYPE_S64 },
			   .labels = { "comm", "arg0" } };
	a->plan = (struct up_plan_agg){ .name = "sizes",
					.is_named = true,
					.row = up_agg_rows[i],
					.nr_args = up_agg_rows[i]->max_args,
					.arg_types = a->types,
					.consts = a->consts,
					.nr_keys = nr_keys,
					.key_labels = a->labels,
					.key_types = a->key_types };
	a->show = (struct up_out_agg){ .plan = &a->plan,
				       .cx = up_plan_agg_cx(&a->plan),
				       .rows = a->rows };
}

static void add(struct agg *a, size_t row, struct up_value v)
{
	CHECK(a->plan.row->cell_size <= sizeof(a->cells[0]));
	CHECK(a->plan.row->add(a->cells[row], &a->show.cx, &v));
	if (row >= a->show.nr_rows)
		a->show.nr_rows = a->show.total_rows = row + 1;
}

static void set_keys(struct agg *a, size_t row, struct up_value k0, struct up_value k1)
{
	a->keys[row][0] = k0;
	a->keys[row][1] = k1;
}

static void show(struct agg *a, struct up_out *o, const char *form)
{
	o->form = up_out_form_find(form);
	for (size_t i = 0; i < MOST_ROWS; i++)
		a->rows[i] = (struct up_out_row){ a->keys[i], a->cells[i] };
	o->form->agg(o, &a->show);
}

static void end(struct agg *a)
{
	for (size_t i = 0; i < MOST_ROWS && a->plan.row->fini; i++)
		a->plan.row->fini(a->cells[i], &a->show.cx);
}

#define CHECK_SHOWN(a, o, form, want)       \
	do {                                \
		show(a, o, form);           \
		CHECK_BUF(&(o)->buf, want); \
	} while (0)

/* ---- units ---- */

static void check_duration(double ns, bool is_whole, const char *want)
{
	struct up_buf b = { 0 };

	up_put_duration(&b, ns, is_whole, " ");
	unit_check_buf(&b, want, strlen(want), __FILE__, __LINE__);
	up_buf_fini(&b);
}

static void test_durations(void)
{
	check_duration(0, true, "0 ns");
	check_duration(1, true, "1 ns");
	check_duration(999, true, "999 ns");
	check_duration(1000, true, "1.00 us");
	check_duration(1234, true, "1.23 us");
	check_duration(12345, true, "12.3 us");
	check_duration(123456, true, "123 us");
	check_duration(999499, true, "999 us");
	check_duration(999500, true, "1.00 ms");
	check_duration(9994999, true, "9.99 ms");
	check_duration(9995001, true, "10.0 ms");
	check_duration(99949999, true, "99.9 ms");
	check_duration(99950001, true, "100 ms");
	check_duration(1e9, true, "1.00 s");
	check_duration(123456e9, true, "123456 s");
	check_duration(-1500, true, "-1.50 us");
	check_duration(1.5, false, "1.50 ns");
	check_duration(0.25, false, "0.25 ns");
	check_duration(NAN, false, "nan");
	check_duration(-INFINITY, false, "-inf");
}

static void check_binary(struct up_type t, struct up_value v, const char *want)
{
	struct up_buf b = { 0 };

	up_put_binary(&b, t, &v);
	unit_check_buf(&b, want, strlen(want), __FILE__, __LINE__);
	up_buf_fini(&b);
}

static void test_binary(void)
{
	static const struct up_wide two_64 = { 0, 1 };

	check_binary(UP_TYPE_S64, num(0), "0");
	check_binary(UP_TYPE_S64, num(512), "512");
	check_binary(UP_TYPE_S64, num(1024), "1K");
	check_binary(UP_TYPE_S64, num(-65536), "-64K");
	check_binary(UP_TYPE_S64, num(1536), "1536");
	check_binary(UP_TYPE_S64, num((int64_t)1 << 40), "1T");
	check_binary(UP_TYPE_S64, num(INT64_MIN), "-8E");
	check_binary(UP_TYPE_U64, num(INT64_MIN), "8E");
	check_binary(UP_TYPE_U64, (struct up_value){ .wide = &two_64, .flags = UP_VALUE_WIDE },
		     "16E");
}

/* ---- tables ---- */

static void test_table(void)
{
	struct up_out o = { .fd = -1 };
	struct agg a;

	start(&a, "stats", UP_TYPE_S64, 1);
	set_keys(&a, 0, str("zsh"), num(0));
	set_keys(&a, 1, (struct up_value){ .flags = UP_VALUE_FAULT }, num(0));
	for (int64_t i = 1; i <= 4; i++)
		add(&a, 0, num(i * i));
	add(&a, 1, num(-1000000));
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "sizes by comm\n"
		    "  comm     count       avg       min       max   stddev       sum\n"
		    "  zsh          4       7.5         1        16  5.67891        30\n"
		    "  (fault)      1  -1000000  -1000000  -1000000        0  -1000000\n");
	CHECK_SHOWN(&a, &o, "json",
		    "{\"type\":\"aggregation\",\"name\":\"sizes\",\"aggregate\":\"stats\","
		    "\"rows\":[{\"key\":{\"comm\":\"zsh\"},\"value\":{\"count\":4,\"avg\":7.5,"
		    "\"min\":1,\"max\":16,\"stddev\":5.678908345800274,\"sum\":30}},"
		    "{\"key\":{\"comm\":null},\"value\":{\"count\":1,\"avg\":-1000000,"
		    "\"min\":-1000000,\"max\":-1000000,\"stddev\":0,\"sum\":-1000000}}],"
		    "\"total_rows\":2}\n");
	CHECK_SHOWN(&a, &o, "csv",
		    "comm,sizes.count,sizes.avg,sizes.min,sizes.max,sizes.stddev,sizes.sum\n"
		    "zsh,4,7.5,1,16,5.678908345800274,30\n"
		    ",1,-1000000,-1000000,-1000000,0,-1000000\n");
	o.colour = true;
	a.show.nr_rows = 1;
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "\033[1msizes by comm\033[0m\n"
		    "\033[2m  comm  count  avg  min  max   stddev  sum\033[0m\n"
		    "  zsh       4  7.5    1   16  5.67891   30\n"
		    "  and 1 more\n");
	up_out_fini(&o);
}

static void test_one_row(void)
{
	struct up_out o = { .fd = -1 };
	struct agg a;

	start(&a, "quantile", UP_TYPE_S64, 0);
	CHECK_SHOWN(&a, &o, "text", "sizes: nothing\n");
	CHECK_SHOWN(&a, &o, "json",
		    "{\"type\":\"aggregation\",\"name\":\"sizes\",\"aggregate\":\"quantile\","
		    "\"value\":null}\n");
	for (int64_t i = 1; i <= 10; i++)
		add(&a, 0, num(i));
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "sizes\n"
		    "  count  p50  p90  p99  p99.9  max\n"
		    "     10    5    9   10     10   10\n");
	CHECK_SHOWN(&a, &o, "json",
		    "{\"type\":\"aggregation\",\"name\":\"sizes\",\"aggregate\":\"quantile\","
		    "\"value\":{\"count\":10,\"p50\":5,\"p90\":9,\"p99\":10,\"p999\":10,"
		    "\"max\":10}}\n");
	end(&a);
	start(&a, "rate", UP_TYPE_S64, 0);
	a.show.cx.nr_args = 0;
	a.show.cx.now = 2000000000;
	for (int i = 0; i < 3; i++)
		add(&a, 0, num(0));
	CHECK_SHOWN(&a, &o, "text", "sizes = 1.5/s\n");
	CHECK_SHOWN(&a, &o, "csv", "sizes\n1.5\n");
	start(&a, "last", UP_TYPE_STR, 0);
	add(&a, 0, str("a\033\"b, c"));
	CHECK_SHOWN(&a, &o, "text", "sizes = \"a\\e\\\"b, c\"\n");
	add(&a, 0, (struct up_value){ .p = "ab", .len = 2, .flags = UP_VALUE_CUT });
	CHECK_SHOWN(&a, &o, "text", "sizes = \"ab\"...\n");
	CHECK_SHOWN(&a, &o, "json",
		    "{\"type\":\"aggregation\",\"name\":\"sizes\",\"aggregate\":\"last\","
		    "\"value\":\"ab\",\"value_cut\":true}\n");
	CHECK_SHOWN(&a, &o, "csv", "\nsizes\nab...\n");
	end(&a);
	up_out_fini(&o);
}

/* Sums beyond 64 bits are exact everywhere. */
static void test_wide_sum(void)
{
	struct up_out o = { .fd = -1 };
	struct agg a;

	start(&a, "sum", UP_TYPE_S64, 0);
	for (int i = 0; i < 3; i++)
		add(&a, 0, num(INT64_MIN));
	CHECK_SHOWN(&a, &o, "text", "sizes = -27670116110564327424\n");
	CHECK_SHOWN(&a, &o, "json",
		    "{\"type\":\"aggregation\",\"name\":\"sizes\",\"aggregate\":\"sum\","
		    "\"value\":-27670116110564327424}\n");
	CHECK_SHOWN(&a, &o, "csv", "sizes\n-27670116110564327424\n");
	up_out_fini(&o);
}

static void test_nanoseconds(void)
{
	struct up_out o = { .fd = -1 };
	struct agg a;

	start(&a, "stats", NS_TYPE, 1);
	set_keys(&a, 0, str("read"), num(0));
	add(&a, 0, num(1500));
	add(&a, 0, num(2500000));
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "sizes by comm\n"
		    "  comm  count      avg      min      max   stddev      sum\n"
		    "  read      2  1.25 ms  1.50 us  2.50 ms  1.25 ms  2.50 ms\n");
	CHECK_SHOWN(&a, &o, "csv",
		    "comm,sizes.count,sizes.avg,sizes.min,sizes.max,sizes.stddev,sizes.sum\n"
		    "read,2,1250750,1500,2500000,1249250,2501500\n");
	start(&a, "hist", NS_TYPE, 0);
	add(&a, 0, num(1500));
	add(&a, 0, num(600));
	CHECK_SHOWN(
		&a, &o, "text",
		"\n"
		"sizes\n"
		"  [512ns, 1.02us)   1  #########################################################\n"
		"  [1.02us, 2.05us)  1  "
		"#########################################################\n");
	end(&a);
	up_out_fini(&o);
}

/* A terminal is not wide enough for everything; a pipe is. */
static void test_fit(void)
{
	const char *path = "/usr/lib/x86_64-linux-gnu/a/very/long/path/to/some/file.so.6";
	struct up_out o = { .fd = -1, .columns = 40, .unicode = true };
	struct agg a;

	start(&a, "count", UP_TYPE_S64, 2);
	set_keys(&a, 0, str(path), num(4096));
	set_keys(&a, 1,
		 str("\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87"
		     "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87"
		     "\xe4\xb8\xad\xe6\x96\x87"),
		 num(1));
	set_keys(&a, 2, str("e\xcc\x81t\xc3\xa9"), num(-1));
	for (size_t i = 0; i < 3; i++)
		add(&a, i, num(0));
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "sizes by comm, arg0\n"
		    "  /usr/lib/x86_6\xe2\x80\xa6some/file.so.6  4096  1\n"
		    "  "
		    "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4"
		    "\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8"
		    "\xad\xe6\x96\x87      1  1\n"
		    "  e\xcc\x81t\xc3\xa9                              -1  1\n");
	o.unicode = false;
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "sizes by comm, arg0\n"
		    "  /usr/lib/x86_...ome/file.so.6  4096  1\n"
		    "  "
		    "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4"
		    "\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8"
		    "\xad\xe6\x96\x87      1  1\n"
		    "  e\xcc\x81t\xc3\xa9                              -1  1\n");
	o.columns = 0;
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "sizes by comm, arg0\n"
		    "  /usr/lib/x86_64-linux-gnu/a/very/long/path/to/some/file.so.6  4096  1\n"
		    "  "
		    "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4"
		    "\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8"
		    "\xad\xe6\x96\x87                                     1  1\n"
		    "  e\xcc\x81t\xc3\xa9                                                          "
		    "   -1  1\n");
	up_out_fini(&o);
}

/* ---- histograms ---- */

/* The rows of a histogram without values from 4 to 1M. */
#define EMPTY_ROWS            \
	"  [4, 8)        0\n" \
	"  [8, 16)       0\n" \
	"  [16, 32)      0\n" \
	"  [32, 64)      0\n" \
	"  [64, 128)     0\n" \
	"  [128, 256)    0\n" \
	"  [256, 512)    0\n" \
	"  [512, 1K)     0\n" \
	"  [1K, 2K)      0\n" \
	"  [2K, 4K)      0\n" \
	"  [4K, 8K)      0\n" \
	"  [8K, 16K)     0\n" \
	"  [16K, 32K)    0\n" \
	"  [32K, 64K)    0\n" \
	"  [64K, 128K)   0\n" \
	"  [128K, 256K)  0\n" \
	"  [256K, 512K)  0\n" \
	"  [512K, 1M)    0\n"

static void test_bars(void)
{
	struct up_out o = { .fd = -1, .columns = 40, .unicode = true };
	struct agg a;

	start(&a, "hist", UP_TYPE_S64, 2);
	set_keys(&a, 0, str("zsh"), num(1));
	set_keys(&a, 1, str("a b"), num(-2));
	for (int64_t i = 0; i < 2000; i++)
		add(&a, 0, num(i));
	add(&a, 1, num(-1));
	add(&a, 1, num(1 << 20));
	add(&a, 1, num(3));
	add(&a, 1, num(3));
	add(&a, 1, num(2));
	a.show.total_rows = 5;
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "sizes by comm, arg0\n"
		    "zsh, 1 (2000)\n"
		    "  [0]           1  \xe2\x96\x8f\n"
		    "  [1]           1  \xe2\x96\x8f\n"
		    "  [2, 4)        2  \xe2\x96\x8f\n"
		    "  [4, 8)        4  \xe2\x96\x8f\n"
		    "  [8, 16)       8  \xe2\x96\x8f\n"
		    "  [16, 32)     16  \xe2\x96\x8d\n"
		    "  [32, 64)     32  \xe2\x96\x8a\n"
		    "  [64, 128)    64  \xe2\x96\x88\xe2\x96\x8d\n"
		    "  [128, 256)  128  \xe2\x96\x88\xe2\x96\x88\xe2\x96\x8a\n"
		    "  [256, 512)  256  "
		    "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x8c\n"
		    "  [512, 1K)   512  "
		    "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2"
		    "\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\n"
		    "  [1K, 2K)    976  "
		    "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2"
		    "\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96"
		    "\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"
		    "\xe2\x96\x88\xe2\x96\x88\n"
		    "\n"
		    "a b, -2 (5)\n"
		    "  [-1]          1  "
		    "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2"
		    "\x96\x88\n"
		    "  [0]           0\n"
		    "  [1]           0\n"
		    "  [2, 4)        3  "
		    "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2"
		    "\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96"
		    "\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"
		    "\xe2\x96\x88\xe2\x96\x88\n" EMPTY_ROWS "  [1M, 2M)      1  "
		    "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2"
		    "\x96\x88\n"
		    "  and 3 more\n");
	o.unicode = false;
	CHECK_SHOWN(&a, &o, "text",
		    "\n"
		    "sizes by comm, arg0\n"
		    "zsh, 1 (2000)\n"
		    "  [0]           1  #\n"
		    "  [1]           1  #\n"
		    "  [2, 4)        2  #\n"
		    "  [4, 8)        4  #\n"
		    "  [8, 16)       8  #\n"
		    "  [16, 32)     16  #\n"
		    "  [32, 64)     32  #\n"
		    "  [64, 128)    64  #\n"
		    "  [128, 256)  128  ###\n"
		    "  [256, 512)  256  ######\n"
		    "  [512, 1K)   512  ###########\n"
		    "  [1K, 2K)    976  #####################\n"
		    "\n"
		    "a b, -2 (5)\n"
		    "  [-1]          1  #######\n"
		    "  [0]           0\n"
		    "  [1]           0\n"
		    "  [2, 4)        3  #####################\n" EMPTY_ROWS
		    "  [1M, 2M)      1  #######\n"
		    "  and 3 more\n");
	a.show.nr_rows = a.show.total_rows = 1;
	CHECK_SHOWN(&a, &o, "json",
		    "{\"type\":\"aggregation\",\"name\":\"sizes\",\"aggregate\":\"hist\",\"rows\":["
		    "{\"key\":{\"comm\":\"zsh\",\"arg0\":1},\"value\":2000,\"buckets\":[{\"lo\":0,"
		    "\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":1},{\"lo\":2,\"hi\":4,"
		    "\"count\":2},{\"lo\":4,\"hi\":8,\"count\":4},{\"lo\":8,\"hi\":16,\"count\":8},"
		    "{\"lo\":16,\"hi\":32,\"count\":16},{\"lo\":32,\"hi\":64,\"count\":32},{\"lo\":"
		    "64,\"hi\":128,\"count\":64},{\"lo\":128,\"hi\":256,\"count\":128},{\"lo\":256,"
		    "\"hi\":512,\"count\":256},{\"lo\":512,\"hi\":1024,\"count\":512},{\"lo\":1024,"
		    "\"hi\":2048,\"count\":976}]}],\"total_rows\":1}\n");
	CHECK_SHOWN(&a, &o, "csv",
		    "comm,arg0,sizes.lo,sizes.hi,sizes.count\n"
		    "zsh,1,0,1,1\n"
		    "zsh,1,1,2,1\n"
		    "zsh,1,2,4,2\n"
		    "zsh,1,4,8,4\n"
		    "zsh,1,8,16,8\n"
		    "zsh,1,16,32,16\n"
		    "zsh,1,32,64,32\n"
		    "zsh,1,64,128,64\n"
		    "zsh,1,128,256,128\n"
		    "zsh,1,256,512,256\n"
		    "zsh,1,512,1024,512\n"
		    "zsh,1,1024,2048,976\n");
	end(&a);
	up_out_fini(&o);
}

static void test_linear_bars(void)
{
	struct up_out o = { .fd = -1 };
	struct agg a;

	start(&a, "lhist", UP_TYPE_S64, 0);
	a.consts[1] = num(0);
	a.consts[2] = num(3000);
	a.consts[3] = num(1000);
	for (int64_t i = -1; i < 70; i++)
		add(&a, 0, num(i * 50));
	CHECK_SHOWN(
		&a, &o, "text",
		"\n"
		"sizes\n"
		"  (..., 0)       1  ###\n"
		"  [0, 1000)     20  ############################################################\n"
		"  [1000, 2000)  20  ############################################################\n"
		"  [2000, 3000)  20  ############################################################\n"
		"  [3000, ...)   10  ##############################\n");
	CHECK_SHOWN(&a, &o, "json",
		    "{\"type\":\"aggregation\",\"name\":\"sizes\",\"aggregate\":\"lhist\","
		    "\"value\":71,\"buckets\":[{\"hi\":0,\"count\":1},{\"lo\":0,\"hi\":1000,"
		    "\"count\":20},{\"lo\":1000,\"hi\":2000,\"count\":20},{\"lo\":2000,\"hi\":3000,"
		    "\"count\":20},{\"lo\":3000,\"count\":10}]}\n");
	CHECK_SHOWN(&a, &o, "csv",
		    "sizes.lo,sizes.hi,sizes.count\n"
		    ",0,1\n"
		    "0,1000,20\n"
		    "1000,2000,20\n"
		    "2000,3000,20\n"
		    "3000,,10\n");
	end(&a);
	start(&a, "hist", UP_TYPE_FLOAT, 0);
	add(&a, 0, flt(0.3));
	add(&a, 0, flt(0));
	add(&a, 0, flt(NAN));
	add(&a, 0, flt(INFINITY));
	add(&a, 0, flt(-INFINITY));
	CHECK_SHOWN(
		&a, &o, "text",
		"\n"
		"sizes\n"
		"  -inf         1  ############################################################\n"
		"  [0, 0.25)    1  ############################################################\n"
		"  [0.25, 0.5)  1  ############################################################\n"
		"  inf          1  ############################################################\n"
		"  nan          1  ############################################################\n");
	CHECK_SHOWN(&a, &o, "json",
		    "{\"type\":\"aggregation\",\"name\":\"sizes\",\"aggregate\":\"hist\",\"value\":"
		    "5,\"buckets\":[{\"hi\":\"-inf\",\"count\":1},{\"lo\":0,\"hi\":0.25,\"count\":"
		    "1},{\"lo\":0.25,\"hi\":0.5,\"count\":1},{\"lo\":\"inf\",\"count\":1},{"
		    "\"count\":1}]}\n");
	CHECK_SHOWN(&a, &o, "csv",
		    "\n"
		    "sizes.lo,sizes.hi,sizes.count\n"
		    ",-inf,1\n"
		    "0,0.25,1\n"
		    "0.25,0.5,1\n"
		    "inf,,1\n"
		    ",,1\n");
	end(&a);
	up_out_fini(&o);
}

int main(void)
{
	test_durations();
	test_binary();
	test_table();
	test_one_row();
	test_wide_sum();
	test_nanoseconds();
	test_fit();
	test_bars();
	test_linear_bars();
	return unit_report("out_agg");
}
