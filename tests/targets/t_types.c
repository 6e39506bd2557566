/*
 * Hands values of every type to probed functions, and prints them itself in the form that uptick
 * should show them in. `t_types sort` lets libc call back; `t_types edge` puts arrays against the
 * end of a mapping; `t_types exec` prints where it lies, then runs itself once more; `t_types
 * quick` ends at once.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probed.h"

struct flags {
	unsigned a : 3;
	unsigned b : 4;
	unsigned c : 13;
	unsigned d : 12;
};

struct wide {
	uint64_t low : 5;
	uint64_t mid : 40;
	uint64_t high : 19;
};

struct record {
	struct flags flags; /* 0 */
	uint32_t nr[8];     /* 4 */
	int16_t shorts[4];  /* 36 */
	uint8_t mac[6];     /* 44 */
	char name[14];      /* 50 */
	struct wide wide;   /* 64 */
	float f;            /* 72 */
	int8_t tiny;        /* 76 */
	char letter;        /* 77 */
	_Bool yes, no;      /* 78, 79 */
	double d;           /* 80 */
	double ds[3];       /* 88 */
	float fs[2];        /* 112 */
	int64_t big[2];     /* 120 */
	_Bool bools[4];     /* 136 */
	void *call;         /* 144 */
	uint8_t many[200];  /* 152 */
};

PROBED int take(const struct record *r)
{
	return r->nr[0] != 0;
}

PROBED int bits(unsigned v)
{
	return (int)v;
}

PROBED int number(double *d)
{
	return *d > 0;
}

PROBED int small(int8_t a, int16_t b, int32_t c, _Bool d)
{
	return a + b + c + d;
}

PROBED int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

PROBED void edge(const void *p)
{
	__asm__ volatile("" : : "r"(p));
}

static void fill(struct record *r)
{
	memset(r, 0, sizeof(*r));
	r->flags = (struct flags){ 5, 9, 8000, 3000 };
	r->wide = (struct wide){ 17, 0xfedcba9876, 300000 };
	for (unsigned i = 0; i < 8; i++)
		r->nr[i] = i * 1000000000u;
	for (int i = 0; i < 4; i++)
		r->shorts[i] = (int16_t)(i % 2 ? -i * 1000 : i);
	memcpy(r->mac, "\336\255\276\357\0\1", 6);
	memcpy(r->name, "fourteen bytes", 14);
	r->f = 0.1f;
	r->d = 1.0 / 3;
	r->ds[0] = 1e300;
	r->ds[1] = -0.5;
	r->ds[2] = INFINITY;
	r->fs[0] = 1.5f;
	r->fs[1] = FLT_MAX;
	r->tiny = -3;
	r->letter = 'q';
	r->yes = 1;
	r->big[0] = INT64_MIN;
	r->big[1] = INT64_MAX;
	r->bools[1] = r->bools[3] = 1;
	r->call = (void *)compare;
	for (unsigned i = 0; i < 200; i++)
		r->many[i] = (uint8_t)(i * 7);
}

static void show(const struct record *r)
{
	printf("bits %u %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->flags.a, r->flags.b,
	       r->flags.c, r->flags.d, (uint64_t)r->wide.low, (uint64_t)r->wide.mid,
	       (uint64_t)r->wide.high);
	printf("nr {");
	for (unsigned i = 0; i < 8; i++)
		printf("%s%u", i ? "," : "", r->nr[i]);
	printf("} {");
	for (unsigned i = 0; i < 4; i++)
		printf("%s%d", i ? "," : "", r->shorts[i]);
	printf("} {%" PRId64 ",%" PRId64 "}\nmac ", r->big[0], r->big[1]);
	for (unsigned i = 0; i < 6; i++)
		printf("%02x", r->mac[i]);
	printf(" %.14s\nfloat %g %.16g %.3f %e %a\nmany {", r->name, (double)r->f, r->d, r->d,
	       r->ds[0], r->ds[1]);
	for (unsigned i = 0; i < 200; i++)
		printf("%s%u", i ? "," : "", r->many[i]);
	printf("}\n");
}

static void at_edge(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p + 4096, 4096))
		exit(1);
	memset(p, 0, 4096);
	memcpy(p + 4096 - 13, "0123456789abc", 13);
	edge(p + 4096 - 13); /* 13 bytes are there */
	edge(p + 4096);      /* none is */
	edge(p);             /* all are, and they are zero */
	edge(p + 4096 - 6);  /* less than a word */
}

/* Stays until somebody who traces has looked at its memory. */
static void linger(void)
{
	usleep(700000);
}

int main(int argc, char **argv)
{
	int v[] = { 3, 1, 2 };
	struct record r;

	setlinebuf(stdout);
	fill(&r);
	if (argc > 1 && !strcmp(argv[1], "sort")) {
		qsort(v, 3, sizeof(v[0]), compare);
		linger();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "edge")) {
		at_edge();
		linger();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "exec")) {
		qsort(v, 3, sizeof(v[0]), compare);
		linger();
		execl("/proc/self/exe", argv[0], "sort", NULL);
		return 1;
	}
	if (argc > 1 && !strcmp(argv[1], "quick")) {
		take(&r);
		return 0;
	}
	show(&r);
	take(&r);
	bits(0xdeadbeef);
	for (int i = -1; i < 3; i++) {
		double d = i < 0 ? NAN : i * 0.75;

		number(&d);
	}
	small(-1, -300, -70000, 1);
	return 0;
}
