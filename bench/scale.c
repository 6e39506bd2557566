/*
 * How time and memory grow with what a run has many of: groups of an aggregation, probed places,
 * threads, CPUs. Pages are simulated. Each point is measured in a process of its own.
 *
 *     scale PROGRAM      PROGRAM has functions bench_0000 to bench_9999
 *
 * A line shows what one more costs: level bars are linear growth. Ends with 1 when growth is worse
 * than linear, beyond what caches explain: see STEEPEST.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/workload.h"

#define LEAST_EVENTS 400000 /* that a time is taken over */
#define MAX_POINTS 6
#define BAR 40 /* columns of the longest bar */
/*
 * The exponents of growth that still count as linear: of what there is once for each thing, over
 * the last step, where little of it is in the caches before or after; and of an event, which need
 * not grow at all, over the whole range.
 */
#define STEEPEST 1.25
#define STEEPEST_EVENT 0.5

/* What a point has shown, per thing that there are many of. */
struct point {
	double ns;    /* CPU time */
	double bytes; /* memory; 0: not measured */
};

static double resident(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		exit(2);
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* Opens a script on the program; `what` names its functions. */
static void open_script(struct work *w, const char *program, const char *what, const char *rest)
{
	struct up_buf script = { 0 };

	up_buf_printf(&script, "probe %s:%s %s", program, what, rest);
	work_open(w, script.s);
	up_buf_fini(&script);
}

/*
 * The time of an event, over as many runs as it takes; *bytes is what the first run added to the
 * memory. Each run begins with nothing gathered.
 */
static double measure_events(struct work *w, double *bytes)
{
	size_t runs = (LEAST_EVENTS + w->mix.nr_events - 1) / w->mix.nr_events;
	double before = resident(), took = work_run(w);

	*bytes = resident() - before;
	for (size_t i = 1; i < runs; i++) {
		work_restart(w);
		took += work_run(w);
	}
	return took / (double)(runs * w->mix.nr_events);
}

/* ---- dimensions ---- */

/* Groups: four hits for each, the first of which makes it. */
static struct point measure_keys(const char *program, unsigned n)
{
	const struct work_mix mix = { 4ul * n, n, 1, 1, 1, false };
	struct point p;
	struct work w;

	open_script(&w, program, "bench_0000", "< count() by arg0 >");
	work_fill(&w, &mix);
	p.ns = 4 * measure_events(&w, &p.bytes);
	p.bytes /= n;
	return p;
}

/* Places: finding and planning them. */
static struct point measure_sites(const char *program, unsigned n)
{
	const char *names = n == 10 ? "bench_000?" : n == 100 ? "bench_00??" : "bench_0???";
	double memory = resident(), start = work_now();
	struct work w;

	open_script(&w, program, n == 10000 ? "bench_*" : names, "< count() by func >");
	if (w.plan->nr_sites != n)
		exit(2);
	return (struct point){ (work_now() - start) / n, (resident() - memory) / n };
}

/* Places: a hit of one among many. */
static struct point measure_site_hits(const char *program, unsigned n)
{
	const char *names = n == 10 ? "bench_000?" : n == 100 ? "bench_00??" : "bench_0???";
	const struct work_mix mix = { LEAST_EVENTS, 1, 1, n, 1, false };
	double bytes;
	struct work w;

	open_script(&w, program, n == 10000 ? "bench_*" : names, "< count() by func >");
	work_fill(&w, &mix);
	return (struct point){ measure_events(&w, &bytes), 0 };
}

/* Threads: a call of each in turn, paired. */
static struct point measure_threads(const char *program, unsigned n)
{
	const struct work_mix mix = { 20ul * n, 1, n, 1, 1, true };
	struct point p;
	struct work w;

	open_script(&w, program, "bench_0000", "on return < hist(elapsed) >");
	work_fill(&w, &mix);
	p.ns = measure_events(&w, &p.bytes);
	p.bytes /= n;
	return p;
}

/* CPUs: each event comes from another, and they are put in order. */
static struct point measure_cpus(const char *program, unsigned n)
{
	const struct work_mix mix = { LEAST_EVENTS, 64, 2, 1, n, false };
	double bytes;
	struct work w;

	open_script(&w, program, "bench_0000", "< last(arg0) >");
	work_fill(&w, &mix);
	return (struct point){ measure_events(&w, &bytes), 0 };
}

static const struct dimension {
	const char *title;
	const char *of; /* what a line's costs are of */
	unsigned points[MAX_POINTS];
	struct point (*measure)(const char *program, unsigned n);
	bool is_event; /* is it the cost of an event? */
} dimensions[] = {
	{ "groups of an aggregation",
	  "a group with 4 hits",
	  { 1000, 10000, 100000, 1000000 },
	  measure_keys,
	  false },
	{ "probed places: finding and planning",
	  "a place",
	  { 10, 100, 1000, 10000 },
	  measure_sites,
	  false },
	{ "probed places: hits", "a hit", { 10, 100, 1000, 10000 }, measure_site_hits, true },
	{ "threads: entry and return paired",
	  "an event",
	  { 1, 10, 100, 1000, 10000 },
	  measure_threads,
	  true },
	{ "CPUs: events put in order", "an event", { 1, 4, 16, 64, 256 }, measure_cpus, true },
};

/* ---- showing ---- */

/* Measures in a child, so that each point begins with the same memory. */
static struct point measure(const struct dimension *d, const char *program, unsigned n)
{
	struct point p = { 0 };
	int fds[2], status = 1;

	if (pipe(fds))
		exit(2);
	pid_t pid = fork();
	if (!pid) {
		p = d->measure(program, n);
		_exit(write(fds[1], &p, sizeof(p)) != sizeof(p));
	}
	close(fds[1]);
	bool is_whole = pid > 0 && read(fds[0], &p, sizeof(p)) == sizeof(p);
	close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status || !is_whole) {
		fprintf(stderr, "scale: no figure for %u %s\n", n, d->title);
		exit(2);
	}
	return p;
}

static void show_bar(double value, double highest)
{
	for (int i = 0; i < BAR; i++)
		putchar(i < (int)(value / highest * BAR + 0.5) ? '#' : ' ');
}

/* By what power of n a cost grows that is `first` for the fewest of those judged, `last` for the
 * most. */
static double exponent(const struct dimension *d, unsigned from, unsigned to, double first,
		       double last)
{
	return !d->is_event + log(last / first) / log((double)d->points[to] / d->points[from]);
}

/* Says how it grows; false when too fast. */
static bool judge(const struct dimension *d, const char *what, double power)
{
	bool ok = power <= (d->is_event ? STEEPEST_EVENT : STEEPEST);

	printf("         %s grows as n^%.2f%s\n", what, power, ok ? "" : ": TOO FAST");
	return ok;
}

/* False when something grows too fast. */
static bool show(const struct dimension *d, const struct point *p, unsigned nr)
{
	double highest = 0;
	bool ok;

	for (unsigned i = 0; i < nr; i++)
		highest = p[i].ns > highest ? p[i].ns : highest;
	printf("\n%s; cost of %s\n", d->title, d->of);
	for (unsigned i = 0; i < nr; i++) {
		printf("%8u %9.1f ns |", d->points[i], p[i].ns);
		show_bar(p[i].ns, highest);
		if (p[i].bytes > 0)
			printf("| %6.0f bytes", p[i].bytes);
		putchar('\n');
	}
	unsigned from = d->is_event ? 0 : nr - 2, to = nr - 1;
	ok = judge(d, d->is_event ? "an event's time" : "the time",
		   exponent(d, from, to, p[from].ns, p[to].ns));
	if (!d->is_event && p[0].bytes > 0)
		ok &= judge(d, "memory", exponent(d, from, to, p[from].bytes, p[to].bytes));
	return ok;
}

int main(int argc, char **argv)
{
	bool ok = true;

	if (argc != 2) {
		fputs("usage: scale PROGRAM\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
		const struct dimension *d = &dimensions[i];
		struct point points[MAX_POINTS];
		unsigned nr = 0;

		for (; nr < MAX_POINTS && d->points[nr]; nr++)
			points[nr] = measure(d, argv[1], d->points[nr]);
		fflush(stdout);
		ok &= show(d, points, nr);
	}
	return !ok;
}
