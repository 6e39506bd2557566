/*
 * Two ways, and why they are right.
 *
 * Visiting: a thread asks to be run on each CPU in turn. The scheduler of a CPU switches to it only
 * when nothing there has preemption off, and returns from interrupts before it does; so whatever
 * section had begun on that CPU before the visit is over when the visit begins. The switch is also
 * a full memory barrier on that CPU, so what the section wrote can be seen from then on. A CPU that
 * is offline runs no section. One that comes online later begins its sections later.
 *
 * The barrier: membarrier(MEMBARRIER_CMD_GLOBAL) is synchronize_rcu() in the kernel, which waits
 * for every such section by definition.
 *
 * Measured on 2 CPUs, milliseconds, median / worst of 100-200 calls:
 *                                             idle        2 busy loops   8 busy loops
 *   6.18            visiting, own thread      0.23 / 12   0.23 / 25      0.32 / 140
 *                   visiting, caller itself   0.13 / 4    0.12 / 10      20 / 471
 *                   barrier, expedited RCU    0.15 / 3    0.14 / 9       0.20 / 168
 *   6.1, emulated   visiting, caller itself   0.4 / 3     0.5 / 18
 *                   barrier, default RCU      15 / 27     15 / 34
 * (The first row was taken while other programs ran, too.) The barrier with RCU as it is by default
 * takes 4-16 ms on 6.18 and has no bound that suits an interactive tool; visiting costs 0.05-0.15
 * ms a CPU. So few CPUs are visited, and with more than some dozens the barrier comes first. The
 * visitor is a thread of its own, of the lowest real-time priority where that is allowed: it does
 * not wait for time slices on its way, and the caller only sleeps, which the scheduler treats well.
 */
#include "runtime/quiesce.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WALK_MAX_CPUS 48 /* with more CPUs online the barrier is tried first */
#define MAX_CPUS 8192    /* the largest kernel configuration */

/* Room for any CPU number. */
struct cpus {
	cpu_set_t part[MAX_CPUS / CPU_SETSIZE];
};

static bool has_cpu(const struct cpus *c, unsigned cpu)
{
	return CPU_ISSET_S(cpu, sizeof(*c), c->part);
}

static int set_affinity(const struct cpus *c)
{
	return sched_setaffinity(0, sizeof(*c), c->part) ? -errno : 0;
}

/* Adds the CPUs of a list such as "0-3,8"; false when it is no such list. */
static bool parse_list(const char *text, struct cpus *c)
{
	char *end;

	do {
		unsigned long from = strtoul(text, &end, 10), to = from;

		if (end == text)
			return false;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		for (; from <= to && from < MAX_CPUS; from++)
			CPU_SET_S(from, sizeof(*c), c->part);
		text = end + 1;
	} while (*end == ',');
	return *end == '\n' || !*end;
}

static int read_online(const struct up_quiesce *q, struct cpus *c)
{
	char text[4096];
	ssize_t len = pread(q->online_fd, text, sizeof(text) - 1, 0);

	if (len < 0)
		return -errno;
	text[len] = 0;
	memset(c, 0, sizeof(*c));
	return parse_list(text, c) ? 0 : -EPROTO;
}

/* Runs on a CPU for a moment, unless it is offline. */
static int visit(const struct up_quiesce *q, unsigned cpu)
{
	struct cpus one, online;
	int err;

	memset(&one, 0, sizeof(one));
	CPU_SET_S(cpu, sizeof(one), one.part);
	err = set_affinity(&one);
	if (!err && sched_getcpu() == (int)cpu)
		return 0;
	if (!read_online(q, &online) && !has_cpu(&online, cpu))
		return 0;
	return err ? err : -EBUSY;
}

/* Runs on every CPU of the set except the one it is on, which needs no proof. */
static int visit_all(const struct up_quiesce *q, const struct cpus *c)
{
	int here = sched_getcpu(), err = 0;

	for (unsigned cpu = 0; cpu < MAX_CPUS && !err; cpu++)
		if ((int)cpu != here && has_cpu(c, cpu))
			err = visit(q, cpu);
	return err;
}

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

/* The thread that visits, each time it is told to. Where it was last, it stays. */
static void *run_walker(void *arg)
{
	const struct sched_param lowest = { .sched_priority = 1 };
	struct up_quiesce *q = arg;
	struct cpus online;

	sched_setscheduler(0, SCHED_FIFO, &lowest); /* without it, it only takes longer */
	for (;;) {
		wait_for(&q->go);
		if (q->stop)
			return NULL;
		q->result = read_online(q, &online);
		if (!q->result)
			q->result = visit_all(q, &online);
		sem_post(&q->done);
	}
}

/* Starts the thread, which takes no signals. */
static int start_walker(struct up_quiesce *q)
{
	sigset_t all, old;
	int err;

	sem_init(&q->go, 0, 0);
	sem_init(&q->done, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&q->walker, NULL, run_walker, q);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	q->has_walker = !err;
	return -err;
}

int up_quiesce_walk(struct up_quiesce *q)
{
	int err = q->has_walker ? 0 : start_walker(q);

	if (err)
		return err;
	sem_post(&q->go);
	wait_for(&q->done);
	return q->result;
}

int up_quiesce_barrier(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) ? -errno : 0;
}

/* How many CPUs would have to be visited; 0 when that is unknown. */
static unsigned count_online(const struct up_quiesce *q)
{
	struct cpus online;

	return read_online(q, &online) ? 0 : (unsigned)CPU_COUNT_S(sizeof(online), online.part);
}

void up_quiesce_init(struct up_quiesce *q)
{
	*q = (struct up_quiesce){ .may_walk = true, .may_bar = true };
	q->online_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
}

void up_quiesce_fini(struct up_quiesce *q)
{
	if (q->has_walker) {
		q->stop = true;
		sem_post(&q->go);
		pthread_join(q->walker, NULL);
	}
	if (q->online_fd >= 0)
		close(q->online_fd);
	*q = (struct up_quiesce){ .online_fd = -1 };
}

/* One way, given up for good when it fails: that is a matter of the kernel or of permissions. */
static int try_way(struct up_quiesce *q, bool walk)
{
	bool *may = walk ? &q->may_walk : &q->may_bar;
	int err;

	if (!*may)
		return -ENOSYS;
	err = walk ? up_quiesce_walk(q) : up_quiesce_barrier();
	*may = !err;
	return err;
}

int up_quiesce_wait(struct up_quiesce *q)
{
	unsigned nr = q->may_walk ? count_online(q) : 0;
	bool walk = nr && nr <= WALK_MAX_CPUS;

	return try_way(q, walk) ? try_way(q, !walk) : 0;
}
