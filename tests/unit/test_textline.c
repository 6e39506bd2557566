/* Lines of trace text, up to the event's own words. */
#include "runtime/textline.h"
#include "unit.h"

static struct up_textline line;

static enum up_textline_kind parse(const char *s)
{
	return up_textline_parse(s, strlen(s), &line);
}

static bool is(const char *s, size_t len, const char *want)
{
	return len == strlen(want) && (!len || !memcmp(s, want, len));
}

/* Is it an event of this thread, at this time, with this name and body? */
static bool event(const char *s, const char *comm, int tid, unsigned cpu, uint64_t time,
		  const char *name, const char *body)
{
	if (parse(s) != UP_TEXTLINE_EVENT)
		return false;
	bool comm_ok = comm ? line.comm && is(line.comm, line.comm_len, comm) : !line.comm;
	return comm_ok && line.tid == tid && line.cpu == cpu && line.time == time &&
	       is(line.name, line.name_len, name) && is(line.body, line.body_len, body);
}

static void test_usual(void)
{
	CHECK(event("            bash-1234    [003] d..2.  1234.567890: alpha: (0x40) a=1", "bash",
		    1234, 3, 1234567890000, "alpha", "(0x40) a=1"));
	CHECK(!line.pid);
	/* Kernels before 5.11 have narrower numbers and flags of four letters, or none. */
	CHECK(event("            bash-1234  [000] d..2    12.000001: alpha: (0x40)", "bash", 1234,
		    0, 12000001000, "alpha", "(0x40)"));
	CHECK(event("            bash-1234    [000]    12.000001: alpha: (0x40)", "bash", 1234, 0,
		    12000001000, "alpha", "(0x40)"));
	CHECK(event("           <...>-99999999 [127] DNHXff 99999.999999: a_b2: x", NULL, 99999999,
		    127, 99999999999000, "a_b2", "x"));
	CHECK(event("          <idle>-0       [001] dNh2.     0.000009: alpha: ", "<idle>", 0, 1,
		    9000, "alpha", ""));
}

static void test_process(void)
{
	CHECK(event("            bash-1234    (   1200) [000] ..... 1.000000: alpha: x", "bash",
		    1234, 0, 1000000000, "alpha", "x"));
	CHECK(line.pid == 1200);
	CHECK(event("            bash-1234    (-------) [000] ..... 1.000000: alpha: x", "bash",
		    1234, 0, 1000000000, "alpha", "x"));
	CHECK(!line.pid);
	CHECK(event("            bash-1234  ( 1200) [000] .... 1.000000: alpha: x", "bash", 1234, 0,
		    1000000000, "alpha", "x"));
	CHECK(line.pid == 1200);
}

/* Whatever a thread calls itself, the columns say where its name ends. */
static void test_names(void)
{
	CHECK(event("     a-1 [000] b-1234    [001] .....     2.000000: alpha: x", "a-1 [000] b",
		    1234, 1, 2000000000, "alpha", "x"));
	CHECK(event("         a b: c:-1234    [001] .....     2.000000: alpha: x", "a b: c:", 1234,
		    1, 2000000000, "alpha", "x"));
	CHECK(event("             a\nb-1234    [001] .....     2.000000: alpha: x", "a\nb", 1234, 1,
		    2000000000, "alpha", "x"));
	CHECK(event("    \x1b[2Jx\xff\x01-7 [0-1234    [001] .....     2.000000: alpha: x",
		    "\x1b[2Jx\xff\x01-7 [0", 1234, 1, 2000000000, "alpha", "x"));
	CHECK(event("             #!/-1234    [001] .....     2.000000: alpha: x", "#!/", 1234, 1,
		    2000000000, "alpha", "x"));
	CHECK(event(" 5.0: beta: (0x)-1234    [001] .....     2.000000: alpha: x",
		    "5.0: beta: (0x)", 1234, 1, 2000000000, "alpha", "x"));
	CHECK(event(" CPU:0 [LOST 1 E-1234    [001] .....     2.000000: alpha: x",
		    "CPU:0 [LOST 1 E", 1234, 1, 2000000000, "alpha", "x"));
}

static void test_trimmed(void)
{
	CHECK(event("bash-1234 [003] d..2. 1234.567890: alpha: x", "bash", 1234, 3, 1234567890000,
		    "alpha", "x"));
	CHECK(event("my prog-12 [000] ..... 1.000000: alpha: x", "my prog", 12, 0, 1000000000,
		    "alpha", "x"));
	/* Two ends are possible: neither is taken. */
	CHECK(parse("a-1 [000] 1.000000: b-2 [001] ..... 2.000000: alpha: x") ==
	      UP_TEXTLINE_UNKNOWN);
}

static void test_latency(void)
{
	CHECK(event("    bash-1234      0d..2.   12us+: alpha: (0x40)", "bash", 1234, 0, 12000,
		    "alpha", "(0x40)"));
	CHECK(event("verylong-1234    127d..2. 123456us : alpha: (0x40)", "verylong", 1234, 127,
		    123456000, "alpha", "(0x40)"));
	CHECK(event("    bash-1234      0d..2.   12us: alpha: (0x40)", "bash", 1234, 0, 12000,
		    "alpha", "(0x40)"));
	CHECK(event("    bash-1234      0d..2.   12: alpha: (0x40)", "bash", 1234, 0, 12, "alpha",
		    "(0x40)"));
	CHECK(event(
		"            bash    1234   0 0 00000000 00000000 [0000000c] 0.012ms (+0.001ms): "
		"alpha: (0x40)",
		"bash", 1234, 0, 12000, "alpha", "(0x40)"));
	CHECK(event("            bash    1234   0 0 00000000 00000000 [000000000000000c] 12 (+1): "
		    "alpha: (0x40)",
		    "bash", 1234, 0, 12, "alpha", "(0x40)"));
}

static void test_clocks(void)
{
	CHECK(event("            bash-1234    [000] .....       123456: alpha: x", "bash", 1234, 0,
		    123456, "alpha", "x"));
	CHECK(event("            bash-1234  [000] 12.123456789: alpha: x", "bash", 1234, 0,
		    12123456789, "alpha", "x"));
	CHECK(parse("            bash-1234  [000] 12.1234567890: alpha: x") == UP_TEXTLINE_UNKNOWN);
	CHECK(parse("            bash-1234  [000] 99999999999999999999: alpha: x") ==
	      UP_TEXTLINE_UNKNOWN);
	CHECK(parse("            bash-1234  [000] 99999999999999.000000: alpha: x") ==
	      UP_TEXTLINE_UNKNOWN);
}

static void test_other_programs(void)
{
	CHECK(event("            bash-1234  [000] d..2. 12.345678: alpha:                (40) a=1",
		    "bash", 1234, 0, 12345678000, "alpha", "(40) a=1"));
	CHECK(event("            bash  1234 [000] 12.345678: up_1:alpha: (40) a=1", "bash", 1234, 0,
		    12345678000, "alpha", "(40) a=1"));
	CHECK(event("          my app    1234 [000] 12.345678: sched:sched_process_exit: comm=x",
		    "my app", 1234, 0, 12345678000, "sched_process_exit", "comm=x"));
}

static void test_tracers(void)
{
	CHECK(event("            bash-1234    [000] .....    12.345678: do_sys_open <-x64_sys",
		    "bash", 1234, 0, 12345678000, "", "do_sys_open <-x64_sys"));
	CHECK(event("            bash-1234    [000] .....    12.345678: <stack trace>", "bash",
		    1234, 0, 12345678000, "", "<stack trace>"));
	CHECK(event("            bash-1234    [000] .....    12.345678: a:(x", "bash", 1234, 0,
		    12345678000, "", "a:(x"));
	CHECK(event("            bash-1234    [000] .....    12.345678: ", "bash", 1234, 0,
		    12345678000, "", ""));
}

static void test_notes(void)
{
	CHECK(parse("") == UP_TEXTLINE_NOTE);
	CHECK(parse("   ") == UP_TEXTLINE_NOTE);
	CHECK(parse("# tracer: nop") == UP_TEXTLINE_NOTE);
	CHECK(parse("##### CPU 1 buffer started ####") == UP_TEXTLINE_NOTE);
	CHECK(parse(" => do_sys_open") == UP_TEXTLINE_NOTE);
	CHECK(parse("cpus=2") == UP_TEXTLINE_NOTE);
	CHECK(parse("CPU 1 is empty") == UP_TEXTLINE_NOTE);
	CHECK(parse("CPU 1 is empty!") == UP_TEXTLINE_UNKNOWN);
	CHECK(parse("hello") == UP_TEXTLINE_UNKNOWN);
	CHECK(parse("            bash-1234    [000] .....") == UP_TEXTLINE_UNKNOWN);
	CHECK(parse("            bash-1234    [000") == UP_TEXTLINE_UNKNOWN);
}

static void test_lost(void)
{
	CHECK(parse("CPU:3 [LOST 12 EVENTS]") == UP_TEXTLINE_LOST);
	CHECK(line.cpu == 3 && line.lost == 12);
	CHECK(parse("CPU:0 [LOST EVENTS]") == UP_TEXTLINE_LOST);
	CHECK(line.cpu == 0 && line.lost == 0);
	CHECK(parse("CPU:1 [7 EVENTS DROPPED]") == UP_TEXTLINE_LOST);
	CHECK(line.cpu == 1 && line.lost == 7);
	CHECK(parse("CPU:1 [EVENTS DROPPED]") == UP_TEXTLINE_LOST);
	CHECK(parse("CPU:1 [LOST 7 EVENTS] x") == UP_TEXTLINE_UNKNOWN);
	CHECK(parse("CPU:1 [LOST 7 EVENTS DROPPED]") == UP_TEXTLINE_UNKNOWN);
	CHECK(parse("CPU: [LOST 7 EVENTS]") == UP_TEXTLINE_UNKNOWN);
}

/* No beginning of a line is read beyond its end, or taken for a whole one with another meaning. */
static void test_cut(void)
{
	static const char whole[] =
		"            bash-1234    ( 1200) [003] d..2.  1234.567890: alpha: (0x40)";
	char copy[sizeof(whole)];

	for (size_t len = 0; len < sizeof(whole); len++) {
		char *exact = memcpy(copy + sizeof(whole) - len, whole, len);
		enum up_textline_kind kind = up_textline_parse(exact, len, &line);

		CHECK(kind != UP_TEXTLINE_LOST);
		CHECK(kind != UP_TEXTLINE_EVENT ||
		      (line.tid == 1234 && line.cpu == 3 && line.time == 1234567890000));
	}
}

int main(void)
{
	test_usual();
	test_process();
	test_names();
	test_trimmed();
	test_latency();
	test_clocks();
	test_other_programs();
	test_tracers();
	test_notes();
	test_lost();
	test_cut();
	return unit_report("textline");
}
