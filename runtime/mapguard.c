/* The handler of SIGBUS. */
#include "runtime/mapguard.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS 1024 /* mappings at one time; programs and libraries that one script names */

/* A mapping: `end` is 0 while the slot is free, and set last. */
struct slot {
	uintptr_t start, end;
};

static struct slot slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who change them */
static bool is_installed;

static uintptr_t end_of(uintptr_t at)
{
	for (size_t i = 0; i < SLOTS; i++) {
		uintptr_t end = __atomic_load_n(&slots[i].end, __ATOMIC_ACQUIRE);

		if (end && at >= slots[i].start && at < end)
			return end;
	}
	return 0;
}

/* Reads nothing but the slots and asks the kernel; what it does to errno is undone. */
static void put_zeros(int sig, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)info->si_addr / page * page;
	uintptr_t end = info->si_code == BUS_ADRERR ? end_of(at) : 0;

	(void)context;
	if (!end || mmap((void *)at, end - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 -1, 0) == MAP_FAILED)
		signal(sig, SIG_DFL); /* it comes again, and ends us as it should */
}

static void install(void)
{
	struct sigaction sa = { .sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO };

	if (is_installed)
		return;
	sigemptyset(&sa.sa_mask);
	is_installed = !sigaction(SIGBUS, &sa, NULL);
}

bool up_mapguard_add(const void *at, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i = 0;

	pthread_mutex_lock(&lock);
	install();
	while (i < SLOTS && slots[i].end)
		i++;
	if (i < SLOTS) {
		slots[i].start = (uintptr_t)at;
		__atomic_store_n(&slots[i].end, (uintptr_t)at + (len + page - 1) / page * page,
				 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return i < SLOTS;
}

void up_mapguard_remove(const void *at)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < SLOTS; i++)
		if (slots[i].end && slots[i].start == (uintptr_t)at)
			__atomic_store_n(&slots[i].end, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}
