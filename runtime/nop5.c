/* The kernel's treatment of probed five-byte nops, told from a system call that came with it. */
#include "runtime/nop5.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SYS_UPROBE 336     /* uprobe(2) of x86-64, for the kernel's own trampoline */
#define FIRST_RELEASE 6018 /* 6.18 */

/*
 * Called from elsewhere than the trampoline, it fails with ENXIO where the nop is turned into a
 * call, and with EPROTO since another, longer nop is, which moves the stack pointer out of the way
 * first. Where it may not be called at all (a filter of system calls) the release has to do.
 */
enum up_nop5 up_nop5_judge(int err, const char *release)
{
	unsigned major = 0, minor = 0;

	if (err == -ENXIO)
		return UP_NOP5_HARMS;
	if (err == -ENOSYS || err == -EPROTO)
		return UP_NOP5_FINE;
	sscanf(release, "%u.%u", &major, &minor);
	return major * 1000 + minor >= FIRST_RELEASE ? UP_NOP5_HARMS : UP_NOP5_FINE;
}

enum up_nop5 up_nop5_ask(void)
{
#ifdef __x86_64__
	struct utsname u = { 0 };

	uname(&u);
	long ret = syscall(SYS_UPROBE);
	return up_nop5_judge(ret < 0 ? -errno : 0, u.release);
#else
	return UP_NOP5_FINE;
#endif
}
