/* A plan that takes the place of another: numbers keep their meaning, and what gathers goes on. */
#include "lang/plan_succeed.h"

#include <stdlib.h>

#include "lang/up.h"
#include "lang/verify.h"
#include "tests/unit/fake_resolver.h"
#include "tests/unit/unit.h"

extern const struct up_agg_row *const up_agg_rows[];

static struct up_compile *compiles[64];
static size_t nr_compiles;

/* Compiles a session's program, a declaration a part; ends with NULL. */
static struct up_plan *compile(const char *const *texts)
{
	struct up_env env = { .resolver = &fake_resolver,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES,
			      .is_session = true };
	struct up_compile *c = compiles[nr_compiles++] = up_compile_new();
	struct up_part parts[16];
	struct up_buf b = { 0 };
	size_t nr = 0;

	for (; texts[nr]; nr++)
		parts[nr] = (struct up_part){ "part", texts[nr], strlen(texts[nr]), 0 };
	struct up_plan *p = up_compile_parts(c, &env, parts, nr);
	CHECK(p);
	if (!p) {
		up_diag_text(&c->diags, &b, false);
		fprintf(stderr, "%s", b.s);
		exit(1);
	}
	return p;
}

#define COMPILE(...) compile((const char *const[]){ __VA_ARGS__, NULL })

/* Part k of the new program is part from[k] of the old one; one probe or block each. */
static struct up_succession succeed(struct up_plan *p, const struct up_plan *old,
				    const uint32_t *from)
{
	static uint32_t probes[16], blocks[16];
	struct up_succession s = { .probes = probes, .blocks = blocks };
	struct up_buf why = { 0 };

	for (uint32_t i = 0; i < p->nr_probes; i++) {
		probes[i] = UP_NONE;
		for (uint32_t k = 0; k < old->nr_probes; k++)
			if (from[p->probes[i].part] != UP_NONE &&
			    old->probes[k].part == from[p->probes[i].part])
				probes[i] = k;
	}
	for (uint32_t i = 0; i < p->nr_blocks; i++) {
		blocks[i] = UP_NONE;
		for (uint32_t k = 0; k < old->nr_blocks; k++)
			if (old->blocks[k].part == from[p->blocks[i].part])
				blocks[i] = k;
	}
	CHECK(!up_plan_succeed(p, old, &s));
	CHECK(up_plan_verify(p, &why));
	if (why.len)
		fprintf(stderr, "%s\n", why.s);
	up_buf_fini(&why);
	return s;
}

static bool has_site(const struct up_plan *p, uint32_t site, const char *func, uint32_t event)
{
	return site < p->nr_sites && !strcmp(p->sites[site].func, func) &&
	       p->sites[site].event == event;
}

/* Each event of its sites, and each site in its event's list. */
static void check_lists(const struct up_plan *p)
{
	for (uint32_t e = 0; e < p->nr_events; e++)
		for (uint32_t k = 0; k < p->events[e].nr_sites; k++) {
			CHECK(p->events[e].sites[k] < p->nr_sites);
			CHECK(p->sites[p->events[e].sites[k]].event == e);
		}
}

static void check_adding(void)
{
	struct up_plan *a = COMPILE("probe app:alpha < n = count() >");
	struct up_plan *b =
		COMPILE("probe app:beta < print(arg0) >", "probe app:alpha < n = count() >");
	struct up_succession s = succeed(b, a, (const uint32_t[]){ UP_NONE, 0 });

	CHECK(s.first_event == 1 && s.first_site == 1 && !s.is_gone[0]);
	CHECK(b->nr_sites == 2 && has_site(b, 0, "alpha", 0) && has_site(b, 1, "beta", 1));
	CHECK(!strcmp(b->events[0].name, "alpha") && !strcmp(b->events[1].name, "beta"));
	CHECK(b->progs[b->sites[0].prog].probe == 0 && b->progs[b->sites[1].prog].probe == 1);
	CHECK(b->nr_aggs == 1 && s.aggs[0] == 0 && s.keeps_calls[0]);
	check_lists(b);
	up_plan_free(a);
	up_plan_free(b);
}

/* Where two probes share a place, all is defined last first; what is defined already stays. */
static void check_sharing(void)
{
	struct up_plan *a = COMPILE("probe app:alpha, app:beta < n = count() >");
	struct up_plan *b = COMPILE("probe app:alpha, app:beta < n = count() >",
				    "probe app:beta < print(arg0) >");
	struct up_succession s = succeed(b, a, (const uint32_t[]){ 0, UP_NONE });

	CHECK(!s.is_gone[0] && s.first_event == 1 && b->nr_events == 2 && b->nr_sites == 3);
	CHECK(has_site(b, 0, "alpha", 0) && has_site(b, 1, "beta", 0) && has_site(b, 2, "beta", 1));
	check_lists(b);
	up_plan_free(a);

	struct up_plan *c = COMPILE("probe app:alpha, app:beta < n = count() >");
	s = succeed(c, b, (const uint32_t[]){ 0 });
	CHECK(!s.is_gone[0] && s.is_gone[1] && c->nr_events == 2 && c->nr_sites == 3);
	CHECK(has_site(c, 0, "alpha", 0) && has_site(c, 1, "beta", 0));
	check_lists(c);
	up_plan_free(b);
	up_plan_free(c);
}

/* What is gone keeps its numbers, and comes back under others. */
static void check_removing(void)
{
	struct up_plan *a = COMPILE("probe app:alpha < count() >", "probe app:beta < count() >");
	struct up_plan *b = COMPILE("probe app:beta < count() >");
	struct up_succession s = succeed(b, a, (const uint32_t[]){ 1 });

	CHECK(s.is_gone[0] && !s.is_gone[1] && s.first_event == 2 && b->nr_events == 2);
	CHECK(!b->events[0].nr_sites && b->events[1].nr_sites == 1 && b->nr_sites == 2);
	CHECK(has_site(b, 0, "alpha", 0) && has_site(b, 1, "beta", 1));
	CHECK(b->progs[b->sites[0].prog].nr_code == 1 && b->nr_probes == 2);
	CHECK(s.aggs[0] == 1 && !s.keeps_calls[0] && s.keeps_calls[1]);
	up_plan_free(a);

	struct up_plan *c = COMPILE("probe app:beta < count() >", "probe app:alpha < count() >");
	s = succeed(c, b, (const uint32_t[]){ 0, UP_NONE });
	CHECK(!s.is_gone[0] && !s.is_gone[1] && s.first_event == 2 && c->nr_events == 3);
	CHECK(has_site(c, 0, "alpha", 0) && has_site(c, 1, "beta", 1) &&
	      has_site(c, 2, "alpha", 2));
	CHECK(!strcmp(c->events[2].name, "alpha_2") && c->nr_probes == 3);
	check_lists(c);
	up_plan_free(b);
	up_plan_free(c);
}

/* In a file that was written to, or another one, nothing is as it was. */
static void check_files(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct up_plan *a = COMPILE("probe app:alpha < count() >");
		struct up_plan *b = COMPILE("probe app:alpha < count() >");
		struct up_file_id id = { .dev = 1, .ino = 7, .size = 100, .written = 5 };

		a->sites[0].id = id;
		id.written += i == 1;
		id.size += i == 2;
		id.ino += i == 3;
		b->sites[0].id = id;
		struct up_succession s = succeed(b, a, (const uint32_t[]){ 0 });

		CHECK(s.is_gone[0] == (i > 0) && b->nr_sites == (i ? 2 : 1));
		CHECK(s.keeps_calls[0]);
		up_plan_free(a);
		up_plan_free(b);
	}
}

/* Other records, other places or another condition make another event. */
static void check_changes(void)
{
	static const char *const others[] = {
		"probe app:alpha < print(arg1) >",
		"probe app:alpha* < print(arg0) >",
		"probe app:alpha when (arg0 > 3) < print(arg0) >",
		"probe app:alpha on return < print(retval) >",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct up_plan *a = COMPILE("probe app:alpha < print(arg0) >");
		struct up_plan *b = COMPILE(others[i]);
		struct up_succession s = succeed(b, a, (const uint32_t[]){ 0 });

		CHECK(s.is_gone[0] && b->nr_events == 2 && b->events[1].nr_sites);
		check_lists(b);
		up_plan_free(a);
		up_plan_free(b);
	}
	struct up_plan *a = COMPILE("probe app:alpha < print(arg0) >");
	struct up_plan *b =
		COMPILE("probe app:alpha < x = arg0; y = arg0 + 1; print(comm, arg0) >");
	struct up_plan *c = COMPILE("probe app:alpha < x = arg0; print(comm, arg0) >");
	struct up_succession s = succeed(b, a, (const uint32_t[]){ 0 });
	CHECK(!s.is_gone[0] && b->nr_events == 1);
	s = succeed(c, b, (const uint32_t[]){ 0 });
	CHECK(c->nr_vars == 1 && !strcmp(b->vars[s.vars[0]].name, "x"));
	up_plan_free(a);
	up_plan_free(b);
	up_plan_free(c);
}

/* Calls that are open go on when the return finds in them what it looks for. */
static void check_calls(void)
{
	static const char probe[] = "probe app:alpha on return < print(arg0, v, elapsed) >";
	static const char other[] = "probe app:alpha on return < print(entry.arg0:string, v) >";
	struct up_plan *a = COMPILE(probe, "on start < v = 1 >");
	struct up_plan *b = COMPILE(probe, "on start < v = \"text\" >");
	struct up_plan *c = COMPILE(other, "on start < v = 1 >");
	struct up_succession s = succeed(b, a, (const uint32_t[]){ 0, 1 });

	CHECK(s.keeps_calls[0] && s.vars[0] == UP_NONE && s.blocks[0] == 0);
	up_plan_free(b);
	s = succeed(c, a, (const uint32_t[]){ 0, 1 });
	CHECK(!s.keeps_calls[0]);
	up_plan_free(a);
	up_plan_free(c);
}

static void check_gathering(void)
{
	struct up_plan *a = COMPILE("probe app:alpha < count(); count(); lhist(arg0, 0, 10, 1) >",
				    "probe app:beta < count(); q = sum(arg0) by comm >");
	struct up_plan *b = COMPILE("probe app:beta < count(); q = sum(arg0) by comm >",
				    "probe app:alpha < count(); count(); lhist(arg0, 0, 10, 1) >");
	struct up_succession s = succeed(b, a, (const uint32_t[]){ 1, 0 });

	CHECK(b->nr_aggs == 5 && s.aggs[0] == 3 && s.aggs[1] == 4);
	CHECK(s.aggs[2] == 0 && s.aggs[3] == 1 && s.aggs[4] == 2);
	up_plan_free(b);
	b = COMPILE("probe app:alpha < count(); lhist(arg0, 0, 20, 1) >",
		    "probe app:beta < q = sum(arg0) by comm, pid >");
	s = succeed(b, a, (const uint32_t[]){ 0, 1 });
	CHECK(s.aggs[0] == 0 && s.aggs[1] == UP_NONE && s.aggs[2] == UP_NONE);
	up_plan_free(a);
	up_plan_free(b);
}

int main(void)
{
	check_adding();
	check_sharing();
	check_removing();
	check_files();
	check_changes();
	check_calls();
	check_gathering();
	while (nr_compiles)
		up_compile_free(compiles[--nr_compiles]);
	return unit_report("plan_succeed");
}
