/* Plans that gain places, and plans that must not because their handlers would read other things.
 */
#include "lang/plan_grow.h"

#include <errno.h>

#include "tests/unit/unit.h"

#define NR 8

/* A plan of two events, entry and return, and its parts. */
struct made {
	struct up_plan plan;
	struct up_plan_event events[2];
	struct up_plan_arg args[2];
	struct up_plan_site sites[NR];
	struct up_plan_prog progs[2];
	struct up_insn code[2];
	struct up_value consts[2];
};

static void add_site(struct made *m, const char *path, uint64_t ino, uint32_t event)
{
	m->sites[m->plan.nr_sites++] = (struct up_plan_site){ .path = path,
							      .offset = 0x10 * ino,
							      .object = "it",
							      .func = "f",
							      .probe = "it:f",
							      .event = event,
							      .prog = event,
							      .id = { .dev = 1, .ino = ino } };
}

static void make(struct made *m)
{
	*m = (struct made){ .plan = { .nr_events = 2, .nr_progs = 2, .nr_consts = 2 } };
	m->args[0] = (struct up_plan_arg){ .name = "a", .fetch = "%di", .type = "s64", .size = 8 };
	m->args[1] =
		(struct up_plan_arg){ .name = "a", .fetch = "$retval", .type = "s64", .size = 8 };
	m->consts[0] = (struct up_value){ .u = 42 };
	m->consts[1] = (struct up_value){ .p = "text", .len = 4 };
	for (uint32_t i = 0; i < 2; i++) {
		m->code[i] = (struct up_insn){ .op = 1, .a = (uint8_t)i };
		m->progs[i] =
			(struct up_plan_prog){ .is_return = i, .code = &m->code[i], .nr_code = 1 };
		m->events[i] = (struct up_plan_event){
			.name = "e", .is_return = i, .args = &m->args[i], .nr_args = 1
		};
	}
	m->plan.events = m->events;
	m->plan.sites = m->sites;
	m->plan.progs = m->progs;
	m->plan.consts = m->consts;
	m->plan.arena = up_arena_new();
}

static void make_both(struct made *old, struct made *new)
{
	make(old);
	make(new);
	for (uint32_t event = 0; event < 2; event++) {
		add_site(old, "/bin/it", 7, event);
		add_site(old, "/lib/it.so", 8, event);
		add_site(new, "/bin/it", 9, event);
		add_site(new, "/lib/it.so", 8, event);
	}
}

static void free_both(struct made *old, struct made *new)
{
	up_arena_free(old->plan.arena);
	up_arena_free(new->plan.arena);
}

static void check_growing(void)
{
	struct made old, new;
	char path[] = "/bin/it";

	make_both(&old, &new);
	new.sites[0].path = new.sites[2].path = path;
	CHECK(up_plan_grow(&old.plan, &new.plan) == 2);
	memset(path, 'x', sizeof(path) - 1); /* the new plan may go */
	CHECK(old.plan.nr_sites == 6 && old.plan.sites[0].id.ino == 7);
	for (uint32_t i = 4; i < 6; i++) {
		const struct up_plan_site *s = &old.plan.sites[i];

		CHECK(!strcmp(s->path, "/bin/it") && s->id.ino == 9 && s->offset == 0x90);
		CHECK(s->event == i - 4 && s->prog == i - 4);
	}
	/* All files are there already. */
	CHECK(up_plan_grow(&old.plan, &new.plan) == 0 && old.plan.nr_sites == 6);
	free_both(&old, &new);
}

/* The same events in the reverse order, because two probes stand at one place now. */
static void check_reversed(void)
{
	struct made old, new;
	struct up_plan_event e;

	make_both(&old, &new);
	e = new.events[0];
	new.events[0] = new.events[1];
	new.events[1] = e;
	for (uint32_t i = 0; i < new.plan.nr_sites; i++)
		new.sites[i].event = 1 - new.sites[i].event;
	CHECK(up_plan_grow(&old.plan, &new.plan) == 2);
	CHECK(old.plan.sites[4].event == 0 && old.plan.sites[5].event == 1);
	free_both(&old, &new);
}

static void refuse(struct made *old, struct made *new)
{
	CHECK(up_plan_grow(&old->plan, &new->plan) == -EINVAL && old->plan.nr_sites == 4);
	free_both(old, new);
}

static void check_other_fields(void)
{
	struct made old, new;

	make_both(&old, &new);
	new.progs[1].return_sp = 8;
	refuse(&old, &new);
	make_both(&old, &new);
	new.progs[1].pops = 8;
	refuse(&old, &new);
	make_both(&old, &new);
	new.plan.nr_vars = 1;
	refuse(&old, &new);
	make_both(&old, &new);
	new.plan.nr_blocks = 1;
	refuse(&old, &new);
}

static void check_others(void)
{
	struct made old, new;

	make_both(&old, &new);
	new.args[1].fetch = "+8(%di)";
	refuse(&old, &new);
	make_both(&old, &new);
	new.args[0].type = "u32";
	refuse(&old, &new);
	make_both(&old, &new);
	new.plan.nr_events = 1;
	refuse(&old, &new);
	make_both(&old, &new);
	new.code[1].a = 7;
	refuse(&old, &new);
	make_both(&old, &new);
	new.progs[0].calls = UP_CALLS_ENTER;
	refuse(&old, &new);
	make_both(&old, &new);
	new.consts[0].u = 43;
	refuse(&old, &new);
	make_both(&old, &new);
	new.consts[1].p = "tent";
	refuse(&old, &new);
	make_both(&old, &new);
	new.plan.nr_progs = 1;
	refuse(&old, &new);
}

int main(void)
{
	check_growing();
	check_reversed();
	check_other_fields();
	check_others();
	return unit_report("plan_grow");
}
