/* The kernel's treatment of probed five-byte nops, told from a system call that came with it. */
#include "runtime/nop5.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SYS_UPROBE 336     /* uprobe(2) of x86-64, for the kernel's own trampoline */
#define FIRST_RELEASE 6018 /* 6.18 */

static bool is_new(const char *release)
{
	unsigned major = 0, minor = 0;

	sscanf(release, "%u.%u", &major, &minor);
	return major * 1000 + minor >= FIRST_RELEASE;
}

/*
 * Called from elsewhere than the trampoline, it fails with ENXIO where the nop is turned into a
 * call, and with EPROTO since another, longer nop is, which moves the stack pointer out of the way
 * first. Where it may not be called at all (a filter of system calls) the release has to do.
 */
enum up_nop5 up_nop5_judge(int err, const char *release)
{
	if (err == -ENXIO)
		return UP_NOP5_HARMS;
	if (err == -ENOSYS || err == -EPROTO)
		return UP_NOP5_FINE;
	return is_new(release) ? UP_NOP5_HARMS : UP_NOP5_FINE;
}

enum up_nops up_nops_judge(int err, const char *release)
{
	if (err == -ENXIO)
		return UP_NOPS_CALLED;
	if (err == -EPROTO)
		return UP_NOPS_DONE;
	return err != -ENOSYS && is_new(release) ? UP_NOPS_DONE : UP_NOPS_STEPPED;
}

#ifdef __x86_64__
/* The system call's answer; sets the release. */
static int try_call(struct utsname *u)
{
	*u = (struct utsname){ .release = "" };
	uname(u);
	return syscall(SYS_UPROBE) < 0 ? -errno : 0;
}

enum up_nop5 up_nop5_ask(void)
{
	struct utsname u;
	int err = try_call(&u);

	return up_nop5_judge(err, u.release);
}

enum up_nops up_nops_ask(void)
{
	struct utsname u;
	int err = try_call(&u);

	return up_nops_judge(err, u.release);
}
#else
enum up_nop5 up_nop5_ask(void)
{
	return UP_NOP5_FINE;
}

enum up_nops up_nops_ask(void)
{
	return UP_NOPS_STEPPED;
}
#endif
