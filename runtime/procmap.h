/* What a process has mapped (/proc/PID/maps), and which files it sees. */
#ifndef UP_PROCMAP_H
#define UP_PROCMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct up_mapping {
	uint64_t start;   /* first address */
	uint64_t end;     /* behind the last one */
	uint64_t offset;  /* in the file */
	uint64_t ino;     /* the file's inode number */
	const char *path; /* of the file as the kernel shows it; "" for anonymous memory */
	bool is_exec;     /* can be executed */
	bool is_deleted;  /* the file has lost that name */
};

struct up_procmap {
	struct up_mapping *v; /* by address */
	size_t nr;            /* how many */
	char *text;           /* what the paths point into */
};

/* 0 or -errno: -ENOENT when there is no such process, -EACCES when it is not ours to look at. */
int up_procmap_read(pid_t pid, struct up_procmap *out);
void up_procmap_fini(struct up_procmap *m);

/* Does the process see other files than we do: another root folder or mount namespace? */
bool up_proc_has_own_root(pid_t pid);

#endif
