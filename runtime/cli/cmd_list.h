/*
 * `uptick list`: the places that can be probed, or the objects of a name or a process. Needs no
 * privileges but to read the files.
 */
#ifndef UP_CLI_CMD_LIST_H
#define UP_CLI_CMD_LIST_H

#include "runtime/cli/opts.h"

/* Runs the command; returns the exit status. */
int up_cmd_list(const struct up_opts *o);

/* ---- from list_objects.c: paths of programs and libraries ---- */

/* The programs on $PATH and the libraries of ld.so.cache whose name matches the glob. */
int up_list_named(const char *glob, bool json);
/* Calls fn with the name of each of them; a library has its version behind it. */
void up_each_object(const char *glob, void (*fn)(void *arg, const char *name), void *arg);
/* The files that a process runs code of. */
int up_list_mapped(pid_t pid, bool json);

#endif
