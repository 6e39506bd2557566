/*
 * What a recording says of itself, written and read back: a program compiled from it alone has the
 * plan that it had where the programs were. Damaged texts are refused or read, and never more.
 */
#include "runtime/recording.h"

#include <errno.h>
#include <stdlib.h>

#include "lang/builtin.h"
#include "tests/unit/fake_resolver.h"
#include "tests/unit/ringbuild.h"
#include "tests/unit/unit.h"

static const char *const scripts[] = {
	"probe app:alpha < print(arg0, arg1:string) > on return < h = hist(elapsed) by func >\n",
	"probe app:alpha*, app:twin_a, app:helper, libc:*alloc < count() by func >\n",
	"probe libc:memcpy@GLIBC_2.14 < count() > probe libc:memcpy as both < count() >\n",
	"probe app:beta+0x10, app:0x1044, app:@0xe80 when (arg0 > 3) < print(@(arg0 + 8):u32) >\n",
	"probe app32:alpha < print(arg0) > on return < print(retval) >\n",
	"probe app:/^twin/, \"my app\":main, \"/opt/my app\":main < print(comm) >\n",
	"probe names:geo::Shape::area, names:\"geo::Shape::grow\", names:geo::* < count() >\n",
	"probe names:\"geo::Shape::area(int)\", names:fun, names:mycrate::cache::* < count() >\n",
	"probe app:\"a-b+4\", app:\"ns::f(int)\" < n = n + 1 > on every 1s < show(n); clear(n) >\n",
	"probe arm:start < print(reg.x0) >\n",
	"probe cet:push, cet:moves, cet:plain < print(arg1) > on return < count() >\n",
	"probe cet:again < print(arg7) > probe cet:again on return < print(elapsed) "
	">\n",
	"probe cxx:throws, cxx:jumps, cxx:l* < print(ip) > on return < print(retval, ip, depth) "
	">\n",
	"probe gopher:main.* < print(arg0) > on return < count() >\n",
};

static struct up_plan *compile(const struct up_resolver *r, const char *name, const char *text,
			       size_t len)
{
	struct up_env env = { .resolver = r,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };
	struct up_compile *c = up_compile_new();
	struct up_buf b = { 0 };
	struct up_plan *plan = up_compile(c, &env, name, text, len);

	up_diag_text(&c->diags, &b, false);
	if (!plan)
		fprintf(stderr, "%s", b.s ? b.s : "");
	up_buf_fini(&b);
	up_compile_free(c);
	return plan;
}

static void describe(struct up_buf *b, const char *script, const struct up_plan *plan)
{
	static const char odd[] = "a \"text\"\n\\ with \x01 \xff and \0 in it";
	struct up_rec_module m = { .name = "m", .text = { "/m.up", "m.up", odd, sizeof(odd) - 1 } };
	struct up_param_arg p = { "min", "4KiB" }, bare = { "all", NULL };

	up_recording_put_begin(b);
	up_recording_put_script(b, "name of \"it\"", NULL, script, strlen(script));
	up_recording_put_arg(b, "");
	up_recording_put_arg(b, "two words");
	up_recording_put_param(b, &p);
	up_recording_put_param(b, &bare);
	up_recording_put_module(b, &m);
	m.from = "/m.up";
	m.is_path = true;
	up_recording_put_module(b, &m);
	up_recording_put_unsafe(b);
	up_recording_put_process(b, 77);
	up_recording_put_tracer(b, 78);
	up_recording_put_clock(b, 1234567890123456789, 4711);
	up_recording_put_places(b, plan, &fake_resolver);
	up_recording_put_plan(b, plan);
	up_recording_put_kernel(b, "alpha", 0, UP_NONE);
	up_recording_put_kernel(b, "alpha_s0", 0, 0);
	up_recording_put_thread(b, 100, 99);
	up_recording_put_end(b, 5000, 12);
}

/* Why a probe stands where it does is not recorded. */
static void cut_places(char *dump)
{
	char *places = dump ? strstr(dump, "\n# places\n") : NULL;
	char *end = places ? strstr(places + 1, "\n# ") : NULL;

	if (end)
		memmove(places, end, strlen(end) + 1);
}

static void check_same(const struct up_plan *a, const struct up_plan *b)
{
	struct up_buf x = { 0 }, y = { 0 };

	up_plan_dump(a, "uptick", true, &x);
	up_plan_dump(b, "uptick", true, &y);
	cut_places(x.s);
	cut_places(y.s);
	CHECK(x.s && y.s && !strcmp(x.s, y.s));
	if (x.s && y.s && strcmp(x.s, y.s))
		fprintf(stderr, "--- was\n%s--- is\n%s", x.s, y.s);
	up_buf_fini(&x);
	up_buf_fini(&y);
}

static void check_rest(const struct up_recording *r)
{
	struct up_modules m = up_recording_modules(r);
	struct up_module_text text;
	struct up_why why = { 0 };

	CHECK(!strcmp(r->name, "name of \"it\"") && !r->id);
	CHECK(r->args.nr == 2 && !*r->args.v[0] && !strcmp(r->args.v[1], "two words"));
	CHECK(r->params.nr == 2 && !strcmp(r->params.v[0].value, "4KiB") && !r->params.v[1].value);
	CHECK(r->unsafe && r->process == 77 && r->tracers.nr == 1 && r->tracers.v[0] == 78);
	CHECK(r->wall_offset == 1234567890123456789 && r->begun_at == 4711);
	CHECK(r->ended_at == 5000 && r->lost == 12);
	CHECK(r->threads.nr == 1 && r->threads.v[0].tid == 100 && r->threads.v[0].pid == 99);
	CHECK(r->kernel.nr == 2 && r->kernel.v[0].site == UP_NONE && !r->kernel.v[1].site);
	CHECK(m.load(m.ctx, NULL, "m", false, &text, &why));
	CHECK(text.len == 31 && text.text[24] == 0 && !memcmp(text.text + 16, "\x01 \xff", 3));
	CHECK(m.load(m.ctx, "/m.up", "m", true, &text, &why) && !why.msg.len);
	CHECK(!m.load(m.ctx, "/m.up", "m", false, &text, &why) && why.msg.len);
	up_why_fini(&why);
}

static void test_round_trip(const char *script)
{
	struct up_plan *was = compile(&fake_resolver, "it", script, strlen(script));
	struct up_buf b = { 0 }, why = { 0 };
	struct up_recording r;

	CHECK(was);
	if (!was)
		return;
	describe(&b, script, was);
	CHECK(!b.failed && !up_recording_read(&r, b.s, b.len, &why));
	if (why.len)
		fprintf(stderr, "%s\n", why.s);
	check_rest(&r);
	CHECK(r.sites.nr == was->nr_sites && r.events.nr == was->nr_events);
	struct up_plan *is = compile(up_recorded_iface(r.places), "it", r.text, r.text_len);
	CHECK(is);
	if (is)
		check_same(was, is);
	up_plan_free(is);
	up_plan_free(was);
	up_recording_fini(&r);
	up_buf_fini(&b);
	up_buf_fini(&why);
}

/* Cut anywhere, and with bytes changed. */
static void test_damaged(void)
{
	struct up_plan *plan = compile(&fake_resolver, "it", scripts[0], strlen(scripts[0]));
	struct up_buf b = { 0 };
	uint64_t seed = 3;

	describe(&b, scripts[0], plan);
	char *copy = malloc(b.len);
	for (size_t i = 0; i < 4 * b.len; i++) {
		size_t len = i < b.len ? i : b.len;
		struct up_buf why = { 0 };
		struct up_recording r;

		memcpy(copy, b.s, b.len);
		if (i >= b.len)
			copy[ring_random(&seed) % b.len] = (char)ring_random(&seed);
		int err = up_recording_read(&r, copy, len, &why);
		CHECK(err == 0 || (err == -EPROTO && why.len));
		up_recording_fini(&r);
		up_buf_fini(&why);
	}
	free(copy);
	up_plan_free(plan);
	up_buf_fini(&b);
}

static void check_refused(const char *text, const char *why_not)
{
	struct up_buf why = { 0 };
	struct up_recording r;

	CHECK(up_recording_read(&r, text, strlen(text), &why) == -EPROTO);
	CHECK(why.s && strstr(why.s, why_not));
	if (why.s && !strstr(why.s, why_not))
		fprintf(stderr, "%s\n", why.s);
	up_recording_fini(&r);
	up_buf_fini(&why);
}

static void test_refused(void)
{
	check_refused("", "none has the script");
	check_refused("uptick 1\n", "none has the script");
	check_refused("uptick 2\n", "line 1 of its description says that a later version");
	check_refused("script \"a\" - \"b\"\n", "line 1 of its description stands where it cannot");
	check_refused("uptick 1\nuptick 1\n", "line 2 of its description stands where");
	check_refused("uptick 1\nshout 1\n", "line 2 of its description begins with a word");
	check_refused("uptick 1 2\n", "has more than belongs to it");
	check_refused("uptick 18446744073709551616\n", "too large");
	check_refused("uptick 1\nscript \"a\" - \"b\n", "without an end");
	check_refused("uptick 1\nscript \"a\\q\" - \"b\"\n", "a bad escape");
	check_refused("uptick 1\nscript \"a\\0\" - \"b\"\n", "a NUL byte");
	check_refused("uptick 1\nscript \"a\"\n", "ends too soon");
	check_refused("uptick 1\nplace 0 1 1 0\n", "no line before it describes");
	check_refused("uptick 1\nsite 0 \"/a\" 1 \"f\" 0 -\n", "no line before it describes");
	check_refused("uptick 1\nentry 0 1 1\n", "no line before it describes");
	check_refused("uptick 1\nobject \"a\" \"/a\" 1 0 0 0\nexit 0 1 1 3\n",
		      "a number that cannot be");
	check_refused("uptick 1\nevent 3\n", "a number that cannot be");
	check_refused("uptick 1\nthread 99999999 1\n", "a number that cannot be");
	check_refused("uptick 1\nobject \"a\" \"/a\" x 0\n", "no number where one is needed");
}

/* What was not recorded is not there; names that are near are offered. */
static void test_missing(void)
{
	struct up_plan *plan = compile(&fake_resolver, "it", scripts[0], strlen(scripts[0]));
	struct up_buf b = { 0 }, why_not = { 0 };
	struct up_recording r;
	struct up_why why = { 0 };
	uint64_t off;

	describe(&b, scripts[0], plan);
	CHECK(!up_recording_read(&r, b.s, b.len, &why_not));
	const struct up_resolver *res = up_recorded_iface(r.places);
	CHECK(!res->open(res->ctx, "other", &why) && strstr(why.msg.s, "no hits in other") &&
	      strstr(why.hint.s, "app"));
	up_why_fini(&why);
	why = (struct up_why){ 0 };
	const struct up_object *o = res->open(res->ctx, "/usr/bin/app", &why);
	CHECK(o && o == res->open(res->ctx, "app", &why));
	CHECK(res->to_offset(res->ctx, o, 0x1040, &off) == UP_PLACE_CODE && off == 0xe40);
	CHECK(res->to_addr(res->ctx, o, 0xe40, &off) == UP_PLACE_CODE && off == 0x1040);
	CHECK(res->to_offset(res->ctx, o, 0x1044, &off) == UP_PLACE_NOWHERE);
	CHECK(res->can_probe(res->ctx, o, 0x1040, &why) && !why.msg.len);
	CHECK(!res->can_probe(res->ctx, o, 0x1080, &why) && why.msg.len);
	up_why_fini(&why);
	up_recording_fini(&r);
	up_plan_free(plan);
	up_buf_fini(&b);
	up_buf_fini(&why_not);
}

/* Where nothing is known, everything named is there, each at a place of its own. */
static void test_loose(void)
{
	static const char text[] =
		"probe gone:f, /opt/x:f, gone:g+4, gone:\"a::b(int)\" < count() >";
	struct up_recorded *r = up_recorded_new_loose(UP_M_X86_64);
	struct up_plan *plan = compile(up_recorded_iface(r), "it", text, strlen(text));

	CHECK(plan && plan->nr_sites == 4);
	for (uint32_t i = 0; plan && i < plan->nr_sites; i++)
		for (uint32_t k = 0; k < i; k++)
			CHECK(plan->sites[i].addr != plan->sites[k].addr);
	CHECK(plan && !strcmp(plan->sites[2].func, "g") && plan->sites[2].func_off == 4);
	up_plan_free(plan);
	const struct up_resolver *res = up_recorded_iface(r);
	const struct up_query glob = { UP_QUERY_GLOB, "f*", NULL };
	struct up_why why = { 0 };
	const struct up_object *o = res->open(res->ctx, "gone", &why);
	CHECK(res->find(res->ctx, o, &glob, NULL, NULL, &why) < 0 && why.msg.len && why.hint.len);
	up_why_fini(&why);
	up_recorded_free(r);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		test_round_trip(scripts[i]);
	test_damaged();
	test_refused();
	test_missing();
	test_loose();
	return unit_report("recording");
}
