/*
 * A program that is traced and, being the one whose calls become slow, measures its tracer from
 * outside, the same way whoever the tracer is. It starts the tracer, calls its own functions, and
 * takes them for armed when they become slow: a probe's trap costs over a microsecond, a call
 * without one a few nanoseconds.
 *
 *     drive arm LIMIT OUT TOOL ARGS...     from start to armed, from SIGINT to the end
 *     drive idle LIMIT OUT TOOL ARGS...    memory and wake-ups while nothing is hit
 *     drive lone LIMIT OUT TOOL ARGS...    from a call to the line that tells of it
 *     drive rate LIMIT OUT TOOL ARGS...    what a call costs at full rate
 *     drive busy LIMIT OUT TOOL ARGS...    the same of two threads, for two seconds
 *     drive calls NUMBER                   only calls, for a tracer that runs already
 *
 * LIMIT: seconds to wait for the probes, and for the tracer's end. OUT: the tracer's output, and
 * OUT.err its errors. Results go to standard output, a NAME=VALUE a line, times in ns. What is
 * probed is bench_fn[], bench_nr functions of one argument each, linked to this file.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOW_NS 1000        /* a call that takes longer met a probe, or an interrupt */
#define SAMPLE 18           /* calls that must be slow in a row; interrupts come one at a time */
#define PAUSE_NS 300000     /* between two looks: the machine is not to be busy with us */
#define SETTLE_NS 200000000 /* after arming: what a tracer still does before it is at rest */
#define IDLE_NS 5000000000  /* how long it is watched at rest */
#define ASK_AGAIN_NS 5000000000 /* after asking it to end */
#define LONE_EVENTS 25          /* lone calls in a run */
#define LONE_NS 150000000       /* between two of them */
#define RATE_CALLS 50000        /* calls of a run at full rate */
#define RATE_KEYS 64            /* different arguments among them */
#define BUSY_THREADS 2          /* that call at the same time */
#define BUSY_NS 2000000000      /* for so long */
#define MAX_PROCESSES 64        /* of one tracer */

extern void (*const bench_fn[])(uint64_t);
extern const unsigned bench_nr;

struct tracer {
	pid_t pid;         /* its first process */
	uint64_t limit_ns; /* how long things may take */
	uint64_t started;  /* when it was */
	uint64_t armed;    /* when its probes were, 0 before */
	uint64_t calls;    /* made since then */
	int out;           /* where to read its output from, or -1 */
	bool has_ended;    /* by itself */
};

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static void sleep_until(uint64_t when)
{
	struct timespec t = { (time_t)(when / 1000000000), (long)(when % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void result(const char *name, uint64_t value)
{
	printf("%s=%llu\n", name, (unsigned long long)value);
}

/* --- the tracer
 * ----------------------------------------------------------------------------------- */

/* Opens a file in the place of a descriptor. */
static void redirect(int fd, const char *path, int flags)
{
	int file = open(path, flags, 0644);

	if (file < 0 || dup2(file, fd) < 0)
		die(path);
	close(file);
}

/* Starts it with its output in a file, or in a pipe of ours. */
static struct tracer start(uint64_t limit_ns, const char *out, char **argv, bool piped)
{
	struct tracer t = { .limit_ns = limit_ns, .out = -1 };
	char err[4096];
	int pipe_fds[2] = { -1, -1 };

	snprintf(err, sizeof(err), "%s.err", out);
	if (piped && pipe2(pipe_fds, O_CLOEXEC) < 0)
		die("pipe");
	t.started = now();
	t.pid = fork();
	if (t.pid < 0)
		die("fork");
	if (t.pid == 0) {
		/* It must not outlive us, who would have ended it. */
		prctl(PR_SET_PDEATHSIG, SIGINT);
		redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
		redirect(STDERR_FILENO, err, O_WRONLY | O_CREAT | O_TRUNC);
		if (!piped)
			redirect(STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC);
		else if (dup2(pipe_fds[1], STDOUT_FILENO) < 0)
			_exit(126);
		execv(argv[0], argv);
		_exit(127);
	}
	if (piped) {
		close(pipe_fds[1]);
		t.out = pipe_fds[0];
	}
	return t;
}

static bool has_ended(struct tracer *t)
{
	if (!t->has_ended)
		t->has_ended = waitpid(t->pid, NULL, WNOHANG) == t->pid;
	return t->has_ended;
}

/* Calls functions spread over all, the first and the last among them; are all of them slow? */
static bool sample(struct tracer *t)
{
	for (unsigned i = 0; i < SAMPLE; i++) {
		unsigned n = (unsigned)((uint64_t)i * (bench_nr - 1) / (SAMPLE - 1));
		uint64_t before = now();

		bench_fn[n](before);
		if (now() - before < SLOW_NS)
			return false;
	}
	t->calls += SAMPLE;
	return true;
}

/* Calls until all samples are slow: the tracer was armed when the first of these calls was made. */
static bool await_armed(struct tracer *t)
{
	for (unsigned n = 0;; n++) {
		uint64_t before = now();

		if (sample(t)) {
			t->armed = before;
			return true;
		}
		if (n % 64 == 0 && (has_ended(t) || before - t->started > t->limit_ns))
			return false;
		sleep_until(before + PAUSE_NS);
	}
}

static bool await_end(struct tracer *t, uint64_t limit_ns)
{
	uint64_t deadline = now() + limit_ns;

	while (!has_ended(t) && now() < deadline)
		sleep_until(now() + 200000);
	return t->has_ended;
}

/*
 * Ends it as a user would, with Ctrl-C. A tracer may miss the signal when it comes between two of
 * its waits (bpftrace 0.17 does), so it is asked again; how long it took is then not told.
 */
static void end(struct tracer *t)
{
	uint64_t asked = now();

	if (has_ended(t))
		return;
	for (uint64_t tries = 0, took; tries < t->limit_ns / ASK_AGAIN_NS; tries++) {
		kill(t->pid, SIGINT);
		if (!await_end(t, ASK_AGAIN_NS))
			continue;
		took = now() - asked;
		result(tries ? "asked_again" : "ended", tries ? tries : took);
		return;
	}
	kill(t->pid, SIGTERM);
	if (!await_end(t, t->limit_ns))
		fprintf(stderr, "drive: process %d does not end\n", (int)t->pid);
}

/* --- its processes
 * -------------------------------------------------------------------------------- */

struct processes {
	pid_t pid[MAX_PROCESSES]; /* the first, then its descendants */
	size_t nr;                /* how many */
};

static FILE *open_proc(pid_t pid, pid_t tid, const char *file)
{
	char path[96];

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return fopen(path, "re");
}

static pid_t parent_of(pid_t pid)
{
	FILE *f = open_proc(pid, 0, "stat");
	int parent = 0;

	if (f && fscanf(f, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	if (f)
		fclose(f);
	return (pid_t)parent;
}

static bool has_process(const struct processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->pid[i] == pid)
			return true;
	return false;
}

static bool add_children(struct processes *p)
{
	DIR *d = opendir("/proc");
	size_t before = p->nr;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;

		if (pid && p->nr < MAX_PROCESSES && !has_process(p, pid) &&
		    has_process(p, parent_of(pid)))
			p->pid[p->nr++] = pid;
	}
	if (d)
		closedir(d);
	return p->nr > before;
}

static struct processes processes_of(const struct tracer *t)
{
	struct processes p = { .pid = { t->pid }, .nr = 1 };

	while (add_children(&p))
		;
	return p;
}

/* The number behind a name at the start of a line. */
static uint64_t find_number(FILE *f, const char *name)
{
	unsigned long long value = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			value = strtoull(line + strlen(name), NULL, 10);
	if (f)
		fclose(f);
	return value;
}

/* Sum over all processes. */
static uint64_t sum_processes(const struct processes *p, const char *file, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->nr; i++)
		sum += find_number(open_proc(p->pid[i], 0, file), name);
	return sum;
}

/* Sum over all threads of all processes. An empty name: the file's first number. */
static uint64_t sum_threads(const struct processes *p, const char *file, const char *name)
{
	uint64_t sum = 0;
	char path[64];

	for (size_t i = 0; i < p->nr; i++) {
		snprintf(path, sizeof(path), "/proc/%d/task", (int)p->pid[i]);
		DIR *d = opendir(path);
		struct dirent *e;

		while (d && (e = readdir(d)))
			if (isdigit((unsigned char)e->d_name[0]))
				sum += find_number(open_proc(p->pid[i], (pid_t)atoi(e->d_name),
							     file),
						   name);
		if (d)
			closedir(d);
	}
	return sum;
}

/* How often threads went to sleep: as often as they were woken. */
static uint64_t wakeups(const struct processes *p)
{
	return sum_threads(p, "status", "voluntary_ctxt_switches:");
}

static uint64_t cpu_ns(const struct processes *p)
{
	return sum_threads(p, "schedstat", "");
}

/* --- measures
 * ------------------------------------------------------------------------------------- */

static void settle(void)
{
	sleep_until(now() + SETTLE_NS);
}

/* Goes on calling, as recording may begin later than arming; then each function once more. */
static void measure_arm(struct tracer *t)
{
	while (now() - t->armed < SETTLE_NS / 2)
		sample(t), sleep_until(now() + PAUSE_NS);
	for (unsigned i = 0; i < bench_nr; i++)
		bench_fn[i](now());
	t->calls += bench_nr;
	result("armed", t->armed - t->started);
	result("started", t->started);
	result("calls", t->calls);
	settle();
}

static void measure_idle(struct tracer *t)
{
	settle();
	sample(t); /* what the first hits need is part of it */
	settle();
	struct processes p = processes_of(t);

	result("rss_kb", sum_processes(&p, "status", "VmRSS:"));
	result("pss_kb", sum_processes(&p, "smaps_rollup", "Pss:"));
	uint64_t before = wakeups(&p), cpu = cpu_ns(&p);
	sleep_until(now() + IDLE_NS);
	result("wakeups", wakeups(&p) - before);
	result("idle_cpu", cpu_ns(&p) - cpu);
	result("processes", p.nr);
}

/* Waits until the output holds the number; 0 when it does not in time. */
static uint64_t await_number(struct tracer *t, uint64_t number)
{
	uint64_t deadline = now() + 2000000000;
	char text[32], got[65536];
	size_t len = 0;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	while (now() < deadline) {
		struct pollfd p = { t->out, POLLIN, 0 };

		if (poll(&p, 1, 1000) <= 0)
			continue;
		uint64_t at = now();
		ssize_t n = read(t->out, got + len, sizeof(got) - 1 - len);
		if (n <= 0)
			return 0;
		len += (size_t)n;
		got[len] = 0;
		if (strstr(got, text))
			return at;
		if (len > sizeof(got) / 2)
			len = 0;
	}
	return 0;
}

static void measure_lone(struct tracer *t)
{
	uint64_t missing = 0;

	settle();
	fcntl(t->out, F_SETFL, O_NONBLOCK);
	for (char rest[4096]; read(t->out, rest, sizeof(rest)) > 0;)
		; /* what came while arming */
	fcntl(t->out, F_SETFL, 0);
	for (unsigned i = 0; i < LONE_EVENTS; i++) {
		uint64_t called = now();

		bench_fn[0](called);
		uint64_t seen = await_number(t, called);
		if (seen)
			result("late", seen - called);
		else
			missing++;
		/* Not in step with anything: 20 ms, a tick, a second. */
		uint64_t next = called + LONE_NS + i * 1234567 % 23000000;
		sleep_until(next);
		result("sleeper", now() - next);
	}
	result("missing", missing);
}

static void measure_rate(struct tracer *t)
{
	settle();
	struct processes p = processes_of(t);
	uint64_t cpu = cpu_ns(&p), before = read_clock(CLOCK_THREAD_CPUTIME_ID);

	for (uint64_t i = 0; i < RATE_CALLS; i++)
		bench_fn[0](i % RATE_KEYS);
	uint64_t took = read_clock(CLOCK_THREAD_CPUTIME_ID) - before;
	settle();
	result("call", took / RATE_CALLS);
	result("cpu", (cpu_ns(&p) - cpu) / RATE_CALLS);
	result("calls", RATE_CALLS);
}

/* A thread that calls until a moment. */
struct caller {
	pthread_t thread;
	uint64_t until; /* when it ends */
	uint64_t calls; /* made */
	uint64_t cpu;   /* ns of CPU time for them */
};

static void *call_busily(void *arg)
{
	struct caller *c = arg;
	uint64_t before = read_clock(CLOCK_THREAD_CPUTIME_ID);

	do {
		for (uint64_t i = 0; i < RATE_KEYS; i++)
			bench_fn[0](i);
		c->calls += RATE_KEYS;
	} while (now() < c->until);
	c->cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - before;
	return NULL;
}

static void measure_busy(struct tracer *t)
{
	struct caller callers[BUSY_THREADS] = { 0 };
	uint64_t calls = 0, cpu = 0;

	settle();
	struct processes p = processes_of(t);
	uint64_t before = cpu_ns(&p), until = now() + BUSY_NS;

	for (unsigned i = 0; i < BUSY_THREADS; i++) {
		callers[i].until = until;
		if (pthread_create(&callers[i].thread, NULL, call_busily, &callers[i]))
			die("pthread_create");
	}
	for (unsigned i = 0; i < BUSY_THREADS; i++) {
		pthread_join(callers[i].thread, NULL);
		calls += callers[i].calls;
		cpu += callers[i].cpu;
	}
	settle();
	before = cpu_ns(&p) - before;
	result("call", cpu / calls);
	result("cpu", before / calls);
	result("share", before * 10000 / cpu);
	result("calls", calls);
}

static int call_only(uint64_t calls)
{
	for (uint64_t i = 0; i < calls; i++)
		bench_fn[0](i % RATE_KEYS);
	return 0;
}

static const struct mode {
	const char *name;             /* on the command line */
	void (*run)(struct tracer *); /* once armed */
	bool piped;                   /* does it read the output? */
} modes[] = {
	{ "arm", measure_arm, false },   { "idle", measure_idle, false },
	{ "lone", measure_lone, true },  { "rate", measure_rate, false },
	{ "busy", measure_busy, false },
};

int main(int argc, char **argv)
{
	const struct mode *m = modes, *last = modes + sizeof(modes) / sizeof(*modes);

	if (argc == 3 && !strcmp(argv[1], "calls"))
		return call_only(strtoull(argv[2], NULL, 10));
	if (argc < 5) {
		fprintf(stderr, "usage: drive MODE LIMIT OUT TOOL ARGS...\n");
		return 2;
	}
	while (m < last && strcmp(m->name, argv[1]))
		m++;
	if (m == last)
		return 2;
	struct tracer t =
		start(strtoull(argv[2], NULL, 10) * 1000000000, argv[3], argv + 4, m->piped);
	bool armed = await_armed(&t);
	if (armed)
		m->run(&t);
	end(&t);
	if (t.out >= 0)
		close(t.out);
	return !armed;
}
