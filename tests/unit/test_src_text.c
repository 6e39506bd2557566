/* Text as a source: what the kernel prints comes back as the record that it was printed of. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

#include "tests/unit/trace_text.h"
#include "tests/unit/unit.h"

#define SCRIPT                                                                               \
	"probe app:alpha < print(arg0, arg1:string[20], @(arg2):u16[3], arg3:u8, comm,\n"    \
	"fetch(\"+0(%r9):string\"), pid) > on return < print(retval:s32, elapsed, comm) >\n" \
	"probe app:al*, libc:malloc < count() by comm >\n"

static struct text_world w;

/* Everything that was read, in one heap. */
struct got {
	struct up_buf bytes; /* time, cpu, pid, length and record of each */
	unsigned nr;
	struct up_out_totals sum;
	uint64_t nr_lines;
};

static void note(struct got *g, const struct up_event *ev, pid_t pid)
{
	up_buf_printf(&g->bytes, "%" PRIu64 " %u %d %u ", ev->ts, ev->cpu, (int)pid, ev->len);
	up_buf_add(&g->bytes, ev->payload, ev->len);
	g->nr++;
}

static int take_all(struct up_src_text *s, struct got *g)
{
	struct up_event ev;
	pid_t tid, pid;
	int r;

	do {
		r = up_src_text_fill(s, UINT64_MAX);
		while (up_src_text_next(s, UINT64_MAX, &ev, &tid, &pid))
			note(g, &ev, pid);
	} while (r > 0);
	return r;
}

/* Reads a text that comes in two pieces, the first of `cut` bytes. */
static struct got read_pieces(const char *text, size_t len, size_t cut)
{
	struct up_src_text s;
	struct got g = { 0 };
	int fds[2];

	CHECK(!pipe(fds) && text_open(&w, &s, fds[0]));
	CHECK(write(fds[1], text, cut) == (ssize_t)cut);
	if (cut < len) {
		CHECK(take_all(&s, &g) == -EAGAIN);
		CHECK(write(fds[1], text + cut, len - cut) == (ssize_t)(len - cut));
	}
	close(fds[1]);
	CHECK(take_all(&s, &g) == 0);
	up_src_text_totals(&s, &g.sum);
	g.sum.lost = s.lost;
	g.sum.lost_unknown = s.lost_unknown;
	g.nr_lines = s.nr_lines;
	up_src_text_close(&s);
	return g;
}

static struct got read_text(const char *text)
{
	return read_pieces(text, strlen(text), strlen(text));
}

/* What a record says, of the latest text that was read. */
static bool has(const struct got *g, unsigned nr, uint64_t unreadable, uint64_t others)
{
	return g->nr == nr && g->sum.unreadable == unreadable && g->sum.others == others;
}

static void done(struct got *g)
{
	up_buf_fini(&g->bytes);
	*g = (struct got){ 0 };
}

#define AT(comm) comm "-7       [001] d..2.     5.000000: "
#define BASH AT("            bash")

/* The arguments of an event, as `plan` names them, with the strings left open. */
static void make_entry(struct up_buf *b, const char *head, const char *comm, const char *string)
{
	const struct up_plan_event *pe = NULL;

	for (uint32_t i = 0; i < w.plan->nr_events; i++)
		if (!strcmp(w.plan->events[i].name, "alpha"))
			pe = &w.plan->events[i];
	up_buf_printf(b, "%salpha: (0x1040) site=%u", head, pe->sites[0]);
	for (uint32_t i = 0; i < pe->nr_args; i++) {
		const struct up_plan_arg *a = &pe->args[i];
		const char *bracket = strchr(a->type, '[');
		unsigned count = bracket ? (unsigned)strtoul(bracket + 1, NULL, 10) : 0;

		if (!a->size) {
			up_buf_printf(b, " %s=\"%s\"", a->name,
				      strcmp(a->fetch, "$comm") ? string : comm);
			continue;
		}
		up_buf_printf(b, " %s=%s0", a->name, count ? "{" : "");
		for (unsigned k = 1; k < count; k++)
			up_buf_puts(b, ",0");
		up_buf_puts(b, count ? "}" : "");
	}
	up_buf_putc(b, '\n');
}

/* Random records come back as they were, whatever is in their strings. */
static void test_round_trip(void)
{
	static const char *const letters[] = { "abc-.:[] ", "a\"=\n {}", "\x01\xff\x1b\n# " };
	struct dice d = { .state = 0x7e87 };
	struct up_buf text = { 0 }, want = { 0 };
	struct text_record *r = malloc(sizeof(*r));
	unsigned nr = 0;

	for (unsigned i = 0; i < 6000; i++) {
		const struct up_record_event *e = text_roll(&w, r, letters[i % 3], &d);

		up_buf_reset(&text);
		up_buf_reset(&want);
		/* Between lines that say where it begins and ends. */
		up_buf_puts(&text, BASH "other: x\n");
		text_print(&w, &text, e, r);
		up_buf_puts(&text, BASH "other: x\n");
		struct got g = read_pieces(text.s, text.len, text.len);
		up_buf_printf(&want, "%" PRIu64 " %u 0 %u ", r->time, r->cpu, r->len);
		up_buf_add(&want, r->rec, r->len);
		/* It is read as it was, or its lines are counted; it is not read as another. */
		if (g.nr) {
			CHECK(g.nr == 1 && g.bytes.len == want.len &&
			      !memcmp(g.bytes.s, want.s, want.len));
			CHECK(g.sum.unreadable == 0 || memchr(r->comm, '\n', 16));
		} else {
			CHECK(g.sum.unreadable > 0);
		}
		nr += g.nr;
		CHECK(g.sum.others == 2 && !g.sum.lost && !g.sum.misplaced);
		done(&g);
	}
	/* Hardly any is given up. */
	CHECK(nr > 5900);
	up_buf_fini(&text);
	up_buf_fini(&want);
	free(r);
}

/* Wherever the text is cut into pieces, the same comes out. */
static void test_pieces(void)
{
	struct up_buf text = { 0 };

	up_buf_puts(&text, "# tracer: nop\n\n");
	make_entry(&text, AT("             a\nb"), "a\nb", "x");
	make_entry(&text, BASH, "a\"\nb", "");
	up_buf_puts(&text, "CPU:1 [LOST 3 EVENTS]\n" BASH "sched_switch: x\ngarbage\n");
	make_entry(&text, BASH, "bash", "q\n\n\" comm=");
	struct got whole = read_pieces(text.s, text.len, text.len);
	CHECK(has(&whole, 3, 1, 1) && whole.sum.lost == 3 && !whole.sum.lost_unknown);
	CHECK(whole.sum.first_unreadable == 10);
	for (size_t cut = 0; cut < text.len; cut++) {
		struct got g = read_pieces(text.s, text.len, cut);

		CHECK(has(&g, whole.nr, whole.sum.unreadable, whole.sum.others));
		CHECK(g.bytes.len == whole.bytes.len &&
		      !memcmp(g.bytes.s, whole.bytes.s, g.bytes.len));
		CHECK(g.nr_lines == whole.nr_lines);
		done(&g);
	}
	done(&whole);
	up_buf_fini(&text);
}

static void test_lines(void)
{
	struct got g = read_text("");
	CHECK(has(&g, 0, 0, 0));
	g = read_text("x");
	CHECK(has(&g, 0, 1, 0) && g.sum.first_unreadable == 1);
	g = read_text("\n\n# x\nx\n");
	CHECK(has(&g, 0, 1, 0) && g.sum.first_unreadable == 4 && g.nr_lines == 4);
	g = read_text(BASH "alpha: (0x1) arg1=5\n" BASH "beta: (0x1) site=1\n" BASH "f <-g\n");
	CHECK(has(&g, 0, 0, 3));
	g = read_text(BASH "alpha: (0x1) site=0 di=5 [LINE TOO BIG]\n" BASH "alpha: (0x1) site=0");
	CHECK(has(&g, 0, 2, 0));
	g = read_text("CPU:0 [LOST EVENTS]\r\n" BASH "sched_switch: \r\n");
	CHECK(has(&g, 0, 0, 1) && g.sum.lost_unknown);
}

/* A line that is cut inside a string does not swallow the next event. */
static void test_cut(void)
{
	struct up_buf text = { 0 };

	make_entry(&text, BASH, "bash", "abc");
	text.len = (size_t)(strstr(text.s, "abc") + 2 - text.s);
	up_buf_putc(&text, '\n');
	make_entry(&text, BASH, "bash", "abc");
	struct got g = read_pieces(text.s, text.len, text.len);
	CHECK(has(&g, 1, 1, 0) && g.sum.first_unreadable == 1);
	done(&g);
	up_buf_fini(&text);
}

/* Events of one site each, and those of sites that came later, have suffixes. */
static void test_suffixes(void)
{
	const struct up_plan_event *pe = NULL;
	struct up_buf text = { 0 };

	for (uint32_t i = 0; i < w.plan->nr_events; i++)
		if (w.plan->events[i].nr_sites > 1)
			pe = &w.plan->events[i];
	up_buf_printf(&text, BASH "%s_s%u: (0x1040) comm=\"bash\"\n", pe->name, pe->sites[1]);
	up_buf_printf(&text, BASH "%s_g2: (0x1040) site=%u comm=\"bash\"\n", pe->name,
		      pe->sites[1]);
	struct got g = read_pieces(text.s, text.len, text.len);
	CHECK(has(&g, 2, 0, 0));
	done(&g);
	up_buf_reset(&text);
	up_buf_printf(&text,
		      BASH "%s_s: (0x1040) comm=\"bash\"\n" BASH "%s_s99: (0x1) comm=\"a\"\n",
		      pe->name, pe->name);
	g = read_pieces(text.s, text.len, text.len);
	CHECK(g.nr == 0 && g.sum.others == 1 && g.sum.misplaced == 1);
	done(&g);
	up_buf_fini(&text);
}

/* A line that does not end is given up, and what comes behind it is read. */
static void test_endless_line(void)
{
	struct up_buf text = { 0 };
	char path[] = "/tmp/uptick-text.XXXXXX";
	int fd = mkstemp(path);
	struct up_src_text s;
	struct got g = { 0 };

	unlink(path);
	up_buf_fill(&text, 'x', 3 << 20);
	up_buf_putc(&text, '\n');
	make_entry(&text, BASH, "bash", "abc");
	CHECK(write(fd, text.s, text.len) == (ssize_t)text.len && !lseek(fd, 0, SEEK_SET));
	CHECK(text_open(&w, &s, fd) && !take_all(&s, &g));
	CHECK(g.nr == 1 && s.nr_unreadable == 1);
	up_src_text_close(&s);
	done(&g);
	up_buf_fini(&text);
}

static void test_processes(void)
{
	struct up_buf text = { 0 };

	make_entry(&text, "            bash-7       (   1200) [001] d..2.     5.000000: ", "bash",
		   "");
	struct got g = read_pieces(text.s, text.len, text.len);
	CHECK(g.nr == 1 && !strncmp(g.bytes.s, "5000000000 1 1200 ", 18));
	done(&g);
	up_buf_fini(&text);
}

static void take_signal(int sig)
{
	(void)sig;
}

/* A signal while it is waited for the rest of an event: nothing that could block is read. */
static void test_interrupted(void)
{
	struct sigaction old, ring = { .sa_handler = take_signal };
	struct itimerval every = { .it_interval.tv_usec = 5000, .it_value.tv_usec = 5000 },
			 off = { 0 };
	struct up_buf text = { 0 };
	struct up_src_text s;
	int fds[2];

	make_entry(&text, BASH, "bash", "text");
	CHECK(!pipe(fds) && text_open(&w, &s, fds[0]));
	CHECK(write(fds[1], text.s, text.len) == (ssize_t)text.len);
	CHECK(up_src_text_fill(&s, UINT64_MAX) == 1 && s.is_held);
	sigaction(SIGALRM, &ring, &old);
	setitimer(ITIMER_REAL, &every, NULL);
	CHECK(up_src_text_fill(&s, UINT64_MAX) == -EAGAIN);
	setitimer(ITIMER_REAL, &off, NULL);
	sigaction(SIGALRM, &old, NULL);
	close(fds[1]);
	up_src_text_close(&s);
	up_buf_fini(&text);
}

int main(void)
{
	CHECK(text_world_init(&w, SCRIPT));
	if (!w.plan)
		return unit_report("src_text");
	test_lines();
	test_round_trip();
	test_pieces();
	test_cut();
	test_suffixes();
	test_endless_line();
	test_processes();
	test_interrupted();
	text_world_fini(&w);
	return unit_report("src_text");
}
