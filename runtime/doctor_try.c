/* The end-to-end try. */
#include "runtime/doctor_try.h"

#include <errno.h>
#include <link.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/merge.h"
#include "runtime/src_raw.h"

#define CALLS 1000   /* of each function while the clock runs */
#define WAKE_MS 1000 /* a lone event must wake its reader within this */
#define POOL 4194304 /* bytes of page buffers */
#define EVENT "try"

/* Where the probes stand. Two that differ, so that no linker makes one of them. */
static __attribute__((noinline)) unsigned first_place(unsigned x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static __attribute__((noinline)) unsigned second_place(unsigned x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

struct
try {
	struct up_doctor *d;
	struct up_keeper *keeper;
	char dir[UP_TRACEFS_PATH_MAX]; /* of the instance, absolute */
	char event[64];                /* "SESSION/try" */
	bool has_second;               /* is the second place in the event? */
	uint16_t id;                   /* of its records */
	unsigned subbuf_size, commit_size;
	struct up_src_raw src;
	struct up_merge merge;
	unsigned hits[2]; /* records read, of the first and of the second place */
	double us;        /* a hit, measured */
};

/* ---- definitions ---- */

struct place {
	uint64_t addr;   /* of the function in memory */
	uint64_t offset; /* in the program's file; 0: not found */
};

/* The program itself is the first object. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *p = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_LOAD && p->addr >= start && p->addr - start < h->p_filesz)
			p->offset = p->addr - start + h->p_offset;
	}
	return 1;
}

uint64_t up_doctor_offset(uint64_t addr)
{
	struct place p = { .addr = addr };

	dl_iterate_phdr(find_offset, &p);
	return p.offset;
}

static int define(struct try *t, unsigned (*function)(unsigned), unsigned site,
		  struct up_status *st)
{
	uint64_t offset = up_doctor_offset((uintptr_t)function);
	char line[256];

	if (!offset)
		return up_status_set(st, -ENOENT, NULL, "cannot find this program's own code");
	/* Two values of four bytes: which place, and which one again, so that it is seen whole. */
	int len = snprintf(line, sizeof(line),
			   "p:%s /proc/%d/exe:0x%llx site=\\%u:u32 check=\\%u:u32\n", t->event,
			   (int)getpid(), (unsigned long long)offset, site, site + 100);
	return up_keeper_define(t->keeper, line, (size_t)len, st);
}

static int read_number(struct try *t, const char *path, unsigned long *out, struct up_status *st)
{
	struct up_buf b = { 0 };
	int err = up_keeper_read(t->keeper, path, &b, st);

	*out = b.s ? strtoul(b.s, NULL, 10) : 0;
	up_buf_fini(&b);
	return err;
}

/* What a reader must know of the buffers and of the event. */
static int learn(struct try *t, struct up_status *st)
{
	char path[UP_TRACEFS_PATH_MAX];
	struct up_buf b = { 0 };
	unsigned long number;
	size_t page;
	int err = up_keeper_read(t->keeper, "events/header_page", &b, st);

	if (!err && up_ringpage_layout(b.s, b.len, &t->commit_size, &page))
		err = up_status_set(st, -EPROTO, NULL,
				    "cannot understand the kernel's ring buffers");
	up_buf_fini(&b);
	snprintf(path, sizeof(path), "events/%s/id", t->event);
	if (!err)
		err = read_number(t, path, &number, st);
	if (err)
		return err;
	t->id = (uint16_t)number;
	snprintf(path, sizeof(path), "instances/%s/buffer_subbuf_size_kb",
		 up_keeper_session(t->keeper));
	t->subbuf_size = (unsigned)sysconf(_SC_PAGESIZE);
	if (!read_number(t, path, &number, NULL) && number)
		t->subbuf_size = (unsigned)number * 1024;
	return 0;
}

static int define_both(struct try *t, struct up_status *st)
{
	struct up_status second = { 0 };
	int err = define(t, first_place, 0, st);

	if (err)
		return err;
	t->has_second = define(t, second_place, 1, &second) == 0;
	if (t->has_second)
		up_doctor_add(t->d, "many sites", UP_VERDICT_OK, "one event can have many sites");
	else
		up_doctor_add(t->d, "many sites", UP_VERDICT_WARN,
			      "this kernel wants an event for each site (before 5.4): a probe on "
			      "hundreds "
			      "of functions takes seconds to remove");
	return learn(t, st);
}

/* ---- reading ---- */

static void look_at(struct try *t, const struct up_event *ev)
{
	const unsigned char *rec = ev->payload;
	uint32_t site, check;
	int32_t tid;
	uint16_t id;

	if (ev->len < 24)
		return;
	memcpy(&id, rec, sizeof(id));
	memcpy(&tid, rec + 4, sizeof(tid));
	memcpy(&site, rec + 16, sizeof(site));
	memcpy(&check, rec + 20, sizeof(check));
	if (id == t->id && tid == gettid() && site < 2 && check == site + 100)
		t->hits[site]++;
}

static int drain(struct try *t, struct up_status *st)
{
	struct up_event ev;
	int pages;

	do {
		pages = up_src_raw_drain(&t->src);
		while (up_merge_next(&t->merge, UINT64_MAX, &ev))
			look_at(t, &ev);
	} while (pages > 0);
	return pages < 0 ? up_status_set(st, pages, t->src.failed, "cannot read the ring buffer")
			 : 0;
}

static void say_wake(struct try *t)
{
	struct pollfd p = { t->src.epfd, POLLIN, 0 };
	uint64_t start = up_clock_ns(CLOCK_MONOTONIC);

	first_place(0);
	if (poll(&p, 1, WAKE_MS) > 0)
		up_doctor_add(t->d, "wake-up", UP_VERDICT_OK,
			      "a lone event wakes its reader, here within %.1f ms",
			      (double)(up_clock_ns(CLOCK_MONOTONIC) - start) / 1e6);
	else
		up_doctor_add(t->d, "wake-up", UP_VERDICT_WARN,
			      "a lone event did not wake its reader within %.1f s: results come "
			      "late, none "
			      "is lost",
			      WAKE_MS / 1e3);
}

static int run(struct try *t, struct up_status *st)
{
	int err = up_keeper_enable(t->keeper, t->event, st);

	if (err)
		return err;
	say_wake(t);
	uint64_t start = up_clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < CALLS; i++)
		first_place(i);
	t->us = (double)(up_clock_ns(CLOCK_MONOTONIC) - start) / CALLS / 1e3;
	for (unsigned i = 0; t->has_second && i < CALLS; i++)
		second_place(i);
	err = up_keeper_disable(t->keeper, t->event, st);
	return err ? err : drain(t, st);
}

static int open_reader(struct try *t, struct up_status *st)
{
	int err = up_src_raw_open(&t->src, t->dir, t->subbuf_size, t->commit_size, POOL);

	if (err)
		return up_status_set(st, err, t->src.failed, "cannot open the ring buffer");
	err = up_merge_init(&t->merge, &t->src.pages, t->commit_size, true);
	return err ? up_status_set(st, err, NULL, "cannot set up the reader") : 0;
}

static int read_back(struct try *t, struct up_status *st)
{
	int err = open_reader(t, st);

	if (!err)
		err = run(t, st);
	if (t->merge.heap)
		up_merge_fini(&t->merge);
	up_src_raw_close(&t->src);
	return err;
}

/* ---- the verdict ---- */

static void judge(struct try *t)
{
	unsigned want = 1 + CALLS + (t->has_second ? CALLS : 0);
	unsigned got = t->hits[0] + t->hits[1];

	t->d->works = got == want;
	if (!t->d->works) {
		up_doctor_add(t->d, "probes", UP_VERDICT_MISSING,
			      "probes on this program's own code were hit %u times, and %u records "
			      "came back",
			      want, got);
		return;
	}
	t->d->us_per_hit = t->us;
	up_doctor_add(t->d, "probes", UP_VERDICT_OK,
		      "probes on this program's own code: %u hits, %u records, %.1f us a hit", want,
		      got, t->us);
}

int up_doctor_try(struct up_doctor *d, const struct up_tracefs *fs, struct up_keeper *k)
{
	struct try t = { .d = d, .keeper = k };
	struct up_status st = { 0 };
	struct up_buf why = { 0 };

	snprintf(t.dir, sizeof(t.dir), "%s/instances/%s", fs->root, up_keeper_session(k));
	snprintf(t.event, sizeof(t.event), "%s/" EVENT, up_keeper_session(k));
	int err = define_both(&t, &st);
	if (!err)
		err = read_back(&t, &st);
	if (!err) {
		judge(&t);
	} else {
		up_status_render(&st, &why);
		up_doctor_add(d, "probes", UP_VERDICT_MISSING,
			      "a probe on this program's own code failed: %s", why.s ? why.s : "");
	}
	up_buf_fini(&why);
	return err;
}
