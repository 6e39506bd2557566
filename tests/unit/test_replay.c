/*
 * Programs on a recording that another program made: what they are given of its records, what they
 * are told that it lacks, and where hits go when several probes stand at one place.
 */
#include "runtime/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/engine.h"
#include "tests/unit/recbuild.h"
#include "tests/unit/unit.h"

static const char recorded[] =
	"probe app:alpha < print(@(arg0 + 8):x8[16], arg1:string) > on return < count() >\n"
	"probe app:beta when (arg0 > 3) < print(arg0:u16) >\n"
	"probe app:beta as all < count() >\n"
	"probe app:twin_a when (arg0 > 3) < count() >\n";

/* A recording as a file that has a name; the caller closes it. */
static int write_file(struct recbuild *b, char path[40])
{
	struct up_buf out = { 0 };
	int fd = memfd_create("recording", MFD_CLOEXEC);

	rec_end(b, &out);
	CHECK(!out.failed && write(fd, out.s, out.len) == (ssize_t)out.len);
	up_buf_fini(&out);
	snprintf(path, 40, "/proc/self/fd/%d", fd);
	return fd;
}

static int make_file(const char *script, char path[40])
{
	struct recbuild b;

	rec_begin(&b, script);
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t site = 0; site < b.plan->nr_sites; site++)
			if (b.plan->events[b.plan->sites[site].event].is_return == i % 2)
				rec_hit(&b, 2000 + 50 * i, site, 0x7ffff000 + 8 * (i % 2));
	return write_file(&b, path);
}

/* Runs a script on the recording; what it shows, or its diagnostics. */
static void replay(const char *path, const char *script, struct up_buf *shown)
{
	struct up_engine_opts eo = { .is_offline = true };
	struct up_out out = { .form = up_out_form_find("text"), .fd = -1, .columns = 80 };
	struct up_status st = { 0 };
	struct up_compile *c;
	struct up_engine e;
	struct up_event ev;
	struct up_replay r;

	CHECK(!up_replay_open(&r, path, &st));
	struct up_plan *plan = rec_compile(up_recorded_iface(r.says.places), script, false, &c);
	int err = plan ? up_replay_bind(&r, plan, &c->diags, &st) : -ENOENT;
	if (!err)
		err = up_replay_start(&r, &st);
	if (!err) {
		CHECK(!up_engine_init(&e, plan, &r.bind.records, &eo, &out, &st));
		up_engine_begin(&e, r.says.begun_at);
		while (up_replay_next(&r, &ev, &st) == 1) {
			up_engine_event(&e, &ev);
			up_engine_take(&e, &r.merge, UINT64_MAX);
		}
		up_engine_end(&e, r.says.ended_at);
		CHECK(!up_vm_show(&e.vm) && !e.corrupt);
		up_buf_add(shown, out.buf.s, out.buf.len);
		up_engine_fini(&e);
	}
	up_diag_text(&c->diags, shown, false);
	CHECK(!st.err);
	up_buf_fini(&out.buf);
	up_plan_free(plan);
	up_compile_free(c);
	up_replay_close(&r);
}

static void check_shows(const char *path, const char *script, const char *want)
{
	struct up_buf shown = { 0 };

	replay(path, script, &shown);
	CHECK(shown.s && strstr(shown.s, want));
	if (!shown.s || !strstr(shown.s, want))
		fprintf(stderr, "%s\ngot  %s\nwant %s\n", script, shown.s ? shown.s : "", want);
	up_buf_fini(&shown);
}

static void test_values(const char *path)
{
	/* The bytes of an argument say which one it is and where in it they stand. */
	check_shows(path, "probe app:alpha < print(@(arg0 + 8):x8[16]) >", "{0x1,0x2,");
	check_shows(path, "probe app:alpha < print(@(arg0 + 8):u8) >", "=1\n");
	check_shows(path, "probe app:alpha < print(@(arg0 + 8):x32) >", "=0x4030201\n");
	check_shows(path, "probe app:alpha < print(@(arg0 + 12):x16) >", "=0x605\n");
	check_shows(path, "probe app:alpha < print(@(arg0 + 16):x8[8]) >", "{0x9,0xa,");
	check_shows(path, "probe app:alpha < print(arg1:string) >", "arg1:string=\"!\\\"#$%&'()");
	check_shows(path, "probe app:alpha < print(arg1:string[9]) >", "=\"!\\\"#$%&'()\"...");
	check_shows(path, "probe app:alpha < print(comm, tid, pid) >",
		    "comm=\"text\" tid=4200 pid=(fault)\n");
	check_shows(path, "probe app:alpha < s = sum(sp) >", "s = 6442438656\n");
	check_shows(path, "probe app:alpha on return < e = sum(elapsed); c = count() by depth >",
		    "e = 150 ns\n");
	check_shows(path, "probe app:alpha < c = count() > probe app:alpha < d = count() by func >",
		    "c = 3\n");
	check_shows(path, "probe app:al* < c = count() by func >", "  alpha  3\n");
	/* Two records of each hit of `beta`: those of one recorded site are taken. */
	check_shows(path, "probe app:beta < c = count() >", "c = 3\n");
	check_shows(path, "probe app:beta when (arg0 > 3) < c = count() >", "c = 3\n");
	check_shows(path, "probe app:beta < c = sum(arg0:u16) >", "c = ");
}

static void test_missing(const char *path)
{
	check_shows(path, "probe app:alpha < print(reg.r12) >",
		    "error[not-recorded]: the recording lacks `reg.r12` of alpha: nothing in it "
		    "was fetched as %r12:x64");
	check_shows(path, "probe app:alpha < print(@(arg0 + 20):u64) >",
		    "hint: record it: uptick record -o FILE -e 'probe app:alpha < print(@(arg0 + "
		    "20):u64) >'");
	check_shows(path, "probe app:alpha < print(arg2:string) >", "lacks `arg2:string` of alpha");
	check_shows(path, "probe app:beta on return < count() >",
		    "error[not-recorded]: the recording has no returns of beta");
	check_shows(path, "probe app:main < count() >",
		    "error[symbol]: the recording has no hits of main in app");
	check_shows(path, "probe app:twin_b < count() >",
		    "warning[partly-recorded]: the recording has "
		    "only those hits of twin_b for which");
	/* The same condition was judged by the kernel: nothing is missing. */
	struct up_buf shown = { 0 };
	replay(path, "probe app:twin_a when (arg0 > 3) < c = count() >", &shown);
	CHECK(shown.s && strstr(shown.s, "c = 3\n") && !strstr(shown.s, "warning"));
	up_buf_fini(&shown);
}

/* Of each thing that is missing it is said once. */
static void test_said_once(const char *path)
{
	struct up_buf shown = { 0 };

	replay(path, "probe app:alpha, app:beta < a = sum(reg.r12); b = sum(reg.r12) >", &shown);
	const char *first = shown.s ? strstr(shown.s, "lacks") : NULL;
	CHECK(first && !strstr(first + 1, "lacks"));
	up_buf_fini(&shown);
}

/*
 * A file can say that records of one event look in two ways; what is read of one kind would lie
 * beyond the end of the other.
 */
static void test_two_layouts(void)
{
	static const char program[] = "probe app:alpha < print(arg1) >\n";
	struct up_status st = { 0 };
	struct up_buf more = { 0 };
	struct up_compile *c;
	struct recbuild b;
	struct up_replay r;
	char path[40];

	rec_begin(&b, program);
	rec_hit(&b, 2000, 0, 0x7ffff000);
	up_recording_put_kernel(&b.says, "far", 0, UP_NONE);
	up_buf_puts(&more, "name: far\nID: 900\nformat:\n");
	rec_put_field(&more, "unsigned long", "__probe_ip", 8, 8, false);
	rec_put_fields(&more, &b.plan->events[0], 60000);
	b.more = more.s;
	int fd = write_file(&b, path);
	CHECK(!up_replay_open(&r, path, &st));
	struct up_plan *plan = rec_compile(up_recorded_iface(r.says.places), program, false, &c);
	CHECK(plan && up_replay_bind(&r, plan, &c->diags, &st) == -EPROTO);
	up_plan_free(plan);
	up_compile_free(c);
	up_replay_close(&r);
	close(fd);
	up_buf_fini(&more);
}

/* Records can have any time. At the latest one a timed block has run for the last time. */
static void test_end_of_time(void)
{
	struct up_plan *plan =
		rec_compile(&fake_resolver, "on every 1s < print(1) >\n", false, NULL);
	struct up_out out = { .form = up_out_form_find("text"), .fd = -1, .columns = 80 };
	struct up_engine_opts eo = { .is_offline = true };
	struct up_records none = { 0 };
	struct up_status st = { 0 };
	struct up_engine e;

	CHECK(plan && !up_engine_init(&e, plan, &none, &eo, &out, &st));
	up_engine_begin(&e, UINT64_MAX - 1500000000);
	CHECK(up_engine_due(&e) == UINT64_MAX - 500000000);
	up_engine_timers(&e, UINT64_MAX);
	CHECK(!up_engine_due(&e));
	up_engine_fini(&e);
	up_buf_fini(&out.buf);
	up_plan_free(plan);
}

int main(void)
{
	char path[40];
	int fd = make_file(recorded, path);

	test_values(path);
	test_missing(path);
	test_said_once(path);
	test_two_layouts();
	test_end_of_time();
	close(fd);
	return unit_report("replay");
}
