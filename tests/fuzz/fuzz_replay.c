/*
 * Files that are given for recordings: read, their program compiled, its handlers run on what there
 * is of events. The first byte says whether the rest is a whole file, or changes to a good one:
 * three bytes of place, one of content.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/engine.h"
#include "runtime/replay.h"
#include "tests/unit/recbuild.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char script[] =
	"probe app:alpha < print(@(arg0 + 8):x8[16], arg1:string, arg2, comm) >\n"
	"on return < h = hist(elapsed) by func; print(retval, depth, entry.arg1:string) >\n"
	"probe app:beta as b when (arg0 > 3) < n = n + arg0:u16; t[pid, tid] = arg1 >\n"
	"on every 1ms < show(t); clear(t) > on end < print(n) >\n";

static void make_good(struct up_buf *file)
{
	struct recbuild b;

	rec_begin(&b, script);
	for (uint32_t i = 0; i < 40; i++)
		for (uint32_t site = 0; site < b.plan->nr_sites; site++)
			rec_hit(&b, 2000 + 100 * i + 10 * site, site, 0x7ffff000 + 8 * (site == 1));
	rec_end(&b, file);
}

/* Runs the recorded program, as `uptick replay FILE` does. */
static void run(struct up_replay *r, struct up_plan *plan)
{
	struct up_engine_opts eo = { .is_offline = true, .only = r->says.process };
	struct up_out out = { .form = up_out_form_find("json"), .fd = -1, .columns = 80 };
	struct up_status st = { 0 };
	struct up_engine e;
	struct up_event ev;

	if (!up_engine_init(&e, plan, &r->bind.records, &eo, &out, &st)) {
		up_engine_set_gaps(&e, &r->merge.gaps);
		up_engine_begin(&e, r->says.begun_at);
		while (up_replay_next(r, &ev, &st) == 1) {
			up_engine_event(&e, &ev);
			up_engine_take(&e, &r->merge, UINT64_MAX);
			up_buf_reset(&out.buf);
		}
		up_engine_end(&e, r->says.ended_at);
		up_vm_show(&e.vm);
	}
	up_engine_fini(&e);
	up_buf_fini(&out.buf);
}

static void replay(const char *path)
{
	struct up_status st = { 0 };
	struct up_compile *c = NULL;
	struct up_plan *plan = NULL;
	struct up_replay r;

	if (!up_replay_open(&r, path, &st))
		plan = rec_compile(up_recorded_iface(r.says.places), r.says.text, false, &c);
	if (plan && !up_replay_bind(&r, plan, &c->diags, &st) && !up_replay_start(&r, &st))
		run(&r, plan);
	up_plan_free(plan);
	if (c)
		up_compile_free(c);
	up_replay_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct up_buf good;
	struct up_buf file = { 0 };
	char path[40];
	int fd;

	if (!good.len)
		make_good(&good);
	if (size < 1)
		return 0;
	if (data[0] & 1)
		up_buf_add(&file, data + 1, size - 1);
	else
		up_buf_add(&file, good.s, good.len);
	for (size_t i = 1; !(data[0] & 1) && i + 4 <= size; i += 4)
		file.s[(data[i] | data[i + 1] << 8 | data[i + 2] << 16) % (int)file.len] =
			(char)data[i + 3];
	fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || write(fd, file.s, file.len) != (ssize_t)file.len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	replay(path);
	close(fd);
	up_buf_fini(&file);
	return 0;
}
