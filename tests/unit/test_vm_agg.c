/* Aggregations in the machine: groups, order of rows, `top`, caps, clearing, reading results. */
#include <stdlib.h>

#include "runtime/vm.h"
#include "tests/unit/unit.h"

/* A machine with one aggregation of one argument and one key. */
struct world {
	struct up_plan plan;
	struct up_plan_agg agg;
	struct up_type arg, key;
	struct up_value consts[4];
	const char *label;
	struct up_out out;
	struct up_vm vm;
};

static const struct up_agg_row *find(const char *name)
{
	for (const struct up_agg_row *const *r = up_agg_rows; *r; r++)
		if (!strcmp((*r)->name, name))
			return *r;
	return NULL;
}

static void start(struct world *w, const char *name, struct up_type arg, struct up_type key)
{
	memset(w, 0, sizeof(*w));
	w->arg = arg;
	w->key = key;
	w->label = "k";
	w->agg = (struct up_plan_agg){ .name = "it",
				       .is_named = true,
				       .row = find(name),
				       .arg_types = &w->arg,
				       .consts = w->consts,
				       .nr_keys = 1,
				       .key_labels = &w->label,
				       .key_types = &w->key };
	w->agg.nr_args = w->agg.row->max_args;
	w->plan = (struct up_plan){ .aggs = &w->agg, .nr_aggs = 1 };
	w->out = (struct up_out){ .fd = -1, .form = up_out_form_find("csv") };
	CHECK(!up_vm_init(&w->vm, &w->plan, &w->out));
	up_vm_begin(&w->vm, 0);
}

static void end(struct world *w)
{
	up_vm_fini(&w->vm);
	up_out_fini(&w->out);
}

static struct up_value num(int64_t n)
{
	return (struct up_value){ .s = n };
}

static struct up_value str(const char *s)
{
	return (struct up_value){ .p = s, .len = (uint32_t)strlen(s) };
}

static void add(struct world *w, struct up_value key, struct up_value v)
{
	const struct up_value both[] = { key, v };

	up_vm_add(&w->vm, 0, both);
}

#define CHECK_SHOWN(w, want)                    \
	do {                                    \
		CHECK(!up_vm_show(&(w)->vm));   \
		CHECK_BUF(&(w)->out.buf, want); \
		(w)->out.block = NULL;          \
	} while (0)

static void test_order(void)
{
	static const int64_t v[] = { 5, -3, 9, 5, 0, INT64_MIN, INT64_MAX, 5 };
	struct world w;

	start(&w, "sum", UP_TYPE_S64, UP_TYPE_S64);
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		add(&w, num(-(int64_t)i), num(v[i]));
	add(&w, num(-6), num(7));
	add(&w, num(-5), num(-7));
	CHECK_SHOWN(&w, "k,it\n-6,9223372036854775814\n-2,9\n-7,5\n-3,5\n0,5\n-4,0\n-1,-3\n"
			"-5,-9223372036854775815\n");
	w.agg.top = 3;
	CHECK_SHOWN(&w, "k,it\n-6,9223372036854775814\n-2,9\n-7,5\n");
	w.agg.top = 100;
	w.out.form = up_out_form_find("text");
	CHECK(!up_vm_show(&w.vm));
	CHECK(w.out.buf.s && !strstr(w.out.buf.s, "more"));
	end(&w);
}

static void test_order_of_others(void)
{
	struct world w;

	start(&w, "max", UP_TYPE_FLOAT, UP_TYPE_STR);
	add(&w, str("nan"), (struct up_value){ .f = __builtin_nan("") });
	add(&w, str("minus"), (struct up_value){ .f = -1.5 });
	add(&w, str("zero"), (struct up_value){ .f = -0.0 });
	add(&w, str("also zero"), (struct up_value){ .f = 0.0 });
	add(&w, str("inf"), (struct up_value){ .f = __builtin_inf() });
	add(&w, (struct up_value){ .flags = UP_VALUE_FAULT }, (struct up_value){ .f = -1.5 });
	CHECK_SHOWN(&w, "k,it\ninf,inf\nalso zero,0\nzero,-0\nminus,-1.5\n,-1.5\nnan,nan\n");
	end(&w);
	start(&w, "last", UP_TYPE_STR, UP_TYPE_STR);
	add(&w, str("a"), str("x"));
	add(&w, str("b"), str("xy"));
	add(&w, str("c"), str("old"));
	add(&w, str("c"), str("b"));
	add(&w, str("d"), str("x"));
	CHECK_SHOWN(&w, "k,it\nb,xy\na,x\nd,x\nc,b\n");
	end(&w);
}

/* A fault as a key is a group; as an argument it is no value. */
static void test_faults(void)
{
	const struct up_value fault = { .u = 3, .flags = UP_VALUE_FAULT };
	struct world w;

	start(&w, "count", UP_TYPE_S64, UP_TYPE_S64);
	add(&w, fault, num(0));
	add(&w, fault, num(0));
	CHECK_SHOWN(&w, "k,it\n,2\n");
	end(&w);
	start(&w, "sum", UP_TYPE_S64, UP_TYPE_S64);
	add(&w, num(1), fault);
	CHECK_SHOWN(&w, "k,it\n");
	CHECK(w.vm.aggs[0].overflow == 0);
	end(&w);
}

static void test_read(void)
{
	struct up_value key = num(1), other = num(2);
	struct world w;

	start(&w, "sum", UP_TYPE_S64, UP_TYPE_S64);
	add(&w, key, num(41));
	add(&w, key, num(1));
	CHECK(up_vm_agg_field(&w.vm, 0, &key, 0).s == 42);
	CHECK(up_vm_agg_field(&w.vm, 0, &other, 0).s == 0);
	add(&w, key, num(INT64_MAX));
	CHECK(up_vm_agg_field(&w.vm, 0, &key, 0).s == INT64_MAX);
	add(&w, other, num(INT64_MIN));
	add(&w, other, num(INT64_MIN));
	CHECK(up_vm_agg_field(&w.vm, 0, &other, 0).s == INT64_MIN);
	CHECK(up_vm_delete_agg(&w.vm, 0, &other) && !up_vm_delete_agg(&w.vm, 0, &other));
	CHECK(up_vm_agg_field(&w.vm, 0, &other, 0).s == 0);
	end(&w);
	start(&w, "first", UP_TYPE_STR, UP_TYPE_S64);
	add(&w, key, str("text"));
	CHECK(up_vm_agg_field(&w.vm, 0, &key, 0).len == 4);
	CHECK(up_vm_agg_field(&w.vm, 0, &other, 0).len == 0);
	end(&w);
}

static void test_clear(void)
{
	struct up_value key = str("k");
	struct world w;

	start(&w, "rate", UP_TYPE_S64, UP_TYPE_STR);
	w.agg.nr_args = w.vm.agg_cx[0].nr_args = 0;
	add(&w, key, num(0));
	w.vm.now = 500000000;
	CHECK(up_vm_agg_field(&w.vm, 0, &key, 0).f == 2);
	up_vm_clear_agg(&w.vm, 0);
	CHECK_SHOWN(&w, ""); /* it was cleared, and nothing came since */
	add(&w, key, num(0));
	w.vm.now += 100000000;
	CHECK(up_vm_agg_field(&w.vm, 0, &key, 0).f == 10);
	CHECK_SHOWN(&w, "k,it\nk,10\n");
	end(&w);
	start(&w, "uniq", UP_TYPE_S64, UP_TYPE_STR);
	size_t left = w.vm.agg_left;
	for (int64_t i = 0; i < 20000; i++)
		add(&w, key, num(i / 2));
	CHECK(w.vm.agg_left < left);
	up_vm_clear_agg(&w.vm, 0);
	CHECK(w.vm.agg_left == left);
	end(&w);
}

/* Memory that is refused is a dropped update, and no row without a value is left. */
static void test_no_memory(void)
{
	struct world w;

	start(&w, "quantile", UP_TYPE_S64, UP_TYPE_S64);
	w.vm.agg_left = 70;
	for (int64_t i = 0; i < 5; i++)
		add(&w, num(i), num(i));
	CHECK(up_table_count(&w.vm.aggs[0]) == 2 && w.vm.aggs[0].overflow == 3);
	CHECK(!up_vm_show(&w.vm));
	up_vm_clear_agg(&w.vm, 0);
	CHECK(w.vm.agg_left == 70);
	end(&w);
}

/* A million groups are kept, no more; the largest are found without sorting all. */
static void test_million(void)
{
	struct world w;

	start(&w, "max", UP_TYPE_S64, UP_TYPE_S64);
	for (int64_t i = 0; i < 1000010; i++)
		add(&w, num(i), num(i * 7919 % 1000003));
	CHECK(up_table_count(&w.vm.aggs[0]) == 1000000 && w.vm.aggs[0].overflow == 10);
	w.agg.top = 2;
	CHECK_SHOWN(&w, "k,it\n341332,1000002\n682664,1000001\n");
	w.agg.top = 0;
	CHECK(!up_vm_show(&w.vm));
	CHECK(!strncmp(w.out.buf.s, "k,it\n341332,1000002\n682664,1000001\n23993,1000000\n", 46));
	end(&w);
}

int main(void)
{
	test_order();
	test_order_of_others();
	test_faults();
	test_read();
	test_clear();
	test_no_memory();
	test_million();
	return unit_report("vm_agg");
}
