/*
 * What taking one value into each aggregate costs, in nanoseconds, and what showing a million
 * groups costs, in milliseconds:
 *
 *     gcc -O2 -std=gnu11 -D_GNU_SOURCE -I. -o aggs bench/aggs.c build/release/libupruntime.a \
 *         build/release/libuplang.a -lelf -lz -lm
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/vm.h"

#define VALUES 1000000
#define GROUPS 1000000
#define ROUNDS 5 /* the best of them counts */

static struct up_value values[VALUES];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Sizes and times are spread like this: many small ones, few large ones. */
static void make_values(void)
{
	uint64_t state = 88172645463325252;

	for (size_t i = 0; i < VALUES; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		values[i] = (struct up_value){ .u = (state & 0xffff) << (state >> 60) };
	}
}

static struct up_plan_agg describe(const struct up_agg_row *row, struct up_type *type)
{
	static struct up_type types[4];
	static struct up_value consts[4];

	for (int i = 0; i < 4; i++)
		types[i] = UP_TYPE_S64;
	*type = UP_TYPE_S64;
	consts[1].u = 0;
	consts[2].u = 1000000;
	consts[3].u = 1000;
	return (struct up_plan_agg){ .name = row->name,
				     .is_named = true,
				     .row = row,
				     .nr_args = row->max_args,
				     .arg_types = types,
				     .consts = consts,
				     .key_types = type };
}

/* One group, the values one after the other. */
static double measure_add(const struct up_agg_row *row)
{
	struct up_type type;
	struct up_plan_agg a = describe(row, &type);
	struct up_agg_cx cx = up_plan_agg_cx(&a);
	double best = 1e18;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t cell[32] = { 0 };
		double start = now_ns();

		for (size_t i = 0; i < VALUES; i++)
			row->add(cell, &cx, &values[i]);
		double took = now_ns() - start;
		best = took < best ? took : best;
		if (row->fini)
			row->fini(cell, &cx);
	}
	return best / VALUES;
}

/* One hit for each of many groups, then all, or ten of them, are shown. */
static void measure_groups(const struct up_agg_row *row)
{
	const char *label = "arg0";
	struct up_type type;
	struct up_plan_agg a = describe(row, &type);
	struct up_plan plan = { .aggs = &a, .nr_aggs = 1 };
	struct up_out out = { .form = up_out_form_find("text"), .fd = -1 };
	struct up_vm vm = { .plan = &plan, .out = &out };

	a.nr_keys = 1;
	a.key_labels = &label;
	if (up_vm_aggs_init(&vm))
		exit(1);
	double start = now_ns();
	for (size_t i = 0; i < GROUPS; i++) {
		const struct up_value v[] = { { .u = i * 0x9e3779b97f4a7c15 }, values[i % VALUES] };

		up_vm_add(&vm, 0, v);
	}
	double added = now_ns();
	up_vm_show(&vm);
	double all = now_ns();
	a.top = 10;
	up_vm_show(&vm);
	double top = now_ns();
	printf("%-10s %8.1f %10.0f %10.0f\n", row->name, (added - start) / GROUPS,
	       (all - added) / 1e6, (top - all) / 1e6);
	up_vm_aggs_fini(&vm);
	up_key_fini(&vm.key);
	up_out_fini(&out);
}

int main(void)
{
	make_values();
	printf("%-10s %8s\n", "aggregate", "ns/add");
	for (const struct up_agg_row *const *r = up_agg_rows; *r; r++)
		printf("%-10s %8.1f\n", (*r)->name, measure_add(*r));
	printf("\n%d groups\n%-10s %8s %10s %10s\n", GROUPS, "aggregate", "ns/hit", "show ms",
	       "top 10 ms");
	for (const struct up_agg_row *const *r = up_agg_rows; *r; r++)
		measure_groups(*r);
	return 0;
}
