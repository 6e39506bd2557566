/*
 * libFuzzer target: trace text of any bytes, read from a file in one piece; handlers run on what is
 * read as events. For half of the inputs the text is made of records first and then changed, so
 * that much of it is right. Every line is counted once, and every record is whole: it has memory of
 * just its size, so that what is read behind it is found.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "runtime/engine.h"
#include "tests/unit/trace_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const scripts[] = {
	"probe app:alpha < print(arg0, arg1:string[20], @(arg2):u16[3], arg3:u8, comm, pid,\n"
	"	fetch(\"+0(%r9):string\"), arg4:sym) >\n"
	"on return < print(retval:s32, elapsed, depth, comm) >\n",
	"probe app:al*, libc:malloc < count() by comm, arg0:string >\n"
	"on every 1s < print(time) >\n",
	"probe app:alpha when (arg0 > 3) < thread.n += 1; print(thread.n) > on return < "
	"sum(retval) "
	">\n",
};

static void require(bool ok)
{
	if (!ok)
		abort();
}

static size_t count_lines(const char *s, size_t len)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i++)
		nr += s[i] == '\n';
	return nr + (len && s[len - 1] != '\n');
}

static void make_text(const struct text_world *w, struct dice *d, struct up_buf *text)
{
	struct text_record *r = malloc(sizeof(*r));

	require(r);
	for (unsigned i = roll(d, 6); i < 8; i++) {
		const struct up_record_event *e = text_roll(w, r, "ab\"\n= -:[", d);

		text_print(w, text, e, r);
	}
	for (unsigned i = roll(d, 8); i; i--) {
		size_t at = roll64(d) % text->len;

		text->s[at] = (char)roll(d, 256);
	}
	free(r);
}

static void handle(struct up_engine *e, const struct up_event *ev)
{
	struct up_event own = *ev;
	unsigned char *rec = malloc(ev->len);

	require(rec && ev->len >= 8);
	memcpy(rec, ev->payload, ev->len);
	own.payload = rec;
	up_engine_event(e, &own);
	free(rec);
	e->vm.out->buf.len = 0;
}

static void run(const struct text_world *w, const char *text, size_t len)
{
	struct up_engine_opts eo = { .is_offline = true };
	struct up_out out = { .form = up_out_form_find("json"), .fd = -1 };
	struct up_engine e;
	struct up_src_text s;
	struct up_event ev;
	pid_t tid, pid;
	int fd = memfd_create("text", MFD_CLOEXEC), got;

	require(fd >= 0 && write(fd, text, len) == (ssize_t)len && !lseek(fd, 0, SEEK_SET));
	require(text_open(w, &s, fd));
	require(!up_engine_init(&e, w->plan, &w->records, &eo, &out, NULL));
	up_engine_set_gaps(&e, &s.gaps);
	up_engine_begin(&e, 1);
	do {
		got = up_src_text_fill(&s, UINT64_MAX);
		while (up_src_text_next(&s, UINT64_MAX, &ev, &tid, &pid))
			handle(&e, &ev);
	} while (got > 0);
	require(!got && s.nr_lines == count_lines(text, len) && s.nr_unreadable <= s.nr_lines);
	require(!e.corrupt);
	up_engine_fini(&e);
	up_src_text_close(&s);
	up_out_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct text_world worlds[sizeof(scripts) / sizeof(*scripts)];
	struct dice d = { .data = data, .len = size };
	struct up_buf text = { 0 };
	unsigned choice;

	if (size < 2)
		return 0;
	choice = roll(&d, 256);
	struct text_world *w = &worlds[choice / 2 % (sizeof(scripts) / sizeof(*scripts))];
	if (!w->plan)
		require(text_world_init(w, scripts[w - worlds]));
	if (choice & 1)
		make_text(w, &d, &text);
	up_buf_add(&text, d.data, d.len);
	require(!text.failed);
	run(w, text.s ? text.s : "", text.len);
	up_buf_fini(&text);
	return 0;
}
