/* Arguments of events in trace text, and threads' beginnings and ends. */
#include <stdlib.h>

#include "dice.h"
#include "runtime/textargs.h"
#include "runtime/texttask.h"
#include "unit.h"

#define FIELD(at, bytes, sgn)                                    \
	{                                                        \
		.off = (at), .size = (bytes), .is_signed = (sgn) \
	}
#define STRING(at)                                         \
	{                                                  \
		.off = (at), .size = 4, .is_dynamic = true \
	}
#define ARG(text, nr, ...)                                                               \
	{                                                                                \
		.name = (text), .name_len = sizeof(text) - 1, .count = (nr), __VA_ARGS__ \
	}

/* "(0x40) site=1 di=-5 b=2 arr={0x1,0x2} comm="x" n=7" */
static const struct up_textarg entry_args[] = {
	ARG("site", 0, .field = FIELD(16, 4, false)),
	ARG("di", 0, .field = FIELD(20, 8, true)),
	ARG("b", 0, .field = FIELD(28, 1, true)),
	ARG("arr", 2, .field = FIELD(29, 8, false)),
	ARG("comm", 0, .max_len = 15, .field = STRING(37)),
	ARG("n", 0, .field = FIELD(41, 2, false)),
};
static const struct up_textshape entry = {
	.ip = FIELD(8, 8, false), .args = entry_args, .nr_args = 6, .fixed_size = 43
};

static const struct up_textarg return_args[] = {
	ARG("site", 0, .field = FIELD(24, 4, false)),
	ARG("s", 0, .max_len = 65535, .field = STRING(28)),
	ARG("t", 0, .max_len = 65535, .field = STRING(32)),
};
static const struct up_textshape leave = { .ip = FIELD(8, 8, false),
					   .ret_ip = FIELD(16, 8, false),
					   .args = return_args,
					   .nr_args = 3,
					   .fixed_size = 36 };

static unsigned char rec[UP_TEXTARGS_RECORD];
static uint32_t rec_len;

static enum up_textargs_result parse(const struct up_textshape *shape, const char *s)
{
	return up_textargs_parse(shape, s, strlen(s), rec, &rec_len);
}

static uint64_t number(const struct up_textarg *a, unsigned i)
{
	struct up_field f = a->field;

	f.size = (uint16_t)(f.size / (a->count ? a->count : 1));
	f.off = (uint16_t)(f.off + f.size * i);
	return up_field_number(rec, &f);
}

/* Is the string argument this text, with its NUL, inside the record? */
static bool string_is(const struct up_textarg *a, const char *want)
{
	uint32_t loc = (uint32_t)up_field_number(rec, &a->field), off = loc & 0xffff;

	if (!want)
		return !loc;
	return loc >> 16 == strlen(want) + 1 && off + (loc >> 16) <= rec_len &&
	       !memcmp(rec + off, want, strlen(want) + 1);
}

static void test_numbers(void)
{
	CHECK(!parse(&entry,
		     "(0x7f0040) site=1 di=-5 b=-128 arr={0x1,0xffffffff} comm=\"cat\" n=65535"));
	CHECK(up_field_number(rec, &entry.ip) == 0x7f0040);
	CHECK(number(&entry_args[0], 0) == 1);
	CHECK((int64_t)number(&entry_args[1], 0) == -5);
	CHECK((int64_t)number(&entry_args[2], 0) == -128);
	CHECK(number(&entry_args[3], 0) == 1 && number(&entry_args[3], 1) == UINT32_MAX);
	CHECK(string_is(&entry_args[4], "cat"));
	CHECK(number(&entry_args[5], 0) == 65535);
	CHECK(rec_len == 48);
	/* The ends of the widest numbers. */
	CHECK(!parse(
		&entry,
		"(0x40) site=4294967295 di=-9223372036854775808 b='x' arr={3,0x4} comm=\"\" n=0 "));
	CHECK(number(&entry_args[0], 0) == UINT32_MAX);
	CHECK(number(&entry_args[1], 0) == (uint64_t)INT64_MIN);
	CHECK(number(&entry_args[2], 0) == 'x');
	CHECK(number(&entry_args[3], 0) == 3 && number(&entry_args[3], 1) == 4);
	CHECK(string_is(&entry_args[4], ""));
}

/* What no kernel prints is not read as something else. */
static void test_wrong_numbers(void)
{
	static const char *const bad[] = {
		"(0x40) site=-1 di=1 b=1 arr={1,2} comm=\"x\" n=1",
		"(0x40) site=4294967296 di=1 b=1 arr={1,2} comm=\"x\" n=1",
		"(0x40) site=1 di=9223372036854775808 b=1 arr={1,2} comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=128 arr={1,2} comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=-129 arr={1,2} comm=\"x\" n=1",
		"(0x40) site=1 di= b=1 arr={1,2} comm=\"x\" n=1",
		"(0x40) site=1 di=- b=1 arr={1,2} comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=1 arr={1} comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=1 arr={1,2,3} comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=1 arr={1,0x} comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=1 arr={1,0x100000000} comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=1 arr=1 comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=1 arr={1,2} comm=\"x\" n=65536",
		"(0x40) site=1 di=1 b=1 arr={1,2} comm=\"x\" n=1x",
		"(0x40) site=1 di=1 b=1 arr={1,2} comm=\"x\" n=1 m=2",
		"(0x40) site=1 di=1  b=1 arr={1,2} comm=\"x\" n=1",
		"(0x40) site=1 di=1 b=1 arr={1,2}",
		"(0x40) site=1 di=1 [LINE TOO BIG]",
		"(0x40) site=1",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(parse(&entry, bad[i]) == UP_TEXTARGS_BROKEN ||
		      parse(&entry, bad[i]) == UP_TEXTARGS_OPEN);
}

/* What perf and trace-cmd write: their arrays are wrong. */
static void test_retold(void)
{
	CHECK(!parse(&leave, "(7f01 <- 40) site=2 s=\"a\" t=\"\""));
	CHECK(up_field_number(rec, &leave.ret_ip) == 0x7f01);
	CHECK(parse(&entry, "(40) site=1 di=1 b=1 arr={0x0,0x0} comm=\"x\" n=1") ==
	      UP_TEXTARGS_BROKEN);
}

/* Events of the same name that are not this one. */
static void test_others(void)
{
	CHECK(parse(&entry, "(0x40)") == UP_TEXTARGS_OTHER);
	CHECK(parse(&entry, "(0x40) arg1=5") == UP_TEXTARGS_OTHER);
	CHECK(parse(&entry, "(0x40 <- 0x50) site=1") == UP_TEXTARGS_OTHER);
	CHECK(parse(&leave, "(0x40) site=1 s=\"a\" t=\"b\"") == UP_TEXTARGS_OTHER);
	CHECK(parse(&entry, "something else") == UP_TEXTARGS_OTHER);
	CHECK(parse(&entry, "(0x") == UP_TEXTARGS_OTHER);
	CHECK(parse(&entry, "") == UP_TEXTARGS_OTHER);
}

static void test_strings(void)
{
	CHECK(!parse(&leave, "(0x7f01 <- 0x40) site=2 s=\"a b\" t=(fault)"));
	CHECK(up_field_number(rec, &leave.ip) == 0x40);
	CHECK(up_field_number(rec, &leave.ret_ip) == 0x7f01);
	CHECK(string_is(&return_args[1], "a b") && string_is(&return_args[2], NULL));
	CHECK(!parse(&leave, "(1 <- 4) site=2 s=(fault) t=\"\""));
	CHECK(string_is(&return_args[1], NULL) && string_is(&return_args[2], ""));
	/* What is in a string is the string's, as far as it can be told. */
	CHECK(!parse(&leave, "(1 <- 4) site=2 s=\"\"\" t=\"a\"b\" c=\"d\""));
	CHECK(string_is(&return_args[1], "\"") && string_is(&return_args[2], "a\"b\" c=\"d"));
	CHECK(!parse(&leave, "(1 <- 4) site=2 s=\"\" n=5\" t=\"\" u=\"\""));
	CHECK(string_is(&return_args[1], "\" n=5") && string_is(&return_args[2], "\" u=\""));
	CHECK(!parse(&leave, "(1 <- 4) site=2 s=\"a\nb\" t=\"\n\""));
	CHECK(string_is(&return_args[1], "a\nb") && string_is(&return_args[2], "\n"));
	CHECK(!parse(&entry, "(0x40) site=1 di=1 b=1 arr={1,2} comm=\"\" n=1\" n=2"));
	CHECK(string_is(&entry_args[4], "\" n=1") && number(&entry_args[5], 0) == 2);
}

static void test_two_ways(void)
{
	CHECK(parse(&leave, "(1 <- 4) site=2 s=\"a\" t=\"b\" t=\"c\"") == UP_TEXTARGS_BROKEN);
	CHECK(parse(&leave, "(1 <- 4) site=2 s=\"(fault)\" t=(fault)\" t=(fault)") ==
		      UP_TEXTARGS_BROKEN ||
	      string_is(&return_args[1], "(fault)\" t=(fault)"));
}

/* A text that ends inside a string is read when more comes. */
static void test_open(void)
{
	CHECK(parse(&leave, "(1 <- 4) site=2 s=\"a") == UP_TEXTARGS_OPEN);
	CHECK(parse(&leave, "(1 <- 4) site=2 s=\"a\" t=\"") == UP_TEXTARGS_OPEN);
	CHECK(parse(&leave, "(1 <- 4) site=2 s=\"a\" u=\"") == UP_TEXTARGS_OPEN);
	CHECK(parse(&leave, "(1 <- 4) site=2 s=") == UP_TEXTARGS_BROKEN);
	CHECK(parse(&entry, "(0x40) site=1 di=1 b=1 arr={1,2} comm=\"x") == UP_TEXTARGS_OPEN);
	CHECK(parse(&entry, "(0x40) site=1 di=1 b=1 arr={1,2} comm=\"123456789012345") ==
	      UP_TEXTARGS_OPEN);
	/* No name of a thread is so long. */
	CHECK(parse(&entry, "(0x40) site=1 di=1 b=1 arr={1,2} comm=\"1234567890123456") ==
	      UP_TEXTARGS_BROKEN);
	CHECK(parse(&entry, "(0x40) site=1 di=1 b=1 arr={1,2} comm=\"1234567890123456\" n=1") ==
	      UP_TEXTARGS_BROKEN);
}

/* A string that fills the record, and one that does not fit any more. */
static void test_long(void)
{
	size_t room = UP_TEXTARGS_RECORD - leave.fixed_size - 2, len;
	char *text = malloc(UP_TEXTARGS_RECORD + 100);

	for (size_t extra = 0; extra < 2; extra++) {
		len = (size_t)sprintf(text, "(1 <- 4) site=2 s=\"");
		memset(text + len, 'a', room + extra);
		strcpy(text + len + room + extra, "\" t=\"\"");
		enum up_textargs_result got = parse(&leave, text);
		CHECK(extra ? got != UP_TEXTARGS_OK : got == UP_TEXTARGS_OK);
	}
	CHECK(rec_len == UP_TEXTARGS_RECORD);
	free(text);
}

/* Nothing but quotes: it ends soon, whatever that means. */
static void test_bounded(void)
{
	size_t size = 100000;
	char *text = malloc(size + 100);
	size_t len = (size_t)sprintf(text, "(1 <- 4) site=2 s=\"");

	for (size_t i = 0; i < size / 7; i++)
		len += (size_t)sprintf(text + len, "\" t=\"a ");
	CHECK(parse(&leave, text) != UP_TEXTARGS_OK);
	free(text);
}

/* Random values, printed as the kernel does, are what is read. */
static void test_round_trip(void)
{
	static const char letters[] = "ab\" =tn(){}\n";
	struct dice d = { .state = 0x5eed };
	char text[512], comm[16];

	for (int i = 0; i < 20000; i++) {
		uint32_t site = (uint32_t)roll_number(&d), a0 = (uint32_t)roll_number(&d);
		int64_t di = (int64_t)roll_number(&d);
		int8_t b = (int8_t)roll_number(&d);
		uint16_t n = (uint16_t)roll_number(&d);
		size_t len = roll(&d, 16);

		for (size_t k = 0; k < len; k++)
			comm[k] = letters[roll(&d, sizeof(letters) - 1)];
		comm[len] = 0;
		sprintf(text, "(0x40) site=%u di=%lld b=%d arr={0x%x,0x0} comm=\"%s\" n=%u", site,
			(long long)di, b, a0, comm, n);
		if (parse(&entry, text) != UP_TEXTARGS_OK) {
			CHECK(!"is read");
			continue;
		}
		CHECK(number(&entry_args[0], 0) == site && number(&entry_args[3], 0) == a0 &&
		      (int64_t)number(&entry_args[1], 0) == di &&
		      (int64_t)number(&entry_args[2], 0) == b && number(&entry_args[5], 0) == n &&
		      string_is(&entry_args[4], comm));
	}
}

static enum up_textargs_result born(const char *s, struct up_texttask *t)
{
	return up_texttask_born(s, strlen(s), t);
}

static enum up_textargs_result died(const char *s, struct up_texttask *t)
{
	return up_texttask_died(s, strlen(s), t);
}

static void test_tasks(void)
{
	struct up_texttask t;

	CHECK(!born("pid=12 comm=my prog clone_flags=3d0f00 oom_score_adj=-1000", &t));
	CHECK(t.tid == 12 && t.flags == 0x3d0f00);
	CHECK(!born("pid=12 comm= clone_flags=11 clone_flags=1200011 oom_score_adj=0", &t));
	CHECK(t.flags == 0x1200011);
	CHECK(born("pid=12 comm=a", &t) == UP_TEXTARGS_OPEN);
	CHECK(!born("pid=12 comm=a\nb clone_flags=0 oom_score_adj=0", &t));
	CHECK(born("pid=12 comm=a clone_flags=0 oom_score_adj=0x", &t) == UP_TEXTARGS_OPEN);
	CHECK(born("comm=a pid=12", &t) == UP_TEXTARGS_OTHER);
	CHECK(!died("comm=my prog pid=13 prio=120", &t));
	CHECK(t.tid == 13);
	CHECK(!died("comm= pid=1 pid=13 prio=-2 group_dead=true", &t));
	CHECK(t.tid == 13);
	CHECK(died("comm=a pid=13", &t) == UP_TEXTARGS_OPEN);
	CHECK(died("comm=a pid=13 prio=1 group_dead=maybe", &t) == UP_TEXTARGS_OPEN);
	CHECK(died("pid=13 prio=1", &t) == UP_TEXTARGS_OTHER);
}

int main(void)
{
	test_numbers();
	test_wrong_numbers();
	test_retold();
	test_others();
	test_strings();
	test_two_ways();
	test_open();
	test_long();
	test_bounded();
	test_round_trip();
	test_tasks();
	return unit_report("textargs");
}
