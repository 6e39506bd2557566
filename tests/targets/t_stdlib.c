/* t_stdlib AREA: calls functions of the C library a known number of times; the modules of
 * the standard library are tried on it. Areas: thread, io, socket, file, process, env, memory,
 * time, dns. Works in the current folder. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* --- threads --------------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int is_ready;

/* Holds the mutex for 150 ms, while the others want it. */
static void *hold(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&barrier);
	usleep(150000);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *want(void *arg)
{
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	sem_post(&semaphore);
	pthread_exit(arg);
}

static void wait_for_signal(void)
{
	struct timespec past = { 0 };

	pthread_mutex_lock(&mutex);
	must(pthread_cond_timedwait(&cond, &mutex, &past) == ETIMEDOUT, "pthread_cond_timedwait");
	while (!is_ready)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void *give_signal(void *arg)
{
	usleep(20000);
	pthread_mutex_lock(&mutex);
	is_ready = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* 4 threads; one mutex is locked 5 times, twice after a long wait. One wait of two fails. */
static void thread_area(void)
{
	pthread_t t[4];

	pthread_barrier_init(&barrier, NULL, 3);
	sem_init(&semaphore, 0, 0);
	must(!pthread_create(&t[0], NULL, hold, NULL), "pthread_create");
	for (int i = 1; i < 3; i++)
		must(!pthread_create(&t[i], NULL, want, NULL), "pthread_create");
	sem_wait(&semaphore);
	sem_wait(&semaphore);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	must(!pthread_create(&t[3], NULL, give_signal, NULL), "pthread_create");
	wait_for_signal();
	pthread_join(t[3], NULL);
	for (int i = 0; i < 3; i++) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
	pthread_rwlock_wrlock(&rwlock);
	must(pthread_rwlock_tryrdlock(&rwlock) == EBUSY, "pthread_rwlock_tryrdlock");
	pthread_rwlock_unlock(&rwlock);
	must(!pthread_mutex_trylock(&mutex), "pthread_mutex_trylock");
	pthread_mutex_unlock(&mutex);
}

/* --- files and sockets ----------------------------------------------------------------------- */

static void write_some(int fd)
{
	char text[100] = "text";
	struct iovec list[] = { { text, 30 }, { text, 40 } };

	for (int i = 0; i < 3; i++)
		must(write(fd, text, 100) == 100, "write");
	must(pwrite(fd, text, 50, 0) == 50, "pwrite");
	must(writev(fd, list, 2) == 70, "writev");
	must(write(-1, text, 10) == -1, "no error");
	must(!fsync(fd) && !fdatasync(fd), "fsync");
}

static void read_some(int fd)
{
	char text[1000];
	struct iovec list[] = { { text, 30 }, { text, 40 } };

	must(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	must(read(fd, text, 100) == 100, "read");
	must(pread(fd, text, 60, 0) == 60, "pread");
	must(readv(fd, list, 2) == 70, "readv");
	must(read(fd, text, 1000) == 200, "read");
	must(read(fd, text, 1000) == 0, "read");
	must(read(-1, text, 10) == -1, "no error");
}

static void io_area(void)
{
	int fd = open("t_stdlib.1", O_CREAT | O_RDWR | O_TRUNC, 0600);
	int other = openat(AT_FDCWD, "t_stdlib.2", O_CREAT | O_RDWR | O_TRUNC, 0600);
	FILE *f;

	must(fd >= 0 && other >= 0, "open");
	must(open("/nowhere/t_stdlib", O_RDONLY) == -1, "no error");
	write_some(fd);
	read_some(fd);
	must(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	must(sendfile(other, fd, NULL, 80) == 80, "sendfile");
	must(!close(other), "close");
	f = fopen("t_stdlib.2", "r");
	must(f && fgetc(f) == 't' && !fclose(f), "fopen");
	must(!close(fd) && close(-1) == -1, "close");
}

static void send_some(int from, int to)
{
	char text[100] = "text";
	struct iovec list = { text, 40 };
	struct msghdr msg = { .msg_iov = &list, .msg_iovlen = 1 };
	struct pollfd p = { .fd = to, .events = POLLIN };

	must(poll(&p, 1, 1) == 0, "poll");
	must(send(from, text, 10, 0) == 10, "send");
	must(poll(&p, 1, 1000) == 1, "poll");
	must(recv(to, text, 100, 0) == 10, "recv");
	must(sendto(from, text, 20, 0, NULL, 0) == 20, "sendto");
	must(recvfrom(to, text, 100, 0, NULL, NULL) == 20, "recvfrom");
	must(sendmsg(from, &msg, 0) == 40, "sendmsg");
	must(recvmsg(to, &msg, 0) == 40, "recvmsg");
}

static void ipv4(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0), from = socket(AF_INET, SOCK_STREAM, 0), to;

	must(!bind(listener, (struct sockaddr *)&a, sizeof(a)) && !listen(listener, 1), "listen");
	must(!getsockname(listener, (struct sockaddr *)&a, &size), "getsockname");
	printf("port %d\n", ntohs(a.sin_port));
	fflush(stdout);
	must(!connect(from, (struct sockaddr *)&a, sizeof(a)), "connect");
	to = accept(listener, NULL, NULL);
	must(to >= 0, "accept");
	send_some(from, to);
}

/* Connections that nobody accepts. */
static void refused(void)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(9) };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/nowhere/t_stdlib.socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	must(inet_pton(AF_INET6, "2001:db8::12ab", &six.sin6_addr) == 1, "inet_pton");
	must(connect(fd, (struct sockaddr *)&six, sizeof(six)) == -1, "no error");
	must(connect(fd, (struct sockaddr *)&un, sizeof(un)) == -1, "no error");
}

static void socket_area(void)
{
	ipv4();
	refused();
}

/* --- names of files -------------------------------------------------------------------------- */

static void file_area(void)
{
	struct stat st;
	struct statx stx;
	char text[100];
	FILE *f;

	must(!mkdir("t_stdlib.d", 0700) && !mkdirat(AT_FDCWD, "t_stdlib.d/1", 0700), "mkdir");
	must(!chdir("t_stdlib.d"), "chdir");
	f = fopen("a", "w");
	must(f && !fclose(f) && !fopen("/nowhere/b", "r"), "fopen");
	must(!link("a", "b") && !symlink("a", "c") && readlink("c", text, sizeof(text)) == 1,
	     "link");
	must(!stat("a", &st) && !lstat("c", &st) && !fstatat(AT_FDCWD, "b", &st, 0), "stat");
	must(!fstat(0, &st) && stat("/nowhere", &st) == -1, "stat");
	must(!statx(AT_FDCWD, "a", 0, STATX_SIZE, &stx), "statx");
	must(!access("a", R_OK) && access("/nowhere", R_OK) == -1, "access");
	must(!chmod("a", 0640), "chmod");
	must(!rename("a", "d") && !renameat(AT_FDCWD, "d", AT_FDCWD, "e"), "rename");
	must(!renameat2(AT_FDCWD, "e", AT_FDCWD, "f", 0), "renameat2");
	must(!unlink("b") && !remove("c") && !unlinkat(AT_FDCWD, "f", 0) && !rmdir("1"), "unlink");
	must(unlink("/nowhere") == -1, "no error");
	must(!chdir("..") && !remove("t_stdlib.d"), "remove");
}

/* --- processes ------------------------------------------------------------------------------- */

static void ended(pid_t pid, int want)
{
	int status;

	must(pid > 0 && waitpid(pid, &status, 0) == pid, "waitpid");
	must(WIFEXITED(status) ? WEXITSTATUS(status) == want : WTERMSIG(status) == want, "status");
}

static void process_area(void)
{
	char *args[] = { "true0", "one", "two", NULL };
	char *many[] = { "true1", "1", "2", "3", "4", "5", "6", NULL };
	pid_t pid = fork();

	if (!pid) {
		execve("/nowhere/true", args, environ);
		execv("/bin/true", args);
	}
	ended(pid, 0);
	pid = vfork();
	if (!pid)
		_exit(7);
	ended(pid, 7);
	must(!posix_spawn(&pid, "/bin/true", NULL, NULL, many, environ), "posix_spawn");
	ended(pid, 0);
	must(!posix_spawnp(&pid, "true", NULL, NULL, args, environ), "posix_spawnp");
	ended(pid, 0);
	must(system("exit 3") == 3 << 8, "system");
	must(!pclose(popen("exit 0", "r")), "popen");
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	must(!kill(pid, SIGTERM), "kill");
	ended(pid, SIGTERM);
	signal(SIGUSR1, SIG_IGN);
	raise(SIGUSR1);
	exit(5);
}

/* --- the rest -------------------------------------------------------------------------------- */

static void env_area(void)
{
	must(!setenv("T_STDLIB", "here", 1), "setenv");
	must(getenv("T_STDLIB") != NULL, "getenv");
	must(secure_getenv("T_STDLIB") != NULL, "secure_getenv");
	must(!putenv((char[]){ "T_STDLIB_2=there" }) && getenv("T_STDLIB_2") != NULL, "putenv");
	must(!unsetenv("T_STDLIB") && !getenv("T_STDLIB"), "unsetenv");
}

static void memory_area(void)
{
	void *p = mmap(NULL, 123 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED && !mprotect(p, 123 * 4096, PROT_READ | PROT_EXEC), "mmap");
	must(!madvise(p, 123 * 4096, MADV_DONTNEED), "madvise");
	must(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED, "no error");
	p = mremap(p, 123 * 4096, 124 * 4096, MREMAP_MAYMOVE);
	must(p != MAP_FAILED && !munmap(p, 124 * 4096), "mremap");
	must(sbrk(125 * 4096) != (void *)-1, "sbrk");
}

static void time_area(void)
{
	struct timespec t = { .tv_nsec = 3000000 };

	must(!nanosleep(&t, NULL) && !clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL), "nanosleep");
	must(!usleep(2000) && !sleep(1), "sleep");
}

static void dns_area(void)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *list;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct hostent ent, *found;
	char text[1000];
	int err;

	must(!getaddrinfo("localhost", NULL, &hints, &list), "getaddrinfo");
	must(getaddrinfo("bad..name", NULL, &hints, &list), "no error");
	must(!getaddrinfo("127.0.0.1", "80", NULL, &list), "getaddrinfo");
	must(gethostbyname("localhost") != NULL, "gethostbyname");
	must(gethostbyname2("localhost", AF_INET) != NULL, "gethostbyname2");
	must(!gethostbyname_r("localhost", &ent, text, sizeof(text), &found, &err),
	     "gethostbyname_r");
	must(!getnameinfo((struct sockaddr *)&a, sizeof(a), text, sizeof(text), NULL, 0, 0),
	     "getnameinfo");
	gethostbyaddr(&a.sin_addr, sizeof(a.sin_addr), AF_INET);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} areas[] = {
		{ "thread", thread_area }, { "io", io_area },           { "socket", socket_area },
		{ "file", file_area },     { "process", process_area }, { "env", env_area },
		{ "memory", memory_area }, { "time", time_area },       { "dns", dns_area },
	};

	/* So that descriptors are numbered from 3 on, and no close() is seen. */
	syscall(SYS_close_range, 3, ~0U, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(areas) / sizeof(*areas); i++)
		if (!strcmp(argv[1], areas[i].name)) {
			areas[i].run();
			return 0;
		}
	return 2;
}
