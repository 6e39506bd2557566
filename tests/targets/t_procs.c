/*
 * Calls work() in processes and threads of every kind, as its arguments say: "work 3", "thread 3"
 * (a new thread calls it three times), "fork 3" and "spawn 3" (a new process does, without and with
 * a new program), "threads 3" (four threads do at once), "helper" (a thread that stays) and "help
 * 3" (that one calls), "born 3" (the staying thread starts one that calls), "exit 3", "raise 9".
 * With "-" they come from standard input, a line each, and each is answered by "done" on standard
 * output. work() prints who called it, except for "silent" and what follows it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probed.h"

/* A job for the thread that stays. */
struct job {
	int nr;    /* calls of work() */
	bool born; /* by a thread of its own */
};

static bool silent;
static int jobs[2], answers[2]; /* pipes to the thread that stays, and back */

PROBED int work(int i)
{
	if (!silent)
		printf("%d %d %d\n", getpid(), gettid(), i);
	return i;
}

static void *do_work(void *arg)
{
	int nr = *(int *)arg;

	for (int i = 0; i < nr; i++)
		work(i);
	return NULL;
}

static void in_threads(int nr_threads, int nr)
{
	pthread_t t[4];

	for (int i = 0; i < nr_threads; i++)
		pthread_create(&t[i], NULL, do_work, &nr);
	for (int i = 0; i < nr_threads; i++)
		pthread_join(t[i], NULL);
}

static void *stay(void *arg)
{
	struct job j;

	while (read(jobs[0], &j, sizeof(j)) == sizeof(j)) {
		if (j.born)
			in_threads(1, j.nr);
		else
			do_work(&j.nr);
		if (write(answers[1], &j, sizeof(j)) < 0)
			break;
	}
	return arg;
}

static void start_helper(void)
{
	pthread_t t;

	if (pipe(jobs) || pipe(answers))
		exit(2);
	pthread_create(&t, NULL, stay, NULL);
}

static void ask_helper(int nr, bool born)
{
	struct job j = { nr, born };

	if (write(jobs[1], &j, sizeof(j)) < 0 || read(answers[0], &j, sizeof(j)) < 0)
		exit(2);
}

static void in_process(int nr)
{
	pid_t pid = fork();

	if (pid == 0) {
		do_work(&nr);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void in_program(int nr)
{
	char command[32];

	snprintf(command, sizeof(command), "work %d", nr);
	pid_t pid = vfork();
	if (pid == 0) {
		execl("/proc/self/exe", "t_procs", silent ? "silent" : command,
		      silent ? command : NULL, NULL);
		_exit(2);
	}
	waitpid(pid, NULL, 0);
}

static void obey(const char *command)
{
	char word[16] = "";
	int nr = 0;

	if (sscanf(command, "%15s %d", word, &nr) < 1)
		exit(2);
	if (!strcmp(word, "work"))
		do_work(&nr);
	else if (!strcmp(word, "thread"))
		in_threads(1, nr);
	else if (!strcmp(word, "threads"))
		in_threads(4, nr);
	else if (!strcmp(word, "fork"))
		in_process(nr);
	else if (!strcmp(word, "spawn"))
		in_program(nr);
	else if (!strcmp(word, "helper"))
		start_helper();
	else if (!strcmp(word, "help") || !strcmp(word, "born"))
		ask_helper(nr, word[0] == 'b');
	else if (!strcmp(word, "silent"))
		silent = true;
	else if (!strcmp(word, "exit"))
		exit(nr);
	else if (!strcmp(word, "raise"))
		raise(nr);
	else
		exit(2);
}

int main(int argc, char **argv)
{
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-"))
			obey(argv[i]);
	if (argc < 2 || strcmp(argv[argc - 1], "-"))
		return 0;
	while (fgets(line, sizeof(line), stdin)) {
		obey(line);
		printf("done\n");
	}
	return 0;
}
